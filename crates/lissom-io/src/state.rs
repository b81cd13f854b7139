//! States as JSON files, and the state that a user names: a file, or an instant of a recording.
//!
//! ```json
//! {
//!   "time_s": 1.5,
//!   "position": { "shoulder.angle": 0.2 },
//!   "velocity": { "shoulder.angle.rate": 0.1 }
//! }
//! ```
//!
//! is a state by hand: what it does not name is as the model writes it. A run leaves a complete one behind, with what
//! evaluations and the integrator remember, as `state.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lissom::{Mechanism, State, StateError};
use lissom_numerics::Memory;
use lissom_numerics::integrate::IntegratorMemory;
use serde::{Deserialize, Serialize};

use crate::IoError;
use crate::batch::{Batch, Reading, Written};
use crate::output::{MANIFEST, below};
use crate::resource;
use crate::stored::{self, Folder, StoredError};

/// Name of the file that a run leaves its last state in.
pub const FILE: &str = "state.json";

/// Why a state cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateFileError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] IoError),
    /// The file holds no state.
    #[error("cannot read {}: {reason}; write an object with time_s, position and velocity by name", path.display())]
    NoState {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        reason: serde_json::Error,
    },
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] StoredError),
    /// What follows `@` is no instant.
    #[error("{text:?} after @ is no instant in seconds; write for example results/arm@1.5")]
    Instant {
        /// The text.
        text: String,
    },
    /// The mechanism has no such state.
    #[error("{origin}: {source}")]
    State {
        /// Where the state was to come from.
        origin: String,
        /// What is wrong with it.
        source: StateError,
    },
}

/// A state as it stands in a file. What is not a finite number is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateFile {
    /// The instant; that at which the model starts if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
    /// Positions by name.
    #[serde(default)]
    pub position: BTreeMap<String, f64>,
    /// Velocities by name.
    #[serde(default)]
    pub velocity: BTreeMap<String, f64>,
    /// States of controllers and actuators by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub control: BTreeMap<String, f64>,
    /// Work of inputs and prescribed motions until then.
    #[serde(default)]
    pub work_j: f64,
    /// Energy dissipated until then.
    #[serde(default)]
    pub dissipated_j: f64,
    /// Energy that no work accounts for until then.
    #[serde(default)]
    pub drift_j: f64,
    /// What evaluations remember.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, Vec<Option<f64>>>,
    /// What the integrator remembers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrator: Option<IntegratorMemory>,
}

impl StateFile {
    /// The file of a state.
    ///
    /// # Errors
    ///
    /// When the mechanism cannot say what its coordinates are called.
    pub fn of(mechanism: &Mechanism, state: &State) -> Result<Self, StateError> {
        let names: Vec<String> = (mechanism.layout_of(&state.memory)?.into_iter())
            .map(|coordinate| coordinate.name)
            .collect();
        let (positions, rest) = names.split_at(state.position.len());
        let (velocities, rest) = rest.split_at(state.velocity.len());
        let named = |names: &[String], values: &[f64]| {
            let pairs = names.iter().cloned().zip(values.iter().copied());
            pairs.collect::<BTreeMap<_, _>>()
        };
        Ok(Self {
            time_s: Some(state.time_s),
            position: named(positions, &state.position),
            velocity: named(velocities, &state.velocity),
            control: named(rest, &state.control),
            work_j: state.work_j,
            dissipated_j: state.dissipated_j,
            drift_j: state.drift_j,
            memory: remembered(&state.memory),
            integrator: state.integrator.clone().filter(survives),
        })
    }

    /// The state of a mechanism that the file describes.
    ///
    /// # Errors
    ///
    /// When a name is not one of the mechanism's, or it cannot be there.
    pub fn state(&self, mechanism: &Mechanism) -> Result<State, StateError> {
        let time_s = self.time_s.unwrap_or(mechanism.spec().simulation.start_s);
        let mut given = self.position.clone();
        let others = self.velocity.iter().chain(&self.control);
        given.extend(others.map(|(name, &value)| (name.clone(), value)));
        let memory = recalled(&self.memory);
        let complete = !memory.is_empty() || self.integrator.is_some();
        let state = if complete {
            mechanism.exact_state(time_s, &given, &memory)?
        } else {
            mechanism.state(time_s, &given)?
        };
        Ok(State {
            work_j: self.work_j,
            dissipated_j: self.dissipated_j,
            drift_j: self.drift_j,
            memory,
            integrator: self.integrator.clone(),
            ..state
        })
    }
}

/// Whether a file can hold a memory: JSON has no numbers that are not finite.
fn survives(memory: &IntegratorMemory) -> bool {
    let read = serde_json::to_value(memory).and_then(serde_json::from_value::<IntegratorMemory>);
    read.is_ok_and(|read| read == *memory)
}

fn remembered(memory: &Memory) -> BTreeMap<String, Vec<Option<f64>>> {
    let finite = |&number: &f64| number.is_finite().then_some(number);
    let named = memory.iter();
    named
        .map(|(name, numbers)| (name.to_owned(), numbers.iter().map(finite).collect()))
        .collect()
}

fn recalled(memory: &BTreeMap<String, Vec<Option<f64>>>) -> Memory {
    let number = |number: &Option<f64>| number.unwrap_or(f64::NAN);
    let named = memory.iter();
    named
        .map(|(name, numbers)| (name.clone(), numbers.iter().map(number).collect()))
        .collect()
}

/// Writes a state as a file of a batch, in the folder `within` it.
///
/// # Errors
///
/// [`IoError::NotReplaced`] or [`IoError::Write`], with the path and the reason.
pub fn write(batch: &mut Batch, within: &str, file: &StateFile) -> Result<Written, IoError> {
    batch.write_json(&below(within, FILE), file)
}

/// The folder of the run that a named state comes from, if it comes from one.
pub fn folder_of(text: &str) -> Option<PathBuf> {
    let (path, _) = split(text).ok()?;
    let folder = stored::folder_of(path);
    let is_of_run = path.is_dir()
        || path.ends_with(MANIFEST)
        || (path.ends_with(FILE) && folder.join(MANIFEST).exists());
    is_of_run.then(|| folder.to_owned())
}

/// The path of a named state, and the instant behind `@`.
fn split(text: &str) -> Result<(&Path, Option<f64>), StateFileError> {
    match text.rsplit_once('@') {
        Some((path, instant)) if !Path::new(text).exists() => {
            let seconds = instant.parse::<f64>().ok().filter(|t| t.is_finite());
            let seconds = seconds.ok_or_else(|| StateFileError::Instant {
                text: instant.to_owned(),
            })?;
            Ok((Path::new(path), Some(seconds)))
        }
        _ => Ok((Path::new(text), None)),
    }
}

/// The state that a user names: a file of one, or a recording, at the end of its run or after `@` at an instant.
///
/// # Errors
///
/// When there is no such file, recording, instant or state.
pub fn named(text: &str, mechanism: &Mechanism) -> Result<State, StateFileError> {
    let (path, instant) = split(text)?;
    let failed = |source: StateError| StateFileError::State {
        origin: text.to_owned(),
        source,
    };
    if path.is_dir() || path.ends_with(MANIFEST) {
        let folder = Folder::open(stored::folder_of(path))?;
        if instant.is_none() && folder.manifest.file(FILE).is_some() {
            let (path, bytes) = folder.read(FILE)?;
            return parsed(&path, &bytes)?.state(mechanism).map_err(failed);
        }
        let recording = folder.recording()?;
        let end_s = recording.time_s.last().copied().unwrap_or(f64::NAN);
        let time_s = instant.unwrap_or(end_s);
        return mechanism.recorded_state(&recording, time_s).map_err(failed);
    }
    // that of a run may be complete on the way to its place
    let reading = Reading::of(stored::folder_of(path));
    let name = path.file_name().and_then(|name| name.to_str());
    let found = name.map_or_else(|| path.to_owned(), |name| reading.path(name));
    let mut file = parsed(path, &resource::read_file(&found)?)?;
    file.time_s = instant.or(file.time_s);
    file.state(mechanism).map_err(failed)
}

/// The state that a file tells, by itself or among other things, as that of an equilibrium does.
fn parsed(path: &Path, bytes: &[u8]) -> Result<StateFile, StateFileError> {
    let read = || {
        let mut value: serde_json::Value = serde_json::from_slice(bytes)?;
        if let Some(state) = value.get_mut("state") {
            value = state.take();
        }
        serde_json::from_value(value)
    };
    read().map_err(|reason| StateFileError::NoState {
        path: path.to_owned(),
        reason,
    })
}
