//! What came of the perturbation method, as `--json` and the manifest tell it.

use lissom::PerturbedRun;
use serde_json::{Map, Value, json};

use crate::load::Loaded;

/// The summary of a run with a case of Table I and so many points, after the seconds that linearising and solving took.
pub fn summary(
    loaded: &Loaded,
    done: &PerturbedRun,
    case: usize,
    points: usize,
    [linearized_s, solved_s]: [f64; 2],
) -> Value {
    let channels: Map<String, Value> = (done.recording.extremes().iter().enumerate())
        .map(|(index, channel)| {
            let mut value = json!({
                "unit": channel.unit, "final": channel.last.value,
                "minimum": channel.minimum, "maximum": channel.maximum,
            });
            if let Some(errors) = &done.interpolation_error {
                value["interpolation_error"] = json!(errors[index]);
            }
            (channel.name.clone(), value)
        })
        .collect();
    let interpolation_error =
        worst_interpolation(done).map(|(name, error)| json!({ "channel": name, "error_m": error }));
    let failure = done.failure.as_ref().map(|error| {
        json!({ "time_s": last_s(done), "coordinate": error.coordinate(), "message": error.to_string() })
    });
    let largest_angle = done.largest_angle.as_ref().map(|angle| {
        json!({
            "coordinate": angle.coordinate, "deviation_rad": angle.deviation_rad, "time_s": angle.time_s,
        })
    });
    json!({
        "model": loaded.name(),
        "lissom_version": env!("CARGO_PKG_VERSION"),
        "completed": ended_early(done).is_none(),
        "failure": failure,
        "method": "perturbation",
        "case": case,
        "points": points,
        "duration_s": loaded.spec.simulation.duration_s,
        "channels": channels,
        "interpolation_error": interpolation_error,
        "largest_angle": largest_angle,
        "cost": {
            "steps": done.statistics.steps, "evaluations": done.statistics.evaluations,
            "linearization_wall_s": linearized_s, "solution_wall_s": solved_s,
        },
    })
}

/// Instant until which a run that ended before its end is known.
pub fn ended_early(done: &PerturbedRun) -> Option<f64> {
    done.stopped_at.or(done.failure.as_ref().and(last_s(done)))
}

fn last_s(done: &PerturbedRun) -> Option<f64> {
    done.recording.time_s.last().copied()
}

/// The component of a marker in which interpolating between the points leaves the largest error, and that error in metres.
pub fn worst_interpolation(done: &PerturbedRun) -> Option<(&str, f64)> {
    let errors = done.interpolation_error.as_ref()?;
    let positions = done.markers.positions.iter();
    positions
        .map(|&at| (done.recording.channels[at].name.as_str(), errors[at]))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}
