//! Rows of sweeps on the disk, and values drawn for them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use lissom_io::sweep::{Drawing, Folder, FolderError, Points, Values, Variation};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// The folder of a sweep.
#[pyclass(frozen, module = "lissom._native")]
pub(crate) struct SweepFolder {
    /// None once it is closed.
    folder: Mutex<Option<Folder>>,
    found: BTreeMap<usize, String>,
}

#[pymethods]
impl SweepFolder {
    #[new]
    fn new(path: PathBuf, identity: &str) -> PyResult<Self> {
        let (folder, found) = Folder::open(&path, identity, false).map_err(raised)?;
        let folder = Mutex::new(Some(folder));
        Ok(Self { folder, found })
    }

    /// The rows that were there, by their numbers.
    fn found(&self) -> BTreeMap<usize, String> {
        self.found.clone()
    }

    fn add(&self, py: Python<'_>, at: usize, row: &str) -> PyResult<()> {
        let add = || {
            let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
            folder.as_mut().map_or(Ok(()), |folder| folder.add(at, row))
        };
        py.detach(add).map_err(|error| raised(error.into()))
    }

    /// Brings all rows onto the disk, and lets others write to the folder.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let close = || {
            let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
            folder.take().map_or(Ok(()), Folder::close)
        };
        py.detach(close).map_err(|error| raised(error.into()))
    }
}

fn raised(error: FolderError) -> PyErr {
    match error {
        FolderError::Io(error) => PyOSError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// Values of every run by path, in the order of the paths.
#[pyfunction]
pub(crate) fn drawn(
    distributions: Vec<(String, String)>,
    runs: usize,
    seed: u64,
    latin_hypercube: bool,
) -> PyResult<Vec<Vec<f64>>> {
    let variation = |(path, text): &(String, String)| {
        let values = Values::parse(text)?;
        Variation::new(path, values)
    };
    let variations = distributions.iter().map(variation);
    let drawing = if latin_hypercube {
        Drawing::LatinHypercube
    } else {
        Drawing::MonteCarlo
    };
    let points = variations
        .collect::<Result<Vec<_>, _>>()
        .and_then(|variations| Points::drawn(&variations, runs, seed, drawing))
        .map_err(PyValueError::new_err)?;
    // numbers that were written read back to the same bits
    let row = |row: &Vec<String>| row.iter().filter_map(|value| value.parse().ok()).collect();
    Ok(points.rows.iter().map(row).collect())
}
