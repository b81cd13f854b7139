//! Mechanisms in the loop: one that is stepped, and many at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lissom::spec::{AdaptiveSpec, IntegratorSpec};
use lissom::{Flow, Inputs, RunError, Simulation};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{contiguous, finite, refuse_without_coordinates, result, written};
use crate::error::{interruption, run_error};
use crate::mechanism::Mechanism;
use crate::state::State;
use crate::watch::{ASKED_EVERY, watched};

/// A mechanism that is brought forward tick by tick.
#[pyclass(frozen, module = "lissom._native")]
pub(crate) struct Simulator {
    mechanism: Py<Mechanism>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    dt_s: f64,
    under_way: Mutex<UnderWay>,
}

struct UnderWay {
    simulation: Simulation,
    /// Where ticks count from.
    from_s: f64,
    ticks: u64,
}

/// An integrator that tries a whole step from tick to tick first, unless its model says how long the first one is: inputs jump at
/// every tick, and a cautious start behind each would take several times as many evaluations.
fn whole_steps_first(integrator: IntegratorSpec, dt_s: f64) -> IntegratorSpec {
    let first = |own: AdaptiveSpec| {
        let longest = own.max_step_s.unwrap_or(f64::INFINITY);
        let initial_step_s = own.initial_step_s.or(Some(dt_s.min(longest)));
        AdaptiveSpec {
            initial_step_s,
            ..own
        }
    };
    match integrator {
        IntegratorSpec::Dop853(own) => IntegratorSpec::Dop853(first(own)),
        IntegratorSpec::Dopri5(own) => IntegratorSpec::Dopri5(first(own)),
        IntegratorSpec::Adams(own) => IntegratorSpec::Adams(first(own)),
        IntegratorSpec::Radau(own) => IntegratorSpec::Radau(first(own)),
        IntegratorSpec::Esdirk(own) => IntegratorSpec::Esdirk(first(own)),
        fixed => fixed,
    }
}

impl UnderWay {
    fn new(
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

    /// Inputs are held until the next tick.
    fn step(&mut self, dt_s: f64, names: &[String], values: &[f64]) -> Result<(), RunError> {
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
        if !(dt_s > 0.0 && dt_s.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "dt_s is {dt_s}, expected a positive number of seconds"
            )));
        }
        let own = mechanism.get();
        let under_way = UnderWay::new(&own.mechanism, state.get().of(own)?, dt_s);
        let mut under_way = under_way.map_err(|error| run_error(py, &error))?;
        let chosen = under_way.simulation.set_outputs(&outputs);
        chosen.map_err(|error| PyValueError::new_err(format!("no such output: {error}")))?;
        let known: Vec<&str> = under_way.simulation.inputs().collect();
        if let Some(wrong) = inputs.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(PyValueError::new_err(format!(
                "there is no input {wrong:?}; the inputs of the model are {}",
                known.join(", ")
            )));
        }
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

/// One member of a rollout: where it begins, and what is held over its steps.
struct Member<'a> {
    start: lissom::State,
    inputs: &'a [f64],
    states: &'a mut [f64],
    outputs: &'a mut [f64],
    ok: &'a mut bool,
}

/// Steps a member to its end; what it does not reach is NaN.
fn roll(
    mechanism: &Arc<lissom::Mechanism>,
    names: [&[String]; 2],
    dt_s: f64,
    member: &mut Member<'_>,
    is_stopped: &mut dyn FnMut() -> bool,
) {
    let [inputs, outputs] = names;
    member.states.fill(f64::NAN);
    member.outputs.fill(f64::NAN);
    let Ok(mut under_way) = UnderWay::new(mechanism, &member.start, dt_s) else {
        return;
    };
    if under_way.simulation.set_outputs(outputs).is_err() {
        return;
    }
    let n_x = member.start.position.len() + member.start.velocity.len();
    let (n_u, n_y) = (inputs.len(), outputs.len());
    let steps = member.states.len() / n_x - 1;
    for step in 0..=steps {
        if is_stopped() {
            return;
        }
        if step > 0 {
            let held = &member.inputs[(step - 1) * n_u..][..n_u];
            if under_way.step(dt_s, inputs, held).is_err() {
                return;
            }
        }
        let state = under_way.simulation.state();
        let place = &mut member.states[step * n_x..][..n_x];
        place[..state.position.len()].copy_from_slice(&state.position);
        place[state.position.len()..].copy_from_slice(&state.velocity);
        member.outputs[step * n_y..][..n_y].copy_from_slice(under_way.simulation.outputs());
    }
    *member.ok = true;
}

type Rolled<'py> = (
    Bound<'py, PyArrayDyn<f64>>,
    Bound<'py, PyArrayDyn<f64>>,
    Vec<bool>,
);

/// Runs of many members under inputs that are held over steps, on several threads.
#[pyfunction]
pub(crate) fn rolled<'py>(
    mechanism: &Bound<'py, Mechanism>,
    states: Vec<Bound<'py, State>>,
    inputs: &Bound<'py, PyAny>,
    names: (Vec<String>, Vec<String>),
    dt_s: f64,
    threads: usize,
) -> PyResult<Rolled<'py>> {
    let (py, own) = (mechanism.py(), mechanism.get());
    let (input_names, output_names) = names;
    let array = contiguous(inputs)?;
    let &[members, steps, n_u] = array.shape() else {
        return Err(PyValueError::new_err(format!(
            "the inputs have the shape {:?}; it must be members, steps, inputs",
            array.shape()
        )));
    };
    if members != states.len() || n_u != input_names.len() {
        return Err(PyValueError::new_err(format!(
            "the inputs are for {members} members with {n_u} inputs, and there are {} states and {} names of inputs",
            states.len(),
            input_names.len()
        )));
    }
    if !(dt_s > 0.0 && dt_s.is_finite()) {
        return Err(PyValueError::new_err(format!(
            "dt_s is {dt_s}, expected a positive number of seconds"
        )));
    }
    if let Some(first) = states.first() {
        // names that are wrong are wrong for all
        let (inputs, outputs) = (input_names.clone(), output_names.clone());
        Simulator::new(mechanism, first, dt_s, inputs, outputs)?;
    }
    let written_state = own.mechanism.written();
    let n_x = written_state.position.len() + written_state.velocity.len();
    refuse_without_coordinates(n_x)?;
    let n_y = output_names.len();
    let found = result(py, None, &[members, steps + 1, n_x])?;
    let read = result(py, None, &[members, steps + 1, n_y])?;
    let mut ok = vec![false; members];
    {
        let (mut found_numbers, mut read_numbers) = (found.try_readwrite()?, read.try_readwrite()?);
        let held = array.as_slice();
        let held = held.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let (mut found_rest, mut read_rest) =
            (written(&mut found_numbers)?, written(&mut read_numbers)?);
        let mut flags = &mut ok[..];
        let mut queue: Vec<Member<'_>> = Vec::with_capacity(members);
        for (at, state) in states.iter().enumerate() {
            let (states, rest) = found_rest.split_at_mut((steps + 1) * n_x);
            found_rest = rest;
            let (outputs, rest) = read_rest.split_at_mut((steps + 1) * n_y);
            read_rest = rest;
            let Some((ok, rest)) = flags.split_first_mut() else {
                break;
            };
            flags = rest;
            queue.push(Member {
                start: state.get().of(own)?.clone(),
                inputs: &held[at * steps * n_u..][..steps * n_u],
                states,
                outputs,
                ok,
            });
        }
        let queue = Mutex::new(queue);
        let stop = AtomicBool::new(false);
        let work = |is_stopped: &mut dyn FnMut() -> bool| {
            while !is_stopped() {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let Some(mut member) = next else { break };
                let names = [&input_names[..], &output_names];
                roll(&own.mechanism, names, dt_s, &mut member, is_stopped);
            }
        };
        let ((), interrupted) = watched(py, |watch| {
            std::thread::scope(|scope| {
                let (working, all_done) = channel::<()>();
                for _ in 1..threads.min(members) {
                    let (working, work, stop) = (working.clone(), &work, &stop);
                    scope.spawn(move || {
                        work(&mut || stop.load(Ordering::Relaxed));
                        drop(working);
                    });
                }
                drop(working);
                let mut asked = || {
                    let stopped = watch(0.0) == Flow::Stop;
                    stop.fetch_or(stopped, Ordering::Relaxed) || stopped
                };
                work(&mut asked);
                // signals are heard on this thread alone, until the others are done too
                while all_done.recv_timeout(ASKED_EVERY) == Err(RecvTimeoutError::Timeout) {
                    asked();
                }
            });
        });
        if let Some(interrupted) = interrupted {
            return Err(interruption(py, interrupted));
        }
    }
    Ok((found, read, ok))
}
