//! Forces that joints transmit.
//!
//! Newton's and Euler's equations of everything that a joint carries: what the bodies need for their accelerations, beyond weight and
//! applied forces, comes through the joint and through closures that end beyond it. Wrenches are in ground components about
//! the ground's origin, where they simply add up.

use lissom_spatial::Force;

use super::part::Parts;
use super::readout::Readout;

/// What every body and all that hangs on it need through the joint that carries the body. Forces of constraint must have been
/// found before.
pub(super) fn carried_wrenches(parts: &Parts, readout: &mut dyn Readout) -> Vec<Force<f64>> {
    let mut carried: Vec<Force<f64>> = (0..parts.parents.len())
        .map(|body| readout.needed_wrench(body))
        .collect();
    for (at, closure) in parts.closures.iter().enumerate() {
        let wrench = (readout.closure_frame(at)).force_to_parent(readout.closure_force(at));
        let [from, to] = closure.bodies;
        if let Some(from) = from {
            carried[from] += wrench;
        }
        if let Some(to) = to {
            carried[to] += wrench.scale(-1.0);
        }
    }
    // inward: each body carries those that hang on it
    for (body, parent) in parts.parents.iter().enumerate().rev() {
        if let Some(parent) = *parent {
            let wrench = carried[body];
            carried[parent] += wrench;
        }
    }
    carried
}

/// What joints exert on the bodies written as their children, by their names.
pub(crate) struct JointForces(Vec<(String, Force<f64>)>);

impl JointForces {
    /// Of all joints, those that close loops included. Forces of constraint must have been found before.
    pub(crate) fn of(parts: &Parts, readout: &mut dyn Readout) -> Self {
        let named = |names: Vec<&String>, forces: Vec<Force<f64>>| {
            let names: Vec<String> = names.into_iter().cloned().collect();
            names.into_iter().zip(forces)
        };
        let carrying = joint_reactions(parts, readout);
        let closing = (0..parts.closures.len()).map(|closure| readout.closure_force(closure));
        let closing: Vec<Force<f64>> = closing.collect();
        let carrying = named(
            parts.joints.iter().map(|joint| &joint.name).collect(),
            carrying,
        );
        let closing = named(
            parts.closures.iter().map(|own| &own.name).collect(),
            closing,
        );
        Self(carrying.chain(closing).collect())
    }

    /// That of one joint.
    pub(crate) fn on(&self, joint: &str) -> Option<Force<f64>> {
        let mut all = self.0.iter();
        all.find(|(name, _)| name == joint).map(|(_, force)| *force)
    }
}

/// What every joint of a mechanism exerts on the body written as its child, at the joint's frame on that body and in its axes.
/// Forces of constraint must have been found before.
pub(super) fn joint_reactions(parts: &Parts, readout: &mut dyn Readout) -> Vec<Force<f64>> {
    let carried = carried_wrenches(parts, readout);
    let on_child = |(at, joint): (usize, &super::JointPart)| {
        let wrench = carried[joint.carries];
        let wrench = if joint.reversed {
            wrench.scale(-1.0)
        } else {
            wrench
        };
        readout.joint_frame(at).inverse().force_to_parent(wrench)
    };
    parts.joints.iter().enumerate().map(on_child).collect()
}
