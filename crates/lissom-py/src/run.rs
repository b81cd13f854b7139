//! Runs, and the folders that keep them on their way.

use std::path::PathBuf;
use std::time::Instant;

use lissom::{
    Ending, Flow, Run, SimulateOptions, State as CoreState, Watch, sample_instants,
    sample_instants_from,
};
use lissom_io::IoError;
use lissom_io::batch::Batch;
use lissom_io::checkpoint::Checkpoints;
use lissom_io::continued::Earlier;
use lissom_io::load::Loaded;
use lissom_io::record;
use lissom_io::summary::Summary;
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::arrays::positive;
use crate::error::{OrRaise, Raise};
use crate::mechanism::Mechanism;
use crate::recording::given;
use crate::state::State;
use crate::study::{at, json as text, refuse_too_large, refuse_unknown_channels};
use crate::watch::watched;

/// The folder that a run is kept in on its way, every so many seconds of clock time if that is said, and whether the run that stands there
/// goes on.
#[derive(FromPyObject)]
pub(crate) struct Folder(PathBuf, Option<f64>, bool);

/// Simulates from a state, so long after an instant if that is said; the exception of a signal handler comes beside the recording until then.
#[pyfunction]
#[pyo3(signature = (mechanism, state, *, lasts_s, sample_period_s, at_s, channels, folder))]
pub(crate) fn run<'py>(
    mechanism: &Bound<'py, Mechanism>,
    state: &Bound<'py, State>,
    lasts_s: Option<[f64; 2]>,
    sample_period_s: Option<f64>,
    at_s: Vec<f64>,
    channels: Option<Vec<String>>,
    folder: Option<Folder>,
) -> PyResult<(Bound<'py, PyDict>, Option<PyErr>)> {
    let (py, own, start) = at(mechanism, state)?;
    refuse_unknown_channels(own, channels.as_deref())?;
    let mut loaded = Loaded::clone(&own.loaded);
    let simulation = &mut loaded.spec.simulation;
    if let Some([begun_s, duration_s]) = lasts_s {
        positive("duration_s", duration_s)?;
        simulation.last_from(begun_s, duration_s);
    }
    if let Some(period_s) = sample_period_s {
        positive("sample_period_s", period_s)?;
        loaded.spec.output.sample_period_s = Some(period_s);
    }
    if channels.is_some() {
        loaded.spec.output.channels = channels;
    }
    if start.time_s >= loaded.spec.simulation.end_s() {
        return Err(PyValueError::new_err(
            "the state is where the simulation ends; say for how long with duration_s",
        ));
    }
    let (start_s, end_s) = (start.time_s, loaded.spec.simulation.end_s());
    let goes_on = matches!(folder, Some(Folder(.., true)));
    let is_outside = |at: &&f64| **at > end_s || (**at < start_s && !goes_on);
    if let Some(at) = at_s.iter().find(is_outside) {
        return Err(PyValueError::new_err(format!(
            "at_s has {at}, and the run is from {start_s} to {end_s} s; name instants inside"
        )));
    }
    refuse_too_large(own, &loaded.spec, loaded.spec.output.channels.as_deref())?;
    let kept = folder
        .map(|folder| Kept::new(py, folder, &loaded, start, &at_s))
        .transpose()?;
    let samples = sample_instants_from(&loaded.spec, start.time_s, &at_s);
    let options = SimulateOptions {
        samples: &samples,
        channels: loaded.spec.output.channels.as_deref(),
        most_lengths: f64::INFINITY,
    };
    let began = Instant::now();
    let summed_up = |run: &Run| {
        let mut summary = Summary::new(&loaded, run, &at_s, began.elapsed().as_secs_f64());
        let earlier = kept.as_ref().and_then(|kept| kept.earlier.as_ref());
        summary.continued_at_s = earlier.map(|_| start_s);
        summary
    };
    let mut unkept = None;
    let (run, interrupted) = watched(py, |watch| {
        let mut onlooker = Onlooker {
            watch,
            checkpoints: kept.as_ref().map(|kept| {
                Checkpoints::new(kept.every_s, |so_far| {
                    let whole = (kept.earlier.as_ref()).map(|own| own.whole(so_far.clone()));
                    let so_far = whole.as_ref().unwrap_or(so_far);
                    let (options, summary) = (kept.options.clone(), &mut summed_up(so_far));
                    record::write_checkpoint(&kept.folder, &loaded, so_far, options, summary)
                })
            }),
            unkept: &mut unkept,
        };
        let simulation = &loaded.spec.simulation;
        (own.mechanism).simulate_watched(start, simulation, &options, &mut onlooker)
    });
    let run = match kept.as_ref().and_then(|kept| kept.earlier.as_ref()) {
        Some(earlier) if run.last.is_some() => earlier.whole(run),
        _ => run,
    };
    let mut summary = summed_up(&run);
    // the state that a run was to go on from is still good
    if let Some(kept) = kept.filter(|kept| kept.earlier.is_none() || run.last.is_some()) {
        py.detach(|| kept.finish(&loaded, &run, &mut summary))
            .or_raise(py)?;
    }
    if let Some(error) = unkept {
        let told = format!("the run could not be kept on its way: {error}");
        let told = std::ffi::CString::new(told).map_err(PyErr::from)?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &told, 2)?;
    }
    Ok((told(mechanism, &run, &summary)?, interrupted))
}

/// What a run leaves behind, for `lissom.Recording`.
fn told<'py>(
    mechanism: &Bound<'py, Mechanism>,
    run: &Run,
    summary: &Summary,
) -> PyResult<Bound<'py, PyDict>> {
    let py = mechanism.py();
    let told = given(py, &run.recording)?;
    told.set_item("summary", text(summary)?)?;
    let last = run.last.as_ref();
    let last = last.map(|last| Bound::new(py, State::new(mechanism, last.clone())));
    told.set_item("last", last.transpose()?)?;
    let failure = match &run.ending {
        Ending::Failed(error) => Some(error.raise(py)),
        _ => None,
    };
    told.set_item("failure", failure.map(|error| error.into_value(py)))?;
    let stopped_at_s = match &run.ending {
        Ending::Stopped { at_s } => Some(*at_s),
        Ending::Failed(error) => Some(error.time_s()),
        Ending::Completed => None,
    };
    told.set_item("stopped_at_s", stopped_at_s)?;
    Ok(told)
}

/// A folder that keeps a run. It is begun before the run, so that none is lost for want of a folder that can be written to.
struct Kept {
    folder: PathBuf,
    every_s: Option<f64>,
    earlier: Option<Earlier>,
    batch: Batch,
    options: Value,
}

impl Kept {
    fn new(
        py: Python<'_>,
        Folder(folder, every_s, goes_on): Folder,
        loaded: &Loaded,
        start: &CoreState,
        at_s: &[f64],
    ) -> PyResult<Self> {
        if let Some(every_s) = every_s {
            positive("checkpoint_every_s", every_s)?;
        }
        let earlier = if goes_on {
            let instants = sample_instants(&loaded.spec, at_s);
            Some(Earlier::read(&folder, loaded, start, &instants).or_raise(py)?)
        } else {
            None
        };
        let from = goes_on.then(|| folder.display().to_string());
        Ok(Self {
            batch: Batch::begin(&folder, record::file_names(loaded)).or_raise(py)?,
            every_s,
            options: json!({ "verb": "run", "model": loaded.label, "set": [], "at_s": at_s, "from": from }),
            folder,
            earlier,
        })
    }

    /// Writes the whole run.
    fn finish(mut self, loaded: &Loaded, run: &Run, summary: &mut Summary) -> Result<(), IoError> {
        record::add(&mut self.batch, "", loaded, run, self.options, summary)?;
        self.batch.finish()
    }
}

/// Stops a run when somebody wants to, and keeps what there is so far.
struct Onlooker<'a, 'w> {
    watch: &'w mut dyn FnMut(f64) -> Flow,
    checkpoints: Option<Checkpoints<'a>>,
    /// What kept a checkpoint from being written; the run goes on.
    unkept: &'w mut Option<IoError>,
}

impl Watch for Onlooker<'_, '_> {
    fn reached(&mut self, time_s: f64) -> Flow {
        (self.watch)(time_s)
    }

    fn is_checkpoint_due(&mut self) -> bool {
        self.checkpoints.as_ref().is_some_and(Checkpoints::is_due)
    }

    fn checkpoint(&mut self, so_far: &Run) {
        if let Some(checkpoints) = &mut self.checkpoints
            && let Err(error) = checkpoints.take(so_far)
        {
            *self.unkept = Some(error);
        }
    }
}
