//! Many mechanisms in the loop at once: batches that are stepped, and rollouts.

use std::sync::{Arc, Mutex, MutexGuard};

use numpy::{PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{
    Array, contiguous, numbers, refuse_without_coordinates, result, shaped, written,
};
use crate::error::{OrRaise, Raise};
use crate::mechanism::Mechanism;
use crate::simulator::{Loop, Refusal, UnderWay, locked};
use crate::state::State;
use crate::threads::{on_threads, share_out, thread_count};

/// Members of a batch under way. One that has failed is gone.
#[pyclass(frozen, module = "lissom._native")]
pub(crate) struct BatchSimulator {
    mechanism: Py<Mechanism>,
    stepped: Loop,
    members: Mutex<Vec<Option<UnderWay>>>,
}

/// Members at states, none where one cannot be. They are begun on all cores.
fn begun(
    py: Python<'_>,
    own: &Mechanism,
    states: &[Bound<'_, State>],
    stepped: &Loop,
) -> PyResult<Vec<Option<UnderWay>>> {
    let starts = states.iter().map(|state| state.get().of(own));
    let starts = starts.collect::<PyResult<Vec<_>>>()?;
    let mut members: Vec<_> = starts.iter().map(|_| None).collect();
    let items = starts.into_iter().zip(&mut members).collect();
    share_out(py, items, thread_count(None), |(start, member), _| {
        *member = Some(UnderWay::new(&own.mechanism, start, stepped));
    })?;
    let told = members.into_iter().flatten().map(|member| match member {
        Err(Refusal::Start(_)) => Ok(None),
        other => other.map(Some).or_raise(py),
    });
    told.collect()
}

impl BatchSimulator {
    fn members(&self) -> PyResult<MutexGuard<'_, Vec<Option<UnderWay>>>> {
        locked(&self.members, "batch")
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
        let stepped = Loop::new(dt_s, inputs, outputs)?;
        let members = begun(mechanism.py(), mechanism.get(), &states, &stepped)?;
        Ok(Self {
            mechanism: mechanism.clone().unbind(),
            stepped,
            members: Mutex::new(members),
        })
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.members()?.len())
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
        let mut all = self.members()?;
        let count = all.len();
        if let Some(wrong) = members.iter().find(|&&member| member >= count) {
            let message = format!("there is no member {wrong}; there are {count}");
            return Err(PyIndexError::new_err(message));
        }
        let begun = begun(py, self.mechanism.bind(py).get(), &states, &self.stepped)?;
        for (member, begun) in members.into_iter().zip(begun) {
            all[member] = begun;
        }
        Ok(())
    }

    /// Outputs of all members now, members × outputs; NaN where one has failed.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let mut members = self.members()?;
        let n_y = self.stepped.outputs.len();
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
        let (n_u, n_y) = (self.stepped.inputs.len(), self.stepped.outputs.len());
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
                let stepped = |under_way: &mut UnderWay| under_way.step(&self.stepped, u).is_ok();
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
    start: &'a lissom::State,
    inputs: &'a [f64],
    states: &'a mut [f64],
    outputs: &'a mut [f64],
    ok: &'a mut bool,
}

/// Steps a member to its end; what it does not reach is NaN.
fn roll(
    mechanism: &Arc<lissom::Mechanism>,
    stepped: &Loop,
    member: Member<'_>,
    is_stopped: &mut dyn FnMut() -> bool,
) {
    member.states.fill(f64::NAN);
    member.outputs.fill(f64::NAN);
    let Ok(mut under_way) = UnderWay::new(mechanism, member.start, stepped) else {
        return;
    };
    let n_x = member.start.position.len() + member.start.velocity.len();
    let (n_u, n_y) = (stepped.inputs.len(), stepped.outputs.len());
    let steps = member.states.len() / n_x - 1;
    for step in 0..=steps {
        if is_stopped() {
            return;
        }
        if step > 0 {
            let held = &member.inputs[(step - 1) * n_u..][..n_u];
            if under_way.step(stepped, held).is_err() {
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
    names: (Vec<String>, Vec<String>),
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
    let stepped = Loop::new(dt_s, names.0, names.1)?;
    if members != states.len() || n_u != stepped.inputs.len() {
        return Err(PyValueError::new_err(format!(
            "the inputs are for {members} members with {n_u} inputs, and there are {} states and {} names of inputs",
            states.len(),
            stepped.inputs.len()
        )));
    }
    let starts = states.iter().map(|state| state.get().of(own));
    let starts = starts.collect::<PyResult<Vec<_>>>()?;
    // names that are wrong are wrong for all that can begin
    for start in &starts {
        match py.detach(|| UnderWay::new(&own.mechanism, start, &stepped)) {
            Ok(_) => break,
            Err(Refusal::Start(_)) => {}
            Err(wrong) => return Err(wrong.raise(py)),
        }
    }
    let written_state = own.mechanism.written();
    let n_x = written_state.position.len() + written_state.velocity.len();
    refuse_without_coordinates(n_x)?;
    let n_y = stepped.outputs.len();
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
                start,
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
                roll(&own.mechanism, &stepped, member, is_stopped);
            },
        )?;
    }
    Ok((found, read, ok))
}
