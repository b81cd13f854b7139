//! The tree formulation of a model: loads over time, the equations an integrator sees, equilibrium, linearisation.

mod balance;
mod equations;
mod equilibrium;
mod evaluate;
mod extent;
mod formulation;
mod inspect;
mod linearize;
mod nominal;
mod start;
mod view;

pub use equations::{Equations, equations_at, written_state};
pub(crate) use equilibrium::equilibrium;
pub(crate) use evaluate::released;
pub use evaluate::{ClosedEvaluation, Evaluation, StateInput, evaluate};
pub(crate) use extent::{extent, unstiffened};
pub use linearize::{LinearizeError, Linearizer, MotionState};
pub(crate) use nominal::{TreeTrajectory, nominal_motions};
pub use start::close_loops;
pub(crate) use start::{closed_state, configured, follow_given};
