//! `lissom inverse`: what drives a model along its motion if every body is rigid.

use lissom::inverse::{DriveDuty, Duty, InverseDynamics, inverse_dynamics};
use lissom::sample_instants_from;
use lissom_io::load::Loaded;
use lissom_io::{inverse, record};
use lissom_report::Chart;
use serde_json::json;

use super::run;
use crate::arguments::InverseArguments;
use crate::interrupt::Keeping;
use crate::output::{counted, short};
use crate::plot::{CHANNELS, WithPlot};
use crate::stop::Stop;
use crate::{interrupt, source};

/// Computes the torques and forces of a model along its motion.
pub(crate) fn run(arguments: &InverseArguments) -> Result<(), Stop> {
    let named = arguments.model.named()?;
    let loaded = source::load(&named)?;
    let simulation = &loaded.spec.simulation;
    run::refuse_too_large(&loaded, None)?;
    let batch = run::batch_for(
        arguments.out.as_deref(),
        &format!("{}-inverse", loaded.label),
        record::file_names(&loaded),
    )?;
    let folder = batch.folder().to_owned();
    arguments.plot.refuse_unwritable()?;
    let (start_s, duration_s) = (simulation.start_s, simulation.duration_s);
    let samples = sample_instants_from(&loaded.spec, start_s, &[]);
    interrupt::watch();
    let silent = arguments.answer.is_silent();
    let found = run::watched(start_s, duration_s, silent, |watch| {
        inverse_dynamics(&loaded.mechanism, &samples, watch)
    })
    .map_err(|error| Stop::Failed(error.to_string()))?;
    let _keeping = Keeping::begin();
    if let Some(warning) = &found.warning {
        arguments.answer.warn(warning);
    }
    let asked = json!({ "verb": "inverse", "model": named.name, "set": named.changes() });
    let mut summary = inverse::summary(&loaded, &found);
    let recording = &found.recording;
    let files = record::write_recording(
        batch,
        &loaded,
        recording,
        None,
        asked,
        summary.clone(),
        found.stopped_at,
    )?;
    let chart = || {
        let labelled = [("", recording)];
        let channels = &arguments.channels.channels;
        Ok(Chart::of_recordings(&loaded, &labelled, channels))
    };
    let plot = (arguments.plot).write(arguments.answer, CHANNELS, chart)?;
    summary["files"] = (files.iter().chain(plot.iter().map(|plot| &plot.file)))
        .map(|path| json!(path.display().to_string()))
        .collect();
    let answer = WithPlot {
        answer: &summary,
        plot: plot.as_ref(),
    };
    arguments.answer.give(&answer, || {
        let mut lines = vec![
            in_words(&loaded, &found),
            format!("\nWrote {}.", folder.display()),
        ];
        lines.extend((plot.iter()).map(|plot| format!("Wrote {}.", plot.file.display())));
        lines.join("\n")
    })?;
    match found.stopped_at {
        Some(at_s) => Err(Stop::interrupted(at_s, "the motion", &folder)),
        None => Ok(()),
    }
}

fn in_words(loaded: &Loaded, found: &InverseDynamics) -> String {
    let mut lines = vec![format!(
        "{}: rigid inverse dynamics, {}, degrees of freedom: {}",
        loaded.name(),
        counted(found.drives.len(), "drive"),
        found.degrees_of_freedom,
    )];
    lines.push(format!(
        "  {:<20} {:>24} {:>24} {:>24}",
        "peak (rms)", "torque or force", "rate", "power"
    ));
    let told = |duty: &Duty| {
        format!(
            "{} ({}) {}",
            short(duty.peak.value),
            short(duty.rms),
            duty.unit
        )
    };
    let line = |drive: &DriveDuty| {
        format!(
            "  {:<20} {:>24} {:>24} {:>24}",
            drive.name,
            told(&drive.effort),
            told(&drive.rate),
            told(&drive.power)
        )
    };
    lines.extend(found.drives.iter().map(line));
    lines.join("\n")
}
