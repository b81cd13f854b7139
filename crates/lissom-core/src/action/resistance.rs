//! Springs, dampers and friction of joints.

use lissom_spatial::{Force, Real, Scalar, Vector};

use crate::view::{AxisId, JointId, View};

/// Spring, damper and friction of one direction of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resistance {
    /// Force per displacement from rest.
    pub stiffness: f64,
    /// Position at which the spring is slack.
    pub rest: f64,
    /// Force per rate: damper and viscous friction together.
    pub viscous: f64,
    /// Coulomb friction.
    pub coulomb: f64,
    /// Rate below which Coulomb friction is smoothed.
    pub coulomb_rate: f64,
}

impl Resistance {
    /// Whether there is anything to compute.
    pub fn is_none(&self) -> bool {
        self.stiffness == 0.0 && self.viscous == 0.0 && self.coulomb == 0.0
    }

    /// Force that damper and friction exert, $`-c\dot q - \mu\,\dot q/\sqrt{\dot q^2 + \dot q_0^2}`$.
    #[inline(always)]
    pub fn drag<T: Scalar>(&self, rate: T) -> T {
        let mut force = rate * -self.viscous;
        if self.coulomb != 0.0 {
            let smooth = T::constant(self.coulomb_rate * self.coulomb_rate);
            force -= rate / (rate * rate + smooth).sqrt() * self.coulomb;
        }
        force
    }

    /// Force of spring, damper and friction; adds to the power that is dissipated.
    #[inline(always)]
    fn force<T: Scalar>(&self, stretch: T, rate: T, dissipated: &mut T) -> T {
        let drag = self.drag(rate);
        *dissipated -= drag * rate;
        drag + stretch * -self.stiffness
    }
}

/// What resists the motion of one joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointResistance {
    /// Along one axis.
    Axis(AxisId, Resistance),
    /// In all directions alike: the springs pull along the rotation vector and the offset, friction acts on each component of
    /// the angular velocity and of the velocity, in the child's axes.
    Joint {
        /// A spherical or free joint.
        joint: JointId,
        /// Against rotation.
        angular: Resistance,
        /// Against translation; none of a spherical joint.
        linear: Resistance,
    },
}

impl JointResistance {
    /// Whether there is anything to compute.
    pub fn is_none(&self) -> bool {
        match self {
            Self::Axis(_, law) => law.is_none(),
            Self::Joint {
                angular, linear, ..
            } => angular.is_none() && linear.is_none(),
        }
    }

    /// Pushes; returns the power that is dissipated.
    #[inline(always)]
    pub(super) fn push<T: Real>(&self, view: &mut impl View<T>) -> T {
        let mut dissipated = T::zero();
        match self {
            Self::Axis(axis, law) => {
                let [position, rate] = view.axis(*axis);
                let stretch = position - T::constant(law.rest);
                view.push_axis(*axis, law.force(stretch, rate, &mut dissipated));
            }
            Self::Joint {
                joint,
                angular,
                linear,
            } => {
                let motion = view.joint(*joint);
                let turned = T::rotation_vector(&motion.rotation);
                let offset = motion.rotation.transpose_mul(motion.position);
                let mut wrench = Force::new(Vector::zero(), Vector::zero());
                for i in 0..3 {
                    let rate = motion.angular_velocity[i];
                    wrench.moment[i] = angular.force(turned[i], rate, &mut dissipated);
                    if !linear.is_none() {
                        let rate = motion.velocity[i];
                        wrench.force[i] = linear.force(offset[i], rate, &mut dissipated);
                    }
                }
                view.push_joint(*joint, wrench);
            }
        }
        dissipated
    }

    /// Energy of its springs.
    pub(super) fn energy(&self, view: &impl View<f64>) -> f64 {
        match self {
            Self::Axis(axis, law) => {
                let [position, _] = view.axis(*axis);
                let stretch = position - law.rest;
                0.5 * law.stiffness * stretch * stretch
            }
            Self::Joint {
                joint,
                angular,
                linear,
            } => {
                let motion = view.joint(*joint);
                let turned = Real::rotation_vector(&motion.rotation);
                0.5 * angular.stiffness * turned.dot(turned)
                    + 0.5 * linear.stiffness * motion.position.dot(motion.position)
            }
        }
    }

    /// Stiffness and elongation of its springs.
    pub(super) fn springs<T: Real>(&self, view: &impl View<T>, spring: &mut impl FnMut(f64, T)) {
        match self {
            Self::Axis(axis, law) if law.stiffness != 0.0 => {
                let [position, _] = view.axis(*axis);
                spring(law.stiffness, position - T::constant(law.rest));
            }
            Self::Axis(..) => {}
            Self::Joint {
                joint,
                angular,
                linear,
            } => {
                let motion = view.joint(*joint);
                if angular.stiffness != 0.0 {
                    for part in T::rotation_vector(&motion.rotation).0 {
                        spring(angular.stiffness, part);
                    }
                }
                if linear.stiffness != 0.0 {
                    for part in motion.position.0 {
                        spring(linear.stiffness, part);
                    }
                }
            }
        }
    }
}
