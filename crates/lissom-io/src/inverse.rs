//! What rigid inverse dynamics has found, as `--json`, the manifest and Python tell it.

use lissom::inverse::{Duty, InverseDynamics};
use serde_json::{Value, json};

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
