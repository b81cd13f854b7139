//! Many states evaluated in one call beside single calls, on one core.

use cpu_time::ThreadTime;
use lissom_engine::{Evaluator, Mechanism, RowQuantity, StateRows};
use lissom_spec::{ModelSpec, TEMPLATE};

use crate::chain::chain_spec;
use crate::shuttle_arm::manoeuvre;

/// States of a batch.
pub const STATES: usize = 10_000;
/// Times are the shortest of so many, in which other work has disturbed least.
const ROUNDS: usize = 15;

/// Mechanisms to measure on, each with its name.
///
/// # Panics
/// If the template cannot be read, which a test of the core would find first.
pub fn mechanisms() -> Vec<(&'static str, ModelSpec)> {
    let template = ModelSpec::parse(TEMPLATE, &[]).expect("the template has no error");
    vec![
        ("7 rigid joints", chain_spec(7, 0, true)),
        ("two-link arm", template),
        ("Shuttle arm", manoeuvre()),
        ("10 × 5 modes", chain_spec(10, 5, true)),
    ]
}

/// Microseconds per state: by single calls, and in one call for all.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Of a call for one state.
    pub single_us: f64,
    /// Of a state in a call for [`STATES`].
    pub together_us: f64,
}

impl Cost {
    /// How many times the throughput of single calls.
    pub fn gain(self) -> f64 {
        self.single_us / self.together_us
    }
}

/// Measures one of the quantities on a model, at states about its start.
///
/// # Panics
/// If the model cannot be built, or if states in one call are not those of single calls to the last bit.
pub fn cost(spec: &ModelSpec, quantity: RowQuantity) -> Cost {
    let mechanism = Mechanism::build(spec).expect("a model that can be built");
    let mut evaluator = Evaluator::new(&mechanism).expect("a tree with every joint free");
    let [n_q, n_v] = [evaluator.position_count(), evaluator.velocity_count()];
    let motion = about_the_start(&mut evaluator);
    let with: Vec<f64> = (0..STATES * n_v).map(|at| wave(at, 2.0)).collect();
    let size = match quantity {
        RowQuantity::MassMatrix => n_v * n_v,
        RowQuantity::InverseDynamics | RowQuantity::ForwardDynamics => n_v,
    };
    let mut found = vec![0.0; STATES * size];
    let mut again = found.clone();
    let mut cost = Cost {
        single_us: f64::INFINITY,
        together_us: f64::INFINITY,
    };
    // turn and turn about, so that what disturbs the one disturbs the other
    for _ in 0..ROUNDS {
        let single_us = us_per_state(|| {
            let rows = (motion.chunks_exact(n_q + n_v)).zip(with.chunks_exact(n_v));
            for ((motion, with), found) in rows.zip(found.chunks_exact_mut(size)) {
                let (position, velocity) = motion.split_at(n_q);
                let motion = [position, velocity];
                match quantity {
                    RowQuantity::MassMatrix => evaluator.mass_matrix(0.0, position, found),
                    RowQuantity::InverseDynamics => {
                        evaluator.inverse_dynamics(0.0, motion, with, found);
                    }
                    RowQuantity::ForwardDynamics => {
                        evaluator.forward_dynamics(0.0, motion, with, found);
                    }
                }
            }
        });
        let rows = StateRows {
            time_s: 0.0,
            motion: &motion,
            with: &with,
        };
        let together_us = us_per_state(|| evaluator.evaluate_rows(quantity, &rows, &mut again));
        cost.single_us = cost.single_us.min(single_us);
        cost.together_us = cost.together_us.min(together_us);
    }
    assert!(
        found == again,
        "states side by side are not those of single calls"
    );
    cost
}

/// Rows of states that differ from the start by a little bending and some turning.
fn about_the_start(evaluator: &mut Evaluator) -> Vec<f64> {
    let start = evaluator.mechanism().written();
    let n_v = start.velocity.len();
    let mut displaced = vec![0.0; start.position.len()];
    let mut motion = Vec::with_capacity(STATES * (displaced.len() + n_v));
    for at in 0..STATES {
        let step: Vec<f64> = (0..n_v).map(|i| wave(at * n_v + i, 0.01)).collect();
        evaluator.displace(&start.position, &step, &mut displaced);
        motion.extend_from_slice(&displaced);
        motion.extend((0..n_v).map(|i| wave(at + i, 1.0)));
    }
    motion
}

/// Numbers that do not repeat, between ± `size`.
fn wave(at: usize, size: f64) -> f64 {
    size * (0.7 * at as f64).sin()
}

fn us_per_state(call: impl FnOnce()) -> f64 {
    let began = ThreadTime::now();
    call();
    began.elapsed().as_secs_f64() * 1e6 / STATES as f64
}
