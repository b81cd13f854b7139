//! `lissom report`: recordings as one HTML page, or as a plot.

use std::io::Write;
use std::path::{Path, PathBuf};

use lissom::{Channel, Recording};
use lissom_io::measured::{self, Heads};
use lissom_io::model_summary::ModelSummary;
use lissom_io::stored::{self, Stored, StoredError};
use lissom_io::{analysis, atomic, resource};
use lissom_report::{Beside, Chart, Source};
use serde_json::json;

use crate::arguments::{PictureArguments, ReportArguments};
use crate::diagnostics;
use crate::output::{self, AnswerArguments};
use crate::plot::{CHANNELS, PlotArguments, WithPlot, WrittenPlot};
use crate::stop::Stop;

/// Writes a report on recordings of the disk.
pub(crate) fn run(arguments: &ReportArguments) -> Result<(), Stop> {
    (arguments.out.as_deref()).map_or(Ok(()), atomic::refuse_unwritable)?;
    arguments.plot.refuse_unwritable()?;
    let stored = (arguments.recordings.iter())
        .map(|path| stored::read(path).map_err(explained))
        .collect::<Result<Vec<Stored>, Stop>>()?;
    let page = match &arguments.out {
        Some(out) => Some(out.clone()),
        None if arguments.plot.plot.is_some() => None,
        None => stored
            .first()
            .map(|stored| stored.folder.join("report.html")),
    };
    (page.as_deref()).map_or(Ok(()), atomic::refuse_unwritable)?;
    let labels = labels(&stored);
    let sources: Vec<Source<'_>> = (stored.iter().zip(labels))
        .map(|(stored, label)| Source {
            label,
            loaded: &stored.loaded,
            manifest: &stored.manifest,
            recording: &stored.recording,
            model_summary: json!(ModelSummary::of(&stored.loaded)),
        })
        .collect();
    let channels = &arguments.channels.channels;
    let measured = measured_data(&arguments.measured, &stored)?;
    let analyses = (arguments.analysis.iter())
        .map(|path| {
            let found = analysis::read(path).map_err(|error| Stop::Failed(error.to_string()))?;
            Ok((file_name(path), found))
        })
        .collect::<Result<Vec<_>, Stop>>()?;
    let beside = Beside {
        measured: &measured,
        analyses: &analyses,
    };
    let pictures = write(
        &sources,
        page,
        &arguments.plot,
        channels,
        &beside,
        arguments.answer,
    )?;
    let answer = WithPlot {
        answer: &json!({ "files": pictures.files }),
        plot: pictures.plot.as_ref(),
    };
    (arguments.answer).give(&answer, || written(&pictures.files))
}

/// Measured tables, of which each has a channel of a recording.
fn measured_data(files: &[PathBuf], stored: &[Stored]) -> Result<Vec<(String, Recording)>, Stop> {
    let read = |path: &PathBuf| {
        let text = resource::read_text(path)?;
        let name = path.display().to_string();
        let table = measured::parse(&name, &text, &Heads::default())?;
        let is_recorded = |channel: &Channel| {
            let mut recordings = stored.iter().map(|stored| &stored.recording);
            recordings.any(|recording| recording.channel(&channel.name).is_some())
        };
        if table.channels.iter().any(is_recorded) {
            return Ok((file_name(path), table));
        }
        let columns: Vec<&str> = (table.channels.iter())
            .map(|channel| channel.name.as_str())
            .collect();
        Err(Stop::Failed(format!(
            "{name} has no channel of the recording, only {}; head its columns as recording.csv heads them",
            columns.join(", ")
        )))
    };
    files.iter().map(read).collect()
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.display().to_string()
}

fn explained(error: StoredError) -> Stop {
    match error {
        StoredError::Model { path, source } => Stop::Diagnosed(format!(
            "error: the model in {} has problems\n{}",
            output::harmless(&path.display().to_string()),
            diagnostics::render(&source)
        )),
        error => error.into(),
    }
}

/// Names of the folders, with as many of their parents as it takes to tell them apart.
fn labels(stored: &[Stored]) -> Vec<String> {
    let parts: Vec<Vec<String>> = (stored.iter())
        .map(|stored| {
            let whole = stored
                .folder
                .canonicalize()
                .unwrap_or(stored.folder.clone());
            whole
                .iter()
                .map(|part| part.display().to_string())
                .collect()
        })
        .collect();
    let tail =
        |parts: &[String], depth: usize| parts[parts.len().saturating_sub(depth)..].join("/");
    let deepest = parts.iter().map(Vec::len).max().unwrap_or(1);
    for depth in 1..=deepest {
        let names: Vec<String> = parts.iter().map(|parts| tail(parts, depth)).collect();
        let distinct = (0..names.len()).all(|i| !names[..i].contains(&names[i]));
        if distinct || depth == deepest {
            return names;
        }
    }
    Vec::new()
}

/// Pages and plots that were written.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    pub(super) files: Vec<PathBuf>,
    /// The plot among them.
    pub(super) plot: Option<WrittenPlot>,
}

/// Refuses pictures that could not be written, before the work that they are to show.
pub(super) fn refuse_unwritable(folder: &Path, pictures: &PictureArguments) -> Result<(), Stop> {
    let page = page_in(folder, pictures);
    (page.as_deref()).map_or(Ok(()), atomic::refuse_unwritable)?;
    pictures.plot.refuse_unwritable()
}

fn page_in(folder: &Path, pictures: &PictureArguments) -> Option<PathBuf> {
    pictures.report.then(|| folder.join("report.html"))
}

/// Writes what a run or a comparison was asked to show, into its folder unless said otherwise.
pub(super) fn write_for(
    sources: &[Source<'_>],
    folder: &Path,
    pictures: &PictureArguments,
    channels: &[String],
    answer: AnswerArguments,
) -> Result<Pictures, Stop> {
    let page = page_in(folder, pictures);
    let beside = Beside::default();
    write(sources, page, &pictures.plot, channels, &beside, answer)
}

fn write(
    sources: &[Source<'_>],
    page: Option<PathBuf>,
    plot: &PlotArguments,
    channels: &[String],
    beside: &Beside<'_>,
    answer: AnswerArguments,
) -> Result<Pictures, Stop> {
    let mut pictures = Pictures::default();
    if let Some(path) = page {
        let text = lissom_report::html_beside(sources, channels, beside);
        atomic::write(&path, |out| out.write_all(text.as_bytes()))?;
        pictures.files.push(path);
    }
    let labelled: Vec<(&str, &Recording)> = (sources.iter())
        .map(|source| (source.label.as_str(), source.recording))
        .chain(
            beside
                .measured
                .iter()
                .map(|(label, table)| (label.as_str(), table)),
        )
        .collect();
    if let Some(first) = sources.first() {
        let chart = || Ok(Chart::of_recordings(first.loaded, &labelled, channels));
        pictures.plot = plot.write(answer, CHANNELS, chart)?;
        let plot = pictures.plot.iter().map(|plot| plot.file.clone());
        pictures.files.extend(plot);
    }
    Ok(pictures)
}

/// Which pictures were written, for a person.
pub(super) fn written(files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    format!("Wrote {}.", names.join(" and "))
}
