//! `lissom inverse`: what drives a model along its motion, with rigid links or with those that bend.

use lissom::inverse::{
    Compensation, DriveDuty, Duty, FlexibleInverse, FlexibleOptions, InverseDynamics,
    flexible_inverse_dynamics, inverse_dynamics,
};
use lissom::sample_instants_from;
use lissom_io::load::Loaded;
use lissom_io::{inverse, record};
use lissom_report::Chart;
use serde_json::json;

use super::run;
use crate::arguments::{FlexibleArgument, InverseArguments};
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
    let mut batch = run::batch_for(
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
    let mut bent = None;
    let found = run::watched(start_s, duration_s, silent, |watch| {
        let Some(how) = arguments.flexible else {
            return inverse_dynamics(&loaded.mechanism, &samples, watch);
        };
        let options = FlexibleOptions {
            marker: arguments.marker.clone(),
            compensation: compensation(how),
        };
        let found = flexible_inverse_dynamics(&loaded.mechanism, &samples, &options, watch)?;
        Ok(bent.insert(found).inverse.clone())
    })
    .map_err(|error| Stop::Failed(error.to_string()))?;
    let _keeping = Keeping::begin();
    if let Some(warning) = &found.warning {
        arguments.answer.warn(warning);
    }
    let mut asked = json!({ "verb": "inverse", "model": named.name, "set": named.changes() });
    let how = arguments.flexible.map(compensation);
    let mut summary = match (&bent, how) {
        (Some(bent), Some(how)) => {
            asked["flexible"] = json!(inverse::method(how));
            asked["marker"] = json!(bent.marker);
            inverse::flexible_summary(&loaded, bent, how)
        }
        _ => inverse::summary(&loaded, &found),
    };
    for warning in bent.iter().flat_map(warnings) {
        arguments.answer.warn(&warning);
    }
    let recording = &found.recording;
    let tables = match &bent {
        Some(_) => inverse::write_tables(&mut batch, &found)?,
        None => Vec::new(),
    };
    let mut files = record::write_recording(
        batch,
        &loaded,
        recording,
        bent.as_ref().map(|bent| &bent.start),
        asked,
        summary.clone(),
        found.stopped_at,
    )?;
    files.extend(tables);
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
        let mut lines = vec![in_words(&loaded, &found, how)];
        lines.extend(bent.iter().map(of_marker));
        lines.push(format!("\nWrote {}.", folder.display()));
        lines.extend((plot.iter()).map(|plot| format!("Wrote {}.", plot.file.display())));
        lines.join("\n")
    })?;
    match found.stopped_at {
        Some(at_s) => Err(Stop::interrupted(at_s, "the motion", &folder)),
        None => Ok(()),
    }
}

fn compensation(how: FlexibleArgument) -> Compensation {
    match how {
        FlexibleArgument::QuasiStatic => Compensation::QuasiStatic,
        FlexibleArgument::Causal => Compensation::Causal,
        FlexibleArgument::Stable => Compensation::Stable,
    }
}

/// What to know of an inverse before it is used.
fn warnings(found: &FlexibleInverse) -> Vec<String> {
    let late = found.pre_actuation_s > found.rest_s;
    let late = late.then(|| {
        format!(
            "drives would have to begin {} s before the motion, which begins after {} s: they miss {} m of the marker's deflection there; let the \
             motion begin later (from_s)",
            short(found.pre_actuation_s),
            short(found.rest_s),
            short(found.unrest_m)
        )
    });
    late.into_iter().collect()
}

/// What is said of the marker that stays on its path.
fn of_marker(found: &FlexibleInverse) -> String {
    let (deflection, residual) = (&found.deflection, &found.residual);
    let mut lines = vec![format!(
        "  {} is moved by up to {} m (at {} s) by what bends; expected to remain: {} m (at {} s)",
        found.marker,
        short(deflection.value),
        short(deflection.time_s),
        short(residual.value),
        short(residual.time_s)
    )];
    if let Some(slowest) = found.growing_zeros.first() {
        lines.push(format!(
            "  zeros that grow: {}, the slowest at {} 1/s; drives begin {} s before the motion",
            found.growing_zeros.len(),
            short(*slowest),
            short(found.pre_actuation_s)
        ));
    }
    lines.join("\n")
}

fn in_words(loaded: &Loaded, found: &InverseDynamics, how: Option<Compensation>) -> String {
    let method = how.map_or("rigid", inverse::method);
    let mut lines = vec![format!(
        "{}: {method} inverse dynamics, {}, degrees of freedom: {}",
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
