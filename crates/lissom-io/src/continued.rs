//! A run that goes on in the folder in which an earlier part of it stands: the earlier rows stay in front.

use std::path::{Path, PathBuf};

use lissom::{ModelSpec, Recording, Run, Signals, State};

use crate::as_run::Kept;
use crate::load::Loaded;
use crate::stored::{Folder, StoredError};

/// Why a run cannot go on in a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContinueError {
    /// What stands there cannot be read.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// It is the run of another model.
    #[error(
        "{} holds a run of another model than the one that is to go on from it, and would be replaced; name another folder \
         for it (--out; out= in Python), or change nothing but simulation.duration_s and output.formats",
        folder.display()
    )]
    OtherModel {
        /// The folder.
        folder: PathBuf,
    },
    /// Its recording has other channels than the run that goes on.
    #[error(
        "the recording in {} has other channels than the model records, as if it came from another version or was changed; name \
         another folder (--out; out= in Python)",
        folder.display()
    )]
    OtherChannels {
        /// The folder.
        folder: PathBuf,
    },
}

/// What a run recorded in a folder before it goes on there.
#[derive(Clone, Debug)]
pub struct Earlier {
    recording: Recording,
    /// Whether the instant at which it goes on is to be recorded.
    records_start: bool,
}

impl Earlier {
    /// What stands in `folder` of the run of `loaded` that goes on at `start`, whose samples are taken at `instants`.
    ///
    /// # Errors
    ///
    /// [`ContinueError`], when that is the run of another model or cannot be read.
    pub fn read(
        folder: &Path,
        loaded: &Loaded,
        start: &State,
        instants: &[f64],
    ) -> Result<Self, ContinueError> {
        let stored = Folder::open(folder)?;
        let mut recording = stored.recording()?;
        let other = || ContinueError::OtherModel {
            folder: folder.to_owned(),
        };
        let spec = ModelSpec::parse(&stored.manifest.model, &[]).map_err(|_| other())?;
        // the model as run is compared as it would be written
        let now = ModelSpec::parse(&loaded.as_run.text, &[]).map_err(|_| other())?;
        if !is_same(spec, now) {
            return Err(other());
        }
        // the text names bodies by their hashes, which different ones may share
        let kept = loaded.as_run.files.iter();
        for body in kept.filter(|file| Kept::of(&file.name) == Some(Kept::Body)) {
            if stored.content(&body.name)?.bytes != body.text.as_bytes() {
                return Err(other());
            }
        }
        if !has_channels_of(&recording, loaded, start) {
            return Err(ContinueError::OtherChannels {
                folder: folder.to_owned(),
            });
        }
        let start_s = start.time_s;
        let kept = (recording.time_s).partition_point(|&instant| instant <= start_s);
        recording.time_s.truncate(kept);
        for channel in &mut recording.channels {
            channel.samples.truncate(kept);
        }
        let is_recorded = recording.time_s.last() == Some(&start_s);
        let is_wanted = instants.binary_search_by(|instant| instant.total_cmp(&start_s));
        Ok(Self {
            recording,
            records_start: is_wanted.is_ok() && !is_recorded,
        })
    }

    /// A run that goes on there, with the earlier rows in front.
    #[must_use]
    pub fn whole(&self, run: Run) -> Run {
        Run {
            recording: self.followed_by(&run.recording),
            ..run
        }
    }

    /// The whole recording, of which `later` begins at the instant at which the run goes on.
    fn followed_by(&self, later: &Recording) -> Recording {
        let first = usize::from(!self.records_start).min(later.len());
        let mut whole = self.recording.clone();
        whole.time_s.extend_from_slice(&later.time_s[first..]);
        for (channel, later) in whole.channels.iter_mut().zip(&later.channels) {
            channel.samples.extend_from_slice(&later.samples[first..]);
        }
        whole
    }
}

/// Whether a recording has the channels that a model records from a state on.
fn has_channels_of(recording: &Recording, loaded: &Loaded, start: &State) -> bool {
    // a model that cannot go on from there says so when it runs
    let Ok(dynamics) = loaded.mechanism.dynamics(start) else {
        return true;
    };
    let signals = Signals::of(&*dynamics);
    let wanted = loaded.spec.output.channels.as_ref();
    let is_wanted = |name: &str| wanted.is_none_or(|all| all.iter().any(|b| name.starts_with(b)));
    let kept = signals.iter().filter(|signal| is_wanted(&signal.name));
    let channels = recording.channels.iter();
    kept.map(|signal| (signal.name.as_str(), signal.unit))
        .eq(channels.map(|channel| (channel.name.as_str(), channel.unit.as_str())))
}

/// Whether two models make the same run as far as both go.
fn is_same(mut one: ModelSpec, mut other: ModelSpec) -> bool {
    for spec in [&mut one, &mut other] {
        spec.simulation.duration_s = 1.0;
        spec.output.formats.clear();
        spec.visual.clear();
    }
    one == other
}
