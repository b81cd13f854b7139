//! What is asked of a mechanism: functions of its dynamics, a state and options.

mod analysis_error;
mod closed_loop;
mod equilibrium;
mod linearize;
mod perturb;
mod simulate;
mod step;
mod watch;
mod work;

pub use analysis_error::{AnalysisError, LinearizeError};
pub use closed_loop::{DrivenJoints, closed_loop, with_controllers};
pub use equilibrium::{Equilibrium, Found, StaticLoads, equilibrium};
pub use linearize::{
    Deviated, Deviation, Linearize, Linearized, LinearizedAt, OperatingPoint, OutputOrder,
    linearize, mode_recording,
};
pub use perturb::{
    AngleDeviation, MarkerChannels, PerturbOptions, PerturbedRun, perturb, quasi_static,
};
pub use simulate::{Ending, Run, SimulateOptions, sample_instants, sample_instants_from, simulate};
pub use step::Stepping;
pub use watch::Watch;
