//! What linearised equations may lack.

use lissom_spatial::rounded;

/// Why linearised equations have no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinearError {
    /// Matrices that give no natural frequencies.
    #[error("no natural frequencies: {reason}")]
    NoModes {
        /// Why.
        reason: &'static str,
    },
    /// Matrices that give no transmission zeros.
    #[error("no transmission zeros: {reason}")]
    NoZeros {
        /// Why.
        reason: &'static str,
    },
    /// Frequencies without velocity terms that are complex.
    #[error("frequencies without velocity terms are complex (flutter); ask for modes with damping")]
    Flutter,
    /// A motion without inertia.
    #[error(
        "mass matrix is singular at t = {}: something can accelerate without force; give every motion inertia",
        rounded(*.time_s, 6)
    )]
    SingularMass {
        /// When.
        time_s: f64,
    },
    /// Nothing holds a degree of freedom, so that it has no steady deviation.
    #[error(
        "there is no quasi-static deviation at t = {}: the stiffness is singular; hold every joint by feedback, a \
         spring or a prescribed motion",
        rounded(*.time_s, 6)
    )]
    NotHeld {
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

/// Asks whoever watches long work whether to go on: an error says that it was stopped.
pub type GoOn<'a> = dyn FnMut() -> Result<(), LinearError> + 'a;

/// Nobody watches.
#[expect(clippy::unnecessary_wraps, reason = "whoever is asked may also say no")]
pub(super) fn unwatched() -> Result<(), LinearError> {
    Ok(())
}
