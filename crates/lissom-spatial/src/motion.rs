//! Twists and wrenches.

use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use super::Vector;
use crate::scalar::Scalar;

/// A twist or spatial acceleration at the origin of its frame.
///
/// A spatial acceleration is the component-wise derivative of a twist expressed in its own moving
/// frame; the acceleration of the origin as a point is `linear + angular velocity × linear velocity`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion<T> {
    /// Angular velocity or acceleration.
    pub angular: Vector<T>,
    /// Linear velocity or acceleration of the origin.
    pub linear: Vector<T>,
}

/// A wrench or spatial momentum about the origin of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Force<T> {
    /// Moment, or angular momentum.
    pub moment: Vector<T>,
    /// Force, or linear momentum.
    pub force: Vector<T>,
}

impl<T: Scalar> Motion<T> {
    /// No motion.
    #[must_use]
    #[inline(always)]
    pub fn zero() -> Self {
        Self::new(Vector::zero(), Vector::zero())
    }

    /// From its two parts.
    #[inline(always)]
    pub fn new(angular: Vector<T>, linear: Vector<T>) -> Self {
        Self { angular, linear }
    }

    /// A motion known when the system was built.
    #[inline(always)]
    pub fn constant(x: &Motion<f64>) -> Self {
        Self::new(Vector::constant(x.angular.0), Vector::constant(x.linear.0))
    }

    /// Power of a force along this motion.
    #[inline(always)]
    pub fn dot(self, force: Force<T>) -> T {
        self.angular.dot(force.moment) + self.linear.dot(force.force)
    }

    /// Rate of `other`, fixed in a frame that moves with `self`.
    #[must_use]
    #[inline(always)]
    pub fn cross_motion(self, other: Self) -> Self {
        Self::new(
            self.angular.cross(other.angular),
            self.angular.cross(other.linear) + self.linear.cross(other.angular),
        )
    }

    /// Rate of `force`, fixed in a frame that moves with `self`.
    #[inline(always)]
    pub fn cross_force(self, force: Force<T>) -> Force<T> {
        Force::new(
            self.angular.cross(force.moment) + self.linear.cross(force.force),
            self.angular.cross(force.force),
        )
    }

    /// Times a scalar.
    #[must_use]
    #[inline(always)]
    pub fn scale(self, factor: T) -> Self {
        Self::new(self.angular.scale(factor), self.linear.scale(factor))
    }
}

impl<T: Scalar> Force<T> {
    /// No force.
    #[must_use]
    #[inline(always)]
    pub fn zero() -> Self {
        Self::new(Vector::zero(), Vector::zero())
    }

    /// From its two parts.
    #[inline(always)]
    pub fn new(moment: Vector<T>, force: Vector<T>) -> Self {
        Self { moment, force }
    }

    /// Times a scalar.
    #[must_use]
    #[inline(always)]
    pub fn scale(self, factor: T) -> Self {
        Self::new(self.moment.scale(factor), self.force.scale(factor))
    }
}

impl<T: Scalar> Add for Motion<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.angular + other.angular, self.linear + other.linear)
    }
}
impl<T: Scalar> Sub for Motion<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.angular - other.angular, self.linear - other.linear)
    }
}
impl<T: Scalar> Neg for Motion<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.angular, -self.linear)
    }
}
impl<T: Scalar> AddAssign for Motion<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl<T: Scalar> Add for Force<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.moment + other.moment, self.force + other.force)
    }
}
impl<T: Scalar> Sub for Force<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.moment - other.moment, self.force - other.force)
    }
}
impl<T: Scalar> AddAssign for Force<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl<T: Scalar> SubAssign for Force<T> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
