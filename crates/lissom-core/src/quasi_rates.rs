//! Velocities of joints that turn in any way, which are no rates of positions, where the equations are linearised.

use lissom_spatial::{Matrix, Vector};
use nalgebra::DMatrix;

/// A spherical or free joint in motion, as one of the degrees of freedom of a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct TurningJoint {
    /// Its first degree of freedom: three of rotation, then three of translation if it slides.
    pub first: usize,
    /// Angular velocity in the child's axes, or its rate.
    pub angular: Vector<f64>,
    /// Velocity in the child's axes, or its rate, of a joint that slides.
    pub linear: Option<Vector<f64>>,
}

/// $`W`$ for the velocities of such joints, or its rate for their rates: velocities that are no rates of positions deviate by
/// $`\delta v = \dot\delta + W\delta`$.
pub fn quasi_rates(dofs: usize, joints: impl IntoIterator<Item = TurningJoint>) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(dofs, dofs);
    let mut put = |row: usize, column: usize, vector: Vector<f64>| {
        for (i, entries) in Matrix::skew(vector).0.iter().enumerate() {
            for (j, &entry) in entries.iter().enumerate() {
                matrix[(row + i, column + j)] = entry;
            }
        }
    };
    for TurningJoint {
        first,
        angular,
        linear,
    } in joints
    {
        put(first, first, angular);
        if let Some(linear) = linear {
            put(first + 3, first + 3, angular);
            put(first + 3, first, linear);
        }
    }
    matrix
}
