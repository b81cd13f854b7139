//! [`Real`]: scalars whose value may be asked for.

use super::{Dual, Matrix, Scalar, Vector, inverse_rate_matrix, rotation_vector_of};

/// A scalar with one value, which functions that take a branch need to see: those of beams are piecewise, rotation vectors
/// end at half a turn.
pub trait Real: Scalar {
    /// The number without its derivatives.
    fn value(self) -> f64;

    /// A function of this number, from its value and derivative there.
    #[must_use]
    fn follow(self, value: f64, derivative: f64) -> Self;

    /// The rotation vector, at most π long, of a rotation matrix.
    fn rotation_vector(rotation: &Matrix<Self>) -> Vector<Self>;
}

impl Real for f64 {
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }

    #[inline(always)]
    fn follow(self, value: f64, _: f64) -> Self {
        value
    }

    fn rotation_vector(rotation: &Matrix<Self>) -> Vector<Self> {
        rotation_vector_of(rotation)
    }
}

impl<const N: usize> Real for Dual<f64, N> {
    #[inline(always)]
    fn value(self) -> f64 {
        self.value
    }

    #[inline(always)]
    fn follow(self, value: f64, derivative: f64) -> Self {
        Self {
            value,
            tangent: self.tangent.map(|t| t * derivative),
        }
    }

    fn rotation_vector(rotation: &Matrix<Self>) -> Vector<Self> {
        let turned = Matrix(rotation.0.map(|row| row.map(|x| x.value)));
        let value = rotation_vector_of(&turned);
        let rates = inverse_rate_matrix(value);
        let mut vector = Vector(value.0.map(Self::constant));
        for direction in 0..N {
            // the skew matrix of the angular velocity is the rate of the rotation times its transpose
            let rate = Matrix(rotation.0.map(|row| row.map(|x| x.tangent[direction])));
            let skew = (rate * turned.transpose()).0;
            let angular = Vector([
                0.5 * (skew[2][1] - skew[1][2]),
                0.5 * (skew[0][2] - skew[2][0]),
                0.5 * (skew[1][0] - skew[0][1]),
            ]);
            let change = rates * angular;
            for i in 0..3 {
                vector[i].tangent[direction] = change[i];
            }
        }
        vector
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RotationVector;

    /// Inverse function: the rotation vector of a rotation made of one over dual numbers is that one, with its derivatives.
    #[test]
    fn rotation_vectors_are_found_with_their_derivatives() {
        for base in [[0.0; 3], [0.3, -1.2, 0.7], [1e-9, 0.0, 2e-9]] {
            let vector: [Dual<f64, 3>; 3] = std::array::from_fn(|i| Dual::variable(base[i], i));
            let found = Real::rotation_vector(&RotationVector::new(Vector(vector)).matrix());
            for (i, (found, wanted)) in found.0.into_iter().zip(base).enumerate() {
                assert!((found.value - wanted).abs() < 1e-15, "{base:?} {i}");
                for (j, tangent) in found.tangent.into_iter().enumerate() {
                    let wanted = f64::from(u8::from(i == j));
                    assert!(
                        (tangent - wanted).abs() < 1e-13,
                        "{base:?} {i} {j}: {tangent}"
                    );
                }
            }
        }
    }
}
