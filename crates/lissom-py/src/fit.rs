//! Numbers of a model from measured data.

use lissom::Override;
use lissom_io::fit::{Fit, FitError, Parameter};
use lissom_io::load::load_text;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{OrRefuse, interruption, raised};
use crate::model::Model;
use crate::recording::{Samples, given, taken};
use crate::study::json;
use crate::threads::thread_count;
use crate::watch::watched;

/// What was found as JSON, the text of the model with it, and measured and fitted channels.
#[pyfunction]
pub(crate) fn fitted<'py>(
    py: Python<'py>,
    model: &Model,
    time_s: PyReadonlyArray1<'_, f64>,
    channels: Samples<'_>,
    parameters: Vec<String>,
    each: bool,
) -> PyResult<(String, String, Bound<'py, PyDict>)> {
    let measured = taken(&time_s, &channels)?;
    let text = model.loaded.whole_text().or_refuse()?;
    let refused = |error: FitError| match error {
        FitError::Wrong(what) => PyValueError::new_err(what),
        error => raised(py, "SimulationError", &error.to_string(), None),
    };
    let parameters = Parameter::named(&text, &parameters, each).map_err(refused)?;
    let label = model.loaded.label.as_str();
    let load = |changes: &[Override]| load_text(label, &text, changes);
    let fit = Fit {
        load: &load,
        parameters: &parameters,
        measured: &measured,
        threads: thread_count(None),
    };
    let (found, interrupted) = watched(py, |watch| fit.run(&mut |_| watch(0.0)));
    if let Some(interrupted) = interrupted {
        return Err(interruption(py, interrupted));
    }
    let found = found.map_err(refused)?;
    let written = found.written_into(&text).map_err(refused)?;
    Ok((json(&found)?, written, given(py, &found.recording)?))
}
