//! [`State`]: where a mechanism is.

use lissom_numerics::Memory;

/// Where a mechanism is at an instant, complete: whoever has it can go on from there.
///
/// Positions and velocities are those of [`Dynamics::state_layout`](crate::Dynamics::state_layout), motors behind
/// elastic gears among them; what is prescribed follows from the time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The instant.
    pub time_s: f64,
    /// Positions.
    pub position: Vec<f64>,
    /// Velocities.
    pub velocity: Vec<f64>,
    /// Work of inputs and prescribed motions since the run began that led here.
    pub work_j: f64,
    /// Energy dissipated since then.
    pub dissipated_j: f64,
    /// What evaluations remember: turns of angles, partition of coordinates, elements that supports are on. A state
    /// without memory is a start of its own.
    pub memory: Memory,
    /// What the integrator remembers, for a run that goes on as if it had never stopped.
    pub integrator: Memory,
}

impl State {
    /// A state from which something begins.
    pub fn new(time_s: f64, position: Vec<f64>, velocity: Vec<f64>) -> Self {
        Self {
            time_s,
            position,
            velocity,
            ..Self::default()
        }
    }

    /// The vector that integrators of first order see: positions, velocities, works.
    pub fn packed(&self) -> Vec<f64> {
        let works = [self.work_j, self.dissipated_j];
        [&self.position[..], &self.velocity, &works].concat()
    }
}
