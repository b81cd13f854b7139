//! Mechanisms that are brought forward tick by tick.

use std::sync::Arc;

use lissom::{SampledError, SampledOptions, SampledSimulation};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_spec::{ModelSpec, TEMPLATE};

use crate::models::changed;
use crate::runs::{nodal_mechanism, tree_mechanism};

/// The two-link arm over a tenth of a second.
fn short() -> ModelSpec {
    changed(TEMPLATE, &["simulation.duration_s=0.1"])
}

/// Ticks of the two-link arm, both torques held.
fn sampled(mechanism: &Arc<Mechanism>) -> SampledSimulation {
    let options = SampledOptions {
        period_s: 0.01,
        inputs: vec!["shoulder.torque".to_owned(), "elbow.torque".to_owned()],
        outputs: vec!["hand.position.x".to_owned()],
    };
    SampledSimulation::new(mechanism, &mechanism.start().unwrap(), &Arc::new(options)).unwrap()
}

/// Identity: rows that are rolled are those of single steps, in both formulations.
#[test]
fn rolled_rows_are_single_steps() {
    const STEPS: usize = 4;
    for mechanism in [tree_mechanism(&short()), nodal_mechanism(&short(), 1)] {
        let mechanism = Arc::new(mechanism);
        let inputs: Vec<f64> = (0..2 * STEPS).map(|at| 0.3 - 0.1 * at as f64).collect();
        let start = mechanism.start().unwrap();
        let n_x = start.position.len() + start.velocity.len();
        let mut states = vec![f64::NAN; (STEPS + 1) * n_x];
        let mut outputs = vec![f64::NAN; STEPS + 1];
        let rolled =
            sampled(&mechanism).roll(&inputs, &mut states, &mut outputs, &mut |_| Flow::Continue);
        assert_eq!(rolled.unwrap(), Flow::Continue);
        let mut alone = sampled(&mechanism);
        for step in 0..=STEPS {
            if step > 0 {
                let held = &inputs[2 * (step - 1)..][..2];
                alone.step(held, &mut |_| Flow::Continue).unwrap();
            }
            let state = alone.state();
            assert_eq!(
                states[step * n_x..][..n_x],
                [state.position, state.velocity].concat()
            );
            assert_eq!(outputs[step], alone.outputs()[0]);
            assert_eq!(alone.time_s(), 0.01 * step as f64);
        }
    }
}

/// A step that somebody stops on its way stands there, and the next one goes on to the same tick.
#[test]
fn a_step_that_is_stopped_is_finished_by_the_next() {
    /// The tolerance of the run is 1e-8, and a stop makes another step of the integrator.
    const TOLERANCE: f64 = 1e-7;
    let spec = changed(
        TEMPLATE,
        &["simulation.integrator={dop853={rtol=1e-8,atol=1e-10,max_step_s=1e-3}}"],
    );
    let mechanism = Arc::new(tree_mechanism(&spec));
    let [mut whole, mut stopped] = [sampled(&mechanism), sampled(&mechanism)];
    let held = [0.5, -0.1];
    whole.step(&held, &mut |_| Flow::Continue).unwrap();
    let flow = stopped.step(&held, &mut |time_s| match time_s {
        time_s if time_s < 0.004 => Flow::Continue,
        _ => Flow::Stop,
    });
    assert_eq!((flow.unwrap(), stopped.ticks()), (Flow::Stop, 0));
    assert!(stopped.time_s() >= 0.004 && stopped.time_s() < 0.006);
    let flow = stopped.step(&held, &mut |_| Flow::Continue).unwrap();
    assert_eq!((flow, stopped.ticks()), (Flow::Continue, 1));
    assert_eq!(stopped.time_s(), whole.time_s());
    assert!((stopped.outputs()[0] - whole.outputs()[0]).abs() < TOLERANCE);
    // stopped at the tick is there
    let flow = whole.step(&held, &mut |time_s| match time_s {
        time_s if time_s < 0.02 => Flow::Continue,
        _ => Flow::Stop,
    });
    assert_eq!((flow.unwrap(), whole.ticks()), (Flow::Continue, 2));
}

#[test]
fn names_that_there_are_not_are_told_before_a_step() {
    let mechanism = Arc::new(tree_mechanism(&short()));
    let refused = |inputs: &[&str], outputs: &[&str]| {
        let names = |own: &[&str]| own.iter().map(|&name| name.to_owned()).collect();
        let options = SampledOptions {
            period_s: 0.01,
            inputs: names(inputs),
            outputs: names(outputs),
        };
        let start = mechanism.start().unwrap();
        SampledSimulation::new(&mechanism, &start, &Arc::new(options)).err()
    };
    let error = refused(&["sholder.torque"], &[]).unwrap();
    assert!(error.to_string().ends_with("shoulder.torque, elbow.torque"));
    assert!(matches!(
        refused(&[], &["hnd"]),
        Some(SampledError::Output(_))
    ));
}
