//! Whole mechanisms by `auto`: which method it takes, what that spends and where it ends, and what `check` says before.

use std::sync::Arc;

use lissom::{Inputs, Simulation};
use lissom_core::study::Run;
use lissom_engine::diagnose::Warning;
use lissom_spec::ModelSpec;

use crate::models::changed;
use crate::runs::{completed, in_nodes, in_tree, mechanism, tree_mechanism};
use crate::shipped::{BRANCHED_TREE, FLEXIBLE_JOINT, PLANAR_3RRR};

const SCARA: &str = include_str!("../../../../docs/notebooks/scara.toml");

/// The arm of the notebook with gears of strong damping, pushed at the shoulder, for a part of its time.
fn damped_scara(integrator: &str) -> ModelSpec {
    let integrator = format!("simulation.integrator={integrator}");
    changed(
        SCARA,
        &[
            "joint.0.revolute.motor.damping_n_m_s_per_rad=400.0",
            "joint.1.revolute.motor.damping_n_m_s_per_rad=200.0",
            "input.0.torque_constant.value_n_m=4.0",
            "simulation.duration_s=0.5",
            &integrator,
        ],
    )
}

/// A planar parallel manipulator under feedback that is computed from its nominal motion.
fn controlled_loops(integrator: &str) -> ModelSpec {
    let text = PLANAR_3RRR.replace(
        "[fidelity]",
        "[[controller]]\nname = \"servo\"\njoints = [\"motor_1\", \"motor_2\", \"motor_3\"]\n\
         computed_pd = { frequency_rad_per_s = 30.0, damping_ratio = 0.9 }\n\n[fidelity]",
    );
    let integrator = format!("simulation.integrator={integrator}");
    changed(&text, &["simulation.duration_s=0.05", &integrator])
}

/// Largest difference of positions at the end.
fn apart(a: &Run, b: &Run) -> f64 {
    let [a, b] = [a, b].map(|run| &run.last.as_ref().unwrap().position);
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}

/// Cross-check by the explicit method, and property: a stiff tree and stiff loops are left to `esdirk`, at a fraction of the evaluations.
#[test]
fn stiff_mechanisms_become_implicit() {
    /// Five times the tolerance: errors of steps add up.
    const ALLOWED: f64 = 5e-5;
    for (spec, fewer) in [
        (damped_scara as fn(&str) -> ModelSpec, 20),
        (controlled_loops, 20),
    ] {
        let chosen = completed(in_tree(&spec("{auto={rtol=1e-5,atol=1e-5}}")));
        let explicit = completed(in_tree(&spec("{dop853={rtol=1e-5,atol=1e-5}}")));
        let error = apart(&chosen, &explicit);
        assert!(error < ALLOWED, "{error:e}");
        let [chosen, explicit] = [chosen, explicit].map(|run| run.statistics);
        assert!(
            fewer * chosen.evaluations < explicit.evaluations,
            "{chosen:?} {explicit:?}"
        );
        assert!(chosen.esdirk_steps > 0 && chosen.radau_steps == 0);
    }
}

/// Cross-check and property: at tight tolerances the implicit method is Radau's.
#[test]
fn at_tight_tolerances_it_is_radau() {
    let chosen = completed(in_tree(&damped_scara("{auto={rtol=1e-8,atol=1e-10}}")));
    let exact = completed(in_tree(&damped_scara("{radau={rtol=1e-9,atol=1e-11}}")));
    assert!(apart(&chosen, &exact) < 1e-7);
    let statistics = chosen.statistics;
    assert!(statistics.radau_steps > 0 && statistics.esdirk_steps == 0);
}

/// Cross-check and property: nodes and elements solve for their stages too.
#[test]
fn nodes_take_implicit_stages() {
    let nodes = completed(in_nodes(&damped_scara("{auto={rtol=1e-5,atol=1e-5}}"), 1));
    let exact = completed(in_nodes(&damped_scara("{radau={rtol=1e-8,atol=1e-10}}"), 1));
    assert!(apart(&nodes, &exact) < 1e-4);
    assert!(nodes.statistics.esdirk_steps > 0 && nodes.statistics.radau_steps == 0);
}

/// Identity: a soft arm is integrated explicitly, as `dop853` does it.
#[test]
fn soft_mechanisms_stay_explicit() {
    for text in [BRANCHED_TREE, FLEXIBLE_JOINT] {
        let of = |integrator: &str| {
            let integrator =
                format!("simulation.integrator={{{integrator}={{rtol=1e-9,atol=1e-11}}}}");
            completed(in_tree(&changed(
                text,
                &["simulation.duration_s=0.3", &integrator],
            )))
        };
        let (chosen, explicit) = (of("auto"), of("dop853"));
        assert_eq!(chosen.statistics, explicit.statistics);
        assert_eq!(
            chosen.last.unwrap().position,
            explicit.last.unwrap().position
        );
    }
}

/// Identity: a state that was saved, with an implicit method in force, goes on to the last bit.
#[test]
fn a_saved_state_keeps_the_choice() {
    let spec = damped_scara("{auto={rtol=1e-5,atol=1e-5}}");
    let start = tree_mechanism(&spec).start().unwrap();
    let integrator = spec.simulation.integrator;
    let of = |state| Simulation::new(Arc::new(tree_mechanism(&spec)), state, &integrator).unwrap();
    let mut whole = of(&start);
    whole.advance(0.2, Inputs::OfModel).unwrap();
    let saved = whole.state();
    let mut resumed = of(&saved);
    for simulation in [&mut whole, &mut resumed] {
        simulation.advance(0.5, Inputs::OfModel).unwrap();
    }
    assert_eq!(whole.state(), resumed.state());
}

/// Property: `check` names what an explicit method would meet, within a factor of three of what it takes, and is content with the choice.
#[test]
fn a_stiff_model_is_told_before_the_run() {
    let mut spec = damped_scara("{dop853={rtol=1e-5,atol=1e-5}}");
    let explicit = completed(in_tree(&spec)).statistics;
    let per_second = (explicit.steps + explicit.rejected) as f64 / spec.simulation.duration_s;
    spec.simulation.duration_s = 100.0;
    let warnings = mechanism(&spec).diagnose().warnings;
    let steps = (warnings.iter())
        .find_map(|warning| match warning {
            Warning::Stiff { steps, .. } => Some(*steps),
            _ => None,
        })
        .expect("a warning");
    let ratio = steps / (100.0 * per_second);
    assert!((1.0 / 3.0..3.0).contains(&ratio), "{ratio}");
    let mut chosen = damped_scara("{auto={}}");
    chosen.simulation.duration_s = 100.0;
    let warnings = mechanism(&chosen).diagnose().warnings;
    assert!(!warnings.iter().any(|w| matches!(w, Warning::Stiff { .. })));
}

/// Property: two bodies adrift, whose accelerations are rounding, are not called stiff: their samples cost no steps of their own.
#[test]
fn what_drifts_is_not_stiff() {
    const ADRIFT: &str = r#"
format = 1
gravity_m_per_s2 = [0, 0, 0]
[[body]]
name = "base"
rigid = { mass_kg = 10.0, inertia_kg_m2 = [1, 1, 1] }
[[body]]
name = "link"
rigid = { mass_kg = 2.0, center_of_mass_m = [0.5, 0, 0], inertia_kg_m2 = [0.1, 0.2, 0.2] }
[[joint]]
name = "float"
parent = "ground"
child = "base"
free = { initial_velocity_m_per_s = [0.1, 0, 0] }
[[joint]]
name = "shoulder"
parent = { body = "base", position_m = [0.3, 0, 0] }
child = "link"
revolute = { axis = [0, 0, 1], initial_rate_rad_per_s = 0.001 }
[simulation]
duration_s = 10.0
"#;
    for integrator in ["auto", "dop853"] {
        let integrator = format!("simulation.integrator={{{integrator}={{}}}}");
        let spec = changed(ADRIFT, &[&integrator]);
        for run in [in_tree(&spec), in_nodes(&spec, 1)] {
            let statistics = completed(run).statistics;
            assert!(!statistics.is_stiff(), "{statistics:?}");
            assert!(statistics.evaluations < 500, "{statistics:?}");
        }
    }
}
