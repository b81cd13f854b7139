//! `lissom compare`: one model with several fidelities, side by side.

use std::time::Instant;

use lissom::compare::{Advice, Difference, Ended, HowEnded, Measured, Worst};
use lissom::{Recording, Run};
use lissom_io::batch::Batch;
use lissom_io::compare::{
    Choice, Comparison, Entry, Runs, Task, as_asked, refuse_nodes, with_choices,
};
use lissom_io::load::Loaded;
use lissom_io::manifest::Manifest;
use lissom_io::model_summary::ModelSummary;
use lissom_io::summary::Summary;
use lissom_io::{record, size};
use lissom_report::Source;
use serde_json::json;

use super::report;
use super::run::{batch_for, refuse_too_large, watched};
use crate::arguments::{CompareArguments, NamedModel};
use crate::interrupt::Keeping;
use crate::output::{AnswerArguments, rounded, short};
use crate::plot::WithPlot;
use crate::stop::Stop;
use crate::{diagnostics, interrupt, source};

/// Runs a model with several fidelities.
pub(crate) fn run(arguments: &CompareArguments) -> Result<(), Stop> {
    let named = arguments.model.named()?;
    let loaded = source::load(&named)?;
    refuse_nodes(&loaded).map_err(|error| Stop::Failed(error.to_string()))?;
    source::refuse_unknown_channels(&loaded, &arguments.channels)?;
    let models = with_choices(&loaded, &arguments.choices)
        .map_err(|error| Stop::Diagnosed(diagnostics::render(&error)))?;
    let from = source::named_state_on_the_way(&loaded, &arguments.start)?;
    let batch = batch_for(
        arguments.out.as_deref(),
        &format!("{}-compare", loaded.label),
        file_names(&models),
    )?;
    let folder = batch.folder().to_owned();
    report::refuse_unwritable(&folder, &arguments.pictures)?;
    let mut runner = Runner {
        named: &named,
        start_s: from
            .as_ref()
            .map_or(loaded.spec.simulation.start_s, |state| state.time_s),
        from: arguments.start.from.as_deref(),
        answer: arguments.answer,
        batch,
        written: Vec::new(),
    };
    let runs = Runs::of(&loaded, models, from.as_ref(), |task| runner.run(task))?;
    let channels = (!arguments.channels.is_empty()).then_some(arguments.channels.as_slice());
    let comparison = Comparison::new(&runs, channels, arguments.within);
    let _keeping = Keeping::begin();
    // the runs and what is said of them count together
    let Runner {
        mut batch, written, ..
    } = runner;
    let path = comparison
        .add(&mut batch)
        .and_then(|path| batch.finish().map(|()| path))?;
    let mut pictures = report::Pictures::default();
    if arguments.pictures.wanted() {
        let sources: Vec<Source<'_>> = (runs.finished.iter().zip(&written))
            .map(|(done, (manifest, recording))| Source {
                label: done.choice.to_string(),
                loaded: &done.loaded,
                manifest,
                recording,
                model_summary: json!(ModelSummary::of(&done.loaded)),
            })
            .collect();
        let channels = &arguments.channels;
        let wanted = &arguments.pictures;
        pictures = report::write_for(&sources, &folder, wanted, channels, arguments.answer)?;
    }
    let answer = WithPlot {
        answer: &comparison,
        plot: pictures.plot.as_ref(),
    };
    arguments.answer.give(&answer, || {
        let [folder, path] = [&folder, &path].map(|path| path.display());
        let mut lines = vec![
            in_words(&comparison),
            format!("\nWrote every run to a folder in {folder}, and {path}."),
        ];
        if !pictures.files.is_empty() {
            lines.push(report::written(&pictures.files));
        }
        lines.join("\n")
    })?;
    if let Some((name, at_s)) = runs.stopped() {
        return Err(Stop::interrupted(at_s, &name, &folder));
    }
    if comparison.reference.is_none() {
        return Err(Stop::Failed(
            "no fidelity brought the model to its end; see above where each run failed".to_owned(),
        ));
    }
    Ok(())
}

/// Names of the files that a comparison with these fidelities may leave: of those that it does not come to, when it is interrupted, nothing
/// is left that belongs to another.
fn file_names(models: &[(Choice, Loaded)]) -> Vec<String> {
    let of_run = |(choice, model): &(Choice, Loaded)| {
        let folder = folder_of(&choice.to_string());
        let names = record::file_names(model).into_iter();
        names.map(move |name| format!("{folder}/{name}"))
    };
    let of_runs = models.iter().flat_map(of_run);
    of_runs.chain([Comparison::FILE.to_owned()]).collect()
}

/// The folder of a run, by what it is called.
fn folder_of(name: &str) -> String {
    name.replace(['/', '='], "-")
}

/// What makes the runs and writes their recordings.
struct Runner<'a> {
    named: &'a NamedModel,
    /// When the runs begin.
    start_s: f64,
    /// The state that they begin at, as it was named.
    from: Option<&'a str>,
    answer: AnswerArguments,
    batch: Batch,
    /// What was written of each run.
    written: Vec<(Manifest, Recording)>,
}

impl Runner<'_> {
    fn run(&mut self, task: &Task) -> Result<(Run, Summary), Stop> {
        (self.answer).progress(&format!("Running with {} …", task.title));
        let model = &task.model;
        refuse_too_large(model, None)?;
        size::refuse_unwritable(&model.mechanism, &model.spec)?;
        let duration_s = model.spec.simulation.end_s() - self.start_s;
        let began = Instant::now();
        interrupt::watch();
        let run = watched(self.start_s, duration_s, self.answer.is_silent(), |watch| {
            task.simulate(watch)
        });
        let _keeping = Keeping::begin();
        let wall_s = began.elapsed().as_secs_f64();
        // the comparison needs every coordinate; the files hold what the model asks for
        let shown = Run {
            recording: as_asked(model, &run.recording),
            ..run.clone()
        };
        let mut summary = Summary::new(model, &shown, &[], wall_s);
        if self.from.is_some() {
            // the model's own start is not used
            summary.start_changes.clear();
        }
        // what makes the same run
        let mut changes = self.named.changes();
        let switches = task.switches.iter();
        changes.extend(switches.map(|switch| format!("fidelity.{switch}")));
        let options = json!({
            "verb": "run", "model": self.named.name, "set": changes, "at_s": [], "fidelity": task.name, "from": self.from,
        });
        let own = folder_of(&task.name);
        let manifest = record::add(&mut self.batch, &own, model, &shown, options, &mut summary)?;
        self.written.push((manifest, shown.recording));
        Ok((run, summary))
    }
}

fn in_words(comparison: &Comparison) -> String {
    let mut lines = vec![format!(
        "{:<22}{:>24}{:>13}{:>13}{:>9}{:>13}{:>9}",
        comparison.model, "ended", "drift max %", "rms %", "steps", "evaluations", "wall s"
    )];
    for run in &comparison.runs {
        let energy = &run.audit.energy;
        lines.push(format!(
            "{:<22}{:>24}{:>13}{:>13}{:>9}{:>13}{:>9}",
            run.fidelity,
            ended(run),
            rounded(energy.max_drift_percent, 3),
            rounded(energy.rms_drift_percent, 3),
            run.cost.steps,
            run.cost.evaluations,
            rounded(run.cost.wall_s, 2)
        ));
    }
    for run in &comparison.runs {
        lines.extend(trouble(run));
        lines.extend(
            run.notes
                .iter()
                .map(|note| format!("  {}: {note}", run.fidelity)),
        );
    }
    if let Some(reference) = &comparison.reference {
        lines.push(format!(
            "\nDifferences from {reference}, largest and at the end"
        ));
        for run in comparison
            .runs
            .iter()
            .filter(|run| run.fidelity != *reference)
        {
            lines.push(format!("  {}", run.fidelity));
            lines.extend(run.differences.iter().map(difference));
        }
    }
    if let (Some(advice), Some(reference)) = (&comparison.advice, &comparison.reference) {
        lines.extend(advice_in_words(comparison, advice, reference));
    }
    lines.join("\n")
}

/// How a run ended, in a few characters.
fn ended(run: &Entry) -> String {
    match (&run.diverged, &run.failure, run.stopped_at_s) {
        (Some(divergence), ..) => format!("diverged at {} s", rounded(divergence.time_s, 4)),
        (None, Some(failure), _) => format!("failed at {} s", rounded(failure.time_s, 4)),
        (None, None, Some(at_s)) => format!("stopped at {} s", rounded(at_s, 4)),
        (None, None, None) => "completed".to_owned(),
    }
}

/// What went wrong in a run.
fn trouble(run: &Entry) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(divergence) = &run.diverged {
        lines.push(format!(
            "  {}: diverged at {} s in {}: {} is displaced by {} of its lengths",
            run.fidelity,
            short(divergence.time_s),
            divergence.coordinate,
            divergence.body,
            short(divergence.lengths)
        ));
    }
    if let Some(failure) = &run.failure {
        lines.push(format!(
            "  {}: failed at {} s in {}: {}",
            run.fidelity,
            short(failure.time_s),
            failure.coordinate,
            failure.message
        ));
    }
    lines
}

fn difference(difference: &Difference) -> String {
    format!(
        "    {:<25} {:>12} {unit} at {} s, at the end {} {unit}",
        difference.channel,
        rounded(difference.largest.value, 4),
        short(difference.largest.time_s),
        rounded(difference.last.value, 4),
        unit = difference.unit
    )
}

fn advice_in_words(comparison: &Comparison, advice: &Advice, reference: &str) -> Vec<String> {
    let mut lines = vec![format!("\nThe run with {reference}")];
    if let Some(rates) = &advice.rates {
        lines.push(format!(
            "  {} reaches {} rad/s, {} of the lowest frequency of {} ({} rad/s)",
            rates.channel,
            rounded(rates.rate_rad_per_s.value, 3),
            rounded(rates.ratio, 3),
            rates.body,
            rounded(rates.frequency_rad_per_s, 4)
        ));
    }
    for body in &advice.bodies {
        lines.push(format!(
            "  {} bends by {} m, {} of its length, with slopes up to {} rad{}",
            body.extent.body,
            rounded(body.extent.deflection.value, 3),
            rounded(body.extent.deflection.value / body.extent.length_m, 2),
            rounded(body.extent.slope.value, 3),
            if body.extent.small {
                ""
            } else {
                ", which is no longer small"
            }
        ));
    }
    if !advice.terms.is_empty() {
        lines.push(format!(
            "\nWhat mattered, by runs with {reference} but for one group of terms"
        ));
    }
    for term in &advice.terms {
        let judgement = match (&term.measured.ended, term.measured.within) {
            (Some(ended), _) => match ended.how {
                HowEnded::Diverged => ": it mattered",
                HowEnded::Failed | HowEnded::Interrupted => "",
            },
            (None, Some(true)) => ": it did not matter",
            (None, Some(false)) => ": it mattered",
            (None, None) => "",
        };
        lines.push(format!(
            "  without {}: {}{judgement}",
            term.name,
            measured(&term.measured)
        ));
    }
    if !advice.fidelities.is_empty() {
        lines.push(format!("\nInstead of {reference}"));
    }
    for verdict in &advice.fidelities {
        lines.push(format!(
            "  {}: {}",
            verdict.fidelity,
            measured(&verdict.measured)
        ));
    }
    lines.extend(judgement(comparison, advice, reference));
    if !comparison.not_run.is_empty() {
        lines.push(format!(
            "  {}: not known; run with --with",
            comparison.not_run.join(", ")
        ));
    }
    lines
}

/// Which fidelity would have done.
fn judgement(comparison: &Comparison, advice: &Advice, reference: &str) -> Option<String> {
    let mut judged = advice.fidelities.iter().map(|v| &v.measured);
    let sound = |measured: &Measured| measured.difference.is_some();
    if advice.fidelities.is_empty() {
        return None;
    }
    if judged.clone().any(sound) && judged.all(|m| m.within.is_none()) {
        return Some(
            "  Which would have done is not known: --within judges channels in m and rad, and none is compared."
                .to_owned(),
        );
    }
    let tolerance = format!(
        "{} m and {} rad",
        rounded(advice.within_m, 3),
        rounded(advice.within, 3)
    );
    if advice.would_have_done.is_empty() {
        return Some(format!(
            "  None of these was within {tolerance} of {reference}."
        ));
    }
    let wall = |name: &String| {
        let run = comparison.runs.iter().find(|run| run.fidelity == *name);
        run.map_or_else(String::new, |run| {
            format!("{name} (computed in {} s)", rounded(run.cost.wall_s, 2))
        })
    };
    let names: Vec<String> = advice.would_have_done.iter().map(wall).collect();
    Some(format!(
        "  {} would have done in place of {}: within {tolerance}.",
        names.join(", "),
        wall(&reference.to_owned())
    ))
}

/// How far a run is from the reference.
fn measured(measured: &Measured) -> String {
    match (&measured.difference, &measured.ended) {
        (Some(difference), _) => match error(difference) {
            text if text.is_empty() => "differs as comparison.json lists".to_owned(),
            text => format!("differs by {text}"),
        },
        (None, Some(Ended { how, time_s, .. })) => {
            let how = match how {
                HowEnded::Diverged => "its run diverged",
                HowEnded::Failed => "not known, its run failed",
                HowEnded::Interrupted => "not known, its run was interrupted",
            };
            format!("{how} at {} s", rounded(*time_s, 4))
        }
        (None, None) => String::new(),
    }
}

fn error(errors: &Worst) -> String {
    let part = |value: Option<f64>, unit: &str| value.map(|x| format!("{} {unit}", rounded(x, 2)));
    let parts = [part(errors.position_m, "m"), part(errors.angle_rad, "rad")];
    parts
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" and ")
}
