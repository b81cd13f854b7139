//! Where the axes, joints and motors that things act on are in the vectors of a tree, and which of them are moved.

use super::gauge::StrainGauge;
use lissom_core::{AxisId, AxisName, JointId, LoadTarget};
use lissom_spec::spec::MotionProfile;
use lissom_tree::System;

/// Where in the vectors of a tree to find what actions name.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Axes of the joints in the order of the tree, each before its motor.
    pub axes: Vec<TreeAxis>,
    /// Spherical and free joints, in the order of the tree.
    pub joints: Vec<BallJoint>,
    /// Joints of the file that carry bodies.
    pub carrying: Vec<CarryingJoint>,
    /// Strain gauges, in the order of the sensors.
    pub gauges: Vec<StrainGauge>,
    /// Stubs of joints that are cut and acted on, in the order of their closures.
    pub stubs: Vec<Stub>,
}

/// A stub that is welded to the child of a cut joint, with a share of that child's inertia.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stub {
    /// The stub.
    pub body: usize,
    /// What is fixed to the child and takes the share away from it; its frame is that of the weld.
    pub counterpart: usize,
}

/// A joint of the file that carries a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarryingJoint {
    /// Its name.
    pub name: String,
    /// The body that it carries.
    pub body: usize,
    /// The first body behind it: another one where it is made of two joints.
    pub first: usize,
    /// Whether the body that it carries is written as its parent.
    pub reversed: bool,
}

/// An axis of a joint of the tree, or the motor behind its elastic gear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeAxis {
    /// What it is called.
    pub name: AxisName,
    /// Where it is.
    pub place: AxisPlace,
}

/// Where an axis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisPlace {
    /// A joint with one degree of freedom.
    Joint {
        /// Body that it carries.
        body: usize,
        /// Index in the position vector.
        position: usize,
        /// Index in the velocity vector.
        velocity: usize,
    },
    /// The motor of a [`Transmission`], by index.
    Motor(usize),
}

/// A spherical or free joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BallJoint {
    /// Body that it carries.
    pub body: usize,
    /// First index in the position vector: three of the position if it translates, four of the quaternion.
    pub position: usize,
    /// First index in the velocity vector: three of the angular velocity, three of the velocity if it translates.
    pub velocity: usize,
    /// Whether it is free.
    pub translates: bool,
}

impl BallJoint {
    /// First index of its quaternion in the position vector.
    pub fn quaternion(&self) -> usize {
        self.position + if self.translates { 3 } else { 0 }
    }
}

impl Places {
    /// Index in the velocity vector of what a load on a joint drives, through its gear if it has one.
    pub fn velocity(&self, target: &LoadTarget, transmissions: &[Transmission]) -> Option<usize> {
        match target {
            LoadTarget::Axis(AxisId(axis)) => Some(match self.axes[*axis].place {
                AxisPlace::Joint { velocity, .. } => velocity,
                AxisPlace::Motor(motor) => transmissions[motor].velocity,
            }),
            LoadTarget::Component(JointId(joint), component) => {
                Some(self.joints[*joint].velocity + component)
            }
            LoadTarget::Marker(..) => None,
        }
    }

    /// The same axes and joints in the tree of the same bodies when they are rigid.
    #[must_use]
    pub fn rigid(&self, rigid: &System) -> Self {
        let mut places = self.clone();
        let layout = rigid.layout();
        for axis in &mut places.axes {
            if let AxisPlace::Joint {
                body,
                position,
                velocity,
            } = &mut axis.place
            {
                *position = layout.joint_position[*body];
                *velocity = layout.joint_velocity[*body];
            }
        }
        for joint in &mut places.joints {
            joint.position = layout.joint_position[joint.body];
            joint.velocity = layout.joint_velocity[joint.body];
        }
        places.gauges.fill(StrainGauge::default());
        places
    }
}

/// A motor behind an elastic gear: a coordinate of its own, measured at the joint side. One per
/// [`Gear`](lissom_core::Gear), in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// Name of the motor coordinate.
    pub name: String,
    /// Whether the joint translates.
    pub translates: bool,
    /// Index of the joint in the position vector.
    pub position: usize,
    /// Index of the joint in the velocity vector.
    pub velocity: usize,
    /// Rotor inertia at the joint side, gear ratio squared times rotor inertia.
    pub inertia: f64,
    /// Motor position at the start.
    pub initial_position: f64,
    /// Motor rate at the start.
    pub initial_rate: f64,
}

/// What the orientation of an exact tip is called that carries a joint.
pub(crate) fn tip_name(joint: &str) -> String {
    format!("{joint}.tip")
}

/// The prescribed motion of a joint with one degree of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedMotion {
    /// Index in the position vector.
    pub position: usize,
    /// Index in the velocity vector.
    pub velocity: usize,
    /// Position at the start of profiles that do not say it.
    pub initial: f64,
    /// How it runs in time.
    pub profile: MotionProfile,
}
