//! Errors of Lissom as the exceptions of `lissom.errors`.

use std::io::ErrorKind;
use std::ops::Range;

use lissom::RunError;
use lissom_io::IoError;
use lissom_io::load::{LoadError, Problem};
use lissom_io::stored::StoredError;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyPermissionError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// An exception of `lissom.errors` with a message and attributes.
pub(crate) fn raised(
    py: Python<'_>,
    class: &str,
    message: &str,
    attributes: Option<&Bound<'_, PyDict>>,
) -> PyErr {
    let made = || {
        let class = py.import("lissom.errors")?.getattr(class)?;
        class.call((message,), attributes)
    };
    match made() {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// What a study says that has no answer.
pub(crate) fn simulation_error(py: Python<'_>, error: &dyn std::error::Error) -> PyErr {
    raised(py, "SimulationError", &error.to_string(), None)
}

/// A failed run, with the instant and the coordinate in trouble.
pub(crate) fn run_error(py: Python<'_>, error: &RunError) -> PyErr {
    let attributes = PyDict::new(py);
    let told = attributes
        .set_item("time_s", error.time_s())
        .and_then(|()| attributes.set_item("coordinate", error.coordinate()));
    match told {
        Ok(()) => raised(py, "SimulationError", &error.to_string(), Some(&attributes)),
        Err(error) => error,
    }
}

/// Ctrl-C as `lissom.Interrupted`; what other handlers raise stays what it is.
pub(crate) fn interruption(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        raised(py, "Interrupted", "interrupted", None)
    } else {
        error
    }
}

/// A file that cannot be read or written, as the exception that Python has for the reason.
pub(crate) fn io_error(error: &IoError) -> PyErr {
    os_error(kind(error), error)
}

/// The same for a folder of a run.
pub(crate) fn stored_error(error: &StoredError) -> PyErr {
    let kind = match error {
        StoredError::File(error) => kind(error),
        _ => None,
    };
    os_error(kind, error)
}

fn kind(error: &IoError) -> Option<ErrorKind> {
    match error {
        IoError::CreateFolder { reason, .. }
        | IoError::Write { reason, .. }
        | IoError::Read { reason, .. } => Some(reason.kind()),
        _ => None,
    }
}

fn os_error(kind: Option<ErrorKind>, error: &dyn std::error::Error) -> PyErr {
    let message = error.to_string();
    match kind {
        Some(ErrorKind::NotFound) => PyFileNotFoundError::new_err(message),
        Some(ErrorKind::PermissionDenied) => PyPermissionError::new_err(message),
        _ => PyOSError::new_err(message),
    }
}

/// Everything that is wrong with a model.
pub(crate) fn load_error(py: Python<'_>, error: &LoadError) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let problems = PyList::empty(py);
        let places = error.locate(error.problems.len());
        for (problem, place) in error.problems.iter().zip(places) {
            let told = PyDict::new(py);
            told.set_item("message", problem.to_string())?;
            told.set_item("path", path_of(problem))?;
            told.set_item("line", line_of(error, place))?;
            told.set_item("remedy", problem.remedy())?;
            problems.append(told)?;
        }
        let attributes = PyDict::new(py);
        attributes.set_item("file", &error.origin)?;
        attributes.set_item("problems", problems)?;
        Ok(raised(
            py,
            "ModelError",
            &error.to_string(),
            Some(&attributes),
        ))
    };
    made().unwrap_or_else(|error| error)
}

/// The key that a problem is about.
fn path_of(problem: &Problem) -> Option<String> {
    match problem {
        Problem::Model(error) => Some(error.path.to_string()),
        Problem::File { at, .. } | Problem::InFile { at, .. } => Some(at.to_string()),
        Problem::Build(error) => Some(error.path().to_string()),
        _ => None,
    }
}

/// The line of the text at which a place begins, from one.
fn line_of(error: &LoadError, place: Option<Range<usize>>) -> Option<usize> {
    let (text, place) = (error.text.as_deref()?, place?);
    Some(1 + text.get(..place.start)?.matches('\n').count())
}
