//! What the verbs of linearised models share: where to linearise, with progress and Ctrl-C.

use lissom::analysis::{AnalysisError, Linearized, Place, frozen, linearized};
use lissom::integrate::Flow;
use lissom::linear::Frozen;
use lissom::model::spec::ModelSpec;
use lissom_io::load::Loaded;

use super::run;
use crate::arguments::{PlaceArgument, PlaceArguments};
use crate::stop::Stop;

/// Instants of a motion unless said.
const POINTS: usize = 51;

/// Linearises a model where the arguments say.
pub(super) fn at(
    loaded: &Loaded,
    arguments: &PlaceArguments,
    silent: bool,
) -> Result<Linearized, Stop> {
    let (place, times) = place(loaded, arguments)?;
    watched(loaded, silent, |watch| {
        linearized(&loaded.mechanism, place, &times, watch)
    })
}

/// Freezes the equations of a model where the arguments say, with driven joints held or `free`.
pub(super) fn frozen_at(
    loaded: &Loaded,
    arguments: &PlaceArguments,
    free: bool,
    silent: bool,
) -> Result<Frozen, Stop> {
    let (place, times) = place(loaded, arguments)?;
    watched(loaded, silent, |watch| {
        frozen(&loaded.mechanism, place, &times, free, watch)
    })
}

fn watched<T>(
    loaded: &Loaded,
    silent: bool,
    analysis: impl FnOnce(&mut dyn FnMut(f64) -> Flow) -> Result<T, AnalysisError>,
) -> Result<T, Stop> {
    let simulation = &loaded.spec.simulation;
    run::watched(simulation.start_s, simulation.duration_s, silent, |watch| {
        analysis(watch)
    })
    .map_err(stopped)
}

/// Where the arguments say, with the instants of a motion.
fn place(loaded: &Loaded, arguments: &PlaceArguments) -> Result<(Place, Vec<f64>), Stop> {
    let place = match arguments.along {
        PlaceArgument::Start => Place::Start,
        PlaceArgument::Equilibrium => Place::Equilibrium,
        PlaceArgument::Nominal => Place::Nominal,
        PlaceArgument::Run => Place::Run,
    };
    if matches!(place, Place::Nominal | Place::Run) {
        return Ok((place, instants(&loaded.spec, arguments)?));
    }
    if !arguments.at.is_empty() || arguments.points.is_some() {
        return Err(Stop::Usage(
            "--at and --points name instants of a motion; say --along nominal or --along run"
                .to_owned(),
        ));
    }
    Ok((place, Vec::new()))
}

/// What an analysis that ended early says.
pub(super) fn stopped(error: AnalysisError) -> Stop {
    match error {
        AnalysisError::Stopped { .. } => Stop::Interrupted(error.to_string()),
        error => Stop::Failed(error.to_string()),
    }
}

fn instants(spec: &ModelSpec, arguments: &PlaceArguments) -> Result<Vec<f64>, Stop> {
    let (start, duration) = (spec.simulation.start_s, spec.simulation.duration_s);
    if arguments.at.is_empty() {
        return Ok(evenly(start, duration, arguments.points.unwrap_or(POINTS)));
    }
    run::refuse_outside(&arguments.at, spec)?;
    let mut times = arguments.at.clone();
    times.sort_by(f64::total_cmp);
    times.dedup();
    Ok(times)
}

/// So many instants from the start of a span to its end.
pub(super) fn evenly(start: f64, duration: f64, count: usize) -> Vec<f64> {
    let last = (count.max(2) - 1) as f64;
    // the last is the end itself, not a rounded one
    (0..count)
        .map(|i| start + duration * (i as f64 / last))
        .collect()
}
