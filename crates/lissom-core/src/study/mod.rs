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
    AnalysisError, Linearize, LinearizeError, Linearized, LinearizedAt, Place, Stretch, linearize,
    mode_recording,
};
pub use perturb::{Begins, PerturbOptions, PerturbedRun, perturb};
pub use simulate::{Ending, Run, SimulateOptions, sample_instants, sample_instants_from, simulate};
pub use step::Stepping;
