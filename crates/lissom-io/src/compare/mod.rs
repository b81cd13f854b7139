//! [`Comparison`]: one model run with several fidelities, side by side.
//!
//! ```text
//! model ──with_fidelity──► one model per choice ──run──► Finished ──► Comparison ──► comparison.json
//! ```
//!
//! What is found of the runs is [`lissom::compare`]; here models are changed and the findings written down, with what the
//! runs cost. A run that did not reach its end is part of the comparison, with the instant and the coordinate; so is one
//! that was given up because it left what its equations describe.

mod choice;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lissom::compare::{Advice, CompareOptions, Difference, FidelityRun, Findings, compare};
use lissom::{Audit, Divergence, Ending, Fidelity, Run, RunError};
use serde::Serialize;
use serde_json::Value;

use crate::load::Loaded;
use crate::summary::{Cost, Failure, Summary};
use crate::{IoError, atomic, notes, record};

pub use choice::{Choice, UnknownFidelity, with_fidelity};

/// A run that has ended, one way or another.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The fidelity.
    pub choice: Choice,
    /// The model with it.
    pub loaded: Loaded,
    /// The run, with every channel, sampled at
    /// [`dense_instants`](lissom::compare::dense_instants).
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
        let names: Vec<String> = finished.iter().map(|f| f.choice.to_string()).collect();
        let runs: Vec<FidelityRun<'_>> = (finished.iter().zip(&names))
            .map(|(f, name)| FidelityRun {
                name,
                mechanism: &f.loaded.mechanism,
                run: &f.run,
            })
            .collect();
        let Findings {
            reference,
            channels,
            differences,
            advice,
        } = compare(&runs, &CompareOptions { channels, within });
        let entry = |(f, differences): (&Finished, Vec<Difference>)| {
            let diverged = match &f.run.ending {
                Ending::Failed(RunError::Diverged(divergence)) => Some(divergence.clone()),
                _ => None,
            };
            Entry {
                fidelity: f.choice.to_string(),
                switches: record::switches(f.loaded.spec.fidelity.resolve(Fidelity::DEFAULT)),
                sound: f.summary.completed,
                failure: f.summary.failure.clone().filter(|_| diverged.is_none()),
                diverged,
                stopped_at_s: f.summary.stopped_at_s,
                audit: f.summary.audit.clone(),
                cost: f.summary.cost,
                differences,
                notes: notes::notes(&f.loaded),
                files: f.summary.files.clone(),
            }
        };
        let entries = finished.iter().zip(differences).map(entry).collect();
        let first = finished.first();
        Self {
            model: first.map_or_else(String::new, |f| f.summary.model.clone()),
            lissom_version: env!("CARGO_PKG_VERSION").to_owned(),
            reference: reference.map(|at| names[at].clone()),
            channels,
            runs: entries,
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
