//! [`Stored`]: a run read back from the folder it was written to.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use lissom::Recording;
use lissom::spec::OutputFormat;
use lissom_fe::NEVER;

use crate::as_run::Kept;
use crate::batch::Reading;
use crate::load::{self, LoadError, Loaded};
use crate::manifest::{FileEntry, Manifest};
use crate::output::{MANIFEST, file_name};
use crate::resource::{self, Content};
use crate::{IoError, csv, npz};

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
    #[error("{0}, or name a folder that `lissom run` has written")]
    File(#[from] IoError),
    /// A file of the recording holds something else.
    #[error("cannot read {}: {reason}; run the model again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the reader said.
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
    if let Err(reason) = path.metadata() {
        let path = path.to_owned();
        return Err(IoError::Read { path, reason }.into());
    }
    let at = folder_of(path);
    let folder = Folder::open(at)?;
    let recording = folder.recording()?;
    let manifest = &folder.manifest;
    let label = match &manifest.model_file {
        Some(file) => load::label_of(Path::new(file)),
        None => (at.file_name()).map_or("model".to_owned(), |name| name.display().to_string()),
    };
    let kept = (folder.kept().into_iter())
        .map(|name| Ok((name, folder.content(name)?)))
        .collect::<Result<BTreeMap<&str, Content>, StoredError>>()?;
    let find = |name: &str| {
        (kept.get(name).cloned()).ok_or_else(|| {
            let reason = "the manifest tells of no such file";
            IoError::Read {
                path: at.join(name),
                reason: io::Error::new(io::ErrorKind::NotFound, reason),
            }
        })
    };
    let loaded = load::load_text_with(&find, &label, &manifest.model, &[], NEVER);
    let loaded = loaded.map_err(|source| StoredError::Model {
        path: at.join(MANIFEST),
        source: Box::new(source),
    })?;
    Ok(Stored {
        folder: at.to_owned(),
        manifest: folder.manifest,
        recording,
        loaded,
    })
}

/// The folder of a run by its own path, or by that of a file in it.
pub(crate) fn folder_of(path: &Path) -> &Path {
    if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(Path::new(""))
    }
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
        let manifest = manifest(&path, &resource::read_in_its_folder(&path)?)?;
        Ok(Self { reading, manifest })
    }

    /// A file of the run with its path, if it is the one that the manifest tells of.
    pub(crate) fn read(&self, name: &str) -> Result<(PathBuf, Vec<u8>), StoredError> {
        let path = self.reading.path(name);
        let bytes = resource::read_in_its_folder(&path)?;
        let is_meant = |file: &FileEntry| {
            file.bytes == bytes.len() as u64 && file.crc32 == crc32fast::hash(&bytes)
        };
        if self.manifest.file(name).is_some_and(is_meant) {
            Ok((path, bytes))
        } else {
            Err(StoredError::OtherRun { path })
        }
    }

    /// Names of the files that the model as run names, as the manifest tells of them: each once, however often it does.
    pub(crate) fn kept(&self) -> BTreeSet<&str> {
        let names = self.manifest.files.iter().map(|file| file.name.as_str());
        names.filter(|name| Kept::of(name).is_some()).collect()
    }

    /// One of these.
    pub(crate) fn content(&self, name: &str) -> Result<Content, StoredError> {
        let (path, bytes) = self.read(name)?;
        Ok(Content { path, bytes })
    }

    /// The recording.
    pub(crate) fn recording(&self) -> Result<Recording, StoredError> {
        let [npz, csv] = [OutputFormat::Npz, OutputFormat::Csv].map(file_name);
        let is_named = |name: &&str| self.manifest.file(name).is_some();
        let Some(name) = [npz, csv].into_iter().find(is_named) else {
            let path = self.reading.path(MANIFEST);
            return Err(StoredError::NoRecording { path });
        };
        let (path, bytes) = self.read(name)?;
        let read = if name == npz { npz::read } else { csv::read };
        let recording = read(&bytes).map_err(|error| StoredError::Damaged {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        if Manifest::channels_of(&recording) != self.manifest.channels {
            return Err(StoredError::OtherRun { path });
        }
        Ok(recording)
    }
}

fn manifest(at: &Path, bytes: &[u8]) -> Result<Manifest, StoredError> {
    let damaged = |error: serde_json::Error| StoredError::Damaged {
        path: at.to_owned(),
        reason: error.to_string(),
    };
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(damaged)?;
    let found = value.get("format").and_then(serde_json::Value::as_u64);
    if let Some(found) = found.filter(|&found| found != u64::from(Manifest::FORMAT)) {
        return Err(StoredError::Format {
            path: at.to_owned(),
            found,
            known: Manifest::FORMAT,
        });
    }
    serde_json::from_value(value).map_err(damaged)
}
