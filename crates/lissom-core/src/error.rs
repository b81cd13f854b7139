//! Why a mechanism cannot be placed, and why a run could not go on.

use lissom_numerics::integrate::IntegrateError;
use lissom_numerics::statics::NoEquilibrium;
use lissom_spatial::rounded;

use crate::bending::Divergence;
use crate::state::StateError;
use crate::study::AnalysisError;
use crate::trajectory::NominalError;

/// Why a mechanism cannot be where it is asked to be, in the words of its formulation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct PlaceError {
    /// What is wrong, and what to do.
    pub reason: String,
    /// The part of the mechanism concerned, for example `the closures`.
    pub part: &'static str,
}

/// Why a run could not go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The integrator gave up.
    #[error("{source}; the coordinate in trouble is {coordinate}")]
    Integration {
        /// What the integrator says.
        source: Box<IntegrateError>,
        /// Name of the coordinate with the largest error, or the first that is not finite.
        coordinate: String,
    },
    /// The motion left the range in which anything can be computed of it.
    #[error(
        "{channel} is not finite at t = {}: the motion has grown without bound; look at the channels \
         before, for example for an unstable mechanism or a fidelity without shortening",
        rounded(*.time_s, 6)
    )]
    NotFinite {
        /// The first channel that is not finite.
        channel: String,
        /// When.
        time_s: f64,
    },
    /// The run was to begin in equilibrium, and there is none.
    #[error("no equilibrium at t = {}: {source}", rounded(*.time_s, 6))]
    NoEquilibrium {
        /// What does not balance.
        source: NoEquilibrium,
        /// Start of the run.
        time_s: f64,
    },
    /// The run was to begin in the quasi-static deviation from its nominal motion, and there is none.
    #[error("no quasi-static start at t = {}: {source}", rounded(*.time_s, 6))]
    NoQuasiStatic {
        /// Why not.
        source: Box<AnalysisError>,
        /// Start of the run.
        time_s: f64,
    },
    /// A body was displaced further than asked for by `SimulateOptions::most_lengths`.
    #[error(
        "{} is displaced by {:.1} of its lengths at t = {}, most of it in {}: the motion has left what the equations \
         describe; look for an unstable mechanism, or for a fidelity whose bodies lose their stiffness",
        .0.body, .0.lengths, rounded(.0.time_s, 6), .0.coordinate
    )]
    Diverged(Divergence),
    /// The mechanism cannot be placed or moved as asked.
    #[error("{source}")]
    Unplaced {
        /// Why.
        source: PlaceError,
        /// When.
        time_s: f64,
    },
    /// The run was to begin at a state of another mechanism, which this one cannot take.
    #[error("no start: {source}")]
    NoStart {
        /// Why.
        source: StateError,
        /// Start of the run.
        time_s: f64,
    },
    /// Somebody gives an input that the mechanism does not have.
    #[error("no such input: {source}")]
    NoInput {
        /// The name.
        source: StateError,
        /// When.
        time_s: f64,
    },
    /// The inputs cannot drive the model along its nominal motion.
    #[error("{source}")]
    NominalMotion {
        /// Why.
        source: NominalError,
        /// When.
        time_s: f64,
    },
    /// The mechanism came to a singular configuration.
    #[error(
        "the configuration is singular at t = {}: {} can move without the independent coordinates or against no \
         closure, condition number {condition:.1e}; use the method \"automatic\" if independent coordinates were chosen, \
         otherwise the mechanism itself loses or gains a freedom there",
        rounded(*.time_s, 6), .coordinates.join(", ")
    )]
    Singular {
        /// When.
        time_s: f64,
        /// Condition number there.
        condition: f64,
        /// Coordinates concerned.
        coordinates: Vec<String>,
    },
    /// A support slid off its beam.
    #[error(
        "support {support:?} left beam {beam:?} at t = {}: it slid over the {}, {} m from the root of a beam {length} m \
         long; make the beam longer, or the motion shorter",
        rounded(*.time_s, 6), if *.place < 0.5 * .length { "root" } else { "tip" }, rounded(*.place, 6)
    )]
    LeftBeam {
        /// The support.
        support: String,
        /// The beam.
        beam: String,
        /// Place of the support along the beam.
        place: f64,
        /// Length of the beam.
        length: f64,
        /// When.
        time_s: f64,
    },
    /// A step led so far off the closures that no configuration nearby closes them.
    #[error(
        "{equation} cannot be closed again after t = {}: a step left it open by {}; take shorter steps or tighter \
         tolerances, and look for a singular configuration nearby",
        rounded(*.time_s, 6), rounded(*.violation, 3)
    )]
    Unclosed {
        /// Name of the equation that is violated most.
        equation: String,
        /// By how much.
        violation: f64,
        /// Up to when the loops were closed.
        time_s: f64,
    },
    /// An equation of a closure followed from the others at the start only.
    #[error(
        "{equation} is open by {} after t = {}: at the start it followed from the other closures, now it does not; \
         the mechanism is over-constrained or starts in a singular configuration",
        rounded(*.violation, 3), rounded(*.time_s, 6)
    )]
    NoLongerRedundant {
        /// Name of the equation.
        equation: String,
        /// By how much it is violated.
        violation: f64,
        /// When.
        time_s: f64,
    },
}

impl RunError {
    /// Time up to which the run is good.
    pub fn time_s(&self) -> f64 {
        match self {
            Self::Integration { source, .. } => source.time(),
            Self::Diverged(divergence) => divergence.time_s,
            Self::NotFinite { time_s, .. }
            | Self::Singular { time_s, .. }
            | Self::Unplaced { time_s, .. }
            | Self::NoStart { time_s, .. }
            | Self::NoInput { time_s, .. }
            | Self::NoEquilibrium { time_s, .. }
            | Self::NoQuasiStatic { time_s, .. }
            | Self::LeftBeam { time_s, .. }
            | Self::Unclosed { time_s, .. }
            | Self::NominalMotion { time_s, .. }
            | Self::NoLongerRedundant { time_s, .. } => *time_s,
        }
    }

    /// Name of the coordinate or channel in trouble.
    pub fn coordinate(&self) -> &str {
        match self {
            Self::Integration { coordinate, .. } => coordinate,
            Self::NotFinite { channel, .. } => channel,
            Self::Diverged(divergence) => &divergence.coordinate,
            Self::Singular { coordinates, .. } => coordinates.first().map_or("unknown", |c| c),
            Self::NoLongerRedundant { equation, .. } | Self::Unclosed { equation, .. } => equation,
            Self::Unplaced { source, .. } => source.part,
            Self::NoEquilibrium { source, .. } => source.name(),
            Self::LeftBeam { support, .. } => support,
            Self::NoStart { .. } => "the start",
            Self::NoInput { .. } => "the inputs",
            Self::NominalMotion { .. } | Self::NoQuasiStatic { .. } => "the nominal motion",
        }
    }
}
