//! `compare`: one model run with several fidelities, side by side.
//!
//! ```text
//! model ──with_fidelity──► one mechanism per fidelity ──run──► FidelityRun ──compare──► Findings
//! ```
//!
//! Runs are sampled at [`dense_instants`] and given up at [`DIVERGENCE_LENGTHS`]. One that did not reach its end is part of
//! the comparison. Differences are those from the first run that is sound; what that run tells of its terms is the
//! [`Advice`].

mod advice;
mod deviation;
mod differences;
mod exponential;
mod instants;
mod magnitudes;
mod states;

use lissom_core::study::{Ending, Run};
use lissom_core::{Quantity, Signal, Stage};
use lissom_numerics::CoordinateKind;
use lissom_spec::spec::{FidelitySpec, FormulationSpec, GROUND};
use lissom_spec::{Fidelity, ModelSpec};

use crate::mechanism::Mechanism;

pub use advice::{Advice, Bending, FIRST_ORDER, Prediction, RateRatio, SAFETY, Term};
pub use deviation::{Resolution, predict_deviation};
pub use differences::{Difference, Worst, worst};
pub use instants::{dense_instants, thinned};
pub use magnitudes::{TermMagnitude, term_magnitude};

/// Displacement of a body, in lengths of it, at which a run has diverged and is given up. Small rotations mean nothing
/// beyond a fraction of a length, but a run may come back from there, as the inconsistent model of a beam that spins up
/// does from nine tenths. The second-order fields of the fidelities that shorten reach one length at most; ten lengths
/// is a factor of ten beyond whatever could be meant, and growth by then is exponential or faster, so that the instant
/// hardly depends on the number.
pub const DIVERGENCE_LENGTHS: f64 = 10.0;

/// A run of the model with one fidelity.
#[derive(Clone, Copy, Debug)]
pub struct FidelityRun<'a> {
    /// What the fidelity is called.
    pub name: &'a str,
    /// The mechanism with it.
    pub mechanism: &'a Mechanism,
    /// Its run, with every channel, sampled at [`dense_instants`].
    pub run: &'a Run,
}

impl FidelityRun<'_> {
    /// Whether the run reached its end and stayed within what its equations describe.
    pub fn is_sound(&self) -> bool {
        self.run.ending == Ending::Completed
    }
}

/// What is asked of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct CompareOptions<'a> {
    /// Beginnings of the channels that are compared; unless said, marker positions and free joint coordinates.
    pub channels: Option<&'a [String]>,
    /// Errors that are small enough: in lengths of the longest flexible body, and in radians.
    pub within: f64,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// The run that differences are taken from: the first that is sound.
    pub reference: Option<usize>,
    /// Channels that are compared.
    pub channels: Vec<String>,
    /// Differences of every run from the reference, as far as it came; none of the reference from itself.
    pub differences: Vec<Vec<Difference>>,
    /// What the reference run tells of its terms.
    pub advice: Option<Advice>,
}

/// Compares runs of one model with several fidelities. A cheaper fidelity than that of the first sound run is advised if
/// its error is small enough.
pub fn compare(runs: &[FidelityRun<'_>], options: &CompareOptions<'_>) -> Findings {
    let reference = runs.iter().position(FidelityRun::is_sound);
    let channels = reference.map_or_else(Vec::new, |at| compared(&runs[at], options.channels));
    let from_reference = |(i, run): (usize, &FidelityRun<'_>)| {
        let from = reference.filter(|&at| at != i).map(|at| &runs[at]);
        from.map_or_else(Vec::new, |from| {
            differences::between(&from.run.recording, &run.run.recording, &channels)
        })
    };
    let differences: Vec<_> = runs.iter().enumerate().map(from_reference).collect();
    let advice =
        reference.map(|at| advice::advise(runs, &differences, at, &channels, options.within));
    Findings {
        reference,
        channels,
        differences,
        advice,
    }
}

/// A model with another fidelity in the place of its own and of those of its bodies.
#[must_use]
pub fn with_fidelity(spec: &ModelSpec, fidelity: FidelitySpec) -> ModelSpec {
    let mut changed = spec.clone();
    changed.fidelity = fidelity;
    // fidelities are those of the tree
    changed.formulation = FormulationSpec::Tree;
    for body in &mut changed.body {
        body.fidelity = None;
    }
    changed
}

/// The switches that are in force.
fn fidelity(mechanism: &Mechanism) -> Fidelity {
    mechanism.spec().fidelity.resolve(Fidelity::DEFAULT)
}

/// Names of the compared channels.
fn compared(reference: &FidelityRun<'_>, beginnings: Option<&[String]>) -> Vec<String> {
    if let Some(beginnings) = beginnings {
        let names = reference.run.recording.channels.iter().map(|c| &c.name);
        let asked = |name: &&String| beginnings.iter().any(|b| name.starts_with(b.as_str()));
        return names.filter(asked).cloned().collect();
    }
    let mechanism = reference.mechanism;
    let markers = (mechanism.spec().marker.iter()).filter(|marker| marker.body != GROUND);
    let positions = markers
        .flat_map(|marker| ["x", "y", "z"].map(|axis| format!("{}.position.{axis}", marker.name)));
    // prescribed motions are no part of the state
    let free = mechanism.layout().unwrap_or_default();
    let is_free = |signal: &Signal| free.iter().any(|entry| entry.name == signal.name);
    let Ok(signals) = mechanism.signals() else {
        return positions.collect();
    };
    let of_kind = |wanted: CoordinateKind| {
        let of_kind = signals.iter().filter(move |signal| {
            signal.quantity == Quantity::Coordinate(wanted)
                && signal.stage == Stage::Position
                && is_free(signal)
        });
        of_kind.map(|signal| signal.name.clone())
    };
    let chosen: Vec<String> = positions.chain(of_kind(CoordinateKind::Joint)).collect();
    if !chosen.is_empty() {
        return chosen;
    }
    of_kind(CoordinateKind::Elastic).collect()
}
