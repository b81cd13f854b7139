//! Mechanisms and their states: names, and what the equations say of states.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use lissom::{Coordinate, Evaluator, RowQuantity, StateError};
use lissom_io::load::Loaded;
use lissom_io::state;
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{Array, contiguous, finite, numbers, shaped};
use crate::error::{OrRaise, OrRefuse};
use crate::evaluation::{Asked, Free};
use crate::model::Model;
use crate::recording::{Samples, taken};
use crate::state::State;
use crate::study::answered;

/// A mechanism, with workspaces to evaluate it.
#[pyclass(frozen, subclass, module = "lissom._native")]
#[expect(
    clippy::struct_field_names,
    reason = "the mechanism of the core that everything is handed over to"
)]
pub(crate) struct Mechanism {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) mechanism: Arc<lissom::Mechanism>,
    /// Numbers of positions and of velocities of its states.
    pub(crate) counts: [usize; 2],
    free: OnceLock<Free>,
}

type Names = Vec<(String, &'static str)>;

fn named(coordinates: &[Coordinate]) -> Names {
    let pairs = coordinates.iter();
    pairs.map(|own| (own.name.clone(), own.unit)).collect()
}

/// What is wrong with a state by name.
pub(crate) fn not_there(error: &StateError) -> PyErr {
    let all = match error {
        StateError::Unknown { nearest: None, .. } => {
            "; mechanism.positions and mechanism.velocities have all names"
        }
        _ => "",
    };
    PyValueError::new_err(format!("{error}{all}"))
}

impl Mechanism {
    /// The mechanism with every joint free, made when something is first asked of it.
    pub(crate) fn free(&self, py: Python<'_>) -> PyResult<&Free> {
        if let Some(free) = self.free.get() {
            return Ok(free);
        }
        let made = py.detach(|| Free::of(&self.mechanism)).or_raise(py)?;
        Ok(self.free.get_or_init(|| made))
    }

    /// Position and velocity of a state with every joint free, side by side.
    pub(crate) fn free_x(&self, py: Python<'_>, free: &Free, state: &State) -> PyResult<Vec<f64>> {
        let its = state.of(self)?;
        let own = self.mechanism.coordinates_at(its).or_raise(py)?;
        let same = |at: usize| {
            let names = own[at].iter().map(|coordinate| &coordinate.name);
            names.eq(free.coordinates[at].iter().map(|c| &c.name))
        };
        if same(0) && same(1) {
            return Ok(state.x());
        }
        let found = (self.mechanism.released_state(its, &free.mechanism)).or_raise(py)?;
        Ok([found.position, found.velocity].concat())
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
    pub(crate) fn instant(&self, time_s: Option<f64>) -> PyResult<f64> {
        let time_s = time_s.unwrap_or(self.loaded.spec.simulation.start_s);
        finite("time_s", time_s)
    }
}

#[pymethods]
impl Mechanism {
    #[new]
    fn new(model: &Bound<'_, Model>) -> Self {
        let loaded = Arc::clone(&model.get().loaded);
        let mechanism = Arc::new(loaded.mechanism.clone());
        let written = mechanism.written();
        Self {
            loaded,
            mechanism,
            counts: [written.position.len(), written.velocity.len()],
            free: OnceLock::new(),
        }
    }

    /// Names and units of the positions and of the velocities of its states.
    #[pyo3(name = "_coordinates")]
    fn coordinates(&self, py: Python<'_>) -> PyResult<(Names, Names)> {
        let [positions, velocities] = self.mechanism.coordinates().or_raise(py)?;
        Ok((named(&positions), named(&velocities)))
    }

    /// The same with every joint free: what arrays of states and forces go by.
    #[pyo3(name = "_free_coordinates")]
    fn free_coordinates(&self, py: Python<'_>) -> PyResult<(Names, Names)> {
        let [positions, velocities] = &self.free(py)?.coordinates;
        Ok((named(positions), named(velocities)))
    }

    /// Names and units of everything that can be recorded.
    #[pyo3(name = "_signals")]
    fn signals(&self, py: Python<'_>) -> PyResult<Names> {
        let signals = py.detach(|| self.mechanism.signals()).or_raise(py)?;
        let told = |signal: &lissom::Signal| (signal.name.clone(), signal.unit);
        Ok(signals.iter().map(told).collect())
    }

    /// Names of the inputs of the model.
    #[pyo3(name = "_input_names")]
    fn input_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let signals = py.detach(|| self.mechanism.signals()).or_raise(py)?;
        Ok(signals.inputs().map(|signal| signal.name.clone()).collect())
    }

    #[pyo3(name = "_markers")]
    fn markers(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.free(py)?.markers.clone())
    }

    /// The state in which the model starts: as written, in equilibrium or quasi-static, as `simulation.initial` says.
    fn start(slf: &Bound<'_, Self>) -> PyResult<State> {
        let (py, own) = (slf.py(), slf.get());
        let state = answered(py, |watch| own.mechanism.start_watched(watch))?;
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
        let state = found.map_err(|error| not_there(&error))?;
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
        let [n_q, n_v] = own.counts;
        let array = contiguous(x)?;
        if array.shape() != [n_q + n_v] {
            return Err(PyValueError::new_err(format!(
                "a state has {n_q} positions and {n_v} velocities, and the array has the shape {:?}",
                array.shape()
            )));
        }
        let x = numbers(&array)?;
        if let Some(at) = x.iter().position(|value| !value.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "entry {at} of the state is {}, expected a finite number",
                x[at]
            )));
        }
        let (position, velocity) = x.split_at(n_q);
        let time_s = own.instant(time_s)?;
        let state = lissom::State {
            control: own.mechanism.written().control,
            ..lissom::State::new(time_s, position.to_vec(), velocity.to_vec())
        };
        Ok(State::new(slf, state))
    }

    /// The state that a file or a folder holds, at an instant of it after `@`, as `--from` of the command takes it.
    #[pyo3(name = "_state_named")]
    fn state_named(slf: &Bound<'_, Self>, named: &str) -> PyResult<State> {
        let (py, own) = (slf.py(), slf.get());
        let found = py.detach(|| state::named(named, &own.mechanism));
        Ok(State::new(slf, found.or_raise(py)?))
    }

    /// The state at an instant of a recording.
    #[pyo3(name = "_recorded_state")]
    fn recorded_state(
        slf: &Bound<'_, Self>,
        time_s: PyReadonlyArray1<'_, f64>,
        channels: Samples<'_>,
        at_s: f64,
    ) -> PyResult<State> {
        let (py, own) = (slf.py(), slf.get());
        let recording = taken(&time_s, &channels)?;
        let found = py.detach(|| own.mechanism.recorded_state(&recording, at_s));
        Ok(State::new(slf, found.or_refuse()?))
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
        Asked::of(self, state, time_s, out).in_rows(RowQuantity::MassMatrix)
    }

    /// The generalised force, in N or N m, that holds all accelerations at zero: gravity, springs, friction, velocity terms.
    #[pyo3(signature = (state, *, time_s=None, out=None))]
    fn bias<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        Asked::of(self, state, time_s, out).in_rows(RowQuantity::InverseDynamics)
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
        let asked = Asked::of(self, state, time_s, out).with("force", force)?;
        asked.in_rows(RowQuantity::ForwardDynamics)
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
        let asked = Asked::of(self, state, time_s, out).with("acceleration", Some(acceleration))?;
        asked.in_rows(RowQuantity::InverseDynamics)
    }

    /// Derivatives of the accelerations by displacements, by velocities and by the force.
    #[pyo3(name = "_derivatives", signature = (state, force=None, *, time_s=None, out=None))]
    fn derivatives<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        force: Option<&Bound<'py, PyAny>>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let asked = Asked::of(self, state, time_s, out).with("force", force)?;
        asked.one_by_one(
            |n| vec![3, n, n],
            |evaluator, at, found| {
                evaluator.forward_derivatives(at.time_s, at.state(), at.with, found);
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
        Asked::of(self, state, time_s, out).one_by_one(
            |_| vec![3],
            |evaluator, at, found| {
                let energy = evaluator.energy_and_momentum(at.time_s, at.state());
                found.copy_from_slice(&[energy.kinetic, energy.strain, energy.gravity]);
            },
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
        Asked::of(self, state, time_s, out).one_by_one(
            |_| vec![4, 4],
            |evaluator, at, found| {
                let Some(motion) = evaluator.marker(at.time_s, at.state(), marker) else {
                    return found.fill(f64::NAN);
                };
                let (rotation, position) = (motion.pose.rotation.0, motion.pose.translation.0);
                for row in 0..3 {
                    found[4 * row..][..3].copy_from_slice(&rotation[row]);
                    found[4 * row + 3] = position[row];
                }
                found[12..].copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
            },
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
        Asked::of(self, state, time_s, out).one_by_one(
            |_| vec![6],
            |evaluator, at, found| {
                let Some(motion) = evaluator.marker(at.time_s, at.state(), marker) else {
                    return found.fill(f64::NAN);
                };
                found[..3].copy_from_slice(&motion.twist.angular.0);
                found[3..].copy_from_slice(&motion.twist.linear.0);
            },
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
        Asked::of(self, state, time_s, out).one_by_one(
            |n| vec![6, n],
            |evaluator, at, found| {
                evaluator.jacobian(at.time_s, at.position, marker, found);
            },
        )
    }

    /// Positions after steps in unit time, row by row.
    #[pyo3(name = "_displaced", signature = (position, step, out=None))]
    fn displaced<'py>(
        &self,
        py: Python<'py>,
        position: PyReadonlyArrayDyn<'py, f64>,
        step: PyReadonlyArrayDyn<'py, f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let free = self.free(py)?;
        let [n_q, n_v] = free.counts();
        free.moved(
            py,
            [(position, n_q), (step, n_v)],
            (n_q, out),
            Evaluator::displace,
        )
    }

    /// Steps in unit time from positions to others, row by row.
    #[pyo3(name = "_change", signature = (start, end, out=None))]
    fn change<'py>(
        &self,
        py: Python<'py>,
        start: PyReadonlyArrayDyn<'py, f64>,
        end: PyReadonlyArrayDyn<'py, f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let free = self.free(py)?;
        let [n_q, n_v] = free.counts();
        free.moved(
            py,
            [(start, n_q), (end, n_q)],
            (n_v, out),
            Evaluator::difference,
        )
    }
}
