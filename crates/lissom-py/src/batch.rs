//! Many mechanisms in the loop at once: batches that are stepped, and rollouts.

use std::sync::{Arc, Mutex, MutexGuard};

use lissom::{Flow, SampledError, SampledOptions, SampledSimulation};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{
    Array, contiguous, filling, numbers, refuse_without_coordinates, result, shaped, written,
};
use crate::error::{OrRaise, Raise};
use crate::mechanism::Mechanism;
use crate::simulator::{locked, options};
use crate::state::State;
use crate::threads::{share_out, thread_count};

/// A member of a batch.
#[derive(Default)]
struct Member {
    /// None where it has failed.
    under_way: Option<SampledSimulation>,
    /// Steps that it was asked for since it began. More than it has made where Ctrl-C came in between.
    asked: u64,
}

impl Member {
    /// Whether a step that it was asked for is not finished.
    fn is_behind(&self) -> bool {
        (self.under_way.as_ref()).is_some_and(|under_way| under_way.ticks() < self.asked)
    }

    /// Steps if it is behind; writes its outputs, NaN where it has failed.
    fn catch_up(&mut self, u: &[f64], outputs: &mut [f64], watch: &mut dyn FnMut(f64) -> Flow) {
        if self.is_behind()
            && let Some(under_way) = &mut self.under_way
            && under_way.step(u, watch).is_err()
        {
            self.under_way = None;
        }
        self.read(outputs);
    }

    fn read(&mut self, outputs: &mut [f64]) {
        match &mut self.under_way {
            Some(under_way) => outputs.copy_from_slice(under_way.outputs()),
            None => outputs.fill(f64::NAN),
        }
    }
}

/// Members under way.
#[pyclass(frozen, module = "lissom._native")]
pub(crate) struct BatchSimulator {
    mechanism: Py<Mechanism>,
    options: Arc<SampledOptions>,
    members: Mutex<Vec<Member>>,
}

/// The states of members, where they may be those of a mechanism; those that have none fail at once.
fn starts<'a>(
    own: &Mechanism,
    states: &'a [Option<Bound<'_, State>>],
) -> PyResult<Vec<Option<&'a lissom::State>>> {
    let checked = |state: &'a Option<Bound<'_, State>>| {
        let state = state.as_ref().map(|state| state.get().of(own));
        state.transpose()
    };
    states.iter().map(checked).collect()
}

/// Members at states, failed where one cannot be. They are begun on all cores.
fn begun(
    py: Python<'_>,
    own: &Mechanism,
    states: &[Option<Bound<'_, State>>],
    options: &Arc<SampledOptions>,
) -> PyResult<Vec<Member>> {
    let starts = starts(own, states)?;
    let mut members: Vec<_> = starts.iter().map(|_| None).collect();
    let items = starts.into_iter().zip(&mut members).collect();
    share_out(py, items, thread_count(None), |(start, member), _| {
        *member = start.map(|start| SampledSimulation::new(&own.mechanism, start, options));
    })?;
    let told = members.into_iter().map(|member| match member {
        None | Some(Err(SampledError::Start(_))) => Ok(Member::default()),
        Some(begun) => Ok(Member {
            under_way: Some(begun.or_raise(py)?),
            asked: 0,
        }),
    });
    told.collect()
}

impl BatchSimulator {
    fn members(&self) -> PyResult<MutexGuard<'_, Vec<Member>>> {
        locked(&self.members, "batch")
    }
}

/// A member by its number.
fn member_at(members: &mut [Member], at: usize) -> PyResult<&mut Member> {
    let count = members.len();
    members
        .get_mut(at)
        .ok_or_else(|| PyIndexError::new_err(format!("there is no member {at}; there are {count}")))
}

#[pymethods]
impl BatchSimulator {
    #[new]
    fn new(
        mechanism: &Bound<'_, Mechanism>,
        states: Vec<Option<Bound<'_, State>>>,
        dt_s: f64,
        inputs: Vec<String>,
        outputs: Vec<String>,
    ) -> PyResult<Self> {
        let options = options(dt_s, inputs, outputs)?;
        let members = begun(mechanism.py(), mechanism.get(), &states, &options)?;
        Ok(Self {
            mechanism: mechanism.clone().unbind(),
            options,
            members: Mutex::new(members),
        })
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.members()?.len())
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

    /// Which members are under way.
    fn ok(&self) -> PyResult<Vec<bool>> {
        let members = self.members()?;
        Ok(members.iter().map(|own| own.under_way.is_some()).collect())
    }

    /// Instants that members have reached; NaN where one has failed.
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let members = self.members()?;
        let time_s = |member: &Member| {
            let reached = member.under_way.as_ref().map(SampledSimulation::time_s);
            reached.unwrap_or(f64::NAN)
        };
        shaped(py, members.iter().map(time_s).collect(), &[members.len()])
    }

    /// The state of a member.
    fn state(&self, py: Python<'_>, member: usize) -> PyResult<State> {
        let mut members = self.members()?;
        let Some(under_way) = &mut member_at(&mut members, member)?.under_way else {
            let message = format!("member {member} has failed and has no state; reset it");
            return Err(PyValueError::new_err(message));
        };
        Ok(State::new(self.mechanism.bind(py), under_way.state()))
    }

    /// Begins members anew, each at a state.
    fn begin(
        &self,
        py: Python<'_>,
        members: Vec<usize>,
        states: Vec<Option<Bound<'_, State>>>,
    ) -> PyResult<()> {
        let mut all = self.members()?;
        for &member in &members {
            member_at(&mut all, member)?;
        }
        let begun = begun(py, self.mechanism.bind(py).get(), &states, &self.options)?;
        for (member, begun) in members.into_iter().zip(begun) {
            all[member] = begun;
        }
        Ok(())
    }

    /// Outputs of all members now, members × outputs; NaN where one has failed.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let mut members = self.members()?;
        let n_y = self.options.outputs.len();
        let mut all = vec![0.0; members.len() * n_y];
        let rows = split(&mut all, n_y, members.len());
        for (member, outputs) in members.iter_mut().zip(rows) {
            member.read(outputs);
        }
        shaped(py, all, &[members.len(), n_y])
    }

    /// Holds inputs, members × inputs, over one step; returns the outputs at its end. A step that Ctrl-C has ended is finished by
    /// the next.
    #[pyo3(signature = (u, *, out, threads))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        u: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Array<'py>> {
        let mut members = self.members()?;
        let (n_u, n_y) = (self.options.inputs.len(), self.options.outputs.len());
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
        let mut filled = filling(&found)?;
        let outputs = split(written(&mut filled)?, n_y, members.len());
        if !members.iter().any(Member::is_behind) {
            for member in members.iter_mut() {
                member.asked += 1;
            }
        }
        let items = (members.iter_mut().enumerate())
            .zip(outputs)
            .map(|((at, member), outputs)| (member, &held[at * n_u..][..n_u], outputs))
            .collect();
        share_out(
            py,
            items,
            thread_count(threads),
            |(member, u, outputs): (&mut Member, &[f64], &mut [f64]), is_stopped| {
                member.catch_up(u, outputs, &mut |_| flow(is_stopped()));
            },
        )?;
        drop(filled);
        Ok(found)
    }
}

fn flow(is_stopped: bool) -> Flow {
    if is_stopped {
        Flow::Stop
    } else {
        Flow::Continue
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

/// Where a member of a rollout begins and whether it reached its end; rows for its states and outputs.
type RolledMember<'a> = (
    (Option<&'a lissom::State>, &'a mut bool),
    (&'a mut [f64], &'a mut [f64]),
);

/// Runs of many members under inputs that are held over steps, on several threads.
#[pyfunction]
#[pyo3(signature = (mechanism, states, inputs, names, dt_s, *, threads))]
pub(crate) fn rolled<'py>(
    mechanism: &Bound<'py, Mechanism>,
    states: Vec<Option<Bound<'py, State>>>,
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
    let options = options(dt_s, names.0, names.1)?;
    if members != states.len() || n_u != options.inputs.len() {
        return Err(PyValueError::new_err(format!(
            "the inputs are for {members} members with {n_u} inputs, and there are {} states and {} names of inputs",
            states.len(),
            options.inputs.len()
        )));
    }
    let starts = starts(own, &states)?;
    let begin = |start: &lissom::State| SampledSimulation::new(&own.mechanism, start, &options);
    // names that are wrong are wrong for all that can begin
    for start in starts.iter().flatten() {
        match py.detach(|| begin(start)) {
            Ok(_) => break,
            Err(SampledError::Start(_)) => {}
            Err(wrong) => return Err(wrong.raise(py)),
        }
    }
    let n_x = own.counts.iter().sum();
    refuse_without_coordinates(n_x)?;
    let n_y = options.outputs.len();
    let found = result(py, None, &[members, steps + 1, n_x])?;
    let read = result(py, None, &[members, steps + 1, n_y])?;
    let mut ok = vec![false; members];
    {
        let (mut found_numbers, mut read_numbers) = (filling(&found)?, filling(&read)?);
        let held = numbers(&array)?;
        let found_rows = split(written(&mut found_numbers)?, (steps + 1) * n_x, members);
        let read_rows = split(written(&mut read_numbers)?, (steps + 1) * n_y, members);
        let items = (starts.into_iter().zip(&mut ok))
            .zip(found_rows.into_iter().zip(read_rows))
            .enumerate()
            .collect();
        let roll = |(at, ((start, ok), (states, outputs))): (usize, RolledMember<'_>),
                    is_stopped: &mut dyn FnMut() -> bool| {
            // what a member does not reach is not a number
            states.fill(f64::NAN);
            outputs.fill(f64::NAN);
            let held = &held[at * steps * n_u..][..steps * n_u];
            let begun = start.and_then(|start| begin(start).ok());
            *ok = begun.is_some_and(|mut member| {
                let watch = &mut |_| flow(is_stopped());
                let end = member.roll(held, states, outputs, watch);
                matches!(end, Ok(Flow::Continue))
            });
        };
        share_out(py, items, thread_count(threads), roll)?;
    }
    Ok((found, read, ok))
}
