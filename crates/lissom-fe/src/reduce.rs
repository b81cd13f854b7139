//! From a mesh to a [`ReducedSpec`]: basis, modal integrals, interfaces and second-order displacements.

use nalgebra::{DMatrix, SymmetricEigen};

use crate::FeError;
use crate::cholesky::Cholesky;
use crate::elements::{Elements, Field};
use crate::mesh::Mesh;
use crate::modes::{self, Mode, dot};
use crate::second_order::{Held, Load};
use crate::ties::{Interface, Ties};
use lissom_spec::spec::{
    MeshBasisSpec, MeshSpec, NodeSpec, ReducedNodeSpec, ReducedSpec, SecondOrderIntegralsSpec,
};

/// A mesh, reduced, with what may be told of how.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// The body.
    pub body: ReducedSpec,
    /// What it came from.
    pub source: Source,
}

/// What a body was reduced from, and what the reduction leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Solid elements of the mesh.
    pub elements: usize,
    /// Unknowns of the mesh: three per free node, six per interface but the first.
    pub unknowns: usize,
    /// Numbers that the factor of the stiffness holds.
    pub factor_entries: usize,
    /// The interfaces but the first.
    pub interfaces: Vec<Residual>,
}

/// What the basis leaves out of the static compliance of an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// Name of the interface.
    pub interface: String,
    /// Share of the displacement along x, y, z under a force along it that the basis does not make, then of the rotation about x, y, z under
    /// a moment.
    pub missing: [f64; 6],
}

/// Reduces a mesh to elastic coordinates, in the frame of its file; `points` are places at whose nearest nodes something may be attached.
///
/// # Errors
/// For meshes that are not one sound body with materials and interfaces.
pub fn reduce(mesh: &Mesh, spec: &MeshSpec, points: &[NodeSpec]) -> Result<Reduction, FeError> {
    let elements = Elements::new(mesh, &spec.material)?;
    mesh.connected()?;
    let interfaces = Interface::all(mesh, &spec.interface)?;
    let ties = Ties::new(mesh, &interfaces);
    let asked = match spec.basis {
        MeshBasisSpec::ClampedFree(own) | MeshBasisSpec::CraigBampton(own) => own.modes,
    };
    if asked > ties.unknowns {
        return Err(FeError::TooManyModes {
            modes: asked,
            unknowns: ties.unknowns,
        });
    }
    let factor = factorised(&elements, &ties)?;
    let held = Held {
        elements: &elements,
        interfaces: &interfaces,
        ties: &ties,
        factor: &factor,
    };
    let mut modes = match spec.basis {
        MeshBasisSpec::ClampedFree(_) => modes::lowest(
            asked,
            ties.unknowns,
            |x| factor.solve(x),
            |x| held.times_mass(x),
        ),
        MeshBasisSpec::CraigBampton(_) => craig_bampton(&held, asked),
    };
    let shapes: Vec<Field> = (modes.iter_mut())
        .map(|mode| {
            let mut shape = ties.field(&mode.vector);
            if largest(&shape) < 0.0 {
                mode.vector.iter_mut().for_each(|x| *x = -*x);
                shape.iter_mut().flatten().for_each(|x| *x = -*x);
            }
            shape
        })
        .collect();
    let mut body = held.integrals(&modes, &shapes);
    let points = located(mesh, points);
    body.nodes = nodes(&held, &shapes, &points, &modes);
    if spec.stiffening {
        held.stiffen(&mut body, &modes, &shapes, &points);
    }
    Ok(Reduction {
        body,
        source: Source {
            elements: mesh.solids.len(),
            unknowns: ties.unknowns,
            factor_entries: factor.entries(),
            interfaces: held.residuals(&modes),
        },
    })
}

pub(crate) fn factorised(elements: &Elements<'_>, ties: &Ties) -> Result<Cholesky, FeError> {
    let mesh = elements.mesh;
    let unknowns: Vec<Vec<usize>> = (mesh.solids.iter())
        .map(|solid| ties.unknowns_of(&solid.nodes))
        .collect();
    let centre = |nodes: &[usize]| {
        let count = nodes.len() as f64;
        std::array::from_fn(|k| nodes.iter().map(|&node| mesh.nodes[node][k]).sum::<f64>() / count)
    };
    let centres: Vec<[f64; 3]> = mesh
        .solids
        .iter()
        .map(|solid| centre(&solid.nodes))
        .collect();
    let mut broken = None;
    let matrix = |element: usize| match elements.stiffness(element) {
        Ok(stiffness) => {
            ties.condensed(&mesh.solids[element].nodes, &unknowns[element], &stiffness)
        }
        Err(error) => {
            broken = Some(error);
            DMatrix::zeros(unknowns[element].len(), unknowns[element].len())
        }
    };
    let factor = Cholesky::new(ties.unknowns, &unknowns, &centres, matrix);
    match (broken, factor) {
        (Some(error), _) => Err(error),
        (None, factor) => factor.map_err(|unknown| FeError::NotHeld {
            at: ties.places[unknown],
        }),
    }
}

/// Static shapes of the interfaces that move, and modes with all of them held, made orthogonal in mass and stiffness.
fn craig_bampton(held: &Held<'_>, count: usize) -> Vec<Mode> {
    let (ties, factor) = (held.ties, held.factor);
    let frame = ties.frames.iter().flat_map(|&first| first..first + 6);
    let frame: Vec<usize> = frame.collect();
    let responses: Vec<Vec<f64>> = (frame.iter())
        .map(|&unknown| {
            let mut load = vec![0.0; ties.unknowns];
            load[unknown] = 1.0;
            factor.solve(&load)
        })
        .collect();
    let size = frame.len();
    let compliance = DMatrix::from_fn(size, size, |i, j| responses[j][frame[i]]);
    let compliance = (&compliance + compliance.transpose()) * 0.5;
    // the compliance of frames that the mesh holds is positive definite
    let stiffness = compliance
        .cholesky()
        .map_or_else(|| DMatrix::zeros(size, size), |c| c.inverse());
    let combined = |factors: &[f64]| {
        let mut sum = vec![0.0; ties.unknowns];
        for (response, factor) in responses.iter().zip(factors) {
            for (sum, x) in sum.iter_mut().zip(response) {
                *sum += factor * x;
            }
        }
        sum
    };
    let with_interfaces_held = |load: &[f64]| {
        let mut x = factor.solve(load);
        let moved = nalgebra::DVector::from_iterator(size, frame.iter().map(|&unknown| x[unknown]));
        let back = combined((&stiffness * moved).as_slice());
        x.iter_mut().zip(back).for_each(|(x, back)| *x -= back);
        for &unknown in &frame {
            x[unknown] = 0.0;
        }
        x
    };
    let fixed = modes::lowest(count, ties.unknowns, with_interfaces_held, |x| {
        held.times_mass(x)
    });
    let mut vectors: Vec<Vec<f64>> = (0..size)
        .map(|i| combined(stiffness.column(i).as_slice()))
        .collect();
    let fixed_squares: Vec<f64> = fixed.iter().map(|mode| mode.square).collect();
    vectors.extend(fixed.into_iter().map(|mode| mode.vector));
    let with_mass: Vec<Vec<f64>> = vectors.iter().map(|x| held.times_mass(x)).collect();
    let all = vectors.len();
    let mass = DMatrix::from_fn(all, all, |i, j| dot(&vectors[i], &with_mass[j]));
    let stiffness = DMatrix::from_fn(all, all, |i, j| match (i < size, j < size) {
        (true, true) => stiffness[(i, j)],
        (false, false) if i == j => fixed_squares[i - size],
        _ => 0.0,
    });
    orthogonal(&vectors, &stiffness, &mass)
}

/// Modes of a small pair, as combinations of vectors.
fn orthogonal(vectors: &[Vec<f64>], stiffness: &DMatrix<f64>, mass: &DMatrix<f64>) -> Vec<Mode> {
    let n = vectors.len();
    // both are positive definite: by the factor of the stiffness, so that low modes keep their digits
    let Some(factor) = stiffness.clone().cholesky() else {
        return Vec::new();
    };
    let lower = factor.l();
    let half = lower
        .solve_lower_triangular(mass)
        .unwrap_or_else(|| mass.clone());
    let whole = lower
        .solve_lower_triangular(&half.transpose())
        .unwrap_or_else(|| half.transpose());
    let eigen = SymmetricEigen::new((&whole + whole.transpose()) * 0.5);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let mode = |i: usize| {
        let theta = eigen.eigenvalues[i];
        let column = eigen.eigenvectors.column(i).into_owned();
        let column = lower.tr_solve_lower_triangular(&column).unwrap_or(column);
        let mut vector = vec![0.0; vectors[0].len()];
        for (own, factor) in vectors.iter().zip(column.iter()) {
            for (sum, x) in vector.iter_mut().zip(own) {
                // the columns have unit stiffness; θ is their mass
                *sum += factor / theta.sqrt() * x;
            }
        }
        Mode {
            square: 1.0 / theta,
            vector,
        }
    };
    order.into_iter().map(mode).collect()
}

/// The displacement of a field that is largest in size, with its sign.
fn largest(field: &Field) -> f64 {
    /// What is less larger than another is as large: sides of a symmetric body differ by rounding.
    const ALIKE: f64 = 1.0 + 1e-6;
    let all = field.iter().flatten();
    all.fold(0.0, |most: f64, &x| {
        if x.abs() > ALIKE * most.abs() {
            x
        } else {
            most
        }
    })
}

/// A point of the body where something may be attached.
struct Point {
    name: String,
    node: usize,
}

/// The nodes of solids nearest to places.
fn located(mesh: &Mesh, points: &[NodeSpec]) -> Vec<Point> {
    let nearest = |at: [f64; 3]| {
        let away = |node: usize| {
            (0..3)
                .map(|k| (mesh.nodes[node][k] - at[k]).powi(2))
                .sum::<f64>()
        };
        let nodes = mesh
            .solids
            .iter()
            .flat_map(|solid| solid.nodes.iter().copied());
        nodes.min_by(|&a, &b| away(a).total_cmp(&away(b)).then(a.cmp(&b)))
    };
    let point = |spec: &NodeSpec| {
        Some(Point {
            name: spec.name.clone(),
            node: nearest(spec.position_m)?,
        })
    };
    points.iter().filter_map(point).collect()
}

fn nodes(
    held: &Held<'_>,
    shapes: &[Field],
    points: &[Point],
    modes: &[Mode],
) -> Vec<ReducedNodeSpec> {
    let mut nodes: Vec<ReducedNodeSpec> = (held.interfaces.iter().enumerate())
        .map(|(index, interface)| ReducedNodeSpec {
            name: interface.name.clone(),
            position_m: interface.origin,
            influence: match index.checked_sub(1) {
                None => Vec::new(),
                Some(frame) => {
                    let first = held.ties.frames[frame];
                    // rotations stand before displacements
                    let rows = (first + 3..first + 6).chain(first..first + 3);
                    rows.map(|row| modes.iter().map(|mode| mode.vector[row]).collect())
                        .collect()
                }
            },
            second_order: Vec::new(),
        })
        .collect();
    nodes.extend(points.iter().map(|point| {
        let rotations: Vec<[f64; 3]> = (shapes.iter())
            .map(|shape| held.elements.rotation_near(point.node, shape))
            .collect();
        let rotation = |k: usize| rotations.iter().map(|rotation| rotation[k]).collect();
        let moved = |k: usize| shapes.iter().map(|shape| shape[point.node][k]).collect();
        ReducedNodeSpec {
            name: point.name.clone(),
            position_m: held.elements.mesh.nodes[point.node],
            influence: (0..3).map(rotation).chain((0..3).map(moved)).collect(),
            second_order: Vec::new(),
        }
    }));
    nodes
}

impl Held<'_> {
    fn times_mass(&self, unknowns: &[f64]) -> Vec<f64> {
        let field = self.ties.field(unknowns);
        self.ties.loads(&self.elements.times_mass(&field))
    }

    /// The field that moves every node along axis `k`, by the factor of its own coordinate along `i` if there is one.
    fn moved_along(&self, k: usize, i: Option<usize>) -> Field {
        let along = |node: &[f64; 3]| {
            let mut moved = [0.0; 3];
            moved[k] = i.map_or(1.0, |i| node[i]);
            moved
        };
        self.elements.mesh.nodes.iter().map(along).collect()
    }

    /// Mass properties, stiffness and modal integrals.
    fn integrals(&self, modes: &[Mode], shapes: &[Field]) -> ReducedSpec {
        let n = modes.len();
        let nodes = &self.elements.mesh.nodes;
        let with_mass: Vec<Field> = shapes
            .iter()
            .map(|shape| self.elements.times_mass(shape))
            .collect();
        let constant = self.elements.times_mass(&vec![[1.0; 3]; nodes.len()]);
        let positions = self.elements.times_mass(nodes);
        let sum = |a: &Field, i: usize, b: &Field, j: usize| -> f64 {
            a.iter().zip(b).map(|(a, b)| a[i] * b[j]).sum()
        };
        let mass: f64 = constant.iter().map(|own| own[0]).sum();
        let centre: [f64; 3] = std::array::from_fn(|k| sum(&constant, k, nodes, k) / mass);
        let second =
            |i: usize, j: usize| sum(&positions, i, nodes, j) - mass * centre[i] * centre[j];
        let trace = second(0, 0) + second(1, 1) + second(2, 2);
        let matrix = |a: &Field, b: &Field| -> [[f64; 3]; 3] {
            std::array::from_fn(|i| std::array::from_fn(|j| sum(a, i, b, j)))
        };
        let mut products = vec![vec![[[0.0; 3]; 3]; n]; n];
        for a in 0..n {
            for b in a..n {
                let product = matrix(&shapes[a], &with_mass[b]);
                products[a][b] = product;
                products[b][a] = std::array::from_fn(|i| std::array::from_fn(|j| product[j][i]));
            }
        }
        let diagonal = |entry: &dyn Fn(usize) -> f64| {
            (0..n)
                .map(|row| {
                    (0..n)
                        .map(|column| if row == column { entry(row) } else { 0.0 })
                        .collect()
                })
                .collect()
        };
        ReducedSpec {
            coordinates: Vec::new(),
            mass_kg: mass,
            center_of_mass_m: centre,
            inertia_kg_m2: std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    let [i, j] = [i.min(j), i.max(j)];
                    if i == j {
                        trace - second(i, i)
                    } else {
                        -second(i, j)
                    }
                })
            }),
            stiffness: diagonal(&|mode| modes[mode].square),
            mass_matrix: diagonal(&|_| 1.0),
            displacement_integrals: (with_mass.iter())
                .map(|own| std::array::from_fn(|k| own.iter().map(|x| x[k]).sum()))
                .collect(),
            position_integrals: with_mass.iter().map(|own| matrix(nodes, own)).collect(),
            product_integrals: products,
            nodes: Vec::new(),
            second_order: None,
        }
    }

    /// What a basis leaves out of the compliance of the interfaces that move.
    fn residuals(&self, modes: &[Mode]) -> Vec<Residual> {
        let missing = |unknown: usize| {
            let mut load = vec![0.0; self.ties.unknowns];
            load[unknown] = 1.0;
            let whole = self.factor.solve(&load)[unknown];
            let kept = modes
                .iter()
                .map(|mode| mode.vector[unknown].powi(2) / mode.square);
            1.0 - kept.sum::<f64>() / whole
        };
        let moving = self.interfaces[1..].iter().zip(&self.ties.frames);
        moving
            .map(|(interface, &first)| Residual {
                interface: interface.name.clone(),
                missing: std::array::from_fn(|k| missing(first + k)),
            })
            .collect()
    }

    /// Adds the second-order displacements.
    fn stiffen(&self, body: &mut ReducedSpec, modes: &[Mode], shapes: &[Field], points: &[Point]) {
        let of_mass = |field: &Field| self.load(&self.elements.times_mass(field));
        let mut loads: Vec<Load> = (0..3)
            .map(|k| of_mass(&self.moved_along(k, None)))
            .collect();
        for i in 0..3 {
            loads.extend((0..3).map(|k| of_mass(&self.moved_along(k, Some(i)))));
        }
        loads.extend(shapes.iter().map(of_mass));
        for &first in &self.ties.frames {
            // rotations stand before displacements
            let rows = (first + 3..first + 6).chain(first..first + 3);
            loads.extend(rows.map(|unknown| self.load_on_unknown(unknown)));
        }
        for point in points {
            loads.extend((0..3).map(|k| {
                let mut forces = vec![[0.0; 3]; self.elements.mesh.nodes.len()];
                forces[point.node][k] = 1.0;
                self.load(&forces)
            }));
        }
        let n = modes.len();
        let hessians = self.hessians(modes, &loads);
        let mut hessians = hessians.iter().map(|own| -> Vec<Vec<f64>> {
            let row = |i: usize| (0..n).map(|j| 0.5 * (own[(i, j)] + own[(j, i)])).collect();
            (0..n).map(row).collect()
        });
        let mut next = |count: usize| hessians.by_ref().take(count).collect::<Vec<_>>();
        body.second_order = Some(SecondOrderIntegralsSpec {
            displacement_integrals: next(3),
            position_integrals: (0..3).map(|_| next(3)).collect(),
            shape_integrals: next(n),
        });
        let moving = self.interfaces.len();
        for node in &mut body.nodes[1..moving] {
            node.second_order = next(6);
        }
        for node in &mut body.nodes[moving..] {
            // their rotation is that of first order
            node.second_order = vec![vec![vec![0.0; n]; n]; 3];
            node.second_order.extend(next(3));
        }
    }
}
