//! Everything a run leaves behind, written into one folder: recording, manifest, summary.

use std::path::{Path, PathBuf};

use lissom::spec::OutputFormat;
use lissom::{Ending, Fidelity, Recording, Run};
use serde_json::{Value, json};

use crate::IoError;
use crate::load::Loaded;
use crate::manifest::Manifest;
use crate::output::{self, Format};
use crate::state::{self, StateFile};
use crate::summary::Summary;

/// Writes the recording in the formats the model asks for, and the manifest with the summary in it. The
/// summary then names the files. `options` are what was asked for beside the model. Returns the manifest.
///
/// # Errors
///
/// [`IoError::CreateFolder`] or [`IoError::Write`], with the path and the reason.
pub fn write(
    folder: &Path,
    loaded: &Loaded,
    run: &Run,
    options: Value,
    summary: &mut Summary,
) -> Result<Manifest, IoError> {
    let paths = output::write(folder, &run.recording, &formats_of(loaded))?;
    summary.files = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    if let Some(last) = &run.last
        && let Ok(file) = StateFile::of(&loaded.mechanism, last)
    {
        let path = state::write(folder, &file)?;
        summary.files.push(path.display().to_string());
    }
    let manifest_path = folder.join("manifest.json");
    summary.files.push(manifest_path.display().to_string());
    let stopped_at_s = match &run.ending {
        Ending::Completed => None,
        Ending::Stopped { at_s } => Some(*at_s),
        Ending::Failed(error) => Some(error.time_s()),
    };
    // a summary holds names and numbers only, so that this cannot fail
    let told = serde_json::to_value(&*summary).unwrap_or(Value::Null);
    let manifest = manifest(loaded, &run.recording, options, told, stopped_at_s);
    output::write_manifest(folder, &manifest)?;
    Ok(manifest)
}

/// Writes a recording that is no run of the whole equations, with a manifest whose `summary` says what it is. Returns the
/// paths.
///
/// # Errors
///
/// [`IoError::CreateFolder`] or [`IoError::Write`], with the path and the reason.
pub fn write_recording(
    folder: &Path,
    loaded: &Loaded,
    recording: &Recording,
    options: Value,
    summary: Value,
    stopped_at_s: Option<f64>,
) -> Result<Vec<PathBuf>, IoError> {
    let mut paths = output::write(folder, recording, &formats_of(loaded))?;
    let manifest = manifest(loaded, recording, options, summary, stopped_at_s);
    paths.push(output::write_manifest(folder, &manifest)?);
    Ok(paths)
}

fn manifest(
    loaded: &Loaded,
    recording: &Recording,
    options: Value,
    summary: Value,
    stopped_at_s: Option<f64>,
) -> Manifest {
    let formats = formats_of(loaded);
    Manifest {
        format: Manifest::FORMAT,
        lissom_version: env!("CARGO_PKG_VERSION").to_owned(),
        model_file: loaded.path.as_ref().and_then(|path| {
            let name = path.file_name()?;
            Some(name.display().to_string())
        }),
        model: loaded.as_run.clone(),
        options,
        fidelity: switches(loaded.mechanism.fidelity()),
        channels: Manifest::channels_of(recording),
        files: formats.iter().map(|format| format.file_name()).collect(),
        summary,
        completed: stopped_at_s.is_none(),
        stopped_at_s,
    }
}

/// The formats that a model asks for.
fn formats_of(loaded: &Loaded) -> Vec<Format> {
    let wanted = loaded.spec.output.formats.iter();
    let mut formats: Vec<Format> = wanted.copied().map(format_of).collect();
    formats.sort_unstable();
    formats.dedup();
    formats
}

fn format_of(format: OutputFormat) -> Format {
    match format {
        OutputFormat::Csv => Format::Csv,
        OutputFormat::Npz => Format::Npz,
        OutputFormat::Mat => Format::Mat,
    }
}

/// The fidelity switches by their names.
pub fn switches(fidelity: Fidelity) -> Value {
    json!(fidelity)
}
