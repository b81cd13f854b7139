//! Numbers along a beam, four at a time.

use crate::flex::{GROUP, Group};
use lissom_spatial::Scalar;

/// A scalar for each point or cell of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points<T>([T; GROUP]);

impl<T: Scalar> Points<T> {
    pub(super) fn zero() -> Self {
        Self([T::zero(); GROUP])
    }

    /// One number for all of them.
    pub(super) fn all(value: f64) -> Self {
        Self([T::constant(value); GROUP])
    }

    /// `self += factor × constants`
    #[inline(always)]
    pub(super) fn add_scaled(&mut self, constants: &Group, factor: T) {
        for i in 0..GROUP {
            self.0[i] += factor * constants[i];
        }
    }

    /// `self += x × factor`
    #[inline(always)]
    pub(super) fn add_product(&mut self, x: &Self, factor: T) {
        for i in 0..GROUP {
            self.0[i] += x.0[i] * factor;
        }
    }

    /// `self += x × y`
    #[inline(always)]
    pub(super) fn add_products(&mut self, x: &Self, y: &Self) {
        for i in 0..GROUP {
            self.0[i] += x.0[i] * y.0[i];
        }
    }

    /// `self += x × constants`
    #[inline(always)]
    pub(super) fn add_times(&mut self, x: &Self, constants: &Group) {
        for i in 0..GROUP {
            self.0[i] += x.0[i] * constants[i];
        }
    }

    /// `self += x`
    #[inline(always)]
    pub(super) fn add(&mut self, x: &Self) {
        for i in 0..GROUP {
            self.0[i] += x.0[i];
        }
    }

    /// Every point's number times its constant.
    #[inline(always)]
    pub(super) fn times(mut self, constants: &Group) -> Self {
        for i in 0..GROUP {
            self.0[i] = self.0[i] * constants[i];
        }
        self
    }

    #[inline(always)]
    pub(super) fn scale(mut self, factor: f64) -> Self {
        for i in 0..GROUP {
            self.0[i] = self.0[i] * factor;
        }
        self
    }

    #[inline(always)]
    pub(super) fn product(mut self, other: &Self) -> Self {
        for i in 0..GROUP {
            self.0[i] = self.0[i] * other.0[i];
        }
        self
    }

    #[inline(always)]
    pub(super) fn plus(mut self, other: &Self) -> Self {
        self.add(other);
        self
    }

    #[inline(always)]
    pub(super) fn sum(self) -> T {
        let [a, b, c, d] = self.0;
        (a + b) + (c + d)
    }
}
