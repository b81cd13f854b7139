//! Arguments of `sweep`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lissom_io::sweep::Variation;

use super::ModelArguments;
use super::values::count;
use crate::output::AnswerArguments;

/// Run a model many times with other values, and keep a few numbers of every run in one table.
///
/// Values are every combination of lists (a grid), drawn at random, or the rows of a table. Runs take all cores; what is drawn and what is
/// found depends on neither their number nor their order. Every row is kept as soon as it is there: the same sweep with the same folder
/// goes on where it was stopped, by Ctrl-C or otherwise. A run that fails is a row with its error. Writes sweep.csv, in the
/// order of the runs. The exit code is 1 if every run failed.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom sweep two-link-arm --vary payload.gripper.mass_kg=0:2:11 --measure max:hand.deflection,last:hand.position\n  \
                  lissom sweep arm.toml --vary 'payload.gripper.mass_kg=normal(0.5,0.1)' --vary 'body.*.damping.modal_ratio=uniform(0.005,0.02)' \
                  --runs 1000 --seed 1\n  \
                  lissom sweep arm.toml --table values.csv --measure frequencies:3"
)]
pub(crate) struct SweepArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// A value of the model, by its path as for --set, and what it takes on: a range 0:2:11, a list 1,2,5, uniform(LOW,HIGH) or
    /// normal(MEAN,DEVIATION). Several are combined.
    #[arg(
        long,
        value_name = "PATH=VALUES",
        value_parser = Variation::parse,
        required_unless_present = "table",
        conflicts_with = "table"
    )]
    pub(crate) vary: Vec<Variation>,
    /// CSV file whose first line names paths of the model; every other line is a run.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
    /// Number of runs that are drawn at random.
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "table")]
    pub(crate) runs: Option<usize>,
    /// How values are drawn: each run by itself, or spread evenly over the distributions.
    #[arg(long, value_name = "HOW", value_enum, default_value = "monte_carlo")]
    pub(crate) drawing: DrawingArgument,
    /// Seed of what is drawn.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Numbers to keep of every run: first, last, min, max, mean, rms or peak of a channel, or of all that begin with a name, or
    /// frequencies:N, natural frequencies at the start. The last positions of markers and coordinates of joints unless said; the audit's are
    /// always there.
    #[arg(long, value_name = "WHAT:NAME,…", value_delimiter = ',')]
    pub(crate) measure: Vec<String>,
    /// Runs at a time; one per core unless said.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) threads: Option<usize>,
    /// Folder for the rows and the table, results/NAME-sweep unless said.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Begin anew where the folder has rows already, of this or another sweep.
    #[arg(long)]
    pub(crate) restart: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// How values are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrawingArgument {
    #[value(name = "monte_carlo", alias = "monte-carlo")]
    MonteCarlo,
    #[value(name = "latin_hypercube", alias = "latin-hypercube")]
    LatinHypercube,
}
