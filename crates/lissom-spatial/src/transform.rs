//! Pose of a child frame in its parent frame, and what it does to motions and forces.

use std::ops::Mul;

use super::{Force, Matrix, Motion, Vector};
use crate::scalar::Scalar;

/// `parent_from_child`: a vector `x` of the child frame is `rotation x` in the parent frame, and the
/// child's origin is at `translation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform<T> {
    /// Turns child components into parent components.
    pub rotation: Matrix<T>,
    /// Origin of the child frame in parent components.
    pub translation: Vector<T>,
}

impl<T: Scalar> Transform<T> {
    /// Both frames coincide.
    #[must_use]
    #[inline(always)]
    pub fn identity() -> Self {
        Self::new(Matrix::identity(), Vector::zero())
    }

    /// From its two parts.
    #[inline(always)]
    pub fn new(rotation: Matrix<T>, translation: Vector<T>) -> Self {
        Self {
            rotation,
            translation,
        }
    }

    /// A pose known when the system was built.
    #[inline(always)]
    pub fn constant(x: &Transform<f64>) -> Self {
        Self::new(
            Matrix::constant(x.rotation.0),
            Vector::constant(x.translation.0),
        )
    }

    /// A point of the child frame in parent components.
    #[inline(always)]
    pub fn point(&self, x: Vector<T>) -> Vector<T> {
        self.rotation * x + self.translation
    }

    /// The motion of the child frame's origin if it were fixed to the parent frame.
    #[inline(always)]
    pub fn motion_to_child(&self, motion: Motion<T>) -> Motion<T> {
        Motion::new(
            self.rotation.transpose_mul(motion.angular),
            self.rotation
                .transpose_mul(motion.linear + motion.angular.cross(self.translation)),
        )
    }

    /// A motion of the child's origin, seen at the parent's origin in parent components.
    #[inline(always)]
    pub fn motion_to_parent(&self, motion: Motion<T>) -> Motion<T> {
        let angular = self.rotation * motion.angular;
        Motion::new(
            angular,
            self.rotation * motion.linear + self.translation.cross(angular),
        )
    }

    /// A force at the child's origin, about the parent's origin in parent components.
    #[inline(always)]
    pub fn force_to_parent(&self, force: Force<T>) -> Force<T> {
        let linear = self.rotation * force.force;
        Force::new(
            self.rotation * force.moment + self.translation.cross(linear),
            linear,
        )
    }

    /// The inverse pose, `child_from_parent`.
    #[must_use]
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self::new(rotation, -(rotation * self.translation))
    }
}

impl<T: Scalar> Mul for Transform<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self::new(
            self.rotation * other.rotation,
            self.point(other.translation),
        )
    }
}
