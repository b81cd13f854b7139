//! Long calls: without the interpreter's lock, ended by Ctrl-C.

use std::time::{Duration, Instant};

use lissom::Flow;
use pyo3::prelude::*;

/// How often Python is asked whether somebody wants to stop.
pub(crate) const ASKED_EVERY: Duration = Duration::from_millis(50);

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

/// What a signal handler of Python has raised.
fn asked_to_stop(py: Python<'_>) -> Option<PyErr> {
    py.check_signals().err()
}
