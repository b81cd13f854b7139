//! How much inertia can be taken away from a flexible body at one of its nodes.
//!
//! The undeformed body moves freely with $`z = (\omega, v, \dot\eta)`$ and the kinetic energy $`\tfrac12 z^T M z`$; the twist of
//! the node is $`t = J z`$. With $`A = J M^{-1} J^T`$, of which $`1/A_{ii}`$ is the inertia that the body shows in direction
//! $`i`$ when nothing else is pushed,
//!
//! ```math
//! t^T A^{-1} t \le z^T M z , \qquad A \preceq 6\,\mathrm{diag}(A) ,
//! ```
//!
//! so that $`\sum_i t_i^2 / (6 A_{ii}) \le z^T M z`$: a rigid part with these inertias is always less than the body.

use nalgebra::{DMatrix, SymmetricEigen};

use super::body::{FlexibleBody, Node};
use lissom_spatial::{Matrix, RigidInertia, Symmetric, Vector};

/// Eigenvalue of the mass matrix, scaled to ones on its diagonal, below which a motion has no inertia.
const NO_INERTIA: f64 = 1e-12;

impl FlexibleBody {
    /// Inertia of a rigid part at a node, about it and in the body's axes, that never has more kinetic energy than the body. In
    /// directions in which the body has no inertia it has none either.
    pub fn inertia_at(&self, node: &Node) -> RigidInertia<f64> {
        let size = 6 + self.coordinates.len();
        let mass = self.free_mass_matrix();
        let scale: Vec<f64> = (0..size)
            .map(|i| match mass[(i, i)] {
                x if x > 0.0 => x.sqrt(),
                _ => 1.0,
            })
            .collect();
        let scaled = DMatrix::from_fn(size, size, |i, j| mass[(i, j)] / (scale[i] * scale[j]));
        let eigen = SymmetricEigen::new(scaled);
        let along = |component: usize| {
            let row = twist_row(node, component, size);
            let total: f64 = row.iter().zip(&scale).map(|(x, s)| (x / s).powi(2)).sum();
            let (mut compliance, mut lost) = (0.0, 0.0);
            for (value, vector) in eigen
                .eigenvalues
                .iter()
                .zip(eigen.eigenvectors.column_iter())
            {
                let parts = row.iter().zip(&scale).zip(vector.iter());
                let part: f64 = parts.map(|((x, s), y)| x / s * y).sum();
                if *value > NO_INERTIA {
                    compliance += part * part / value;
                } else {
                    lost += part * part;
                }
            }
            if lost > NO_INERTIA * total {
                0.0
            } else {
                1.0 / (6.0 * compliance)
            }
        };
        let [x, y, z] = [0, 1, 2].map(along);
        let linear = [3, 4, 5].map(along);
        RigidInertia {
            mass: linear.into_iter().fold(f64::INFINITY, f64::min),
            first_moment: Vector::zero(),
            rotational: Symmetric([x, 0.0, 0.0, y, 0.0, z]),
        }
    }

    /// Mass matrix of the undeformed free body in $`(\omega, v, \dot\eta)`$ about its frame.
    pub(super) fn free_mass_matrix(&self) -> DMatrix<f64> {
        let modes = self.coordinates.len();
        let second = Matrix(self.second_moment);
        let rigid = RigidInertia::from_moments(self.mass, Vector(self.first_moment), second);
        let angular = rigid.rotational.full();
        let coupling = Matrix::skew(rigid.first_moment);
        let integrals = &self.integrals;
        let turned = |alpha: usize| Matrix(integrals.with_position[alpha]).cross_of_outer();
        DMatrix::from_fn(6 + modes, 6 + modes, |i, j| {
            let (i, j) = (i.min(j), i.max(j));
            match (i, j) {
                (0..3, 0..3) => angular.0[i][j],
                (0..3, 3..6) => coupling.0[i][j - 3],
                (3..6, 3..6) if i == j => self.mass,
                (3..6, 3..6) => 0.0,
                (0..3, _) => turned(j - 6)[i],
                (3..6, _) => integrals.first[j - 6][i - 3],
                _ => integrals.mass_matrix[(i - 6) * modes + j - 6],
            }
        })
    }
}

/// Derivative of one component of a node's twist by the velocities of the free body.
fn twist_row(node: &Node, component: usize, size: usize) -> Vec<f64> {
    let mut row = vec![0.0; size];
    row[component] = 1.0;
    let (of, axis) = if component < 3 {
        (&node.rotation, component)
    } else {
        // v + ω × r
        let axis = component - 3;
        let lever = Matrix::skew(Vector(node.position)).0[axis];
        for (entry, x) in row.iter_mut().zip(lever) {
            *entry = -x;
        }
        (&node.displacement, axis)
    };
    for (entry, shape) in row[6..].iter_mut().zip(of) {
        *entry = shape[axis];
    }
    row
}
