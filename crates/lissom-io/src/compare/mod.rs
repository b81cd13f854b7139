//! [`Comparison`]: one model run with several fidelities, side by side.
//!
//! ```text
//! model ──with_fidelity──► one model per choice ──run──► Finished ──► Comparison ──► comparison.json
//! ```
//!
//! A run that did not reach its end is part of the comparison, with the instant and the coordinate; so is one that was
//! given up because it left what its equations describe, [`DEPARTURE_LENGTHS`]. Differences are those from the first
//! run that is sound.

mod advice;
mod choice;
mod differences;
mod instants;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lissom::model::CoordinateKind;
use lissom::simulate::{Audit, Divergence, Ending, Run, RunError};
use serde::Serialize;
use serde_json::Value;

use crate::load::Loaded;
use crate::summary::{Cost, Failure, Summary};
use crate::{IoError, atomic, notes, record};

pub use advice::{Advice, Bending, FIRST_ORDER, Prediction, RateRatio, SAFETY, Term};
pub use choice::{Choice, UnknownFidelity, with_fidelity};
pub use differences::{Difference, Worst, worst};
pub use instants::{dense_instants, thinned};

/// Displacement of a body, in lengths of it, at which a run has diverged and is given up. Small rotations mean nothing
/// beyond a fraction of a length, but a run may come back from there, as the inconsistent model of a beam that spins up
/// does from nine tenths. The second-order fields of the fidelities that shorten reach one length at most; ten lengths
/// is a factor of ten beyond whatever could be meant, and growth by then is exponential or faster, so that the instant
/// hardly depends on the number.
pub const DEPARTURE_LENGTHS: f64 = 10.0;

/// A run that has ended, one way or another.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The fidelity.
    pub choice: Choice,
    /// The model with it.
    pub loaded: Loaded,
    /// The run, with every channel, sampled at [`dense_instants`].
    pub run: Run,
    /// Its summary.
    pub summary: Summary,
}

/// One model run with several fidelities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the model.
    pub model: String,
    /// Version of Lissom that ran it.
    pub lissom_version: String,
    /// The fidelity that differences are taken from: the first whose run is sound.
    pub reference: Option<String>,
    /// Channels that are compared.
    pub channels: Vec<String>,
    /// The runs, in the order they were asked for.
    pub runs: Vec<Entry>,
    /// What the reference run tells of its terms.
    pub advice: Option<Advice>,
}

/// One run of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Name of the fidelity.
    pub fidelity: String,
    /// Its switches.
    pub switches: Value,
    /// Whether the run reached its end and stayed within what its equations describe.
    pub sound: bool,
    /// Where it left what its equations describe and was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diverged: Option<Divergence>,
    /// Why it could not go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Instant at which it was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_at_s: Option<f64>,
    /// Energy, momentum and limits.
    pub audit: Audit,
    /// What it cost.
    pub cost: Cost,
    /// Differences from the reference, as far as the run came and until it diverged.
    pub differences: Vec<Difference>,
    /// What to know of this fidelity with this model.
    pub notes: Vec<String>,
    /// Paths of what was written.
    pub files: Vec<String>,
}

impl Comparison {
    /// Compares runs of one model in the channels that begin with one of `channels`, unless said in marker
    /// positions and free joint coordinates. A cheaper fidelity is advised if its error is within `within`
    /// lengths of the longest flexible body and `within` radians.
    pub fn new(finished: &[Finished], channels: Option<&[String]>, within: f64) -> Self {
        let sound = |i: usize| finished[i].summary.completed;
        let reference = (0..finished.len()).find(|&i| sound(i));
        let names = reference.map_or_else(Vec::new, |at| compared(&finished[at], channels));
        let entry = |(i, f): (usize, &Finished)| {
            let from = reference.filter(|&at| at != i).map(|at| &finished[at]);
            let diverged = match &f.run.ending {
                Ending::Failed(RunError::Diverged(divergence)) => Some(divergence.clone()),
                _ => None,
            };
            Entry {
                fidelity: f.choice.to_string(),
                switches: record::switches(f.loaded.mechanism.tree().fidelity),
                sound: sound(i),
                failure: f.summary.failure.clone().filter(|_| diverged.is_none()),
                diverged,
                stopped_at_s: f.summary.stopped_at_s,
                audit: f.summary.audit.clone(),
                cost: f.summary.cost,
                differences: from.map_or_else(Vec::new, |from| {
                    differences::between(&from.run.recording, &f.run.recording, &names)
                }),
                notes: notes::notes(&f.loaded),
                files: f.summary.files.clone(),
            }
        };
        let runs: Vec<Entry> = finished.iter().enumerate().map(entry).collect();
        let advice = reference.map(|at| advice::advise(finished, &runs, at, &names, within));
        let first = finished.first();
        Self {
            model: first.map_or_else(String::new, |f| f.summary.model.clone()),
            lissom_version: env!("CARGO_PKG_VERSION").to_owned(),
            reference: reference.map(|at| finished[at].choice.to_string()),
            channels: names,
            runs,
            advice,
        }
    }

    /// Writes `comparison.json` into a folder that exists.
    ///
    /// # Errors
    ///
    /// [`IoError::Write`], with the path and the reason.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, IoError> {
        let path = folder.join("comparison.json");
        atomic::write(&path, |out| {
            serde_json::to_writer_pretty(&mut *out, self).map_err(io::Error::from)?;
            writeln!(out)
        })?;
        Ok(path)
    }
}

/// Names of the compared channels.
fn compared(reference: &Finished, beginnings: Option<&[String]>) -> Vec<String> {
    let names = reference.run.recording.channels.iter().map(|c| &c.name);
    if let Some(beginnings) = beginnings {
        let asked = |name: &&String| beginnings.iter().any(|b| name.starts_with(b.as_str()));
        return names.filter(asked).cloned().collect();
    }
    let model = reference.loaded.mechanism.tree();
    let markers = (model.linkage.markers.iter()).filter(|marker| marker.body.is_some());
    let positions = markers
        .flat_map(|marker| ["x", "y", "z"].map(|axis| format!("{}.position.{axis}", marker.name)));
    let prescribed = |at: usize| model.motions.iter().any(|motion| motion.position == at);
    let joints = (model.linkage.positions.iter().enumerate())
        .filter(|(at, c)| c.kind == CoordinateKind::Joint && !prescribed(*at))
        .map(|(_, c)| c.name.clone());
    let chosen: Vec<String> = positions.chain(joints).collect();
    if !chosen.is_empty() {
        return chosen;
    }
    let elastic = (model.linkage.positions.iter()).filter(|c| c.kind == CoordinateKind::Elastic);
    elastic.map(|c| c.name.clone()).collect()
}
