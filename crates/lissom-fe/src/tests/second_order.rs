//! What stiffens a body, against the nonlinear energy of its mesh.

use nalgebra::{Matrix3, Vector3};

use super::{block, clamped, spec};
use crate::Attached;
use crate::finite_elements::{Field, FiniteElements, Moves, second_order_work};
use crate::mesh::Mesh;
use crate::modes::{Wanted, dot};
use crate::reduce::reduce;
use crate::shape::Kind;
use crate::solids::Solids;
use crate::stop::NEVER;
use crate::ties::{Interface, Ties};
use lissom_spec::spec::ReducedSpec;

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
    for (interface, frame) in interfaces.iter().zip(&ties.frames) {
        let first = frame[0][0].0;
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

/// First three squared frequencies of a body, reduced to its six lowest modes held at its first of two interfaces, under a force and a moment at
/// the other, an acceleration and spin, against the tangent of its nonlinear energy at the static displacement under the load, by differences.
pub(super) fn stiffens_as_its_energy_says(
    structure: &dyn FiniteElements,
    body: &ReducedSpec,
    energy: impl Fn(&[f64]) -> f64,
) {
    /// Differences of energies lose digits where a load hardly stiffens a mode.
    const DIFFERENCES: f64 = 0.02;
    let first = |place: usize| match &structure.places()[place].moves {
        Moves::Frame(frame) => frame[0][0].0,
        Moves::Point { .. } => panic!("interfaces are frames"),
    };
    let (root, tip) = (first(0), first(1));
    let held: Vec<usize> = (root..root + 6).collect();
    let factor = structure.factorised(&held, NEVER).unwrap();
    let solve = |loads: &[Vec<f64>]| {
        let mut free = loads.to_vec();
        for load in &mut free {
            load[root..root + 6].fill(0.0);
        }
        factor.solve(&free)
    };
    let unknowns = structure.unknowns();
    let times_mass = |x: &[f64]| structure.loads(&structure.times_mass(&structure.field(x)));
    let modes = crate::modes::lowest(Wanted::Count(6), unknowns, solve, times_mass, NEVER);
    let mut modes = modes.unwrap();
    for (alpha, mode) in modes.iter_mut().enumerate() {
        // the signs of the body
        let alike: f64 = (0..3)
            .map(|k| body.nodes[1].influence[3 + k][alpha] * mode.vector[tip + k])
            .sum();
        mode.vector.iter_mut().for_each(|x| *x *= alike.signum());
    }
    let second = body.second_order.as_ref().unwrap();
    let inertia = |acceleration: fn(&[f64; 3]) -> [f64; 3]| {
        let field: Field = structure.positions().iter().map(acceleration).collect();
        structure.times_mass(&field)
    };
    let at_tip = |k: usize| {
        let mut load = vec![0.0; unknowns];
        load[tip + k] = 1.0;
        (load, None)
    };
    let by_inertia = |acceleration: fn(&[f64; 3]) -> [f64; 3]| {
        let forces = inertia(acceleration);
        (structure.loads(&forces), Some(forces))
    };
    let hessian = |row: usize, a: usize, b: usize| body.nodes[1].second_order[row][a][b];
    let by_spin = |a: usize, b: usize| {
        second.position_integrals[0][0][a][b] + second.position_integrals[1][1][a][b]
    };
    // work per unknown, and the forces on points that it comes from
    type Acting = (Vec<f64>, Option<Field>);
    type Work<'w> = Box<dyn Fn(usize, usize) -> f64 + 'w>;
    let cases: [(&str, Acting, Work<'_>); 5] = [
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
            by_inertia(|_| [1.0, 0.0, 0.0]),
            Box::new(|a, b| second.displacement_integrals[0][a][b]),
        ),
        (
            "spin about z",
            by_inertia(|&[x, y, _]| [x, y, 0.0]),
            Box::new(by_spin),
        ),
    ];
    for (name, (load, forces), work) in &cases {
        let shares: Vec<f64> = modes.iter().map(|mode| dot(&mode.vector, load)).collect();
        let predicted = stiffening(body, work, &shares);
        let response = &solve(std::slice::from_ref(load))[0];
        // second derivative of the energy along a mode, and its change along the static response
        let size = |unknowns: &[f64]| {
            let field = structure.field(unknowns);
            field.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()))
        };
        for (a, mode) in modes.iter().enumerate().take(3) {
            let (step, far) = (2e-5 / size(&mode.vector), 2e-5 / size(response));
            let at = |along: f64, by: f64| {
                let unknowns: Vec<f64> = (response.iter().zip(&mode.vector))
                    .map(|(u, psi)| along * far * u + by * step * psi)
                    .collect();
                energy(&unknowns)
            };
            let curvature = |along: f64| {
                (at(along, 1.0) - 2.0 * at(along, 0.0) + at(along, -1.0)) / (step * step)
            };
            let tangent = (curvature(1.0) - curvature(-1.0)) / (2.0 * far);
            // work of loads on the second-order motion of points on frames, none for loads on the frame itself
            let on_points = forces.as_ref().map_or(0.0, |forces| {
                let rotations = structure.rotations(&mode.vector);
                second_order_work(&structure.moments(forces), &rotations, &rotations)
            });
            // the mass changes too, by the second-order motion of points that turn with the mode and with what the basis makes of the response
            let mut made = vec![0.0; unknowns];
            for (mode, share) in modes.iter().zip(&shares) {
                crate::structure::subtract(&mut made, -share / mode.square, &mode.vector);
            }
            let moments = structure.moments(&structure.times_mass(&structure.field(&mode.vector)));
            let of_mass = 2.0
                * second_order_work(
                    &moments,
                    &structure.rotations(&mode.vector),
                    &structure.rotations(&made),
                );
            let wanted = tangent - on_points - mode.square * of_mass;
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

/// Second formulation: an arc of solids.
#[test]
fn an_arc_stiffens_as_its_nonlinear_mesh_does() {
    let mesh = arc();
    let spec = spec(clamped(6), &["root", "tip"], POISSON);
    let body = reduce(&mesh, &spec, &Attached::default(), NEVER)
        .unwrap()
        .body;
    let solids = Solids::new(&mesh, &spec, &[]).unwrap();
    stiffens_as_its_energy_says(&solids, &body, |unknowns| {
        let field = displaced(&mesh, &solids.ties, &solids.ends, unknowns);
        energy(&mesh, &field)
    });
}
