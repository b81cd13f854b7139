//! Mechanisms and their states: names, and what the equations say of states.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use lissom::{Coordinate, EvaluateError, Evaluator, RowQuantity, StateRows};
use lissom_io::load::Loaded;
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{
    contiguous, finite, leading, numbers, refuse_without_coordinates, result, rows, shaped, written,
};
use crate::error::{run_error, simulation_error};
use crate::evaluation::{Free, each};
use crate::model::Model;
use crate::state::State;

/// A mechanism, with workspaces to evaluate it.
#[pyclass(frozen, subclass, module = "lissom._native")]
#[expect(
    clippy::struct_field_names,
    reason = "the mechanism of the core that everything is handed over to"
)]
pub(crate) struct Mechanism {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) mechanism: Arc<lissom::Mechanism>,
    free: OnceLock<Free>,
}

type Names = Vec<(String, &'static str)>;

fn named(coordinates: &[Coordinate]) -> Names {
    let pairs = coordinates.iter();
    pairs.map(|own| (own.name.clone(), own.unit)).collect()
}

impl Mechanism {
    fn free(&self, py: Python<'_>) -> PyResult<&Free> {
        if let Some(free) = self.free.get() {
            return Ok(free);
        }
        let made = py.detach(|| Free::of(&self.mechanism));
        let made = made.map_err(|error: EvaluateError| simulation_error(py, &error))?;
        Ok(self.free.get_or_init(|| made))
    }

    /// Position and velocity of a state with every joint free, side by side.
    fn free_x(&self, py: Python<'_>, free: &Free, state: &State) -> PyResult<Vec<f64>> {
        let its = state.of(self)?;
        let own = self.mechanism.coordinates_at(its);
        let own = own.map_err(|error| simulation_error(py, &error))?;
        let same = |at: usize| {
            let names = own[at].iter().map(|coordinate| &coordinate.name);
            names.eq(free.coordinates[at].iter().map(|c| &c.name))
        };
        if same(0) && same(1) {
            return Ok(state.x());
        }
        let found = self.mechanism.released_state(its, &free.mechanism);
        let found = found.map_err(|error| simulation_error(py, &error))?;
        Ok([found.position, found.velocity].concat())
    }

    /// Evaluates something of every state and returns it as one array: the leading axes of the states, then those of `shape`, which
    /// goes by the number of velocities. The interpreter is free meanwhile.
    fn evaluated<'py>(
        &self,
        asked: &Asked<'_, 'py>,
        shape: fn(usize) -> Vec<usize>,
        evaluate: impl Sync + Fn(&mut Evaluator, &StateRows<'_>, &mut [f64]),
    ) -> PyResult<Array<'py>> {
        let (py, states) = (asked.states.py(), asked.states);
        let free = self.free(py)?;
        let [n_q, n_v] = free.coordinates.each_ref().map(Vec::len);
        refuse_without_coordinates(n_q + n_v)?;
        let time_s = self.instant_of(states, asked.time_s)?;
        let (of_state, array);
        let (x, axes): (&[f64], &[usize]) = if let Ok(state) = states.cast::<State>() {
            of_state = self.free_x(py, free, state.get())?;
            (&of_state, &[])
        } else {
            array = contiguous(states)?;
            let axes = leading("the array of states", array.shape(), n_q + n_v)?;
            (numbers(&array)?, axes)
        };
        let with = asked.with.as_ref();
        let with = with
            .map(|(what, array)| rows(what, array, axes, n_v))
            .transpose()?;
        let whole: Vec<usize> = axes.iter().copied().chain(shape(n_v)).collect();
        let out = result(py, asked.out, &whole)?;
        let mut filled = out.try_readwrite()?;
        let rows = StateRows {
            time_s,
            motion: x,
            with: with.unwrap_or(&[]),
        };
        free.evaluate(py, &rows, written(&mut filled)?, evaluate)?;
        drop(filled);
        Ok(out)
    }

    fn marker(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        let markers = &self.free(py)?.markers;
        let found = markers.iter().position(|marker| marker == name);
        found.ok_or_else(|| {
            PyValueError::new_err(format!(
                "there is no marker {name:?}; there are {}",
                markers.join(", ")
            ))
        })
    }

    /// The instant that is given, or that at which the model starts.
    fn instant(&self, time_s: Option<f64>) -> PyResult<f64> {
        let time_s = time_s.unwrap_or(self.loaded.spec.simulation.start_s);
        finite("time_s", time_s)
    }

    /// The instant of an evaluation: the one that is given, or that of a state.
    fn instant_of(&self, states: &Bound<'_, PyAny>, time_s: Option<f64>) -> PyResult<f64> {
        let of_state = || Some(states.cast::<State>().ok()?.get().state.time_s);
        self.instant(time_s.or_else(of_state))
    }
}

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// States at which something is evaluated, and where the result goes.
struct Asked<'a, 'py> {
    /// A state, or an array of states.
    states: &'a Bound<'py, PyAny>,
    /// The instant; that of the state, or of the model's start if absent.
    time_s: Option<f64>,
    /// The array to fill; a new one if absent.
    out: Option<&'a Bound<'py, PyAny>>,
    /// Rows that belong to the states, and what they are called.
    with: Option<(&'static str, PyReadonlyArrayDyn<'py, f64>)>,
}

impl<'a, 'py> Asked<'a, 'py> {
    fn of(
        states: &'a Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&'a Bound<'py, PyAny>>,
    ) -> Self {
        Self {
            states,
            time_s,
            out,
            with: None,
        }
    }
}

#[pymethods]
impl Mechanism {
    #[new]
    fn new(model: &Bound<'_, Model>) -> Self {
        let loaded = Arc::clone(&model.get().loaded);
        let mechanism = Arc::new(loaded.mechanism.clone());
        Self {
            loaded,
            mechanism,
            free: OnceLock::new(),
        }
    }

    /// Names and units of the positions and of the velocities of its states.
    #[pyo3(name = "_coordinates")]
    fn coordinates(&self, py: Python<'_>) -> PyResult<(Names, Names)> {
        let found = self.mechanism.coordinates();
        let [positions, velocities] = found.map_err(|error| simulation_error(py, &error))?;
        Ok((named(&positions), named(&velocities)))
    }

    /// The same with every joint free: what arrays of states and forces go by.
    #[pyo3(name = "_free_coordinates")]
    fn free_coordinates(&self, py: Python<'_>) -> PyResult<(Names, Names)> {
        let [positions, velocities] = &self.free(py)?.coordinates;
        Ok((named(positions), named(velocities)))
    }

    /// Everything that can be recorded: name, unit, and whether it is a state, an input, an output or for the audit.
    #[pyo3(name = "_signals")]
    fn signals(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str, String)>> {
        let signals = py.detach(|| self.mechanism.signals());
        let signals = signals.map_err(|error| run_error(py, &error))?;
        let told = |signal: &lissom::Signal| {
            let kind = format!("{:?}", signal.kind).to_lowercase();
            (signal.name.clone(), signal.unit, kind)
        };
        Ok(signals.iter().map(told).collect())
    }

    /// Names of the inputs of the model.
    #[pyo3(name = "_input_names")]
    fn input_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let signals = py.detach(|| self.mechanism.signals());
        let signals = signals.map_err(|error| run_error(py, &error))?;
        Ok(signals.inputs().map(|signal| signal.name.clone()).collect())
    }

    #[pyo3(name = "_markers")]
    fn markers(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.free(py)?.markers.clone())
    }

    /// The state in which the model starts: as written, in equilibrium or quasi-static, as `simulation.initial` says.
    fn start(slf: &Bound<'_, Self>) -> PyResult<State> {
        let py = slf.py();
        let own = slf.get();
        let found = py.detach(|| own.mechanism.start());
        let state = found.map_err(|error| run_error(py, &error))?;
        Ok(State::new(slf, state))
    }

    /// The state of some values by name, and of the model for the rest.
    #[pyo3(name = "_state_of")]
    fn state_of(
        slf: &Bound<'_, Self>,
        values: BTreeMap<String, f64>,
        time_s: Option<f64>,
    ) -> PyResult<State> {
        let (py, own) = (slf.py(), slf.get());
        let time_s = own.instant(time_s)?;
        let found = py.detach(|| own.mechanism.state(time_s, &values));
        let state = found.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(State::new(slf, state))
    }

    /// The state of positions and velocities as they stand in an array, in the order of `positions` and `velocities`.
    #[pyo3(signature = (x, *, time_s=None))]
    fn state_at(
        slf: &Bound<'_, Self>,
        x: &Bound<'_, PyAny>,
        time_s: Option<f64>,
    ) -> PyResult<State> {
        let own = slf.get();
        let written = own.mechanism.written();
        let (n_q, n_v) = (written.position.len(), written.velocity.len());
        let array = contiguous(x)?;
        if array.shape() != [n_q + n_v] {
            return Err(PyValueError::new_err(format!(
                "a state has {n_q} positions and {n_v} velocities, and the array has the shape {:?}",
                array.shape()
            )));
        }
        let x: Vec<f64> = array.as_array().iter().copied().collect();
        if let Some(at) = x.iter().position(|value| !value.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "entry {at} of the state is {}, expected a finite number",
                x[at]
            )));
        }
        let (position, velocity) = x.split_at(n_q);
        let time_s = own.instant(time_s)?;
        let state = lissom::State::new(time_s, position.to_vec(), velocity.to_vec());
        Ok(State::new(slf, state))
    }

    /// A state as it was saved.
    #[pyo3(name = "_state_from_json")]
    fn state_from_json(slf: &Bound<'_, Self>, json: &str) -> PyResult<State> {
        State::from_json(slf, json)
    }

    /// A state with every joint free, as evaluations take it: positions, then velocities.
    fn free_state<'py>(&self, state: &Bound<'py, State>) -> PyResult<Array<'py>> {
        let py = state.py();
        let x = self.free_x(py, self.free(py)?, state.get())?;
        let length = x.len();
        shaped(py, x, &[length])
    }

    /// The mass matrix, n × n, in kg, kg m and kg m² by the units of the velocities. Where loops close, a tree has them cut.
    #[pyo3(signature = (state, *, time_s=None, out=None))]
    fn mass_matrix<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let asked = Asked::of(state, time_s, out);
        self.evaluated(
            &asked,
            |n| vec![n, n],
            |evaluator, rows, mass| {
                evaluator.evaluate_rows(RowQuantity::MassMatrix, rows, mass);
            },
        )
    }

    /// The generalised force, in N or N m, that holds all accelerations at zero: gravity, springs, friction, velocity terms.
    #[pyo3(signature = (state, *, time_s=None, out=None))]
    fn bias<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let asked = Asked::of(state, time_s, out);
        self.evaluated(
            &asked,
            |n| vec![n],
            |evaluator, rows, bias| {
                evaluator.evaluate_rows(RowQuantity::InverseDynamics, rows, bias);
            },
        )
    }

    /// Accelerations under a generalised force in N or N m (none if absent), in m/s² or rad/s². Loops stay closed.
    #[pyo3(signature = (state, force=None, *, time_s=None, out=None))]
    fn forward_dynamics<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        force: Option<&Bound<'py, PyAny>>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let force = force.map(contiguous).transpose()?;
        let asked = Asked {
            with: force.map(|force| ("force", force)),
            ..Asked::of(state, time_s, out)
        };
        self.evaluated(
            &asked,
            |n| vec![n],
            |evaluator, rows, found| {
                evaluator.evaluate_rows(RowQuantity::ForwardDynamics, rows, found);
            },
        )
    }

    /// The generalised force, in N or N m, of accelerations. Where loops close, a tree has them cut.
    #[pyo3(signature = (state, acceleration, *, time_s=None, out=None))]
    fn inverse_dynamics<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        acceleration: &Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let asked = Asked {
            with: Some(("acceleration", contiguous(acceleration)?)),
            ..Asked::of(state, time_s, out)
        };
        self.evaluated(
            &asked,
            |n| vec![n],
            |evaluator, rows, force| {
                evaluator.evaluate_rows(RowQuantity::InverseDynamics, rows, force);
            },
        )
    }

    /// Kinetic energy, strain energy, energy of gravity.
    #[pyo3(name = "_energies", signature = (state, *, time_s=None, out=None))]
    fn energies<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let asked = Asked::of(state, time_s, out);
        self.evaluated(
            &asked,
            |_| vec![3],
            each(|evaluator, at, found| {
                let energy = evaluator.energy_and_momentum(at.time_s, at.state());
                found.copy_from_slice(&[energy.kinetic, energy.strain, energy.gravity]);
            }),
        )
    }

    /// Rotation and position of a marker in the ground frame, as a 4 × 4 matrix; positions in m.
    #[pyo3(signature = (state, marker, *, time_s=None, out=None))]
    fn marker_pose<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        marker: &str,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let marker = self.marker(state.py(), marker)?;
        let asked = Asked::of(state, time_s, out);
        self.evaluated(
            &asked,
            |_| vec![4, 4],
            each(|evaluator, at, found| {
                let Some(motion) = evaluator.marker(at.time_s, at.state(), marker) else {
                    return found.fill(f64::NAN);
                };
                let (rotation, position) = (motion.pose.rotation.0, motion.pose.translation.0);
                for row in 0..3 {
                    found[4 * row..][..3].copy_from_slice(&rotation[row]);
                    found[4 * row + 3] = position[row];
                }
                found[12..].copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
            }),
        )
    }

    /// Angular velocity in rad/s and then velocity in m/s of a marker, in ground axes.
    #[pyo3(signature = (state, marker, *, time_s=None, out=None))]
    fn marker_twist<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        marker: &str,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let marker = self.marker(state.py(), marker)?;
        let asked = Asked::of(state, time_s, out);
        self.evaluated(
            &asked,
            |_| vec![6],
            each(|evaluator, at, found| {
                let Some(motion) = evaluator.marker(at.time_s, at.state(), marker) else {
                    return found.fill(f64::NAN);
                };
                found[..3].copy_from_slice(&motion.twist.angular.0);
                found[3..].copy_from_slice(&motion.twist.linear.0);
            }),
        )
    }

    /// The twist of a marker for every velocity at one, in ground axes.
    #[pyo3(name = "_ground_jacobian", signature = (state, marker, *, time_s=None, out=None))]
    fn ground_jacobian<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        marker: &str,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let marker = self.marker(state.py(), marker)?;
        let asked = Asked::of(state, time_s, out);
        self.evaluated(
            &asked,
            |n| vec![6, n],
            each(|evaluator, at, found| {
                evaluator.jacobian(at.time_s, at.position, marker, found);
            }),
        )
    }

    /// Positions after steps in unit time, row by row.
    #[pyo3(name = "_displaced")]
    fn displaced<'py>(
        &self,
        py: Python<'py>,
        position: PyReadonlyArrayDyn<'py, f64>,
        step: PyReadonlyArrayDyn<'py, f64>,
    ) -> PyResult<Array<'py>> {
        let [n_q, n_v] = self.free(py)?.coordinates.each_ref().map(Vec::len);
        self.moved(py, [(position, n_q), (step, n_v)], n_q, Evaluator::displace)
    }

    /// Steps in unit time from positions to others, row by row.
    #[pyo3(name = "_change")]
    fn change<'py>(
        &self,
        py: Python<'py>,
        start: PyReadonlyArrayDyn<'py, f64>,
        end: PyReadonlyArrayDyn<'py, f64>,
    ) -> PyResult<Array<'py>> {
        let [n_q, n_v] = self.free(py)?.coordinates.each_ref().map(Vec::len);
        self.moved(py, [(start, n_q), (end, n_q)], n_v, Evaluator::difference)
    }
}

/// What comes of a row of each of two arrays.
type Move = fn(&mut Evaluator, &[f64], &[f64], &mut [f64]);

impl Mechanism {
    /// Rows of two arrays of their widths with the same axes in front, and what comes of them.
    fn moved<'py>(
        &self,
        py: Python<'py>,
        given: [(PyReadonlyArrayDyn<'py, f64>, usize); 2],
        width: usize,
        moved: Move,
    ) -> PyResult<Array<'py>> {
        refuse_without_coordinates(width)?;
        let [(one, one_width), (other, other_width)] = &given;
        let axes = leading("the first array", one.shape(), *one_width)?;
        let others = rows("the second array", other, axes, *other_width)?;
        if others.len() / other_width != axes.iter().product::<usize>() {
            return Err(PyValueError::new_err(
                "both arrays need the same axes in front",
            ));
        }
        let shape: Vec<usize> = axes.iter().copied().chain([width]).collect();
        let out = result(py, None, &shape)?;
        let mut filled = out.try_readwrite()?;
        let (one, found, free) = (numbers(one)?, written(&mut filled)?, self.free(py)?);
        let made = py.detach(|| {
            let mut evaluator = free.taken()?;
            let pairs = one
                .chunks_exact(*one_width)
                .zip(others.chunks_exact(*other_width));
            for ((one, other), found) in pairs.zip(found.chunks_exact_mut(width)) {
                moved(&mut evaluator, one, other, found);
            }
            free.give_back(evaluator);
            Ok(())
        });
        made.map_err(|error: EvaluateError| simulation_error(py, &error))?;
        drop(filled);
        Ok(out)
    }
}
