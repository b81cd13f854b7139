//! Sampled controllers in both formulations, against an exact recursion from tick to tick and the continuous law that they come near to.

use std::sync::Arc;

use lissom::{Inputs, Simulation};
use lissom_core::State;
use lissom_core::study::{
    AnalysisError, Ending, OperatingPoint, SimulateOptions, sample_instants, sample_instants_from,
};
use lissom_numerics::integrate::Flow;
use lissom_spec::{ModelError, ModelSpec};
use nalgebra::{DMatrix, DVector};

use crate::control::{GAINS, INERTIA_KG_M2, PUSH_N_M, wheel};
use crate::models::parsed;
use crate::runs::{completed, in_nodes, in_tree, last, nodal_mechanism, samples, tree_mechanism};

/// Between ticks the torque is constant, so that integrators leave rounding, some 1e-13 a tick.
const FROM_TICK_TO_TICK: f64 = 1e-10;

/// A wheel under a sampled PID law.
fn sampled_wheel(filter: &str, period_s: f64, delay_s: f64) -> String {
    let ticks =
        format!("sampled = {{ period_s = {period_s:?}, delay_s = {delay_s:?} }}\n[simulation]");
    wheel(filter, "").replacen("[simulation]", &ticks, 1)
}

/// Deviation of the wheel at every tick, by hand.
fn recursion(filter: Option<f64>, period: f64, delay: f64, ticks: usize) -> Vec<f64> {
    let [kp, ki, kd] = GAINS;
    let [mut angle, mut speed, mut integral, mut filtered] = [0.0; 4];
    let [mut held, mut coming] = [0.0; 2];
    let mut found = Vec::new();
    for _ in 0..=ticks {
        found.push(angle);
        if delay == period {
            held = coming;
        }
        let rate = filter.map_or(-speed, |_| filtered);
        let answer = -kp * angle + integral + kd * rate;
        integral -= period * ki * angle;
        if let Some(time) = filter {
            filtered += period * (-speed - filtered) / time;
        }
        coming = answer;
        for (stretch, from_here) in [(delay, held), (period - delay, answer)] {
            let torque = if delay == period { held } else { from_here };
            let acceleration = (PUSH_N_M + torque) / INERTIA_KG_M2;
            angle += stretch * speed + 0.5 * stretch * stretch * acceleration;
            speed += stretch * acceleration;
        }
        if delay < period {
            held = answer;
        }
    }
    found
}

/// Closed form: from tick to tick the wheel moves under a constant torque.
#[test]
fn sampled_control_follows_the_exact_recursion() {
    let period = 0.01;
    for (key, filter) in [("", None), (", rate_filter_s = 0.02", Some(0.02))] {
        for delay in [0.0, 0.004, period] {
            let expected = recursion(filter, period, delay, 100);
            for newmark in [false, true] {
                let mut text = sampled_wheel(key, period, delay);
                if newmark {
                    let own = "integrator.dop853 = { rtol = 1e-10, atol = 1e-10 }";
                    // exact for constant accelerations
                    text = text.replace(own, "integrator.newmark = { step_s = 1e-3 }");
                }
                let spec = parsed(&text);
                for run in [in_tree(&spec), in_nodes(&spec, 1)].map(completed) {
                    let angles = samples(&run.recording, "hub.angle");
                    for (sample, angle) in angles.iter().enumerate() {
                        let off = angle - 0.2 - expected[5 * sample];
                        assert!(
                            off.abs() < FROM_TICK_TO_TICK,
                            "{key} {delay} {newmark}: {off:e}"
                        );
                    }
                }
            }
        }
    }
}

/// Order of convergence: with half the period a sampled law is half as far from the continuous one, with delay and without.
#[test]
fn sampled_control_converges_to_continuous_control() {
    let [kp, ki, kd] = GAINS;
    let j = INERTIA_KG_M2;
    #[rustfmt::skip]
    let matrix = DMatrix::from_row_slice(4, 4, &[
        0.0, 1.0, 0.0, 0.0,
        -kp / j, -kd / j, 1.0 / j, PUSH_N_M / j,
        -ki, 0.0, 0.0, 0.0,
        0.0, 0.0, 0.0, 0.0,
    ]);
    let exact = (matrix.exp() * DVector::from_row_slice(&[0.0, 0.0, 0.0, 1.0]))[0];
    for share in [0.0, 0.5] {
        let errors = [4e-3, 2e-3, 1e-3].map(|period| {
            let run = completed(in_tree(&parsed(&sampled_wheel("", period, share * period))));
            (last(&run.recording, "hub.angle") - 0.2 - exact).abs()
        });
        for pair in errors.windows(2) {
            let ratio = pair[0] / pair[1];
            // terms of second order are a tenth of those of first at the longest period
            assert!((1.8..2.2).contains(&ratio), "{share}: {errors:?}");
        }
    }
}

/// Identity: a run that is stopped between two ticks, with an answer on its way, goes on to the last bit, and one that is stepped from outside
/// from tick to tick does every tick once.
#[test]
fn sampled_runs_go_on_where_they_were() {
    let spec = parsed(&sampled_wheel("", 0.01, 0.004));
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let start = mechanism.start().unwrap();
        assert_eq!(start.control.len(), 3);
        let run = |from: &State, stop_s: f64| {
            let instants = match from.integrator {
                None => sample_instants(&spec, &[]),
                Some(_) => sample_instants_from(&spec, from.time_s, &[]),
            };
            let options = SimulateOptions {
                samples: &instants,
                channels: None,
                most_lengths: f64::INFINITY,
            };
            let watch = &mut |time: f64| {
                if time >= stop_s {
                    Flow::Stop
                } else {
                    Flow::Continue
                }
            };
            mechanism.simulate(from, &spec.simulation, &options, watch)
        };
        let whole = completed(run(&start, f64::INFINITY));
        let end = whole.last.unwrap().packed();
        // on a tick, and where an answer begins to act
        for stop_s in [0.5, 0.504, 0.5065] {
            let half = run(&start, stop_s);
            assert!(matches!(half.ending, Ending::Stopped { .. }));
            let rest = completed(run(&half.last.unwrap(), f64::INFINITY));
            assert_eq!(rest.last.unwrap().packed(), end, "{stop_s}");
        }
        let integrator = spec.simulation.integrator;
        let mut stepped =
            Simulation::new(Arc::new(mechanism.clone()), &start, &integrator).unwrap();
        for step in 1..=20 {
            stepped
                .advance(0.05 * f64::from(step), Inputs::OfModel)
                .unwrap();
        }
        let found = stepped.value("hub.angle").unwrap();
        assert!((found - last(&whole.recording, "hub.angle")).abs() < FROM_TICK_TO_TICK);
    }
}

/// What a sampled law cannot be is said: part of a continuous linear model, slower to answer than its period, or with a filter faster than its ticks.
#[test]
fn what_sampled_control_is_not_is_told() {
    let spec = parsed(&sampled_wheel("", 0.01, 0.0));
    let mechanism = tree_mechanism(&spec);
    let start = mechanism.start().unwrap();
    let watch = &mut |_: f64| Flow::Continue;
    let open = mechanism
        .linearize(&start, OperatingPoint::Start, &[], watch)
        .unwrap();
    let refused = mechanism.with_controllers(&open).unwrap_err();
    assert!(matches!(&refused, AnalysisError::Sampled { controller, .. } if controller == "servo"));
    for (filter, period, delay, expected) in [
        ("", 0.01, 0.02, "at most the period"),
        (", rate_filter_s = 0.005", 0.01, 0.0, "at least the period"),
        ("", 1e-9, 0.0, "ticks"),
    ] {
        let text = sampled_wheel(filter, period, delay);
        let errors = ModelSpec::parse(&text, &[]).unwrap_err();
        let told: Vec<String> = errors.iter().map(ModelError::remedy).collect();
        let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(
            format!("{told:?} {words:?}").contains(expected),
            "{told:?} {words:?}"
        );
    }
}
