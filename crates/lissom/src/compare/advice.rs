//! [`Advice`]: which other fidelity would have done, and which terms mattered, by what their runs differ.

use lissom_core::recording::Sample;
use lissom_core::study::{Ending, Run};
use lissom_core::{BodyExtent, Quantity, RunError, Stage};
use lissom_numerics::CoordinateKind;
use serde::Serialize;

use super::channels::length_scale_m;
use super::differences::{self, Difference, Worst, worst};
use super::{FidelityRun, TermRun};

/// What is to be learnt from the runs, beside the reference run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Advice {
    /// Fastest turning against lowest frequency; absent where nothing turns or bends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<RateRatio>,
    /// How far every flexible body bends.
    pub bodies: Vec<Bending>,
    /// What leaving out each group of terms does.
    pub terms: Vec<Term>,
    /// How far the other fidelities are from the reference.
    pub fidelities: Vec<Verdict>,
    /// Differences that are small enough: in lengths of the longest flexible body, and in radians.
    pub within: f64,
    /// The same in metres.
    pub within_m: f64,
    /// The fidelities whose runs are sound and within that of the reference, in the order they were run.
    pub would_have_done: Vec<String>,
}

/// How far a flexible body bends, and how slowly it can vibrate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Bending {
    /// How far it bends.
    #[serde(flatten)]
    pub extent: BodyExtent,
    /// Lowest natural frequency with the body's frame held; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowest_frequency_rad_per_s: Option<f64>,
}

/// Fastest turning of a joint against the lowest frequency of a body.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RateRatio {
    /// Channel of the rate.
    pub channel: String,
    /// Largest rate.
    pub rate_rad_per_s: Sample,
    /// Body with the lowest frequency, its frame held.
    pub body: String,
    /// That frequency.
    pub frequency_rad_per_s: f64,
    /// Rate over frequency.
    pub ratio: f64,
}

/// What leaving out a group of terms does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Term {
    /// What the terms are.
    pub name: &'static str,
    /// The switch that leaves them out, as `inertia=rigid`.
    pub without: &'static str,
    /// How far the run without them is from the reference.
    #[serde(flatten)]
    pub measured: Measured,
    /// Difference of that run from the reference in every channel, as far as it came.
    pub differences: Vec<Difference>,
}

/// How far another fidelity is from the reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// Name of the fidelity.
    pub fidelity: String,
    /// How far its run is from the reference.
    #[serde(flatten)]
    pub measured: Measured,
}

/// How far a run is from the reference, by the difference of the two at their samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Measured {
    /// Largest differences of a sound run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Worst>,
    /// Whether they are small enough. Not known of a run that is not sound, and where no channel is in metres or radians.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<bool>,
    /// How a run ended that is not sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// How a run ended that is not sound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ended {
    /// What became of it.
    pub how: HowEnded,
    /// When.
    pub time_s: f64,
}

/// What became of a run that is not sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HowEnded {
    /// It left what its equations describe.
    Diverged,
    /// It could not go on.
    Failed,
    /// Somebody stopped it.
    Interrupted,
}

/// What judges differences.
struct Judge {
    within: f64,
    within_m: f64,
}

impl Judge {
    fn measured(&self, run: &Run, differences: &[Difference]) -> Measured {
        let ended = match &run.ending {
            Ending::Completed => None,
            Ending::Failed(error) => Some(Ended {
                how: match error {
                    RunError::Diverged(_) => HowEnded::Diverged,
                    _ => HowEnded::Failed,
                },
                time_s: error.time_s(),
            }),
            Ending::Stopped { at_s } => Some(Ended {
                how: HowEnded::Interrupted,
                time_s: *at_s,
            }),
        };
        let difference = ended.is_none().then(|| worst(differences));
        Measured {
            difference,
            within: difference.and_then(|difference| self.is_small(&difference)),
            ended,
        }
    }

    /// Whether differences are small enough; not known where there are none to judge.
    fn is_small(&self, difference: &Worst) -> Option<bool> {
        let position = difference.position_m.map(|x| x <= self.within_m);
        let angle = difference.angle_rad.map(|x| x <= self.within);
        match (position, angle) {
            (None, None) => None,
            (position, angle) => Some(position.unwrap_or(true) && angle.unwrap_or(true)),
        }
    }
}

pub(super) fn advise(
    runs: &[FidelityRun<'_>],
    without: &[TermRun<'_>],
    differences: &[Vec<Difference>],
    reference: usize,
    channels: &[String],
    within: f64,
) -> Advice {
    let truth = &runs[reference];
    let bodies = bendings(truth);
    let within_m = within * length_scale_m(truth.mechanism, truth.run, channels);
    let judge = Judge { within, within_m };
    let others = (0..runs.len()).filter(|&i| i != reference);
    let fidelities: Vec<Verdict> = others
        .map(|i| Verdict {
            fidelity: runs[i].name.to_owned(),
            measured: judge.measured(runs[i].run, &differences[i]),
        })
        .collect();
    let term = |TermRun { group, run }: &TermRun<'_>| {
        let differences = differences::between(&truth.run.recording, &run.recording, channels);
        Term {
            name: group.name,
            without: group.switch,
            measured: judge.measured(run, &differences),
            differences,
        }
    };
    let done = fidelities
        .iter()
        .filter(|v| v.measured.within == Some(true));
    Advice {
        rates: rate_ratio(truth, &bodies),
        bodies,
        terms: without.iter().map(term).collect(),
        would_have_done: done.map(|v| v.fidelity.clone()).collect(),
        fidelities,
        within,
        within_m,
    }
}

/// The flexible bodies of a run, as its audit lists them, with their lowest natural frequencies.
fn bendings(truth: &FidelityRun<'_>) -> Vec<Bending> {
    let known = truth.mechanism.diagnose().bodies;
    let lowest = |name: &String| {
        let own = known.iter().find(|body| body.name == *name)?;
        own.frequencies_rad_per_s.first().copied()
    };
    let extents = truth.run.audit.bodies.iter();
    let bending = |extent: &BodyExtent| Bending {
        lowest_frequency_rad_per_s: lowest(&extent.body),
        extent: extent.clone(),
    };
    extents.map(bending).collect()
}

fn rate_ratio(truth: &FidelityRun<'_>, bodies: &[Bending]) -> Option<RateRatio> {
    let slowest = bodies
        .iter()
        .filter_map(|body| Some((body.lowest_frequency_rad_per_s?, &body.extent.body)))
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let signals = truth.mechanism.signals().ok()?;
    let turning = signals.iter().filter(|signal| {
        signal.quantity == Quantity::Coordinate(CoordinateKind::Joint)
            && signal.stage == Stage::Velocity
            && signal.unit == "rad/s"
    });
    let fastest = turning
        .filter_map(|signal| {
            let channel = truth.run.recording.channel(&signal.name)?;
            let rates = channel.samples.iter().zip(&truth.run.recording.time_s);
            let (rate, &time_s) = rates.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
            let value = rate.abs();
            Some((signal.name.clone(), Sample { value, time_s }))
        })
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    Some(RateRatio {
        channel: fastest.0,
        rate_rad_per_s: fastest.1,
        body: slowest.1.clone(),
        frequency_rad_per_s: slowest.0,
        ratio: fastest.1.value / slowest.0,
    })
}
