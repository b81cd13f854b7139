//! The run of a tree.

use super::equations::{Equations, written_state};
use super::equilibrium::equilibrium;
use super::nominal_drives;
use crate::model::Model;
use lissom_core::study::{Run, SimulateOptions, simulate};
use lissom_core::{PlaceError, RunError, State};
use lissom_numerics::integrate::Flow;
use lissom_spec::spec::{ElementCrossings, InitialSpec, SimulationSpec};

/// Integrates `model` as `simulation` says, recording at `samples` the channels that begin with one of
/// `channels`, or all. `watch` is called after every step with the time reached and may stop the run.
pub fn run(
    model: &Model,
    simulation: &SimulationSpec,
    samples: &[f64],
    channels: Option<&[String]>,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Run {
    run_within(model, simulation, samples, channels, f64::INFINITY, watch)
}

/// The same, given up as [`RunError::Diverged`] at the first sample at which a flexible body is displaced by more than
/// `most_lengths` of its length.
pub fn run_within(
    model: &Model,
    simulation: &SimulationSpec,
    samples: &[f64],
    channels: Option<&[String]>,
    most_lengths: f64,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Run {
    let options = SimulateOptions {
        samples,
        channels,
        most_lengths,
    };
    let time_s = simulation.start_s;
    let start = match &simulation.initial {
        InitialSpec::Written => Ok(written_state(model, time_s)),
        initial => {
            let written = written_state(model, time_s);
            equilibrium(model, initial, &written).map(|found| found.state)
        }
    };
    let start = match start {
        Ok(start) => start,
        Err(source) => return Run::refused(RunError::Unsettled { source, time_s }),
    };
    let equations = || equations_at(model, simulation, &start);
    match (equations(), equations()) {
        (Ok(mut dynamics), Ok(mut observed)) => simulate(
            &mut dynamics,
            &mut observed,
            &start,
            simulation,
            &options,
            watch,
        ),
        (Err(error), _) | (_, Err(error)) => Run::refused(error),
    }
}

/// Equations of a model as they start at a state.
pub(crate) fn equations_at<'m>(
    model: &'m Model,
    simulation: &SimulationSpec,
    start: &State,
) -> Result<Equations<'m>, RunError> {
    let time_s = start.time_s;
    // loops that remember may be a little open, as stabilised ones are: they are made where they are closed
    let mut equations = if start.memory.is_empty() {
        Equations::starting_at(model, start)
    } else {
        Equations::new(model)
    };
    equations.locates_crossings = simulation.element_crossings == ElementCrossings::Located;
    equations.loops().map_err(|source| {
        let source = PlaceError {
            reason: source.to_string(),
            part: "the closures",
        };
        RunError::Unplaced { source, time_s }
    })?;
    nominal_drives(model, time_s).map_err(|source| RunError::NominalMotion { source, time_s })?;
    Ok(equations)
}
