//! Why a mechanism cannot be linearised, and why a linear analysis has no answer.

use lissom_numerics::integrate::IntegrateError;
use lissom_numerics::linear::LinearError;
use lissom_spatial::rounded;

use crate::error::RunError;
use crate::state::StateError;
use crate::trajectory::NominalError;

/// Why a mechanism cannot be linearised at a state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinearizeError {
    /// There is no nominal motion.
    #[error(transparent)]
    Nominal(#[from] NominalError),
    /// The mechanism cannot be there.
    #[error(transparent)]
    Unplaced(Box<RunError>),
    /// The closures leave nothing to move, or are singular.
    #[error(
        "the closures of the model are singular at t = {} s, so that no independent coordinates can be chosen; \
         keep away from this configuration",
        rounded(*.time_s, 6)
    )]
    Singular {
        /// When.
        time_s: f64,
    },
    /// What is independent at an instant of a motion is not so at the next.
    #[error(
        "no choice of independent coordinates determines the mechanism from the instant before to t = {} s; take \
         more instants of the motion",
        rounded(*.time_s, 6)
    )]
    IllConditioned {
        /// When.
        time_s: f64,
    },
    /// The model names a coordinate as independent that follows from others.
    #[error(
        "{coordinate} is named as independent in simulation.closure, but follows from the others at t = {} s; name \
         other joints, or leave the choice to the program with closure = {{ automatic = {{}} }}",
        rounded(*.time_s, 6)
    )]
    NotIndependent {
        /// The coordinate.
        coordinate: String,
        /// When.
        time_s: f64,
    },
    /// A number that is not finite.
    #[error(
        "{coordinate} has no finite acceleration at t = {} s; run the model to see what happens before",
        rounded(*.time_s, 6)
    )]
    NotFinite {
        /// The coordinate.
        coordinate: String,
        /// When.
        time_s: f64,
    },
    /// Whoever watches stopped it.
    #[error("stopped at {} s", rounded(*.at_s, 6))]
    Stopped {
        /// When.
        at_s: f64,
    },
    /// A recording does not hold the state.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why a linear analysis has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The mechanism cannot be linearised.
    #[error(transparent)]
    Linearize(LinearizeError),
    /// The linearised equations have no answer.
    #[error(transparent)]
    Linear(LinearError),
    /// There is no equilibrium, or no state to start from.
    #[error(transparent)]
    Start(Box<RunError>),
    /// The simulation failed.
    #[error("the run failed: {0}")]
    Run(Box<RunError>),
    /// The integrator of the linear system gave up.
    #[error("{source}; the coordinate in trouble is {coordinate}")]
    Integration {
        /// What the integrator says.
        source: Box<IntegrateError>,
        /// The coordinate.
        coordinate: String,
    },
    /// A start that is no deviation.
    #[error(
        "the state at which the study begins cannot be expressed in the independent coordinates of the nominal motion at t = {} s; begin \
         nearer to that motion, or name other joints as independent in simulation.closure",
        rounded(*.time_s, 6)
    )]
    NoStart {
        /// When.
        time_s: f64,
    },
    /// Linear equations that hold no more.
    #[error(
        "by the linearised equations {coordinate} is {deviation_rad:.2} rad off the nominal motion at t = {} s, too far for them to describe the \
         mechanism; {}",
        rounded(*.time_s, 6),
        if *.by_interpolation {
            "half of the points give another solution, so that there may be too few of them: take more"
        } else {
            "it is nearer to that motion, which is that of rigid bodies, or has left it: simulate the nonlinear equations with `lissom run` to see \
             which, hold it there with a controller or a prescribed motion, or end the simulation earlier"
        }
    )]
    Large {
        /// The coordinate.
        coordinate: String,
        /// Its deviation.
        deviation_rad: f64,
        /// When.
        time_s: f64,
        /// Whether it may be so far off for want of points to interpolate between: a solution with half of them is another, or is not known.
        by_interpolation: bool,
    },
    /// A controller that measures and answers at ticks.
    #[error(
        "controller {controller:?} is sampled, and {study} has no ticks; leave out `sampled` for the loop that it comes near to with short \
         periods, or simulate the nonlinear equations with `lissom run`"
    )]
    Sampled {
        /// Name of the controller.
        controller: String,
        /// The study.
        study: &'static str,
    },
    /// An actuator at a limit, which linear equations do not have.
    #[error(
        "actuator {actuator:?} reaches the limit of its {} at t = {} s, and linear equations have no limits; simulate the nonlinear \
         equations with `lissom run`",
        if *.of_rate { "rate" } else { "effort" },
        rounded(*.time_s, 6)
    )]
    AtLimit {
        /// Name of the actuator.
        actuator: String,
        /// Whether it can follow no faster, or give no more.
        of_rate: bool,
        /// When.
        time_s: f64,
    },
    /// A joint at its stop, which changes linear equations.
    #[error(
        "{joint} reaches its stop at t = {} s, and linear equations along a motion have no contact; simulate the nonlinear equations with \
         `lissom run`",
        rounded(*.time_s, 6)
    )]
    AtStop {
        /// The joint.
        joint: String,
        /// When.
        time_s: f64,
    },
    /// Whoever watches stopped it.
    #[error("stopped at {} s", rounded(*.at_s, 6))]
    Stopped {
        /// When.
        at_s: f64,
    },
}

impl AnalysisError {
    /// The coordinate in trouble, where there is one.
    pub fn coordinate(&self) -> Option<&str> {
        match self {
            Self::Large { coordinate, .. } | Self::Integration { coordinate, .. } => {
                Some(coordinate)
            }
            _ => None,
        }
    }
}

impl From<LinearError> for AnalysisError {
    fn from(error: LinearError) -> Self {
        match error {
            LinearError::Stopped { at_s } => Self::Stopped { at_s },
            error => Self::Linear(error),
        }
    }
}

impl From<LinearizeError> for AnalysisError {
    fn from(error: LinearizeError) -> Self {
        match error {
            LinearizeError::Stopped { at_s } => Self::Stopped { at_s },
            error => Self::Linearize(error),
        }
    }
}
