//! Recordings between Python and Lissom: values there, files here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lissom::{Channel, Recording};
use lissom_io::batch::Batch;
use lissom_io::load::Loaded;
use lissom_io::measured::Heads;
use lissom_io::model_summary::ModelSummary;
use lissom_io::{IoError, atomic, csv, mat, npz, record, resource, stored, summary};
use lissom_report::Source;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::error::{OrRaise, OrRefuse};
use crate::model::Model;
use crate::state::State;

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

pub(crate) type Samples<'py> = Vec<(String, String, PyReadonlyArray1<'py, f64>)>;

/// The recording of channels with their units, all of one length over instants that rise.
pub(crate) fn taken(
    time_s: &PyReadonlyArray1<'_, f64>,
    channels: &Samples<'_>,
) -> PyResult<Recording> {
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

/// A table of measured data, as `lissom.Recording` takes it.
#[pyfunction]
pub(crate) fn measured<'py>(
    py: Python<'py>,
    file: &str,
    text: &str,
    names: BTreeMap<String, String>,
    units: BTreeMap<String, String>,
) -> PyResult<Bound<'py, PyDict>> {
    let heads = Heads { names, units };
    let found = py.detach(|| lissom_io::measured::parse(file, text, &heads));
    given(
        py,
        &found.map_err(|error| PyValueError::new_err(error.to_string()))?,
    )
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
        .or_raise(py)
}

/// A run as `lissom.Recording` has it, with its model.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct OfRun<'py> {
    model: Bound<'py, Model>,
    time_s: PyReadonlyArray1<'py, f64>,
    channels: Samples<'py>,
    /// What was said of it, and what was asked for, as JSON.
    summary: String,
    options: String,
    stopped_at_s: Option<f64>,
    /// The state that was reached, if it is known.
    last: Option<Bound<'py, State>>,
}

impl OfRun<'_> {
    fn recording(&self) -> PyResult<Recording> {
        taken(&self.time_s, &self.channels)
    }

    /// Options and summary.
    fn told(&self) -> PyResult<[Value; 2]> {
        let json = |text: &str| serde_json::from_str(text).or_refuse();
        Ok([json(&self.options)?, json(&self.summary)?])
    }
}

/// What is said of a run that was made step by step, as JSON.
#[pyfunction]
pub(crate) fn stepped_summary(
    run: OfRun<'_>,
    duration_s: f64,
    at_s: Vec<f64>,
    wall_s: f64,
) -> PyResult<String> {
    let mut loaded = Loaded::clone(&run.model.get().loaded);
    loaded.spec.simulation.duration_s = duration_s;
    let recording = run.recording()?;
    let told = summary::stepped(&loaded, recording, run.stopped_at_s, &at_s, wall_s);
    Ok(told.to_string())
}

/// Writes a run into a folder as the command does: recording and manifest.
#[pyfunction]
pub(crate) fn write_run(py: Python<'_>, folder: PathBuf, run: OfRun<'_>) -> PyResult<()> {
    let (recording, [options, summary]) = (run.recording()?, run.told()?);
    let (loaded, stopped_at_s) = (&run.model.get().loaded, run.stopped_at_s);
    let last = run.last.as_ref().map(|last| &last.get().state);
    let wrote = py.detach(|| {
        let batch = Batch::begin(&folder, record::file_names(loaded))?;
        record::write_recording(
            batch,
            loaded,
            &recording,
            last,
            options,
            summary,
            stopped_at_s,
        )
    });
    wrote.map(drop).or_raise(py)
}

/// Writes the page that shows runs, each under its name, over each other where there are several.
#[pyfunction]
pub(crate) fn write_page(
    py: Python<'_>,
    path: PathBuf,
    runs: Vec<(String, OfRun<'_>)>,
    channels: Vec<String>,
) -> PyResult<()> {
    let shown = runs.iter().map(|(label, run)| {
        let loaded = Arc::clone(&run.model.get().loaded);
        let (recording, [options, summary]) = (run.recording()?, run.told()?);
        let stopped_at_s = run.stopped_at_s;
        let manifest = record::manifest(&loaded, &recording, &[], options, summary, stopped_at_s);
        Ok((label.clone(), loaded, manifest, recording))
    });
    let shown = shown.collect::<PyResult<Vec<_>>>()?;
    let wrote = py.detach(|| {
        let sources: Vec<Source<'_>> = (shown.iter())
            .map(|(label, loaded, manifest, recording)| Source {
                label: label.clone(),
                loaded,
                manifest,
                recording,
                model_summary: json!(ModelSummary::of(loaded)),
            })
            .collect();
        let page = lissom_report::html(&sources, &channels);
        atomic::write(&path, |out| out.write_all(page.as_bytes()))
    });
    wrote.or_raise(py)
}

/// Reads a recording from a file, or from the folder of a run with its model and what was said of it.
#[pyfunction]
pub(crate) fn read_recording(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(Bound<'_, PyDict>, Option<Model>, Option<String>)> {
    if path.is_dir() {
        let stored = py.detach(|| stored::read(&path)).or_raise(py)?;
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
    let recording = py.detach(|| Ok::<_, IoError>(parse(&resource::read_file(path)?)));
    recording
        .or_raise(py)?
        .map_err(|error| PyValueError::new_err(format!("cannot read {}: {error}", path.display())))
}
