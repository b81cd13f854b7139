//! A day of simulated time: what is left of closed loops, energy and momentum after hundreds of thousands of steps.

use lissom_core::recording::Recording;
use lissom_core::study::{Run, sample_instants};
use lissom_engine::Mechanism;
use lissom_spec::ModelSpec;

/// The models with their names: a closed mechanism and a floating one.
pub const MODELS: [(&str, &str); 2] = [
    (
        "four-bar linkage",
        include_str!("../models/four_bar_for_a_day.toml"),
    ),
    (
        "floating arm",
        include_str!("../models/floating_arm_for_a_day.toml"),
    ),
];

/// What the audit of a run says at an instant.
#[derive(Clone, Copy, Debug)]
pub struct Audited {
    /// The instant.
    pub time_s: f64,
    /// Largest imbalance of energy until then, as a part of the peak of kinetic and strain energy.
    pub energy: f64,
    /// Largest change of the linear and of the angular momentum until then, as parts of their peaks.
    pub momentum: Option<[f64; 2]>,
}

/// Runs a model.
///
/// # Panics
/// If it is none.
pub fn run(model: &str) -> Run {
    let spec = ModelSpec::parse(model, &[]).expect("a model without errors");
    let mechanism = Mechanism::build(&spec).expect("a mechanism");
    mechanism.run(&sample_instants(&spec, &[]))
}

/// What the audit of a run says at some instants.
pub fn audited(run: &Run, instants_s: &[f64]) -> Vec<Audited> {
    let recording = &run.recording;
    let until = |time_s: f64| {
        let rows = recording.time_s.partition_point(|&at| at <= time_s);
        let drift = samples(recording, "energy.drift", rows);
        let largest = drift.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        Audited {
            time_s,
            energy: largest / run.audit.energy.peak_j,
            momentum: (run.audit.momentum.as_ref()).map(|audit| {
                [
                    change(recording, "linear", rows) / audit.peak_linear_kg_m_per_s,
                    change(recording, "angular", rows) / audit.peak_angular_kg_m2_per_s,
                ]
            }),
        }
    };
    instants_s.iter().map(|&time_s| until(time_s)).collect()
}

fn samples<'a>(recording: &'a Recording, name: &str, rows: usize) -> &'a [f64] {
    let channel = recording.channel(name);
    channel.map_or(&[], |channel| &channel.samples[..rows])
}

/// Largest change of a momentum from the start.
fn change(recording: &Recording, kind: &str, rows: usize) -> f64 {
    let parts = ["x", "y", "z"].map(|axis| {
        let name = format!("momentum.{kind}.{axis}");
        samples(recording, &name, rows)
    });
    let apart = |row: usize| {
        let squares = parts.map(|part| (part[row] - part[0]).powi(2));
        squares.iter().sum::<f64>().sqrt()
    };
    (0..rows).map(apart).fold(0.0, f64::max)
}
