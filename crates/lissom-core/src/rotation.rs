//! Rotations that models write.

use lissom_spatial::{Matrix, Quaternion, RotationVector, Vector};

/// The rotation matrix of a vector of any length; that of [`RotationVector`] is a power series, which ends with a turn.
pub fn rotation_matrix(vector: Vector<f64>) -> Matrix<f64> {
    use std::f64::consts::PI;
    if vector.dot(vector) <= PI * PI {
        return RotationVector::new(vector).matrix();
    }
    Quaternion::of_rotation_vector(vector).matrix()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closed form: about an axis of the frame, through many turns.
    #[test]
    fn turns_add_up() {
        // of the angle
        const ROUNDING: f64 = 1e-15;
        for angle in [0.3_f64, 3.1, 3.2, 20.0, -700.0] {
            let Matrix([x, y, z]) = rotation_matrix(Vector([0.0, 0.0, angle]));
            let (sin, cos) = angle.sin_cos();
            let wanted = [[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]];
            for (found, wanted) in [x, y, z].iter().flatten().zip(wanted.iter().flatten()) {
                let most = 4.0 * ROUNDING * angle.abs().max(1.0);
                assert!((found - wanted).abs() < most, "{angle}: {found} {wanted}");
            }
        }
    }
}
