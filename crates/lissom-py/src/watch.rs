//! Long calls: without the interpreter's lock, ended by Ctrl-C.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lissom::Flow;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// How often Python is asked whether somebody wants to stop.
const ASKED_EVERY: Duration = Duration::from_millis(50);

/// Does something that takes its time without the interpreter's lock. It is told to stop when a signal handler of Python
/// raises, as Ctrl-C does; that exception comes back beside what was found. Python's own handlers stay in place.
pub(crate) fn watched<R: Send>(
    py: Python<'_>,
    work: impl Send + FnOnce(&mut dyn FnMut(f64) -> Flow) -> R,
) -> (R, Option<PyErr>) {
    py.detach(|| {
        let mut asked = Instant::now();
        let mut raised: Option<PyErr> = None;
        let found = work(&mut |_| {
            if raised.is_none() && asked.elapsed() >= ASKED_EVERY {
                raised = Python::attach(asked_to_stop);
                asked = Instant::now();
            }
            match raised {
                Some(_) => Flow::Stop,
                None => Flow::Continue,
            }
        });
        (found, raised)
    })
}

/// What a signal handler of Python has raised, or what ends calls of this thread otherwise.
fn asked_to_stop(py: Python<'_>) -> Option<PyErr> {
    let is_asked = |stop: &Arc<AtomicBool>| stop.load(Ordering::Relaxed);
    if STOP.with_borrow(|stop| stop.as_ref().is_some_and(is_asked)) {
        return Some(PyKeyboardInterrupt::new_err("stopped"));
    }
    py.check_signals().err()
}

thread_local! {
    /// Ends calls from this thread, if there is one.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Ends calls on other threads, which signals do not reach: those that are made inside its `with` block.
#[pyclass(frozen, module = "lissom._native")]
#[derive(Default)]
pub(crate) struct Stop {
    asked: Arc<AtomicBool>,
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    fn __enter__(&self) {
        STOP.set(Some(Arc::clone(&self.asked)));
    }

    #[pyo3(signature = (*_raised))]
    #[expect(clippy::unused_self, reason = "Python calls it on the object")]
    fn __exit__(&self, _raised: &Bound<'_, PyTuple>) {
        STOP.set(None);
    }
}
