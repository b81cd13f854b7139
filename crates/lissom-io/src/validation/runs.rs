//! Cases that are runs of shipped models, described in `cases.toml`.

use lissom::{Ending, Override, Recording, Run, sample_instants};
use serde::Deserialize;

use super::Row;
use crate::load::load_text;
use crate::models;

/// Every `cases.toml` of `validation/`.
const FILES: [&str; 4] = [
    include_str!("../../../../validation/simo_1986/cases.toml"),
    include_str!("../../../../validation/damaren_1995/cases.toml"),
    include_str!("../../../../validation/pan_1990/cases.toml"),
    include_str!("../../../../validation/fattah_1995/cases.toml"),
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
    /// Overrides of a second run that `largest_difference` is taken from.
    #[serde(default)]
    against: Option<Vec<String>>,
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
    /// Digits that are printed, where the last ones are zeros.
    digits: Option<usize>,
    reference: Option<f64>,
    tolerance: f64,
    /// Whether it is known not to be met; `reason` then says why.
    #[serde(default)]
    unmet: bool,
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
    /// Largest difference, over the whole run, from the run that the case is `against`; over all channels that end
    /// with `channel`.
    LargestDifference,
    /// Angle about z at an instant, of the quaternion that the channel's components make.
    AngleAboutZAtS(f64),
    /// Largest violation of a closure.
    MaxViolation,
    /// Evaluations of the equations over those of the run that the case is `against`.
    EvaluationsRatio,
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
    let run = run_of(case, &case.set);
    let other = (case.against.as_ref()).and_then(|set| run_of(case, set));
    case.row
        .iter()
        .map(|row| {
            let computed = match (&row.measure, &run, &other) {
                (Measure::LargestDifference, Some(run), Some(other)) => {
                    largest_difference(run, other, row)
                }
                (Measure::EvaluationsRatio, Some(run), Some(other)) => {
                    evaluations_ratio(run, other)
                }
                (Measure::LargestDifference | Measure::EvaluationsRatio, ..) => None,
                (_, run, _) => run.as_ref().and_then(|run| measure(run, row)),
            };
            Row {
                case: case.name.clone(),
                source: source.to_owned(),
                quantity: row.quantity.clone(),
                printed: row.printed,
                digits: row.digits,
                reference: row.reference,
                computed,
                tolerance: row.tolerance,
                pass: false,
                unmet: row.unmet,
                remark: row.reason.clone(),
            }
            .judged()
        })
        .collect()
}

/// Runs the model of a case with some changes; `None` if it cannot be loaded.
fn run_of(case: &Case, set: &[String]) -> Option<Run> {
    let shipped = models::find(&case.model)?;
    let overrides: Vec<Override> = set
        .iter()
        .map(|text| Override::parse(text))
        .collect::<Result<_, _>>()
        .ok()?;
    let loaded = load_text(shipped.name, shipped.text, &overrides).ok()?;
    let instants: Vec<f64> = case
        .row
        .iter()
        .filter_map(|row| match row.measure {
            Measure::AtS(t) | Measure::AngleAboutZAtS(t) => Some(t),
            _ => None,
        })
        .collect();
    let samples = sample_instants(&loaded.spec, &instants);
    Some(loaded.mechanism.run(&samples))
}

fn measure(run: &Run, row: &RowSpec) -> Option<f64> {
    match (&row.measure, &run.ending) {
        (Measure::TimeOfFailure, Ending::Failed(error)) => Some(error.time_s()),
        (Measure::RmsDriftPercent, Ending::Completed) => Some(run.audit.energy.rms_drift_percent),
        (Measure::MaxViolation, Ending::Completed) => {
            let closures = run.audit.closures.as_ref()?;
            Some(closures.max_position_violation)
        }
        (Measure::AngleAboutZAtS(t), Ending::Completed) => {
            let name = row.channel.as_deref()?;
            let component = |axis: &str| {
                let channel = run.recording.channel(&format!("{name}.{axis}"))?;
                run.recording.value_at(channel, *t)
            };
            Some(2.0 * component("z")?.atan2(component("w")?))
        }
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
        Measure::RmsDriftPercent
        | Measure::TimeOfFailure
        | Measure::LargestDifference
        | Measure::EvaluationsRatio
        | Measure::AngleAboutZAtS(_)
        | Measure::MaxViolation => None,
    }
}

fn both_complete(run: &Run, other: &Run) -> bool {
    [run, other]
        .iter()
        .all(|run| run.ending == Ending::Completed)
}

/// Evaluations of a run over those of another, if both reach their ends.
fn evaluations_ratio(run: &Run, other: &Run) -> Option<f64> {
    let [ours, theirs] = [run, other].map(|run| run.statistics.evaluations as f64);
    both_complete(run, other).then(|| ours / theirs)
}

/// Largest difference of two runs that reach their ends.
fn largest_difference(run: &Run, other: &Run, row: &RowSpec) -> Option<f64> {
    if !both_complete(run, other) {
        return None;
    }
    let ending = row.channel.as_deref()?;
    let channels = run.recording.channels.iter();
    let mut most = None;
    for channel in channels.filter(|channel| channel.name.ends_with(ending)) {
        let samples = &other.recording.channel(&channel.name)?.samples;
        let both = channel.samples.iter().zip(samples);
        let apart = both.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        most = Some(apart.max(most.unwrap_or(0.0)));
    }
    most
}
