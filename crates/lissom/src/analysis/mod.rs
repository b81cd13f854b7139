//! Linear analyses of a model in either formulation: where it is linearised, and what comes of it.

mod error;
mod perturb;

pub use error::AnalysisError;
pub use perturb::{PerturbOptions, PerturbedRun, perturb};

use crate::mechanism::Mechanism;
use crate::mesh::{self, Mesh, MeshLinearizer};
use crate::model::spec::{InitialSpec, SimulationSpec};
use crate::model::{Model, ModelSpec};
use crate::simulate::{
    Ending, LinearizeError, Linearizer, MotionState, Recording, equilibrium, run, settled,
};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{self, Along, Frozen, Labels, Terms, TrackedModes};

/// Where a model is linearised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In its state at the start of a run.
    Start,
    /// Where it rests under its loads, driven joints held.
    Equilibrium,
    /// Along the motion that its inputs and prescribed motions mean, every body undeformed.
    Nominal,
    /// Along its simulated motion.
    Run,
}

/// Linearised equations of a model.
#[derive(Clone, Debug)]
pub struct Linearized {
    /// The equations at one or several states.
    pub along: Along,
    /// Degrees of freedom on which inputs of the model act.
    pub driven: Vec<usize>,
    /// Instants at which inputs and motions are not smooth.
    pub breakpoints: Vec<f64>,
    /// Coordinates that every controller drives, as places among the actuated ones.
    pub controlled: Vec<Vec<usize>>,
    /// Deviation of the start of a run from the first state: coordinates, then rates.
    pub initial: [Vec<f64>; 2],
}

/// Linearises a mechanism, for places with a motion at `times`, which rise. `watch` is told the instant after every
/// state, and during a simulation.
///
/// # Errors
/// When the model has no such state, or its formulation does not know the model.
pub fn linearized(
    mechanism: &Mechanism,
    place: Place,
    times: &[f64],
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Linearized, AnalysisError> {
    let (spec, model) = (mechanism.spec(), mechanism.tree());
    match mechanism.nodal() {
        None => at_states(spec, model, place, times, watch, |tree, states, watch| {
            linearized_tree(spec, tree, states, watch)
        }),
        Some(mesh) => of_nodes(spec, mesh, place, times, watch),
    }
}

/// Instants with those added at which inputs and motions of a model are not smooth, see [`linear::with_breaks`].
///
/// # Errors
/// When the formulation does not know the model.
pub fn with_breaks(mechanism: &Mechanism, times: &[f64]) -> Result<Vec<f64>, AnalysisError> {
    let simulation = &mechanism.spec().simulation;
    let start_s = simulation.start_s;
    let end_s = start_s + simulation.duration_s;
    let breakpoints = match mechanism.nodal() {
        None => Linearizer::new(mechanism.tree()).breakpoints(start_s, end_s),
        Some(mesh) => MeshLinearizer::new(mesh)?.breakpoints(),
    };
    Ok(linear::with_breaks(times, &breakpoints))
}

/// The equations of a model frozen at the states of a place, for modes: joints on which inputs act are held, or `free`. Every state
/// has coordinates of its own, so that mechanisms may move in any way.
///
/// # Errors
/// When the model has no such state, or its formulation does not know the model.
pub fn frozen(
    mechanism: &Mechanism,
    place: Place,
    times: &[f64],
    free: bool,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Frozen, AnalysisError> {
    let (spec, model) = (mechanism.spec(), mechanism.tree());
    match mechanism.nodal() {
        None => at_states(spec, model, place, times, watch, |tree, states, watch| {
            // vibrations that are going on do not count
            let moving = matches!(place, Place::Start | Place::Run);
            let locked = states.iter().map(|state| {
                if moving {
                    tree.locked(state)
                } else {
                    state.clone()
                }
            });
            let states: Vec<MotionState> = locked.collect();
            Ok(tree.frozen(&states, free, watch)?)
        }),
        Some(mesh) => {
            let found = of_nodes(spec, mesh, place, times, watch)?;
            let held: &[usize] = if free { &[] } else { &found.driven };
            Ok(Frozen::new(&found.along, held))
        }
    }
}

fn linearized_tree(
    spec: &ModelSpec,
    linearizer: &mut Linearizer<'_>,
    states: &[MotionState],
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Linearized, AnalysisError> {
    let start_s = spec.simulation.start_s;
    let along = linearizer.along(states, watch)?;
    let names = linearizer.driven();
    let labels = linearizer.labels().coordinates;
    let initial = linearizer.initial_deviation(&states[0]).map(|all| {
        // loops leave out what is solved for
        let kept = along.labels().coordinates.iter();
        kept.map(|kept| (labels.iter().zip(&all)).find(|(label, _)| *label == kept))
            .map(|found| found.map_or(0.0, |(_, value)| *value))
            .collect()
    });
    let controlled = linearizer.controlled();
    Ok(Linearized {
        driven: places_of(along.labels(), &names),
        controlled: controlled
            .iter()
            .map(|names| actuators(&along, names))
            .collect(),
        initial,
        along,
        breakpoints: linearizer.breakpoints(start_s, start_s + spec.simulation.duration_s),
    })
}

/// Asks something of a tree at the states of a place.
fn at_states<T>(
    spec: &ModelSpec,
    model: &Model,
    place: Place,
    times: &[f64],
    watch: &mut dyn FnMut(f64) -> Flow,
    question: impl FnOnce(
        &mut Linearizer<'_>,
        &[MotionState],
        &mut dyn FnMut(f64) -> Flow,
    ) -> Result<T, AnalysisError>,
) -> Result<T, AnalysisError> {
    let start_s = spec.simulation.start_s;
    let resting;
    let mut linearizer = Linearizer::new(model);
    let states = match place {
        Place::Start => {
            resting = settled(model, &spec.simulation)?;
            if let Some(resting) = &resting {
                linearizer = Linearizer::new(resting);
            }
            vec![linearizer.initial_state(start_s)?]
        }
        Place::Equilibrium => {
            let n = model.linkage.velocities.len();
            vec![MotionState {
                time_s: start_s,
                position: equilibrium(model, start_s)?,
                velocity: vec![0.0; n],
                acceleration: vec![0.0; n],
                motors: (model.transmissions.iter())
                    .map(|gear| [gear.initial_position, 0.0, 0.0])
                    .collect(),
            }]
        }
        Place::Nominal => {
            // the path is followed from where it starts
            linearizer.nominal_state(start_s)?;
            let at = |&time: &f64| linearizer.nominal_state(time);
            times.iter().map(at).collect::<Result<_, _>>()?
        }
        Place::Run => {
            let run = run(model, &spec.simulation, times, None, watch);
            completed(run.ending)?;
            (0..run.recording.len())
                .map(|sample| linearizer.recorded_state(&run.recording, sample))
                .collect::<Result<_, _>>()?
        }
    };
    question(&mut linearizer, &states, watch)
}

fn of_nodes(
    spec: &ModelSpec,
    mesh: &Mesh,
    place: Place,
    times: &[f64],
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Linearized, AnalysisError> {
    let mut linearizer = MeshLinearizer::new(mesh)?;
    let (position, velocity) = (mesh.initial_position(), mesh.initial_velocity());
    let start_s = spec.simulation.start_s;
    let mut points = Vec::new();
    match place {
        Place::Start if spec.simulation.initial == InitialSpec::Written => {
            points.push(linearizer.moving(start_s, position, velocity)?);
        }
        Place::Start => {
            let position = mesh::positions_at_rest(mesh, &spec.simulation)?;
            let still = vec![0.0; velocity.len()];
            points.push(linearizer.moving(start_s, &position, &still)?);
        }
        Place::Nominal => {
            for &time in times {
                points.push(linearizer.nominal(time)?);
                if watch(time) == Flow::Stop {
                    return Err(AnalysisError::Stopped { at_s: time });
                }
            }
        }
        Place::Run => {
            let run = mesh::run(mesh, &spec.simulation, times, None, watch);
            completed(run.ending)?;
            for sample in 0..run.recording.len() {
                points.push(linearizer.recorded(&run.recording, sample)?);
            }
        }
        Place::Equilibrium => {
            let simulation = SimulationSpec {
                initial: InitialSpec::Equilibrium,
                ..spec.simulation.clone()
            };
            let position = mesh::positions_at_rest(mesh, &simulation)?;
            points.push(linearizer.resting(start_s, &position)?);
        }
    }
    let less = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
    let initial = match (points.first(), linearizer.first_position()) {
        (Some(first), Some(from)) => [
            mesh.deviation(position, from),
            less(velocity, &first.velocity),
        ],
        _ => Default::default(),
    };
    Ok(Linearized {
        driven: linearizer.driven(),
        breakpoints: linearizer.breakpoints(),
        controlled: linearizer.controlled(),
        initial,
        along: Along::new(linearizer.labels(), points, mesh.mechanism.actuated_dofs()),
    })
}

fn completed(ending: Ending) -> Result<(), AnalysisError> {
    match ending {
        Ending::Completed => Ok(()),
        Ending::Stopped { at_s } => Err(AnalysisError::Stopped { at_s }),
        Ending::Failed(error) => Err(AnalysisError::Run(Box::new(error))),
    }
}

/// Places among the actuated degrees of freedom, by name.
fn actuators(along: &Along, names: &[String]) -> Vec<usize> {
    let labels = &along.labels().coordinates;
    let place = |name: &String| {
        along
            .actuated()
            .iter()
            .position(|&dof| labels[dof].name == *name)
    };
    names.iter().filter_map(place).collect()
}

/// Degrees of freedom by name.
fn places_of(labels: &Labels, names: &[String]) -> Vec<usize> {
    (0..labels.coordinates.len())
        .filter(|&dof| names.contains(&labels.coordinates[dof].name))
        .collect()
}

/// Frequencies and damping of modes over time, as a recording: `mode_1.frequency` in rad/s and `mode_1.damping_ratio`. What
/// does not exist is not a number.
pub fn mode_recording(modes: &TrackedModes) -> Recording {
    let names = (1..=modes.modes.len()).flat_map(|mode| {
        [
            (format!("mode_{mode}.frequency"), "rad/s"),
            (format!("mode_{mode}.damping_ratio"), "1"),
        ]
    });
    let mut recording = Recording::with_capacity(names, modes.times.len());
    for (point, &time) in modes.times.iter().enumerate() {
        let row: Vec<f64> = (modes.modes.iter())
            .flat_map(|mode| [mode[point].frequency(), mode[point].damping_ratio()])
            .map(|value| value.unwrap_or(f64::NAN))
            .collect();
        recording.push(time, &row);
    }
    recording
}

/// Natural frequencies along a recorded motion of a tree at up to `instants` of its samples, driven joints held: one
/// curve per mode at the samples taken, with their numbers. `None` where the recording or the model does not allow it.
pub fn recorded_frequencies(
    model: &Model,
    recording: &Recording,
    instants: usize,
    count: usize,
) -> Option<(Vec<usize>, TrackedModes)> {
    let last = recording.len().checked_sub(1)?;
    let taken = instants.min(last + 1);
    if taken < 2 {
        return None;
    }
    let samples: Vec<usize> = (0..taken).map(|i| i * last / (taken - 1)).collect();
    let mut linearizer = Linearizer::new(model);
    let states = (samples.iter())
        .map(|&sample| {
            let state = linearizer.recorded_state(recording, sample)?;
            Ok(linearizer.locked(&state))
        })
        .collect::<Result<Vec<_>, LinearizeError>>()
        .ok()?;
    let frozen = linearizer.frozen(&states, false, &mut |_| Flow::Continue);
    let modes = TrackedModes::undamped(&frozen.ok()?, Terms::CASES[0], count).ok()?;
    (!modes.modes.is_empty()).then_some((samples, modes))
}
