//! One run's output: the recording in the chosen formats and the manifest, in one folder.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;

use lissom::Recording;
use serde::{Deserialize, Serialize};

use crate::batch::{Batch, Written};
use crate::manifest::Manifest;
use crate::{IoError, csv, mat, npz};

/// Name of the file that says how the recording beside it came about.
pub const MANIFEST: &str = "manifest.json";

/// Format of a recording's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Text, see [`csv`].
    Csv,
    /// NumPy, see [`npz`].
    Npz,
    /// MATLAB, see [`mat`].
    Mat,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Csv, Self::Npz, Self::Mat];

    /// Name of the format and extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Npz => "npz",
            Self::Mat => "mat",
        }
    }

    /// Name of the file [`write()`] makes.
    pub fn file_name(self) -> String {
        format!("recording.{}", self.extension())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.extension())
    }
}

/// A format that is none of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format \"{0}\"; choose csv, npz or mat")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.extension() == text)
            .ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

/// Writes the recording once per format as files of a batch, in the folder `within` it, and returns them in the order of
/// `formats`.
///
/// # Errors
///
/// [`IoError::NotReplaced`] or [`IoError::Write`], with the path and the reason.
pub fn write(
    batch: &mut Batch,
    within: &str,
    recording: &Recording,
    formats: &[Format],
) -> Result<Vec<Written>, IoError> {
    let write_one = |format: &Format| {
        batch.write(&below(within, &format.file_name()), |out| match format {
            Format::Csv => csv::write(recording, out),
            Format::Npz => npz::write(recording, out),
            Format::Mat => mat::write(recording, out),
        })
    };
    formats.iter().map(write_one).collect()
}

/// The path of a file below a folder, which is the batch's own where it has no name.
pub(crate) fn below(within: &str, name: &str) -> String {
    if within.is_empty() {
        name.to_owned()
    } else {
        format!("{within}/{name}")
    }
}

/// Writes `manifest.json` as a file of a batch, in the folder `within` it, and returns its path.
///
/// # Errors
///
/// [`IoError::NotReplaced`] or [`IoError::Write`], with the path and the reason.
pub fn write_manifest(
    batch: &mut Batch,
    within: &str,
    manifest: &Manifest,
) -> Result<PathBuf, IoError> {
    let written = batch.write(&below(within, MANIFEST), |out| {
        serde_json::to_writer_pretty(&mut *out, manifest).map_err(io::Error::from)?;
        writeln!(out)
    })?;
    Ok(written.path)
}

/// A recording that was read, if it keeps what a [`Recording`] promises: instants that increase and a sample of
/// every channel at each.
pub(crate) fn checked(recording: Recording) -> io::Result<Recording> {
    let invalid = |reason: &str| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    let mut pairs = recording.time_s.windows(2);
    if pairs.any(|pair| pair[1].total_cmp(&pair[0]).is_le()) {
        return invalid("its instants do not increase");
    }
    if (recording.channels.iter()).any(|channel| channel.samples.len() != recording.len()) {
        return invalid("a channel has not one sample per instant");
    }
    Ok(recording)
}
