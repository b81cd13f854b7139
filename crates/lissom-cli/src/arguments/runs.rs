//! Arguments of the verbs that run a model: `run`, `compare`, `converge`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lissom_io::compare::Choice;

use super::values::{instant, seconds, share};
use super::{ComparedModelArguments, ModelArguments, PictureArguments, StartArguments};
use crate::output::AnswerArguments;
use crate::plot::{ChannelArguments, PlotArguments};

/// Simulate a model and write its recording.
///
/// Writes recording.csv, recording.npz and recording.mat (as the model asks), state.json and manifest.json. Ctrl-C
/// ends the run at the next step: what was computed is written, and the exit code is 130. A run that
/// fails writes what it has as well and exits with 1. A long run writes what it has now and then, and --from
/// goes on from there, in the same folder after the rows that are there.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom run two-link-arm\n  \
                  lissom run arm.toml --set simulation.duration_s=5 --at 1,2.5 --json\n  \
                  lissom run arm.toml --from results/arm --set simulation.duration_s=10 --out results/longer")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// Folder for the files, results/NAME unless said.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Instants in seconds at which the summary tells every channel.
    #[arg(
        long,
        value_name = "S,…",
        value_delimiter = ',',
        value_parser = instant,
        allow_negative_numbers = true
    )]
    pub(crate) at: Vec<f64>,
    /// Seconds on the clock between two writings of what a long run has so far; if absent, seldom enough to take
    /// less than 1 % of the time.
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) checkpoint_every: Option<f64>,
    #[command(flatten)]
    pub(crate) pictures: PictureArguments,
    #[command(flatten)]
    pub(crate) channels: ChannelArguments,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// What would drive a model along its motion if every body and gear were rigid.
///
/// The motion is that of its inputs (`rigid_inverse_dynamics`, `nominal_motion`) and its prescribed motions; joints of loops and those that a
/// marker takes along follow. Of more drives than degrees of freedom the smallest in sum of squares are taken. Torques and forces are
/// at the joint side of gears. Writes torque or force, rate and power of every drive as a recording, into results/NAME-inverse unless
/// said, and tells peaks and root mean squares.
///
/// With --flexible links bend, and a marker stays on the path that it has with rigid ones, by the equations linearised along it: quasi-static takes the deflections under the loads
/// of every instant, stable their dynamics, for which drives may have to begin before the motion does, and causal the same where they have not. Also written are
/// a table of every drive for the inputs of a model (DRIVE.torque.csv) and the state in which it has to start (state.json).
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom inverse planar-3rrr\n  \
                  lissom inverse arm.toml --plot torques.png --channels shoulder,elbow\n  \
                  lissom inverse arm.toml --flexible stable --marker hand")]
pub(crate) struct InverseArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// How the bending of links is taken into account.
    #[arg(long, value_name = "HOW", value_enum)]
    pub(crate) flexible: Option<FlexibleArgument>,
    /// Marker whose path is kept; that of the nominal motion, or else the last, unless said.
    #[arg(long, value_name = "NAME", requires = "flexible")]
    pub(crate) marker: Option<String>,
    /// Folder for the files, results/NAME-inverse unless said.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) channels: ChannelArguments,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// How the bending of links is taken into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlexibleArgument {
    /// By the deflections under the loads of every instant.
    QuasiStatic,
    /// By their dynamics, from where the motion begins.
    Causal,
    /// By their dynamics, from before the motion begins.
    Stable,
}

/// Run a model with several fidelities and set the runs side by side.
///
/// Every run is written into a folder of its own, with comparison.json beside them: how each ended, energy
/// audit, cost, and differences from the first run that is sound. That one is run again without each group of its
/// terms. At the end stands which terms mattered and which fidelity would have done. Ctrl-C keeps the runs that are done.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom compare spin-up-beam\n  \
                  lissom compare arm.toml --with default,inconsistent,inconsistent/euler_123 --channels hand.position")]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) model: ComparedModelArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// Fidelity presets, each with its own tips or, after a slash, with others. The first that ends well is
    /// the one that differences are taken from.
    #[arg(
        long = "with",
        value_name = "PRESET[/TIP],…",
        value_delimiter = ',',
        default_value = "default,ruthless,inconsistent,consistent,exact"
    )]
    pub(crate) choices: Vec<Choice>,
    /// Beginnings of the channels to compare; marker positions and joint coordinates unless said.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) channels: Vec<String>,
    /// Difference that is small enough, in lengths of the longest flexible body and in radians.
    #[arg(long, value_name = "PART", default_value_t = 0.01, value_parser = share)]
    pub(crate) within: f64,
    /// Folder for the runs, results/NAME-compare unless said.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pictures: PictureArguments,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// Tell how accurate a run is, by runs that are finer.
///
/// Time steps are refined, then the functions or elements of the bodies, each twice. From how the differences fall an error
/// is stated for every quantity, that of time integration apart from that of the bodies, and whether fewer would have done.
/// Writes convergence.json with every level. Ctrl-C keeps what is known.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom converge two-link-arm\n  \
                  lissom converge arm.toml --channels hand.position --within 0.001 --cross-check")]
pub(crate) struct ConvergeArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// Beginnings of the channels to look at; marker positions and joint coordinates unless said.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) channels: Vec<String>,
    /// Error that is small enough, in lengths of the longest flexible body and in radians.
    #[arg(long, value_name = "PART", default_value_t = 0.01, value_parser = share)]
    pub(crate) within: f64,
    /// Run the other formulation too, with two and four elements per link. It takes many times as long.
    #[arg(long)]
    pub(crate) cross_check: bool,
    /// Folder for convergence.json, results/NAME-converge unless said.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}
