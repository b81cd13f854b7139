//! [`ConvergenceReport`]: how accurate a run is, with what finding out cost, as `convergence.json`.
//!
//! What is found is [`lissom::converge`]; here it is written down.

use std::path::PathBuf;

use lissom::Run;
use lissom::converge::{Convergence, Task};
use serde::Serialize;

use crate::IoError;
use crate::batch::Batch;
use crate::load::Loaded;

/// How accurate a run is, with what finding out cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConvergenceReport {
    /// Name of the model.
    pub model: String,
    /// Version of Lissom that ran it.
    pub lissom_version: String,
    /// What was found.
    #[serde(flatten)]
    pub convergence: Convergence,
    /// What each run cost, in the order they were run.
    pub runs: Vec<RunCost>,
}

/// What one run cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunCost {
    /// What it was run with.
    pub run: String,
    /// Accepted steps.
    pub steps: u64,
    /// Evaluations of the equations.
    pub evaluations: u64,
    /// Seconds on the clock.
    pub wall_s: f64,
}

impl RunCost {
    /// What a run cost, after so many seconds.
    pub fn of(task: &Task<'_>, run: &Run, wall_s: f64) -> Self {
        Self {
            run: task.name.to_owned(),
            steps: run.statistics.steps,
            evaluations: run.statistics.evaluations,
            wall_s,
        }
    }
}

impl ConvergenceReport {
    /// What was found of a model.
    pub fn new(loaded: &Loaded, convergence: Convergence, runs: Vec<RunCost>) -> Self {
        Self {
            model: loaded.name().to_owned(),
            lissom_version: env!("CARGO_PKG_VERSION").to_owned(),
            convergence,
            runs,
        }
    }

    /// Name of the file that holds it.
    pub const FILE: &str = "convergence.json";

    /// Writes it as the only file of a batch, and returns its path.
    ///
    /// # Errors
    ///
    /// [`IoError::NotReplaced`] or [`IoError::Write`], with the path and the reason.
    pub fn write(&self, mut batch: Batch) -> Result<PathBuf, IoError> {
        let written = batch.write_json(Self::FILE, self)?;
        batch.finish()?;
        Ok(written.path)
    }
}
