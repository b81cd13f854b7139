//! Why a linear analysis has no answer.

use crate::mesh::MeshError;
use crate::simulate::{LinearizeError, RunError};
use lissom_nodal::NodalError;
use lissom_numerics::integrate::IntegrateError;
use lissom_numerics::linear::LinearError;
use lissom_numerics::statics::NoEquilibrium;

/// Why a model cannot be analysed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// The tree cannot be linearised.
    #[error(transparent)]
    Tree(#[from] LinearizeError),
    /// The nodal mechanism has no such state.
    #[error(transparent)]
    Nodes(#[from] NodalError),
    /// The nodal mechanism cannot follow its nominal motion.
    #[error(transparent)]
    Mesh(Box<MeshError>),
    /// The linearised equations have no answer.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// There is no equilibrium.
    #[error("no equilibrium: {0}")]
    Unsettled(#[from] NoEquilibrium),
    /// The simulation failed.
    #[error("the run failed: {0}")]
    Run(Box<RunError>),
    /// The integrator of the linear system gave up.
    #[error("{source}; the coordinate in trouble is {coordinate}")]
    Integration {
        /// What the integrator says.
        source: Box<IntegrateError>,
        /// The coordinate.
        coordinate: String,
    },
    /// A controller on a coordinate that the loops solve for.
    #[error(
        "controller {controller:?} feeds back a joint that the loops solve for, whose deviation is no coordinate of the \
         linear system; control independent joints, such as those that inputs drive"
    )]
    SolvedFor {
        /// Name of the controller.
        controller: String,
    },
    /// Whoever watches stopped it.
    #[error("stopped at {at_s} s")]
    Stopped {
        /// When.
        at_s: f64,
    },
}

impl From<MeshError> for AnalysisError {
    fn from(error: MeshError) -> Self {
        Self::Mesh(Box::new(error))
    }
}
