//! Arguments of the linear analyses: `modes`, `linearize`, `response`, `perturb`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::{count, frequency, instant, stiffening};
use super::{ModelArguments, StartArguments};
use crate::output::AnswerArguments;
use crate::plot::{ChannelArguments, PlotArguments};

/// Natural frequencies, damping and mode shapes of a model.
///
/// In its state at the start or another, or at several instants of its nominal motion (every body undeformed) or of its
/// simulated motion, where modes are followed by modal assurance so that curves do not swap. Joints on which an input acts are
/// held, as by their actuators, unless --free or --closed-loop is said. Frequencies leave velocity terms out; eigenvalues, damping and
/// whether a mode grows are those of the complete equations.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lissom modes two-link-arm\n  \
                  lissom modes spin-up-beam --about nominal --points 100 --plot frequencies.pdf\n  \
                  lissom modes arm.toml --about nominal --at 2 --count 2 --closed-loop --shaper zvd")]
pub(crate) struct ModesArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    #[command(flatten)]
    pub(crate) point: OperatingPointArguments,
    /// How many modes, the lowest at the first instant.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = count)]
    pub(crate) count: usize,
    #[command(flatten)]
    pub(crate) joints: DrivenJointArguments,
    /// Case of Jonker & Aarts' Table I, which leaves out stiffening: 1 nothing, 3 both kinds, 5 the geometric one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = stiffening)]
    pub(crate) case: u8,
    /// Tell the `[shaping]` with which motions excite none of these modes that vibrate, at the last instant.
    #[arg(long, value_name = "KIND", value_enum)]
    pub(crate) shaper: Option<ShaperArgument>,
    /// Write frequencies and damping over time as CSV.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) channels: ChannelArguments,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// Shapers of motions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShaperArgument {
    Zv,
    Zvd,
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
                  lissom linearize two-link-arm --about nominal --points 50 --out arm.mat\n  \
                  lissom linearize four-bar --inputs motor.torque --json"
)]
pub(crate) struct LinearizeArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    #[command(flatten)]
    pub(crate) point: OperatingPointArguments,
    /// Inputs: what can be driven (joints with an input, a controller or a motor, and loads on markers), the efforts on all joints,
    /// or some by name.
    #[arg(
        long,
        value_name = "driven|all|NAME,…",
        value_delimiter = ',',
        default_value = "driven"
    )]
    pub(crate) inputs: Vec<String>,
    /// File for the matrices; its extension, .npz, .mat or .json, is the format.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

/// Frequency response, poles and transmission zeros from inputs to outputs.
///
/// Of the equations linearised at one state: the start, an equilibrium, or an instant of a motion named by --at. Zeros in the right half-plane
/// (non-minimum phase) are told: an output that has one first goes the wrong way, and no stable controller can undo it. Joints
/// move freely unless something holds them; --closed-loop lets the controllers of the model act, and inputs are then what acts beside them.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom response two-link-arm --inputs shoulder.torque --outputs hand.position --plot bode.pdf\n  \
                  lissom response rotating-beam --about nominal --at 0.5 --frequencies 0.1,100 --out response.npz"
)]
pub(crate) struct ResponseArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    #[command(flatten)]
    pub(crate) point: OperatingPointArguments,
    /// Inputs: what can be driven, the efforts on all joints, or some by name, as for linearize.
    #[arg(
        long,
        value_name = "driven|all|NAME,…",
        value_delimiter = ',',
        default_value = "driven"
    )]
    pub(crate) inputs: Vec<String>,
    /// Outputs by name, positions of markers (hand.position, hand.position.x) and coordinates of joints; all unless said.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) outputs: Vec<String>,
    /// Lowest and highest angular frequency in rad/s; from below the slowest pole to above the fastest unless said.
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', value_parser = frequency)]
    pub(crate) frequencies: Vec<f64>,
    /// Number of frequencies, evenly by their logarithms; peaks get more.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = count)]
    pub(crate) count: usize,
    /// Close the loops of the model's controllers.
    #[arg(long)]
    pub(crate) closed_loop: bool,
    /// File for the response; its extension, .npz, .mat or .json, is the format.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
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
    #[command(flatten)]
    pub(crate) model: ModelArguments,
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
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InterpolationArgument {
    Matrices,
    #[value(name = "state_space", alias = "state-space")]
    StateSpace,
}

/// Where a model is linearised.
#[derive(Debug, Args)]
pub(crate) struct OperatingPointArguments {
    /// Where: in the state at the start, in equilibrium near it, along the nominal motion, or along the simulated motion.
    #[arg(long, value_name = "WHERE", value_enum, default_value = "start")]
    pub(crate) about: OperatingPointArgument,
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
pub(crate) enum OperatingPointArgument {
    Start,
    Equilibrium,
    Nominal,
    Run,
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
