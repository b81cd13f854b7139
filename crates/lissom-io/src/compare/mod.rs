//! [`Comparison`]: one model run with several fidelities, side by side.
//!
//! ```text
//! model ──with_choices──► one model per fidelity ─Runs::of─► Finished ─┐
//!                         the first sound one without                 ├─► Comparison ──► comparison.json
//!                         each group of terms ────Runs::of─► Without ─┘
//! ```
//!
//! What is found of the runs is [`lissom::compare`]; here models are changed and the findings written down, with what the
//! runs cost. A run that did not reach its end is part of the comparison, with the instant and the coordinate; so is one
//! that was given up because it left what its equations describe.

mod choice;
mod task;

use std::path::PathBuf;

use lissom::compare::{
    Advice, CompareOptions, Difference, FidelityRun, Findings, TermRun, compare, reference,
};
use lissom::{Audit, Divergence, Ending, Fidelity, Recording, RunError};
use serde::Serialize;
use serde_json::{Value, json};

use crate::IoError;
use crate::batch::Batch;
use crate::load::Loaded;
use crate::summary::{Cost, Failure};

use choice::with_fidelity;
pub use choice::{Choice, UnknownFidelity};
pub use task::{Finished, OfNodes, Runs, Task, Without, refuse_nodes, with_choices};

/// The first run that is sound, from which differences are taken.
fn first_sound(finished: &[Finished]) -> Option<&Finished> {
    let names: Vec<String> = finished.iter().map(|f| f.choice.to_string()).collect();
    Some(&finished[reference(&fidelity_runs(finished, &names))?])
}

fn fidelity_runs<'a>(finished: &'a [Finished], names: &'a [String]) -> Vec<FidelityRun<'a>> {
    let runs = finished.iter().zip(names);
    runs.map(|(f, name)| FidelityRun {
        name,
        mechanism: &f.loaded.mechanism,
        run: &f.run,
    })
    .collect()
}

/// A recording with the channels that the model asks for only.
pub fn as_asked(loaded: &Loaded, recording: &Recording) -> Recording {
    let mut asked = recording.clone();
    if let Some(beginnings) = &loaded.spec.output.channels {
        let wanted = |name: &str| beginnings.iter().any(|b| name.starts_with(b.as_str()));
        asked.channels.retain(|channel| wanted(&channel.name));
    }
    asked
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
    /// What is to be learnt from them.
    pub advice: Option<Advice>,
    /// Usual fidelities that were not run, of which nothing is known.
    pub not_run: Vec<String>,
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
    /// positions and free joint coordinates. Differences count as small up to `within` lengths of the longest flexible
    /// body and `within` radians.
    pub fn new(
        Runs { finished, without }: &Runs,
        channels: Option<&[String]>,
        within: f64,
    ) -> Self {
        let names: Vec<String> = finished.iter().map(|f| f.choice.to_string()).collect();
        let runs = fidelity_runs(finished, &names);
        let without: Vec<TermRun<'_>> = without
            .iter()
            .map(|Without { group, run }| TermRun { group: *group, run })
            .collect();
        let Findings {
            reference,
            channels,
            differences,
            advice,
            ..
        } = compare(&runs, &without, &CompareOptions { channels, within });
        let entry = |(f, differences): (&Finished, Vec<Difference>)| {
            let diverged = match &f.run.ending {
                Ending::Failed(RunError::Diverged(divergence)) => Some(divergence.clone()),
                _ => None,
            };
            Entry {
                fidelity: f.choice.to_string(),
                switches: json!(f.loaded.spec.fidelity.resolve(Fidelity::DEFAULT)),
                sound: f.summary.completed,
                failure: f.summary.failure.clone().filter(|_| diverged.is_none()),
                diverged,
                stopped_at_s: f.summary.stopped_at_s,
                audit: f.summary.audit.clone(),
                cost: f.summary.cost,
                differences,
                notes: notes(&f.loaded),
                files: f.summary.files.clone(),
            }
        };
        let entries = finished.iter().zip(differences).map(entry).collect();
        let usual = Choice::USUAL.iter().map(ToString::to_string);
        let not_run = usual.filter(|name| !names.contains(name)).collect();
        let first = finished.first();
        Self {
            model: first.map_or_else(String::new, |f| f.summary.model.clone()),
            lissom_version: env!("CARGO_PKG_VERSION").to_owned(),
            reference: reference.map(|at| names[at].clone()),
            channels,
            runs: entries,
            advice,
            not_run,
        }
    }

    /// Name of the file that holds it.
    pub const FILE: &str = "comparison.json";

    /// Adds it to a batch, and returns its path.
    ///
    /// # Errors
    ///
    /// [`IoError::NotReplaced`] or [`IoError::Write`], with the path and the reason.
    pub fn add(&self, batch: &mut Batch) -> Result<PathBuf, IoError> {
        Ok(batch.write_json(Self::FILE, self)?.path)
    }
}

/// What to know of the fidelity of a model, a sentence for each.
fn notes(loaded: &Loaded) -> Vec<String> {
    let warnings = loaded.mechanism.fidelity_warnings();
    warnings.iter().map(ToString::to_string).collect()
}
