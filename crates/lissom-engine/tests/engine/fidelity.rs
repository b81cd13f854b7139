//! Every combination of fidelity switches that is not refused runs, and those that keep all inertial terms
//! conserve energy: their accelerations are the derivatives of their velocities and their forces do the power
//! of their velocities.

use lissom_core::study::{Ending, Run};
use lissom_engine::Mechanism;
use lissom_engine::model::Model;
use lissom_spec::spec::FidelitySpec;
use lissom_spec::{Elasticity, Inertia, ModelSpec, ShorteningTerms, Tip};

use crate::models::{marker_at, parsed};
use crate::runs::{in_tree, samples};

/// A two-link arm that bends in both planes, stretches and twists, thrown without gravity.
const ARM: &str = r#"
format = 1
[[body]]
name = "upper"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 0.6
bending_stiffness_y_n_m2 = 30.0
bending_stiffness_z_n_m2 = 20.0
axial_stiffness_n = 3.0e4
torsional_stiffness_n_m2 = 12.0
section_inertia_y_kg_m = 2.0e-4
section_inertia_z_kg_m = 1.0e-4
basis.clamped_free = { bending_y = 1, bending_z = 1, stretch = 1, torsion = 1 }
[[body]]
name = "lower"
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 0.5
bending_stiffness_y_n_m2 = 20.0
bending_stiffness_z_n_m2 = 25.0
axial_stiffness_n = 2.0e4
basis.clamped_free = { bending_y = 1, bending_z = 1, stretch = 1 }
[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
revolute = { axis = [0.0, 0.2, 1.0], initial_rate_rad_per_s = 1.5 }
[[joint]]
name = "elbow"
parent = "upper"
child = "lower"
revolute = { axis = [0.1, 1.0, 0.3], initial_angle_rad = 0.7, initial_rate_rad_per_s = -1.0 }
[[marker]]
name = "hand"
body = "lower"
[simulation]
duration_s = 0.3
integrator.dop853 = { rtol = 1e-10, atol = 1e-13 }
[output]
sample_period_s = 0.001
"#;

const INERTIAS: [Inertia; 3] = [Inertia::Rigid, Inertia::HybridForces, Inertia::Full];
const TIPS: [Tip; 7] = [
    Tip::Rigid,
    Tip::Linear,
    Tip::Euler321,
    Tip::Euler123,
    Tip::Exact,
    Tip::RotationVector,
    Tip::Chord,
];
const STRAINS: [(Elasticity, ShorteningTerms); 7] = [
    (Elasticity::Linear, ShorteningTerms::None),
    (Elasticity::Linear, ShorteningTerms::Kinematic),
    (Elasticity::Linear, ShorteningTerms::SecondOrder),
    (Elasticity::ConstantAxialLoad, ShorteningTerms::None),
    (Elasticity::Full, ShorteningTerms::None),
    (Elasticity::Linear, ShorteningTerms::GeometricStiffness),
    (Elasticity::ThirdOrder, ShorteningTerms::None),
];

/// Drift of a run at rtol 1e-10, in percent of the peak energy.
const CONSERVED_PERCENT: f64 = 1e-6;

fn throw(fidelity: FidelitySpec) -> Run {
    let mut spec = parsed(ARM);
    spec.fidelity = fidelity;
    run_of(&spec)
}

fn run_of(spec: &ModelSpec) -> Run {
    spec.check().unwrap();
    in_tree(spec)
}

fn switches(inertia: Inertia, strain: (Elasticity, ShorteningTerms), tip: Tip) -> FidelitySpec {
    FidelitySpec {
        preset: None,
        inertia: Some(inertia),
        elasticity: Some(strain.0),
        shortening: Some(strain.1),
        tip: Some(tip),
    }
}

#[test]
fn every_legal_combination_runs() {
    for inertia in INERTIAS {
        for strain in STRAINS {
            for tip in TIPS {
                let fidelity = switches(inertia, strain, tip);
                let run = throw(fidelity);
                assert_eq!(run.ending, Ending::Completed, "{fidelity:?}");
                let hand = samples(&run.recording, "hand.position.x");
                assert!((hand[0] - hand[300]).abs() > 0.01, "{fidelity:?}");
                // a constant axial load has no energy, and truncated inertia no balance; a rigid tip sits
                // elsewhere than its velocity says, but does the work that its velocity says
                let balanced = inertia == Inertia::Full
                    && strain.0 != Elasticity::ConstantAxialLoad
                    && strain.1 != ShorteningTerms::GeometricStiffness;
                let energy = &run.audit.energy;
                assert_eq!(energy.non_conservative.is_empty(), balanced, "{fidelity:?}");
                let drift = energy.max_drift_percent;
                if balanced {
                    assert!(drift < CONSERVED_PERCENT, "{fidelity:?}: {drift} %");
                }
            }
        }
    }
}

/// Where the next body sits on a true rotation, its velocity is the derivative of its position.
#[test]
fn velocities_are_derivatives_of_positions_for_true_rotations() {
    // central differences over 1 ms of motions below 1e3 rad/s with amplitudes below 1e-2 m
    const DIFFERENCE: f64 = 2e-3;
    for tip in [
        Tip::Euler321,
        Tip::Euler123,
        Tip::Exact,
        Tip::RotationVector,
        Tip::Chord,
    ] {
        let run = throw(switches(Inertia::Full, STRAINS[0], tip));
        let channel = |name: &str| samples(&run.recording, name);
        let mut moved = 0.0_f64;
        for axis in ["x", "y", "z"] {
            let position = channel(&format!("hand.position.{axis}"));
            let velocity = channel(&format!("hand.velocity.{axis}"));
            for i in 1..position.len() - 1 {
                let slope = (position[i + 1] - position[i - 1]) / 0.002;
                assert!(
                    (slope - velocity[i]).abs() < DIFFERENCE,
                    "{tip:?} {axis} {i}"
                );
                moved = moved.max(velocity[i].abs());
            }
        }
        assert!(moved > 0.5);
    }
}

#[test]
fn the_axial_strain_is_not_counted_twice() {
    let mut spec = parsed(ARM);
    for elasticity in [
        Elasticity::Full,
        Elasticity::ThirdOrder,
        Elasticity::ConstantAxialLoad,
    ] {
        spec.fidelity = switches(
            Inertia::Full,
            (elasticity, ShorteningTerms::Kinematic),
            Tip::Linear,
        );
        let errors = spec.check().unwrap_err();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].path.to_string(), "fidelity.elasticity");
        assert!(errors[0].remedy().contains("shortening = \"none\""));
    }
}

/// Property: `check` tells that the strain energy to third order has no lower bound, of beams that bend and stretch.
#[test]
fn a_strain_energy_without_lower_bound_is_told() {
    let mut spec = parsed(ARM);
    let mut warned = |elasticity| {
        spec.fidelity = switches(
            Inertia::Full,
            (elasticity, ShorteningTerms::None),
            Tip::RotationVector,
        );
        let diagnosis = Mechanism::build(&spec).unwrap().diagnose();
        let warnings = diagnosis.warnings.iter().map(ToString::to_string);
        warnings
            .filter(|warning| warning.contains("no lower bound"))
            .count()
    };
    assert_eq!(warned(Elasticity::ThirdOrder), 2);
    assert_eq!(warned(Elasticity::Full), 0);
    assert_eq!(warned(Elasticity::ConstantAxialLoad), 0);
}

/// Property: tips that sit elsewhere than their velocity says have a balance without gravity and none with it, and
/// the audit says so exactly then.
#[test]
fn the_audit_says_which_terms_have_no_energy() {
    for tip in TIPS {
        let mut spec = parsed(ARM);
        spec.fidelity = switches(Inertia::Full, STRAINS[0], tip);
        spec.gravity_m_per_s2 = [0.0, -9.81, 0.0];
        let run = run_of(&spec);
        let energy = &run.audit.energy;
        let drifts = energy.max_drift_percent > CONSERVED_PERCENT;
        assert_eq!(drifts, matches!(tip, Tip::Rigid | Tip::Linear), "{tip:?}");
        assert_eq!(!energy.non_conservative.is_empty(), drifts, "{energy:?}");
    }
    let stiffened = throw(switches(Inertia::Full, STRAINS[5], Tip::Exact))
        .audit
        .energy;
    assert!(
        stiffened.max_drift_percent > CONSERVED_PERCENT,
        "{stiffened:?}"
    );
    assert_eq!(
        stiffened.non_conservative[0],
        "the geometric stiffness of body upper is that of no energy"
    );
}

/// Hand calculation: with chords the next body stands at the deflected node, turned by $`R_z(v/x) R_y(-w/x)`$ first
/// and by the frame of the joint after.
#[test]
fn chords_turn_by_deflection_over_distance() {
    // a dozen products of numbers near one
    const ROUNDING: f64 = 1e-13;
    const TWIST: f64 = 0.4;
    const ELBOW: f64 = 0.7;
    let text = ARM
        .replace(
            r#"parent = "upper""#,
            &format!(r#"parent = {{ body = "upper", rotation_vector_rad = [{TWIST}, 0, 0] }}"#),
        )
        .replace("axis = [0.1, 1.0, 0.3]", "axis = [0, 0, 1]");
    let mut spec = parsed(&text);
    spec.fidelity = switches(Inertia::Full, STRAINS[0], Tip::Chord);
    let model = Model::build(&spec).unwrap();
    let system = &model.linkage.system;
    let mut position = model.initial_position.clone();
    let first = system.layout().elastic_position[0];
    let amplitudes = [0.05, -0.08];
    position[first..first + 2].copy_from_slice(&amplitudes);
    let still = vec![0.0; system.velocity_count()];
    let found = marker_at(&model, &model.linkage.markers[0], &position, &still);

    let nodes = &system.bodies()[0].flexible.as_ref().unwrap().nodes;
    let node = nodes.iter().find(|node| node.position[0] == 1.0).unwrap();
    let v = amplitudes[0] * node.displacement[0][1];
    let w = amplitudes[1] * node.displacement[1][2];
    assert!(v.abs() > 0.05 && w.abs() > 0.05, "{v} {w}");
    // R_z(γ₂) R_y(−γ₃) R_x(twist) R_z(elbow) e_x, upper arm of length 1
    let (sin, cos) = ELBOW.sin_cos();
    let along = [cos, sin * TWIST.cos(), sin * TWIST.sin()];
    let (sin, cos) = w.sin_cos();
    let along = [
        cos * along[0] - sin * along[2],
        along[1],
        sin * along[0] + cos * along[2],
    ];
    let (sin, cos) = v.sin_cos();
    let along = [
        cos * along[0] - sin * along[1],
        sin * along[0] + cos * along[1],
        along[2],
    ];
    let expected = [1.0 + 0.8 * along[0], v + 0.8 * along[1], w + 0.8 * along[2]];
    for (found, expected) in found.pose.translation.0.iter().zip(expected) {
        assert!((found - expected).abs() < ROUNDING, "{found} {expected}");
    }
}

#[test]
fn chords_and_geometric_stiffness_need_a_clamped_beam() {
    let mut spec = parsed(ARM);
    spec.fidelity = switches(Inertia::Full, STRAINS[5], Tip::Chord);
    spec.check().unwrap();
    let free = "free_free = { bending_y = 1, bending_z = 1, stretch = 1 }";
    let text = ARM.replace(
        "clamped_free = { bending_y = 1, bending_z = 1, stretch = 1 }",
        free,
    );
    let mut spec = parsed(&text);
    spec.check().unwrap();
    spec.fidelity = switches(Inertia::Full, STRAINS[5], Tip::Chord);
    let errors = spec.check().unwrap_err();
    let told: Vec<String> = errors.iter().map(|e| format!("{}: {e}", e.path)).collect();
    assert_eq!(errors.len(), 2, "{told:?}");
    assert_eq!(errors[0].path.to_string(), "body[1]");
    assert!(
        errors[0].to_string().contains("which body lower is not"),
        "{told:?}"
    );
    assert!(errors[0].remedy().contains("tip = \"rotation_vector\""));
    assert!(errors[1].remedy().contains("shortening = \"none\""));
}

#[test]
fn a_body_may_have_its_own_fidelity() {
    let mut spec = parsed(ARM);
    spec.body[1].fidelity = Some(FidelitySpec {
        tip: Some(Tip::Linear),
        ..FidelitySpec::default()
    });
    let model = Model::build(&spec).unwrap();
    let bodies = model.linkage.system.bodies();
    assert_eq!(bodies[0].fidelity.tip, Tip::RotationVector);
    assert_eq!(bodies[1].fidelity.tip, Tip::Linear);
    assert_eq!(bodies[1].fidelity.shortening, ShorteningTerms::Kinematic);
}
