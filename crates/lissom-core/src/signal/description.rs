//! [`Signal`]: what there is to say of one quantity.

use lissom_numerics::CoordinateKind;
use serde::Serialize;

use super::part::ElasticId;
use crate::view::{AxisId, JointId, MarkerId};

/// A quantity of a mechanism: what recordings, linear models and reports call by one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Signal {
    /// Dotted path from the part to the quantity, for example `tip.position.x`; unique in a mechanism.
    pub name: String,
    /// SI unit, `1` when it has none.
    pub unit: &'static str,
    /// What it is to whoever uses it.
    pub kind: Kind,
    /// How far a state must be evaluated to know it.
    pub stage: Stage,
    /// Whose quantity it is.
    #[serde(skip)]
    pub source: Source,
    /// Which quantity.
    #[serde(skip)]
    pub quantity: Quantity,
}

/// What a signal is to whoever uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A coordinate or its rate.
    State,
    /// A torque, force or motion from outside.
    Input,
    /// Something that follows.
    Output,
    /// Bookkeeping of energy, momentum and constraints.
    Audit,
}

/// How far a state must be evaluated to know a signal; each stage contains those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Positions are enough.
    Position,
    /// Velocities too.
    Velocity,
    /// Applied forces and accelerations too.
    Acceleration,
    /// Forces of constraint too.
    Reaction,
}

/// Whose quantity a signal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// One degree of freedom of a joint, or the motor behind its elastic gear.
    Axis(AxisId),
    /// A spherical or free joint.
    Joint(JointId),
    /// An elastic coordinate, or an orientation that no joint stands for.
    Elastic(ElasticId),
    /// An input, by its place.
    Input(usize),
    /// A controller on one of its axes, counted over all controllers.
    Feedback(usize),
    /// An actuator, by its place.
    Actuator(usize),
    /// A state of a controller, by its place among those of controllers and actuators.
    Control(usize),
    /// A sensor, by its place.
    Sensor(usize),
    /// A prescribed motion, by its place.
    Drive(usize),
    /// What closes a loop, by its place.
    Closure(usize),
    /// A joint that carries a body, by its place.
    Reaction(usize),
    /// A section of a beam: the beam and the section by their places.
    Section(usize, usize),
    /// A node of a model of nodes, by its place.
    Node(usize),
    /// A marker.
    Marker(MarkerId),
    /// The mechanism as a whole.
    Mechanism,
}

/// What a signal is the value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// A coordinate or its rate.
    Coordinate(CoordinateKind),
    /// Where something is.
    Position,
    /// How fast it travels.
    Velocity,
    /// How it is oriented.
    Orientation,
    /// How fast it turns.
    AngularVelocity,
    /// How far it is displaced from its undeformed place.
    Deflection,
    /// How fast that changes.
    DeflectionRate,
    /// A torque or force of an input, a controller or a prescribed motion.
    Effort,
    /// A force or moment of constraint.
    Reaction,
    /// A force or moment that a section of a beam transmits.
    SectionLoad,
    /// A stress in a section of a beam.
    Stress,
    /// What a sensor reads.
    Reading,
    /// By how much a closure is open.
    Violation,
    /// Where something would be on the nominal trajectory.
    Nominal,
    /// What is missing to the nominal trajectory.
    TrackingError,
    /// A part of the energy or its balance.
    Energy,
    /// A component of the momentum.
    Momentum,
}
