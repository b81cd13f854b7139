//! Whole mechanisms by `esdirk`, whose stages are solved by sweeps: against other integrators, and what it spends.

use std::sync::Arc;

use lissom::{Inputs, Simulation};
use lissom_core::study::Run;
use lissom_spec::ModelSpec;
use lissom_spec::spec::{AdaptiveSpec, IntegratorSpec};

use crate::models::changed;
use crate::runs::{completed, in_nodes, in_tree, tree_mechanism};
use crate::shipped::{
    BRANCHED_TREE, COOPERATING_ARMS, FLEXIBLE_JOINT, FOUR_BAR, PLANAR_3RRR_FAST, SHUTTLE_ARM,
    SLIDING_BEAM,
};

fn adaptive(rtol: f64, atol: f64) -> AdaptiveSpec {
    AdaptiveSpec {
        rtol,
        atol,
        ..AdaptiveSpec::default()
    }
}

fn by_esdirk(spec: &ModelSpec, rtol: f64) -> ModelSpec {
    let mut spec = spec.clone();
    spec.simulation.integrator = IntegratorSpec::Esdirk(adaptive(rtol, rtol));
    spec
}

fn by_dop853(spec: &ModelSpec, rtol: f64) -> ModelSpec {
    let mut spec = spec.clone();
    spec.simulation.integrator = IntegratorSpec::Dop853(adaptive(rtol, rtol));
    spec
}

/// A shipped model for a part of its time.
fn shipped(text: &str, duration_s: f64) -> ModelSpec {
    let mut spec = ModelSpec::parse(text, &[]).unwrap();
    spec.simulation.duration_s = duration_s;
    spec
}

/// Largest difference of positions at the end.
fn apart(a: &Run, b: &Run) -> f64 {
    let [a, b] = [a, b].map(|run| &run.last.as_ref().unwrap().position);
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}

/// Cross-check: trees and loops, the complement and multipliers, gears, friction and quaternions by another integrator.
#[test]
fn shipped_models_agree_with_an_explicit_method() {
    for (text, duration_s) in [
        (SHUTTLE_ARM, 0.5),
        (BRANCHED_TREE, 0.2),
        (FLEXIBLE_JOINT, 0.3),
        (FOUR_BAR, 0.1),
        (COOPERATING_ARMS, 0.05),
        (PLANAR_3RRR_FAST, 0.02),
    ] {
        let spec = shipped(text, duration_s);
        let exact = completed(in_tree(&by_dop853(&spec, 1e-10)));
        let errors = [1e-6, 1e-8].map(|tolerance| {
            let run = completed(in_tree(&by_esdirk(&spec, tolerance)));
            let drift = run.audit.energy.max_drift_percent;
            assert!(
                drift < 0.1,
                "{}: energy drifts by {drift} %",
                spec.name.as_deref().unwrap_or_default()
            );
            apart(&run, &exact)
        });
        assert!(
            errors[0] < 1e-4,
            "{}: {errors:?}",
            spec.name.as_deref().unwrap_or_default()
        );
        assert!(
            errors[1] < 1e-6,
            "{}: {errors:?}",
            spec.name.as_deref().unwrap_or_default()
        );
    }
}

/// An arm in the plane: a stiff gear with strong damping, feedback of high gain, and a boom that stretches under a heavy load.
const STIFF: &str = r#"
format = 1
name = "stiff arm"
gravity_m_per_s2 = [0, -9.81, 0]

[[body]]
name = "upper"
rigid = { mass_kg = 3.0, center_of_mass_m = [0.2, 0, 0], inertia_kg_m2 = [0.01, 0.2, 0.2] }

[[body]]
name = "boom"
damping.modal_ratio = 0.01
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 2e3
axial_stiffness_n = 1e7
basis.clamped_free = { bending_y = 2, stretch = 1 }

[[body]]
name = "load"
rigid = { mass_kg = 5.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }

[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
[joint.revolute]
axis = [0, 0, 1]
motor = { inertia_kg_m2 = 1e-4, gear_ratio = 100.0, stiffness_n_m_per_rad = 1e5, damping_n_m_s_per_rad = 1e4 }

[[joint]]
name = "elbow"
parent = { body = "upper", position_m = [0.4, 0, 0] }
child = "boom"
[joint.revolute]
axis = [0, 0, 1]
friction = { coulomb_n_m = 1.0, viscous_n_m_s_per_rad = 5e3 }

[[joint]]
name = "grip"
parent = "boom"
child = "load"
fixed = {}

[[input]]
joint = "shoulder"
rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.5, duration_s = 0.4 }

[[controller]]
name = "servo"
joints = ["shoulder"]
joint_pd = { position_gain = [2e3], rate_gain = [2e3] }

[simulation]
duration_s = 0.2
"#;

/// Cross-check and property: fast modes of bodies, gears, dampers and feedback do not set the steps, and the iteration converges in a few
/// sweeps. An explicit method spends more on a fortieth of the time.
#[test]
fn what_is_stiff_does_not_set_the_steps() {
    let spec = ModelSpec::parse(STIFF, &[]).unwrap();
    let mut exact = spec.clone();
    exact.simulation.integrator = IntegratorSpec::Radau(adaptive(1e-7, 1e-7));
    let exact = completed(in_tree(&exact));
    let implicit = completed(in_tree(&by_esdirk(&spec, 1e-5)));
    assert!(apart(&implicit, &exact) < 1e-5);
    let mut short = by_dop853(&spec, 1e-6);
    short.simulation.duration_s /= 40.0;
    let explicit = completed(in_tree(&short)).statistics;
    let implicit = implicit.statistics;
    assert!(
        10 * implicit.evaluations < explicit.evaluations,
        "{implicit:?} {explicit:?}"
    );
    // six stages a step
    let stages = 6 * (implicit.steps + implicit.rejected);
    assert!(implicit.iterations < 3 * stages, "{implicit:?}");
    assert_eq!(implicit.jacobians, 0);
}

/// Cross-check: nodes and elements have no sweep, and the stages go by tangents in nodal coordinates, without differences.
#[test]
fn elements_are_solved_by_tangents_of_their_own() {
    let spec = shipped(FLEXIBLE_JOINT, 0.1);
    let exact = completed(in_nodes(&by_dop853(&spec, 1e-9), 1));
    let run = completed(in_nodes(&by_esdirk(&spec, 1e-7), 1));
    assert!(apart(&run, &exact) < 1e-5);
    assert_eq!(run.statistics.jacobians, 0);
}

/// Identity: a state that was saved leads the same way again, to the last bit, and in several parts to the same end.
#[test]
fn a_saved_state_leads_the_same_way_again() {
    let spec = by_esdirk(&ModelSpec::parse(STIFF, &[]).unwrap(), 1e-5);
    let mechanism = tree_mechanism(&spec);
    let start = mechanism.start().unwrap();
    let integrator = spec.simulation.integrator;
    let mut stepped = Simulation::new(Arc::new(mechanism), &start, &integrator).unwrap();
    stepped.advance(0.05, Inputs::OfModel).unwrap();
    let saved = stepped.state();
    let ends = [(); 2].map(|()| {
        stepped.set_state(&saved).unwrap();
        stepped.advance(0.2, Inputs::OfModel).unwrap();
        stepped.state()
    });
    assert_eq!(ends[0], ends[1]);
    let whole = completed(in_tree(&spec)).last.unwrap();
    for (a, b) in whole.position.iter().zip(&ends[0].position) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
}

/// Growth, by counted steps: the stiffest element does not limit the steps of a beam on supports. Twice the elements make its fastest vibration
/// four times as fast, and an explicit method would take four times the steps.
#[test]
fn steps_on_supports_do_not_shrink_with_the_elements() {
    // half of that is left to what the finer mesh resolves of the motion besides
    const AS_MANY: f64 = 2.0;
    let steps = [12, 24].map(|elements| {
        let changes = [
            format!("body.beam.beam.basis.elements.count={elements}"),
            "simulation.duration_s=0.2".to_owned(),
        ];
        let spec = changed(SLIDING_BEAM, &changes.each_ref().map(String::as_str));
        completed(in_tree(&by_esdirk(&spec, 1e-6))).statistics.steps
    });
    assert!(
        (steps[1] as f64) < AS_MANY * steps[0] as f64,
        "{steps:?} steps"
    );
}
