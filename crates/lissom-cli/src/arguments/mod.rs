//! What can be said on the command line.

mod fit;
mod linear;
mod map;
mod model;
mod runs;
mod sweep;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use lissom::Override;

pub(crate) use fit::FitArguments;
pub(crate) use linear::{
    InterpolationArgument, LinearizeArguments, ModesArguments, OperatingPointArgument,
    OperatingPointArguments, PerturbArguments, ResponseArguments, ShaperArgument,
};
pub(crate) use map::MapArguments;
pub(crate) use model::{ComparedModelArguments, ModelArguments, NamedModel, StartArguments};
pub(crate) use runs::{
    CompareArguments, ConvergeArguments, FlexibleArgument, InverseArguments, RunArguments,
};
pub(crate) use sweep::{DrawingArgument, SweepArguments};

use crate::output::AnswerArguments;
use crate::plot::{ChannelArguments, PlotArguments};

/// Dynamics of robot manipulators whose links bend.
///
/// A model is a TOML file, or the name of a model that comes with the program; `lissom run` lists those.
/// Answers go to the standard output, in words or with --json; progress, warnings and errors go to the standard error.
#[derive(Debug, Parser)]
#[command(
    name = "lissom",
    version,
    after_help = "Exit codes: 0 done; 1 the model or the run failed; 2 wrong usage; 130 interrupted.\n\n\
                  Example:\n  lissom new arm.toml\n  lissom check arm.toml\n  lissom run arm.toml"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    New(NewArguments),
    Check(CheckArguments),
    Body(BodyArguments),
    Run(RunArguments),
    Compare(CompareArguments),
    Converge(ConvergeArguments),
    Sweep(SweepArguments),
    Fit(FitArguments),
    Map(MapArguments),
    Report(ReportArguments),
    Equilibrium(EquilibriumArguments),
    Eval(EvalArguments),
    Modes(ModesArguments),
    Linearize(LinearizeArguments),
    Response(ResponseArguments),
    Perturb(PerturbArguments),
    Inverse(InverseArguments),
    Validate(ValidateArguments),
    /// Print the JSON Schema of model files.
    #[command(after_help = "Example:\n  lissom schema > lissom.schema.json")]
    Schema,
}

/// Write a model to start from: a commented two-link flexible arm, any shipped model, or the robot of a URDF file.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom new arm.toml\n  lissom new beam.toml --from spin-up-beam\n  \
                  lissom new arm.toml --from arm.urdf"
)]
pub(crate) struct NewArguments {
    /// File to write.
    #[arg(default_value = "arm.toml")]
    pub(crate) file: PathBuf,
    /// Shipped model to copy, or a URDF file to make a model of.
    #[arg(long, value_name = "NAME|FILE.urdf", default_value = "two-link-arm")]
    pub(crate) from: String,
    /// Replace a file that is there already.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// Show a summary of a model, without running it.
///
/// Tree, degrees of freedom, masses, natural frequencies of every flexible body, inputs, integrator, and
/// what may go wrong.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom check arm.toml\n  lissom check spin-up-beam --set body.beam.beam.length_m=8"
)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// Show a summary of a body of any shape, and keep it in a file.
///
/// Mass properties, frequencies, how much of the mass each mode moves, what rotation stiffens, and what the modes leave out of the
/// compliance of the interfaces. The file saves every run the reduction of the mesh.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom body arm.toml:link\n  lissom body arm.toml:link --out link.json\n  lissom body link.json"
)]
pub(crate) struct BodyArguments {
    /// A body of a model, MODEL:BODY, or a body file.
    #[arg(value_name = "MODEL:BODY|FILE")]
    pub(crate) body: String,
    /// Write the body file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write an HTML page with its modes, moving, and all that is said here.
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    #[arg(
        long = "set",
        value_name = "PATH=VALUE",
        value_parser = values::change,
        help = "Set a value of the model, for example body.link.mesh.stiffening=false"
    )]
    pub(crate) set: Vec<Override>,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// What to show of a run beside its numbers.
#[derive(Debug, Args)]
pub(crate) struct PictureArguments {
    /// Write report.html beside the recording: animation, plots, spectra and summary in one page.
    #[arg(long)]
    pub(crate) report: bool,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
}

impl PictureArguments {
    /// Whether anything is to be drawn.
    pub(crate) fn wanted(&self) -> bool {
        self.report || self.plot.plot.is_some()
    }
}

/// Show recordings as one HTML page: animation, plots, spectra, summary.
///
/// The page opens by double click and needs neither network nor server. Several recordings are drawn over
/// each other. A recording is the folder that `lissom run` has written, or a file in it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom report results/two-link-arm\n  \
                  lissom report results/light results/heavy --out both.html\n  \
                  lissom report results/arm --measured experiment.csv --analysis map.csv")]
pub(crate) struct ReportArguments {
    /// Folders of the recordings.
    #[arg(required = true, value_name = "RECORDING")]
    pub(crate) recordings: Vec<PathBuf>,
    /// Measured data to draw over the recordings: a CSV file with a column `time_s` and channels headed `name [unit]`.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) measured: Vec<PathBuf>,
    /// What response --out FILE.json, modes --json or map --out FILE.csv has written, to show as Bode plots, poles or a map.
    #[arg(long, value_name = "FILE")]
    pub(crate) analysis: Vec<PathBuf>,
    /// The page, report.html in the folder of the first recording unless said; none with --plot alone.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) channels: ChannelArguments,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// Find the static equilibrium of a model under its loads at the start.
///
/// What inputs drive or motions prescribe is held where it starts, as if brakes held it. Large deflections are reached
/// by adding the load in parts. A run begins there with simulation.initial=equilibrium. From a state, the search begins
/// there, under the loads of its instant.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom equilibrium princeton-beam --json\n  \
                  lissom equilibrium two-link-arm --stiffness hand"
)]
pub(crate) struct EquilibriumArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// Tell compliance and stiffness at a marker, driven joints held.
    #[arg(long, value_name = "MARKER")]
    pub(crate) stiffness: Option<String>,
    /// Write it as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// Evaluate the equations of motion at one state.
///
/// The state file is JSON: {"position": …, "velocity": …, "force": …, "acceleration": …}, each a list in
/// the order of the coordinates or an object by their names. Positions and velocities that are missing
/// are those of the model's start, or of the state that --from names; forces are zero. Accelerations ask for inverse dynamics. All joints
/// are free: inputs, prescribed motions and motors behind elastic gears are left out.
///
/// Loops are closed first. "held" lists joints that keep what is given, "markers" gives components of markers,
/// {"hand": {"x": 0.4, "velocity": {"x": 0.1}}}; the other joints follow, and the answer has the whole configuration.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  echo '{\"velocity\": {\"shoulder.angle.rate\": 1.0}}' > state.json\n  \
                  lissom eval two-link-arm --state state.json --json"
)]
pub(crate) struct EvalArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// JSON file with the state.
    #[arg(long, value_name = "FILE", required_unless_present = "from")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// Hold computed numbers against published and independent ones.
///
/// Every row says where its number comes from, what it may differ by and why; `validation/` holds the data.
/// The exit code is 1 when a row does not pass.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom validate --quick\n  lissom validate --json > rows.json")]
pub(crate) struct ValidateArguments {
    /// Leave out cases that take long.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write the rows as a Markdown table.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write a page with counts, rows, what the works say, and their figures made anew.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}
