//! What is asked of a mechanism: functions of its dynamics, a state and options.

mod simulate;
mod step;

pub use simulate::{Ending, Run, SimulateOptions, sample_instants, sample_instants_from, simulate};
pub use step::Stepping;
