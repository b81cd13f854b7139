//! What is asked of a mechanism: functions of its dynamics, a state and options.

mod equilibrium;
mod linearize;
mod perturb;
mod simulate;
mod step;

pub use equilibrium::{Found, Rest, StaticLoads, equilibrium};
pub use linearize::{
    AnalysisError, Linearize, LinearizeError, Linearized, LinearizedAt, Place, linearize,
    mode_recording,
};
pub use perturb::{PerturbOptions, PerturbedRun, perturb};
pub use simulate::{Ending, Run, SimulateOptions, sample_instants, sample_instants_from, simulate};
pub use step::Stepping;
