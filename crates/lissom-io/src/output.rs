//! One run's output: the recording in the chosen formats and the manifest, in one folder.

use std::io;
use std::path::PathBuf;

use lissom::Recording;
use lissom::spec::OutputFormat;

use crate::batch::{Batch, Written};
use crate::manifest::Manifest;
use crate::{IoError, csv, mat, npz};

/// Name of the file that says how the recording beside it came about.
pub const MANIFEST: &str = "manifest.json";

/// Name of the file that holds a recording in a format.
pub fn file_name(format: OutputFormat) -> &'static str {
    match format {
        OutputFormat::Csv => "recording.csv",
        OutputFormat::Npz => "recording.npz",
        OutputFormat::Mat => "recording.mat",
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
    formats: &[OutputFormat],
) -> Result<Vec<Written>, IoError> {
    let write_one = |&format: &OutputFormat| {
        batch.write(&below(within, file_name(format)), |out| match format {
            OutputFormat::Csv => csv::write(recording, out),
            OutputFormat::Npz => npz::write(recording, out),
            OutputFormat::Mat => mat::write(recording, out),
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
    let written = batch.write_json(&below(within, MANIFEST), manifest)?;
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
