//! A mechanism in the loop.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use lissom::{Flow, RunError, SampledError, SampledOptions, SampledSimulation};
use numpy::{PyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{Array, contiguous, filling, finite, numbers, positive, result, written};
use crate::error::{OrRaise, Raise, interruption};
use crate::mechanism::Mechanism;
use crate::state::State;
use crate::watch::watched;

/// How a mechanism is stepped, what drives it meanwhile and what is read of it.
pub(crate) fn options(
    dt_s: f64,
    inputs: Vec<String>,
    outputs: Vec<String>,
) -> PyResult<Arc<SampledOptions>> {
    positive("dt_s", dt_s)?;
    Ok(Arc::new(SampledOptions {
        period_s: dt_s,
        inputs,
        outputs,
    }))
}

impl Raise for SampledError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Start(error) => error.raise(py),
            Self::Output(_) => PyValueError::new_err(format!("{self}; mechanism.channels has all")),
            _ => PyValueError::new_err(self.to_string()),
        }
    }
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
    options: Arc<SampledOptions>,
    under_way: Mutex<SampledSimulation>,
}

impl Simulator {
    fn under_way(&self) -> PyResult<MutexGuard<'_, SampledSimulation>> {
        locked(&self.under_way, "simulator")
    }

    /// A mechanism that begins at a state.
    fn begun(
        py: Python<'_>,
        mechanism: &Mechanism,
        state: &Bound<'_, State>,
        options: &Arc<SampledOptions>,
    ) -> PyResult<SampledSimulation> {
        let start = state.get().of(mechanism)?;
        py.detach(|| SampledSimulation::new(&mechanism.mechanism, start, options))
            .or_raise(py)
    }

    fn values(&self, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<f64>> {
        let inputs = &self.options.inputs;
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

    /// Brings it forward, until Ctrl-C.
    fn moved<'py>(
        &self,
        py: Python<'py>,
        advance: impl Send
        + FnOnce(
            &mut SampledSimulation,
            &mut dyn FnMut(f64) -> Flow,
        ) -> Result<Flow, RunError>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut guard = self.under_way()?;
        let under_way = &mut *guard;
        let (moved, interrupted) = watched(py, |watch| advance(under_way, watch));
        if let Some(interrupted) = interrupted {
            return Err(interruption(py, interrupted));
        }
        moved.or_raise(py)?;
        Ok(PyArray1::from_slice(py, under_way.outputs()))
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
        let options = options(dt_s, inputs, outputs)?;
        let begun = Self::begun(state.py(), mechanism.get(), state, &options)?;
        Ok(Self {
            mechanism: mechanism.clone().unbind(),
            options,
            under_way: Mutex::new(begun),
        })
    }

    #[getter]
    fn time_s(&self) -> PyResult<f64> {
        Ok(self.under_way()?.time_s())
    }

    #[getter]
    fn dt_s(&self) -> f64 {
        self.options.period_s
    }

    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.options.inputs.clone()
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.options.outputs.clone()
    }

    /// Where it is, with all that it remembers.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<State> {
        let state = self.under_way()?.state();
        Ok(State::new(self.mechanism.bind(py), state))
    }

    /// Goes on from a state; ticks count from there.
    fn set_state(&self, py: Python<'_>, state: &Bound<'_, State>) -> PyResult<()> {
        let state = state.get().of(self.mechanism.bind(py).get())?;
        let mut guard = self.under_way()?;
        let under_way = &mut *guard;
        py.detach(|| under_way.set_state(state)).or_raise(py)
    }

    /// Begins anew at a state, as one that was just made.
    fn begin(&self, py: Python<'_>, state: &Bound<'_, State>) -> PyResult<()> {
        let own = self.mechanism.bind(py).get();
        let begun = Self::begun(py, own, state, &self.options)?;
        *self.under_way()? = begun;
        Ok(())
    }

    /// Values of the outputs now.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_slice(py, self.under_way()?.outputs()))
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
        let [n_q, n_v] = self.mechanism.bind(py).get().counts;
        if array.shape() != [n_q + n_v] {
            return Err(PyValueError::new_err(format!(
                "a state has {} entries, and the array has the shape {:?}",
                n_q + n_v,
                array.shape()
            )));
        }
        let (position, velocity) = numbers(&array)?.split_at(n_q);
        let found = result(py, None, &[n_q + n_v])?;
        let mut filled = filling(&found)?;
        let rates = written(&mut filled)?;
        self.under_way()?.rates(time_s, [position, velocity], rates);
        drop(filled);
        Ok(found)
    }

    /// Holds the inputs from here on.
    fn hold(&self, py: Python<'_>, u: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let values = self.values(u)?;
        self.under_way()?.hold(&values).or_raise(py)
    }

    #[pyo3(signature = (u=None, /))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        u: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.values(u)?;
        self.moved(py, |under_way, watch| under_way.step(&values, watch))
    }

    #[pyo3(signature = (to_s, u=None, /))]
    fn advance<'py>(
        &self,
        py: Python<'py>,
        to_s: f64,
        u: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.values(u)?;
        let now = self.under_way()?.time_s();
        if !(to_s > now && to_s.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "cannot go from {now} s to {to_s} s; name a later instant"
            )));
        }
        self.moved(py, |under_way, watch| {
            under_way.advance(to_s, &values, watch)
        })
    }
}
