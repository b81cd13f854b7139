//! State events that are hard to locate.

use super::super::{Control, FirstOrder, Integration, Method, Target};
use super::Recorder;

/// Uniform motion with an event where it passes a place, told by a function that jumps there.
struct Jump {
    before: f64,
    beyond: f64,
    is_over: bool,
}

const PLACE: f64 = 0.3;

impl FirstOrder for Jump {
    fn derivative(&mut self, _time: f64, _state: &[f64], rate: &mut [f64]) {
        rate[0] = 1.0;
    }

    fn handle_event(&mut self, _time: f64, state: &mut [f64]) {
        self.is_over = state[0] >= PLACE;
    }

    fn event_function(&mut self, _time: f64, state: &[f64]) -> f64 {
        match (self.is_over, state[0] < PLACE) {
            (true, _) => -1.0,
            (false, true) => self.before,
            (false, false) => self.beyond,
        }
    }
}

/// Closed form: the event is at the instant of the place, however large the function is on either side of it.
#[test]
fn functions_that_jump_are_located_too() {
    const LIMITLESS: f64 = f64::INFINITY;
    /// The share of a step to which instants are found, twice.
    const ACCURACY: f64 = 2e-10;
    for (before, beyond) in [
        (-1.0, 1.0),
        (-LIMITLESS, 1.0),
        (-1.0, LIMITLESS),
        (-LIMITLESS, LIMITLESS),
    ] {
        let control = Control {
            rtol: 1e-6,
            atol: vec![1e-6],
            initial_step: Some(1.0),
            max_step: None,
            max_steps: 100,
        };
        let mut system = Jump {
            before,
            beyond,
            is_over: false,
        };
        let mut integration = Integration::new(Method::Dopri5, &control, 0.0, &[0.0]).unwrap();
        let mut recorder = Recorder::new();
        (integration.advance(&mut system, &Target::landing(1.0), &mut recorder)).unwrap();
        let found = recorder.steps[0];
        assert!(
            (found - PLACE).abs() < ACCURACY,
            "{before} {beyond}: {found}"
        );
    }
}
