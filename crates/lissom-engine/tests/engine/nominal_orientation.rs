//! Nominal motions of a marker that turns in any way: inverse kinematics and feedforward, open and closed, both formulations.

use std::fmt::Write as _;

use lissom_core::NominalDrives;
use lissom_core::study::Run;
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_spatial::{Quaternion, RotationVector, Vector, rotation_vector_of};
use lissom_spec::{ErrorKind, ModelSpec};

use crate::models::parsed;
use crate::numbers::{apart, largest};
use crate::runs::{
    completed, in_nodes, in_tree, nodal_mechanism, tree_mechanism, value_at, vector,
};

/// Error of a run of rigid bodies under the feedforward of their own motion, integrated to 1e-10.
const FOLLOWED: f64 = 1e-7;
/// Two formulations of the same inverse dynamics.
const SAME: f64 = 1e-9;

const SIMULATION: &str = "
[simulation]
duration_s = 0.5
integrator.dop853 = { rtol = 1e-10, atol = 1e-12 }
[output]
sample_period_s = 0.05
";

/// An arm of six hinges whose three long links are beams; `motion` says how its hand moves.
pub(crate) fn arm(motion: &str) -> ModelSpec {
    parsed(&arm_text(motion))
}

pub(crate) fn arm_text(motion: &str) -> String {
    let mut text = "format = 1\ngravity_m_per_s2 = [0.0, 0.0, -9.81]\n".to_owned();
    for (name, length) in [("column", 0.5), ("upper", 0.8), ("lower", 0.7)] {
        let _ = write!(
            text,
            r#"
[[body]]
name = "{name}"
[body.beam]
length_m = {length}
mass_per_length_kg_per_m = 2.0
bending_stiffness_y_n_m2 = 4e3
bending_stiffness_z_n_m2 = 4e3
torsional_stiffness_n_m2 = 3e3
section_inertia_y_kg_m = 1e-3
section_inertia_z_kg_m = 1e-3
basis.clamped_free = {{ bending_y = 1, bending_z = 1, torsion = 1 }}
"#
        );
    }
    for name in ["first", "second", "hand"] {
        let _ = write!(
            text,
            "[[body]]\nname = \"{name}\"\nrigid = {{ mass_kg = 0.5, center_of_mass_m = [0.05, 0.0, 0.02], inertia_kg_m2 = [2e-3, 3e-3, 2.5e-3] }}\n"
        );
    }
    let up = "{ body = \"ground\", rotation_vector_rad = [0.0, -1.5707963267948966, 0.0] }";
    let joints = [
        (up, "column", "[1.0, 0.0, 0.0]", 0.3),
        ("\"column\"", "upper", "[0.0, 1.0, 0.0]", 1.0),
        ("\"upper\"", "lower", "[0.0, 1.0, 0.0]", 0.9),
        ("\"lower\"", "first", "[1.0, 0.0, 0.0]", -0.4),
        ("\"first\"", "second", "[0.0, 1.0, 0.0]", 0.7),
        ("\"second\"", "hand", "[1.0, 0.0, 0.0]", 0.2),
    ];
    for (number, (parent, child, axis, angle)) in joints.into_iter().enumerate() {
        let _ = write!(
            text,
            r#"
[[joint]]
name = "joint_{number}"
parent = {parent}
child = "{child}"
revolute = {{ axis = {axis}, initial_angle_rad = {angle} }}
[[input]]
joint = "joint_{number}"
nominal_motion = true
"#
        );
    }
    text += "[[marker]]\nname = \"tool\"\nbody = \"hand\"\nposition_m = [0.1, 0.0, 0.0]\n";
    text + motion + SIMULATION
}

/// A hexapod: six legs from universal joints on the ground to balls on the platform, extended by slides.
pub(crate) fn hexapod(motion: &str) -> ModelSpec {
    let mut text = "format = 1\ngravity_m_per_s2 = [0.0, 0.0, -9.81]\n".to_owned();
    text += "[[body]]\nname = \"platform\"\nrigid = { mass_kg = 3.0, center_of_mass_m = [0.02, 0.0, 0.05], inertia_kg_m2 = [0.1, 0.12, 0.2] }\n";
    for leg in 0..6 {
        let corner = f64::from(leg / 2) * std::f64::consts::TAU / 3.0;
        let side = if leg % 2 == 0 { -1.0 } else { 1.0 };
        let at = |angle: f64, radius: f64, z: f64| {
            Vector([radius * angle.cos(), radius * angle.sin(), z])
        };
        let base = at(corner + 0.8 * side, 1.0, 0.0);
        let ball = at(corner + 0.2 * side, 0.5, 0.0);
        let along = ball + Vector([0.0, 0.0, 1.0]) - base;
        let length = along.dot(along).sqrt();
        // turns x along the leg
        let across = Vector([1.0, 0.0, 0.0]).cross(along);
        let sine = across.dot(across).sqrt();
        let turn = across.scale(sine.atan2(along[0]) / sine).0;
        let (base, ball) = (base.0, ball.0);
        let _ = write!(
            text,
            r#"
[[body]]
name = "leg_{leg}"
rigid = {{ mass_kg = 1.0, center_of_mass_m = [0.3, 0.0, 0.0], inertia_kg_m2 = [1e-3, 0.02, 0.02] }}
[[body]]
name = "rod_{leg}"
rigid = {{ mass_kg = 0.5, center_of_mass_m = [-0.2, 0.0, 0.0], inertia_kg_m2 = [5e-4, 0.01, 0.01] }}
[[joint]]
name = "foot_{leg}"
parent = {{ body = "ground", position_m = {base:?}, rotation_vector_rad = {turn:?} }}
child = "leg_{leg}"
universal = {{ first = {{ axis = [0.0, 1.0, 0.0] }}, second = {{ axis = [0.0, 0.0, 1.0] }} }}
[[joint]]
name = "slide_{leg}"
parent = "leg_{leg}"
child = "rod_{leg}"
prismatic = {{ axis = [1.0, 0.0, 0.0], initial_displacement_m = {length:?} }}
[[input]]
joint = "slide_{leg}"
nominal_motion = true
"#
        );
        if leg == 0 {
            let _ = write!(
                text,
                "[[joint]]\nname = \"ball\"\nparent = \"rod_0\"\nchild = {{ body = \"platform\", position_m = {ball:?}, rotation_vector_rad = {turn:?} }}\nspherical = {{}}\n"
            );
        } else {
            let _ = write!(
                text,
                "[[loop]]\nname = \"ball_{leg}\"\nfrom = \"rod_{leg}\"\nto = {{ body = \"platform\", position_m = {ball:?} }}\nspherical = {{}}\n"
            );
        }
    }
    text += "[[marker]]\nname = \"tool\"\nbody = \"platform\"\n";
    parsed(&(text + motion + SIMULATION))
}

pub(crate) fn orientation(run: &Run, sample: usize) -> Quaternion<f64> {
    Quaternion(["w", "x", "y", "z"].map(|part| {
        let channel = run.recording.channel(&format!("tool.quaternion.{part}"));
        channel.unwrap().samples[sample]
    }))
}

/// Share of a way that is gone along a cycloid.
fn cycloid(share: f64) -> f64 {
    let turn = std::f64::consts::TAU * share;
    share - turn.sin() / std::f64::consts::TAU
}

/// How the tool turns from its start, and where it goes.
const TURN: [f64; 3] = [0.25, -0.3, 0.4];
const WAY: [f64; 3] = [0.06, -0.05, 0.04];

/// A turn from the start and a way along every axis, beginning at `from`.
fn moved(from: [f64; 3]) -> String {
    let mut text = format!(
        "[nominal_motion]\nmarker = \"tool\"\norientation.cycloid = {{ final_rotation_vector_rad = {TURN:?}, relative_to = \"start\", duration_s = 0.5 }}\n"
    );
    for (axis, key) in ["x", "y", "z"].into_iter().enumerate() {
        let target = from[axis] + WAY[axis];
        let _ = writeln!(
            text,
            "{key}.cycloid = {{ final_displacement_m = {target:?}, duration_s = 0.5 }}"
        );
    }
    text
}

/// Where the tool of a mechanism starts.
pub(crate) fn start(spec: &ModelSpec) -> [f64; 3] {
    let mechanism = Mechanism::build(spec).unwrap();
    let poses = mechanism.marker_poses(&mechanism.written()).unwrap();
    poses[0].pose.translation.0
}

/// Closed form: rigid bodies under the feedforward go where the motion has them, and turn as it says.
#[track_caller]
fn follows(run: &Run) {
    let first = orientation(run, 0).matrix();
    let from = Vector(vector(&run.recording, "tool.position", 0));
    for (sample, &time) in run.recording.time_s.iter().enumerate() {
        let share = cycloid(time / 0.5);
        let wanted = first * RotationVector::new(Vector(TURN).scale(share)).matrix();
        let found = orientation(run, sample).matrix();
        let turned = rotation_vector_of(&(wanted * found.transpose()));
        let place = Vector(vector(&run.recording, "tool.position", sample));
        let missed = place - from - Vector(WAY).scale(share);
        assert!(largest(&turned.0) < FOLLOWED, "{time}: {turned:?}");
        assert!(largest(&missed.0) < FOLLOWED, "{time}: {missed:?}");
    }
    let last = run.recording.time_s.len() - 1;
    assert!(run.recording.time_s[last] >= 0.5);
}

/// What drives do along the nominal trajectory at an instant.
pub(crate) fn nominal_drives(mechanism: &Mechanism, time: f64) -> NominalDrives {
    let found = mechanism.nominal_drives(&[time], &mut |_| Flow::Continue);
    found.unwrap().remove(0)
}

/// Efforts of the drives agree in both formulations along a motion, and are what somebody has to push with.
#[track_caller]
pub(crate) fn drives_agree(spec: &ModelSpec, times: &[f64]) {
    let [tree, nodes] = [tree_mechanism(spec), nodal_mechanism(spec, 1)];
    for &time in times {
        let [a, b] = [&tree, &nodes].map(|mechanism| {
            let drives = nominal_drives(mechanism, time);
            let efforts = drives.efforts.iter().map(|(_, effort)| *effort);
            efforts.collect::<Vec<f64>>()
        });
        assert_eq!(a.len(), 6);
        assert!(apart(&a, &b) < SAME * largest(&a), "{time}: {a:?} {b:?}");
        assert!(largest(&a) > 1.0);
    }
}

/// The rigid counterpart of a model.
pub(crate) fn rigid(spec: &ModelSpec) -> ModelSpec {
    let mut spec = spec.clone();
    spec.fidelity.preset = Some(lissom_spec::spec::FidelityPreset::Rigid);
    spec
}

#[test]
fn a_spatial_arm_turns_its_tool() {
    let spec = arm(&moved(start(&arm_at_rest())));
    drives_agree(&spec, &[0.0, 0.13, 0.31, 0.5]);
    let spec = rigid(&spec);
    follows(&completed(in_tree(&spec)));
    follows(&completed(in_nodes(&spec, 1)));
}

#[test]
fn a_hexapod_turns_its_platform() {
    let spec = hexapod(&moved([0.0, 0.0, 1.0]));
    drives_agree(&spec, &[0.0, 0.13, 0.31, 0.5]);
    follows(&completed(in_tree(&spec)));
    follows(&completed(in_nodes(&spec, 1)));
}

/// The arm held where it starts, to ask where that is.
pub(crate) fn arm_at_rest() -> ModelSpec {
    arm("[nominal_motion]\nmarker = \"tool\"\nx.polynomial = { coefficients_m = [0.0] }\n")
}

/// A table of orientations is passed, and the efforts that make it so are continuous where its rows are.
#[test]
fn a_hexapod_passes_a_table_of_orientations() {
    let motion = r#"
[nominal_motion]
marker = "tool"
x.polynomial = { coefficients_m = [0.0] }
y.polynomial = { coefficients_m = [0.0] }
z.polynomial = { coefficients_m = [1.0] }
[nominal_motion.orientation.table]
time_s = [0.0, 0.2, 0.35, 0.5]
rotation_vector_rad = [[0.0, 0.0, 0.0], [0.2, 0.1, -0.1], [0.1, -0.2, 0.3], [-0.1, 0.0, 0.2]]
"#;
    let spec = hexapod(motion);
    drives_agree(&spec, &[0.1, 0.27]);
    let tree = tree_mechanism(&spec);
    let efforts = |time: f64| -> Vec<f64> {
        let drives = nominal_drives(&tree, time);
        drives.efforts.iter().map(|(_, effort)| *effort).collect()
    };
    for row in [0.2, 0.35] {
        let [before, after] = [row - 1e-9, row + 1e-9].map(efforts);
        assert!(apart(&before, &after) < 1e-6 * largest(&after), "{row}");
    }
    let run = completed(in_tree(&spec));
    let found = ["w", "x", "y", "z"].map(|part| {
        let channel = format!("tool.quaternion.{part}");
        value_at(&run.recording, &channel, 0.35)
    });
    let wanted = RotationVector::new(Vector([0.1, -0.2, 0.3])).matrix();
    let missed = rotation_vector_of(&(wanted * Quaternion(found).matrix().transpose()));
    assert!(largest(&missed.0) < FOLLOWED, "{missed:?}");
}

/// Mistakes are told where they stand.
#[test]
fn mistakes_are_told() {
    let errors = |orientation: &str| {
        let motion = format!("[nominal_motion]\nmarker = \"tool\"\n{orientation}\n");
        let errors = ModelSpec::parse(&arm_text(&motion), &[]).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        (errors[0].path.to_string(), errors[0].kind.clone())
    };
    let (path, kind) = errors(
        "orientation.table = { time_s = [0.0, 1.0], rotation_vector_rad = [[0.0, 0.0, 0.0], [0.0, 0.0, 3.1]] }",
    );
    assert!(path.ends_with("rotation_vector_rad[1]"), "{path}");
    assert!(matches!(kind, ErrorKind::OutOfRange { value, .. } if (value - 3.1).abs() < 1e-12));
    let (path, kind) = errors(
        "orientation.cycloid = { final_quaternion = [1.0, 1.0, 0.0, 0.0], duration_s = 1.0 }",
    );
    assert!(path.ends_with("final_quaternion"), "{path}");
    assert!(matches!(kind, ErrorKind::OutOfRange { .. }));
    let (_, kind) = errors("orientation.cycloid = { duration_s = 1.0 }");
    assert!(matches!(kind, ErrorKind::NotExactlyOne { .. }));
    let (path, _) = errors(
        "orientation.constant_rate = { angular_velocity_rad_per_s = [0.0, 0.0, 1.0] }\nrotation.constant_rate = { rate_rad_per_s = 1.0 }",
    );
    assert!(path.ends_with("orientation"), "{path}");
    let (_, kind) =
        errors("orientation.table = { time_s = [0.0], quaternion = [[1.0, 0.0, 0.0, 0.0]] }");
    assert!(matches!(kind, ErrorKind::WrongLength { expected: 2, .. }));
    let (_, kind) = errors("orientation.table = { time_s = [], quaternion = [] }");
    assert!(matches!(kind, ErrorKind::WrongLength { .. }));
}
