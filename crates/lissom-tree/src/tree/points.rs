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
        for (x, &c) in self.0.iter_mut().zip(constants) {
            *x += factor * c;
        }
    }

    /// `self += x × factor`
    #[inline(always)]
    pub(super) fn add_product(&mut self, x: &Self, factor: T) {
        for (sum, &x) in self.0.iter_mut().zip(&x.0) {
            *sum += x * factor;
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
    pub(super) fn times(&self, constants: &Group) -> Self {
        Self(std::array::from_fn(|i| self.0[i] * constants[i]))
    }

    #[inline(always)]
    pub(super) fn scale(&self, factor: f64) -> Self {
        Self(self.0.map(|x| x * factor))
    }

    #[inline(always)]
    pub(super) fn product(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] * other.0[i]))
    }

    #[inline(always)]
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }

    #[inline(always)]
    pub(super) fn sum(self) -> T {
        let [a, b, c, d] = self.0;
        (a + b) + (c + d)
    }
}
