//! Inertia of a rigid body, and of a body with its subtree hanging free.

use std::ops::{Add, AddAssign};

use super::{Force, Matrix, Motion, Symmetric, Transform, Vector};
use crate::scalar::Scalar;

/// Mass distribution of a rigid body about the origin of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidInertia<T> {
    /// Mass.
    pub mass: T,
    /// Mass times centre of mass, $`\int r\,dm`$.
    pub first_moment: Vector<T>,
    /// Rotational inertia about the origin, $`\int (r^2 1 - r r^T)\,dm`$.
    pub rotational: Symmetric<T>,
}

/// A symmetric map from motion to force, `[A, C; Cᵀ, L]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia<T> {
    /// `A`: moment per angular acceleration.
    pub angular: Symmetric<T>,
    /// `C`: moment per linear acceleration.
    pub coupling: Matrix<T>,
    /// `L`: force per linear acceleration.
    pub linear: Symmetric<T>,
}

impl<T: Scalar> RigidInertia<T> {
    /// From the second-moment matrix $`\int r r^T dm`$.
    #[inline(always)]
    pub fn from_moments(mass: T, first_moment: Vector<T>, second_moment: Matrix<T>) -> Self {
        Self {
            mass,
            first_moment,
            rotational: Symmetric::diagonal(second_moment.trace())
                - Symmetric::upper(&second_moment),
        }
    }

    /// An inertia known when the system was built.
    #[inline(always)]
    pub fn constant(x: &RigidInertia<f64>) -> Self {
        Self {
            mass: T::constant(x.mass),
            first_moment: Vector::constant(x.first_moment.0),
            rotational: Symmetric::constant(x.rotational.0),
        }
    }

    /// No mass.
    #[must_use]
    #[inline(always)]
    pub fn zero() -> Self {
        Self {
            mass: T::zero(),
            first_moment: Vector::zero(),
            rotational: Symmetric::zero(),
        }
    }

    /// Momentum of a twist, or force of an acceleration.
    #[inline(always)]
    pub fn times(&self, motion: Motion<T>) -> Force<T> {
        Force::new(
            self.rotational * motion.angular + self.first_moment.cross(motion.linear),
            motion.linear.scale(self.mass) - self.first_moment.cross(motion.angular),
        )
    }

    /// The same mass seen from the parent frame.
    #[must_use]
    #[inline(always)]
    pub fn to_parent(&self, parent_from_child: &Transform<T>) -> Self {
        let rotation = parent_from_child.rotation;
        let p = parent_from_child.translation;
        let c = rotation * self.first_moment;
        // ∫(r + p)(r + p)ᵀ differs from ∫ r rᵀ by c pᵀ + p (c + m p)ᵀ, whose sum is symmetric
        let shifted = c + p.scale(self.mass);
        let shift = c.outer(p) + p.outer(shifted);
        Self {
            mass: self.mass,
            first_moment: shifted,
            rotational: self.rotational.rotate(rotation) + Symmetric::diagonal(shift.trace())
                - Symmetric::upper(&shift),
        }
    }
}

impl<T: Scalar> Add for RigidInertia<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            first_moment: self.first_moment + other.first_moment,
            rotational: self.rotational + other.rotational,
        }
    }
}

impl<T: Scalar> ArticulatedInertia<T> {
    /// No inertia.
    #[must_use]
    #[inline(always)]
    pub fn zero() -> Self {
        Self {
            angular: Symmetric::zero(),
            coupling: Matrix::zero(),
            linear: Symmetric::zero(),
        }
    }

    /// Force of an acceleration.
    #[inline(always)]
    pub fn times(&self, motion: Motion<T>) -> Force<T> {
        Force::new(
            self.angular * motion.angular + self.coupling * motion.linear,
            self.coupling.transpose_mul(motion.angular) + self.linear * motion.linear,
        )
    }

    /// Subtracts `a aᵀ` times a factor.
    #[inline(always)]
    pub fn subtract_square(&mut self, a: Force<T>, factor: T) {
        let scaled = a.scale(factor);
        self.angular = self.angular - a.moment.symmetric_outer(scaled.moment);
        self.coupling = self.coupling - scaled.moment.outer(a.force);
        self.linear = self.linear - a.force.symmetric_outer(scaled.force);
    }

    /// The same inertia seen from the parent frame.
    #[must_use]
    #[inline(always)]
    pub fn to_parent(&self, parent_from_child: &Transform<T>) -> Self {
        let rotation = parent_from_child.rotation;
        let p = parent_from_child.translation;
        let linear = self.linear.rotate(rotation);
        let rotated = rotation * self.coupling * rotation.transpose();
        // C' = C + p^× L, by columns of the symmetric L
        let [a, b, c] = linear.full().rows();
        let shift = Matrix([p.cross(a).0, p.cross(b).0, p.cross(c).0]).transpose();
        let coupling = rotated + shift;
        // A' = A − C p^× + p^× C'ᵀ, one triangle of it
        let [a, b, c] = rotated.rows();
        let before = [a.cross(p), b.cross(p), c.cross(p)];
        let [a, b, c] = coupling.rows();
        let after = [p.cross(a), p.cross(b), p.cross(c)];
        let change = |i: usize, j: usize| after[j][i] - before[i][j];
        let angular = self.angular.rotate(rotation)
            + Symmetric([
                change(0, 0),
                change(0, 1),
                change(0, 2),
                change(1, 1),
                change(1, 2),
                change(2, 2),
            ]);
        Self {
            angular,
            coupling,
            linear,
        }
    }
}

impl<T: Scalar> From<RigidInertia<T>> for ArticulatedInertia<T> {
    #[inline(always)]
    fn from(rigid: RigidInertia<T>) -> Self {
        Self {
            angular: rigid.rotational,
            coupling: Matrix::skew(rigid.first_moment),
            linear: Symmetric::diagonal(rigid.mass),
        }
    }
}

impl<T: Scalar> AddAssign for ArticulatedInertia<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.angular = self.angular + other.angular;
        self.coupling += other.coupling;
        self.linear = self.linear + other.linear;
    }
}
