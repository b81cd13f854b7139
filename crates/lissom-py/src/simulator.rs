//! A mechanism in the loop.

use std::sync::{Arc, Mutex, MutexGuard};

use lissom::spec::IntegratorSpec;
use lissom::{Inputs, RunError, Simulation};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{contiguous, finite, positive, result, written};
use crate::error::run_error;
use crate::mechanism::Mechanism;
use crate::state::State;

/// A mechanism that is brought forward tick by tick.
#[pyclass(frozen, module = "lissom._native")]
pub(crate) struct Simulator {
    mechanism: Py<Mechanism>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    dt_s: f64,
    under_way: Mutex<UnderWay>,
}

/// A simulation that counts its ticks.
pub(crate) struct UnderWay {
    pub(crate) simulation: Simulation,
    /// Where ticks count from.
    from_s: f64,
    ticks: u64,
}

/// An integrator that tries a whole step from tick to tick first, unless its model says how long the first one is: inputs jump at
/// every tick, and a cautious start behind each would take several times as many evaluations.
fn whole_steps_first(mut integrator: IntegratorSpec, dt_s: f64) -> IntegratorSpec {
    if let Some(own) = integrator.adaptive_mut() {
        let longest = own.max_step_s.unwrap_or(f64::INFINITY);
        own.initial_step_s = own.initial_step_s.or(Some(dt_s.min(longest)));
    }
    integrator
}

impl UnderWay {
    pub(crate) fn new(
        mechanism: &Arc<lissom::Mechanism>,
        start: &lissom::State,
        dt_s: f64,
    ) -> Result<Self, RunError> {
        let integrator = whole_steps_first(mechanism.spec().simulation.integrator, dt_s);
        Ok(Self {
            simulation: Simulation::new(Arc::clone(mechanism), start, &integrator)?,
            from_s: start.time_s,
            ticks: 0,
        })
    }

    /// Chooses what is read, and refuses names that there are not.
    pub(crate) fn choose(&mut self, inputs: &[String], outputs: &[String]) -> PyResult<()> {
        let chosen = self.simulation.set_outputs(outputs);
        chosen.map_err(|error| {
            PyValueError::new_err(format!(
                "no such output: {error}; mechanism.channels has all"
            ))
        })?;
        let known: Vec<&str> = self.simulation.inputs().collect();
        match inputs.iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(wrong) => Err(PyValueError::new_err(format!(
                "there is no input {wrong:?}; the inputs of the model are {}",
                known.join(", ")
            ))),
        }
    }

    /// Inputs are held until the next tick.
    pub(crate) fn step(
        &mut self,
        dt_s: f64,
        names: &[String],
        values: &[f64],
    ) -> Result<(), RunError> {
        let to_s = self.from_s + (self.ticks + 1) as f64 * dt_s;
        self.advance(to_s, names, values)?;
        self.ticks += 1;
        Ok(())
    }

    fn advance(&mut self, to_s: f64, names: &[String], values: &[f64]) -> Result<(), RunError> {
        let held: Vec<(&str, f64)> = names
            .iter()
            .map(String::as_str)
            .zip(values.iter().copied())
            .collect();
        let inputs = if held.is_empty() {
            Inputs::OfModel
        } else {
            Inputs::Held(&held)
        };
        self.simulation.advance(to_s, inputs)
    }
}

impl Simulator {
    fn under_way(&self) -> PyResult<MutexGuard<'_, UnderWay>> {
        self.under_way.try_lock().or_else(|error| match error {
            std::sync::TryLockError::Poisoned(poisoned) => Ok(poisoned.into_inner()),
            std::sync::TryLockError::WouldBlock => Err(PyRuntimeError::new_err(
                "the simulator is stepped by another thread; give each thread its own",
            )),
        })
    }

    fn values(&self, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<f64>> {
        let Some(given) = given else {
            return if self.inputs.is_empty() {
                Ok(Vec::new())
            } else {
                Err(PyValueError::new_err(format!(
                    "step needs the values of {}",
                    self.inputs.join(", ")
                )))
            };
        };
        let array = contiguous(given)?;
        let values: Vec<f64> = array.as_array().iter().copied().collect();
        if values.len() != self.inputs.len() || array.ndim() > 1 {
            return Err(PyValueError::new_err(format!(
                "step needs {} values, one per input, and has an array of the shape {:?}",
                self.inputs.len(),
                array.shape()
            )));
        }
        for (name, &value) in self.inputs.iter().zip(&values) {
            finite(name, value)?;
        }
        Ok(values)
    }

    fn moved<'py>(
        &self,
        py: Python<'py>,
        advance: impl Send + FnOnce(&mut UnderWay) -> Result<(), RunError>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut guard = self.under_way()?;
        let under_way = &mut *guard;
        let moved = py.detach(|| advance(under_way));
        moved.map_err(|error| run_error(py, &error))?;
        Ok(PyArray1::from_slice(py, under_way.simulation.outputs()))
    }
}

#[pymethods]
impl Simulator {
    #[new]
    fn new(
        mechanism: &Bound<'_, Mechanism>,
        state: &Bound<'_, State>,
        dt_s: f64,
        inputs: Vec<String>,
        outputs: Vec<String>,
    ) -> PyResult<Self> {
        let py = state.py();
        positive("dt_s", dt_s)?;
        let own = mechanism.get();
        let under_way = UnderWay::new(&own.mechanism, state.get().of(own)?, dt_s);
        let mut under_way = under_way.map_err(|error| run_error(py, &error))?;
        under_way.choose(&inputs, &outputs)?;
        Ok(Self {
            mechanism: mechanism.clone().unbind(),
            inputs,
            outputs,
            dt_s,
            under_way: Mutex::new(under_way),
        })
    }

    #[getter]
    fn time_s(&self) -> PyResult<f64> {
        Ok(self.under_way()?.simulation.time_s())
    }

    #[getter]
    fn dt_s(&self) -> f64 {
        self.dt_s
    }

    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.inputs.clone()
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.outputs.clone()
    }

    /// Where it is, with all that it remembers.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<State> {
        let state = self.under_way()?.simulation.state();
        Ok(State::new(self.mechanism.bind(py), state))
    }

    /// Goes on from a state; ticks count from there.
    fn set_state(&self, py: Python<'_>, state: &Bound<'_, State>) -> PyResult<()> {
        let state = state.get().of(self.mechanism.bind(py).get())?;
        let mut guard = self.under_way()?;
        let restored = guard.simulation.set_state(state);
        restored.map_err(|error| run_error(py, &error))?;
        (guard.from_s, guard.ticks) = (state.time_s, 0);
        Ok(())
    }

    /// Begins anew at a state, as one that was just made.
    fn begin(&self, py: Python<'_>, state: &Bound<'_, State>) -> PyResult<()> {
        let own = self.mechanism.bind(py).get();
        let begun = UnderWay::new(&own.mechanism, state.get().of(own)?, self.dt_s);
        let mut begun = begun.map_err(|error| run_error(py, &error))?;
        begun.choose(&self.inputs, &self.outputs)?;
        *self.under_way()? = begun;
        Ok(())
    }

    /// Values of the outputs now.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut guard = self.under_way()?;
        Ok(PyArray1::from_slice(py, guard.simulation.outputs()))
    }

    /// Rates of positions and velocities of its own choice, under the inputs that are held.
    fn rates<'py>(
        &self,
        py: Python<'py>,
        time_s: f64,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        finite("time_s", time_s)?;
        let array = contiguous(x)?;
        let written_state = self.mechanism.bind(py).get().mechanism.written();
        let n_q = written_state.position.len();
        let n_x = n_q + written_state.velocity.len();
        if array.shape() != [n_x] {
            return Err(PyValueError::new_err(format!(
                "a state has {n_x} entries, and the array has the shape {:?}",
                array.shape()
            )));
        }
        let x = array.as_slice();
        let x = x.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let found = result(py, None, &[n_x])?;
        let mut filled = found.try_readwrite()?;
        let (position, velocity) = x.split_at(n_q);
        let simulation = &mut self.under_way()?.simulation;
        simulation.rates(time_s, [position, velocity], written(&mut filled)?);
        drop(filled);
        Ok(found)
    }

    /// Holds the inputs from here on.
    fn hold(&self, py: Python<'_>, u: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let values = self.values(u)?;
        let held: Vec<(&str, f64)> = self.inputs.iter().map(String::as_str).zip(values).collect();
        let kept = self.under_way()?.simulation.hold(&held);
        kept.map_err(|error| run_error(py, &error))
    }

    #[pyo3(signature = (u=None, /))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        u: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.values(u)?;
        self.moved(py, |under_way| {
            under_way.step(self.dt_s, &self.inputs, &values)
        })
    }

    #[pyo3(signature = (to_s, u=None, /))]
    fn advance<'py>(
        &self,
        py: Python<'py>,
        to_s: f64,
        u: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.values(u)?;
        let now = self.under_way()?.simulation.time_s();
        if !(to_s > now && to_s.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "cannot go from {now} s to {to_s} s; name a later instant"
            )));
        }
        let moved = self.moved(py, |under_way| {
            under_way.advance(to_s, &self.inputs, &values)
        })?;
        let mut guard = self.under_way()?;
        (guard.from_s, guard.ticks) = (to_s, 0);
        Ok(moved)
    }
}
