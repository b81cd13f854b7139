//! `compare`: one model run with several fidelities, side by side.
//!
//! ```text
//! model ──with_fidelity──► one mechanism per fidelity ──run──► FidelityRun ─┐
//!                          the first sound one without each                 ├─compare──► Findings
//!                          of its term_groups ─────────run──► TermRun ──────┘
//! ```
//!
//! Everything that is said was measured: differences are those of recordings at the samples of the model, from the first
//! run that is sound; terms are weighed by a run without them. Nothing is said of what was not run. Runs are given up at
//! [`DIVERGENCE_LENGTHS`]; one that did not reach its end is part of the comparison.

mod advice;
mod channels;
mod differences;
mod terms;

use lissom_core::study::{Ending, Run};

use lissom_engine::Mechanism;

pub use advice::{Advice, Bending, Ended, HowEnded, Measured, RateRatio, Term, Verdict};
pub use channels::chosen_channels;
pub(crate) use channels::length_scale_m;
pub use differences::{Difference, Worst, worst};
pub use terms::{TermGroup, term_groups};

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
    /// Its run, with every channel.
    pub run: &'a Run,
}

/// A run of the model with the fidelity of the reference but for a group of terms.
#[derive(Clone, Copy, Debug)]
pub struct TermRun<'a> {
    /// The terms.
    pub group: TermGroup,
    /// The run without them, at the same samples.
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
    /// Differences that are small enough: in lengths of the longest flexible body, and in radians.
    pub within: f64,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Findings {
    /// The run that differences are taken from: the first that is sound.
    pub reference: Option<usize>,
    /// Channels that are compared.
    pub channels: Vec<String>,
    /// Differences of every run from the reference, as far as it came; none of the reference from itself.
    pub differences: Vec<Vec<Difference>>,
    /// What is to be learnt from them.
    pub advice: Option<Advice>,
}

/// The run that differences are taken from: the first that is sound.
pub fn reference(runs: &[FidelityRun<'_>]) -> Option<usize> {
    runs.iter().position(FidelityRun::is_sound)
}

/// Compares runs of one model with several fidelities, and the runs without groups of terms of the first sound one.
pub fn compare(
    runs: &[FidelityRun<'_>],
    without: &[TermRun<'_>],
    options: &CompareOptions<'_>,
) -> Findings {
    let reference = reference(runs);
    let channels = reference.map_or_else(Vec::new, |at| {
        chosen_channels(runs[at].mechanism, options.channels)
    });
    let from_reference = |(i, run): (usize, &FidelityRun<'_>)| {
        let from = reference.filter(|&at| at != i).map(|at| &runs[at]);
        from.map_or_else(Vec::new, |from| {
            differences::between(&from.run.recording, &run.run.recording, &channels)
        })
    };
    let differences: Vec<_> = runs.iter().enumerate().map(from_reference).collect();
    let advice = reference
        .map(|at| advice::advise(runs, without, &differences, at, &channels, options.within));
    Findings {
        reference,
        channels,
        differences,
        advice,
    }
}
