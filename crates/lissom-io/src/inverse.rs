//! What inverse dynamics has found, as `--json`, the manifest and Python tell it, and its torques and forces as tables for inputs.

use std::io::Write as _;
use std::path::PathBuf;

use lissom::inverse::{Compensation, Duty, FlexibleInverse, InverseDynamics};
use serde_json::{Value, json};

use crate::IoError;
use crate::batch::Batch;
use crate::load::Loaded;

/// The summary of a motion: what is asked of every drive.
pub fn summary(loaded: &Loaded, found: &InverseDynamics) -> Value {
    let duty = |duty: &Duty| {
        json!({
            "channel": duty.channel, "unit": duty.unit, "peak": duty.peak, "rms": duty.rms,
        })
    };
    let drives: Vec<Value> = (found.drives.iter())
        .map(|drive| {
            json!({
                "name": drive.name, "effort": duty(&drive.effort), "rate": duty(&drive.rate),
                "power": duty(&drive.power),
            })
        })
        .collect();
    json!({
        "model": loaded.name(),
        "lissom_version": env!("CARGO_PKG_VERSION"),
        "completed": found.stopped_at.is_none(),
        "method": "rigid inverse dynamics",
        "degrees_of_freedom": found.degrees_of_freedom,
        "warning": found.warning,
        "drives": drives,
    })
}

/// What a compensation is called.
pub fn method(compensation: Compensation) -> &'static str {
    match compensation {
        Compensation::QuasiStatic => "quasi-static",
        Compensation::Causal => "causal",
        Compensation::Stable => "stable",
    }
}

/// The summary of a motion of a flexible mechanism.
pub fn flexible_summary(
    loaded: &Loaded,
    found: &FlexibleInverse,
    compensation: Compensation,
) -> Value {
    let mut told = summary(loaded, &found.inverse);
    told["method"] = json!(method(compensation));
    told["marker"] = json!(found.marker);
    told["deflection_m"] = json!(found.deflection);
    told["residual_m"] = json!(found.residual);
    told["growing_zeros_per_s"] = json!(found.growing_zeros);
    told["pre_actuation_s"] = json!(found.pre_actuation_s);
    told["rest_s"] = json!(found.rest_s);
    told["unrest_m"] = json!(found.unrest_m);
    let layout = loaded.mechanism.layout_of(&found.start.memory);
    let values = (found.start.position.iter()).chain(&found.start.velocity);
    let start = layout.unwrap_or_default().into_iter().zip(values);
    let start = start.map(|(coordinate, value)| (coordinate.name, json!(value)));
    told["start"] = Value::Object(start.collect());
    told
}

/// Writes torque or force of every drive as a table of its own, which a `torque_table` or `force_table` reads; returns the paths.
///
/// # Errors
/// [`IoError::NotReplaced`] or [`IoError::Write`], with the path and the reason.
pub fn write_tables(batch: &mut Batch, found: &InverseDynamics) -> Result<Vec<PathBuf>, IoError> {
    let recording = &found.recording;
    let channels = found.drives.iter().map(|drive| &drive.effort);
    let mut paths = Vec::new();
    for duty in channels {
        let Some(channel) = recording.channel(&duty.channel) else {
            continue;
        };
        let name = format!("{}.csv", duty.channel);
        batch.replace(&name)?;
        let written = batch.write(&name, |out| {
            writeln!(out, "time_s,{} [{}]", duty.channel, duty.unit)?;
            for (time_s, value) in recording.time_s.iter().zip(&channel.samples) {
                writeln!(out, "{time_s},{value}")?;
            }
            Ok(())
        })?;
        paths.push(written.path);
    }
    Ok(paths)
}
