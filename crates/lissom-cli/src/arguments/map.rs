//! Arguments of `map`.

use std::path::PathBuf;

use clap::Args;
use lissom_io::map::GridAxis;

use super::ModelArguments;
use super::values::count;
use crate::output::AnswerArguments;
use crate::plot::PlotArguments;

/// Map frequency, stiffness, manipulability and singularity of a model over a grid.
///
/// The grid is of two coordinates of joints, or of two components of the marker, which inverse kinematics finds the joints for. At every place the model is in equilibrium under its
/// loads with its driven joints held: the lowest natural frequency, the compliance at the marker with the smallest stiffness of all directions, the product of the singular
/// values of the marker's Jacobian, and the smallest of them by the largest, which is zero where the model is singular. Places that cannot be reached say why.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  lissom map two-link-arm --over shoulder.angle=-1:1:21 --over elbow.angle=0.1:2.5:21 --plot map.pdf\n  \
                  lissom map arm.toml --marker hand --over hand.x=0.4:1.6:25 --over hand.y=-0.6:0.6:25 --out map.csv"
)]
pub(crate) struct MapArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// An axis of the grid, said twice: a coordinate of a joint (shoulder.angle) or a component of a marker (hand.x), and its values.
    #[arg(long, value_name = "NAME=LOW:HIGH:N", value_parser = GridAxis::parse, required = true)]
    pub(crate) over: Vec<GridAxis>,
    /// The marker to look at; the last one of the model unless said.
    #[arg(long, value_name = "NAME")]
    pub(crate) marker: Option<String>,
    /// Places at a time; one per core unless said.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) threads: Option<usize>,
    /// CSV file for the map, results/NAME-map.csv unless said.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    #[command(flatten)]
    pub(crate) answer: AnswerArguments,
}
