//! Reduced bodies: their summaries, and the files that keep them.

use std::io::Write as _;
use std::path::PathBuf;

use lissom_io::body_summary::NamedBody;
use lissom_io::{atomic, body_file};
use pyo3::prelude::*;

use crate::error::{OrRaise, OrRefuse};
use crate::model::Model;
use crate::study::json;

/// A reduced body.
#[pyclass(frozen, module = "lissom._native")]
pub(crate) struct Body {
    found: NamedBody,
    /// Its file, and the CRC-32 of its content.
    text: String,
    crc32: String,
}

impl Body {
    fn new(found: NamedBody) -> PyResult<Self> {
        let (text, crc32) = body_file::text(&found.body).or_refuse()?;
        Ok(Self { found, text, crc32 })
    }
}

#[pymethods]
impl Body {
    #[staticmethod]
    fn of(model: &Bound<'_, Model>, name: &str) -> PyResult<Self> {
        let loaded = &model.get().loaded;
        Self::new(NamedBody::of(loaded, &loaded.label, name).or_raise(model.py())?)
    }

    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::new(py.detach(|| NamedBody::read(&path)).or_raise(py)?)
    }

    /// Its summary, as JSON.
    fn summary(&self) -> PyResult<String> {
        json(&self.found.summary(self.crc32.clone()))
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// Writes it to a file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| atomic::write(&path, |out| out.write_all(self.text.as_bytes())))
            .or_raise(py)
    }

    /// Writes the page that shows it.
    fn write_page(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| {
            let page = lissom_cli::body_page(&self.found);
            atomic::write(&path, |out| out.write_all(page.as_bytes()))
        })
        .or_raise(py)
    }
}
