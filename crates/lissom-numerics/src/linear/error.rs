//! What linearised equations may lack.

use lissom_spatial::rounded;

use crate::integrate::Flow;

/// Why linearised equations have no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
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
    /// Drives and marker cannot be inverted.
    #[error("the motion of the marker has no inverse at t = {}: {reason}", rounded(*.time_s, 6))]
    SingularInversion {
        /// When.
        time_s: f64,
        /// Why.
        reason: &'static str,
    },
    /// A zero that grows has no causal inverse.
    #[error(
        "from the drives to the marker there are zeros that grow, the fastest at {rate:.4e} 1/s: what would keep the marker on its path would \
         grow without bounds; let the drives begin before the motion (`stable`), or compensate quasi-statically"
    )]
    Growing {
        /// The largest real part, 1/s.
        rate: f64,
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

/// Asks a watcher who is told an instant.
pub fn asking(
    watch: &mut dyn FnMut(f64) -> Flow,
    at_s: f64,
) -> impl FnMut() -> Result<(), LinearError> {
    move || match watch(at_s) {
        Flow::Continue => Ok(()),
        Flow::Stop => Err(LinearError::Stopped { at_s }),
    }
}

/// Nobody watches.
///
/// # Errors
/// Never.
pub fn unwatched() -> Result<(), LinearError> {
    Ok(())
}
