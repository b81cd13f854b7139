//! [`View`]: a mechanism in a state of motion, as whatever acts on it sees it.
//!
//! Positions are found in `f64` by the formulation. The state is then lifted to the scalar, what acts looks at it here and
//! pushes here, and the equations are evaluated with the sum. Over dual numbers the derivatives of all forces come along.

use lissom_spatial::{Force, Matrix, Motion, Real, Transform, Vector};

/// One degree of freedom of a joint, or the motor behind its elastic gear: its place in the list of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AxisId(pub usize);

/// A joint that turns in any way: its place in the list of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(pub usize);

/// A marker, or a node of a model of nodes: its place in the list of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MarkerId(pub usize);

/// A strain gauge on a beam: its place in the list of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GaugeId(pub usize);

/// How the child of a spherical or free joint moves against its parent.
#[derive(Clone, Copy, Debug)]
pub struct JointMotion<T> {
    /// Orientation of the child's axes in the parent's.
    pub rotation: Matrix<T>,
    /// Position of the child in the parent's axes.
    pub position: Vector<T>,
    /// Angular velocity, in the child's axes.
    pub angular_velocity: Vector<T>,
    /// Velocity, in the child's axes.
    pub velocity: Vector<T>,
}

/// How a marker moves.
#[derive(Clone, Copy, Debug)]
pub struct MarkerMotion<T> {
    /// Pose in the ground frame.
    pub pose: Transform<T>,
    /// Angular velocity, and velocity of the marker's own point, in ground components.
    pub twist: Motion<T>,
    /// Displacement of the marker from its undeformed place, in the components of its body.
    pub deflection: Vector<T>,
    /// Its rate in these components.
    pub deflection_rate: Vector<T>,
}

impl<T: Real> MarkerMotion<T> {
    /// Of a marker that stays where it is.
    pub fn still(pose: Transform<T>) -> Self {
        Self {
            pose,
            twist: Motion::zero(),
            deflection: Vector::zero(),
            deflection_rate: Vector::zero(),
        }
    }
}

/// A mechanism in a state of motion over a scalar: what forces may depend on, and where they push.
pub trait View<T: Real> {
    /// Position and rate of an axis.
    fn axis(&self, axis: AxisId) -> [T; 2];

    /// Adds a torque or force along an axis.
    fn push_axis(&mut self, axis: AxisId, effort: T);

    /// Motion of a spherical or free joint.
    fn joint(&self, joint: JointId) -> JointMotion<T>;

    /// Adds a moment and a force in the child's axes on the child of such a joint, and their opposites on its parent.
    /// Joints that do not slide take no force.
    fn push_joint(&mut self, joint: JointId, wrench: Force<T>);

    /// Axial strain at a gauge.
    fn strain(&self, gauge: GaugeId) -> T;

    /// Motion of a marker.
    fn marker(&mut self, marker: MarkerId) -> MarkerMotion<T>;

    /// Acceleration of a marker less that of free fall, in ground components; none where accelerations are not known yet, as where forces
    /// are applied.
    fn specific_force(&mut self, _marker: MarkerId) -> Option<Vector<T>> {
        None
    }

    /// Adds a moment and a force in ground components at a marker.
    fn push_marker(&mut self, marker: MarkerId, wrench: Force<T>);
}
