//! Evaluations of a mechanism at states in rows: workspaces, and threads where there are many.

use std::sync::{Arc, Mutex, PoisonError};

use lissom::{Coordinate, EvaluateError, Evaluator, StateRows};
use pyo3::prelude::*;

use crate::error::simulation_error;
use crate::threads::{share_out, thread_count};

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

    /// A workspace. One that another thread holds on to, which a forked process never sees again, is not waited for.
    pub(crate) fn taken(&self) -> Result<Evaluator, EvaluateError> {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        match idle {
            Some(evaluator) => Ok(evaluator),
            None => Evaluator::of_released(Arc::clone(&self.mechanism)),
        }
    }

    pub(crate) fn give_back(&self, evaluator: Evaluator) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(evaluator);
        }
    }

    /// Evaluates states in rows, with a number of answers each: on several threads where there are many.
    pub(crate) fn evaluate(
        &self,
        py: Python<'_>,
        rows: &StateRows<'_>,
        found: &mut [f64],
        evaluate: impl Sync + Fn(&mut Evaluator, &StateRows<'_>, &mut [f64]),
    ) -> PyResult<()> {
        let [n_q, n_v] = self.coordinates.each_ref().map(Vec::len);
        let count = rows.motion.len() / (n_q + n_v);
        let refused = |error: EvaluateError| simulation_error(py, &error);
        if count <= BLOCK {
            let made = py.detach(|| {
                let mut evaluator = self.taken()?;
                evaluate(&mut evaluator, rows, found);
                self.give_back(evaluator);
                Ok(())
            });
            return made.map_err(refused);
        }
        let most = if self.is_independent {
            thread_count(None)
        } else {
            1
        };
        let threads = most.min(count.div_ceil(BLOCK));
        let evaluators = (0..threads).map(|_| self.taken());
        let evaluators = evaluators.collect::<Result<Vec<_>, _>>().map_err(refused)?;
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
}

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

/// What is evaluated one state at a time.
pub(crate) fn each(
    evaluate: impl Sync + Fn(&mut Evaluator, At<'_>, &mut [f64]),
) -> impl Sync + Fn(&mut Evaluator, &StateRows<'_>, &mut [f64]) {
    move |evaluator, rows, found| {
        let n_q = evaluator.position_count();
        let n_x = n_q + evaluator.velocity_count();
        let size = found.len() / (rows.motion.len() / n_x).max(1);
        for (at, x) in rows.motion.chunks_exact(n_x).enumerate() {
            let (position, velocity) = x.split_at(n_q);
            let at_state = At {
                time_s: rows.time_s,
                position,
                velocity,
            };
            evaluate(evaluator, at_state, &mut found[at * size..][..size]);
        }
    }
}

/// One of the states.
pub(crate) struct At<'a> {
    pub(crate) time_s: f64,
    pub(crate) position: &'a [f64],
    pub(crate) velocity: &'a [f64],
}

impl<'a> At<'a> {
    /// Positions and velocities.
    pub(crate) fn state(&self) -> [&'a [f64]; 2] {
        [self.position, self.velocity]
    }
}
