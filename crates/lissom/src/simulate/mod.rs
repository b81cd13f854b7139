//! From a model to a recording: loads over time, the equations an integrator sees, the run, its audit.

mod audit;
pub mod comparison;
mod equations;
mod equilibrium;
mod evaluate;
mod extent;
mod formulation;
mod integrator;
mod linearize;
mod profile;
pub mod recording;
mod run;
mod sampler;
mod start;

pub use audit::{Audit, ClosureAudit, EnergyAudit, LimitViolation, MomentumAudit};
pub use equations::{Equations, NominalDrives, NominalError, nominal_drives};
pub(crate) use equations::{NominalPositions, PivotedQr, course, nominal_motions};
pub use equilibrium::{Rest, equilibrium, rest, settled};
pub use evaluate::{ClosedEvaluation, Evaluation, StateInput, evaluate};
pub use extent::{BodyExtent, Departure, SMALL_DEFLECTION_LENGTHS, SMALL_SLOPE_RAD};
pub(crate) use formulation::{Formulation, Holdings, Power};
pub(crate) use integrator::Integrator;
pub use linearize::{LinearizeError, Linearizer, MotionState};
pub use profile::{LoadCurve, MotionCurve, MotionPoint};
pub use recording::{Channel, Recording};
pub(crate) use run::advance;
pub use run::{Ending, Run, RunError, run, run_within, sample_instants};
pub(crate) use sampler::{marker_channels, snapshot};
pub use start::close_loops;
