//! Cases that are runs of shipped models, described in `cases.toml`.

use lissom::integrate::Flow;
use lissom::model::Override;
use lissom::simulate::{Ending, Recording, Run, run, sample_instants};
use serde::Deserialize;

use super::Row;
use crate::load::load_text;
use crate::models;

/// Every `cases.toml` of `validation/`.
const FILES: [&str; 3] = [
    include_str!("../../../../validation/simo_1986/cases.toml"),
    include_str!("../../../../validation/damaren_1995/cases.toml"),
    include_str!("../../../../validation/pan_1990/cases.toml"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: Source,
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Source {
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Name of a shipped model.
    model: String,
    /// Overrides, as `--set` takes them.
    #[serde(default)]
    set: Vec<String>,
    /// Whether `--quick` leaves it out.
    #[serde(default)]
    slow: bool,
    row: Vec<RowSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowSpec {
    quantity: String,
    /// What is measured; the whole run when absent.
    channel: Option<String>,
    measure: Measure,
    printed: Option<f64>,
    reference: Option<f64>,
    tolerance: f64,
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Measure {
    Minimum,
    Maximum,
    Final,
    /// Instant of the minimum.
    TimeOfMinimum,
    /// Instant of the maximum.
    TimeOfMaximum,
    /// Value at an instant.
    AtS(f64),
    /// Mean from an instant to the end.
    MeanFromS(f64),
    /// Root mean square of the energy that no work accounts for, in percent of the peak.
    RmsDriftPercent,
    /// Instant at which the run cannot go on; the other measures want it to reach its end.
    TimeOfFailure,
}

pub(super) fn rows(quick: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for text in FILES {
        let file: File = toml::from_str(text).expect("a test parses every shipped cases.toml");
        for case in file.case.iter().filter(|case| !(quick && case.slow)) {
            rows.extend(case_rows(&file.source.key, case));
        }
    }
    rows
}

fn case_rows(source: &str, case: &Case) -> Vec<Row> {
    let run = run_of(case);
    case.row
        .iter()
        .map(|row| {
            let computed = run.as_ref().and_then(|run| measure(run, row));
            Row {
                case: case.name.clone(),
                source: source.to_owned(),
                quantity: row.quantity.clone(),
                printed: row.printed,
                reference: row.reference,
                computed,
                tolerance: row.tolerance,
                pass: false,
                remark: row.reason.clone(),
            }
            .judged()
        })
        .collect()
}

/// Runs the model of a case; `None` if it cannot be loaded.
fn run_of(case: &Case) -> Option<Run> {
    let shipped = models::find(&case.model)?;
    let overrides: Vec<Override> = case
        .set
        .iter()
        .map(|text| Override::parse(text))
        .collect::<Result<_, _>>()
        .ok()?;
    let loaded = load_text(shipped.name, shipped.text, &overrides).ok()?;
    let instants: Vec<f64> = case
        .row
        .iter()
        .filter_map(|row| match row.measure {
            Measure::AtS(t) => Some(t),
            _ => None,
        })
        .collect();
    let samples = sample_instants(&loaded.spec, &instants);
    Some(run(
        &loaded.model,
        &loaded.spec.simulation,
        &samples,
        None,
        &mut |_| Flow::Continue,
    ))
}

fn measure(run: &Run, row: &RowSpec) -> Option<f64> {
    match (&row.measure, &run.ending) {
        (Measure::TimeOfFailure, Ending::Failed(error)) => Some(error.time_s()),
        (Measure::RmsDriftPercent, Ending::Completed) => Some(run.audit.energy.rms_drift_percent),
        (_, Ending::Completed) => measure_channel(&run.recording, row),
        _ => None,
    }
}

fn measure_channel(recording: &Recording, row: &RowSpec) -> Option<f64> {
    let name = row.channel.as_deref()?;
    let channel = recording.channel(name)?;
    let extremes = recording
        .extremes()
        .into_iter()
        .find(|extremes| extremes.name == name)?;
    match row.measure {
        Measure::Minimum => Some(extremes.minimum.value),
        Measure::Maximum => Some(extremes.maximum.value),
        Measure::Final => Some(extremes.last.value),
        Measure::TimeOfMinimum => Some(extremes.minimum.time_s),
        Measure::TimeOfMaximum => Some(extremes.maximum.time_s),
        Measure::AtS(t) => recording.value_at(channel, t),
        Measure::MeanFromS(start) => {
            let late: Vec<f64> = recording
                .time_s
                .iter()
                .zip(&channel.samples)
                .filter(|(t, _)| **t >= start)
                .map(|(_, &x)| x)
                .collect();
            (!late.is_empty()).then(|| late.iter().sum::<f64>() / late.len() as f64)
        }
        Measure::RmsDriftPercent | Measure::TimeOfFailure => None,
    }
}
