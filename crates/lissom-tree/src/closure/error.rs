//! What can be wrong with the loops of a model, and what can happen to them during a run.

use serde::Serialize;

/// Why a model with closures cannot be run as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClosureError {
    /// The initial configuration violates a closure.
    #[error(
        "the mechanism is not assembled: {equation} is open by {violation:e} m or rad at the start; give \
         initial joint values at which it closes"
    )]
    Open {
        /// The worst equation.
        equation: String,
        /// By how much it is violated.
        violation: f64,
    },
    /// Prescribed joints leave a closure no freedom to follow.
    #[error(
        "prescribed joints leave {equation} no freedom: prescribe fewer joints, or drive them by inputs"
    )]
    Overdetermined {
        /// An equation that the other coordinates cannot satisfy.
        equation: String,
    },
    /// The number of independent coordinates is not that of the degrees of freedom.
    #[error(
        "the mechanism has {needed} rigid degrees of freedom besides its prescribed joints, but {given} \
         independent {what} are given; give {needed}, or choose the method \"automatic\""
    )]
    IndependentCount {
        /// Joints or components.
        what: &'static str,
        /// Degrees of freedom by rank.
        needed: usize,
        /// Coordinates given.
        given: usize,
    },
    /// Elastic coordinates cannot all be independent.
    #[error(
        "joints alone cannot keep {equation}: links bend to follow it, so that not all elastic coordinates are \
         independent; choose the method \"automatic\" or one with multipliers"
    )]
    NeedsBending {
        /// An equation that joints cannot satisfy.
        equation: String,
    },
    /// The independent coordinates do not determine the others.
    #[error(
        "the independent coordinates do not determine {}: the condition number of the rest is {condition:e} at \
         the start; choose others, or the method \"automatic\"",
        .coordinates.join(", ")
    )]
    Undetermined {
        /// Coordinates that stay free.
        coordinates: Vec<String>,
        /// Condition number.
        condition: f64,
    },
    /// The marker of Cartesian coordinates is fixed to the ground.
    #[error("marker {marker:?} stands on the ground and has no motion to choose coordinates from")]
    MarkerOnGround {
        /// Name of the marker.
        marker: String,
    },
    /// A body in a loop has kinematics whose rates are not the derivatives of its poses.
    #[error(
        "body {body:?} is part of a loop, but its fidelity turns or places its nodes so that their rates are \
         not the derivatives of their poses: such a loop cannot stay closed; use tip \"rotation_vector\", \
         \"exact\" or Euler angles, without frozen kinematics"
    )]
    InconsistentTip {
        /// Name of the body.
        body: String,
    },
}

/// A configuration in which the coordinates chosen, or any, no longer determine the motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Singularity {
    /// Condition number.
    pub condition: f64,
    /// Coordinates that gain freedom there.
    pub coordinates: Vec<String>,
}

/// What makes it impossible to go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// A configuration is singular, or was on the way.
    Singular {
        /// When.
        time_s: f64,
        /// Which.
        singularity: Singularity,
    },
    /// A support slid off its beam.
    LeftBeam {
        /// The support.
        support: String,
        /// The beam.
        beam: String,
        /// Place of the support along the beam.
        place: f64,
        /// Length of the beam.
        length: f64,
    },
    /// A state cannot be brought onto the closures.
    Unclosed {
        /// The equation that is violated most.
        equation: String,
        /// By how much it is violated.
        violation: f64,
    },
    /// An equation that followed from the others at the start no longer does.
    NoLongerRedundant {
        /// Its name.
        equation: String,
        /// By how much it is violated.
        violation: f64,
    },
}

/// A change of the independent coordinates during a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repartition {
    /// When.
    pub time_s: f64,
    /// Independent joint velocities before.
    pub before: Vec<String>,
    /// Independent joint velocities after.
    pub after: Vec<String>,
    /// Condition number of the dependent ones before.
    pub condition_before: f64,
    /// Condition number of the dependent ones after.
    pub condition_after: f64,
}
