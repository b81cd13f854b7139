//! What can be said on the command line.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use lissom::Override;
use lissom_io::compare::Choice;

use crate::plot::{ChannelArguments, PlotArguments};

/// Dynamics of robot manipulators whose links bend.
///
/// A model is a TOML file, or the name of a model that comes with the program; `lissom run` lists those.
/// Words for people go to stderr, data to stdout.
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
    Run(RunArguments),
    Compare(CompareArguments),
    Report(ReportArguments),
    Equilibrium(EquilibriumArguments),
    Eval(EvalArguments),
    Modes(ModesArguments),
    Linearize(LinearizeArguments),
    Perturb(PerturbArguments),
    Validate(ValidateArguments),
    /// Print the JSON Schema of model files.
    #[command(after_help = "Example:\n  lissom schema > lissom.schema.json")]
    Schema,
}

/// Write a commented model of a two-link flexible arm to start from.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom new arm.toml\n  lissom new beam.toml --from spin-up-beam"
)]
pub(crate) struct NewArguments {
    /// File to write.
    #[arg(default_value = "arm.toml")]
    pub(crate) file: PathBuf,
    /// Shipped model to copy.
    #[arg(long, value_name = "NAME", default_value = "two-link-arm")]
    pub(crate) from: String,
    /// Replace a file that is there already.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Show what is understood of a model, without running it.
///
/// Tree, degrees of freedom, masses, natural frequencies of every flexible body, inputs, integrator, and
/// what may go wrong.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom check arm.toml\n  lissom check spin-up-beam --set body.beam.beam.length_m=8"
)]
pub(crate) struct CheckArguments {
    /// Model file, or name of a shipped model.
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Print it as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Simulate a model and write its recording.
///
/// Writes recording.csv, recording.npz and recording.mat (as the model asks), state.json and manifest.json. Ctrl-C
/// ends the run at the next step: what was computed is written, and the exit code is 130. A run that
/// fails writes what it has as well and exits with 1.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom run two-link-arm\n  \
                  lissom run arm.toml --set simulation.duration_s=5 --at 1,2.5 --json\n  \
                  lissom run arm.toml --from results/arm --set simulation.duration_s=10 --out results/longer")]
pub(crate) struct RunArguments {
    /// Model file, or name of a shipped model; none offers those.
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) changes: Changes,
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
    #[command(flatten)]
    pub(crate) pictures: PictureArguments,
    #[command(flatten)]
    pub(crate) channels: ChannelArguments,
    /// Print the summary as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Where a study begins.
#[derive(Debug, Args)]
pub(crate) struct StartArguments {
    /// Start from a state: a JSON file of one, or a recording, at its end or at an instant inside.
    #[arg(long, value_name = "FILE|RECORDING[@S]")]
    pub(crate) from: Option<String>,
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
                  lissom report results/light results/heavy --out both.html")]
pub(crate) struct ReportArguments {
    /// Folders of the recordings.
    #[arg(required = true, value_name = "RECORDING")]
    pub(crate) recordings: Vec<PathBuf>,
    /// The page, report.html in the folder of the first recording unless said; none with --plot alone.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) channels: ChannelArguments,
    /// Print the names of the files as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Run a model with several fidelities and set the runs side by side.
///
/// Every run is written into a folder of its own, with comparison.json beside them: how each ended, energy
/// audit, cost, and differences from the first run that is sound. At the end stands which terms mattered, and
/// which cheaper fidelity would have done. Ctrl-C keeps the runs that are done.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom compare spin-up-beam\n  \
                  lissom compare arm.toml --with default,inconsistent,inconsistent/euler_123 --channels hand.position")]
pub(crate) struct CompareArguments {
    /// Model file, or name of a shipped model.
    pub(crate) model: String,
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
    /// Error that is small enough, in lengths of the longest flexible body and in radians.
    #[arg(long, value_name = "PART", default_value_t = 0.01, value_parser = share)]
    pub(crate) within: f64,
    #[arg(
        long = "set",
        value_name = "PATH=VALUE",
        value_parser = change,
        help = "Set a value of the model, for example simulation.duration_s=5"
    )]
    pub(crate) set: Vec<Override>,
    /// Folder for the runs, results/NAME-compare unless said.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pictures: PictureArguments,
    /// Print the comparison as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Find where a model rests under its loads at the start.
///
/// What inputs drive or motions prescribe is held where it starts, as if brakes held it. Large deflections are reached
/// by adding the load in parts. A run begins there with simulation.initial=equilibrium. From a state, the search begins
/// there, under the loads of its instant.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom equilibrium princeton-beam --json")]
pub(crate) struct EquilibriumArguments {
    /// Model file, or name of a shipped model.
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) changes: Changes,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// Write it as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print it as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
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
    /// Model file, or name of a shipped model.
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) changes: Changes,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// JSON file with the state.
    #[arg(long, value_name = "FILE", required_unless_present = "from")]
    pub(crate) state: Option<PathBuf>,
    /// Print it as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What joints do on which inputs or controllers act.
#[derive(Debug, Args)]
pub(crate) struct DrivenJointArguments {
    /// Leave joints free on which inputs act.
    #[arg(long)]
    pub(crate) free: bool,
    /// Close the loops of the model's controllers: their gains hold their joints.
    #[arg(long)]
    pub(crate) closed_loop: bool,
}

/// Natural frequencies, damping and mode shapes of a model.
///
/// In its state at the start or another, or at several instants of its nominal motion (every body undeformed) or of its
/// simulated motion, where modes are followed by modal assurance so that curves do not swap. Joints on which an input acts are
/// held, as by their actuators, unless --free or --closed-loop is said. Frequencies leave velocity terms out; eigenvalues, damping and
/// whether a mode grows are those of the complete equations.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom modes two-link-arm\n  \
                  lissom modes spin-up-beam --along nominal --points 100 --plot frequencies.pdf")]
pub(crate) struct ModesArguments {
    /// Model file, or name of a shipped model.
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) changes: Changes,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
    /// How many modes, the lowest at the first instant.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = count)]
    pub(crate) count: usize,
    #[command(flatten)]
    pub(crate) joints: DrivenJointArguments,
    /// Case of Jonker & Aarts' Table I, which leaves out stiffening: 1 nothing, 3 both kinds, 5 the geometric one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = stiffening)]
    pub(crate) case: u8,
    /// Write frequencies and damping over time as CSV.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) channels: ChannelArguments,
    /// Print the modes with their shapes as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Linearised equations of motion as matrices with names.
///
/// At one state, or at several instants along a motion (arrays then have a first axis for the instants). The file holds
/// `M`, `C`, `K0`, `N0`, `G0` and `B` of `M q" + C q' + (K0 + N0 + G0) q = B u`, and `A`, `B_state`, `C_output`, `D` of
/// `x' = A x + B_state u, y = C_output x + D u` with x = (q, q'), with the names of states, inputs and outputs. All are
/// deviations from the state, whose coordinates and inputs are in q0, v0 and u0. Where loops need other independent
/// coordinates along a motion, `coordinate_set` counts them up by instants, and `coordinate_names_2`, … name them.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom linearize two-link-arm --out arm.npz\n  \
                  lissom linearize two-link-arm --along nominal --points 50 --out arm.mat"
)]
pub(crate) struct LinearizeArguments {
    /// Model file, or name of a shipped model.
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) changes: Changes,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
    /// File for the matrices; its extension, .npz, .mat or .json, is the format.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the matrices as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Vibrations about the nominal motion by the perturbation method of Jonker & Aarts.
///
/// Every body held undeformed, the model follows the nominal motion of its inputs (`rigid_inverse_dynamics`,
/// `nominal_motion`) and its prescribed motions; the inputs and stresses that this takes drive a linear system with
/// coefficients that vary along the motion. Controllers of the model feed back deviations. It begins with the deviation of
/// the model's start, or of the state that --from names, from the nominal motion. Writes a recording as
/// `lissom run` does, into results/NAME-perturb unless said: coordinates, markers and their deviations from the nominal
/// motion, inputs.
#[derive(Debug, Args)]
#[command(after_help = "Cases of Table I, by the terms they take:\n  \
                  1  all\n  2  no inertia: quasi-static, with both stiffenings\n  3  inertia, no stiffening\n  \
                  4  quasi-static, no stiffening\n  5  inertia and dynamic stiffening, not the geometric one\n\n\
                  Example:\n  lissom perturb spin-up-beam\n  lissom perturb spatial-two-link --points 500 --case 3")]
pub(crate) struct PerturbArguments {
    /// Model file, or name of a shipped model.
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) changes: Changes,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// Number of instants at which the model is linearised, evenly from start to end.
    #[arg(long, value_name = "N", default_value_t = 201, value_parser = count)]
    pub(crate) points: usize,
    /// Case of Table I.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) case: u8,
    /// What is interpolated between the instants: M, C and K, or A and B as printed in the paper, which needs more points.
    #[arg(long, value_name = "WHAT", value_enum, default_value = "matrices")]
    pub(crate) interpolation: InterpolationArgument,
    /// Move markers to first order in the deviations only.
    #[arg(long)]
    pub(crate) first_order: bool,
    /// Folder for the files, results/NAME-perturb unless said.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) channels: ChannelArguments,
    /// Print the summary as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InterpolationArgument {
    Matrices,
    #[value(name = "state_space", alias = "state-space")]
    StateSpace,
}

/// Where a model is linearised.
#[derive(Debug, Args)]
pub(crate) struct PlaceArguments {
    /// Where: in the state at the start, in equilibrium near it, along the nominal motion, or along the simulated motion.
    #[arg(long, value_name = "WHERE", value_enum, default_value = "start")]
    pub(crate) along: PlaceArgument,
    /// Instants of the motion in seconds.
    #[arg(
        long,
        value_name = "S,…",
        value_delimiter = ',',
        value_parser = instant,
        allow_negative_numbers = true,
        conflicts_with = "points"
    )]
    pub(crate) at: Vec<f64>,
    /// Number of instants of the motion, evenly from start to end.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) points: Option<usize>,
}

/// Where a model is linearised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlaceArgument {
    Start,
    Equilibrium,
    Nominal,
    Run,
}

/// Changes to a model that its file does not know.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Equations instead of the model's: bodies on a tree of joints, or finite elements.
    #[arg(long, value_name = "NAME", value_enum)]
    formulation: Option<FormulationArgument>,
    /// Fidelity preset instead of the model's.
    #[arg(long, value_name = "PRESET", value_enum)]
    fidelity: Option<Preset>,
    /// How tips move, instead of the preset's way.
    #[arg(long, value_name = "TIP", value_enum)]
    tip: Option<TipArgument>,
    /// How the equations of loops are formed, instead of the model's way.
    #[arg(long, value_name = "NAME", value_enum)]
    closure: Option<ClosureArgument>,
    #[arg(
        long = "set",
        value_name = "PATH=VALUE",
        value_parser = change,
        help = "Set a value of the model, for example simulation.duration_s=5"
    )]
    set: Vec<Override>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormulationArgument {
    Tree,
    Nodal,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Preset {
    Default,
    Ruthless,
    Inconsistent,
    Consistent,
    Exact,
    #[value(name = "jain_rodriguez", alias = "jain-rodriguez")]
    JainRodriguez,
    #[value(name = "jain_rodriguez_ruthless", alias = "jain-rodriguez-ruthless")]
    JainRodriguezRuthless,
    Rigid,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TipArgument {
    Rigid,
    Linear,
    #[value(name = "euler_321", alias = "euler-321")]
    Euler321,
    #[value(name = "euler_123", alias = "euler-123")]
    Euler123,
    Exact,
    #[value(name = "rotation_vector", alias = "rotation-vector")]
    RotationVector,
    Chord,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ClosureArgument {
    Automatic,
    #[value(name = "joint_space", alias = "joint-space")]
    JointSpace,
    #[value(name = "cartesian_space", alias = "cartesian-space")]
    CartesianSpace,
    Stabilized,
    Projected,
    #[value(name = "operational_space", alias = "operational-space")]
    OperationalSpace,
}

impl Changes {
    /// All changes as overrides, in the order they apply.
    pub(crate) fn overrides(&self) -> Vec<Override> {
        let switch = |key: &str, value: Option<clap::builder::PossibleValue>| {
            Override::parse(&format!("fidelity.{key}={}", value?.get_name())).ok()
        };
        let preset = self.fidelity.and_then(|preset| preset.to_possible_value());
        let tip = self.tip.and_then(|tip| tip.to_possible_value());
        let closure = self.closure.and_then(|closure| {
            let closure = closure.to_possible_value()?;
            let text = format!("simulation.closure={{{}={{}}}}", closure.get_name());
            Override::parse(&text).ok()
        });
        let formulation = self.formulation.and_then(|formulation| {
            let text = match formulation {
                FormulationArgument::Tree => "formulation=tree",
                // keeps the settings of a model that is nodal already
                FormulationArgument::Nodal => "formulation={nodal={}}",
            };
            Override::parse(text).ok()
        });
        let [preset, tip] = [switch("preset", preset), switch("tip", tip)];
        let switches = [formulation, preset, tip, closure];
        let switches = switches.into_iter().flatten();
        switches.chain(self.set.iter().cloned()).collect()
    }
}

impl fmt::Display for Changes {
    /// The changes as they are typed, each behind a space.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn name(value: Option<impl ValueEnum>) -> Option<String> {
            Some(value?.to_possible_value()?.get_name().to_owned())
        }
        let switches = [
            ("formulation", name(self.formulation)),
            ("fidelity", name(self.fidelity)),
            ("tip", name(self.tip)),
            ("closure", name(self.closure)),
        ];
        for (option, value) in switches {
            if let Some(value) = value {
                write!(f, " --{option} {value}")?;
            }
        }
        for change in &self.set {
            let text = change.text();
            let plain = |c: char| c.is_ascii_alphanumeric() || "._=-+/:,".contains(c);
            if text.chars().all(plain) {
                write!(f, " --set {text}")?;
            } else {
                write!(f, " --set '{text}'")?;
            }
        }
        Ok(())
    }
}

fn change(text: &str) -> Result<Override, String> {
    Override::parse(text).map_err(|error| format!("{error}; {}", error.remedy()))
}

fn stiffening(text: &str) -> Result<u8, String> {
    match text {
        "1" => Ok(1),
        "3" => Ok(3),
        "5" => Ok(5),
        _ => Err("frequencies know cases 1, 3 and 5; 2 and 4 are quasi-static".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(part) if part.is_finite() && part > 0.0 => Ok(part),
        _ => Err("write a positive number, for example 0.01".to_owned()),
    }
}

fn count(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(count) if (1..=100_000).contains(&count) => Ok(count),
        _ => Err("write a number from 1 to 100000".to_owned()),
    }
}

fn instant(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(time_s) if time_s.is_finite() => Ok(time_s),
        _ => Err("write instants in seconds, for example 5,10,20".to_owned()),
    }
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
    /// Print the rows as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
