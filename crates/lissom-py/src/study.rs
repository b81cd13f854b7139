//! Studies of a mechanism: equilibrium, linear models, trust.

use std::convert::Infallible;
use std::time::Instant;

use lissom::converge::{ConvergeOptions, converge};
use lissom::inverse::{Compensation, FlexibleOptions, flexible_inverse_dynamics, inverse_dynamics};
use lissom::shaping::shaped_modes;
use lissom::spec::ModelSpec;
use lissom::{
    AnalysisError, Complex, DrivenJoints, Flow, Interpolation, ModeAt, ModesOptions,
    OperatingPoint, OutputOrder, PerturbOptions, Stability, Terms, sample_instants_from,
};
use lissom_io::compare::{Choice, Comparison, Runs, refuse_nodes, with_choices};
use lissom_io::converge::{ConvergenceReport, RunCost};
use lissom_io::linear::{USUAL_POINTS, evenly, instants_of_motion};
use lissom_io::summary::Summary;
use lissom_io::{inverse, linear, perturb, size};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

use crate::arrays::{Array, shaped};
use crate::error::{OrRaise, OrRefuse, Raise, interruption};
use crate::mechanism::Mechanism;
use crate::recording::given;
use crate::state::State;
use crate::watch::watched;

pub(crate) fn json(object: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(object).or_refuse()
}

/// A mechanism and a state of it.
pub(crate) fn at<'a, 'py>(
    mechanism: &'a Bound<'py, Mechanism>,
    state: &'a Bound<'py, State>,
) -> PyResult<(Python<'py>, &'a Mechanism, &'a lissom::State)> {
    let own = mechanism.get();
    Ok((mechanism.py(), own, state.get().of(own)?))
}

/// Does something that takes its time: what came of it, or the exception that ended it.
pub(crate) fn answered<T: Send, E: Raise + Send>(
    py: Python<'_>,
    work: impl Send + FnOnce(&mut dyn FnMut(f64) -> Flow) -> Result<T, E>,
) -> PyResult<T> {
    match watched(py, work) {
        (found, None) => found.or_raise(py),
        (_, Some(interrupted)) => Err(interruption(py, interrupted)),
    }
}

/// Something of a mode at an instant, by name.
type Named = (&'static str, fn(&ModeAt) -> Option<f64>);

fn operating_point(name: &str) -> PyResult<OperatingPoint> {
    Ok(match name {
        "state" => OperatingPoint::Start,
        "equilibrium" => OperatingPoint::Equilibrium,
        "nominal" => OperatingPoint::Nominal,
        "run" => OperatingPoint::Run,
        _ => {
            return Err(PyValueError::new_err(format!(
                "about is {name:?}; it can be \"state\", \"equilibrium\", \"nominal\" or \"run\""
            )));
        }
    })
}

fn terms(case: usize) -> PyResult<Terms> {
    let found = case.checked_sub(1).and_then(|at| Terms::CASES.get(at));
    found
        .copied()
        .ok_or_else(|| PyValueError::new_err(format!("case is {case}; there are cases 1 to 5")))
}

/// The equilibrium near a state, every channel there, what becomes of it when it is touched, and in how many parts the load was added.
#[pyfunction]
pub(crate) fn find_equilibrium<'py>(
    mechanism: &Bound<'py, Mechanism>,
    state: &Bound<'py, State>,
) -> PyResult<(State, Bound<'py, PyDict>, Option<String>, usize)> {
    let (py, own, near) = at(mechanism, state)?;
    let found = answered(py, |watch| own.mechanism.equilibrium_watched(near, watch))?;
    let stability = found.stability.map(|stability| match stability {
        Stability::Stable => "stable".to_owned(),
        Stability::Indifferent { name } => format!("indifferent in {name}"),
        Stability::Unstable { name } => format!("unstable in {name}"),
    });
    let recording = given(py, &found.recording)?;
    let rest = State::new(mechanism, found.state);
    Ok((rest, recording, stability, found.parts))
}

/// Linearised equations as arrays and names. `chosen`: the inputs that something drives instead of all, and controllers in the loop.
#[pyfunction]
pub(crate) fn linearized<'py>(
    mechanism: &Bound<'py, Mechanism>,
    state: &Bound<'py, State>,
    about: &str,
    instants: Instants,
    chosen: (bool, bool),
) -> PyResult<Bound<'py, PyDict>> {
    let (py, own, from) = at(mechanism, state)?;
    let (driven, closed_loop) = chosen;
    let about = operating_point(about)?;
    let times_s = instants.of(own, from, about)?;
    let found = answered(py, |watch| {
        let order = OutputOrder::Second;
        let found = (own.mechanism).linearize_to(from, about, &times_s, order, watch)?;
        if closed_loop {
            own.mechanism.with_controllers(&found)
        } else {
            Ok(found)
        }
    })?;
    let found = if driven {
        found.with_inputs(&found.driven_inputs)
    } else {
        found
    };
    let arrays = linear::arrays(&found).or_raise(py)?;
    let told = PyDict::new(py);
    for array in arrays.numbers {
        told.set_item(array.name, shaped(py, array.values, &array.shape)?)?;
    }
    for (name, texts) in arrays.texts {
        told.set_item(name, texts)?;
    }
    Ok(told)
}

/// Modes of frozen equations as arrays and names. `joints`: whether driven ones are free, and whether controllers act.
#[pyfunction]
pub(crate) fn find_modes<'py>(
    mechanism: &Bound<'py, Mechanism>,
    state: &Bound<'py, State>,
    about: &str,
    instants: Instants,
    joints: (bool, bool),
    case: usize,
    count: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (py, own, from) = at(mechanism, state)?;
    let (about, terms) = (operating_point(about)?, terms(case)?);
    if !terms.inertia {
        return Err(PyValueError::new_err(format!(
            "case is {case}, which is quasi-static; frequencies know cases 1, 3 and 5"
        )));
    }
    let times_s = instants.of(own, from, about)?;
    let (free, closed_loop) = joints;
    let options = ModesOptions {
        joints: DrivenJoints { free, closed_loop },
        terms,
        count,
    };
    let (frozen, tracked) = answered(py, |watch| {
        (own.mechanism).modes(from, about, &times_s, options, watch)
    })?;
    let told = PyDict::new(py);
    told.set_item("time_s", PyArray1::from_slice(py, &tracked.times))?;
    let all = || tracked.modes.iter().flatten();
    let shape = [tracked.modes.len(), tracked.times.len()];
    let numbers: [Named; 4] = [
        ("frequency_rad_per_s", ModeAt::frequency),
        ("damping_ratio", ModeAt::damping_ratio),
        ("growth_per_s", |at| at.roots.map(|_| at.growth_rate())),
        ("mac", |at| Some(at.mac)),
    ];
    for (name, of) in numbers {
        let values = all().map(|at| of(at).unwrap_or(f64::NAN)).collect();
        told.set_item(name, shaped(py, values, &shape)?)?;
    }
    let nowhere = Complex::new(f64::NAN, f64::NAN);
    let roots = all().flat_map(|at| at.roots.unwrap_or([nowhere; 2]));
    let roots = parts(py, roots, &[shape[0], shape[1], 2])?;
    told.set_item("eigenvalues", roots)?;
    let growing = (tracked.growing.iter())
        .map(|own| parts(py, own.iter().copied(), &[own.len()]))
        .collect::<PyResult<Vec<_>>>()?;
    told.set_item("growing", growing)?;
    let further = (tracked.further.iter())
        .map(|own| parts(py, own.iter().copied(), &[own.len()]))
        .collect::<PyResult<Vec<_>>>()?;
    told.set_item("further", further)?;
    told.set_item("judged_all", tracked.judged_all)?;
    let shapes = all().flat_map(|at| at.shape.iter().copied()).collect();
    let shape = [shape[0], shape[1], tracked.coordinates.len()];
    told.set_item("shape", shaped(py, shapes, &shape)?)?;
    let name = |places: &[usize]| -> Vec<String> {
        let labels = places.iter().map(|&at| frozen.coordinates[at].name.clone());
        labels.collect()
    };
    told.set_item("coordinates", name(&tracked.coordinates))?;
    told.set_item("rigid", name(&tracked.rigid))?;
    let vibrating = shaped_modes(&tracked).into_iter();
    let vibrating = vibrating.map(|own| (own.frequency_rad_per_s, own.damping_ratio));
    told.set_item("vibrating", vibrating.collect::<Vec<_>>())?;
    told.set_item("held", name(&frozen.held))?;
    let encounters = tracked.encounters.into_iter();
    let encounters = encounters.map(|met| (met.time, met.modes, met.kind.key()));
    told.set_item("encounters", encounters.collect::<Vec<_>>())?;
    Ok(told)
}

/// What drives the motion of the model, at the instants that a run records or those that are named, and what is said of it, as JSON. `flexible`: how the bending of
/// links is taken into account, and the marker whose path is kept.
#[pyfunction]
pub(crate) fn inverted<'py>(
    mechanism: &Bound<'py, Mechanism>,
    times_s: Vec<f64>,
    flexible: (Option<String>, Option<String>),
) -> PyResult<(Bound<'py, PyDict>, String)> {
    let (py, own) = (mechanism.py(), mechanism.get());
    refuse_too_large(own, &own.loaded.spec, None)?;
    let simulation = &own.loaded.spec.simulation;
    let times_s = if times_s.is_empty() {
        sample_instants_from(&own.loaded.spec, simulation.start_s, &[])
    } else {
        instants_of_motion(simulation, simulation.start_s, &times_s, 1)
            .map_err(|error| PyValueError::new_err(format!("times_s: {error}")))?
    };
    let (Some(how), marker) = flexible else {
        let found = answered(py, |watch| {
            inverse_dynamics(&own.mechanism, &times_s, watch)
        })?;
        let summary = inverse::summary(&own.loaded, &found);
        return Ok((given(py, &found.recording)?, summary.to_string()));
    };
    let compensation = compensation(&how)?;
    let options = FlexibleOptions {
        marker,
        compensation,
    };
    let found = answered(py, |watch| {
        flexible_inverse_dynamics(&own.mechanism, &times_s, &options, watch)
    })?;
    let summary = inverse::flexible_summary(&own.loaded, &found, compensation);
    Ok((given(py, &found.inverse.recording)?, summary.to_string()))
}

fn compensation(name: &str) -> PyResult<Compensation> {
    let all = [
        Compensation::QuasiStatic,
        Compensation::Causal,
        Compensation::Stable,
    ];
    let mut all = all.into_iter();
    all.find(|own| inverse::method(*own) == name)
        .ok_or_else(|| {
            PyValueError::new_err(format!(
                "flexible is {name:?}; it can be \"quasi-static\", \"causal\" or \"stable\""
            ))
        })
}

/// Complex numbers as pairs of their parts, in an array of a shape with one more axis.
pub(crate) fn parts<'py>(
    py: Python<'py>,
    numbers: impl Iterator<Item = Complex<f64>>,
    shape: &[usize],
) -> PyResult<Array<'py>> {
    let values = numbers.flat_map(|number| [number.re, number.im]).collect();
    shaped(py, values, &[shape, &[2]].concat())
}

/// The run of the linear system along the nominal motion, what is said of it, as JSON, and why it ended early, if it did. `order`: whether A and B are interpolated
/// in place of M, C and K, and whether markers move to first order only.
#[pyfunction]
pub(crate) fn perturbed<'py>(
    mechanism: &Bound<'py, Mechanism>,
    state: &Bound<'py, State>,
    points: usize,
    case: usize,
    order: (bool, bool),
) -> PyResult<(Bound<'py, PyDict>, String, Option<Py<PyAny>>)> {
    let (py, own, from) = at(mechanism, state)?;
    let (state_space, first_order) = order;
    let options = PerturbOptions {
        terms: terms(case)?,
        interpolation: if state_space {
            Interpolation::StateSpace
        } else {
            Interpolation::Matrices
        },
        order: if first_order {
            OutputOrder::First
        } else {
            OutputOrder::Second
        },
    };
    let spec = &own.loaded.spec;
    let duration_s = left_s(own, from)?;
    refuse_too_large(own, spec, None)?;
    let times_s = evenly(from.time_s, duration_s, points);
    let samples = sample_instants_from(spec, from.time_s, &[]);
    let (run, costs_s) = answered(py, |watch| {
        let (mechanism, began) = (&own.mechanism, Instant::now());
        let times_s = mechanism.with_breaks(&times_s)?;
        let found = mechanism.linearize(from, OperatingPoint::Nominal, &times_s, watch)?;
        let linearized_s = began.elapsed().as_secs_f64();
        let run = mechanism.perturb(&found, &samples, options, watch)?;
        let solved_s = began.elapsed().as_secs_f64() - linearized_s;
        Ok::<_, AnalysisError>((run, [linearized_s, solved_s]))
    })?;
    let summary = perturb::summary(&own.loaded, &run, case, points, costs_s);
    let failure = run.failure.as_ref().map(|error| error.raise(py));
    let failure = failure.map(|error| error.into_value(py).into_any());
    let told = given(py, &run.recording)?;
    Ok((told, summary.to_string(), failure))
}

/// How accurate a run is, as JSON.
#[pyfunction]
pub(crate) fn converged(
    mechanism: &Bound<'_, Mechanism>,
    state: Option<&Bound<'_, State>>,
    channels: Option<Vec<String>>,
    within: f64,
    cross_check: bool,
) -> PyResult<String> {
    let (py, own) = (mechanism.py(), mechanism.get());
    refuse_meaningless(within)?;
    refuse_unknown_channels(own, channels.as_deref())?;
    refuse_too_large(own, &own.loaded.spec, None)?;
    let from = state.map(|state| state.get().of(own)).transpose()?;
    let options = ConvergeOptions {
        channels: channels.as_deref(),
        within,
        from,
        cross_check,
    };
    let mut costs = Vec::new();
    let found = answered(py, |watch| {
        converge(&own.mechanism, &options, &mut |task| {
            let began = Instant::now();
            let run = task.simulate(watch);
            costs.push(RunCost::of(task, &run, began.elapsed().as_secs_f64()));
            run
        })
    })?;
    json(&ConvergenceReport::new(&own.loaded, found, costs))
}

/// Runs with several fidelities held against each other, as JSON.
#[pyfunction]
pub(crate) fn compared(
    mechanism: &Bound<'_, Mechanism>,
    fidelities: Vec<String>,
    state: Option<&Bound<'_, State>>,
    channels: Option<Vec<String>>,
    within: f64,
) -> PyResult<String> {
    let (py, own) = (mechanism.py(), mechanism.get());
    refuse_nodes(&own.loaded).or_refuse()?;
    refuse_meaningless(within)?;
    refuse_unknown_channels(own, channels.as_deref())?;
    refuse_too_large(own, &own.loaded.spec, None)?;
    let choices = if fidelities.is_empty() {
        Choice::USUAL.to_vec()
    } else {
        let parsed = fidelities.iter().map(|name| name.parse::<Choice>());
        parsed.collect::<Result<Vec<_>, _>>().or_refuse()?
    };
    let models = with_choices(&own.loaded, &choices).or_raise(py)?;
    let from = state.map(|state| state.get().of(own)).transpose()?;
    let (runs, interrupted) = watched(py, |watch| {
        Runs::of(&own.loaded, models, from, |task| {
            let began = Instant::now();
            let run = task.simulate(watch);
            let wall_s = began.elapsed().as_secs_f64();
            let summary = Summary::new(&task.model, &run, &[], wall_s);
            Ok::<_, Infallible>((run, summary))
        })
    });
    let Ok(runs) = runs;
    match interrupted {
        Some(interrupted) => Err(interruption(py, interrupted)),
        None => json(&Comparison::new(&runs, channels.as_deref(), within)),
    }
}

/// How long the simulation of the model goes on after a state.
fn left_s(own: &Mechanism, from: &lissom::State) -> PyResult<f64> {
    let left_s = own.loaded.spec.simulation.end_s() - from.time_s;
    if left_s > 0.0 {
        return Ok(left_s);
    }
    Err(PyValueError::new_err(
        "the state is where the simulation ends; lengthen simulation.duration_s of the model",
    ))
}

/// Instants at which a motion is looked at: those that are named, rising, or so many evenly to the end of the simulation.
#[derive(FromPyObject)]
pub(crate) struct Instants(Vec<f64>, Option<usize>);

impl Instants {
    /// Those of a study that begins at a state; none where it has no motion.
    fn of(
        self,
        own: &Mechanism,
        from: &lissom::State,
        about: OperatingPoint,
    ) -> PyResult<Vec<f64>> {
        let Self(named, points) = self;
        if !matches!(about, OperatingPoint::Nominal | OperatingPoint::Run) {
            return match (named.is_empty(), points) {
                (true, None) => Ok(named),
                _ => Err(PyValueError::new_err(
                    "times_s and points are instants of a motion; say about=\"nominal\" or about=\"run\"",
                )),
            };
        }
        if !named.is_empty() && points.is_some() {
            return Err(PyValueError::new_err(
                "times_s names the instants and points says how many; give one of them",
            ));
        }
        if named.is_empty() {
            left_s(own, from)?;
        }
        let simulation = &own.loaded.spec.simulation;
        let points = points.unwrap_or(USUAL_POINTS);
        instants_of_motion(simulation, from.time_s, &named, points)
            .map_err(|error| PyValueError::new_err(format!("times_s: {error}")))
    }
}

/// Refuses a difference that nothing is below.
fn refuse_meaningless(within: f64) -> PyResult<()> {
    if within > 0.0 && within.is_finite() {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "within is {within}, expected a positive part, for example 0.01"
    )))
}

/// Refuses a recording of some channels, all if absent, that would not fit into memory.
pub(crate) fn refuse_too_large(
    own: &Mechanism,
    spec: &ModelSpec,
    channels: Option<&[String]>,
) -> PyResult<()> {
    size::refuse_too_large(&own.mechanism, spec, channels).or_refuse()
}

/// Refuses beginnings that no channel has.
pub(crate) fn refuse_unknown_channels(own: &Mechanism, asked: Option<&[String]>) -> PyResult<()> {
    // a mechanism that cannot be placed says so when it runs
    let (Some(asked), Ok(signals)) = (asked, own.mechanism.signals()) else {
        return Ok(());
    };
    let unknown = signals.unknown(asked);
    if unknown.is_empty() {
        return Ok(());
    }
    let unknown: Vec<String> = unknown.iter().map(|name| format!("{name:?}")).collect();
    Err(PyValueError::new_err(format!(
        "no channel begins with {}; mechanism.channels has all",
        unknown.join(", ")
    )))
}
