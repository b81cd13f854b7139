//! Joints from poses of markers, within their limits: arms of three, six and seven axes and a hexapod.
//!
//! Truth: poses that forward kinematics gives of joints drawn by a fixed sequence, so that each can be had.

use std::collections::BTreeMap;
use std::fmt::Write;

use lissom_core::State;
use lissom_engine::Mechanism;
use lissom_engine::evaluate::{MarkerTarget, Targets};
use lissom_spatial::{Matrix, RotationVector, Transform, Vector, rotation_vector_of};
use lissom_spec::spec::TwistComponent;

use crate::models::{changed, parsed};
use crate::nominal_orientation::hexapod;

/// How far a marker may be from where it should be, m and rad.
const THERE: f64 = 1e-10;
/// Poses of every mechanism.
const POSES: usize = 1000;

/// A fixed sequence of numbers between 0 and 1 (Lehmer's generator with Park and Miller's numbers).
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.next()
    }
}

/// An axis of an arm: its direction, where the next one is, and its limits.
type ArmAxis = ([f64; 3], [f64; 3], [f64; 2]);

/// An arm of revolute joints, all at the middle of their limits or a little beside.
fn arm(axes: &[ArmAxis]) -> Mechanism {
    let mut text = "format = 1\n".to_owned();
    for (i, (axis, next, [least, most])) in axes.iter().enumerate() {
        let start = 0.5 * (least + most) + 0.1;
        let parent = match i {
            0 => "\"ground\"".to_owned(),
            _ => format!("{{ body = \"link_{}\", at = \"end\" }}", i - 1),
        };
        let _ = write!(
            text,
            "[[body]]\nname = \"link_{i}\"\nrigid = {{ mass_kg = 1.0, inertia_kg_m2 = [0.01, 0.01, 0.01] }}\n\
             node = [{{ name = \"end\", position_m = {next:?} }}]\n\
             [[joint]]\nname = \"j{i}\"\nparent = {parent}\nchild = \"link_{i}\"\n\
             revolute = {{ axis = {axis:?}, initial_angle_rad = {start}, limits = {{ min_rad = {least}, max_rad = {most} }} }}\n"
        );
    }
    let last = axes.len() - 1;
    let _ = write!(
        text,
        "[[marker]]\nname = \"hand\"\nbody = \"link_{last}\"\nat = \"end\"\n[simulation]\nduration_s = 1.0\n"
    );
    Mechanism::build(&parsed(&text)).unwrap()
}

const X_AXIS: [f64; 3] = [1.0, 0.0, 0.0];
const Y_AXIS: [f64; 3] = [0.0, 1.0, 0.0];
const Z_AXIS: [f64; 3] = [0.0, 0.0, 1.0];

fn planar() -> Vec<ArmAxis> {
    vec![
        (Z_AXIS, [0.5, 0.0, 0.0], [-2.0, 2.0]),
        (Z_AXIS, [0.4, 0.0, 0.0], [-2.5, 2.5]),
        (Z_AXIS, [0.2, 0.0, 0.0], [-2.0, 2.0]),
    ]
}

fn six_axes() -> Vec<ArmAxis> {
    vec![
        (Z_AXIS, [0.1, 0.0, 0.4], [-2.8, 2.8]),
        (Y_AXIS, [0.0, 0.0, 0.6], [-1.5, 2.0]),
        (Y_AXIS, [0.3, 0.0, 0.1], [-2.0, 2.0]),
        (X_AXIS, [0.3, 0.0, 0.0], [-3.0, 3.0]),
        (Y_AXIS, [0.1, 0.0, 0.0], [-2.0, 2.0]),
        (X_AXIS, [0.1, 0.0, 0.0], [-3.0, 3.0]),
    ]
}

fn seven_axes() -> Vec<ArmAxis> {
    vec![
        (Z_AXIS, [0.0, 0.0, 0.34], [-2.9, 2.9]),
        (Y_AXIS, [0.0, 0.0, 0.2], [-2.0, 2.0]),
        (Z_AXIS, [0.0, 0.0, 0.2], [-2.9, 2.9]),
        (Y_AXIS, [0.0, 0.0, 0.2], [-2.0, 2.0]),
        (Z_AXIS, [0.0, 0.0, 0.2], [-2.9, 2.9]),
        (Y_AXIS, [0.0, 0.0, 0.08], [-2.0, 2.0]),
        (Z_AXIS, [0.0, 0.0, 0.1], [-3.0, 3.0]),
    ]
}

/// What it takes to be at a pose, by some of its components.
fn targets(marker: &str, pose: &Transform<f64>, components: &[TwistComponent]) -> Targets {
    let turned = rotation_vector_of(&pose.rotation);
    let target = |component: &TwistComponent| {
        let position = match component.entry() {
            entry @ 0..3 => turned[entry],
            entry => pose.translation[entry - 3],
        };
        MarkerTarget {
            marker: marker.to_owned(),
            component: *component,
            position,
            rate: 0.0,
        }
    };
    Targets {
        held: Vec::new(),
        markers: components.iter().map(target).collect(),
    }
}

fn pose(mechanism: &Mechanism, state: &lissom_core::State) -> Transform<f64> {
    mechanism.marker_poses(state).unwrap()[0].pose
}

/// How far two poses are apart, in m and rad.
fn apart(one: &Transform<f64>, other: &Transform<f64>) -> f64 {
    let way = one.translation - other.translation;
    let turn = rotation_vector_of(&(one.rotation * other.rotation.transpose()));
    way.dot(way).sqrt().max(turn.dot(turn).sqrt())
}

fn finds_all(axes: &[ArmAxis], components: &[TwistComponent]) {
    let mechanism = arm(axes);
    let start = mechanism.written();
    let mut sequence = Sequence(20_261_118);
    for number in 0..POSES {
        let joints: BTreeMap<String, f64> = (axes.iter().enumerate())
            .map(|(i, (_, _, [least, most]))| {
                (format!("j{i}.angle"), sequence.between(*least, *most))
            })
            .collect();
        let wanted = pose(&mechanism, &mechanism.state(0.0, &joints).unwrap());
        let found = mechanism.configured(&start, &targets("hand", &wanted, components));
        let found = found.unwrap_or_else(|error| panic!("pose {number}, {joints:?}: {error}"));
        let state = found.unwrap().state;
        let missed = apart(&pose(&mechanism, &state), &wanted);
        assert!(missed < THERE, "pose {number}: {missed}");
        for (angle, (_, _, [least, most])) in state.position.iter().zip(axes) {
            assert!((least..=most).contains(&angle), "pose {number}: {angle}");
        }
    }
}

#[test]
fn a_planar_arm_reaches_its_poses() {
    use TwistComponent::{RotationZ, X, Y};
    finds_all(&planar(), &[X, Y, RotationZ]);
}

#[test]
fn six_axes_reach_their_poses() {
    finds_all(&six_axes(), &TwistComponent::ALL);
}

#[test]
fn seven_axes_reach_their_poses() {
    finds_all(&seven_axes(), &TwistComponent::ALL);
}

/// Closed form: the lengths of the legs between feet and balls.
#[test]
fn a_hexapod_reaches_its_poses() {
    let motion = "[nominal_motion]\nmarker = \"tool\"\nx.constant_rate = { rate_m_per_s = 0.0 }\n";
    let spec = hexapod(motion);
    let mechanism = Mechanism::build(&spec).unwrap().released().unwrap();
    let names = mechanism.coordinates().unwrap()[0].clone();
    let start = mechanism.written();
    let mut sequence = Sequence(4711);
    for number in 0..POSES {
        let mut near = |size: f64| Vector([(); 3].map(|()| sequence.between(-size, size)));
        let (way, turn) = (near(0.15), near(0.25));
        let wanted = Transform {
            rotation: RotationVector::new(turn).matrix(),
            translation: way + Vector([0.0, 0.0, 1.0]),
        };
        let found = mechanism.configured(&start, &targets("tool", &wanted, &TwistComponent::ALL));
        let found = found.unwrap_or_else(|error| panic!("pose {number}: {error}"));
        let found = found.unwrap();
        assert!(found.violation < THERE, "pose {number}");
        let missed = apart(&pose(&mechanism, &found.state), &wanted);
        assert!(missed < THERE, "pose {number}: {missed}");
        for leg in 0..6 {
            let corner = f64::from(leg / 2) * std::f64::consts::TAU / 3.0;
            let side = if leg % 2 == 0 { -1.0 } else { 1.0 };
            let at =
                |angle: f64, radius: f64| Vector([radius * angle.cos(), radius * angle.sin(), 0.0]);
            let foot = at(corner + 0.8 * side, 1.0);
            let ball = wanted.translation + wanted.rotation * at(corner + 0.2 * side, 0.5);
            let along = ball - foot;
            let name = format!("slide_{leg}.displacement");
            let place = names.iter().position(|coordinate| coordinate.name == name);
            let length = found.state.position[place.unwrap()];
            assert!(
                (length - along.dot(along).sqrt()).abs() < THERE,
                "pose {number}"
            );
        }
    }
}

/// Closed form: of all postures of the three axes in which the hand is at a point, the nearest to the start is found. There the
/// change of the joints is a combination of the rows of the Jacobian: what leaves the hand where it is, is orthogonal to it.
#[test]
fn redundant_axes_stay_near_a_posture() {
    use TwistComponent::{X, Y};
    /// The search ends when nothing moves by more than 1e-10.
    const NEAREST: f64 = 1e-8;
    let mechanism = arm(&planar());
    let start = mechanism.written();
    let wanted = Transform {
        rotation: Matrix::identity(),
        translation: Vector([0.6, 0.5, 0.0]),
    };
    let found = mechanism.configured(&start, &targets("hand", &wanted, &[X, Y]));
    let state = found.unwrap().unwrap().state;
    let q = &state.position;
    let (a, b, c) = (q[0], q[0] + q[1], q[0] + q[1] + q[2]);
    let bars = [(0.5, a), (0.4, b), (0.2, c)];
    let reached = |from: usize| {
        let sum = |part: fn(f64) -> f64| bars[from..].iter().map(|(l, t)| l * part(*t)).sum();
        let (x, y): (f64, f64) = (sum(f64::cos), sum(f64::sin));
        [-y, x]
    };
    let [j0, j1, j2] = [reached(0), reached(1), reached(2)];
    assert!((reached(0)[1] - 0.6).abs() < THERE && (-reached(0)[0] - 0.5).abs() < THERE);
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let free = [cross(j1, j2), cross(j2, j0), cross(j0, j1)];
    let change: f64 = (0..3).map(|i| free[i] * (q[i] - start.position[i])).sum();
    assert!(change.abs() < NEAREST, "{change}");
}

/// By construction: motors behind elastic gears go with their joints, so that what a gear deforms by, and how fast, stays; in either formulation.
#[test]
fn gears_stay_as_deformed_as_they_are() {
    use TwistComponent::{X, Y};
    let mut text = String::from("format = 1\n");
    for (name, parent, length) in [
        ("shoulder", "\"ground\"", 0.7),
        ("elbow", "{ body = \"of_shoulder\", at = \"end\" }", 0.4),
    ] {
        let _ = write!(
            text,
            "[[body]]\nname = \"of_{name}\"\nrigid = {{ mass_kg = 1.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }}\n\
             node = [{{ name = \"end\", position_m = [{length}, 0.0, 0.0] }}]\n\
             [[joint]]\nname = \"{name}\"\nparent = {parent}\nchild = \"of_{name}\"\nrevolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.5, \
             motor = {{ inertia_kg_m2 = 1e-4, gear_ratio = 50.0, stiffness_n_m_per_rad = 900.0 }} }}\n"
        );
    }
    text += "[[marker]]\nname = \"hand\"\nbody = \"of_elbow\"\nat = \"end\"\n";
    let given = [
        ("shoulder.motor_angle", 0.53),
        ("elbow.motor_angle", 0.48),
        ("elbow.motor_angle.rate", 0.2),
    ];
    let given: BTreeMap<String, f64> = given.map(|(name, own)| (name.to_owned(), own)).into();
    for formulation in ["", "[formulation.nodal]\nelements_per_link = 1\n"] {
        let mechanism = Mechanism::build(&parsed(&[&*text, formulation].concat())).unwrap();
        let start = mechanism.state(0.0, &given).unwrap();
        let wanted = Transform {
            rotation: Matrix::identity(),
            translation: Vector([0.3, 0.6, 0.0]),
        };
        let targets = targets("hand", &wanted, &[X, Y]);
        let found = mechanism.configured(&start, &targets).unwrap().unwrap();
        let names = mechanism.coordinates().unwrap();
        let deformed = |state: &lissom_core::State, joint: &str, end: &str| {
            let of = |name: String| {
                let values = [&state.position, &state.velocity];
                let all = names
                    .iter()
                    .zip(values)
                    .flat_map(|(own, x)| own.iter().zip(x));
                let mut named = all.filter(|(own, _)| own.name == name);
                *named.next().unwrap().1
            };
            of(format!("{joint}.motor_angle{end}")) - of(format!("{joint}.angle{end}"))
        };
        for joint in ["shoulder", "elbow"] {
            for end in ["", ".rate"] {
                let [before, after] = [&start, &found.state].map(|own| deformed(own, joint, end));
                assert!((after - before).abs() < THERE, "{formulation} {joint}{end}");
            }
        }
        assert!((deformed(&found.state, "shoulder", "") - 0.03).abs() < THERE);
    }
}

/// Closed form: what lies beyond the reach of a stretched arm is missed by what it is too far away, and behind a limit by the
/// way from the tip of a stretched arm at that limit.
#[test]
fn what_cannot_be_reached_is_told_with_the_nearest_distance() {
    use TwistComponent::{X, Y, Z};
    let told = |axes: &[ArmAxis], point: [f64; 3], components: &[TwistComponent]| -> String {
        let mechanism = arm(axes);
        let wanted = Transform {
            rotation: Matrix::identity(),
            translation: Vector(point),
        };
        let targets = targets("hand", &wanted, components);
        let error = mechanism.configured(&mechanism.written(), &targets);
        error.unwrap_err().to_string()
    };
    // 1.5 m away along a ray that the joints allow
    let (sin, cos) = 0.7_f64.sin_cos();
    let error = told(&planar(), [1.5 * cos, 1.5 * sin, 0.0], &[X, Y]);
    assert!(
        error.contains("\"hand\"") && error.contains("4.0000e-1 m"),
        "{error}"
    );
    // one joint that stops at 0.5 rad: 1 m at 0.5 rad from a point at 1 rad
    let one: [ArmAxis; 1] = [(Z_AXIS, [1.0, 0.0, 0.0], [-0.5, 0.5])];
    let error = told(&one, [1.0_f64.cos(), 1.0_f64.sin(), 0.0], &[X, Y]);
    let distance = format!("{:.4e} m", 2.0 * 0.25_f64.sin());
    assert!(
        error.contains(&distance) && error.contains("limits"),
        "{error}"
    );
    // nothing moves out of the plane
    let error = told(&planar(), [0.6, 0.2, 0.3], &[X, Y, Z]);
    assert!(error.contains("no joint moves that way"), "{error}");
}

/// By construction: to place a joint elsewhere does not deform its gear, in either formulation. Who holds the motor would otherwise pull
/// the joint back to where it was.
#[test]
fn motors_behind_elastic_gears_go_with_their_joints() {
    const GEARED: &str = r#"
format = 1
[[body]]
name = "upper"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.35, 0, 0], inertia_kg_m2 = [0.1, 0.1, 0.1] }
node = [{ name = "end", position_m = [0.7, 0, 0] }]
[[body]]
name = "lower"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.2, 0, 0], inertia_kg_m2 = [0.1, 0.1, 0.1] }
node = [{ name = "end", position_m = [0.4, 0, 0] }]
[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
revolute = { axis = [0, 0, 1], motor = { inertia_kg_m2 = 1e-4, gear_ratio = 50.0, stiffness_n_m_per_rad = 900.0 } }
[[joint]]
name = "elbow"
parent = { body = "upper", at = "end" }
child = "lower"
revolute = { axis = [0, 0, 1], initial_angle_rad = 1.0, motor = { inertia_kg_m2 = 1e-4, gear_ratio = 50.0, stiffness_n_m_per_rad = 400.0 } }
[[marker]]
name = "hand"
body = "lower"
at = "end"
[simulation]
duration_s = 1.0
"#;
    for formulation in [&[][..], &["formulation.nodal.elements_per_link=1"]] {
        let mechanism = Mechanism::build(&changed(GEARED, formulation)).unwrap();
        let layout = mechanism.layout().unwrap();
        let value = |state: &State, name: &str| {
            let at = layout.iter().position(|entry| entry.name == name);
            state.packed()[at.unwrap()]
        };
        let given = |values: &[(&str, f64)]| {
            let given = values.iter().map(|&(name, value)| (name.to_owned(), value));
            mechanism.state(0.0, &given.collect()).unwrap()
        };
        let state = given(&[("shoulder.angle", 0.4), ("shoulder.angle.rate", 0.2)]);
        assert_eq!(value(&state, "shoulder.motor_angle"), 0.4);
        assert_eq!(value(&state, "shoulder.motor_angle.rate"), 0.2);
        assert_eq!(value(&state, "elbow.motor_angle"), 1.0);

        let wound = given(&[("shoulder.angle", 0.4), ("shoulder.motor_angle", 0.5)]);
        let target = |component, position| MarkerTarget {
            marker: "hand".to_owned(),
            component,
            position,
            rate: 0.0,
        };
        let targets = Targets {
            held: Vec::new(),
            markers: vec![
                target(TwistComponent::X, 0.5),
                target(TwistComponent::Y, 0.4),
            ],
        };
        let found = mechanism
            .configured(&wound, &targets)
            .unwrap()
            .unwrap()
            .state;
        assert!(
            (value(&found, "shoulder.angle") - 0.4).abs() > 0.1,
            "it moves"
        );
        for (joint, twist) in [("shoulder", 0.1), ("elbow", 0.0)] {
            let [angle, motor] =
                ["angle", "motor_angle"].map(|of| value(&found, &format!("{joint}.{of}")));
            assert!(
                (motor - angle - twist).abs() < 1e-12,
                "{joint}: {angle} {motor}"
            );
        }
    }
}
