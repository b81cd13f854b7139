//! Second-order displacements of a reduced body, $`\tfrac12\sum h_{\alpha\beta}\eta_\alpha\eta_\beta`$, by the work of loads on them.
//!
//! A body that is deformed by $`\Psi\eta`$ finds its balance at $`\Psi\eta + r_2`$, and its energy is $`\tfrac16 K'''(\Psi\eta)^3`$ beyond the quadratic one. With
//! the part of a load's static response that the basis lacks, $`u_\perp = (K^{-1} - \Psi\Lambda^{-1}\Psi^T) f`$, Betti's theorem gives
//!
//! ```math
//! f \cdot h_{\alpha\beta} = -K'''(u_\perp, \psi_\alpha, \psi_\beta) ,
//! ```
//!
//! so that one static solution per load does what one per pair of shapes would. What lies in the basis is cubic strain energy; it has no lower
//! bound, and with a shape that stretches among others that bend it would let a slender link run away once it bends further than it is thick.
//! Coordinates that measure true deformation have none: $`\eta_\delta \to \eta_\delta + \tfrac12\sum c_{\delta\alpha\beta}\eta_\alpha\eta_\beta`$ removes it with
//!
//! ```math
//! c_{\delta\alpha\beta} = -\frac{w_\delta}{\lambda_\delta} K'''(\psi_\delta, \psi_\alpha, \psi_\beta) , \qquad
//! w_\delta = \frac{\lambda_\delta^2}{\lambda_\delta^2 + \lambda_\alpha^2 + \lambda_\beta^2} ,
//! ```
//!
//! the stiffest of three shapes giving way, as the stretch of a beam does to its bending. $`\Psi c`$ is then part of $`h`$, and the strain
//! energy stays $`\tfrac12\eta^T\Lambda\eta`$.

use nalgebra::{DMatrix, Matrix3, Vector3};

use crate::cholesky::Cholesky;
use crate::elements::{Elements, Field};
use crate::modes::{Mode, dot};
use crate::ties::{Interface, Ties, second_order_work};

/// A load on the unknowns of a mesh.
pub(crate) struct Load {
    /// Work per unknown.
    unknowns: Vec<f64>,
    /// [`Interface::moments`] of what acts on the nodes of the interfaces that move.
    moments: Vec<Matrix3<f64>>,
}

/// A mesh that is held at its first interface, with its factorised stiffness.
pub(crate) struct Held<'m> {
    pub(crate) elements: &'m Elements<'m>,
    pub(crate) interfaces: &'m [Interface],
    pub(crate) ties: &'m Ties,
    pub(crate) factor: &'m Cholesky,
}

impl Held<'_> {
    /// Forces on nodes.
    pub(crate) fn load(&self, forces: &Field) -> Load {
        let mesh = self.elements.mesh;
        Load {
            unknowns: self.ties.loads(forces),
            moments: (self.interfaces.iter().skip(1))
                .map(|interface| interface.moments(mesh, forces))
                .collect(),
        }
    }

    /// A force or moment of one on an unknown of a frame.
    pub(crate) fn load_on_unknown(&self, unknown: usize) -> Load {
        let mut unknowns = vec![0.0; self.ties.unknowns];
        unknowns[unknown] = 1.0;
        Load {
            unknowns,
            moments: vec![Matrix3::zeros(); self.ties.frames.len()],
        }
    }

    /// $`f \cdot h`$ for every load, each a symmetric matrix over the modes.
    pub(crate) fn hessians(&self, modes: &[Mode], loads: &[Load]) -> Vec<DMatrix<f64>> {
        let n = modes.len();
        let shares: Vec<Vec<f64>> = (loads.iter())
            .map(|load| {
                modes
                    .iter()
                    .map(|mode| dot(&mode.vector, &load.unknowns))
                    .collect()
            })
            .collect();
        // what the basis lacks of the responses, then the modes
        let mut unknowns: Vec<Vec<f64>> = Vec::with_capacity(loads.len() + n);
        for (load, shares) in loads.iter().zip(&shares) {
            let mut response = self.factor.solve(&load.unknowns);
            for (mode, share) in modes.iter().zip(shares) {
                for (u, psi) in response.iter_mut().zip(&mode.vector) {
                    *u -= share / mode.square * psi;
                }
            }
            unknowns.push(response);
        }
        unknowns.extend(modes.iter().map(|mode| mode.vector.clone()));
        let fields: Vec<Field> = unknowns.iter().map(|u| self.ties.field(u)).collect();
        let shapes = &fields[loads.len()..];
        let mut third = self.elements.third_derivative(&fields, shapes);
        let ties = TieWork::new(self, &unknowns, &fields);
        for (x, matrix) in third.iter_mut().enumerate() {
            for a in 0..n {
                for b in 0..n {
                    let [a_field, b_field] = [loads.len() + a, loads.len() + b];
                    matrix[(a, b)] += ties.third_derivative(x, a_field, b_field);
                }
            }
        }
        let changes = changes_of_coordinates(modes, &third[loads.len()..]);
        let mut found = Vec::with_capacity(loads.len());
        for ((load, shares), third) in loads.iter().zip(&shares).zip(&third) {
            let mut hessian = -third;
            for a in 0..n {
                for b in 0..n {
                    let [a_field, b_field] = [loads.len() + a, loads.len() + b];
                    hessian[(a, b)] += ties.work(&load.moments, a_field, b_field);
                }
            }
            for (share, change) in shares.iter().zip(&changes) {
                hessian += change * *share;
            }
            found.push(hessian);
        }
        found
    }
}

/// $`c_\delta`$ of every mode.
fn changes_of_coordinates(modes: &[Mode], third: &[DMatrix<f64>]) -> Vec<DMatrix<f64>> {
    let n = modes.len();
    let square = |mode: usize| modes[mode].square * modes[mode].square;
    let change = |(delta, third): (usize, &DMatrix<f64>)| {
        DMatrix::from_fn(n, n, |a, b| {
            let weight = square(delta) / (square(delta) + square(a) + square(b));
            -weight / modes[delta].square * third[(a, b)]
        })
    };
    third.iter().enumerate().map(change).collect()
}

/// What the second-order motion of tied nodes works against the forces that hold displacements.
struct TieWork {
    /// Moments of these forces, for every field and interface that moves.
    moments: Vec<Vec<Matrix3<f64>>>,
    /// Rotation of every interface that moves, for every field.
    rotations: Vec<Vec<Vector3<f64>>>,
}

impl TieWork {
    fn new(held: &Held<'_>, unknowns: &[Vec<f64>], fields: &[Field]) -> Self {
        let mesh = held.elements.mesh;
        let moving = &held.interfaces[1..];
        let mut tied = vec![false; mesh.nodes.len()];
        for &node in moving.iter().flat_map(|interface| &interface.nodes) {
            tied[node] = true;
        }
        let forces = held.elements.forces(fields, &tied);
        let rotation = |u: &Vec<f64>| {
            let frames = held.ties.frames.iter();
            frames
                .map(|&first| Vector3::from_column_slice(&u[first + 3..first + 6]))
                .collect()
        };
        Self {
            moments: (forces.iter())
                .map(|forces| moving.iter().map(|own| own.moments(mesh, forces)).collect())
                .collect(),
            rotations: unknowns.iter().map(rotation).collect(),
        }
    }

    fn work(&self, moments: &[Matrix3<f64>], a: usize, b: usize) -> f64 {
        let rotations = self.rotations[a].iter().zip(&self.rotations[b]);
        let interfaces = moments.iter().zip(rotations);
        interfaces
            .map(|(moments, (a, b))| second_order_work(moments, a, b))
            .sum()
    }

    fn third_derivative(&self, x: usize, a: usize, b: usize) -> f64 {
        self.work(&self.moments[x], a, b)
            + self.work(&self.moments[a], x, b)
            + self.work(&self.moments[b], x, a)
    }
}
