//! `lissom run`: simulate, sum up, write.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use lissom::{
    Flow, ModelSpec, Override, Run, RunError, SMALL_DEFLECTION_LENGTHS, SMALL_SLOPE_RAD,
    SimulateOptions, State, sample_instants, sample_instants_from,
};
use lissom_io::batch::Batch;
use lissom_io::load::Loaded;
use lissom_io::record;
use lissom_io::summary::Summary;
use lissom_report::Source;
use serde_json::json;

use super::check::{ModelSummary, start_in_words};
use super::report;
use crate::arguments::RunArguments;
use crate::output::{counted, rounded, short};
use crate::plot::WithPlot;
use crate::progress::Progress;
use crate::stop::Stop;
use crate::{output, source};

/// Whether the user has pressed Ctrl-C, or the system asks the command to end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Largest recording that is kept in memory, in bytes.
const MOST_BYTES: f64 = 4.0 * 1024.0 * 1024.0 * 1024.0;

/// Runs a model.
pub(crate) fn run(arguments: &RunArguments) -> Result<(), Stop> {
    let name = match &arguments.model {
        Some(name) => name.clone(),
        None => source::choose()?,
    };
    let overrides = arguments.changes.overrides();
    let loaded = source::load(&name, &overrides)?;
    refuse_outside(&arguments.at, &loaded.spec)?;
    let named = source::named_state_on_the_way(&loaded, &arguments.start)?;
    let samples = match &named {
        Some(start) => sample_instants_from(&loaded.spec, start.time_s, &arguments.at),
        None => sample_instants(&loaded.spec, &arguments.at),
    };
    let start = named.map_or_else(|| loaded.mechanism.start(), Ok);
    refuse_too_large(&loaded, samples.len())?;
    let mut batch = batch_for(
        arguments.out.as_deref(),
        &loaded.label,
        record::file_names(),
    )?;
    let folder = batch.folder().to_owned();

    let silent = arguments.quiet || arguments.json;
    let began = Instant::now();
    let run = integrate(&loaded, start, &samples, f64::INFINITY, silent);
    let wall_s = began.elapsed().as_secs_f64();

    let mut summary = Summary::new(&loaded, &run, &arguments.at, wall_s);
    if arguments.start.from.is_some() {
        // the model's own start is not used
        summary.start_changes.clear();
    }
    let changes: Vec<String> = overrides.iter().map(Override::text).collect();
    let options = json!({ "verb": "run", "model": name, "set": changes, "at_s": arguments.at,
        "from": arguments.start.from });
    let manifest = record::add(&mut batch, "", &loaded, &run, options, &mut summary)
        .and_then(|manifest| batch.finish().map(|()| manifest))
        .map_err(|error| Stop::Failed(error.to_string()))?;
    let mut plot = None;
    if arguments.pictures.wanted() {
        let source = Source {
            label: loaded.label.clone(),
            loaded: &loaded,
            manifest: &manifest,
            recording: &run.recording,
            model_summary: json!(ModelSummary::of(&loaded)),
        };
        let (pictures, channels) = (&arguments.pictures, &arguments.channels.channels);
        let pictures = report::write_for(&[source], &folder, pictures, channels, arguments.quiet)?;
        let names = pictures.files.iter().map(|path| path.display().to_string());
        summary.files.extend(names);
        plot = pictures.plot;
    }
    if arguments.json {
        output::json(&WithPlot {
            answer: &summary,
            plot: plot.as_ref(),
        })?;
    } else if !arguments.quiet {
        output::say(&in_words(
            &loaded,
            &summary,
            &format!("{name}{}", arguments.changes),
        ));
    }
    if let Some(failure) = &summary.failure {
        return Err(Stop::Failed(format!(
            "the run failed at {} s: {}; what was computed until then is in {}",
            short(failure.time_s),
            failure.message,
            folder.display()
        )));
    }
    match summary.stopped_at_s {
        Some(at_s) => Err(Stop::Interrupted(format!(
            "interrupted at {} s; what was computed until then is in {}",
            short(at_s),
            folder.display()
        ))),
        None => Ok(()),
    }
}

/// Simulates with progress, until the end, Ctrl-C, or a body displaced by more than `most_lengths` of its length.
pub(super) fn integrate(
    loaded: &Loaded,
    start: Result<State, RunError>,
    samples: &[f64],
    most_lengths: f64,
    silent: bool,
) -> Run {
    let simulation = &loaded.spec.simulation;
    let options = SimulateOptions {
        samples,
        channels: loaded.spec.output.channels.as_deref(),
        most_lengths,
    };
    let start = match start {
        Ok(start) => start,
        Err(error) => return Run::refused(error),
    };
    let left_s = simulation.start_s + simulation.duration_s - start.time_s;
    watched(start.time_s, left_s, silent, |watch| {
        loaded
            .mechanism
            .simulate(&start, simulation, &options, watch)
    })
}

/// Does something that takes its time, with progress over a span and until Ctrl-C.
pub(super) fn watched<R>(
    start_s: f64,
    duration_s: f64,
    silent: bool,
    work: impl FnOnce(&mut dyn FnMut(f64) -> Flow) -> R,
) -> R {
    // without a handler Ctrl-C ends the command at once, which is the second best
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    let mut progress = Progress::new(start_s, duration_s, silent);
    let done = work(&mut |time_s| {
        progress.reached(time_s);
        if INTERRUPTED.load(Ordering::Relaxed) {
            Flow::Stop
        } else {
            Flow::Continue
        }
    });
    progress.finish();
    done
}

pub(super) fn refuse_outside(at_s: &[f64], spec: &ModelSpec) -> Result<(), Stop> {
    let start_s = spec.simulation.start_s;
    let end_s = start_s + spec.simulation.duration_s;
    match at_s.iter().find(|&&at_s| at_s < start_s || at_s > end_s) {
        Some(at_s) => Err(Stop::Usage(format!(
            "--at {at_s} is outside the simulation, which runs from {start_s} to {end_s} s; name \
             instants inside, or set simulation.duration_s"
        ))),
        None => Ok(()),
    }
}

/// Refuses a recording that would not fit into memory.
pub(super) fn refuse_too_large(loaded: &Loaded, samples: usize) -> Result<(), Stop> {
    if loaded.spec.output.channels.is_some() {
        return Ok(());
    }
    let channels = loaded.mechanism.channel_count();
    let bytes = samples as f64 * channels as f64 * 8.0;
    if bytes > MOST_BYTES {
        return Err(Stop::Failed(format!(
            "{samples} samples of {channels} channels would take {:.0} GiB; lengthen \
             output.sample_period_s or name the channels to keep in output.channels",
            bytes / 1024.0_f64.powi(3)
        )));
    }
    Ok(())
}

/// The files to be written, into `results/NAME` unless said, in place of `replaced`. It is begun before the run, so that no run
/// is lost for want of a folder that can be written to.
pub(super) fn batch_for(
    out: Option<&Path>,
    name: &str,
    replaced: Vec<String>,
) -> Result<Batch, Stop> {
    let folder = out.map_or_else(|| Path::new("results").join(name), Path::to_owned);
    Batch::begin(&folder, replaced).map_err(|error| Stop::Failed(error.to_string()))
}

/// What came of the run, for a person.
fn in_words(loaded: &Loaded, summary: &Summary, typed: &str) -> String {
    let cost = &summary.cost;
    let reached_s = match (summary.stopped_at_s, &summary.failure) {
        (Some(at_s), _) => at_s - loaded.spec.simulation.start_s,
        (None, Some(failure)) => failure.time_s - loaded.spec.simulation.start_s,
        (None, None) => summary.duration_s,
    };
    let mut lines = vec![
        format!(
            "{}: {} s in {} s ({} times real time)",
            summary.model,
            short(reached_s),
            rounded(cost.wall_s, 2),
            rounded(reached_s / cost.wall_s, 2)
        ),
        format!(
            "  steps        {} ({} rejected), {} evaluations",
            cost.steps, cost.rejected, cost.evaluations
        ),
    ];
    if cost.stiff {
        lines.push(
            "  warning      the model is stiff: stability, not accuracy, sets the steps; \
             simulation.integrator.radau needs fewer"
                .to_owned(),
        );
    }
    let warnings = summary.warnings.iter();
    lines.extend(warnings.map(|warning| format!("  warning      {warning}")));
    let changes = summary.start_changes.iter();
    lines.extend(changes.map(|change| format!("  start        {}", start_in_words(change))));
    lines.extend(audit_in_words(summary));
    let wanted = loaded.spec.output.channels.iter().flatten();
    let missing = wanted.filter(|beginning| {
        let mut names = summary.channels.iter().map(|channel| &channel.name);
        !names.any(|name| name.starts_with(beginning.as_str()))
    });
    lines.extend(missing.map(|beginning| {
        format!("  warning      no channel begins with {beginning:?}, as output.channels asks")
    }));
    lines.extend(extremes_in_words(loaded, summary));
    lines.extend(instants_in_words(summary));
    lines.push(String::new());
    // pictures may go elsewhere, the manifest stands beside the recording
    let manifest = (summary.files.iter()).find(|path| Path::new(path).ends_with("manifest.json"));
    let folder = manifest.and_then(|path| Path::new(path).parent());
    let beside = |path: &&String| Path::new(path).parent() == folder;
    let (inside, outside): (Vec<&String>, Vec<&String>) = summary.files.iter().partition(beside);
    let names = inside.iter().map(|path| {
        let name = Path::new(path).file_name();
        name.map_or_else(String::new, |name| name.display().to_string())
    });
    lines.push(format!(
        "Wrote {} to {}.",
        names.collect::<Vec<_>>().join(", "),
        folder.map_or_else(String::new, |folder| folder.display().to_string())
    ));
    lines.extend(outside.iter().map(|path| format!("Wrote {path}.")));
    let written = |extension: &str| {
        let is = |path: &&String| Path::new(path).extension() == Some(extension.as_ref());
        summary.files.iter().find(is)
    };
    let (csv, has_page) = (written("csv"), written("html").is_some());
    if let (Some(csv), true) = (csv, summary.completed) {
        lines.push(format!("\nNext:\n  pandas.read_csv({csv:?})"));
        if let (Some(folder), false) = (folder, has_page) {
            lines.push(format!("  lissom report {}", folder.display()));
        }
        lines.push(format!(
            "  lissom run {typed} --set simulation.duration_s={}",
            2.0 * summary.duration_s
        ));
    }
    lines.join("\n")
}

fn audit_in_words(summary: &Summary) -> Vec<String> {
    let energy = &summary.audit.energy;
    let mut lines = vec![format!(
        "  energy       drift at most {} % of the peak of {} J",
        short(energy.max_drift_percent),
        short(energy.peak_j)
    )];
    for reason in &energy.non_conservative {
        lines.push(format!("               not balanced: {reason}"));
    }
    if let Some(momentum) = &summary.audit.momentum {
        lines.push(format!(
            "  momentum     drift at most {} kg m/s and {} kg m^2/s (peaks {} and {})",
            short(momentum.linear_drift_kg_m_per_s),
            short(momentum.angular_drift_kg_m2_per_s),
            short(momentum.peak_linear_kg_m_per_s),
            short(momentum.peak_angular_kg_m2_per_s)
        ));
    }
    if let Some(closures) = &summary.audit.closures {
        lines.push(format!(
            "  closures     open by at most {} m or rad, their rates by {} m/s or rad/s",
            short(closures.max_position_violation),
            short(closures.max_velocity_violation)
        ));
    }
    for passed in &summary.audit.limit_violations {
        lines.push(format!(
            "  warning      {} of joint {} passes its limit {} {unit} at {} s, furthest {} {unit}",
            passed.quantity,
            passed.joint,
            short(passed.limit),
            short(passed.first_s),
            short(passed.worst),
            unit = passed.unit
        ));
    }
    for body in summary.audit.bodies.iter().filter(|body| !body.small) {
        lines.push(format!(
            "  warning      {} bends by {} m, {} of its length, with slopes up to {} rad: beyond {} of its length or \
             {} rad small deflections are off by more than 4 %",
            body.body,
            short(body.deflection.value),
            short(body.deflection.value / body.length_m),
            short(body.slope.value),
            SMALL_DEFLECTION_LENGTHS,
            SMALL_SLOPE_RAD
        ));
    }
    lines
}

/// Every channel at the instants asked for by `--at`.
fn instants_in_words(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    for instant in &summary.at {
        lines.push(format!("  at {} s", short(instant.time_s)));
        for ((name, value), channel) in instant.channels.iter().zip(&summary.channels) {
            lines.push(format!(
                "  {name:<32}{:>13} {}",
                short(*value),
                channel.unit
            ));
        }
    }
    lines
}

/// Positions and deflections of the markers.
fn extremes_in_words(loaded: &Loaded, summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    for marker in &loaded.spec.marker {
        for what in ["position", "deflection"] {
            let prefix = format!("{}.{what}.", marker.name);
            let moving = summary.channels.iter().filter(|channel| {
                channel.name.starts_with(&prefix) && channel.minimum.value != channel.maximum.value
            });
            lines.extend(moving.map(|channel| {
                format!(
                    "  {:<24}{:>11} to {:>11} {}, at the end {}",
                    channel.name,
                    short(channel.minimum.value),
                    short(channel.maximum.value),
                    channel.unit,
                    short(channel.last.value)
                )
            }));
        }
    }
    if !lines.is_empty() {
        lines.insert(
            0,
            format!("  {}", counted(loaded.spec.marker.len(), "marker")),
        );
    }
    lines
}
