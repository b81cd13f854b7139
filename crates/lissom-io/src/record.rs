//! Everything a run leaves behind, written into one folder: recording, manifest, summary.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use lissom::recording::SectionExtremes;
use lissom::spec::OutputFormat;
use lissom::{Ending, Recording, Run, State};
use serde_json::{Value, json};

use crate::as_run::KeptFile;
use crate::batch::{Batch, Written};
use crate::load::Loaded;
use crate::manifest::{FileEntry, Manifest};
use crate::output::{self, MANIFEST, below, file_name};
use crate::state::{self, StateFile};
use crate::stored::Folder;
use crate::summary::Summary;
use crate::{IoError, npz, section_table};

/// Adds the recording in the formats the model asks for, and the manifest with the summary in it, to a batch, in the folder
/// `within` it. The summary then names the files. `options` are what was asked for beside the model. Returns the manifest.
///
/// # Errors
///
/// [`IoError::NotReplaced`] or [`IoError::Write`], with the path and the reason; what stood there before still does.
pub fn add(
    batch: &mut Batch,
    within: &str,
    loaded: &Loaded,
    run: &Run,
    options: Value,
    summary: &mut Summary,
) -> Result<Manifest, IoError> {
    let formats = formats_of(loaded);
    add_in(&formats, batch, within, loaded, run, options, summary)
}

/// Writes what a run has so far in place of what stands in a folder: the recording in the format that is written fastest and holds it,
/// state and manifest, which says that the run was still in progress.
///
/// # Errors
///
/// [`IoError::CreateFolder`], [`IoError::NotReplaced`] or [`IoError::Write`], with the path and the reason; what stood there before still
/// does.
pub fn write_checkpoint(
    folder: &Path,
    loaded: &Loaded,
    so_far: &Run,
    options: Value,
    summary: &mut Summary,
) -> Result<(), IoError> {
    let mut batch = Batch::begin(folder, file_names(loaded))?;
    summary.in_progress = true;
    let recording = &so_far.recording;
    let format = if npz::holds(recording.channels.len(), recording.len() as f64) {
        OutputFormat::Npz
    } else {
        OutputFormat::Csv
    };
    add_in(&[format], &mut batch, "", loaded, so_far, options, summary)?;
    batch.finish()
}

fn add_in(
    formats: &[OutputFormat],
    batch: &mut Batch,
    within: &str,
    loaded: &Loaded,
    run: &Run,
    options: Value,
    summary: &mut Summary,
) -> Result<Manifest, IoError> {
    replace_earlier(batch, within, loaded)?;
    let mut files = output::write(batch, within, &run.recording, formats)?;
    files.extend(write_state(batch, within, loaded, run.last.as_ref())?);
    files.extend(write_kept(batch, within, loaded)?);
    files.extend(write_section_table(batch, within, loaded, &run.recording)?);
    let paths = files.iter().map(|file| file.path.clone());
    let paths = paths.chain([batch.folder().join(below(within, MANIFEST))]);
    summary.files = paths.map(|path| path.display().to_string()).collect();
    let stopped_at_s = match &run.ending {
        Ending::Completed => None,
        Ending::Stopped { at_s } => Some(*at_s),
        Ending::Failed(error) => Some(error.time_s()),
    };
    // a summary holds names and numbers only, so that this cannot fail
    let told = serde_json::to_value(&*summary).unwrap_or(Value::Null);
    let manifest = manifest(loaded, &run.recording, &files, options, told, stopped_at_s);
    output::write_manifest(batch, within, &manifest)?;
    Ok(manifest)
}

/// Writes a recording that was not made on the way here, with the state that it ends in, if that is known, and a manifest whose
/// `summary` says what it is. Returns the paths.
///
/// # Errors
///
/// [`IoError::NotReplaced`] or [`IoError::Write`], with the path and the reason; what stood there before still does.
pub fn write_recording(
    mut batch: Batch,
    loaded: &Loaded,
    recording: &Recording,
    last: Option<&State>,
    options: Value,
    summary: Value,
    stopped_at_s: Option<f64>,
) -> Result<Vec<PathBuf>, IoError> {
    replace_earlier(&mut batch, "", loaded)?;
    let mut files = output::write(&mut batch, "", recording, &formats_of(loaded))?;
    files.extend(write_state(&mut batch, "", loaded, last)?);
    files.extend(write_kept(&mut batch, "", loaded)?);
    let manifest = manifest(loaded, recording, &files, options, summary, stopped_at_s);
    let mut paths: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
    paths.push(output::write_manifest(&mut batch, "", &manifest)?);
    batch.finish()?;
    Ok(paths)
}

/// Has a batch replace all files of the run that stands in its folder `within`.
fn replace_earlier(batch: &mut Batch, within: &str, loaded: &Loaded) -> Result<(), IoError> {
    for name in file_names(loaded) {
        batch.replace(&below(within, &name))?;
    }
    // what cannot be read as a run keeps no bodies
    let earlier = Folder::open(&batch.folder().join(within)).ok();
    for name in earlier.iter().flat_map(Folder::kept) {
        // where something else has come to stand it is left alone
        let _ = batch.replace(&below(within, name));
    }
    Ok(())
}

/// Writes the files that the text of the model names.
fn write_kept(batch: &mut Batch, within: &str, loaded: &Loaded) -> Result<Vec<Written>, IoError> {
    let write = |file: &KeptFile| {
        batch.write(&below(within, &file.name), |out| {
            out.write_all(file.text.as_bytes())
        })
    };
    loaded.as_run.files.iter().map(write).collect()
}

/// Writes the loads of beams, if the model asks for them.
fn write_section_table(
    batch: &mut Batch,
    within: &str,
    loaded: &Loaded,
    recording: &Recording,
) -> Result<Option<Written>, IoError> {
    let extremes = SectionExtremes::of(recording, &loaded.spec);
    if extremes.is_empty() {
        return Ok(None);
    }
    let name = below(within, section_table::FILE);
    let written = batch.write(&name, |out| section_table::write(&extremes, out));
    written.map(Some)
}

/// Writes the state that a run ends in, if it is known.
fn write_state(
    batch: &mut Batch,
    within: &str,
    loaded: &Loaded,
    last: Option<&State>,
) -> Result<Option<Written>, IoError> {
    let file = last.and_then(|last| StateFile::of(&loaded.mechanism, last).ok());
    file.map(|file| state::write(batch, within, &file))
        .transpose()
}

/// Names of all files that the run of a model may leave: a [`Batch`] that writes one replaces them.
pub fn file_names(loaded: &Loaded) -> Vec<String> {
    let recordings = [OutputFormat::Csv, OutputFormat::Npz, OutputFormat::Mat].map(file_name);
    let names = recordings
        .into_iter()
        .chain([state::FILE, section_table::FILE, MANIFEST]);
    let kept = loaded.as_run.files.iter().map(|file| file.name.as_str());
    names.chain(kept).map(str::to_owned).collect()
}

/// How a recording came about, with the files that hold it.
pub fn manifest(
    loaded: &Loaded,
    recording: &Recording,
    files: &[Written],
    options: Value,
    summary: Value,
    stopped_at_s: Option<f64>,
) -> Manifest {
    Manifest {
        format: Manifest::FORMAT,
        lissom_version: env!("CARGO_PKG_VERSION").to_owned(),
        model_file: loaded.path.as_ref().and_then(|path| {
            let name = path.file_name()?;
            Some(name.display().to_string())
        }),
        model: loaded.as_run.text.clone(),
        options,
        fidelity: json!(loaded.mechanism.fidelity()),
        channels: Manifest::channels_of(recording),
        files: files.iter().map(FileEntry::of).collect(),
        summary,
        completed: stopped_at_s.is_none(),
        stopped_at_s,
    }
}

/// The formats that a model asks for.
fn formats_of(loaded: &Loaded) -> Vec<OutputFormat> {
    let mut formats = loaded.spec.output.formats.clone();
    formats.sort_unstable();
    formats.dedup();
    formats
}
