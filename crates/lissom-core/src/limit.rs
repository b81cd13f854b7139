//! Limits of joints that a run watches.

use crate::view::{AxisId, JointId};

/// Limits of one joint coordinate; a run reports when they are passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Name of the joint.
    pub joint: String,
    /// What is limited.
    pub quantity: LimitedQuantity,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Unit of the values.
    pub unit: &'static str,
}

impl Limit {
    /// Of a joint whose smallest and largest values may be given; `None` if neither is.
    pub fn of(
        joint: &str,
        quantity: LimitedQuantity,
        (min, max): (Option<f64>, Option<f64>),
        unit: &'static str,
    ) -> Option<Self> {
        (min.is_some() || max.is_some()).then(|| Self {
            joint: joint.to_owned(),
            quantity,
            min: min.unwrap_or(f64::NEG_INFINITY),
            max: max.unwrap_or(f64::INFINITY),
            unit,
        })
    }
}

/// Which number a [`Limit`] watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedQuantity {
    /// Position of an axis.
    Position(AxisId),
    /// Rate of an axis.
    Rate(AxisId),
    /// What drives an axis, through its gear if it has one: inputs and feedback, or what its prescribed motion needs.
    Effort(AxisId),
    /// Angle of the whole rotation of a spherical or free joint.
    Angle(JointId),
    /// Position of a free joint along one of its parent's axes.
    Offset(JointId, usize),
    /// Component of angular velocity, or from 3 of velocity.
    ComponentRate(JointId, usize),
    /// Component of the moment of inputs, or from 3 of their force.
    ComponentEffort(JointId, usize),
}

impl LimitedQuantity {
    /// What it is called.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Position(_) | Self::Angle(_) | Self::Offset(..) => "position",
            Self::Rate(_) | Self::ComponentRate(..) => "rate",
            Self::Effort(_) | Self::ComponentEffort(..) => "effort",
        }
    }

    /// Whether it may jump from one instant to the next.
    pub(crate) fn jumps(self) -> bool {
        matches!(self, Self::Effort(_) | Self::ComponentEffort(..))
    }
}
