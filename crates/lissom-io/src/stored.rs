//! [`Stored`]: a run read back from the folder it was written to.

use std::fs;
use std::path::{Path, PathBuf};

use lissom::Recording;

use crate::load::{self, LoadError, Loaded};
use crate::manifest::Manifest;
use crate::output::Format;
use crate::{csv, npz};

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
    /// The recording does not hold the channels that the manifest names.
    #[error("{} does not hold the channels that its manifest names; run the model again", path.display())]
    OtherChannels {
        /// The recording.
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
    let folder = if path.is_dir() {
        path.to_owned()
    } else {
        path.parent().unwrap_or(Path::new("")).to_owned()
    };
    let at = folder.join("manifest.json");
    let manifest = manifest(&at)?;
    let named = |format: &Format| manifest.files.contains(&format.file_name());
    let Some(format) = [Format::Npz, Format::Csv].into_iter().find(named) else {
        return Err(StoredError::NoRecording { path: at });
    };
    let file = folder.join(format.file_name());
    let unreadable = |reason: String| StoredError::Unreadable {
        path: file.clone(),
        reason,
    };
    let bytes = fs::read(&file).map_err(|error| unreadable(error.to_string()))?;
    let recording = match format {
        Format::Npz => npz::read(&bytes),
        _ => csv::read(&bytes),
    }
    .map_err(|error| unreadable(error.to_string()))?;
    if Manifest::channels_of(&recording) != manifest.channels {
        return Err(StoredError::OtherChannels { path: file });
    }
    let label = (manifest.model_file.as_deref()).map_or_else(
        || folder.file_name().map(|name| name.display().to_string()),
        |file| {
            Path::new(file)
                .file_stem()
                .map(|stem| stem.display().to_string())
        },
    );
    let label = label.unwrap_or_else(|| "model".to_owned());
    let loaded =
        load::load_text(&label, &manifest.model, &[]).map_err(|source| StoredError::Model {
            path: at,
            source: Box::new(source),
        })?;
    Ok(Stored {
        folder,
        manifest,
        recording,
        loaded,
    })
}

fn manifest(at: &Path) -> Result<Manifest, StoredError> {
    let unreadable = |reason: String| StoredError::Unreadable {
        path: at.to_owned(),
        reason,
    };
    let text = fs::read_to_string(at).map_err(|error| unreadable(error.to_string()))?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
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
