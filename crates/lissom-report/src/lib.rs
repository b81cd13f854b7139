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
mod verdict;

use lissom::Recording;
use lissom_io::load::Loaded;
use lissom_io::manifest::Manifest;
use serde_json::Value;

pub use page::html;
pub use panels::MOST_CURVES;
pub use plot::{Axis, Chart, Curve, Format, Panel, Plot, Scale, Style};

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

/// Text for the content of an element or the value of an attribute.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('"', "&quot;")
}
