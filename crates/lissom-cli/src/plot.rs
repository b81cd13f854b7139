//! Plots of the verbs that have curves: the options, and how they are written.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use lissom_io::atomic;
use lissom_report::{Chart, Format, HeatMap, Plot, Style};
use serde::Serialize;

use crate::output::AnswerArguments;
use crate::stop::Stop;

/// Channels that are named one by one when they have no room in a plot.
const NAMED: usize = 6;

/// Widths in millimetres and sizes of type in points that make a plot.
const WIDTHS_MM: [f64; 2] = [40.0, 1000.0];
const SIZES_PT: [f64; 2] = [4.0, 30.0];

/// The plot of a verb that has curves.
#[derive(Debug, Args)]
pub(crate) struct PlotArguments {
    /// Write a plot, as PNG, SVG or PDF by the ending of the file.
    #[arg(long, value_name = "FILE", value_parser = plot_file)]
    pub(crate) plot: Option<PathBuf>,
    /// Width of the plot in millimetres.
    #[arg(long, value_name = "MM", default_value_t = Style::default().width_mm, value_parser = width_mm)]
    plot_width_mm: f64,
    /// Size of its type in points.
    #[arg(long, value_name = "PT", default_value_t = Style::default().font_pt, value_parser = font_pt)]
    plot_font_pt: f64,
}

/// The option that chooses the channels of a plot.
pub(crate) const CHANNELS: &str = "--channels";

/// The channels of a plot.
#[derive(Debug, Args)]
pub(crate) struct ChannelArguments {
    /// Beginnings of the channels to plot; a choice among all unless said.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) channels: Vec<String>,
}

/// A plot that was written.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct WrittenPlot {
    /// Its file.
    pub(crate) file: PathBuf,
    /// Channels that have no room in it.
    left_out: Vec<String>,
}

/// The answer of a verb for a program, with what its plot leaves out if it has one.
#[derive(Debug, Serialize)]
pub(crate) struct WithPlot<'a, T> {
    #[serde(flatten)]
    pub(crate) answer: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plot: Option<&'a WrittenPlot>,
}

impl PlotArguments {
    /// Refuses a file that cannot be written, before the work that is to be plotted.
    pub(crate) fn refuse_unwritable(&self) -> Result<(), Stop> {
        Ok(self
            .plot
            .as_deref()
            .map_or(Ok(()), atomic::refuse_unwritable)?)
    }

    /// Writes the plot that was asked for, and warns of what has no room in it; `chart` is only made if one was. `options` are those that
    /// choose its curves.
    ///
    /// # Errors
    /// When there is nothing to draw, or the file cannot be written.
    pub(crate) fn write<'a>(
        &self,
        answer: AnswerArguments,
        options: &str,
        chart: impl FnOnce() -> Result<Chart<'a>, Stop>,
    ) -> Result<Option<WrittenPlot>, Stop> {
        self.save(answer, options, |style, format| {
            Ok(chart()?.draw(style, format))
        })
    }

    /// Writes the picture of a map, likewise.
    ///
    /// # Errors
    /// When there is nothing to draw, or the file cannot be written.
    pub(crate) fn write_map(
        &self,
        answer: AnswerArguments,
        map: impl FnOnce() -> HeatMap,
    ) -> Result<Option<WrittenPlot>, Stop> {
        self.save(answer, "--over", |style, format| {
            Ok(map().draw(style, format))
        })
    }

    fn save(
        &self,
        answer: AnswerArguments,
        options: &str,
        draw: impl FnOnce(Style, Format) -> Result<Option<Plot>, Stop>,
    ) -> Result<Option<WrittenPlot>, Stop> {
        let Some(path) = &self.plot else {
            return Ok(None);
        };
        let style = Style {
            width_mm: self.plot_width_mm,
            font_pt: self.plot_font_pt,
        };
        let format = Format::of(path).ok_or_else(|| Stop::Usage(endings(path)))?;
        let Some(plot) = draw(style, format)? else {
            return Err(Stop::Failed(format!(
                "there is nothing to plot: nothing changes, nothing is called as {options} says, or the plot is too narrow for \
                 its type"
            )));
        };
        atomic::write(path, |out| out.write_all(&plot.bytes))?;
        if !plot.left_out.is_empty() {
            answer.warn(&left_out(&plot.left_out, options));
        }
        Ok(Some(WrittenPlot {
            file: path.clone(),
            left_out: plot.left_out,
        }))
    }
}

/// What has no room in a plot, for a person.
fn left_out(names: &[String], options: &str) -> String {
    let named = &names[..names.len().min(NAMED)];
    let more = match names.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "The plot has no room for {}{more}; choose others with {options}.",
        named.join(", ")
    )
}

fn endings(path: &Path) -> String {
    let known: Vec<String> = (Format::ENDINGS.iter())
        .map(|(ending, _)| format!(".{ending}"))
        .collect();
    format!(
        "{} does not say what to write; plots end in {}",
        path.display(),
        known.join(", ")
    )
}

fn plot_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match Format::of(&path) {
        Some(_) => Ok(path),
        None => Err(endings(&path)),
    }
}

fn width_mm(text: &str) -> Result<f64, String> {
    between(text, WIDTHS_MM, "millimetres")
}

fn font_pt(text: &str) -> Result<f64, String> {
    between(text, SIZES_PT, "points")
}

fn between(text: &str, [least, most]: [f64; 2], unit: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!("write a number of {unit} from {least} to {most}")),
    }
}
