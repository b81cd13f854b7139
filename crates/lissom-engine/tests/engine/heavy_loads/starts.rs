//! Starts of methods with fixed steps, under loads of a thousand times the mass of what carries them.

use lissom_spec::ModelSpec;

use crate::models::parsed;
use crate::numbers::{apart, largest};
use crate::runs::{completed, in_tree, samples};

/// A boom of 1 kg and eight modes that a torque begins to swing, with 1000 kg at its tip.
#[derive(Clone, Copy)]
struct Boom {
    length: f64,
    stiffness: f64,
    torque: f64,
}

impl Boom {
    fn under(self, integrator: &str) -> ModelSpec {
        let Self {
            length,
            stiffness,
            torque,
        } = self;
        let mass_per_length = 1.0 / length;
        parsed(&format!(
            r#"
format = 1
[[body]]
name = "boom"
[body.beam]
length_m = {length:?}
mass_per_length_kg_per_m = {mass_per_length:?}
bending_stiffness_y_n_m2 = {stiffness:?}
basis = {{ clamped_free = {{ bending_y = 8 }} }}
[[body]]
name = "load"
[body.rigid]
mass_kg = 1000.0
inertia_kg_m2 = [1.0, 1.0, 1.0]
[[joint]]
name = "shoulder"
parent = "ground"
child = "boom"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "wrist"
parent = {{ body = "boom", at = "tip" }}
child = "load"
fixed = {{}}
[[marker]]
name = "hand"
body = "load"
[[input]]
joint = "shoulder"
torque_step = {{ value_n_m = {torque:?} }}
[simulation]
duration_s = 0.4
integrator.{integrator}
[output]
sample_period_s = 0.02
"#
        ))
    }

    /// How far the load has been swung.
    fn swung(self, integrator: &str) -> Vec<f64> {
        let run = completed(in_tree(&self.under(integrator)));
        samples(&run.recording, "hand.position.y").to_vec()
    }

    fn swung_exactly(self) -> Vec<f64> {
        self.swung("dop853 = { rtol = 1e-7, atol = 1e-10 }")
    }
}

/// Second method: steps far longer than most periods of the boom start where the torque jumps, and swing the load as an integrator does
/// that resolves them all. Two booms, of which neither bends by more than a thousandth.
#[test]
fn fixed_steps_start_under_a_load_of_a_thousand_booms() {
    // of the way: the boom has its slowest vibration once or twice in it
    const ACCURACY: f64 = 1e-2;
    let short = Boom {
        length: 1.0,
        stiffness: 200.0,
        torque: 1.0,
    };
    let long = Boom {
        length: 10.0,
        stiffness: 2e4,
        torque: 10.0,
    };
    for boom in [short, long] {
        let exact = boom.swung_exactly();
        for method in ["newmark", "generalized_alpha"] {
            for step in [1e-2, 5e-3, 1.25e-3] {
                let found = boom.swung(&format!("{method} = {{ step_s = {step:?} }}"));
                let error = apart(&found, &exact) / largest(&exact);
                assert!(
                    error < ACCURACY,
                    "{method} {step}, {} m: {error}",
                    boom.length
                );
            }
        }
    }
}

/// Second method: where the boom bends by metres, so that the load is pulled inwards, a method that damps what it does not resolve
/// gets on by steps of 10 ms.
#[test]
fn damped_steps_start_a_boom_that_bends_by_metres() {
    // of the boom, which bends by a sixth of itself
    const ACCURACY: f64 = 1e-2;
    let boom = Boom {
        length: 10.0,
        stiffness: 2e4,
        torque: 1000.0,
    };
    let exact = boom.swung_exactly();
    for step in [1e-2, 5e-3] {
        let found = boom.swung(&format!("generalized_alpha = {{ step_s = {step:?} }}"));
        let error = apart(&found, &exact) / boom.length;
        assert!(error < ACCURACY, "{step}: {error}");
    }
}
