//! [`Advice`]: what the reference run tells of its terms, and which cheaper fidelity would have done.

use lissom_core::recording::Sample;
use lissom_core::{BodyExtent, Quantity, Stage};
use lissom_numerics::CoordinateKind;
use lissom_spec::spec::{FidelityPreset, FidelitySpec};
use lissom_spec::{Elasticity, Fidelity, Inertia, ShorteningTerms, Tip};
use serde::Serialize;

use super::deviation::{Resolution, body_frequencies, predict_deviation};
use super::differences::{Difference, Worst, of_deviations, worst};
use super::instants::is_dense;
use super::magnitudes::{TermMagnitude, term_magnitude};
use super::{DIVERGENCE_LENGTHS, FidelityRun, fidelity, with_fidelity};
use crate::mechanism::Mechanism;

/// Stated errors are this many times the estimated ones: the estimate is of first order and sees the run at its
/// samples only. In the middle between 1 and 10 in the sense of factors.
pub const SAFETY: f64 = 3.0;

/// Largest estimate that an error is stated for, in lengths of the longest flexible body and in radians: beyond it
/// what is quadratic in the error is no longer small beside the rest.
pub const FIRST_ORDER: f64 = 0.1;

/// What the reference run tells of its terms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// Fastest turning against lowest frequency; absent where nothing turns or bends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<RateRatio>,
    /// How far every flexible body bends.
    pub bodies: Vec<Bending>,
    /// Size of the groups of terms.
    pub terms: Vec<Term>,
    /// What cheaper fidelities would have cost in accuracy.
    pub predictions: Vec<Prediction>,
    /// Errors that are small enough: in lengths of the longest flexible body, and in radians.
    pub within: f64,
    /// The same in metres.
    pub within_m: f64,
    /// The cheapest fidelity whose stated error is small enough.
    pub cheapest: Option<String>,
}

/// How far a flexible body bends, and how slowly it can vibrate.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// Size of a group of terms in the reference run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Term {
    /// What the terms are.
    pub name: &'static str,
    /// Their size.
    #[serde(flatten)]
    pub magnitude: TermMagnitude,
}

/// What a cheaper fidelity would have cost in accuracy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Name of the fidelity.
    pub fidelity: String,
    /// Estimate of first order from the reference run. Absent when none can be made (tips with coordinates of their
    /// own, or a run too long to follow its vibrations), or when it grows beyond bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated: Option<Worst>,
    /// Stated error: [`SAFETY`] times the estimate. Absent where the estimate is beyond [`FIRST_ORDER`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated: Option<Worst>,
    /// Why no error is stated, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_bound: Option<&'static str>,
    /// Instant at which the estimate passes ten lengths: the fidelity diverges, or is far beyond first order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves_at_s: Option<f64>,
    /// Largest differences of its own run, if that is sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Worst>,
    /// Whether the stated error is small enough.
    pub within: bool,
}

/// Terms that a fidelity keeps, the more the dearer; none with rigid links.
fn terms_kept(fidelity: Fidelity) -> u32 {
    if fidelity.rigid {
        return 0;
    }
    let inertia = match fidelity.inertia {
        Inertia::Rigid => 0,
        Inertia::HybridForces => 1,
        Inertia::Full | Inertia::LumpedNodes => 2,
    };
    let elasticity = match fidelity.elasticity {
        Elasticity::Linear => 0,
        Elasticity::ConstantAxialLoad => 1,
        Elasticity::ThirdOrder => 2,
        Elasticity::Full => 3,
    };
    let shortening = if fidelity.shortening == ShorteningTerms::None {
        0
    } else {
        2
    };
    let tip = match fidelity.tip {
        Tip::Rigid => 0,
        Tip::Linear => 1,
        Tip::Exact => 3,
        _ => 2,
    };
    1 + inertia + elasticity + shortening + tip
}

pub(super) fn advise(
    runs: &[FidelityRun<'_>],
    differences: &[Vec<Difference>],
    reference: usize,
    channels: &[String],
    within: f64,
) -> Advice {
    let truth = &runs[reference];
    let bodies = bendings(truth);
    let lengths = bodies.iter().map(|body| body.extent.length_m);
    let longest = lengths.fold(0.0, f64::max);
    let within_m = within * longest;
    let small = |stated: &Worst| {
        stated.position_m.is_none_or(|x| x <= within_m)
            && stated.angle_rad.is_none_or(|x| x <= within)
    };
    let terms_of = |run: &FidelityRun<'_>| terms_kept(fidelity(run.mechanism));
    let budget = terms_of(truth);
    let cheaper = |&i: &usize| terms_of(&runs[i]) < budget;
    let mut candidates: Vec<usize> = (0..runs.len()).filter(cheaper).collect();
    candidates.sort_by_key(|&i| terms_of(&runs[i]));
    let predictions: Vec<Prediction> = candidates
        .into_iter()
        .map(|i| {
            let guess = predict(truth, &runs[i], channels, longest);
            let (estimated, leaves_at_s, no_bound) = match guess {
                Guess::None(why) => (None, None, Some(why)),
                Guess::Leaves(at_s) => (None, Some(at_s), Some(BEYOND_BOUNDS)),
                Guess::Within(worst) if is_far(&worst, longest) => {
                    (Some(worst), None, Some(BEYOND_FIRST_ORDER))
                }
                Guess::Within(worst) => (Some(worst), None, None),
            };
            let stated = estimated.filter(|_| no_bound.is_none()).map(|worst| Worst {
                position_m: worst.position_m.map(|x| SAFETY * x),
                angle_rad: worst.angle_rad.map(|x| SAFETY * x),
            });
            Prediction {
                fidelity: runs[i].name.to_owned(),
                within: stated.as_ref().is_some_and(small),
                estimated,
                stated,
                no_bound,
                leaves_at_s,
                measured: runs[i].is_sound().then(|| worst(&differences[i])),
            }
        })
        .collect();
    Advice {
        rates: rate_ratio(truth, &bodies),
        bodies,
        terms: terms(truth),
        cheapest: (predictions.iter())
            .find(|prediction| prediction.within)
            .map(|prediction| prediction.fidelity.clone()),
        predictions,
        within,
        within_m,
    }
}

const TOO_LONG: &str = "the run is too long to follow its vibrations";
const OTHER_COORDINATES: &str =
    "its exact tips have orientations of their own, which the reference run does not tell";
const RIGID_LINKS: &str = "its links do not deform, which is no term left out";
const BEYOND_BOUNDS: &str = "its estimated error passes ten lengths, so that it diverges or is too far off for an \
     estimate of first order";
const BEYOND_FIRST_ORDER: &str = "its estimated error is too large for an estimate of first order";

/// What can be said of the error of another fidelity.
enum Guess {
    /// Nothing, and why.
    None(&'static str),
    /// It passes ten lengths at an instant.
    Leaves(f64),
    /// It stays within the estimate.
    Within(Worst),
}

/// Whether an estimate is too large to be of first order.
fn is_far(estimated: &Worst, longest: f64) -> bool {
    let beyond = |x: Option<f64>, most: f64| x.is_some_and(|x| x > most);
    beyond(estimated.position_m, FIRST_ORDER * longest) || beyond(estimated.angle_rad, FIRST_ORDER)
}

/// Estimates the error of another fidelity.
fn predict(
    truth: &FidelityRun<'_>,
    other: &FidelityRun<'_>,
    channels: &[String],
    longest: f64,
) -> Guess {
    let recording = &truth.run.recording;
    if !is_dense(truth.mechanism, recording) {
        return Guess::None(TOO_LONG);
    }
    let (own, changed) = (truth.mechanism, other.mechanism);
    if fidelity(changed).rigid {
        return Guess::None(RIGID_LINKS);
    }
    let resolution = Resolution::of(own);
    let Some(deviations) = predict_deviation(own, changed, recording, channels, resolution) else {
        return Guess::None(OTHER_COORDINATES);
    };
    let beyond = |k: usize| {
        deviations.channels.iter().any(|channel| {
            let value = channel.samples[k].abs();
            channel.unit == "m" && value > DIVERGENCE_LENGTHS * longest
        })
    };
    let whole = deviations.time_s.last() == recording.time_s.last();
    let leaves = (0..deviations.len()).find(|&k| beyond(k));
    let leaves_at_s = match leaves {
        Some(k) => Some(deviations.time_s[k]),
        None if !whole => deviations.time_s.last().copied(),
        None => None,
    };
    match leaves_at_s {
        Some(at_s) => Guess::Leaves(at_s),
        None => Guess::Within(worst(&of_deviations(&deviations))),
    }
}

/// The flexible bodies of a run, which its audit lists in the order of the system.
fn bendings(truth: &FidelityRun<'_>) -> Vec<Bending> {
    let frequencies = body_frequencies(truth.mechanism).into_iter();
    let extents = truth.run.audit.bodies.iter();
    let bending = |(lowest_frequency_rad_per_s, extent): (Option<f64>, &BodyExtent)| Bending {
        extent: extent.clone(),
        lowest_frequency_rad_per_s,
    };
    frequencies.zip(extents).map(bending).collect()
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

/// Size of every group of terms that the reference keeps.
fn terms(truth: &FidelityRun<'_>) -> Vec<Term> {
    let kept = fidelity(truth.mechanism);
    let full = FidelitySpec {
        preset: Some(FidelityPreset::Default),
        inertia: Some(kept.inertia),
        elasticity: Some(kept.elasticity),
        shortening: Some(kept.shortening),
        tip: Some(kept.tip),
    };
    let mut groups = Vec::new();
    if kept.inertia == Inertia::Full {
        let inertia = Some(Inertia::HybridForces);
        groups.push((
            "deformation in the mass matrices",
            FidelitySpec { inertia, ..full },
        ));
    }
    if kept.inertia != Inertia::Rigid {
        let inertia = Some(Inertia::Rigid);
        groups.push((
            "deformation in the inertia at all",
            FidelitySpec { inertia, ..full },
        ));
    }
    if kept.shortening != ShorteningTerms::None {
        let shortening = Some(ShorteningTerms::None);
        groups.push((
            "shortening of bent beams",
            FidelitySpec { shortening, ..full },
        ));
    }
    if kept.elasticity != Elasticity::Linear {
        let elasticity = Some(Elasticity::Linear);
        groups.push((
            "axial strain of second order",
            FidelitySpec { elasticity, ..full },
        ));
    }
    if !matches!(kept.tip, Tip::Linear | Tip::Rigid) {
        let tip = Some(Tip::Linear);
        groups.push(("tips that turn truly", FidelitySpec { tip, ..full }));
    }
    if kept.tip != Tip::Rigid {
        let tip = Some(Tip::Rigid);
        groups.push((
            "tips that are displaced and turned at all",
            FidelitySpec { tip, ..full },
        ));
    }
    let size = |(name, switches): (&'static str, FidelitySpec)| {
        let without = Mechanism::build(&with_fidelity(truth.mechanism.spec(), switches)).ok()?;
        let magnitude = term_magnitude(truth.mechanism, &without, &truth.run.recording)?;
        Some(Term { name, magnitude })
    };
    groups.into_iter().filter_map(size).collect()
}
