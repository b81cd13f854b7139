//! Recordings between Python and Lissom: values there, files here.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use lissom::{Channel, Recording};
use lissom_io::batch::Batch;
use lissom_io::{IoError, atomic, csv, mat, npz, record, resource, stored};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::error::{io_error, stored_error};
use crate::model::Model;

/// Channels as `lissom.Recording` takes them.
pub(crate) fn given<'py>(py: Python<'py>, recording: &Recording) -> PyResult<Bound<'py, PyDict>> {
    let (samples, units) = (PyDict::new(py), PyDict::new(py));
    for channel in &recording.channels {
        let values = PyArray1::from_slice(py, &channel.samples);
        samples.set_item(&channel.name, values)?;
        units.set_item(&channel.name, &channel.unit)?;
    }
    let told = PyDict::new(py);
    told.set_item("time_s", PyArray1::from_slice(py, &recording.time_s))?;
    told.set_item("channels", samples)?;
    told.set_item("units", units)?;
    Ok(told)
}

type Samples<'py> = Vec<(String, String, PyReadonlyArray1<'py, f64>)>;

/// The recording of channels with their units, all of one length over instants that rise.
fn taken(time_s: &PyReadonlyArray1<'_, f64>, channels: &Samples<'_>) -> PyResult<Recording> {
    let wrong = |what: String| Err(PyValueError::new_err(what));
    let time_s: Vec<f64> = time_s.as_array().iter().copied().collect();
    if !time_s.is_sorted_by(|a, b| a < b) {
        return wrong("the instants of a recording must rise".to_owned());
    }
    let mut taken = Vec::with_capacity(channels.len());
    for (name, unit, samples) in channels {
        let samples: Vec<f64> = samples.as_array().iter().copied().collect();
        if samples.len() != time_s.len() {
            return wrong(format!(
                "channel {name:?} has {} samples, and there are {} instants",
                samples.len(),
                time_s.len()
            ));
        }
        taken.push(Channel {
            name: name.clone(),
            unit: unit.clone(),
            samples,
        });
    }
    Ok(Recording {
        time_s,
        channels: taken,
    })
}

/// Writes a recording into one file, in the format that its name says.
#[pyfunction]
pub(crate) fn write_recording(
    py: Python<'_>,
    path: PathBuf,
    time_s: PyReadonlyArray1<'_, f64>,
    channels: Samples<'_>,
) -> PyResult<()> {
    let recording = taken(&time_s, &channels)?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    let write: fn(&Recording, &mut BufWriter<File>) -> std::io::Result<()> = match extension {
        Some("csv") => |recording, out| csv::write(recording, out),
        Some("npz") => |recording, out| npz::write(recording, out),
        Some("mat") => |recording, out| mat::write(recording, out),
        _ => {
            return Err(PyValueError::new_err(format!(
                "{} ends neither with .csv, .npz nor .mat; for a folder leave the ending out",
                path.display()
            )));
        }
    };
    py.detach(|| atomic::write(&path, |out| write(&recording, out)))
        .map_err(|error| io_error(&error))
}

/// Writes a run into a folder as the command does: recording and manifest.
#[pyfunction]
#[pyo3(signature = (folder, model, time_s, channels, summary, options, stopped_at_s))]
pub(crate) fn write_run(
    folder: PathBuf,
    model: &Bound<'_, Model>,
    time_s: PyReadonlyArray1<'_, f64>,
    channels: Samples<'_>,
    summary: &str,
    options: &str,
    stopped_at_s: Option<f64>,
) -> PyResult<()> {
    let recording = taken(&time_s, &channels)?;
    let json = |text: &str| -> PyResult<Value> {
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
    };
    let (summary, options) = (json(summary)?, json(options)?);
    let loaded = &model.get().loaded;
    let wrote = model.py().detach(|| {
        let batch = Batch::begin(&folder, record::file_names())?;
        record::write_recording(batch, loaded, &recording, options, summary, stopped_at_s)
    });
    wrote.map(drop).map_err(|error| io_error(&error))
}

/// Reads a recording from a file, or from the folder of a run with its model and what was said of it.
#[pyfunction]
pub(crate) fn read_recording(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(Bound<'_, PyDict>, Option<Model>, Option<String>)> {
    if path.is_dir() {
        let stored = py.detach(|| stored::read(&path));
        let stored = stored.map_err(|error| stored_error(&error))?;
        let told = given(py, &stored.recording)?;
        told.set_item("stopped_at_s", stored.manifest.stopped_at_s)?;
        let summary = stored.manifest.summary.to_string();
        let model = Model {
            loaded: stored.loaded.into(),
        };
        return Ok((told, Some(model), Some(summary)));
    }
    let recording = read(py, &path)?;
    Ok((given(py, &recording)?, None, None))
}

fn read(py: Python<'_>, path: &Path) -> PyResult<Recording> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let parse: fn(&[u8]) -> std::io::Result<Recording> = match extension {
        Some("csv") => csv::read,
        Some("npz") => npz::read,
        _ if !path.exists() => {
            let missing = format!("there is no file or folder {}", path.display());
            return Err(PyFileNotFoundError::new_err(missing));
        }
        _ => {
            return Err(PyValueError::new_err(format!(
                "{} is neither a folder of a run nor a file that ends with .csv or .npz",
                path.display()
            )));
        }
    };
    let recording = py.detach(|| Ok(parse(&resource::read_file(path)?)));
    recording
        .map_err(|error: IoError| io_error(&error))?
        .map_err(|error| PyValueError::new_err(format!("cannot read {}: {error}", path.display())))
}
