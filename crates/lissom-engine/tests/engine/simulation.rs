//! Mechanisms that are brought forward from outside.

use std::sync::Arc;

use lissom::{Inputs, Simulation};
use lissom_core::State;
use lissom_core::study::OperatingPoint;
use lissom_engine::Mechanism;
use lissom_engine::evaluate::EvaluateOptions;
use lissom_numerics::integrate::Flow;
use lissom_spec::{ModelSpec, TEMPLATE};

use crate::models::changed;
use crate::runs::{last, nodal_mechanism, tree_mechanism};

/// The two-link arm over a tenth of a second.
fn short() -> ModelSpec {
    changed(TEMPLATE, &["simulation.duration_s=0.1"])
}

fn simulation(mechanism: Mechanism) -> Simulation {
    let start = mechanism.start().unwrap();
    let integrator = mechanism.spec().simulation.integrator;
    Simulation::new(Arc::new(mechanism), &start, &integrator).unwrap()
}

/// Identity: stretch by stretch under the inputs of the model it arrives where a run does, in both formulations.
#[test]
fn stretches_arrive_where_a_run_does() {
    /// The tolerance of the run is 1e-8.
    const TOLERANCE: f64 = 1e-7;
    let spec = short();
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let run = mechanism.run(&[0.0, 0.1]);
        let mut stepped = simulation(mechanism);
        for tick in 1..=20 {
            let to_s = 0.005 * f64::from(tick);
            stepped.advance(to_s, Inputs::OfModel).unwrap();
        }
        for channel in ["shoulder.angle", "hand.position.y", "energy.kinetic"] {
            let (found, wanted) = (
                stepped.value(channel).unwrap(),
                last(&run.recording, channel),
            );
            assert!(
                (found - wanted).abs() < TOLERANCE,
                "{channel}: {found} {wanted}"
            );
        }
        let work = run.last.unwrap().work_j;
        assert!((stepped.state().work_j - work).abs() < TOLERANCE * work.abs().max(1.0));
    }
}

/// Identity: with fixed steps it sums up the works as a run does, and goes on with them from a state.
#[test]
fn fixed_steps_sum_up_works() {
    /// Sums of a hundred steps in other parts.
    const ROUNDING: f64 = 1e-13;
    /// The drift is a difference of energies of some joules.
    const ROUNDING_J: f64 = 1e-14;
    let spec = changed(
        TEMPLATE,
        &[
            "simulation.duration_s=0.09765625",
            "simulation.integrator={generalized_alpha={step_s=9.765625e-4}}",
        ],
    );
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let run = mechanism.run(&[0.0, 0.097_656_25]).last.unwrap();
        assert!(run.work_j > 1e-6 && run.dissipated_j > 1e-9, "{run:?}");
        let mut stepped = simulation(mechanism);
        for tick in [0.0, 0.5, 1.0] {
            stepped
                .advance(0.097_656_25 * tick, Inputs::OfModel)
                .unwrap();
            let state = stepped.state();
            stepped.set_state(&state).unwrap();
        }
        let state = stepped.state();
        assert_eq!(state.position, run.position);
        for (found, wanted) in [
            (state.work_j, run.work_j),
            (state.dissipated_j, run.dissipated_j),
        ] {
            assert!(
                (found - wanted).abs() <= ROUNDING * wanted,
                "{found} {wanted}"
            );
        }
        let [found, wanted] = [state.drift_j, run.drift_j];
        assert!((found - wanted).abs() <= ROUNDING_J, "{found} {wanted}");
        assert!(wanted.abs() > 1e6 * ROUNDING_J, "{wanted}");
    }
}

/// Property: an input that is taken over does what is asked: held values jump, others are lines in between.
#[test]
fn inputs_are_taken_over() {
    for mechanism in [tree_mechanism(&short()), nodal_mechanism(&short(), 1)] {
        let mut stepped = simulation(mechanism);
        assert!(stepped.inputs().any(|name| name == "shoulder.torque"));
        stepped
            .advance(0.01, Inputs::Held(&[("shoulder.torque", 0.25)]))
            .unwrap();
        assert_eq!(stepped.value("shoulder.torque"), Some(0.25));
        stepped
            .advance(0.02, Inputs::Interpolated(&[("shoulder.torque", 0.75)]))
            .unwrap();
        assert_eq!(stepped.value("shoulder.torque"), Some(0.75));
        let error = stepped
            .advance(0.03, Inputs::Held(&[("sholder.torque", 1.0)]))
            .unwrap_err();
        assert!(error.to_string().contains("shoulder.torque"), "{error}");
    }
}

/// Property: all inputs are given back to the model at once, and an unknown name takes none over.
#[test]
fn inputs_are_taken_and_given_back_together() {
    let torques = ["shoulder.torque", "elbow.torque"];
    let mut stepped = simulation(tree_mechanism(&short()));
    let mut of_model = simulation(tree_mechanism(&short()));
    let held = torques.map(|name| (name, 0.25));
    stepped.advance(0.01, Inputs::Held(&held)).unwrap();
    let wrong = [(torques[0], 7.0), ("sholder.torque", 1.0)];
    for wrong in [Inputs::Held(&wrong), Inputs::Interpolated(&wrong)] {
        stepped.advance(0.02, wrong).unwrap_err();
        assert_eq!(stepped.value(torques[0]), Some(0.25));
    }
    stepped.advance(0.02, Inputs::OfModel).unwrap();
    of_model.advance(0.02, Inputs::OfModel).unwrap();
    for name in torques {
        let wanted = of_model.value(name);
        assert_ne!(wanted, Some(0.25), "the model says something else");
        assert_eq!(stepped.value(name), wanted, "{name}");
    }
}

/// Property: a stretch that would lead back is refused, and leaves inputs and drift as they were.
#[test]
fn stretches_that_lead_back_change_nothing() {
    let torque = "shoulder.torque";
    let mut stepped = simulation(tree_mechanism(&short()));
    stepped
        .advance(0.02, Inputs::Held(&[(torque, 0.25)]))
        .unwrap();
    let state = stepped.state();
    for inputs in [
        Inputs::OfModel,
        Inputs::Held(&[(torque, 7.0)]),
        Inputs::Interpolated(&[(torque, 7.0)]),
    ] {
        for to_s in [0.01, f64::NAN] {
            let error = stepped.advance(to_s, inputs).unwrap_err().to_string();
            assert!(error.contains("not before the instant"), "{error}");
            assert_eq!(stepped.value(torque), Some(0.25), "{inputs:?}");
        }
    }
    assert_eq!(stepped.state(), state);
}

/// Identity: a line begins with what the model said until then, so that accelerations do not jump.
#[test]
fn lines_begin_where_the_model_was() {
    for mechanism in [tree_mechanism(&short()), nodal_mechanism(&short(), 1)] {
        let mut stepped = simulation(mechanism);
        let start = stepped.state();
        let rates = |stepped: &mut Simulation| {
            let mut rates = vec![0.0; start.position.len() + start.velocity.len()];
            stepped.rates(0.0, [&start.position, &start.velocity], &mut rates);
            rates
        };
        let before = rates(&mut stepped);
        let line = [("shoulder.torque", 5.0)];
        stepped.advance(0.01, Inputs::Interpolated(&line)).unwrap();
        assert_eq!(rates(&mut stepped), before);
        assert_eq!(stepped.value("shoulder.torque"), Some(5.0));
    }
}

/// Property: structural methods count velocities, and name as one what cannot go on.
#[test]
fn structural_methods_name_velocities() {
    let spec = changed(
        TEMPLATE,
        &["simulation.integrator={generalized_alpha={step_s=1e-3}}"],
    );
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let [_, velocities] = mechanism.coordinates().unwrap();
        let mut stepped = simulation(mechanism);
        let nothing = [("shoulder.torque", f64::NAN)];
        let error = stepped.advance(0.01, Inputs::Held(&nothing)).unwrap_err();
        let mut names = velocities.iter().map(|velocity| velocity.name.as_str());
        assert!(names.any(|name| name == error.coordinate()), "{error}");
    }
}

/// Property: a state with other numbers of coordinates is refused, whatever is asked of it.
#[test]
fn states_of_other_mechanisms_are_refused() {
    for mechanism in [tree_mechanism(&short()), nodal_mechanism(&short(), 1)] {
        let mut state = mechanism.start().unwrap();
        state.velocity.pop();
        let refused = [
            mechanism.dynamics(&state).err().unwrap().to_string(),
            mechanism.equilibrium(&state).unwrap_err().to_string(),
            mechanism.marker_poses(&state).unwrap_err().to_string(),
            mechanism
                .linearize(&state, OperatingPoint::Start, &[], &mut |_| Flow::Continue)
                .unwrap_err()
                .to_string(),
            mechanism
                .evaluate(&state, &EvaluateOptions::default())
                .unwrap_err()
                .to_string(),
        ];
        for said in refused {
            assert!(said.contains("velocities"), "{said}");
        }
    }
}

/// Identity: chosen outputs are the signals of those names, and the energy balance closes from the first reading on.
#[test]
fn outputs_are_chosen_signals() {
    /// The tolerance of the run is 1e-8.
    const TOLERANCE: f64 = 1e-6;
    let names = [
        "hand.position.y",
        "energy.drift",
        "shoulder.angle",
        "energy.work",
    ];
    for mechanism in [tree_mechanism(&short()), nodal_mechanism(&short(), 1)] {
        let mut stepped = simulation(mechanism);
        assert!(stepped.outputs().is_empty());
        stepped.set_outputs(&names).unwrap();
        stepped.outputs();
        stepped
            .advance(0.05, Inputs::Held(&[("shoulder.torque", 2.0)]))
            .unwrap();
        let [y, drift, angle, work] = stepped.outputs() else {
            panic!("four outputs");
        };
        let (y, drift, angle, work) = (*y, *drift, *angle, *work);
        assert_eq!(stepped.value("hand.position.y"), Some(y));
        assert_eq!(stepped.value("shoulder.angle"), Some(angle));
        assert_eq!(work, stepped.state().work_j);
        assert!(
            work > 0.01 && drift.abs() < TOLERANCE * work,
            "{work} {drift}"
        );
        let error = stepped.set_outputs(&["hand.positon.y"]).unwrap_err();
        assert!(error.to_string().contains("hand.position.y"), "{error}");
        assert_eq!(stepped.outputs()[0], y, "what was chosen before stays");
    }
}

/// Differences: rates at a motion under held inputs are how a short stretch goes on.
#[test]
fn rates_are_how_a_stretch_goes_on() {
    /// The first-order difference is off by half the step times the fastest frequency, some 400 rad/s.
    const STEP: f64 = 1e-5;
    const AGREEMENT: f64 = 0.01;
    for mechanism in [tree_mechanism(&short()), nodal_mechanism(&short(), 1)] {
        let mut stepped = simulation(mechanism);
        let held = [("shoulder.torque", 0.7), ("elbow.torque", -0.2)];
        stepped.hold(&held).unwrap();
        let before = stepped.state();
        let mut rates = vec![0.0; before.position.len() + before.velocity.len()];
        stepped.rates(0.0, [&before.position, &before.velocity], &mut rates);
        stepped.advance(STEP, Inputs::Held(&held)).unwrap();
        let after = stepped.state();
        let velocities = &rates[before.position.len()..];
        let largest = velocities
            .iter()
            .fold(0.0, |most: f64, rate| most.max(rate.abs()));
        for ((rate, a), b) in velocities.iter().zip(&after.velocity).zip(&before.velocity) {
            let found = (a - b) / STEP;
            assert!((found - rate).abs() < AGREEMENT * largest, "{found} {rate}");
        }
        assert!(largest > 0.1);
    }
}

/// Property: inputs that are held stay held where a state is set.
#[test]
fn inputs_survive_another_state() {
    let mut stepped = simulation(tree_mechanism(&short()));
    let saved = stepped.state();
    stepped.hold(&[("shoulder.torque", 0.25)]).unwrap();
    stepped.set_state(&saved).unwrap();
    assert_eq!(stepped.value("shoulder.torque"), Some(0.25));
    stepped.advance(0.01, Inputs::Held(&[])).unwrap();
    assert_eq!(stepped.value("shoulder.torque"), Some(0.25));
}

/// Identity: a state that was saved leads the same way again, to the last bit.
#[test]
fn a_saved_state_leads_the_same_way_again() {
    let mut stepped = simulation(tree_mechanism(&short()));
    stepped.advance(0.03, Inputs::OfModel).unwrap();
    let saved = stepped.state();
    let ends = [(); 2].map(|()| {
        stepped.set_state(&saved).unwrap();
        stepped.advance(0.06, Inputs::OfModel).unwrap();
        stepped.state()
    });
    assert_eq!(ends[0], ends[1]);
    assert_ne!(ends[0].position, saved.position);
}

/// Property: it borrows nothing and may go to another thread.
#[test]
fn it_can_be_kept_anywhere() {
    let mut stepped = simulation(tree_mechanism(&short()));
    let thread = std::thread::spawn(move || {
        stepped.advance(0.01, Inputs::OfModel).unwrap();
        stepped.time_s()
    });
    assert_eq!(thread.join().unwrap(), 0.01);
}

/// Identity: a state that was reached under inputs from outside goes on under those of the model as if it had been written by hand:
/// what the integrator remembers of the other inputs is not used.
#[test]
fn states_under_inputs_go_on_under_others() {
    for integrator in ["{generalized_alpha={step_s=0.001}}", "{dop853={}}"] {
        let spec = changed(TEMPLATE, &[&format!("simulation.integrator={integrator}")]);
        let mut pushed = simulation(tree_mechanism(&spec));
        (pushed.advance(0.01, Inputs::Held(&[("shoulder.torque", 20.0)]))).unwrap();
        let saved = pushed.state();
        let by_hand = State {
            integrator: None,
            ..saved.clone()
        };
        let [saved, by_hand] = [saved, by_hand].map(|state| {
            let mechanism = Arc::new(tree_mechanism(&spec));
            let integrator = spec.simulation.integrator;
            let mut simulation = Simulation::new(mechanism, &state, &integrator).unwrap();
            simulation.advance(0.011, Inputs::OfModel).unwrap();
            simulation.state().velocity
        });
        let apart = crate::numbers::apart(&saved, &by_hand);
        assert!(apart < 1e-9, "{integrator}: {apart:e}");
    }
}
