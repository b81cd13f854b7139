//! What a recorded run tells of the fidelity it was run with: how far bodies bend, which terms matter, and how
//! far a run with other terms would stray from it.

mod deviation;
mod exponential;
mod magnitudes;
mod states;

pub use deviation::{Resolution, predict_deviation};
pub use magnitudes::{TermMagnitude, term_magnitude};
