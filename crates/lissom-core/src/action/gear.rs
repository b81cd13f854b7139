//! Elastic gears: a spring and a damper between a motor and its joint.

use lissom_spatial::Real;

use crate::view::{AxisId, View};

/// An elastic gear. Both of its axes are measured at the joint side; the rotor's inertia counts about the joint's axis only,
/// as is usual for large gear ratios \[Spong 1987\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gear {
    /// The motor.
    pub motor: AxisId,
    /// The joint that it drives.
    pub joint: AxisId,
    /// Stiffness at the joint side.
    pub stiffness: f64,
    /// Damping at the joint side.
    pub damping: f64,
}

impl Gear {
    /// Pushes on motor and joint; returns the power that is dissipated.
    #[inline(always)]
    pub(super) fn push<T: Real>(&self, view: &mut impl View<T>) -> T {
        let [[motor, motor_rate], [joint, joint_rate]] =
            [view.axis(self.motor), view.axis(self.joint)];
        let slip = motor_rate - joint_rate;
        let effort = (motor - joint) * self.stiffness + slip * self.damping;
        view.push_axis(self.joint, effort);
        view.push_axis(self.motor, -effort);
        slip * self.damping * slip
    }

    /// Energy of its spring.
    pub(super) fn energy(&self, view: &impl View<f64>) -> f64 {
        let [[motor, _], [joint, _]] = [view.axis(self.motor), view.axis(self.joint)];
        let wind = motor - joint;
        0.5 * self.stiffness * wind * wind
    }

    /// Stiffness and elongation of its spring.
    pub(super) fn spring<T: Real>(&self, view: &impl View<T>, spring: &mut impl FnMut(f64, T)) {
        let [[motor, _], [joint, _]] = [view.axis(self.motor), view.axis(self.joint)];
        spring(self.stiffness, motor - joint);
    }
}
