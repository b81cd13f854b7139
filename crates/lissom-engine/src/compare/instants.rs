//! When the runs of a comparison are sampled: as the model asks, and in between as its vibrations need.

use lissom_core::Recording;
use lissom_core::study::sample_instants;

use super::Resolution;
use crate::mechanism::Mechanism;

/// Most samples that are taken for the sake of an estimate; a run that needs more gets none.
const MOST_SAMPLES: f64 = 50_000.0;

/// The instants the model asks for, and equally spaced ones between them as close as estimates need.
pub fn dense_instants(mechanism: &Mechanism) -> Vec<f64> {
    let instants = sample_instants(mechanism.spec(), &[]);
    let resolution = Resolution::of(mechanism);
    let Some(wanted_s) = resolution.samples_wanted_s() else {
        return instants;
    };
    let duration_s = mechanism.spec().simulation.duration_s;
    let apart_s = wanted_s.max(duration_s / MOST_SAMPLES);
    if apart_s > resolution.step_s {
        return instants;
    }
    let parts = |gap: &[f64]| ((gap[1] - gap[0]) / apart_s).ceil().max(1.0);
    let mut extra = Vec::new();
    for gap in instants.windows(2) {
        let parts = parts(gap);
        let mut part = 1.0;
        while part < parts {
            extra.push(gap[0] + (gap[1] - gap[0]) * part / parts);
            part += 1.0;
        }
    }
    sample_instants(mechanism.spec(), &extra)
}

/// Whether a recording is dense enough for estimates.
pub(super) fn is_dense(mechanism: &Mechanism, recording: &Recording) -> bool {
    let needed_s = Resolution::of(mechanism).step_s;
    let mut gaps = recording.time_s.windows(2);
    // a part in a thousand for rounding
    needed_s <= 0.0 || gaps.all(|gap| gap[1] - gap[0] <= 1.001 * needed_s)
}

/// A recording at the instants the model asks for only, with the channels it asks for only.
pub fn thinned(mechanism: &Mechanism, recording: &Recording) -> Recording {
    let instants = sample_instants(mechanism.spec(), &[]);
    let asked = |time_s: &f64| instants.binary_search_by(|t| t.total_cmp(time_s)).is_ok();
    let kept: Vec<usize> = (0..recording.len())
        .filter(|&k| asked(&recording.time_s[k]))
        .collect();
    let beginnings = mechanism.spec().output.channels.as_deref();
    let wanted = |name: &str| {
        beginnings.is_none_or(|beginnings| beginnings.iter().any(|b| name.starts_with(b.as_str())))
    };
    let mut thin = Recording {
        time_s: kept.iter().map(|&k| recording.time_s[k]).collect(),
        channels: recording.channels.clone(),
    };
    thin.channels.retain(|channel| wanted(&channel.name));
    for channel in &mut thin.channels {
        channel.samples = kept.iter().map(|&k| channel.samples[k]).collect();
    }
    thin
}
