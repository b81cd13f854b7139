//! The nominal trajectory: why it may not exist.

use lissom_spatial::rounded;

/// Why the drives cannot move a mechanism along its nominal motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NominalError {
    /// The curve on which a marker is to stay is none.
    #[error("the path of the marker leads nowhere: {reason}")]
    NoPath {
        /// Why not, and what to do.
        reason: &'static str,
    },
    /// No position of the joints gives the motion.
    #[error(
        "the nominal motion cannot be followed at t = {} s: closures, joints and marker stay {apart:.3e} m or rad \
         apart; compare it with the reach of the mechanism and with where it starts",
        rounded(*.time_s, 6)
    )]
    Unreachable {
        /// When.
        time_s: f64,
        /// Largest violation.
        apart: f64,
    },
    /// The rigid mechanism has no such configuration.
    #[error("the nominal motion cannot be followed at t = {} s: {reason}", rounded(*.time_s, 6))]
    Unplaced {
        /// When.
        time_s: f64,
        /// Why not.
        reason: String,
    },
    /// Several positions of the joints give the motion.
    #[error(
        "the nominal motion leaves {left} degrees of freedom undetermined; give a motion to more components of the \
         marker or to more joints"
    )]
    Undetermined {
        /// How many are left.
        left: usize,
    },
    /// The drives do not reach every degree of freedom.
    #[error(
        "{drives} drives move {driven} of {freedom} degrees of freedom, so that the nominal motion cannot be driven; \
         write nominal_motion = true in the inputs of more joints"
    )]
    UnderActuated {
        /// Number of drives.
        drives: usize,
        /// Degrees of freedom they move.
        driven: usize,
        /// Degrees of freedom there are.
        freedom: usize,
    },
    /// Forward dynamics of the rigid mechanism has no answer.
    #[error(
        "nothing says how the mechanism should move, and with rigid bodies under its loads it comes to a singular configuration \
         at t = {} s; give its inputs rigid_inverse_dynamics, prescribe motions, or end before with \
         simulation.duration_s",
        rounded(*.time_s, 6)
    )]
    Singular {
        /// When.
        time_s: f64,
    },
}
