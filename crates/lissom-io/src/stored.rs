//! [`Stored`]: a run read back from the folder it was written to.

use std::path::{Path, PathBuf};

use lissom::Recording;

use crate::batch::Reading;
use crate::load::{self, LoadError, Loaded};
use crate::manifest::{FileEntry, Manifest};
use crate::output::{Format, MANIFEST};
use crate::{csv, npz, resource};

/// A run as its folder tells it.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The folder.
    pub folder: PathBuf,
    /// How the recording came about.
    pub manifest: Manifest,
    /// The recording.
    pub recording: Recording,
    /// The model as run.
    pub loaded: Loaded,
}

/// Why a run cannot be read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredError {
    /// A file of the recording cannot be read.
    #[error("cannot read {}: {reason}; name a folder that `lissom run` has written", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system or the reader said.
        reason: String,
    },
    /// The manifest is of a layout that this version does not know.
    #[error(
        "{} has format {found}, this version of lissom reads format {known}; run the model again",
        path.display()
    )]
    Format {
        /// The manifest.
        path: PathBuf,
        /// The format it says.
        found: u64,
        /// The format that is known.
        known: u32,
    },
    /// The run was recorded in no format that can be read back.
    #[error(
        "{} names no recording in csv or npz; run the model again with output.formats = [\"npz\"]",
        path.display()
    )]
    NoRecording {
        /// The manifest.
        path: PathBuf,
    },
    /// A file is not the one that the manifest tells of.
    #[error(
        "{} is not the file that the manifest beside it tells of: its length, content or channels differ, as if it came from \
         another run; run the model again",
        path.display()
    )]
    OtherRun {
        /// The file.
        path: PathBuf,
    },
    /// The model in the manifest is not sound, as may happen to one of another version.
    #[error("the model in {}: {source}", path.display())]
    Model {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<LoadError>,
    },
}

/// Reads a run by the folder it was written to, or by the path of a file in it.
///
/// # Errors
///
/// [`StoredError`], with the path and the reason.
pub fn read(path: &Path) -> Result<Stored, StoredError> {
    if let Err(error) = path.metadata() {
        return Err(StoredError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        });
    }
    let at = if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(Path::new(""))
    };
    let folder = Folder::open(at)?;
    let recording = folder.recording()?;
    let manifest = folder.manifest;
    let label = (manifest.model_file.as_deref()).map_or_else(
        || at.file_name().map(|name| name.display().to_string()),
        |file| {
            Path::new(file)
                .file_stem()
                .map(|stem| stem.display().to_string())
        },
    );
    let label = label.unwrap_or_else(|| "model".to_owned());
    let loaded = load::load_text_below(at, &label, &manifest.model, &[]);
    let loaded = loaded.map_err(|source| StoredError::Model {
        path: at.join(MANIFEST),
        source: Box::new(source),
    })?;
    Ok(Stored {
        folder: at.to_owned(),
        manifest,
        recording,
        loaded,
    })
}

/// The folder of a run while it is read.
pub(crate) struct Folder {
    reading: Reading,
    /// How the recording came about.
    pub(crate) manifest: Manifest,
}

impl Folder {
    pub(crate) fn open(folder: &Path) -> Result<Self, StoredError> {
        let reading = Reading::of(folder);
        let path = reading.path(MANIFEST);
        let manifest = manifest(&path, &bytes_of(&path)?)?;
        Ok(Self { reading, manifest })
    }

    /// A file of the run with its path, if it is the one that the manifest tells of.
    pub(crate) fn read(&self, name: &str) -> Result<(PathBuf, Vec<u8>), StoredError> {
        let path = self.reading.path(name);
        let bytes = bytes_of(&path)?;
        let is_meant = |file: &FileEntry| {
            file.bytes == bytes.len() as u64 && file.crc32 == crc32fast::hash(&bytes)
        };
        if self.manifest.file(name).is_some_and(is_meant) {
            Ok((path, bytes))
        } else {
            Err(StoredError::OtherRun { path })
        }
    }

    /// The recording.
    pub(crate) fn recording(&self) -> Result<Recording, StoredError> {
        let named = |format: &Format| self.manifest.file(&format.file_name()).is_some();
        let Some(format) = [Format::Npz, Format::Csv].into_iter().find(named) else {
            let path = self.reading.path(MANIFEST);
            return Err(StoredError::NoRecording { path });
        };
        let (path, bytes) = self.read(&format.file_name())?;
        let read = match format {
            Format::Npz => npz::read(&bytes),
            _ => csv::read(&bytes),
        };
        let recording = read.map_err(|error| StoredError::Unreadable {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        if Manifest::channels_of(&recording) != self.manifest.channels {
            return Err(StoredError::OtherRun { path });
        }
        Ok(recording)
    }
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, StoredError> {
    resource::read_file(path).map_err(|error| StoredError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

fn manifest(at: &Path, bytes: &[u8]) -> Result<Manifest, StoredError> {
    let unreadable = |reason: String| StoredError::Unreadable {
        path: at.to_owned(),
        reason,
    };
    let value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|error| unreadable(error.to_string()))?;
    let found = value.get("format").and_then(serde_json::Value::as_u64);
    if let Some(found) = found.filter(|&found| found != u64::from(Manifest::FORMAT)) {
        return Err(StoredError::Format {
            path: at.to_owned(),
            found,
            known: Manifest::FORMAT,
        });
    }
    serde_json::from_value(value).map_err(|error| unreadable(error.to_string()))
}
