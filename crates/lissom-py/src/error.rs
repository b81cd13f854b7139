//! Errors of Lissom as the exceptions of `lissom.errors`.

use std::fmt::Display;
use std::io::ErrorKind;
use std::ops::Range;

use lissom::evaluate::EvaluateError;
use lissom::inverse::InverseError;
use lissom::{AnalysisError, LinearError, ModelError, RunError, StateError};
use lissom_io::IoError;
use lissom_io::body_summary::BodyError;
use lissom_io::continued::ContinueError;
use lissom_io::load::{LoadError, Problem};
use lissom_io::state::StateFileError;
use lissom_io::stored::StoredError;
use pyo3::exceptions::{
    PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyPermissionError, PyValueError,
};
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

/// An error of Lissom that Python has an exception for.
pub(crate) trait Raise {
    /// The exception.
    fn raise(&self, py: Python<'_>) -> PyErr;
}

/// What was found, or the exception for why nothing was.
pub(crate) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Raise> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| error.raise(py))
    }
}

/// What was found, or a `ValueError` in the words of why what was given is refused.
pub(crate) trait OrRefuse<T> {
    fn or_refuse(self) -> PyResult<T>;
}

impl<T, E: Display> OrRefuse<T> for Result<T, E> {
    fn or_refuse(self) -> PyResult<T> {
        self.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// A study without an answer, with the instant and the coordinate in trouble where they are known.
fn simulation_error(
    py: Python<'_>,
    error: &dyn std::error::Error,
    (time_s, coordinate): (Option<f64>, Option<&str>),
) -> PyErr {
    let attributes = PyDict::new(py);
    let told = (attributes.set_item("time_s", time_s))
        .and_then(|()| attributes.set_item("coordinate", coordinate));
    match told {
        Ok(()) => raised(py, "SimulationError", &error.to_string(), Some(&attributes)),
        Err(error) => error,
    }
}

/// When and where a run is in trouble.
fn trouble(run: &RunError) -> (Option<f64>, Option<&str>) {
    (Some(run.time_s()), Some(run.coordinate()))
}

impl Raise for RunError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        simulation_error(py, self, trouble(self))
    }
}

impl Raise for EvaluateError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        let told = match self {
            Self::Run(run) => trouble(run),
            _ => (None, None),
        };
        simulation_error(py, self, told)
    }
}

impl Raise for AnalysisError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        let told = match self {
            Self::Start(run) | Self::Run(run) => trouble(run),
            Self::Large { time_s, .. } => (Some(*time_s), self.coordinate()),
            _ => (None, self.coordinate()),
        };
        simulation_error(py, self, told)
    }
}

impl Raise for InverseError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        simulation_error(py, self, (None, None))
    }
}

impl Raise for StateError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        simulation_error(py, self, (None, None))
    }
}

impl Raise for LinearError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        simulation_error(py, self, (None, None))
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

/// A file that cannot be read or written is the exception that Python has for the reason.
impl Raise for IoError {
    fn raise(&self, _: Python<'_>) -> PyErr {
        os_error(kind(self), self)
    }
}

impl Raise for StoredError {
    fn raise(&self, _: Python<'_>) -> PyErr {
        let kind = match self {
            Self::File(error) => kind(error),
            _ => None,
        };
        os_error(kind, self)
    }
}

impl Raise for StateFileError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::File(error) => error.raise(py),
            Self::Recording(error) => error.raise(py),
            _ => PyValueError::new_err(self.to_string()),
        }
    }
}

impl Raise for ContinueError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Stored(error) => error.raise(py),
            _ => PyValueError::new_err(self.to_string()),
        }
    }
}

impl Raise for BodyError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Unreadable(error) => error.raise(py),
            _ => PyValueError::new_err(self.to_string()),
        }
    }
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
impl Raise for LoadError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        let made = || -> PyResult<PyErr> {
            let problems = PyList::empty(py);
            let places = self.locate(self.problems.len());
            for (problem, place) in self.problems.iter().zip(places) {
                let told = PyDict::new(py);
                told.set_item("message", problem.to_string())?;
                told.set_item("path", path_of(problem))?;
                told.set_item("line", line_of(self, place))?;
                told.set_item("remedy", problem.remedy())?;
                problems.append(told)?;
            }
            let attributes = PyDict::new(py);
            attributes.set_item("file", &self.origin)?;
            attributes.set_item("problems", problems)?;
            let message = self.to_string();
            Ok(raised(py, "ModelError", &message, Some(&attributes)))
        };
        made().unwrap_or_else(|error| error)
    }
}

/// A change of a model that is none.
impl Raise for ModelError {
    fn raise(&self, py: Python<'_>) -> PyErr {
        let made = || -> PyResult<PyErr> {
            let told = PyDict::new(py);
            told.set_item("message", self.to_string())?;
            told.set_item("remedy", self.remedy())?;
            let attributes = PyDict::new(py);
            attributes.set_item("problems", [told])?;
            let message = self.to_string();
            Ok(raised(py, "ModelError", &message, Some(&attributes)))
        };
        made().unwrap_or_else(|error| error)
    }
}

/// The key that a problem is about.
fn path_of(problem: &Problem) -> Option<String> {
    match problem {
        Problem::Model(error) => Some(error.path.to_string()),
        Problem::File { at, .. } | Problem::InFile { at, .. } | Problem::Frame { at, .. } => {
            Some(at.to_string())
        }
        Problem::Build(error) => Some(error.path().to_string()),
        _ => None,
    }
}

/// The line of the text at which a place begins, from one.
fn line_of(error: &LoadError, place: Option<Range<usize>>) -> Option<usize> {
    let (text, place) = (error.text.as_deref()?, place?);
    Some(1 + text.get(..place.start)?.matches('\n').count())
}
