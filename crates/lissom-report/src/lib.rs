#![doc = include_str!("../README.md")]
//!
//! ```text
//! Source (model, recording, manifest) ──data──► JSON + numbers ──page──► HTML
//!                                     └─panels──► plot ──► PNG, SVG, PDF
//! ```

mod data;
mod page;
mod panels;
mod plot;
mod validation;
mod verdict;
mod visuals;

use lissom::Recording;
use lissom_io::analysis::Analysis;
use lissom_io::load::Loaded;
use lissom_io::manifest::Manifest;
use serde_json::Value;

pub use page::{body_html, html, html_beside};
pub use panels::MOST_CURVES;
pub use plot::{Axis, Chart, Curve, Format, HeatMap, Layer, Panel, Plot, Scale, Style};
pub use validation::{Validation, validation_html};
pub use verdict::DOUBTFUL_PERCENT;

/// A run to be shown.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// What the run is called among the others.
    pub label: String,
    /// The model as run.
    pub loaded: &'a Loaded,
    /// How the recording came about.
    pub manifest: &'a Manifest,
    /// The recording.
    pub recording: &'a Recording,
    /// What `lissom check --json` says of the model.
    pub model_summary: Value,
}

/// What is shown beside runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// Measured data, each with what it is called: channels of the same names are drawn as points over those of the runs.
    pub measured: &'a [(String, Recording)],
    /// Responses, modes and maps, each with what it is called.
    pub analyses: &'a [(String, Analysis)],
}

/// Text for the content of an element or the value of an attribute. Characters that XML does not have, by which a file could not be read, are
/// replaced.
fn escaped(text: &str) -> String {
    let is_lacking = |c: char| {
        c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r')
            || matches!(c, '\u{FFFE}' | '\u{FFFF}')
    };
    let text = text.replace(is_lacking, "\u{FFFD}");
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('"', "&quot;")
}
