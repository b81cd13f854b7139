//! Inertia of a rigid body, and of a body with its subtree hanging free.

use std::ops::{Add, AddAssign};

use super::{Force, Matrix, Motion, Transform, Vector};
use crate::scalar::Scalar;

/// Mass distribution of a rigid body about the origin of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidInertia<T> {
    /// Mass.
    pub mass: T,
    /// Mass times centre of mass, $`\int r\,dm`$.
    pub first_moment: Vector<T>,
    /// Rotational inertia about the origin, $`\int (r^2 1 - r r^T)\,dm`$.
    pub rotational: Matrix<T>,
}

/// A symmetric map from motion to force, `[A, C; Cᵀ, L]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia<T> {
    /// `A`, symmetric: moment per angular acceleration.
    pub angular: Matrix<T>,
    /// `C`: moment per linear acceleration.
    pub coupling: Matrix<T>,
    /// `L`, symmetric: force per linear acceleration.
    pub linear: Matrix<T>,
}

impl<T: Scalar> RigidInertia<T> {
    /// From the second-moment matrix $`\int r r^T dm`$.
    #[inline(always)]
    pub fn from_moments(mass: T, first_moment: Vector<T>, second_moment: Matrix<T>) -> Self {
        Self {
            mass,
            first_moment,
            rotational: Matrix::diagonal(second_moment.trace()) - second_moment,
        }
    }

    /// An inertia known when the system was built.
    #[inline(always)]
    pub fn constant(x: &RigidInertia<f64>) -> Self {
        Self {
            mass: T::constant(x.mass),
            first_moment: Vector::constant(x.first_moment.0),
            rotational: Matrix::constant(x.rotational.0),
        }
    }

    /// No mass.
    #[must_use]
    #[inline(always)]
    pub fn zero() -> Self {
        Self {
            mass: T::zero(),
            first_moment: Vector::zero(),
            rotational: Matrix::zero(),
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
        // ∫(c + p)(c + p)ᵀ differs from ∫c cᵀ by c pᵀ + p cᵀ + m p pᵀ
        let shifted = c + p.scale(self.mass);
        let shift = c.outer(p) + p.outer(shifted);
        let rotational =
            self.rotational.rotate_symmetric(rotation) + Matrix::diagonal(shift.trace()) - shift;
        Self {
            mass: self.mass,
            first_moment: shifted,
            rotational,
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
            angular: Matrix::zero(),
            coupling: Matrix::zero(),
            linear: Matrix::zero(),
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

    /// Subtracts `a bᵀ`, where the caller knows that the sum of its calls is symmetric.
    #[inline(always)]
    pub fn subtract_outer(&mut self, a: Force<T>, b: Force<T>) {
        self.angular = self.angular - a.moment.outer(b.moment);
        self.coupling = self.coupling - a.moment.outer(b.force);
        self.linear = self.linear - a.force.outer(b.force);
    }

    /// The same inertia seen from the parent frame.
    #[must_use]
    #[inline(always)]
    pub fn to_parent(&self, parent_from_child: &Transform<T>) -> Self {
        let rotation = parent_from_child.rotation;
        let p = Matrix::skew(parent_from_child.translation);
        let linear = self.linear.rotate_symmetric(rotation);
        let rotated = rotation * self.coupling * rotation.transpose();
        let coupling = rotated + p * linear;
        // A − C p^× + p^× C'ᵀ, symmetric because it is p-shift of a symmetric map
        let angular =
            self.angular.rotate_symmetric(rotation) - rotated * p + p * coupling.transpose();
        Self {
            angular: symmetric_part(angular),
            coupling,
            linear,
        }
    }
}

/// Averages the two triangles, so that rounding never makes an inertia unsymmetric.
#[inline(always)]
fn symmetric_part<T: Scalar>(m: Matrix<T>) -> Matrix<T> {
    let mean = |i: usize, j: usize| (m.0[i][j] + m.0[j][i]) * 0.5;
    let (xy, xz, yz) = (mean(0, 1), mean(0, 2), mean(1, 2));
    Matrix([
        [m.0[0][0], xy, xz],
        [xy, m.0[1][1], yz],
        [xz, yz, m.0[2][2]],
    ])
}

impl<T: Scalar> From<RigidInertia<T>> for ArticulatedInertia<T> {
    #[inline(always)]
    fn from(rigid: RigidInertia<T>) -> Self {
        Self {
            angular: rigid.rotational,
            coupling: Matrix::skew(rigid.first_moment),
            linear: Matrix::diagonal(rigid.mass),
        }
    }
}

impl<T: Scalar> AddAssign for ArticulatedInertia<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.angular += other.angular;
        self.coupling += other.coupling;
        self.linear += other.linear;
    }
}
