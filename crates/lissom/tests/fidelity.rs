//! Every combination of fidelity switches that is not refused runs, and those that keep all inertial terms
//! conserve energy: their accelerations are the derivatives of their velocities and their forces do the power
//! of their velocities.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use lissom::integrate::Flow;
use lissom::model::spec::FidelitySpec;
use lissom::model::{Elasticity, Inertia, Model, ModelSpec, ShorteningTerms, Tip};
use lissom::simulate::{Ending, Run, run, sample_instants};

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
const TIPS: [Tip; 6] = [
    Tip::Rigid,
    Tip::Linear,
    Tip::Euler321,
    Tip::Euler123,
    Tip::Exact,
    Tip::RotationVector,
];
const STRAINS: [(Elasticity, ShorteningTerms); 5] = [
    (Elasticity::Linear, ShorteningTerms::None),
    (Elasticity::Linear, ShorteningTerms::Kinematic),
    (Elasticity::Linear, ShorteningTerms::SecondOrder),
    (Elasticity::ConstantAxialLoad, ShorteningTerms::None),
    (Elasticity::Full, ShorteningTerms::None),
];

/// Drift of a run at rtol 1e-10, in percent of the peak energy.
const CONSERVED_PERCENT: f64 = 1e-6;

fn throw(fidelity: FidelitySpec) -> Run {
    let mut spec = ModelSpec::parse(ARM, &[]).unwrap();
    spec.fidelity = fidelity;
    spec.check().unwrap();
    let model = Model::build(&spec).unwrap();
    let samples = sample_instants(&spec, &[]);
    run(&model, &spec.simulation, &samples, None, &mut |_| {
        Flow::Continue
    })
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
                let hand = run.recording.channel("hand.position.x").unwrap();
                assert!(
                    (hand.samples[0] - hand.samples[300]).abs() > 0.01,
                    "{fidelity:?}"
                );
                // a constant axial load has no energy, and truncated inertia no balance; a rigid tip sits
                // elsewhere than its velocity says, but does the work that its velocity says
                let balanced =
                    inertia == Inertia::Full && strain.0 != Elasticity::ConstantAxialLoad;
                let drift = run.audit.energy.max_drift_percent;
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
    ] {
        let run = throw(switches(Inertia::Full, STRAINS[0], tip));
        let channel = |name: &str| &run.recording.channel(name).unwrap().samples;
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
    let mut spec = ModelSpec::parse(ARM, &[]).unwrap();
    for elasticity in [Elasticity::Full, Elasticity::ConstantAxialLoad] {
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

#[test]
fn a_body_may_have_its_own_fidelity() {
    let mut spec = ModelSpec::parse(ARM, &[]).unwrap();
    spec.body[1].fidelity = Some(FidelitySpec {
        tip: Some(Tip::Linear),
        ..FidelitySpec::default()
    });
    let model = Model::build(&spec).unwrap();
    let bodies = model.system.bodies();
    assert_eq!(bodies[0].fidelity.tip, Tip::RotationVector);
    assert_eq!(bodies[1].fidelity.tip, Tip::Linear);
    assert_eq!(bodies[1].fidelity.shortening, ShorteningTerms::Kinematic);
}
