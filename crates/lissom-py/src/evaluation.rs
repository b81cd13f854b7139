//! Evaluations of a mechanism at states in rows: what is asked, workspaces, and threads where there are many.

use std::sync::{Arc, Mutex, PoisonError};

use lissom::evaluate::EvaluateError;
use lissom::{Coordinate, Evaluator, RowQuantity, StateRows};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{
    Array, contiguous, filling, leading, numbers, refuse_without_coordinates, result, rows, written,
};
use crate::error::OrRaise;
use crate::mechanism::Mechanism;
use crate::state::State;
use crate::threads::{share_out, thread_count};

/// States at which something is evaluated, and where the result goes.
pub(crate) struct Asked<'a, 'py> {
    mechanism: &'a Mechanism,
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
    pub(crate) fn of(
        mechanism: &'a Mechanism,
        states: &'a Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&'a Bound<'py, PyAny>>,
    ) -> Self {
        Self {
            mechanism,
            states,
            time_s,
            out,
            with: None,
        }
    }

    /// The same with forces or accelerations that come with the states.
    pub(crate) fn with(
        self,
        what: &'static str,
        rows: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let rows = rows.map(contiguous).transpose()?;
        Ok(Self {
            with: rows.map(|rows| (what, rows)),
            ..self
        })
    }

    /// Evaluates what can be evaluated for several states at a time.
    pub(crate) fn in_rows(&self, quantity: RowQuantity) -> PyResult<Array<'py>> {
        let shape = match quantity {
            RowQuantity::MassMatrix => |n| vec![n, n],
            RowQuantity::InverseDynamics | RowQuantity::ForwardDynamics => |n| vec![n],
        };
        self.evaluated(shape, |evaluator, rows, found| {
            evaluator.evaluate_rows(quantity, rows, found);
        })
    }

    /// Evaluates something of one state after the other.
    pub(crate) fn one_by_one(
        &self,
        shape: fn(usize) -> Vec<usize>,
        evaluate: impl Sync + Fn(&mut Evaluator, At<'_>, &mut [f64]),
    ) -> PyResult<Array<'py>> {
        self.evaluated(shape, |evaluator, rows, found| {
            let counts @ [n_q, n_v] = [evaluator.position_count(), evaluator.velocity_count()];
            let count = rows.motion.len() / (n_q + n_v);
            for at in 0..count {
                let size = found.len() / count;
                let found = &mut found[at * size..][..size];
                evaluate(evaluator, At::new(rows, counts, at), found);
            }
        })
    }

    /// Evaluates something of every state and returns it as one array: the leading axes of the states, then those of `shape`, which
    /// goes by the number of velocities. The interpreter is free meanwhile.
    fn evaluated(
        &self,
        shape: fn(usize) -> Vec<usize>,
        evaluate: impl Sync + Fn(&mut Evaluator, &StateRows<'_>, &mut [f64]),
    ) -> PyResult<Array<'py>> {
        let (py, own) = (self.states.py(), self.mechanism);
        let free = own.free(py)?;
        let [n_q, n_v] = free.counts();
        refuse_without_coordinates(n_q + n_v)?;
        let (of_state, array);
        let mut time_s = self.time_s;
        let (x, axes): (&[f64], &[usize]) = if let Ok(state) = self.states.cast::<State>() {
            let state = state.get();
            time_s = time_s.or(Some(state.state.time_s));
            of_state = own.free_x(py, free, state)?;
            (&of_state, &[])
        } else {
            array = contiguous(self.states)?;
            let axes = leading("the array of states", array.shape(), n_q + n_v)?;
            (numbers(&array)?, axes)
        };
        let with = self.with.as_ref();
        let with = with
            .map(|(what, array)| rows(what, array, axes, n_v))
            .transpose()?;
        let whole: Vec<usize> = axes.iter().copied().chain(shape(n_v)).collect();
        let out = result(py, self.out, &whole)?;
        let mut filled = filling(&out)?;
        let rows = StateRows {
            time_s: own.instant(time_s)?,
            motion: x,
            with: with.unwrap_or(&[]),
        };
        free.evaluate(py, &rows, written(&mut filled)?, evaluate)?;
        drop(filled);
        Ok(out)
    }
}

/// One of the states.
pub(crate) struct At<'a> {
    pub(crate) time_s: f64,
    pub(crate) position: &'a [f64],
    velocity: &'a [f64],
    /// Forces that come with it; empty where none do.
    pub(crate) with: &'a [f64],
}

impl<'a> At<'a> {
    fn new(rows: &StateRows<'a>, [n_q, n_v]: [usize; 2], at: usize) -> Self {
        let (position, velocity) = rows.motion[at * (n_q + n_v)..][..n_q + n_v].split_at(n_q);
        let with = if rows.with.len() > n_v {
            &rows.with[at * n_v..][..n_v]
        } else {
            rows.with
        };
        Self {
            time_s: rows.time_s,
            position,
            velocity,
            with,
        }
    }

    /// Positions and velocities.
    pub(crate) fn state(&self) -> [&'a [f64]; 2] {
        [self.position, self.velocity]
    }
}

/// The mechanism with every joint free, as evaluations have it.
pub(crate) struct Free {
    pub(crate) mechanism: Arc<lissom::Mechanism>,
    /// Names, units and kinds of its positions and velocities.
    pub(crate) coordinates: [Vec<Coordinate>; 2],
    pub(crate) markers: Vec<String>,
    /// Whether what is found of a state does not depend on those before.
    is_independent: bool,
    /// Workspaces that nobody uses just now.
    idle: Mutex<Vec<Evaluator>>,
}

/// States that a thread evaluates before it asks for others.
const BLOCK: usize = 64;

impl Free {
    pub(crate) fn of(mechanism: &lissom::Mechanism) -> Result<Self, EvaluateError> {
        let evaluator = Evaluator::new(mechanism)?;
        let mechanism = Arc::clone(evaluator.mechanism());
        Ok(Self {
            coordinates: mechanism.coordinates()?,
            markers: evaluator.markers(),
            is_independent: evaluator.is_independent(),
            mechanism,
            idle: Mutex::new(vec![evaluator]),
        })
    }

    /// Numbers of positions and of velocities.
    pub(crate) fn counts(&self) -> [usize; 2] {
        self.coordinates.each_ref().map(Vec::len)
    }

    /// A workspace. One that another thread holds on to, which a forked process never sees again, is not waited for.
    fn taken(&self) -> Result<Evaluator, EvaluateError> {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        match idle {
            Some(evaluator) => Ok(evaluator),
            None => Evaluator::of_released(Arc::clone(&self.mechanism)),
        }
    }

    fn give_back(&self, evaluator: Evaluator) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(evaluator);
        }
    }

    /// Evaluates states in rows, with a number of answers each: on several threads where there are many.
    fn evaluate(
        &self,
        py: Python<'_>,
        rows: &StateRows<'_>,
        found: &mut [f64],
        evaluate: impl Sync + Fn(&mut Evaluator, &StateRows<'_>, &mut [f64]),
    ) -> PyResult<()> {
        let [n_q, n_v] = self.counts();
        let count = rows.motion.len() / (n_q + n_v);
        if count <= BLOCK {
            return self.alone(py, |evaluator| evaluate(evaluator, rows, found));
        }
        let most = if self.is_independent {
            thread_count(None)
        } else {
            1
        };
        let threads = most.min(count.div_ceil(BLOCK));
        let evaluators = (0..threads).map(|_| self.taken());
        let evaluators = evaluators.collect::<Result<Vec<_>, _>>().or_raise(py)?;
        let evaluators = Mutex::new(evaluators);
        let lock = || evaluators.lock().unwrap_or_else(PoisonError::into_inner);
        let blocks = found.chunks_mut(BLOCK * (found.len() / count)).enumerate();
        let done = share_out(py, blocks.collect(), threads, |(block, found), _| {
            let taken = lock().pop();
            // there are as many as threads
            let Some(mut evaluator) = taken else { return };
            evaluate(&mut evaluator, &block_of(rows, block, [n_q, n_v]), found);
            lock().push(evaluator);
        });
        for evaluator in lock().drain(..) {
            self.give_back(evaluator);
        }
        done
    }

    /// Rows of two arrays of their widths with the same axes in front, and what comes of them, rows of a width in an array that is
    /// there or a new one.
    pub(crate) fn moved<'py>(
        &self,
        py: Python<'py>,
        [(one, one_width), (other, other_width)]: [(PyReadonlyArrayDyn<'py, f64>, usize); 2],
        (width, out): (usize, Option<&Bound<'py, PyAny>>),
        moved: Move,
    ) -> PyResult<Array<'py>> {
        refuse_without_coordinates(width)?;
        let axes = leading("the first array", one.shape(), one_width)?;
        let others = rows("the second array", &other, axes, other_width)?;
        if others.len() / other_width != axes.iter().product::<usize>() {
            return Err(PyValueError::new_err(
                "both arrays need the same axes in front",
            ));
        }
        let shape: Vec<usize> = axes.iter().copied().chain([width]).collect();
        let out = result(py, out, &shape)?;
        let mut filled = filling(&out)?;
        let (one, found) = (numbers(&one)?, written(&mut filled)?);
        self.alone(py, |evaluator| {
            let pairs = (one.chunks_exact(one_width)).zip(others.chunks_exact(other_width));
            for ((one, other), found) in pairs.zip(found.chunks_exact_mut(width)) {
                moved(evaluator, one, other, found);
            }
        })?;
        drop(filled);
        Ok(out)
    }

    /// Does something with a workspace on this thread, without the interpreter's lock.
    fn alone(&self, py: Python<'_>, work: impl Send + FnOnce(&mut Evaluator)) -> PyResult<()> {
        let done = py.detach(|| {
            let mut evaluator = self.taken()?;
            work(&mut evaluator);
            self.give_back(evaluator);
            Ok::<_, EvaluateError>(())
        });
        done.or_raise(py)
    }
}

/// What comes of a row of each of two arrays.
type Move = fn(&mut Evaluator, &[f64], &[f64], &mut [f64]);

/// The rows of a block.
fn block_of<'a>(rows: &StateRows<'a>, block: usize, [n_q, n_v]: [usize; 2]) -> StateRows<'a> {
    let part = |all: &'a [f64], width: usize| {
        let from = block * BLOCK * width;
        &all[from..all.len().min(from + BLOCK * width)]
    };
    StateRows {
        motion: part(rows.motion, n_q + n_v),
        with: if rows.with.len() > n_v {
            part(rows.with, n_v)
        } else {
            rows.with
        },
        ..*rows
    }
}
