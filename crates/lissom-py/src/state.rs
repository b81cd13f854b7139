//! States of mechanisms.

use std::collections::BTreeMap;

use lissom_io::state::StateFile;
use numpy::{PyArray1, PyArrayDyn};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{finite, shaped};
use crate::error::{OrRaise, OrRefuse};
use crate::mechanism::{Mechanism, not_there};
use crate::study::json;

/// Where a mechanism is: positions and velocities by name, with what evaluations and the integrator remember. It never changes.
#[pyclass(frozen, module = "lissom._native")]
pub(crate) struct State {
    pub(crate) state: lissom::State,
    pub(crate) mechanism: Py<Mechanism>,
}

/// What makes a state again, and of what.
type Reduced<'py> = (Bound<'py, PyAny>, (Py<Mechanism>, String));

impl State {
    pub(crate) fn new(mechanism: &Bound<'_, Mechanism>, state: lissom::State) -> Self {
        Self {
            state,
            mechanism: mechanism.clone().unbind(),
        }
    }

    /// The state, where it may be one of a mechanism. One that was pickled is of an equal mechanism, not of the same.
    pub(crate) fn of(&self, mechanism: &Mechanism) -> PyResult<&lissom::State> {
        let own = &self.state;
        if [own.position.len(), own.velocity.len()] == mechanism.counts {
            Ok(own)
        } else {
            Err(PyValueError::new_err(
                "the state belongs to another mechanism",
            ))
        }
    }

    pub(crate) fn x(&self) -> Vec<f64> {
        [&self.state.position[..], &self.state.velocity].concat()
    }

    pub(crate) fn from_json(mechanism: &Bound<'_, Mechanism>, json: &str) -> PyResult<Self> {
        let file: StateFile = serde_json::from_str(json).or_refuse()?;
        let state = file.state(&mechanism.get().mechanism).or_refuse()?;
        Ok(Self::new(mechanism, state))
    }

    fn file(&self, py: Python<'_>) -> PyResult<StateFile> {
        let mechanism = &self.mechanism.bind(py).get().mechanism;
        StateFile::of(mechanism, &self.state).or_raise(py)
    }

    fn named(&self, py: Python<'_>) -> PyResult<[Vec<String>; 2]> {
        let mechanism = &self.mechanism.bind(py).get().mechanism;
        let found = mechanism.coordinates_at(&self.state).or_raise(py)?;
        Ok(found.map(|own| own.into_iter().map(|coordinate| coordinate.name).collect()))
    }
}

#[pymethods]
impl State {
    /// The mechanism that it is a state of.
    #[getter]
    fn mechanism(&self, py: Python<'_>) -> Py<Mechanism> {
        self.mechanism.clone_ref(py)
    }

    /// The instant, in s.
    #[getter]
    fn time_s(&self) -> f64 {
        self.state.time_s
    }

    /// Positions in the order and units of `mechanism.positions`, a copy.
    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.state.position)
    }

    /// Velocities in the order and units of `mechanism.velocities`, a copy.
    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.state.velocity)
    }

    /// States of controllers and actuators by name.
    #[getter]
    fn control(&self, py: Python<'_>) -> PyResult<BTreeMap<String, f64>> {
        Ok(self.file(py)?.control)
    }

    /// Positions, then velocities, a copy.
    #[getter(x)]
    fn side_by_side<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let x = self.x();
        let length = x.len();
        shaped(py, x, &[length])
    }

    /// Names of the positions, then of the velocities.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.named(py)?.concat())
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<f64> {
        let names = self.named(py)?.concat();
        let found = names.iter().position(|own| own == name);
        let at = found
            .ok_or_else(|| PyKeyError::new_err(format!("there is no {name:?}; names() has all")))?;
        Ok(self.x()[at])
    }

    /// The state with other values by name. Where loops close, what is not named is as the model writes it or follows.
    #[pyo3(signature = (values, *, time_s=None))]
    fn replace(
        &self,
        py: Python<'_>,
        values: BTreeMap<String, f64>,
        time_s: Option<f64>,
    ) -> PyResult<Self> {
        let mechanism = self.mechanism.bind(py);
        let mut given: BTreeMap<String, f64> = (self.named(py)?.concat().into_iter())
            .zip(self.x())
            .collect();
        let own = &mechanism.get().mechanism;
        // what is not given may follow where loops close
        if !own.closure_names().is_empty() {
            given.retain(|name, _| values.contains_key(name));
        }
        given.extend(self.control(py)?);
        given.extend(values);
        let time_s = finite("time_s", time_s.unwrap_or(self.state.time_s))?;
        let state = own.state(time_s, &given);
        let state = state.map_err(|error| not_there(&error))?;
        Ok(Self::new(mechanism, state))
    }

    /// The state as `state.json` has it.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.file(py)?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let restore = py.import("lissom.mechanism")?.getattr("_restored_state")?;
        Ok((restore, (self.mechanism.clone_ref(py), self.to_json(py)?)))
    }

    /// The same instant, the same numbers and the same memory.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Self>();
        other.is_ok_and(|other| other.get().state == self.state)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let values = self.named(py)?.concat().into_iter().zip(self.x());
        let values: Vec<String> = values.map(|(name, x)| format!("{name:?}: {x:?}")).collect();
        let time_s = self.state.time_s;
        Ok(format!(
            "State({{{}}}, time_s={time_s:?})",
            values.join(", ")
        ))
    }
}
