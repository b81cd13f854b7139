//! `lissom run`: simulate, sum up, write.

use std::path::Path;
use std::time::Instant;

use lissom::recording::Extremes;
use lissom::{
    Ending, Flow, ModelSpec, Quantity, Run, RunError, SMALL_DEFLECTION_LENGTHS, SMALL_SLOPE_RAD,
    SimulateOptions, State, Watch, sample_instants, sample_instants_from,
};
use lissom_io::batch::Batch;
use lissom_io::checkpoint::Checkpoints;
use lissom_io::continued::Earlier;
use lissom_io::load::Loaded;
use lissom_io::model_summary::ModelSummary;
use lissom_io::summary::Summary;
use lissom_io::{record, size, state};
use lissom_report::{DOUBTFUL_PERCENT, Source};
use serde_json::json;

use super::check::start_in_words;
use super::report;
use crate::arguments::{NamedModel, RunArguments};
use crate::interrupt::Keeping;
use crate::output::{self, counted, rounded, short};
use crate::plot::WithPlot;
use crate::progress::Progress;
use crate::stop::Stop;
use crate::{interrupt, source};

/// Runs a model.
pub(crate) fn run(arguments: &RunArguments) -> Result<(), Stop> {
    let named = arguments.model.named()?;
    let loaded = source::load(&named)?;
    refuse_outside(&arguments.at, &loaded.spec)?;
    refuse_too_large(&loaded, loaded.spec.output.channels.as_deref())?;
    size::refuse_unwritable(&loaded.mechanism, &loaded.spec)?;
    let from = source::named_state_on_the_way(&loaded, &arguments.start)?;
    let samples = match &from {
        Some(start) => sample_instants_from(&loaded.spec, start.time_s, &arguments.at),
        None => sample_instants(&loaded.spec, &arguments.at),
    };
    let mut batch = batch_for(
        arguments.out.as_deref(),
        &loaded.label,
        record::file_names(&loaded),
    )?;
    let folder = batch.folder().to_owned();
    report::refuse_unwritable(&folder, &arguments.pictures)?;
    let earlier = match &from {
        Some(start) => earlier(&loaded, start, &folder, arguments)?,
        None => None,
    };
    let from_s = from.as_ref().map(|start| start.time_s);
    let continued_at_s = from_s.filter(|_| earlier.is_some());
    let start_s = from_s.unwrap_or(loaded.spec.simulation.start_s);
    let start = from.map_or_else(|| loaded.mechanism.start(), Ok);

    let silent = arguments.answer.is_silent();
    let began = Instant::now();
    let options = json!({ "verb": "run", "model": named.name, "set": named.changes(), "at_s": arguments.at,
        "from": arguments.start.from });
    let summed_up = |run: &Run| {
        let wall_s = began.elapsed().as_secs_f64();
        let mut summary = Summary::new(&loaded, run, &arguments.at, wall_s);
        summary.continued_at_s = continued_at_s;
        if arguments.start.from.is_some() {
            // the model's own start is not used
            summary.start_changes.clear();
        }
        summary
    };
    let checkpoints = Checkpoints::new(arguments.checkpoint_every, |so_far| {
        let whole = (earlier.as_ref()).map(|earlier| earlier.whole(so_far.clone()));
        let so_far = whole.as_ref().unwrap_or(so_far);
        let summary = &mut summed_up(so_far);
        record::write_checkpoint(&folder, &loaded, so_far, options.clone(), summary)
    });
    let kept = Kept {
        checkpoints,
        folder: folder.display().to_string(),
    };
    let run = integrate(&loaded, start, &samples, silent, kept);
    let _keeping = Keeping::begin();
    let run = match (&earlier, &run.last, &run.ending) {
        // the state that it was to go on from is still good
        (Some(_), None, Ending::Failed(error)) => return Err(Stop::Failed(error.to_string())),
        (Some(earlier), ..) => earlier.whole(run),
        (None, ..) => run,
    };

    let mut summary = summed_up(&run);
    let manifest = record::add(&mut batch, "", &loaded, &run, options, &mut summary)
        .and_then(|manifest| batch.finish().map(|()| manifest))?;
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
        let pictures = report::write_for(&[source], &folder, pictures, channels, arguments.answer)?;
        let names = pictures.files.iter().map(|path| path.display().to_string());
        summary.files.extend(names);
        plot = pictures.plot;
    }
    let answer = WithPlot {
        answer: &summary,
        plot: plot.as_ref(),
    };
    (arguments.answer).give(&answer, || in_words(&loaded, &summary, start_s, &named))?;
    match (&summary.failure, summary.stopped_at_s) {
        (Some(failure), _) => Err(Stop::Failed(format!(
            "the run failed at {} s: {}; what was computed until then is in {}",
            short(failure.time_s),
            failure.message,
            folder.display()
        ))),
        (None, Some(at_s)) => Err(Stop::interrupted(at_s, "the run", &folder)),
        (None, None) => Ok(()),
    }
}

/// What stands in the folder of a run that goes on there.
fn earlier(
    loaded: &Loaded,
    start: &State,
    folder: &Path,
    arguments: &RunArguments,
) -> Result<Option<Earlier>, Stop> {
    let from = arguments.start.from.as_deref().and_then(state::folder_of);
    let real = |path: &Path| path.canonicalize().ok();
    let Some(from) = from.filter(|from| real(from).is_some() && real(from) == real(folder)) else {
        return Ok(None);
    };
    let instants = sample_instants(&loaded.spec, &arguments.at);
    Ok(Some(Earlier::read(&from, loaded, start, &instants)?))
}

/// Simulates with progress, until the end or Ctrl-C.
fn integrate(
    loaded: &Loaded,
    start: Result<State, RunError>,
    samples: &[f64],
    silent: bool,
    kept: Kept<'_>,
) -> Run {
    let simulation = &loaded.spec.simulation;
    let options = SimulateOptions {
        samples,
        channels: loaded.spec.output.channels.as_deref(),
        most_lengths: f64::INFINITY,
    };
    let start = match start {
        Ok(start) => start,
        Err(error) => return Run::refused(error),
    };
    let left_s = simulation.end_s() - start.time_s;
    interrupt::watch();
    let mut onlooker = Onlooker::new(start.time_s, left_s, silent, Some(kept));
    let mechanism = &loaded.mechanism;
    let run = mechanism.simulate_watched(&start, simulation, &options, &mut onlooker);
    onlooker.progress.finish();
    run
}

/// Where a run is kept on its way.
struct Kept<'a> {
    checkpoints: Checkpoints<'a>,
    folder: String,
}

impl Kept<'_> {
    /// Writes a checkpoint. One that cannot be written is told of, and the run goes on.
    fn take(&mut self, so_far: &Run) {
        let _keeping = Keeping::begin();
        match (self.checkpoints.take(so_far), &so_far.ending) {
            (Ok(()), Ending::Stopped { at_s }) => {
                let (at_s, folder) = (short(*at_s), &self.folder);
                interrupt::note_kept(format!("the run until {at_s} s is in {folder}"));
            }
            (Ok(()), _) => {}
            (Err(error), _) => output::say(&format!(
                "warning: the run so far could not be kept: {error}; the run goes on"
            )),
        }
    }
}

/// Tells the progress of work, stops it at Ctrl-C, and keeps what there is so far.
struct Onlooker<'a> {
    progress: Progress,
    kept: Option<Kept<'a>>,
}

impl<'a> Onlooker<'a> {
    fn new(start_s: f64, duration_s: f64, silent: bool, kept: Option<Kept<'a>>) -> Self {
        Self {
            progress: Progress::new(start_s, duration_s, silent),
            kept,
        }
    }
}

impl Watch for Onlooker<'_> {
    fn reached(&mut self, time_s: f64) -> Flow {
        self.progress.reached(time_s);
        if interrupt::is_asked() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn is_checkpoint_due(&mut self) -> bool {
        (self.kept.as_ref()).is_some_and(|kept| kept.checkpoints.is_due())
    }

    fn checkpoint(&mut self, so_far: &Run) {
        if let Some(kept) = &mut self.kept {
            kept.take(so_far);
        }
    }
}

/// Does something that takes its time, with progress over a span and until Ctrl-C.
pub(super) fn watched<R>(
    start_s: f64,
    duration_s: f64,
    silent: bool,
    work: impl FnOnce(&mut dyn FnMut(f64) -> Flow) -> R,
) -> R {
    let mut onlooker = Onlooker::new(start_s, duration_s, silent, None);
    let done = work(&mut |time_s| onlooker.reached(time_s));
    onlooker.progress.finish();
    done
}

pub(super) fn refuse_outside(at_s: &[f64], spec: &ModelSpec) -> Result<(), Stop> {
    let (start_s, end_s) = (spec.simulation.start_s, spec.simulation.end_s());
    match at_s.iter().find(|&&at_s| at_s < start_s || at_s > end_s) {
        Some(at_s) => Err(Stop::Usage(format!(
            "--at {at_s} is outside the simulation, which runs from {start_s} to {end_s} s; name \
             instants inside, or set simulation.duration_s"
        ))),
        None => Ok(()),
    }
}

/// Refuses a recording of some channels, all if absent, that would not fit into memory.
pub(super) fn refuse_too_large(loaded: &Loaded, channels: Option<&[String]>) -> Result<(), Stop> {
    Ok(size::refuse_too_large(
        &loaded.mechanism,
        &loaded.spec,
        channels,
    )?)
}

/// The files to be written, into `results/NAME` unless said, in place of `replaced`. It is begun before the run, so that no run
/// is lost for want of a folder that can be written to.
pub(super) fn batch_for(
    out: Option<&Path>,
    name: &str,
    replaced: Vec<String>,
) -> Result<Batch, Stop> {
    let folder = out.map_or_else(|| Path::new("results").join(name), Path::to_owned);
    Ok(Batch::begin(&folder, replaced)?)
}

/// What came of the run, which began at `start_s`, for a person.
fn in_words(loaded: &Loaded, summary: &Summary, start_s: f64, named: &NamedModel) -> String {
    let cost = &summary.cost;
    let end_s = match (summary.stopped_at_s, &summary.failure) {
        (Some(at_s), _) => at_s,
        (None, Some(failure)) => failure.time_s,
        (None, None) => loaded.spec.simulation.end_s(),
    };
    let reached_s = end_s - start_s;
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
    let used = summary.integrator.iter();
    lines.extend(used.map(|used| format!("  integrator   auto used {}", used.why)));
    // the choice has seen to it
    if cost.stiff && summary.integrator.is_none() {
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
    lines.extend(loads_in_words(summary));
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
        let twice = 2.0 * summary.duration_s;
        lines.push(format!(
            "  lissom run {}",
            named.typed_with("simulation.duration_s", twice)
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
    if energy.non_conservative.is_empty() && energy.max_drift_percent > DOUBTFUL_PERCENT {
        lines.push(format!(
            "  warning      energy is off by more than {DOUBTFUL_PERCENT} %: do not use these numbers; lower rtol or the step, or choose \
             another integrator"
        ));
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
    for body in &summary.audit.bodies {
        let Some(missing) = &body.missing_stiffness else {
            continue;
        };
        lines.push(format!(
            "  warning      {} does not stiffen and rotates at up to {} rad/s, at {} s: it lacks about {} % of its stiffness there \
             (its lowest frequency is {} rad/s); give it second-order data",
            body.body,
            short(missing.rotation_rad_per_s.value),
            short(missing.rotation_rad_per_s.time_s),
            rounded(100.0 * missing.share, 2),
            short(missing.frequency_rad_per_s)
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
                "  {name:<31} {:>13} {}",
                short(*value),
                channel.unit
            ));
        }
    }
    lines
}

/// The largest loads and stresses along the beams.
fn loads_in_words(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    let mut beam = "";
    for peak in &summary.loads {
        if peak.beam != beam {
            beam = &peak.beam;
            lines.push(format!("  largest loads along {beam}"));
        }
        lines.push(format!(
            "  {:<23} {:>11} {:<4} at {} m from the root, at {} s",
            peak.quantity,
            short(peak.value),
            peak.unit,
            short(peak.place_m),
            short(peak.time_s)
        ));
    }
    lines
}

/// Positions and deflections of the markers.
fn extremes_in_words(loaded: &Loaded, summary: &Summary) -> Vec<String> {
    let extremes = |channel: &Extremes| {
        format!(
            "  {:<23} {:>11} to {:>11} {}, at the end {}",
            channel.name,
            short(channel.minimum.value),
            short(channel.maximum.value),
            channel.unit,
            short(channel.last.value)
        )
    };
    let moves = |channel: &&Extremes| channel.minimum.value != channel.maximum.value;
    let mut lines = Vec::new();
    for marker in &loaded.spec.marker {
        for what in ["position", "deflection"] {
            let prefix = format!("{}.{what}.", marker.name);
            let own = summary.channels.iter().filter(moves);
            let own = own.filter(|channel| channel.name.starts_with(&prefix));
            lines.extend(own.map(extremes));
        }
    }
    if !lines.is_empty() {
        lines.insert(
            0,
            format!("  {}", counted(loaded.spec.marker.len(), "marker")),
        );
    }
    let signals = loaded.mechanism.signals().ok();
    let is_error = |channel: &&Extremes| {
        let found = signals
            .as_ref()
            .and_then(|signals| Some(&signals[signals.find(&channel.name)?]));
        found.is_some_and(|signal| signal.quantity == Quantity::TrackingError)
    };
    let errors: Vec<String> = (summary.channels.iter().filter(is_error).filter(moves))
        .map(extremes)
        .collect();
    if !errors.is_empty() {
        lines.push("  off the nominal motion".to_owned());
        lines.extend(errors);
    }
    lines
}
