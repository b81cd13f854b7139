//! What the verbs of linearised models share: where to linearise, with progress and Ctrl-C.

use lissom::{
    AnalysisError, Flow, Frozen, Linearized, ModelSpec, ModesOptions, OperatingPoint, OutputOrder,
    State, TrackedModes,
};
use lissom_io::linear::{USUAL_POINTS, instants_of_motion};
use lissom_io::load::Loaded;

use super::run;
use crate::arguments::{OperatingPointArgument, OperatingPointArguments, StartArguments};
use crate::output::{rounded, short};
use crate::source;
use crate::stop::Stop;

/// Linearises a model where the arguments say, markers to second order.
pub(super) fn at(
    loaded: &Loaded,
    start: &StartArguments,
    arguments: &OperatingPointArguments,
    silent: bool,
) -> Result<Linearized, Stop> {
    let (from, point, times) = operating_point(loaded, start, arguments)?;
    watched(loaded, silent, |watch| {
        let order = OutputOrder::Second;
        (loaded.mechanism).linearize_to(&from, point, &times, order, watch)
    })
}

/// Modes of a model where the arguments say, and the equations that they belong to.
pub(super) fn modes_at(
    loaded: &Loaded,
    start: &StartArguments,
    arguments: &OperatingPointArguments,
    options: ModesOptions,
    silent: bool,
) -> Result<(Frozen, TrackedModes), Stop> {
    let (from, point, times) = operating_point(loaded, start, arguments)?;
    watched(loaded, silent, |watch| {
        (loaded.mechanism).modes(&from, point, &times, options, watch)
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

/// The state that the arguments begin at, and where they say, with the instants of a motion.
fn operating_point(
    loaded: &Loaded,
    start: &StartArguments,
    arguments: &OperatingPointArguments,
) -> Result<(State, OperatingPoint, Vec<f64>), Stop> {
    let point = match arguments.about {
        OperatingPointArgument::Start => OperatingPoint::Start,
        OperatingPointArgument::Equilibrium => OperatingPoint::Equilibrium,
        OperatingPointArgument::Nominal => OperatingPoint::Nominal,
        OperatingPointArgument::Run => OperatingPoint::Run,
    };
    if matches!(point, OperatingPoint::Nominal | OperatingPoint::Run) {
        let named = source::named_state_on_the_way(loaded, start)?;
        let from_s = named.as_ref().map(|state| state.time_s);
        let times = instants(&loaded.spec, from_s, arguments)?;
        let from = named.map_or_else(|| source::start(loaded, start), Ok)?;
        return Ok((from, point, times));
    }
    if !arguments.at.is_empty() || arguments.points.is_some() {
        return Err(Stop::Usage(
            "--at and --points name instants of a motion; say --about nominal or --about run"
                .to_owned(),
        ));
    }
    Ok((source::start(loaded, start)?, point, Vec::new()))
}

/// Refuses to close the loops of controllers that a model does not have.
pub(super) fn refuse_without_controllers(loaded: &Loaded) -> Result<(), Stop> {
    if loaded.spec.controller.is_empty() {
        return Err(Stop::Usage(
            "--closed-loop closes the loops of controllers, and the model has no [[controller]]"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Names of the actuators that a limit holds back where a model was linearised.
pub(super) fn saturated(loaded: &Loaded, found: &Linearized) -> Vec<String> {
    let actuators = &loaded.spec.actuator;
    let name = |at: usize| Some(actuators.get(at)?.name.clone());
    found.saturated().into_iter().filter_map(name).collect()
}

/// What to know of a joint whose stop presses.
pub(super) fn pressed_in_words(joint: &str) -> String {
    format!(
        "\nThe stop of {joint} presses there: in these equations it is a spring and damper that holds either way."
    )
}

/// What an analysis that ended early says.
pub(super) fn stopped(error: AnalysisError) -> Stop {
    match error {
        AnalysisError::Stopped { at_s } => {
            Stop::Interrupted(format!("interrupted at {} s", rounded(at_s, 6)))
        }
        error => error.into(),
    }
}

/// Instants of a motion of the model, or of one that begins on the way.
fn instants(
    spec: &ModelSpec,
    from_s: Option<f64>,
    arguments: &OperatingPointArguments,
) -> Result<Vec<f64>, Stop> {
    run::refuse_outside(&arguments.at, spec)?;
    let start_s = from_s.unwrap_or(spec.simulation.start_s);
    let points = arguments.points.unwrap_or(USUAL_POINTS);
    let found = instants_of_motion(&spec.simulation, start_s, &arguments.at, points);
    found.map_err(|outside| {
        Stop::Usage(format!(
            "--at {} is before the state that --from names, at {} s; name later instants",
            outside.at_s,
            short(outside.start_s)
        ))
    })
}
