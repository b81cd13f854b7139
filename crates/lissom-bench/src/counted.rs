//! A scalar that counts the arithmetic done with it.

use std::cell::Cell;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use lissom_spatial::Scalar;

thread_local! {
    static OPERATIONS: Cell<u64> = const { Cell::new(0) };
}

/// A number whose additions, multiplications, divisions and function calls are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted(pub f64);

/// Floating-point operations that `work` does on [`Counted`] numbers.
pub fn count(work: impl FnOnce()) -> u64 {
    let before = OPERATIONS.get();
    work();
    OPERATIONS.get() - before
}

fn tick(x: f64) -> Counted {
    OPERATIONS.set(OPERATIONS.get() + 1);
    Counted(x)
}

impl Scalar for Counted {
    fn constant(x: f64) -> Self {
        Self(x)
    }
    fn sqrt(self) -> Self {
        tick(self.0.sqrt())
    }
    fn sin_cos(self) -> (Self, Self) {
        (tick(self.0.sin()), tick(self.0.cos()))
    }
}

impl Add for Counted {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        tick(self.0 + other.0)
    }
}
impl Sub for Counted {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        tick(self.0 - other.0)
    }
}
impl Mul for Counted {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        tick(self.0 * other.0)
    }
}
impl Mul<f64> for Counted {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        tick(self.0 * other)
    }
}
impl Div for Counted {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        tick(self.0 / other.0)
    }
}
impl Neg for Counted {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}
impl AddAssign for Counted {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl SubAssign for Counted {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
