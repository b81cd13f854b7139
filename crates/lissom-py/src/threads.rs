//! Work on several threads: how many there may be, and how it is shared out.
//!
//! Threads live as long as a call. Nothing is left behind that a forked process would miss.

use std::cell::Cell;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};

use lissom::Flow;
use pyo3::prelude::*;

use crate::error::interruption;
use crate::watch::{ASKED_EVERY, watched};

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
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let most = MOST.get().map_or(usize::MAX, NonZero::get);
    asked.unwrap_or_else(cores).clamp(1, most)
}

/// Does something with every item on several threads, the first items first. `is_stopped` is asked on this thread alone; once it says
/// so, no other item is begun, and what is done is told.
pub(crate) fn on_threads<I: Send>(
    items: Vec<I>,
    threads: usize,
    work: impl Sync + Fn(I, &mut dyn FnMut() -> bool),
    is_stopped: &mut dyn FnMut() -> bool,
) {
    let helpers = threads.min(items.len()).saturating_sub(1);
    let queue = Mutex::new(items.into_iter());
    let stop = AtomicBool::new(false);
    let work = |is_stopped: &mut dyn FnMut() -> bool| {
        while !is_stopped() {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(item) = next else { break };
            work(item, is_stopped);
        }
    };
    std::thread::scope(|scope| {
        let (working, all_done) = channel::<()>();
        for _ in 0..helpers {
            let (working, work, stop) = (working.clone(), &work, &stop);
            scope.spawn(move || {
                work(&mut || stop.load(Ordering::Relaxed));
                drop(working);
            });
        }
        drop(working);
        let mut asked = || {
            let stopped = is_stopped();
            stop.fetch_or(stopped, Ordering::Relaxed) || stopped
        };
        work(&mut asked);
        // until the others are done too
        while all_done.recv_timeout(ASKED_EVERY) == Err(RecvTimeoutError::Timeout) {
            asked();
        }
    });
}

/// The same without the interpreter's lock, ended by what a signal handler of Python raises.
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
