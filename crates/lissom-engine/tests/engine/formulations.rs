//! Tree and nodal formulation on the same models: they share the model file and nothing else.

use lissom_core::study::{Run, sample_instants};
use lissom_engine::model::Model;
use lissom_engine::nodal_model::NodalModelError;
use lissom_engine::simulate::Linearizer;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::UndampedModes;
use lissom_spec::spec::{GeneralizedAlphaSpec, IntegratorSpec};
use lissom_spec::{ErrorKind, ModelError, ModelSpec, TEMPLATE};
use nalgebra::DMatrix;
use std::f64::consts::PI;

use crate::models::{changed, driven_arm, nodal_model, parsed};
use crate::numbers::distance;
use crate::runs::{
    assert_alike, assert_same_channels, completed, nodal_mechanism, nominal_point, tree_mechanism,
    value_at,
};
use crate::shipped::{SLIDING_LINKS, SPACE_ARM, SPIN_UP_BEAM};

/// Step of the nodal runs: a thirtieth of the shortest period that matters.
const STEP_S: f64 = 2e-3;

fn run_tree(spec: &ModelSpec, instants: &[f64]) -> Run {
    completed(tree_mechanism(spec).run(&sample_instants(spec, instants)))
}

fn run_nodes(spec: &ModelSpec, elements: usize, instants: &[f64]) -> Run {
    completed(nodal_mechanism(spec, elements).run(&sample_instants(spec, instants)))
}

/// Positions of a marker.
fn places(run: &Run, marker: &str, instants: &[f64]) -> Vec<[f64; 3]> {
    let place = |&time: &f64| {
        ["x", "y", "z"]
            .map(|axis| value_at(&run.recording, &format!("{marker}.position.{axis}"), time))
    };
    instants.iter().map(place).collect()
}

fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let distances = a.iter().zip(b).map(|(&a, &b)| distance(a, b));
    distances.fold(0.0, f64::max)
}

/// A shoulder and an elbow, links that bend in both planes and twist.
fn arm(modes: usize) -> ModelSpec {
    let beam = format!(
        "bending_stiffness_y_n_m2 = 120.0\nbending_stiffness_z_n_m2 = 180.0\n\
         torsional_stiffness_n_m2 = 60.0\n\
         section_inertia_y_kg_m = 2e-4\nsection_inertia_z_kg_m = 2e-4\n\
         basis.clamped_free = {{ bending_y = {modes}, bending_z = {modes}, torsion = {modes} }}"
    );
    let arm = driven_arm(
        [0.0, 0.0, -9.81],
        ["[0, 0, 1]", "[0, 1, 0]"],
        &beam,
        "final_angle_rad = 1.1, duration_s = 0.8",
    );
    parsed(&format!(
        "{arm}[simulation]\nduration_s = 0.4\nintegrator.radau = {{ rtol = 1e-6, atol = 1e-8 }}\n"
    ))
}

/// Two formulations: an arm in space that sags and swings by a fifth of its length. The tree keeps
/// deformation to second order in slopes of a fifth, so that a hundredth of the deflection is at stake.
#[test]
fn flexible_arm_in_space() {
    const AGREEMENT_M: f64 = 0.01;
    let instants = [0.2, 0.4];
    let spec = arm(3);
    let tree = places(&run_tree(&spec, &instants), "hand", &instants);
    let nodes = places(&run_nodes(&spec, 2, &instants), "hand", &instants);
    let difference = apart(&tree, &nodes);
    assert!(difference < AGREEMENT_M, "{tree:?} {nodes:?}");
}

/// Two formulations: the beam of Simo & Vu-Quoc on its way up. Three modes without stretch against eight
/// elements: half a per cent of the deflection of 0.47 m.
#[test]
fn spin_up_beam() {
    const AGREEMENT_M: f64 = 0.005 * 0.47;
    let mut spec = parsed(SPIN_UP_BEAM);
    spec.simulation.duration_s = 5.0;
    let instants = [2.0, 5.0];
    let tree = places(&run_tree(&spec, &instants), "tip", &instants);
    spec.simulation.integrator = IntegratorSpec::GeneralizedAlpha(GeneralizedAlphaSpec {
        step_s: STEP_S,
        spectral_radius: 0.8,
        tolerance: 1e-6,
    });
    let nodes = places(&run_nodes(&spec, 8, &instants), "tip", &instants);
    assert!(apart(&tree, &nodes) < AGREEMENT_M, "{tree:?} {nodes:?}");
}

/// Rigid bodies on every joint there is, with gears, springs, friction, inputs of all kinds and gravity.
const RIGID: &str = r#"
format = 1
gravity_m_per_s2 = [0.3, -0.4, -9.81]

[[body]]
name = "base"
rigid = { mass_kg = 4.0, center_of_mass_m = [0.1, 0.0, 0.05], inertia_kg_m2 = [0.3, 0.4, 0.5], products_of_inertia_kg_m2 = [0.01, -0.02, 0.03] }
node = [{ name = "top", position_m = [0.2, 0.1, 0.3] }]

[[body]]
name = "mast"
rigid = { mass_kg = 2.0, center_of_mass_m = [0.3, 0.1, 0.0], inertia_kg_m2 = [0.05, 0.1, 0.1] }

[[body]]
name = "fork"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.2, 0.0, 0.1], inertia_kg_m2 = [0.02, 0.03, 0.03] }

[[body]]
name = "hand"
rigid = { mass_kg = 0.7, center_of_mass_m = [0.1, 0.05, 0.0], inertia_kg_m2 = [0.01, 0.02, 0.015] }

[[body]]
name = "arm"
rigid = { mass_kg = 1.5, center_of_mass_m = [0.25, 0.0, 0.0], inertia_kg_m2 = [0.02, 0.05, 0.05] }

[[body]]
name = "wheel"
rigid = { mass_kg = 0.4, inertia_kg_m2 = [0.01, 0.01, 0.02] }

[[joint]]
name = "float"
parent = { body = "ground", position_m = [0.5, 0.0, 0.2], rotation_vector_rad = [0.1, 0.2, 0.3] }
child = "base"
[joint.free]
initial_position_m = [0.1, 0.2, 0.3]
initial_rotation_vector_rad = [0.2, -0.1, 0.4]
initial_velocity_m_per_s = [0.3, -0.2, 0.1]
initial_angular_velocity_rad_per_s = [0.4, 0.3, -0.5]

[[joint]]
name = "lift"
parent = { body = "base", at = "top", rotation_vector_rad = [0.0, 0.3, 0.0] }
child = { body = "mast", rotation_vector_rad = [0.1, 0.0, 0.2] }
[joint.prismatic]
axis = [0.0, 0.3, 1.0]
initial_displacement_m = 0.1
initial_rate_m_per_s = 0.2
spring = { stiffness_n_per_m = 200.0, damping_n_s_per_m = 3.0, rest_displacement_m = 0.2 }
motor = { inertia_kg_m2 = 1e-3, gear_ratio_rad_per_m = 20.0 }

[[joint]]
name = "gimbal"
parent = { body = "mast", position_m = [0.6, 0.1, 0.0] }
child = { body = "fork", position_m = [-0.1, 0.0, 0.0] }
[joint.universal.first]
axis = [0.0, 1.0, 0.0]
initial_angle_rad = 0.3
initial_rate_rad_per_s = -0.4
[joint.universal.second]
axis = [0.0, 0.2, 1.0]
initial_angle_rad = -0.2
friction = { viscous_n_m_s_per_rad = 0.05, coulomb_n_m = 0.1, coulomb_rate_rad_per_s = 0.1 }

[[joint]]
name = "ball"
parent = { body = "fork", position_m = [0.4, 0.0, 0.0] }
child = "hand"
[joint.spherical]
initial_rotation_vector_rad = [0.1, 0.3, -0.2]
initial_angular_velocity_rad_per_s = [0.5, -0.3, 0.2]

[[joint]]
name = "swing"
parent = "base"
child = "arm"
[joint.revolute]
axis = [0.0, 1.0, 0.2]
initial_angle_rad = 0.4
motor = { inertia_kg_m2 = 1e-4, gear_ratio = 30.0 }
limits = { max_rate_rad_per_s = 0.1 }

[[joint]]
name = "spin"
parent = { body = "arm", position_m = [0.5, 0.0, 0.0] }
child = "wheel"
[joint.revolute]
axis = [1.0, 0.0, 0.0]
friction = { viscous_n_m_s_per_rad = 0.01 }

[[payload]]
name = "load"
body = "hand"
position_m = [0.2, 0.0, 0.0]
mass_kg = 0.3
center_of_mass_m = [0.05, 0.0, 0.02]
inertia_kg_m2 = [1e-3, 2e-3, 2e-3]

[[marker]]
name = "tool"
body = "hand"
position_m = [0.3, 0.0, 0.1]

[[input]]
joint = "float"
component = 2
torque_constant = { value_n_m = 1.5 }

[[input]]
joint = "float"
component = 6
force_sines = { amplitude_n = [30.0], frequency_rad_per_s = [4.0] }

[[input]]
joint = "ball"
component = 3
torque_constant = { value_n_m = 0.02 }

[[input]]
joint = "swing"
rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.9, duration_s = 0.5 }

[[input]]
marker = "tool"
direction = [1.0, 2.0, 0.0]
frame = "body"
force_step = { value_n = 2.0, from_s = 0.1, until_s = 0.3 }

[[input]]
marker = "tool"
direction = [0.0, 0.0, 1.0]
torque_constant = { value_n_m = 0.05 }

[[motion]]
joint = "spin"
cycloidal_rate = { final_rate_rad_per_s = 8.0, duration_s = 0.3 }

[simulation]
duration_s = 0.5
integrator.dop853 = { rtol = 1e-10, atol = 1e-11 }
"#;

/// Two formulations: rigid bodies leave nothing out in either, so that every channel agrees as well as both were
/// integrated.
#[test]
fn rigid_bodies_agree_on_every_joint() {
    // a hundred steps at a relative tolerance of 1e-10, with a motion that grows by less than tenfold
    const AGREEMENT: f64 = 1e-7;
    let spec = parsed(RIGID);
    let (tree, nodes) = (run_tree(&spec, &[]), run_nodes(&spec, 1, &[]));
    assert_same_channels(&tree, &nodes);
    assert_alike(&tree, &nodes, AGREEMENT);
    let [a, b] = [&tree, &nodes].map(|run| &run.audit.limit_violations[..]);
    assert_eq!((a.len(), b.len()), (1, 1));
    assert!((a[0].worst - b[0].worst).abs() < AGREEMENT);
    assert!(nodes.audit.energy.max_drift_percent < 1e-6);
}

/// Conservation: a free-floating flexible arm keeps its momentum, and its energy but for what its inputs do.
#[test]
fn a_floating_arm_keeps_energy_and_momentum() {
    // percent of the peak: a relative tolerance of 1e-9 over some thousand steps
    const BALANCE_PERCENT: f64 = 1e-4;
    const KEPT: f64 = 1e-7;
    let mut spec = parsed(SPACE_ARM);
    spec.simulation.duration_s = 0.3;
    for body in &mut spec.body {
        body.damping = None;
    }
    let run = run_nodes(&spec, 1, &[]);
    let momentum = run.audit.momentum.as_ref().expect("nothing holds it");
    assert!(momentum.linear_drift_kg_m_per_s < KEPT, "{momentum:?}");
    assert!(momentum.angular_drift_kg_m2_per_s < KEPT, "{momentum:?}");
    let energy = &run.audit.energy;
    assert!(energy.max_drift_percent < BALANCE_PERCENT, "{energy:?}");
}

/// Property: what the nodal formulation does not know is refused by name, all of it at once.
#[test]
fn what_is_not_known_is_named() {
    let spec = parsed(SLIDING_LINKS);
    let errors = nodal_model(&spec, 2).unwrap_err();
    let support = |error: &NodalModelError| matches!(error, NodalModelError::Unknown { what, .. } if what.contains("slides through"));
    assert!(errors.iter().any(support), "{errors:?}");
    for error in &errors {
        let message = String::new();
        let at = ModelError::new(error.path(), ErrorKind::Unreadable { message });
        assert!(at.locate(SLIDING_LINKS).is_some(), "{error}");
    }
}

/// Closed form: n torsion functions of a clamped beam, sin (2k − 1)πx/2l, hold the part Σ 8/π²(2k − 1)² of its static
/// compliance. An element holds all of it: the squared frequency of an inertia at the tip is too high in the tree by
/// that part, a tenth of the frequency with one function, and the difference falls as 1/n.
#[test]
fn an_arm_that_twists() {
    // inertia of the beam over that of the payload
    const LIGHT: f64 = 2e-4;
    let square = |mass: &DMatrix<f64>, stiffness: &DMatrix<f64>| {
        UndampedModes::new(mass, stiffness).unwrap().squares[0]
    };
    let found = |functions: usize| {
        let text = format!(
            "format = 1\n[[body]]\nname = \"arm\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 0.5\n\
             torsional_stiffness_n_m2 = 60.0\nsection_inertia_y_kg_m = 1e-6\nsection_inertia_z_kg_m = 1e-6\n\
             basis.clamped_free.torsion = {functions}\n[[joint]]\nname = \"wall\"\nparent = \"ground\"\n\
             child = \"arm\"\nfixed = {{}}\n[[payload]]\nname = \"wheel\"\nbody = \"arm\"\nmass_kg = 0.1\n\
             inertia_kg_m2 = [1e-2, 1e-2, 1e-2]\n"
        );
        let spec = parsed(&text);
        let model = Model::build(&spec).unwrap();
        let mut linearizer = Linearizer::new(&model);
        let state = linearizer.nominal_state(0.0).unwrap();
        let tree = linearizer
            .trajectory(&[state], &mut |_| Flow::Continue)
            .unwrap();
        let tree = &tree.points()[0].linear;
        let nodal = nodal_model(&spec, 1).unwrap();
        let nodes = nominal_point(&nodal, 0.0);
        square(&nodes.linear.mass, &nodes.linear.stiffness())
            / square(&tree.mass, &tree.stiffness())
    };
    for functions in [1_u8, 2, 4, 8] {
        let odd = (1..=functions).map(|k| f64::from(2 * k - 1));
        let held: f64 = odd.map(|k| 8.0 / (PI * k).powi(2)).sum();
        let part = found(usize::from(functions));
        assert!((part - held).abs() < LIGHT, "{functions}: {part} {held}");
        // the tail of the sum is 2/π²n to the order of 1/n²
        let n = f64::from(functions);
        let missing = (1.0 - part) * n * PI * PI / 2.0;
        assert!((missing - 1.0).abs() < 1.0 / (12.0 * n * n) + n * 5.0 * LIGHT);
    }
    let slower = found(1).sqrt();
    assert!((1.0 - slower - 0.1).abs() < 0.01, "{slower}");
}

/// Closed form: sections that bending does not tilt still resist the rotation of their beam as a whole, with torsion or without, in both
/// formulations.
#[test]
fn sections_that_do_not_tilt_turn_with_their_beam() {
    const ROUNDING: f64 = 1e-12;
    for (torsion, axis) in [
        (0, [0.0, 0.0, 1.0]),
        (1, [0.0, 0.0, 1.0]),
        (0, [0.6, 0.0, 0.8]),
        (1, [0.6, 0.0, 0.8]),
    ] {
        let text = format!(
            "format = 1\n[[body]]\nname = \"beam\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 1.0\n\
             bending_stiffness_y_n_m2 = 1e4\ntorsional_stiffness_n_m2 = 1e4\nsection_inertia_y_kg_m = 0.06\n\
             section_inertia_z_kg_m = 0.01\nrotary_inertia = false\n\
             basis.clamped_free = {{ bending_y = 3, torsion = {torsion} }}\n[[joint]]\nname = \"hub\"\nparent = \"ground\"\n\
             child = \"beam\"\nrevolute = {{ axis = {axis:?} }}\n"
        );
        let spec = parsed(&text);
        let model = Model::build(&spec).unwrap();
        let mut linearizer = Linearizer::new(&model);
        let state = linearizer.nominal_state(0.0).unwrap();
        let tree = linearizer
            .trajectory(&[state], &mut |_| Flow::Continue)
            .unwrap();
        let nodes = nominal_point(&nodal_model(&spec, 4).unwrap(), 0.0);
        // of a thin rod about its end and of its sections, and of sections about the axis
        let expected = (1.0 / 3.0 + 0.06) * axis[2] * axis[2] + 0.07 * axis[0] * axis[0];
        for mass in [&tree.points()[0].linear.mass, &nodes.linear.mass] {
            let found = mass[(0, 0)];
            assert!(
                (found - expected).abs() < ROUNDING,
                "{torsion} {axis:?}: {found} {expected}"
            );
        }
    }
}

/// By construction: near rest, where forces of stiff elements cancel but for rounding, steps of any length begin a run.
#[test]
fn fixed_steps_begin_near_rest_whatever_their_length() {
    for step in [1e-3, 1.25e-4, 1e-5] {
        let integrator = format!("simulation.integrator={{generalized_alpha={{step_s={step}}}}}");
        let duration = format!("simulation.duration_s={}", 10.0 * step);
        let spec = changed(TEMPLATE, &[&integrator, &duration]);
        let run = completed(nodal_mechanism(&spec, 8).run(&[0.0]));
        assert!(run.statistics.steps >= 10, "{step}");
    }
}
