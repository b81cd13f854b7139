//! What stiffens a body, against the nonlinear energy of its mesh.

use nalgebra::{Matrix3, Vector3};

use super::{block, interface, spec};
use crate::cholesky::Cholesky;
use crate::elements::{Elements, Field};
use crate::mesh::Mesh;
use crate::modes::dot;
use crate::reduce::{factorised, reduce};
use crate::shape::Kind;
use crate::ties::{Interface, Ties};
use lissom_spec::spec::{MaterialSpec, MeshBasisSpec, MeshModesSpec, ReducedSpec};

const YOUNG: f64 = 2.0e11;
const POISSON: f64 = 0.3;

/// Strain energy of a displaced mesh by Green's strain, with nothing of the code that is tested but the shape functions.
fn energy(mesh: &Mesh, field: &Field) -> f64 {
    let lambda = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));
    let mu = 0.5 * YOUNG / (1.0 + POISSON);
    let mut energy = 0.0;
    for solid in &mesh.solids {
        for (at, weight) in solid.kind.stiffness_rule() {
            let functions = solid.kind.functions(at);
            let [mut undeformed, mut deformed] = [Matrix3::zeros(); 2];
            for (&node, function) in solid.nodes.iter().zip(&functions) {
                let slopes = Vector3::from(function.slopes).transpose();
                let place = Vector3::from(mesh.nodes[node]);
                undeformed += place * slopes;
                deformed += (place + Vector3::from(field[node])) * slopes;
            }
            let gradient = undeformed
                .transpose()
                .lu()
                .solve(&deformed.transpose())
                .unwrap()
                .transpose();
            let strain = (gradient.transpose() * gradient - Matrix3::identity()) * 0.5;
            let density = 0.5 * lambda * strain.trace().powi(2) + mu * strain.dot(&strain);
            energy += weight * undeformed.determinant() * density;
        }
    }
    energy
}

/// Displacements that unknowns make, frames turned by whole rotations.
fn displaced(mesh: &Mesh, ties: &Ties, interfaces: &[Interface], unknowns: &[f64]) -> Field {
    let mut field = ties.field(unknowns);
    for (interface, &first) in interfaces[1..].iter().zip(&ties.frames) {
        let vector = |at: usize| Vector3::from_column_slice(&unknowns[at..at + 3]);
        let rotation = nalgebra::Rotation3::new(vector(first + 3));
        for &node in &interface.nodes {
            let offset = Vector3::from(mesh.nodes[node]) - Vector3::from(interface.origin);
            field[node] = (vector(first) + rotation * offset - offset).into();
        }
    }
    field
}

/// An arc of 2 rad and radius 0.3 m in the plane of x and y, of rectangular section.
fn arc() -> Mesh {
    let mut mesh = block(Kind::Hexa20, [8, 1, 1], [2.0, 0.03, 0.02]);
    for node in &mut mesh.nodes {
        let [angle, out, z] = *node;
        let radius = 0.3 - out;
        *node = [radius * angle.sin(), 0.3 - radius * angle.cos(), z];
    }
    mesh
}

fn modes(count: usize) -> MeshBasisSpec {
    MeshBasisSpec::ClampedFree(MeshModesSpec { modes: count })
}

struct Prepared<'m> {
    interfaces: Vec<Interface>,
    ties: Ties,
    elements: Elements<'m>,
    factor: Cholesky,
}

fn prepared(mesh: &Mesh) -> Prepared<'_> {
    let material = MaterialSpec {
        group: None,
        youngs_modulus_pa: YOUNG,
        poisson_ratio: POISSON,
        density_kg_per_m3: 7800.0,
    };
    let elements = Elements::new(mesh, &[material]).unwrap();
    let interfaces = Interface::all(mesh, &[interface("root"), interface("tip")]).unwrap();
    let ties = Ties::new(mesh, &interfaces);
    let factor = factorised(&elements, &ties).unwrap();
    Prepared {
        interfaces,
        ties,
        elements,
        factor,
    }
}

/// Change of squared frequencies per unit of a load, as the equations of motion have it: by the work of the load on second-order
/// displacements, and by what the static deformation does to the mass.
fn stiffening(body: &ReducedSpec, work: impl Fn(usize, usize) -> f64, shares: &[f64]) -> Vec<f64> {
    let second = body.second_order.as_ref().unwrap();
    (0..shares.len())
        .map(|a| {
            let by_mass: f64 = (0..shares.len())
                .map(|b| 2.0 * second.shape_integrals[a][a][b] * shares[b] / body.stiffness[b][b])
                .sum();
            -work(a, a) - body.stiffness[a][a] * by_mass
        })
        .collect()
}

/// Second formulation: first three squared frequencies of an arc under a force at its end, an acceleration and spin, against the
/// tangent of the nonlinear mesh at its static displacement under the load, by differences of its energy.
#[test]
fn an_arc_stiffens_as_its_nonlinear_mesh_does() {
    /// Differences of energies lose digits where a load hardly stiffens a mode.
    const DIFFERENCES: f64 = 0.02;
    let mesh = arc();
    let body = reduce(&mesh, &spec(modes(6), &["root", "tip"], POISSON), &[])
        .unwrap()
        .body;
    let Prepared {
        interfaces,
        ties,
        elements,
        factor,
    } = prepared(&mesh);
    let mut modes = crate::modes::lowest(
        6,
        ties.unknowns,
        |x| factor.solve(x),
        |x| ties.loads(&elements.times_mass(&ties.field(x))),
    );
    let tip = ties.frames[0];
    for (alpha, mode) in modes.iter_mut().enumerate() {
        // the signs of the body
        let alike: f64 = (0..3)
            .map(|k| body.nodes[1].influence[3 + k][alpha] * mode.vector[tip + k])
            .sum();
        mode.vector.iter_mut().for_each(|x| *x *= alike.signum());
    }
    let second = body.second_order.as_ref().unwrap();
    let inertia = |k: usize, i: Option<usize>| -> Vec<f64> {
        let field: Field = (mesh.nodes.iter())
            .map(|node| {
                let mut moved = [0.0; 3];
                moved[k] = i.map_or(1.0, |i| node[i]);
                moved
            })
            .collect();
        ties.loads(&elements.times_mass(&field))
    };
    let at_tip = |k: usize| {
        let mut load = vec![0.0; ties.unknowns];
        load[tip + k] = 1.0;
        load
    };
    let sum = |loads: &[Vec<f64>]| -> Vec<f64> {
        (0..ties.unknowns)
            .map(|i| loads.iter().map(|load| load[i]).sum())
            .collect()
    };
    let hessian = |row: usize, a: usize, b: usize| body.nodes[1].second_order[row][a][b];
    let spin = sum(&[inertia(0, Some(0)), inertia(1, Some(1))]);
    let by_spin = |a: usize, b: usize| {
        second.position_integrals[0][0][a][b] + second.position_integrals[1][1][a][b]
    };
    type Work<'w> = Box<dyn Fn(usize, usize) -> f64 + 'w>;
    let cases: [(&str, Vec<f64>, Work<'_>); 5] = [
        (
            "force along x",
            at_tip(0),
            Box::new(|a, b| hessian(3, a, b)),
        ),
        (
            "force along y",
            at_tip(1),
            Box::new(|a, b| hessian(4, a, b)),
        ),
        (
            "moment about z",
            at_tip(5),
            Box::new(|a, b| hessian(2, a, b)),
        ),
        (
            "acceleration along x",
            inertia(0, None),
            Box::new(|a, b| second.displacement_integrals[0][a][b]),
        ),
        ("spin about z", spin, Box::new(by_spin)),
    ];
    for (name, load, work) in &cases {
        let shares: Vec<f64> = modes.iter().map(|mode| dot(&mode.vector, load)).collect();
        let predicted = stiffening(&body, work, &shares);
        let response = factor.solve(load);
        // second derivative of the energy along a mode, and its change along the static response
        let size = |unknowns: &[f64]| {
            ties.field(unknowns)
                .iter()
                .flatten()
                .fold(0.0, |m: f64, x| m.max(x.abs()))
        };
        for (a, mode) in modes.iter().enumerate().take(3) {
            let (step, far) = (2e-5 / size(&mode.vector), 2e-5 / size(&response));
            let at = |along: f64, by: f64| {
                let unknowns: Vec<f64> = (response.iter().zip(&mode.vector))
                    .map(|(u, psi)| along * far * u + by * step * psi)
                    .collect();
                let field = displaced(&mesh, &ties, &interfaces, &unknowns);
                energy(&mesh, &field)
            };
            let curvature = |along: f64| {
                (at(along, 1.0) - 2.0 * at(along, 0.0) + at(along, -1.0)) / (step * step)
            };
            let tangent = (curvature(1.0) - curvature(-1.0)) / (2.0 * far);
            // work of loads on the second-order motion of tied nodes, none for loads on the frame itself
            let on_ties: f64 = if name.starts_with("acceleration") || name.starts_with("spin") {
                let rotation = Vector3::from_column_slice(&mode.vector[tip + 3..tip + 6]);
                let forces = elements.times_mass(&load_field(name, &mesh));
                let moments = interfaces[1].moments(&mesh, &forces);
                crate::ties::second_order_work(&moments, &rotation, &rotation)
            } else {
                0.0
            };
            let wanted = tangent - on_ties;
            assert!(
                (predicted[a] - wanted).abs()
                    < DIFFERENCES * wanted.abs().max(1e-3 * predicted[0].abs()),
                "{name}, mode {}: {} {wanted}",
                a + 1,
                predicted[a]
            );
        }
    }
}

fn load_field(name: &str, mesh: &Mesh) -> Field {
    let field = |node: &[f64; 3]| {
        if name.starts_with("spin") {
            [node[0], node[1], 0.0]
        } else {
            [1.0, 0.0, 0.0]
        }
    };
    mesh.nodes.iter().map(field).collect()
}
