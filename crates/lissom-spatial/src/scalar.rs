//! The number a recursion computes with.
//!
//! The recursions are written once over [`Scalar`]: `f64` for a run, [`Lanes`] for a batch of runs that
//! march in step, [`Dual`] for exact derivatives. A kernel never branches on the value of a scalar, so
//! the lanes of a batch do the same operations in the same order as single runs and agree bit for bit.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Arithmetic the recursions need, and no more.
pub trait Scalar:
    Copy
    + Debug
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Mul<f64, Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// The scalar that is `x` in every lane and has no derivative.
    fn constant(x: f64) -> Self;
    /// Square root.
    #[must_use]
    fn sqrt(self) -> Self;
    /// Sine and cosine.
    #[must_use]
    fn sin_cos(self) -> (Self, Self);

    /// Zero.
    #[must_use]
    #[inline(always)]
    fn zero() -> Self {
        Self::constant(0.0)
    }
}

impl Scalar for f64 {
    #[inline(always)]
    fn constant(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        Self::sin_cos(self)
    }
}

/// A scalar of which can be told whether a positive definite matrix can have it as a pivot.
pub trait Pivot: Scalar {
    /// Whether it is positive and finite, in every lane.
    fn is_positive(self) -> bool;
}

impl Pivot for f64 {
    #[inline(always)]
    fn is_positive(self) -> bool {
        self > 0.0 && self.is_finite()
    }
}

/// `N` numbers computed side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub struct Lanes<const N: usize>(pub [f64; N]);

impl<const N: usize> Lanes<N> {
    // plain loops: `from_fn` and `map` of arrays are calls where they are not inlined, and then in the instructions of every processor
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut all = self;
        for i in 0..N {
            all.0[i] = f(self.0[i], other.0[i]);
        }
        all
    }
    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        self.zip(self, |a, _| f(a))
    }
}

impl<const N: usize> Scalar for Lanes<N> {
    #[inline(always)]
    fn constant(x: f64) -> Self {
        Self([x; N])
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f64::sqrt)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        (self.map(f64::sin), self.map(f64::cos))
    }
}

impl<const N: usize> Pivot for Lanes<N> {
    #[inline(always)]
    fn is_positive(self) -> bool {
        self.0.into_iter().all(Pivot::is_positive)
    }
}

/// A value with its derivatives along `N` directions; exact, no step size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<T, const N: usize> {
    /// The value.
    pub value: T,
    /// Derivative along each direction.
    pub tangent: [T; N],
}

impl<T: Scalar, const N: usize> Dual<T, N> {
    /// `value` as the independent variable of direction `direction`.
    pub fn variable(value: T, direction: usize) -> Self {
        let mut tangent = [T::zero(); N];
        tangent[direction] = T::constant(1.0);
        Self { value, tangent }
    }

    /// Chain rule: a function value with its derivative at `self.value`.
    #[inline(always)]
    fn chain(self, value: T, derivative: T) -> Self {
        Self {
            value,
            tangent: self.tangent.map(|t| t * derivative),
        }
    }
}

impl<T: Scalar, const N: usize> Scalar for Dual<T, N> {
    #[inline(always)]
    fn constant(x: f64) -> Self {
        Self {
            value: T::constant(x),
            tangent: [T::zero(); N],
        }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, T::constant(0.5) / root)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = self.value.sin_cos();
        (self.chain(sin, cos), self.chain(cos, -sin))
    }
}

impl<const N: usize> Add for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}
impl<const N: usize> Sub for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}
impl<const N: usize> Mul for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}
impl<const N: usize> Div for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
}
impl<const N: usize> Mul<f64> for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: f64) -> Self {
        self.map(|a| a * factor)
    }
}
impl<const N: usize> Neg for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}
impl<const N: usize> AddAssign for Lanes<N> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl<const N: usize> SubAssign for Lanes<N> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<T: Scalar, const N: usize> Add for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            tangent: std::array::from_fn(|i| self.tangent[i] + other.tangent[i]),
        }
    }
}
impl<T: Scalar, const N: usize> Sub for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self {
            value: self.value - other.value,
            tangent: std::array::from_fn(|i| self.tangent[i] - other.tangent[i]),
        }
    }
}
impl<T: Scalar, const N: usize> Mul for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    #[expect(clippy::suspicious_arithmetic_impl, reason = "product rule")]
    fn mul(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            tangent: std::array::from_fn(|i| {
                self.tangent[i] * other.value + other.tangent[i] * self.value
            }),
        }
    }
}
impl<T: Scalar, const N: usize> Div for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    #[expect(clippy::suspicious_arithmetic_impl, reason = "quotient rule")]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self {
            value,
            tangent: std::array::from_fn(|i| {
                (self.tangent[i] - value * other.tangent[i]) / other.value
            }),
        }
    }
}
impl<T: Scalar, const N: usize> Mul<f64> for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            tangent: self.tangent.map(|t| t * factor),
        }
    }
}
impl<T: Scalar, const N: usize> Neg for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self {
            value: -self.value,
            tangent: self.tangent.map(|t| -t),
        }
    }
}
impl<T: Scalar, const N: usize> AddAssign for Dual<T, N> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl<T: Scalar, const N: usize> SubAssign for Dual<T, N> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function that uses every operation of the trait.
    fn all_operations<T: Scalar>(x: T, y: T) -> T {
        let (sin, cos) = (x * y).sin_cos();
        let mut z = (sin / (y * y + T::constant(2.0))).sqrt() - -cos * 3.0;
        z += x;
        z -= y * 0.5;
        z
    }

    #[test]
    fn dual_derivatives_match_central_differences() {
        let (x, y) = (0.7, 1.3);
        let dual = all_operations(Dual::<f64, 2>::variable(x, 0), Dual::variable(y, 1));
        let h = 1e-5;
        // central differences: truncation h² and rounding eps/h are both below 1e-9
        let along_x = (all_operations(x + h, y) - all_operations(x - h, y)) / (2.0 * h);
        let along_y = (all_operations(x, y + h) - all_operations(x, y - h)) / (2.0 * h);
        assert!((dual.tangent[0] - along_x).abs() < 1e-9);
        assert!((dual.tangent[1] - along_y).abs() < 1e-9);
        assert_eq!(dual.value, all_operations(x, y));
    }

    #[test]
    fn lanes_are_bit_identical_to_single_numbers() {
        let x = [0.1, 0.7, 1.9, -0.4];
        let y = [1.3, 0.2, 0.6, -2.0];
        let lanes = all_operations(Lanes(x), Lanes(y));
        for i in 0..4 {
            assert_eq!(lanes.0[i].to_bits(), all_operations(x[i], y[i]).to_bits());
        }
    }

    #[test]
    fn second_derivatives_come_from_nested_duals() {
        let inner = Dual::<f64, 1>::variable(0.8, 0);
        let x = Dual::<Dual<f64, 1>, 1>::variable(inner, 0);
        let (sin, _) = x.sin_cos();
        assert!((sin.tangent[0].tangent[0] + 0.8_f64.sin()).abs() < 1e-15);
    }
}
