//! What is asked of a mechanism: functions of its dynamics, a state and options.

mod simulate;

pub use simulate::{Ending, Run, SimulateOptions, sample_instants, sample_instants_from, simulate};
