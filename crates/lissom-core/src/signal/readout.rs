//! [`Readout`]: what signals read of an evaluated state, in either formulation.

use lissom_spatial::{Force, Transform, Vector};

use super::part::{ElasticId, Parts};
use crate::action::{Actions, Efforts};
use crate::trajectory::Commanded;
use crate::view::{AxisId, GaugeId, JointId, MarkerId, MarkerMotion};

/// Where a spherical or free joint is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointReading {
    /// Position of the child in the parent's axes.
    pub position: [f64; 3],
    /// Orientation of the child in the parent's axes, of length one.
    pub quaternion: [f64; 4],
    /// Angular velocity in the child's axes.
    pub angular_velocity: [f64; 3],
    /// Velocity in the child's axes.
    pub velocity: [f64; 3],
}

/// What signals read of the state that was evaluated last.
pub trait Readout {
    /// What there is to be named.
    fn parts(&self) -> Parts;

    /// What acts.
    fn actions(&self) -> &Actions;

    /// Position and rate of an axis.
    fn axis(&self, axis: AxisId) -> [f64; 2];

    /// Motion of a spherical or free joint.
    fn joint(&self, joint: JointId) -> JointReading;

    /// An elastic coordinate and its rate.
    fn elastic(&self, at: ElasticId) -> [f64; 2];

    /// Unit quaternion of an orientation that no joint stands for.
    fn orientation(&self, at: ElasticId) -> [f64; 4];

    /// Its angular velocity, where that is a rate of the mechanism.
    fn orientation_rate(&self, at: ElasticId) -> [f64; 3];

    /// What the mechanism is told to do.
    fn commands(&self) -> &dyn Commanded;

    /// Values of inputs and feedback.
    fn efforts(&self) -> &Efforts {
        self.commands().efforts()
    }

    /// Torque or force that holds what is prescribed.
    fn driving_effort(&self, drive: usize) -> f64;

    /// Appends position and velocity of a recorded node, as its kind has them.
    fn read_node(&self, node: usize, row: &mut Vec<f64>);

    /// Motion of a marker.
    fn marker(&mut self, marker: MarkerId) -> MarkerMotion<f64>;

    /// Axial strain at a gauge.
    fn strain(&mut self, gauge: GaugeId) -> f64;

    /// Acceleration of a marker less that of free fall, in ground components, where forces of constraint were found last.
    fn specific_force(&mut self, marker: MarkerId) -> Option<Vector<f64>>;

    /// Position and rate of an axis on the nominal trajectory; not a number where that could not be followed.
    fn nominal_axis(&self, axis: AxisId) -> [f64; 2] {
        self.commands().nominal_axis(axis)
    }

    /// Position of a marker on the nominal trajectory; not a number where that could not be followed.
    fn nominal_marker(&self, marker: MarkerId) -> Vector<f64> {
        self.commands().nominal_marker(marker)
    }

    /// Finds the forces of constraint in the evaluated state, for what follows to read.
    fn find_reactions(&mut self);

    /// What a body needs beyond weight and applied forces, in ground components about the ground's origin: inertial forces that
    /// joints and closures must provide.
    fn needed_wrench(&self, body: usize) -> Force<f64>;

    /// What the mass of a beam between one of its sections and the next, or beyond the last, needs beyond its weight, as
    /// [`needed_wrench`](Self::needed_wrench) has it; masses at the root are before the first.
    fn needed_beyond(&self, beam: usize, section: usize) -> Force<f64>;

    /// Pose in the ground frame of a section of a beam.
    fn section_frame(&mut self, beam: usize, section: usize) -> Transform<f64>;

    /// Pose in the ground frame of a joint's frame on the body written as its child.
    fn joint_frame(&mut self, joint: usize) -> Transform<f64>;

    /// Pose in the ground frame of the end `to` of a closure.
    fn closure_frame(&mut self, closure: usize) -> Transform<f64>;

    /// Force and moment of a closure on its end `to`, in the axes of that end.
    fn closure_force(&self, closure: usize) -> Force<f64>;

    /// Largest violation of a closure, of places in metres and of directions in radians.
    fn closure_violation(&self, closure: usize) -> [f64; 2];
}
