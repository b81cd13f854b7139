//! Controllers, paths of markers and loads in the feedforward in both formulations: they share the model file and the law of the
//! feedback, not how the nominal motion, its forces and its mass matrix are found.

use lissom_core::NominalError;
use lissom_core::study::{AnalysisError, Ending, LinearizeError, OperatingPoint};
use lissom_engine::nodal_model::NodalModelError;
use lissom_numerics::integrate::Flow;
use lissom_spec::{ErrorKind, ModelSpec};

use crate::models::{driven_arm, nodal_model, parsed};
use crate::numbers::{distance, largest};
use crate::runs::{
    assert_alike, assert_same_channels, completed, in_nodes, in_tree, last, nodal_mechanism,
    samples, vector,
};

/// A rigid robot that turns, lifts and reaches, whose hand follows a path against springs, friction and known loads, off its nominal trajectory
/// at the start and pushed by a load that nobody counts on.
const POLAR: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]

[[body]]
name = "column"
rigid = { mass_kg = 4.0, center_of_mass_m = [0.1, 0.0, 0.2], inertia_kg_m2 = [0.3, 0.4, 0.2] }
node = [{ name = "top", position_m = [0.0, 0.0, 0.5] }]

[[body]]
name = "boom"
rigid = { mass_kg = 2.0, center_of_mass_m = [0.3, 0.1, 0.0], inertia_kg_m2 = [0.05, 0.1, 0.1] }

[[body]]
name = "slide"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.2, 0.0, 0.1], inertia_kg_m2 = [0.02, 0.03, 0.03] }

[[joint]]
name = "yaw"
parent = "ground"
child = "column"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 0.1
friction = { viscous_n_m_s_per_rad = 0.2 }
limits = { max_torque_n_m = 2.0 }

[[joint]]
name = "lift"
parent = { body = "column", at = "top" }
child = "boom"
[joint.revolute]
axis = [0.0, -1.0, 0.0]
initial_angle_rad = 0.3
initial_rate_rad_per_s = 0.4
spring = { stiffness_n_m_per_rad = 5.0, rest_angle_rad = 0.5, damping_n_m_s_per_rad = 0.1 }
motor = { inertia_kg_m2 = 1e-4, gear_ratio = 50.0 }

[[joint]]
name = "reach"
parent = "boom"
child = "slide"
prismatic = { axis = [1.0, 0.0, 0.0], initial_displacement_m = 0.4 }

[[marker]]
name = "hand"
body = "slide"
position_m = [0.5, 0.0, 0.0]

[nominal_motion]
marker = "hand"
x.cycloid = { final_displacement_m = 0.3, duration_s = 0.5 }
y.cycloidal_ramps = { final_displacement_m = 0.6, duration_s = 0.5, ramp_s = 0.2 }
z.polynomial = { coefficients_m = [0.7659681859952056, 0.0, 0.9] }

[[input]]
joint = "yaw"
nominal_motion = true

[[input]]
joint = "lift"
nominal_motion = true

[[input]]
joint = "reach"
nominal_motion = true

[[input]]
marker = "hand"
direction = [0.2, 0.1, -1.0]
force_cycloid = { final_n = 12.0, duration_s = 0.4 }
in_feedforward = true

[[input]]
marker = "hand"
direction = [1.0, 0.5, 0.0]
frame = "body"
torque_sines = { amplitude_n_m = [2.0], frequency_rad_per_s = [9.0] }
in_feedforward = true

[[input]]
marker = "hand"
direction = [0.0, 1.0, 0.0]
force_constant = { value_n = 3.0 }

[[controller]]
name = "polar"
joints = ["yaw", "lift"]
computed_pd = { frequency_rad_per_s = 8.0, damping_ratio = 0.7 }

[[controller]]
name = "linear"
joints = ["reach"]
joint_pd = { position_gain = [400.0], rate_gain = [30.0] }

[simulation]
duration_s = 0.6
integrator.dop853 = { rtol = 1e-10, atol = 1e-11 }

[output]
sample_period_s = 0.05
"#;

/// Two formulations: rigid bodies leave nothing out in either, so that every channel agrees as well as both were
/// integrated, torques of controllers and limits among them.
#[test]
fn a_rigid_robot_tracks_a_path_with_its_hand() {
    // a hundred steps at a relative tolerance of 1e-10, with a motion that does not grow
    const AGREEMENT: f64 = 1e-7;
    let spec = parsed(POLAR);
    let (tree, nodes) = (completed(in_tree(&spec)), completed(in_nodes(&spec, 1)));
    assert_same_channels(&tree, &nodes);
    assert_alike(&tree, &nodes, AGREEMENT);
    let largest = |channel: &str| largest(samples(&nodes.recording, channel));
    for torque in [
        "polar.yaw.torque",
        "polar.lift.torque",
        "linear.reach.force",
    ] {
        assert!(largest(torque) > 0.1, "{torque}");
    }
    let [a, b] = [&tree, &nodes].map(|run| &run.audit.limit_violations[..]);
    assert_eq!((a.len(), b.len()), (1, 1));
    // the limit is on all that drives the joint
    let driven = samples(&nodes.recording, "yaw.torque").iter();
    let driven = driven.zip(samples(&nodes.recording, "polar.yaw.torque"));
    let most = driven.fold(0.0_f64, |most, (u, v)| most.max((u + v).abs()));
    for violation in [&a[0], &b[0]] {
        assert!(violation.worst.abs() >= most - AGREEMENT, "{violation:?}");
    }
    for run in [&tree, &nodes] {
        assert!(run.audit.energy.max_drift_percent < 1e-6, "{:?}", run.audit);
    }
}

/// Closed form: known loads alone, counted on, leave a robot on its path; one that is not takes it off.
#[test]
fn loads_in_the_feedforward_do_not_disturb() {
    // what the integrator leaves, and gravity's torque through an error of the position
    const ON_COURSE_M: f64 = 1e-7;
    let quiet = POLAR
        .replace("initial_rate_rad_per_s = 0.4\n", "")
        .replace("value_n = 3.0", "value_n = 0.0");
    let spec = parsed(&quiet);
    for run in [in_tree(&spec), in_nodes(&spec, 1)] {
        assert_eq!(run.ending, Ending::Completed);
        for (time, z) in
            (run.recording.time_s.iter()).zip(samples(&run.recording, "hand.position.z"))
        {
            let wanted = 0.765_968_185_995_205_6 + 0.9 * time * time;
            assert!((z - wanted).abs() < ON_COURSE_M, "{time}: {z} {wanted}");
        }
    }
    let unknown = parsed(&quiet.replacen("in_feedforward = true\n", "", 1));
    for run in [in_tree(&unknown), in_nodes(&unknown, 1)] {
        let last = last(&run.recording, "hand.position.z") - 0.765_968_185_995_205_6;
        assert!((last - 0.9 * 0.36).abs() > 1e-3, "{last}");
    }
}

/// Three rigid links in a plane, whose last follows a path and an angle.
const PLANAR: &str = r#"
format = 1
[[body]]
name = "upper"
rigid = { mass_kg = 2.0, center_of_mass_m = [0.3, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.1, 0.1] }
node = [{ name = "end", position_m = [0.6, 0.0, 0.0] }]
[[body]]
name = "fore"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.05, 0.05] }
node = [{ name = "end", position_m = [0.5, 0.0, 0.0] }]
[[body]]
name = "hand"
rigid = { mass_kg = 0.5, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.02, 0.02] }
[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
revolute = { axis = [0, 0, 1], initial_angle_rad = 0.4 }
[[joint]]
name = "elbow"
parent = { body = "upper", at = "end" }
child = "fore"
revolute = { axis = [0, 0, 1], initial_angle_rad = 0.9 }
[[joint]]
name = "wrist"
parent = { body = "fore", at = "end" }
child = "hand"
revolute = { axis = [0, 0, 1], initial_angle_rad = -0.5 }
[[marker]]
name = "grip"
body = "hand"
position_m = [0.2, 0.0, 0.0]
[nominal_motion]
marker = "grip"
x.cycloid = { final_displacement_m = 0.4, duration_s = 0.5 }
y.cycloid = { final_displacement_m = 0.9, duration_s = 0.5 }
rotation.cycloid = { final_angle_rad = 1.7, duration_s = 0.5 }
[[input]]
joint = "shoulder"
nominal_motion = true
[[input]]
joint = "elbow"
nominal_motion = true
[[input]]
joint = "wrist"
nominal_motion = true
[[controller]]
name = "servo"
joints = ["wrist", "shoulder", "elbow"]
computed_pd = { frequency_rad_per_s = 10.0, damping_ratio = 0.9 }
[simulation]
duration_s = 0.5
integrator.dop853 = { rtol = 1e-10, atol = 1e-11 }
[output]
sample_period_s = 0.1
"#;

/// Two formulations, and where the grip has to be in the end.
#[test]
fn a_planar_arm_tracks_place_and_angle() {
    // as for the robot in space
    const AGREEMENT: f64 = 1e-7;
    let spec = parsed(PLANAR);
    let (tree, nodes) = (completed(in_tree(&spec)), completed(in_nodes(&spec, 1)));
    assert_same_channels(&tree, &nodes);
    assert_alike(&tree, &nodes, AGREEMENT);
    let last = |channel: &str| last(&nodes.recording, channel);
    assert!((last("grip.position.x") - 0.4).abs() < AGREEMENT);
    assert!((last("grip.position.y") - 0.9).abs() < AGREEMENT);
    let turned = last("shoulder.angle") + last("elbow.angle") + last("wrist.angle");
    assert!((turned - 1.7).abs() < AGREEMENT, "{turned}");
}

/// Property: a path that cannot be followed or driven is refused, at the start or where it leaves the reach.
#[test]
fn a_path_that_cannot_be_followed_is_refused() {
    let refused = |text: &str| {
        let nodal = nodal_model(&parsed(text), 1);
        match nodal.unwrap_err().remove(0) {
            NodalModelError::NominalMotion(error) => error,
            other => panic!("{other}"),
        }
    };
    let far = PLANAR.replace(
        "x.cycloid = {",
        "x.cycloid = { initial_displacement_m = 3.0,",
    );
    let unreachable = refused(&far);
    assert!(
        matches!(
            unreachable,
            NominalError::Unreachable { .. }
                | NominalError::Undetermined { .. }
                | NominalError::Unplaced { .. }
        ),
        "{unreachable:?}"
    );
    let open = PLANAR.replace(
        "rotation.cycloid = { final_angle_rad = 1.7, duration_s = 0.5 }\n",
        "",
    );
    assert_eq!(refused(&open), NominalError::Undetermined { left: 1 });
    let undriven = PLANAR.replacen(
        "[[input]]\njoint = \"wrist\"\nnominal_motion = true\n",
        "",
        1,
    );
    assert_eq!(
        refused(&undriven),
        NominalError::UnderActuated {
            drives: 2,
            driven: 2,
            freedom: 3
        }
    );
    // out of reach on the way
    let leaving = PLANAR.replace("final_displacement_m = 0.9", "final_displacement_m = 1.9");
    let spec = parsed(&leaving);
    let mechanism = nodal_mechanism(&spec, 1);
    let watch = &mut |_| Flow::Continue;
    let found = mechanism.linearize(
        &mechanism.start().unwrap(),
        OperatingPoint::Nominal,
        &[0.0, 0.5],
        watch,
    );
    match found.unwrap_err() {
        AnalysisError::Linearize(LinearizeError::Nominal(_)) => {}
        other => panic!("{other}"),
    }
}

/// A shoulder and an elbow in space with links that bend and twist, moved as a rigid arm would be.
fn flexible_arm(controllers: &str) -> ModelSpec {
    let beam = "bending_stiffness_y_n_m2 = 1200.0\nbending_stiffness_z_n_m2 = 1800.0\n\
                torsional_stiffness_n_m2 = 600.0\n\
                section_inertia_y_kg_m = 2e-4\nsection_inertia_z_kg_m = 2e-4\n\
                basis.elements = { count = 1 }";
    let arm = driven_arm(
        [0.0, 0.0, -9.81],
        ["[0, 0, 1]", "[0, 1, 0]"],
        beam,
        "final_angle_rad = 1.1, duration_s = 0.8",
    );
    parsed(&format!(
        "{arm}{controllers}\n\
         [simulation]\nduration_s = 0.2\nintegrator.radau = {{ rtol = 1e-6, atol = 1e-8 }}\n\
         [output]\nsample_period_s = 0.2\n"
    ))
}

/// Two formulations: the flexible arm without feedback and with it. Both have the same elements; what is left are
/// squares of slopes, a ten-thousandth of deflections of some centimetres. Without feedback nothing holds the joints, and
/// what bends them apart adds up.
#[test]
fn a_flexible_arm_under_feedback() {
    const CLOSED_M: f64 = 1e-5;
    const OPEN_M: f64 = 1e-4;
    // what that is worth to gains of some 400 N m/rad and 60 N m s/rad, at some ten radians per second
    const TORQUE_N_M: f64 = 1e-2;
    let laws = [
        "",
        "computed_pd = { frequency_rad_per_s = 12.0, damping_ratio = 0.85 }",
    ];
    for law in laws {
        let controller = if law.is_empty() {
            String::new()
        } else {
            format!(
                "\n[[controller]]\nname = \"servo\"\njoints = [\"upper_joint\", \"fore_joint\"]\n{law}\n"
            )
        };
        let spec = flexible_arm(&controller);
        let (tree, nodes) = (in_tree(&spec), in_nodes(&spec, 1));
        for run in [&tree, &nodes] {
            assert_eq!(run.ending, Ending::Completed);
        }
        let [a, b] = [&tree, &nodes].map(|run| vector(&run.recording, "hand.position", 1));
        let allowed = if law.is_empty() { OPEN_M } else { CLOSED_M };
        assert!(distance(a, b) < allowed, "{law}: {a:?} {b:?}");
        for joint in ["upper_joint", "fore_joint"] {
            if law.is_empty() {
                continue;
            }
            let channel = format!("servo.{joint}.torque");
            let (a, b) = (
                samples(&tree.recording, &channel)[1],
                samples(&nodes.recording, &channel)[1],
            );
            assert!((a - b).abs() < TORQUE_N_M, "{law} {joint}: {a} {b}");
            assert!(b.abs() > 10.0 * TORQUE_N_M, "{law} {joint}: {b}");
        }
    }
}

/// A rigid beam on an actuated hinge, in nodes and elements, whose angle follows a motion.
const HUB: &str = r#"
format = 1
[[node]]
name = "ground"
planar_angle = { role = "fixed" }
[[node]]
name = "axle"
planar_point = { position_m = [0.0, 0.0], roles = ["fixed", "fixed"] }
[[node]]
name = "hub_angle"
planar_angle = { angle_rad = 0.2, inertia_kg_m2 = 0.1 }
[[node]]
name = "tip"
planar_point = { position_m = [0.98, 0.2], mass_kg = 2.0 }
[[node]]
name = "tip_angle"
planar_angle = { angle_rad = 0.2 }
[[element]]
name = "hub"
hinge = { from = "ground", to = "hub_angle", role = "actuated" }
[[element]]
name = "arm"
[element.rigid_beam]
from = { point = "axle", orientation = "hub_angle" }
to = { point = "tip", orientation = "tip_angle" }
[nominal_motion]
marker = "hub_angle"
rotation.cycloid = { final_angle_rad = 1.0, duration_s = 0.5 }
[[input]]
joint = "hub"
nominal_motion = true
[[input]]
marker = "tip"
direction = [0.0, -1.0, 0.0]
force_constant = { value_n = 20.0 }
in_feedforward = true
[[controller]]
name = "servo"
joints = ["hub"]
joint_pd = { position_gain = [50.0], rate_gain = [5.0] }
[simulation]
duration_s = 0.5
integrator.dop853 = { rtol = 1e-10, atol = 1e-12 }
[output]
sample_period_s = 0.1
"#;

/// Closed form: nodes and elements follow the angle that leads them, from where it stands.
#[test]
fn nodes_and_elements_track_an_angle() {
    const TOLERANCE: f64 = 1e-8;
    let run = in_nodes(&parsed(HUB), 1);
    assert_eq!(run.ending, Ending::Completed);
    for (time, angle) in (run.recording.time_s.iter()).zip(samples(&run.recording, "hub.rotation"))
    {
        let turn = std::f64::consts::TAU * time / 0.5;
        let wanted = 0.8 * (turn - turn.sin()) / std::f64::consts::TAU;
        assert!((angle - wanted).abs() < TOLERANCE, "{time}: {angle}");
    }
    assert!((samples(&run.recording, "hub.torque")[0] - 20.0 * 0.98).abs() < TOLERANCE);
}

/// Property: mistakes in what leads or controls nodes and elements are found where they are.
#[test]
fn mistakes_in_nodes_are_found() {
    let mistake = |from: &str, to: &str| {
        assert_eq!(HUB.matches(from).count(), 1, "{from:?}");
        let text = HUB.replacen(from, to, 1);
        let errors = ModelSpec::parse(&text, &[]).unwrap_err();
        let place = errors[0].locate(&text).unwrap();
        (errors[0].kind.clone(), text[place].to_owned())
    };
    let (kind, at) = mistake("joints = [\"hub\"]", "joints = [\"arm\"]");
    assert!(
        matches!(kind, ErrorKind::UnknownReference { .. }),
        "{kind:?}"
    );
    assert!(at.contains("arm"), "{at}");
    let (kind, at) = mistake("marker = \"hub_angle\"", "marker = \"tip\"");
    assert!(matches!(kind, ErrorKind::NoEffect { .. }), "{kind:?}");
    assert!(at.contains("rotation"), "{at}");
    let (kind, at) = mistake("marker = \"hub_angle\"", "marker = \"nobody\"");
    assert!(
        matches!(kind, ErrorKind::UnknownReference { .. }),
        "{kind:?}"
    );
    assert!(at.contains("nobody"), "{at}");
    let (kind, at) = mistake(
        "joint = \"hub\"\nnominal_motion = true",
        "joint = \"hub\"\ntorque_constant.value_n_m = 1.0",
    );
    assert!(matches!(kind, ErrorKind::NoEffect { .. }), "{kind:?}");
    assert!(at.contains("marker"), "{at}");
}
