//! Numbers of twice the precision, for references: a sum of two plain ones that do not overlap, about 31 digits.

use lissom_spatial::Scalar;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// The sum of a number and what rounding has left of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Twofold(f64, f64);

impl Twofold {
    /// The nearest plain number.
    pub(super) fn rounded(self) -> f64 {
        self.0 + self.1
    }

    /// `high + low`, where `high` is the larger.
    fn renormalized(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self(sum, low - (sum - high))
    }

    /// `a + b` without error.
    fn sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        let part = sum - a;
        Self(sum, (a - (sum - part)) + (b - part))
    }

    /// `a b` without error, by halves of 26 bits.
    fn product(a: f64, b: f64) -> Self {
        let halves = |x: f64| {
            let shifted = 134_217_729.0 * x;
            let high = shifted - (shifted - x);
            (high, x - high)
        };
        let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
        let product = a * b;
        Self(product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2)
    }
}

impl Scalar for Twofold {
    fn constant(x: f64) -> Self {
        Self(x, 0.0)
    }
    fn sqrt(self) -> Self {
        if self.0 == 0.0 {
            return self;
        }
        // one step of Newton's iteration doubles the digits
        let root = Self::constant(self.0.sqrt());
        root + (self - root * root) / (root * 2.0)
    }
    fn sin_cos(self) -> (Self, Self) {
        // Taylor's series: arguments are angles of a few radians at most
        let (mut sin, mut cos) = (Self::zero(), Self::zero());
        let mut term = Self::constant(1.0);
        for order in 0..80 {
            match order % 4 {
                0 => cos += term,
                1 => sin += term,
                2 => cos -= term,
                _ => sin -= term,
            }
            term = term * self / Self::constant(f64::from(order + 1));
        }
        (sin, cos)
    }
}

impl Add for Twofold {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (Self::sum(self.0, other.0), Self::sum(self.1, other.1));
        let first = Self::renormalized(high.0, high.1 + low.0);
        Self::renormalized(first.0, first.1 + low.1)
    }
}
impl Neg for Twofold {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}
impl Sub for Twofold {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}
impl Mul for Twofold {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.0, other.0);
        let rest = self.0 * other.1 + self.1 * other.0;
        Self::renormalized(product.0, product.1 + rest)
    }
}
impl Mul<f64> for Twofold {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        self * Self::constant(other)
    }
}
impl Div for Twofold {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        // long division, a plain number of digits at a time
        let first = self.0 / other.0;
        let rest = self - other * first;
        let second = rest.0 / other.0;
        let rest = rest - other * second;
        Self::renormalized(first, second) + Self::constant(rest.0 / other.0)
    }
}
impl AddAssign for Twofold {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl SubAssign for Twofold {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// Twenty-seven digits of numbers that plain ones do not hold.
#[test]
fn has_twice_the_digits() {
    const DIGITS: f64 = 1e-27;
    let third = Twofold::constant(1.0) / Twofold::constant(3.0);
    let one = third + third + third;
    let two = Twofold::constant(2.0).sqrt() * Twofold::constant(2.0).sqrt();
    let (sin, cos) = Twofold::constant(1.3).sin_cos();
    for (found, expected) in [(one, 1.0), (two, 2.0), (sin * sin + cos * cos, 1.0)] {
        let apart = (found - Twofold::constant(expected)).rounded();
        assert!(apart.abs() < DIGITS, "{apart}");
    }
}
