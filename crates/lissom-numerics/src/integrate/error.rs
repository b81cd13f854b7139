//! Why an integration failed.

use super::Statistics;
use lissom_spatial::{readable, rounded};

/// Why an integration failed, with the instant reached and what had been spent by then.
///
/// `component` is the index into the state (for second-order systems into the velocities) of the
/// component with the worst error, or of the first that is not finite, for the caller to name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IntegrateError {
    /// The error stays above the tolerance however short the step.
    #[error(
        "step too small at t = {}: component {component} cannot meet its tolerance; the solution may \
         be singular there, otherwise loosen the tolerance or use a stiff method",
        rounded(*.time, 6)
    )]
    StepTooSmall {
        /// Instant up to which the solution is known.
        time: f64,
        /// Component with the worst error.
        component: usize,
        /// Cost so far.
        statistics: Statistics,
    },
    /// The system cannot be evaluated however short the step.
    #[error(
        "component {component} of the derivative is not finite at t = {}; a number grows beyond \
         all bounds there, or a motion has no inertia",
        rounded(*.time, 6)
    )]
    NonFinite {
        /// Instant up to which the solution is known.
        time: f64,
        /// First component that is not finite.
        component: usize,
        /// Cost so far.
        statistics: Statistics,
    },
    /// The allowance of steps is used up.
    #[error(
        "{limit} steps reach only t = {}, with the worst error in component {component}; allow more \
         steps, loosen the tolerance or use a stiff method",
        rounded(*.time, 6)
    )]
    TooManySteps {
        /// Instant up to which the solution is known.
        time: f64,
        /// Component with the worst error in the last step.
        component: usize,
        /// The allowance.
        limit: u64,
        /// Cost so far.
        statistics: Statistics,
    },
    /// Newton's iteration does not converge at the fixed step.
    #[error(
        "newton's iteration does not converge after t = {} with step {}: component {component} \
         still changes; shorten the step",
        rounded(*.time, 6), rounded(*.step, 3)
    )]
    NewtonFailed {
        /// Instant up to which the solution is known.
        time: f64,
        /// Component with the largest correction.
        component: usize,
        /// Step that was tried.
        step: f64,
        /// Cost so far.
        statistics: Statistics,
    },
    /// The matrix of the accelerations is singular.
    #[error(
        "mass matrix is singular at t = {}: no acceleration follows in component {component}; \
         check the masses",
        rounded(*.time, 6)
    )]
    SingularMass {
        /// Instant up to which the solution is known.
        time: f64,
        /// Component whose pivot vanishes.
        component: usize,
        /// Cost so far.
        statistics: Statistics,
    },
    /// Memory was not taken from an integration by this method; nothing was integrated.
    #[error(
        "`{part}` of the memory does not fit; resume with the method, and at the size of the state, that the memory was \
         taken from"
    )]
    ForeignMemory {
        /// What does not fit.
        part: &'static str,
        /// Instant that the memory is of.
        time: f64,
        /// Cost up to there.
        statistics: Statistics,
    },
    /// An argument is out of range; nothing was integrated.
    #[error("{quantity} is {}; {remedy}", readable(.value))]
    Invalid {
        /// What is wrong.
        quantity: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        remedy: &'static str,
        /// Instant that the integration stands at.
        time: f64,
        /// All zero.
        statistics: Statistics,
    },
}

impl IntegrateError {
    /// Instant up to which the solution is known.
    pub fn time(&self) -> f64 {
        match *self {
            Self::StepTooSmall { time, .. }
            | Self::NonFinite { time, .. }
            | Self::TooManySteps { time, .. }
            | Self::NewtonFailed { time, .. }
            | Self::SingularMass { time, .. }
            | Self::ForeignMemory { time, .. }
            | Self::Invalid { time, .. } => time,
        }
    }

    /// Component to blame, where there is one.
    pub fn component(&self) -> Option<usize> {
        match *self {
            Self::StepTooSmall { component, .. }
            | Self::NonFinite { component, .. }
            | Self::TooManySteps { component, .. }
            | Self::NewtonFailed { component, .. }
            | Self::SingularMass { component, .. } => Some(component),
            Self::ForeignMemory { .. } | Self::Invalid { .. } => None,
        }
    }

    /// Cost until the failure.
    pub fn statistics(&self) -> Statistics {
        match *self {
            Self::StepTooSmall { statistics, .. }
            | Self::NonFinite { statistics, .. }
            | Self::TooManySteps { statistics, .. }
            | Self::NewtonFailed { statistics, .. }
            | Self::SingularMass { statistics, .. }
            | Self::ForeignMemory { statistics, .. }
            | Self::Invalid { statistics, .. } => statistics,
        }
    }

    pub(super) fn invalid(
        quantity: &'static str,
        value: f64,
        remedy: &'static str,
        time: f64,
    ) -> Self {
        Self::Invalid {
            quantity,
            value,
            remedy,
            time,
            statistics: Statistics::default(),
        }
    }
}
