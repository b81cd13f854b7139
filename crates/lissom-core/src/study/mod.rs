//! What is asked of a mechanism: functions of its dynamics, a state and options.

mod closed_loop;
mod equilibrium;
mod linearize;
mod perturb;
mod simulate;
mod step;
mod work;

pub use closed_loop::{DrivenJoints, closed_loop};
pub use equilibrium::{Found, Rest, StaticLoads, equilibrium};
pub use linearize::{
    AnalysisError, Deviated, Deviation, Linearize, LinearizeError, Linearized, LinearizedAt,
    OutputOrder, Place, Stretch, linearize, mode_recording,
};
pub use perturb::{PerturbOptions, PerturbedRun, perturb, quasi_static};
pub use simulate::{Ending, Run, SimulateOptions, sample_instants, sample_instants_from, simulate};
pub use step::Stepping;
