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

/// Sums over a beam of the products of one line of numbers with others.
#[inline(always)]
pub(super) fn dots<T: Scalar, const K: usize>(
    x: &[Points<T>],
    others: [&[Points<T>]; K],
) -> [T; K] {
    let mut sums = [Points::zero(); K];
    for i in 0..x.len() {
        for k in 0..K {
            sums[k].add_products(&x[i], &others[k][i]);
        }
    }
    each_sum(sums)
}

/// Sums over a beam of the products of lines of numbers with one line of constants.
#[inline(always)]
pub(super) fn dots_with_constants<T: Scalar, const K: usize>(
    lines: [&[Points<T>]; K],
    constants: &[Group],
) -> [T; K] {
    let mut sums = [Points::zero(); K];
    for i in 0..constants.len() {
        for k in 0..K {
            sums[k].add_times(&lines[k][i], &constants[i]);
        }
    }
    each_sum(sums)
}

/// The sum over a beam.
#[inline(always)]
pub(super) fn total<T: Scalar>(x: &[Points<T>]) -> T {
    let mut sum = Points::zero();
    for x in x {
        sum.add(x);
    }
    sum.sum()
}

#[inline(always)]
fn each_sum<T: Scalar, const K: usize>(sums: [Points<T>; K]) -> [T; K] {
    let mut all = [T::zero(); K];
    for k in 0..K {
        all[k] = sums[k].sum();
    }
    all
}
