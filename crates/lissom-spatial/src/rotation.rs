//! Finite rotations: rotation vectors with their exact rates, and unit quaternions.

use super::{Matrix, Vector};
use crate::scalar::Scalar;

/// A rotation vector $`\vartheta`$ with what its exponential needs.
///
/// With $`x = |\vartheta|`$, $`b = (1 - \cos x)/x^2`$ and $`c = (x - \sin x)/x^3`$,
///
/// ```math
/// \mathrm{Exp}(\vartheta) = 1 + (1 - c x^2)\,\vartheta^\times + b\,\vartheta^\times\vartheta^\times,
/// \qquad
/// \omega = \Gamma(\vartheta)\,\dot\vartheta, \quad
/// \Gamma = 1 + b\,\vartheta^\times + c\,\vartheta^\times\vartheta^\times ,
/// ```
///
/// with $`\omega`$ in the components of the frame that $`\vartheta`$ turns away from. `b` and `c` are entire
/// functions of $`x^2`$ and are summed as power series: no branch at small angles and no loss there.
/// The series are exact to rounding for $`x \le \pi`$, far beyond any elastic rotation.
#[derive(Clone, Copy, Debug)]
pub struct RotationVector<T> {
    vector: Vector<T>,
    squared: T,
    b: T,
    c: T,
}

/// Terms kept of the series of `b` and `c`: the first one left out is below 1e-17 at an angle of π.
const SERIES_TERMS: usize = 15;

/// Coefficients $`(-1)^k/(2k + offset)!`$ of the power series in $`x^2`$.
const fn alternating_inverse_factorials(offset: usize) -> [f64; SERIES_TERMS] {
    let mut coefficients = [0.0; SERIES_TERMS];
    let mut factorial = 1.0;
    let mut n = 1;
    while n <= offset {
        factorial *= n as f64;
        n += 1;
    }
    let mut k = 0;
    while k < SERIES_TERMS {
        coefficients[k] = if k % 2 == 0 { 1.0 } else { -1.0 } / factorial;
        factorial *= ((2 * k + offset + 1) * (2 * k + offset + 2)) as f64;
        k += 1;
    }
    coefficients
}

const ONE_MINUS_COS: [f64; SERIES_TERMS] = alternating_inverse_factorials(2);
const X_MINUS_SIN: [f64; SERIES_TERMS] = alternating_inverse_factorials(3);

/// Value of a power series by Horner's rule.
#[inline(always)]
fn series<T: Scalar>(coefficients: &[f64; SERIES_TERMS], x: T) -> T {
    let mut sum = T::constant(coefficients[SERIES_TERMS - 1]);
    for k in (0..SERIES_TERMS - 1).rev() {
        sum = sum * x + T::constant(coefficients[k]);
    }
    sum
}

/// Derivative of a power series by Horner's rule.
#[inline(always)]
fn series_derivative<T: Scalar>(coefficients: &[f64; SERIES_TERMS], x: T) -> T {
    let mut sum = T::constant(coefficients[SERIES_TERMS - 1] * (SERIES_TERMS - 1) as f64);
    for k in (1..SERIES_TERMS - 1).rev() {
        sum = sum * x + T::constant(coefficients[k] * k as f64);
    }
    sum
}

impl<T: Scalar> RotationVector<T> {
    /// Prepares the exponential of `vector`.
    #[inline(always)]
    pub fn new(vector: Vector<T>) -> Self {
        let squared = vector.dot(vector);
        Self {
            vector,
            squared,
            b: series(&ONE_MINUS_COS, squared),
            c: series(&X_MINUS_SIN, squared),
        }
    }

    /// The rotation matrix $`\mathrm{Exp}(\vartheta)`$.
    #[inline(always)]
    pub fn matrix(&self) -> Matrix<T> {
        let sinc = T::constant(1.0) - self.c * self.squared;
        let cos = T::constant(1.0) - self.b * self.squared;
        Matrix::diagonal(cos)
            + Matrix::skew(self.vector.scale(sinc))
            + self.vector.outer(self.vector.scale(self.b))
    }

    /// $`\Gamma(\vartheta)`$: turns a rate of the rotation vector into angular velocity.
    #[inline(always)]
    pub fn rate_matrix(&self) -> Matrix<T> {
        // θ^×θ^× = θθᵀ − x² 1
        Matrix::diagonal(T::constant(1.0) - self.c * self.squared)
            + Matrix::skew(self.vector.scale(self.b))
            + self.vector.outer(self.vector.scale(self.c))
    }

    /// $`\dot\Gamma\,\dot\vartheta`$: angular acceleration left when the rotation vector has a constant rate.
    #[inline(always)]
    pub fn angular_bias(&self, rate: Vector<T>) -> Vector<T> {
        let squared_rate = self.vector.dot(rate) * 2.0;
        let b_rate = series_derivative(&ONE_MINUS_COS, self.squared) * squared_rate;
        let c_rate = series_derivative(&X_MINUS_SIN, self.squared) * squared_rate;
        let cross = self.vector.cross(rate);
        cross.scale(b_rate)
            + self.vector.cross(cross).scale(c_rate)
            + rate.cross(cross).scale(self.c)
    }
}

/// $`\Gamma^{-1}(\vartheta) = 1 - \tfrac12\vartheta^\times + (1 - \tfrac x2\cot\tfrac x2)/x^2\;\vartheta^\times\vartheta^\times`$: turns angular velocity
/// into the rate of the rotation vector; its transpose does so for components in the turned frame.
pub fn inverse_rate_matrix(vector: Vector<f64>) -> Matrix<f64> {
    let squared = vector.dot(vector);
    // the series where the quotient would lose its digits
    let factor = if squared < 1e-4 {
        (1.0 + squared / 60.0) / 12.0
    } else {
        let half = 0.5 * squared.sqrt();
        (1.0 - half / half.tan()) / squared
    };
    let skew = Matrix::skew(vector);
    Matrix::identity() - skew.scale(0.5) + (skew * skew).scale(factor)
}

/// The rotation vector, at most π long, of a rotation matrix.
pub fn rotation_vector_of(rotation: &Matrix<f64>) -> Vector<f64> {
    let [cos_half, x, y, z] = Quaternion::of_matrix(rotation).0;
    let vector = Vector([x, y, z]);
    let sin_half = vector.dot(vector).sqrt();
    vector.scale(if sin_half < 1e-8 {
        // 2 asin(s)/s is 2 to rounding here
        2.0
    } else {
        2.0 * sin_half.atan2(cos_half) / sin_half
    })
}

/// A quaternion `[w, x, y, z]` that turns child components into parent components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quaternion<T>(pub [T; 4]);

impl<T: Scalar> Quaternion<T> {
    /// The rotation matrix of the normalised quaternion, whatever its length.
    #[inline(always)]
    pub fn matrix(self) -> Matrix<T> {
        let [w, x, y, z] = self.0;
        let s = T::constant(2.0) / (w * w + x * x + y * y + z * z);
        let one = T::constant(1.0);
        Matrix([
            [
                one - s * (y * y + z * z),
                s * (x * y - w * z),
                s * (x * z + w * y),
            ],
            [
                s * (x * y + w * z),
                one - s * (x * x + z * z),
                s * (y * z - w * x),
            ],
            [
                s * (x * z - w * y),
                s * (y * z + w * x),
                one - s * (x * x + y * y),
            ],
        ])
    }

    /// Time derivative for an angular velocity in child components.
    #[must_use]
    #[inline(always)]
    pub fn rate(self, angular: Vector<T>) -> Self {
        self.rate_of(angular, self.vector().cross(angular))
    }

    /// Time derivative for an angular velocity in parent components.
    #[must_use]
    #[inline(always)]
    pub fn rate_from_parent(self, angular: Vector<T>) -> Self {
        self.rate_of(angular, -self.vector().cross(angular))
    }

    #[inline(always)]
    fn vector(self) -> Vector<T> {
        let [_, x, y, z] = self.0;
        Vector([x, y, z])
    }

    #[inline(always)]
    fn rate_of(self, angular: Vector<T>, cross: Vector<T>) -> Self {
        let vector = angular.scale(self.0[0]) + cross;
        Self([
            self.vector().dot(angular) * -0.5,
            vector[0] * 0.5,
            vector[1] * 0.5,
            vector[2] * 0.5,
        ])
    }
}

impl Quaternion<f64> {
    /// The unit quaternion of a rotation vector.
    pub fn of_rotation_vector(vector: Vector<f64>) -> Self {
        let half = 0.5 * vector.dot(vector).sqrt();
        let scale = if half < 1e-8 {
            0.5
        } else {
            0.5 * half.sin() / half
        };
        Self([
            half.cos(),
            scale * vector[0],
            scale * vector[1],
            scale * vector[2],
        ])
    }

    /// The unit quaternion, `w ≥ 0`, of a rotation matrix (Shepperd's choice of the largest divisor).
    pub fn of_matrix(rotation: &Matrix<f64>) -> Self {
        let m = rotation.0;
        let squares = [
            1.0 + m[0][0] + m[1][1] + m[2][2],
            1.0 + m[0][0] - m[1][1] - m[2][2],
            1.0 - m[0][0] + m[1][1] - m[2][2],
            1.0 - m[0][0] - m[1][1] + m[2][2],
        ];
        let largest = (0..4).fold(
            0,
            |best, i| if squares[i] > squares[best] { i } else { best },
        );
        let root = squares[largest].sqrt();
        let (s, d) = (0.5 * root, 0.5 / root);
        let q = match largest {
            0 => [
                s,
                (m[2][1] - m[1][2]) * d,
                (m[0][2] - m[2][0]) * d,
                (m[1][0] - m[0][1]) * d,
            ],
            1 => [
                (m[2][1] - m[1][2]) * d,
                s,
                (m[0][1] + m[1][0]) * d,
                (m[0][2] + m[2][0]) * d,
            ],
            2 => [
                (m[0][2] - m[2][0]) * d,
                (m[0][1] + m[1][0]) * d,
                s,
                (m[1][2] + m[2][1]) * d,
            ],
            _ => [
                (m[1][0] - m[0][1]) * d,
                (m[0][2] + m[2][0]) * d,
                (m[1][2] + m[2][1]) * d,
                s,
            ],
        };
        if q[0] < 0.0 {
            Self(q.map(|x| -x))
        } else {
            Self(q)
        }
    }

    /// `self` followed by a rotation about child axes, normalised.
    #[must_use]
    pub fn rotated(self, vector: Vector<f64>) -> Self {
        self.times(Self::of_rotation_vector(vector))
    }

    /// `self` preceded by a rotation about parent axes, normalised.
    #[must_use]
    pub fn rotated_in_parent(self, vector: Vector<f64>) -> Self {
        Self::of_rotation_vector(vector).times(self)
    }

    /// The product of two rotations, normalised.
    fn times(self, other: Self) -> Self {
        let [a, b, c, d] = self.0;
        let [w, x, y, z] = other.0;
        let product = [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ];
        let length = product.iter().map(|x| x * x).sum::<f64>().sqrt();
        Self(product.map(|x| x / length))
    }
}
