//! A mechanism in the loop.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use lissom::spec::IntegratorSpec;
use lissom::{Inputs, RunError, Simulation};
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{Array, contiguous, finite, positive, result, written};
use crate::error::{OrRaise, Raise};
use crate::mechanism::Mechanism;
use crate::state::State;

/// How a mechanism is stepped, what drives it meanwhile and what is read of it.
pub(crate) struct Loop {
    pub(crate) dt_s: f64,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
}

impl Loop {
    pub(crate) fn new(dt_s: f64, inputs: Vec<String>, outputs: Vec<String>) -> PyResult<Self> {
        positive("dt_s", dt_s)?;
        Ok(Self {
            dt_s,
            inputs,
            outputs,
        })
    }
}

/// Why a mechanism is not under way.
pub(crate) enum Refusal {
    /// It cannot be where it should begin.
    Start(RunError),
    /// There is no such input or output.
    Name(String),
}

impl Raise for Refusal {
    fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Start(error) => error.raise(py),
            Self::Name(message) => PyValueError::new_err(message.clone()),
        }
    }
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
    /// A mechanism at a state.
    pub(crate) fn new(
        mechanism: &Arc<lissom::Mechanism>,
        start: &lissom::State,
        stepped: &Loop,
    ) -> Result<Self, Refusal> {
        let integrator = whole_steps_first(mechanism.spec().simulation.integrator, stepped.dt_s);
        let simulation = Simulation::new(Arc::clone(mechanism), start, &integrator);
        let mut simulation = simulation.map_err(Refusal::Start)?;
        let chosen = simulation.set_outputs(&stepped.outputs);
        chosen.map_err(|error| {
            Refusal::Name(format!(
                "no such output: {error}; mechanism.channels has all"
            ))
        })?;
        let known: Vec<&str> = simulation.inputs().collect();
        let mut inputs = stepped.inputs.iter();
        if let Some(wrong) = inputs.find(|name| !known.contains(&name.as_str())) {
            return Err(Refusal::Name(format!(
                "there is no input {wrong:?}; the inputs of the model are {}",
                known.join(", ")
            )));
        }
        Ok(Self {
            simulation,
            from_s: start.time_s,
            ticks: 0,
        })
    }

    /// Inputs are held until the next tick.
    pub(crate) fn step(&mut self, stepped: &Loop, values: &[f64]) -> Result<(), RunError> {
        let to_s = self.from_s + (self.ticks + 1) as f64 * stepped.dt_s;
        self.advance(to_s, stepped, values)?;
        self.ticks += 1;
        Ok(())
    }

    fn advance(&mut self, to_s: f64, stepped: &Loop, values: &[f64]) -> Result<(), RunError> {
        let held = held(stepped, values);
        let inputs = if held.is_empty() {
            Inputs::OfModel
        } else {
            Inputs::Held(&held)
        };
        self.simulation.advance(to_s, inputs)
    }

    /// Counts ticks from an instant.
    fn count_from(&mut self, time_s: f64) {
        (self.from_s, self.ticks) = (time_s, 0);
    }
}

/// Values of the inputs by name.
fn held<'a>(stepped: &'a Loop, values: &[f64]) -> Vec<(&'a str, f64)> {
    let names = stepped.inputs.iter().map(String::as_str);
    names.zip(values.iter().copied()).collect()
}

/// What only one thread may use at a time.
pub(crate) fn locked<'a, T>(shared: &'a Mutex<T>, what: &str) -> PyResult<MutexGuard<'a, T>> {
    shared.try_lock().or_else(|error| match error {
        TryLockError::Poisoned(poisoned) => Ok(poisoned.into_inner()),
        TryLockError::WouldBlock => Err(PyRuntimeError::new_err(format!(
            "the {what} is stepped by another thread; give each thread its own"
        ))),
    })
}

/// A mechanism that is brought forward tick by tick.
#[pyclass(frozen, module = "lissom._native")]
pub(crate) struct Simulator {
    mechanism: Py<Mechanism>,
    stepped: Loop,
    under_way: Mutex<UnderWay>,
}

impl Simulator {
    fn under_way(&self) -> PyResult<MutexGuard<'_, UnderWay>> {
        locked(&self.under_way, "simulator")
    }

    fn values(&self, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<f64>> {
        let inputs = &self.stepped.inputs;
        let Some(given) = given else {
            return if inputs.is_empty() {
                Ok(Vec::new())
            } else {
                Err(PyValueError::new_err(format!(
                    "step needs the values of {}",
                    inputs.join(", ")
                )))
            };
        };
        let array = contiguous(given)?;
        let values: Vec<f64> = array.as_array().iter().copied().collect();
        if values.len() != inputs.len() || array.ndim() > 1 {
            return Err(PyValueError::new_err(format!(
                "step needs {} values, one per input, and has an array of the shape {:?}",
                inputs.len(),
                array.shape()
            )));
        }
        for (name, &value) in inputs.iter().zip(&values) {
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
        py.detach(|| advance(under_way)).or_raise(py)?;
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
        let (py, own) = (state.py(), mechanism.get());
        let stepped = Loop::new(dt_s, inputs, outputs)?;
        let start = state.get().of(own)?;
        let begun = py.detach(|| UnderWay::new(&own.mechanism, start, &stepped));
        Ok(Self {
            mechanism: mechanism.clone().unbind(),
            stepped,
            under_way: Mutex::new(begun.or_raise(py)?),
        })
    }

    #[getter]
    fn time_s(&self) -> PyResult<f64> {
        Ok(self.under_way()?.simulation.time_s())
    }

    #[getter]
    fn dt_s(&self) -> f64 {
        self.stepped.dt_s
    }

    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.stepped.inputs.clone()
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.stepped.outputs.clone()
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
        guard.simulation.set_state(state).or_raise(py)?;
        guard.count_from(state.time_s);
        Ok(())
    }

    /// Begins anew at a state, as one that was just made.
    fn begin(&self, py: Python<'_>, state: &Bound<'_, State>) -> PyResult<()> {
        let own = self.mechanism.bind(py).get();
        let start = state.get().of(own)?;
        let begun = py.detach(|| UnderWay::new(&own.mechanism, start, &self.stepped));
        *self.under_way()? = begun.or_raise(py)?;
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
    ) -> PyResult<Array<'py>> {
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
        let held = held(&self.stepped, &values);
        self.under_way()?.simulation.hold(&held).or_raise(py)
    }

    #[pyo3(signature = (u=None, /))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        u: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.values(u)?;
        self.moved(py, |under_way| under_way.step(&self.stepped, &values))
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
        self.moved(py, |under_way| {
            under_way.advance(to_s, &self.stepped, &values)?;
            under_way.count_from(to_s);
            Ok(())
        })
    }
}
