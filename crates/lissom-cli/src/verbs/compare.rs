//! `lissom compare`: one model with several fidelities, side by side.

use std::path::Path;
use std::time::Instant;

use lissom::compare::{
    Advice, DIVERGENCE_LENGTHS, Difference, Prediction, Worst, dense_instants, thinned,
};
use lissom::{Override, Recording, Run};
use lissom_io::compare::{Choice, Comparison, Entry, Finished, with_fidelity};
use lissom_io::load::Loaded;
use lissom_io::manifest::Manifest;
use lissom_io::record;
use lissom_io::summary::Summary;
use lissom_report::Source;
use serde_json::json;

use super::check::ModelSummary;
use super::report;
use super::run::{batch_for, integrate, refuse_too_large};
use crate::arguments::CompareArguments;
use crate::output::{rounded, short};
use crate::stop::Stop;
use crate::{diagnostics, output, source};

/// Runs a model with several fidelities.
pub(crate) fn run(arguments: &CompareArguments) -> Result<(), Stop> {
    let loaded = source::load(&arguments.model, &arguments.set)?;
    source::refuse_nodes(&loaded, "compare")?;
    let models = arguments
        .choices
        .iter()
        .map(|&choice| {
            let changed = with_fidelity(&loaded, choice)
                .map_err(|error| Stop::Diagnosed(diagnostics::render(&error)))?;
            Ok((choice, changed))
        })
        .collect::<Result<Vec<_>, Stop>>()?;
    let batch = batch_for(
        arguments.out.as_deref(),
        &format!("{}-compare", loaded.label),
    )?;
    let folder = batch.folder().to_owned();
    let silent = arguments.quiet || arguments.json;

    let mut finished: Vec<Finished> = Vec::new();
    let mut manifests: Vec<(Manifest, Recording)> = Vec::new();
    for (choice, model) in models {
        if !silent {
            output::say(&format!("Running with {choice} …"));
        }
        let (done, written) = run_one(arguments, choice, model, &folder, silent)?;
        manifests.push(written);
        let stopped = done.summary.stopped_at_s.is_some();
        finished.push(done);
        if stopped {
            break;
        }
    }
    let channels = (!arguments.channels.is_empty()).then_some(arguments.channels.as_slice());
    let comparison = Comparison::new(&finished, channels, arguments.within);
    let path = comparison
        .write(&folder)
        .map_err(|error| Stop::Failed(error.to_string()))?;
    let mut pictures = Vec::new();
    if arguments.pictures.wanted() {
        let sources: Vec<Source<'_>> = (finished.iter().zip(&manifests))
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
        pictures = report::write_for(&sources, &folder, wanted, channels, arguments.quiet)?;
    }
    if arguments.json {
        output::json(&comparison)?;
    } else if !arguments.quiet {
        output::say(&in_words(&comparison));
        output::say(&format!(
            "\nWrote every run to a folder in {}, and {}.",
            folder.display(),
            path.display()
        ));
        if !pictures.is_empty() {
            output::say(&report::written(&pictures));
        }
    }
    if let Some(at_s) = finished.last().and_then(|f| f.summary.stopped_at_s) {
        return Err(Stop::Interrupted(format!(
            "interrupted at {} s of {}; what was computed until then is in {}",
            short(at_s),
            comparison.runs.last().map_or("", |run| &run.fidelity),
            folder.display()
        )));
    }
    if comparison.reference.is_none() {
        return Err(Stop::Failed(
            "no fidelity brought the model to its end; see above where each run failed".to_owned(),
        ));
    }
    Ok(())
}

/// Runs the model with one fidelity and writes its recording, which is returned with its manifest.
fn run_one(
    arguments: &CompareArguments,
    choice: Choice,
    mut model: Loaded,
    folder: &Path,
    silent: bool,
) -> Result<(Finished, (Manifest, Recording)), Stop> {
    let samples = dense_instants(&model.mechanism);
    // the comparison needs every coordinate; the files hold what the model asks for
    let wanted = model.spec.output.channels.take();
    refuse_too_large(&model, samples.len())?;
    let began = Instant::now();
    let start = model.mechanism.start();
    let run = integrate(&model, start, &samples, DIVERGENCE_LENGTHS, silent);
    let wall_s = began.elapsed().as_secs_f64();
    model.spec.output.channels = wanted;

    let shown = Run {
        recording: thinned(&model.mechanism, &run.recording),
        ..run.clone()
    };
    let mut summary = Summary::new(&model, &shown, &[], wall_s);
    let mut changes: Vec<String> = arguments.set.iter().map(Override::text).collect();
    // what makes the same run
    let switched = choice.to_string();
    let (preset, tip) = switched.split_once('/').unwrap_or((&switched, ""));
    changes.push(format!("fidelity.preset={preset}"));
    if !tip.is_empty() {
        changes.push(format!("fidelity.tip={tip}"));
    }
    let options = json!({
        "verb": "run", "model": arguments.model, "set": changes, "at_s": [], "fidelity": switched,
    });
    let own = folder.join(choice.to_string().replace('/', "-"));
    let manifest = batch_for(Some(&own), "").and_then(|batch| {
        record::write(batch, &model, &shown, options, &mut summary)
            .map_err(|error| Stop::Failed(error.to_string()))
    })?;
    let done = Finished {
        choice,
        loaded: model,
        run,
        summary,
    };
    Ok((done, (manifest, shown.recording)))
}

fn in_words(comparison: &Comparison) -> String {
    let mut lines = vec![
        String::new(),
        format!(
            "{:<22}{:>24}{:>13}{:>13}{:>9}{:>13}{:>9}",
            comparison.model, "ended", "drift max %", "rms %", "steps", "evaluations", "wall s"
        ),
    ];
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
        lines.extend(advice_in_words(advice, reference));
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
        "    {:<26}{:>12} {unit} at {} s, at the end {} {unit}",
        difference.channel,
        rounded(difference.largest.value, 4),
        short(difference.largest.time_s),
        rounded(difference.last.value, 4),
        unit = difference.unit
    )
}

fn advice_in_words(advice: &Advice, reference: &str) -> Vec<String> {
    let mut lines = vec![format!("\nWhat mattered, from the run with {reference}")];
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
    for term in &advice.terms {
        let share =
            |part: Option<f64>, of: &str| part.map(|part| format!("{} of {of}", rounded(part, 2)));
        let shares = [
            share(term.magnitude.elastic, "the strain"),
            share(term.magnitude.joints, "the joint forces"),
        ];
        let shares: Vec<String> = shares.into_iter().flatten().collect();
        lines.push(format!("  {}: {}", term.name, shares.join(", ")));
    }
    lines.extend(advice.predictions.iter().map(prediction));
    let tolerance = format!(
        "{} m and {} rad",
        rounded(advice.within_m, 3),
        rounded(advice.within, 3)
    );
    lines.push(match &advice.cheapest {
        Some(fidelity) => format!("  {fidelity} would have been within {tolerance}."),
        None => format!("  No cheaper fidelity would have been within {tolerance}."),
    });
    lines
}

fn prediction(prediction: &Prediction) -> String {
    let stated = match (&prediction.stated, prediction.no_bound) {
        (Some(stated), _) => format!("error within {}", error(stated)),
        (None, why) => {
            let when = match prediction.leaves_at_s {
                Some(at_s) => format!(" (by {} s)", rounded(at_s, 4)),
                None => String::new(),
            };
            format!("no bound can be given: {}{when}", why.unwrap_or_default())
        }
    };
    let measured = match &prediction.measured {
        Some(measured) => format!("measured {}", error(measured)),
        None => "its run was not sound".to_owned(),
    };
    format!("  {}: {stated} ({measured})", prediction.fidelity)
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
