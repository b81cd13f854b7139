//! From a model to a recording: loads over time, the equations an integrator sees, the run, its audit.

mod audit;
pub mod comparison;
mod equations;
mod equilibrium;
mod evaluate;
mod profile;
pub mod recording;
mod run;
mod sampler;

pub use audit::{Audit, ClosureAudit, EnergyAudit, LimitViolation, MomentumAudit};
pub use equations::Equations;
pub use equilibrium::{NoEquilibrium, equilibrium, settled};
pub use evaluate::{Evaluation, StateInput, evaluate};
pub use profile::{LoadCurve, MotionCurve, MotionPoint};
pub use recording::{Channel, Recording};
pub use run::{Ending, Run, RunError, run, sample_instants};
