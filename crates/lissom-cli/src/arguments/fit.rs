//! Arguments of `fit`.

use std::path::PathBuf;

use clap::Args;

use super::ModelArguments;
use super::values::count;
use crate::output::AnswerArguments;
use crate::plot::PlotArguments;

/// Find numbers of a model from measured data, with how well they are known.
///
/// The model runs over the measured instants with other values until the differences from the measured channels are smallest (least squares by
/// Levenberg and Marquardt, derivatives by central differences of runs). Writes the model with the values that were found, their covariance and what is left
/// over. Combinations of parameters that the data cannot tell are named. Nothing is written if Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom fit arm.toml measured.csv --parameters payload.gripper.mass_kg,joint.shoulder.revolute.friction.viscous_n_m_s_per_rad\n  \
                  lissom fit planar-3rrr measured.csv --parameters 'body.*.damping.modal_ratio'"
)]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// CSV file with a column `time_s` and channels of the model, headed `name [unit]`.
    #[arg(value_name = "MEASURED.csv")]
    pub(crate) measured: Option<PathBuf>,
    /// Numbers to find, by their paths as for --set, which the model must write. One with * is a single number in all places, unless --each is said.
    #[arg(long, value_name = "PATH,…", value_delimiter = ',', required = true)]
    pub(crate) parameters: Vec<String>,
    /// Find a number of its own for each place that a path with * stands for.
    #[arg(long)]
    pub(crate) each: bool,
    /// Beginnings of the measured channels to use; all unless said.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) channels: Vec<String>,
    /// Runs at a time; one per core unless said.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) threads: Option<usize>,
    /// Folder for the files, results/NAME-fit unless said.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}
