//! Tests of the solvers through their public doors: whole schedules, several calls, resumption, fixed steps.
//! Orders, named problems and other programs are in the integration tests.

mod auto;
mod events;
mod free_body;
mod landing;
mod problems;
mod resuming;
mod runs;
mod schedules;
mod second_order;
mod stepping;
mod unchanged_bits;

use super::{Flow, Observer};

/// Keeps what it is told, and stops when asked to.
struct Recorder {
    samples: Vec<(f64, Vec<f64>)>,
    steps: Vec<f64>,
    stop_sample_from: f64,
    stop_step_from: f64,
}

impl Recorder {
    fn new() -> Self {
        Self {
            samples: Vec::new(),
            steps: Vec::new(),
            stop_sample_from: f64::INFINITY,
            stop_step_from: f64::INFINITY,
        }
    }
}

fn stop_from(instant: f64, time: f64) -> Flow {
    if time >= instant {
        Flow::Stop
    } else {
        Flow::Continue
    }
}

impl Observer for Recorder {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        self.samples.push((time, state.to_vec()));
        stop_from(self.stop_sample_from, time)
    }

    fn step(&mut self, time: f64, _state: &[f64]) -> Flow {
        self.steps.push(time);
        stop_from(self.stop_step_from, time)
    }
}
