//! Work on several threads: how many there may be, and how it is shared out without the interpreter's lock.

use std::cell::Cell;
use std::num::NonZero;

use lissom::Flow;
use lissom_io::threads::{cores, on_threads};
use pyo3::prelude::*;

use crate::error::interruption;
use crate::watch::watched;

thread_local! {
    /// Most threads that calls from this thread may take.
    static MOST: Cell<Option<NonZero<usize>>> = const { Cell::new(None) };
}

/// Limits the threads that calls from this thread take, zero for all cores; returns the limit before.
#[pyfunction]
pub(crate) fn limit_threads(most: usize) -> usize {
    MOST.replace(NonZero::new(most)).map_or(0, NonZero::get)
}

/// How many threads a call takes: as many as it asks for, or one per core, within the limit.
pub(crate) fn thread_count(asked: Option<usize>) -> usize {
    let most = MOST.get().map_or(usize::MAX, NonZero::get);
    asked.unwrap_or_else(cores).clamp(1, most)
}

/// Does something with every item on several threads, without the interpreter's lock and ended by what a signal handler of Python raises.
pub(crate) fn share_out<I: Send>(
    py: Python<'_>,
    items: Vec<I>,
    threads: usize,
    work: impl Sync + Fn(I, &mut dyn FnMut() -> bool),
) -> PyResult<()> {
    let ((), interrupted) = watched(py, |watch| {
        on_threads(items, threads, &work, &mut || watch(0.0) == Flow::Stop);
    });
    match interrupted {
        Some(interrupted) => Err(interruption(py, interrupted)),
        None => Ok(()),
    }
}
