//! Models: what somebody wrote, with the files it names.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use lissom::{Flow, Override};
use lissom_fe::Stop;
use lissom_io::load::{self, LoadError, Loaded};
use lissom_io::model_summary::ModelSummary;
use lissom_io::models;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::study::{answered, json};

/// A model that can be built.
#[pyclass(frozen, module = "lissom._native")]
pub(crate) struct Model {
    pub(crate) loaded: Arc<Loaded>,
}

fn overrides(py: Python<'_>, changes: &[String]) -> PyResult<Vec<Override>> {
    let parsed = changes.iter().map(|change| Override::parse(change));
    parsed
        .collect::<Result<_, _>>()
        .map_err(|error| error.raise(py))
}

impl Model {
    fn loaded(
        py: Python<'_>,
        changes: &[String],
        load: impl Send + FnOnce(&[Override], Stop<'_>) -> Result<Loaded, LoadError>,
    ) -> PyResult<Self> {
        let overrides = overrides(py, changes)?;
        let loaded = answered(py, |watch| {
            let watch = RefCell::new(watch);
            // no instant is reached: the reduction of bodies is what takes its time
            load(&overrides, &|| (watch.borrow_mut())(f64::NAN) == Flow::Stop)
        })?;
        Ok(Self {
            loaded: Arc::new(loaded),
        })
    }
}

#[pymethods]
impl Model {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, changes: Vec<String>) -> PyResult<Self> {
        Self::loaded(py, &changes, |overrides, stop| {
            load::load_watched(&path, overrides, stop)
        })
    }

    #[staticmethod]
    fn from_text(py: Python<'_>, label: &str, text: &str, changes: Vec<String>) -> PyResult<Self> {
        Self::loaded(py, &changes, |overrides, stop| {
            load::load_text_watched(label, text, overrides, stop)
        })
    }

    #[staticmethod]
    fn shipped(py: Python<'_>, name: &str, changes: Vec<String>) -> PyResult<Self> {
        let shipped = models::find(name);
        let shipped = shipped.ok_or_else(|| PyValueError::new_err(name.to_owned()))?;
        Self::loaded(py, &changes, |overrides, stop| {
            load::load_text_watched(shipped.name, shipped.text, overrides, stop)
        })
    }

    #[getter]
    fn name(&self) -> &str {
        self.loaded.name()
    }

    #[getter]
    fn label(&self) -> &str {
        &self.loaded.label
    }

    #[getter]
    fn toml(&self) -> PyResult<String> {
        self.loaded.whole_text().map_err(PyValueError::new_err)
    }

    fn json(&self) -> PyResult<String> {
        json(&self.loaded.spec)
    }

    /// Its summary, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        json(&py.detach(|| ModelSummary::of(&self.loaded).with_cost(&self.loaded)))
    }
}

/// Names and titles of the models that come with Lissom.
#[pyfunction]
pub(crate) fn shipped_models() -> Vec<(&'static str, &'static str)> {
    let models = models::all().iter();
    models.map(|model| (model.name, model.title)).collect()
}

/// The JSON Schema of model files.
#[pyfunction]
pub(crate) fn json_schema() -> String {
    lissom::json_schema()
}
