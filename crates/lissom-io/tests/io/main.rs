//! Files on a disk, and shipped models from their names to what they show.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod batches;
mod damaren_findings;
mod extremes;
mod files;
mod fit;
mod inversion;
mod rigid;
mod urdf;
mod validation;
mod warnings;

use lissom::Override;
use lissom_io::load::{Loaded, load_text};
use lissom_io::models;

/// A shipped model with changes as `--set` takes them.
fn loaded(model: &str, changes: &[&str]) -> Loaded {
    let shipped = models::find(model).expect("a shipped model");
    let overrides: Vec<Override> = changes
        .iter()
        .map(|text| Override::parse(text).expect("a change"))
        .collect();
    load_text(shipped.name, shipped.text, &overrides).expect("a sound model")
}
