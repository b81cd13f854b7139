//! Many mechanisms in the loop at once: batches that are stepped, and rollouts.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{
    contiguous, numbers, positive, refuse_without_coordinates, result, shaped, written,
};
use crate::mechanism::Mechanism;
use crate::simulator::UnderWay;
use crate::state::State;
use crate::threads::{on_threads, share_out, thread_count};

/// Names of inputs and of outputs.
type Names = (Vec<String>, Vec<String>);
type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// Members of a batch under way. One that has failed is gone.
#[pyclass(frozen, module = "lissom._native")]
pub(crate) struct BatchSimulator {
    mechanism: Py<Mechanism>,
    names: Names,
    dt_s: f64,
    members: Mutex<Vec<Option<UnderWay>>>,
}

impl BatchSimulator {
    fn members(&self) -> PyResult<MutexGuard<'_, Vec<Option<UnderWay>>>> {
        self.members.try_lock().or_else(|error| match error {
            TryLockError::Poisoned(poisoned) => Ok(poisoned.into_inner()),
            TryLockError::WouldBlock => Err(PyRuntimeError::new_err(
                "the batch is stepped by another thread; give each thread its own",
            )),
        })
    }

    /// A member at a state; none where it cannot be.
    fn begun(&self, own: &Mechanism, state: &lissom::State) -> PyResult<Option<UnderWay>> {
        let Ok(mut under_way) = UnderWay::new(&own.mechanism, state, self.dt_s) else {
            return Ok(None);
        };
        under_way.choose(&self.names.0, &self.names.1)?;
        Ok(Some(under_way))
    }
}

#[pymethods]
impl BatchSimulator {
    #[new]
    fn new(
        mechanism: &Bound<'_, Mechanism>,
        states: Vec<Bound<'_, State>>,
        dt_s: f64,
        inputs: Vec<String>,
        outputs: Vec<String>,
    ) -> PyResult<Self> {
        positive("dt_s", dt_s)?;
        let batch = Self {
            mechanism: mechanism.clone().unbind(),
            names: (inputs, outputs),
            dt_s,
            members: Mutex::new(Vec::new()),
        };
        let own = mechanism.get();
        let begun = states
            .iter()
            .map(|state| batch.begun(own, state.get().of(own)?));
        *batch.members()? = begun.collect::<PyResult<_>>()?;
        Ok(batch)
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.members()?.len())
    }

    #[getter]
    fn dt_s(&self) -> f64 {
        self.dt_s
    }

    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.names.0.clone()
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.names.1.clone()
    }

    /// Which members are under way.
    fn ok(&self) -> PyResult<Vec<bool>> {
        Ok(self.members()?.iter().map(Option::is_some).collect())
    }

    /// Instants that members have reached; NaN where one has failed.
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let members = self.members()?;
        let time_s = |member: &Option<UnderWay>| {
            let reached = member
                .as_ref()
                .map(|under_way| under_way.simulation.time_s());
            reached.unwrap_or(f64::NAN)
        };
        shaped(py, members.iter().map(time_s).collect(), &[members.len()])
    }

    /// The state of a member.
    fn state(&self, py: Python<'_>, member: usize) -> PyResult<State> {
        let members = self.members()?;
        let Some(found) = members.get(member) else {
            let message = format!("there is no member {member}; there are {}", members.len());
            return Err(PyIndexError::new_err(message));
        };
        let Some(under_way) = found else {
            let message = format!("member {member} has failed and has no state; reset it");
            return Err(PyValueError::new_err(message));
        };
        let state = under_way.simulation.state();
        Ok(State::new(self.mechanism.bind(py), state))
    }

    /// Begins members anew, each at a state.
    fn begin(
        &self,
        py: Python<'_>,
        members: Vec<usize>,
        states: Vec<Bound<'_, State>>,
    ) -> PyResult<()> {
        let own = self.mechanism.bind(py).get();
        let mut all = self.members()?;
        for (member, state) in members.into_iter().zip(states) {
            let begun = self.begun(own, state.get().of(own)?)?;
            let Some(place) = all.get_mut(member) else {
                let message = format!("there is no member {member}; there are {}", all.len());
                return Err(PyIndexError::new_err(message));
            };
            *place = begun;
        }
        Ok(())
    }

    /// Outputs of all members now, members × outputs; NaN where one has failed.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let mut members = self.members()?;
        let n_y = self.names.1.len();
        let shape = [members.len(), n_y];
        let mut all = Vec::with_capacity(members.len() * n_y);
        for member in members.iter_mut() {
            match member {
                Some(under_way) => all.extend_from_slice(under_way.simulation.outputs()),
                None => all.resize(all.len() + n_y, f64::NAN),
            }
        }
        shaped(py, all, &shape)
    }

    /// Holds inputs, members × inputs, over one step; returns the outputs at its end.
    #[pyo3(signature = (u, *, out, threads))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        u: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Array<'py>> {
        let mut members = self.members()?;
        let (inputs, n_u, n_y) = (&self.names.0, self.names.0.len(), self.names.1.len());
        let array = contiguous(u)?;
        if array.shape() != [members.len(), n_u] {
            return Err(PyValueError::new_err(format!(
                "the inputs have the shape {:?}; it must be {} members, {n_u} inputs",
                array.shape(),
                members.len()
            )));
        }
        let held = numbers(&array)?;
        let found = result(py, out, &[members.len(), n_y])?;
        let mut filled = found.try_readwrite()?;
        let outputs = split(written(&mut filled)?, n_y, members.len());
        let items: Vec<_> = (members.iter_mut().enumerate())
            .zip(outputs)
            .map(|((at, member), outputs)| (member, &held[at * n_u..][..n_u], outputs))
            .collect();
        let count = thread_count(threads);
        py.detach(|| {
            let step = |(member, u, outputs): (&mut Option<UnderWay>, &[f64], &mut [f64]),
                        _: &mut dyn FnMut() -> bool| {
                let stepped =
                    |under_way: &mut UnderWay| under_way.step(self.dt_s, inputs, u).is_ok();
                if member.as_mut().is_some_and(stepped)
                    && let Some(under_way) = member
                {
                    outputs.copy_from_slice(under_way.simulation.outputs());
                } else {
                    *member = None;
                    outputs.fill(f64::NAN);
                }
            };
            on_threads(items, count, step, &mut || false);
        });
        drop(filled);
        Ok(found)
    }
}

/// Numbers in rows of a width, which may be zero.
fn split(mut numbers: &mut [f64], width: usize, count: usize) -> Vec<&mut [f64]> {
    let mut rows = Vec::with_capacity(count);
    for _ in 0..count {
        let (row, rest) = numbers.split_at_mut(width);
        rows.push(row);
        numbers = rest;
    }
    rows
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
    names: &Names,
    dt_s: f64,
    member: Member<'_>,
    is_stopped: &mut dyn FnMut() -> bool,
) {
    let (inputs, outputs) = names;
    member.states.fill(f64::NAN);
    member.outputs.fill(f64::NAN);
    let Ok(mut under_way) = UnderWay::new(mechanism, &member.start, dt_s) else {
        return;
    };
    if under_way.choose(inputs, outputs).is_err() {
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

/// Runs of many members under inputs that are held over steps, on several threads.
#[pyfunction]
#[pyo3(signature = (mechanism, states, inputs, names, dt_s, *, threads))]
pub(crate) fn rolled<'py>(
    mechanism: &Bound<'py, Mechanism>,
    states: Vec<Bound<'py, State>>,
    inputs: &Bound<'py, PyAny>,
    names: Names,
    dt_s: f64,
    threads: Option<usize>,
) -> PyResult<(Array<'py>, Array<'py>, Vec<bool>)> {
    let (py, own) = (mechanism.py(), mechanism.get());
    let array = contiguous(inputs)?;
    let &[members, steps, n_u] = array.shape() else {
        return Err(PyValueError::new_err(format!(
            "the inputs have the shape {:?}; it must be members, steps, inputs",
            array.shape()
        )));
    };
    if members != states.len() || n_u != names.0.len() {
        return Err(PyValueError::new_err(format!(
            "the inputs are for {members} members with {n_u} inputs, and there are {} states and {} names of inputs",
            states.len(),
            names.0.len()
        )));
    }
    positive("dt_s", dt_s)?;
    let starts = states.iter().map(|state| state.get().of(own));
    let starts = starts.collect::<PyResult<Vec<_>>>()?;
    // names that are wrong are wrong for all
    let mut begun = starts
        .iter()
        .map(|start| UnderWay::new(&own.mechanism, start, dt_s));
    if let Some(mut first) = begun.find_map(Result::ok) {
        first.choose(&names.0, &names.1)?;
    }
    let written_state = own.mechanism.written();
    let n_x = written_state.position.len() + written_state.velocity.len();
    refuse_without_coordinates(n_x)?;
    let n_y = names.1.len();
    let found = result(py, None, &[members, steps + 1, n_x])?;
    let read = result(py, None, &[members, steps + 1, n_y])?;
    let mut ok = vec![false; members];
    {
        let (mut found_numbers, mut read_numbers) = (found.try_readwrite()?, read.try_readwrite()?);
        let held = numbers(&array)?;
        let found_rows = split(written(&mut found_numbers)?, (steps + 1) * n_x, members);
        let read_rows = split(written(&mut read_numbers)?, (steps + 1) * n_y, members);
        let items = (starts.into_iter().zip(&mut ok))
            .zip(found_rows.into_iter().zip(read_rows))
            .enumerate()
            .map(|(at, ((start, ok), (states, outputs)))| Member {
                start: start.clone(),
                inputs: &held[at * steps * n_u..][..steps * n_u],
                states,
                outputs,
                ok,
            });
        share_out(
            py,
            items.collect(),
            thread_count(threads),
            |member, is_stopped| {
                roll(&own.mechanism, &names, dt_s, member, is_stopped);
            },
        )?;
    }
    Ok((found, read, ok))
}
