//! Nominal motions of a marker that stays on a line, an arc or a spline in space: efforts, rates and places, open and closed, both
//! formulations.

use std::fmt::Write as _;

use lissom_core::MotionCurve;
use lissom_core::NominalError;
use lissom_core::study::Run;
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_spatial::{RotationVector, Vector, rotation_vector_of};
use lissom_spec::spec::{FormulationSpec, MotionProfile, NodalFormulationSpec, RampProfile};
use lissom_spec::{ErrorKind, ModelSpec};

use crate::models::parsed;
use crate::nominal_orientation::{
    arm, arm_at_rest, arm_text, drives_agree, hexapod, nominal_drives, orientation, rigid, start,
};
use crate::numbers::largest;
use crate::runs::{completed, in_nodes, in_tree, samples, tree_mechanism, vector};

/// How far the marker of a rigid mechanism may be from its path: what inverse kinematics leaves.
const ON_PATH: f64 = 1e-9;
/// Rounding of forces of some newtons.
const ROUNDING: f64 = 1e-11;
/// Error of a run of rigid bodies under the feedforward of their own motion, integrated to 1e-10.
const FOLLOWED: f64 = 1e-7;

/// Three slides that carry 2 kg, their drives along `path`.
fn gantry(path: &str) -> ModelSpec {
    let mut text = "format = 1\n".to_owned();
    let mut parent = "ground";
    for (name, axis, mass) in [
        ("bridge", "[1.0, 0.0, 0.0]", "1e-9"),
        ("cart", "[0.0, 1.0, 0.0]", "1e-9"),
        ("load", "[0.0, 0.0, 1.0]", "2.0"),
    ] {
        let _ = write!(
            text,
            r#"
[[body]]
name = "{name}"
rigid = {{ mass_kg = {mass}, inertia_kg_m2 = [1e-3, 1e-3, 1e-3] }}
[[joint]]
name = "to_{name}"
parent = "{parent}"
child = "{name}"
prismatic = {{ axis = {axis} }}
[[input]]
joint = "to_{name}"
nominal_motion = true
"#
        );
        parent = name;
    }
    text += "[[marker]]\nname = \"tool\"\nbody = \"load\"\n[simulation]\nduration_s = 1.0\n";
    let _ = write!(
        text,
        "[nominal_motion]\nmarker = \"tool\"\n[nominal_motion.path]\n{path}\n"
    );
    parsed(&text)
}

/// Efforts and rates of the gantry along its path.
fn pushed(spec: &ModelSpec, time: f64) -> [Vector<f64>; 2] {
    let drives = nominal_drives(&tree_mechanism(spec), time);
    let efforts = [0, 1, 2].map(|at| drives.efforts[at].1);
    [
        Vector(efforts),
        Vector([0, 1, 2].map(|at| drives.rates[at])),
    ]
}

/// Closed form: along a circle a mass takes the centripetal force m v²/r and the tangential one m s̈, at the speed of its profile, which
/// keeps its limits; by all profiles that reach the length of the path.
#[test]
fn a_mass_on_a_circle_takes_its_centripetal_force() {
    const MASS: f64 = 2.0;
    const RADIUS: f64 = 0.5;
    let length = RADIUS * 2.4;
    let way = |ramps| MotionProfile::Ramps {
        initial: None,
        target: length,
        from_s: 0.0,
        ramps,
    };
    let profiles = [
        (
            "cycloid = { duration_s = 1.0 }",
            MotionProfile::Cycloid {
                initial: None,
                target: length,
                from_s: 0.0,
                duration_s: 1.0,
            },
        ),
        (
            "quintic = { duration_s = 1.0 }",
            MotionProfile::Quintic {
                initial: None,
                target: length,
                from_s: 0.0,
                duration_s: 1.0,
            },
        ),
        (
            "trapezoidal = { max_rate_m_per_s = 2.0, max_acceleration_m_per_s2 = 8.0 }",
            way(RampProfile::Limits {
                rate: 2.0,
                acceleration: 8.0,
                jerk: f64::INFINITY,
            }),
        ),
        (
            "s_curve = { max_rate_m_per_s = 2.0, max_acceleration_m_per_s2 = 8.0, max_jerk_m_per_s3 = 80.0 }",
            way(RampProfile::Limits {
                rate: 2.0,
                acceleration: 8.0,
                jerk: 80.0,
            }),
        ),
    ];
    for (text, profile) in profiles {
        let spec = gantry(&format!(
            "arc = {{ center_m = [-0.3, 0.4, 0.0], axis = [0.0, 0.0, 1.0], angle_rad = -2.4 }}\ndistance.{text}"
        ));
        let distance = MotionCurve::new(&profile, 0.0);
        for part in 0..=20 {
            let time = 0.05 * f64::from(part);
            let point = distance.at(time);
            let [effort, rate] = pushed(&spec, time);
            let angle = -point.position / RADIUS;
            let outward =
                RotationVector::new(Vector([0.0, 0.0, angle])).matrix() * Vector([0.6, -0.8, 0.0]);
            let along = outward.cross(Vector([0.0, 0.0, 1.0]));
            let force = along.scale(MASS * point.acceleration)
                - outward.scale(MASS * point.rate * point.rate / RADIUS);
            // what the two other slides weigh is in their inertia of a billionth
            assert!(
                largest(&(effort - force).0) < 1e-7,
                "{text} {time}: {effort:?}"
            );
            let missed = rate - along.scale(point.rate);
            assert!(largest(&missed.0) < ROUNDING, "{text} {time}: {rate:?}");
        }
    }
}

/// Closed form: a straight line by limits of its speed and acceleration, in whatever direction, with the speed limit along it.
#[test]
fn a_line_keeps_the_limits_of_its_speed() {
    let spec = gantry(
        "line = { to_m = [0.9, -1.2, 2.0] }\ndistance.trapezoidal = { max_rate_m_per_s = 2.0, max_acceleration_m_per_s2 = 8.0 }",
    );
    let direction = Vector([0.36, -0.48, 0.8]);
    let fastest = |time: f64| pushed(&spec, time);
    let [effort, rate] = fastest(0.1);
    assert!(largest(&(rate - direction.scale(0.8)).0) < ROUNDING);
    assert!(
        largest(&(effort - direction.scale(16.0)).0) < 1e-7,
        "{effort:?}"
    );
    let [_, rate] = fastest(0.7);
    assert!(largest(&(rate - direction.scale(2.0)).0) < ROUNDING);
}

/// What the marker of a run misses of where the nominal motion has it.
fn nominal(run: &Run, sample: usize) -> Vector<f64> {
    Vector(["x", "y", "z"].map(|axis| {
        let name = format!("tool.nominal_position.{axis}");
        samples(&run.recording, &name)[sample]
    }))
}

/// The arc of the tests: about an axis through a place beside where the marker starts, along which it turns by `TURN`.
const AXIS: [f64; 3] = [0.6, 0.0, 0.8];
const ANGLE: f64 = 0.9;
const TURN: [f64; 3] = [0.25, -0.3, 0.4];
const CENTER: [f64; 3] = [-0.1, 0.08, 0.02];

fn arc(from: [f64; 3]) -> String {
    let center = Vector(from) + Vector(CENTER);
    format!(
        r#"[nominal_motion]
marker = "tool"
orientation.along_path = {{ final_rotation_vector_rad = {TURN:?}, relative_to = "start" }}
[nominal_motion.path]
arc = {{ center_m = {:?}, axis = {AXIS:?}, angle_rad = {ANGLE} }}
distance.quintic = {{ duration_s = 0.5 }}
"#,
        center.0
    )
}

/// Closed form: the marker of the rigid mechanism is on its arc, and rigid bodies under its feedforward follow it and turn with it.
#[track_caller]
fn follows_arc(run: &Run) {
    let from = Vector(vector(&run.recording, "tool.position", 0));
    let center = from + Vector(CENTER);
    let first = orientation(run, 0).matrix();
    for (sample, &time) in run.recording.time_s.iter().enumerate() {
        let s = (time / 0.5_f64).min(1.0);
        let share = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
        let turned = RotationVector::new(Vector(AXIS).scale(ANGLE * share)).matrix();
        let wanted = center + turned * (from - center);
        let on_path = nominal(run, sample) - wanted;
        assert!(largest(&on_path.0) < ON_PATH, "{time}: {on_path:?}");
        let place = Vector(vector(&run.recording, "tool.position", sample)) - wanted;
        assert!(largest(&place.0) < FOLLOWED, "{time}: {place:?}");
        let wanted = first * RotationVector::new(Vector(TURN).scale(share)).matrix();
        let found = orientation(run, sample).matrix();
        let missed = rotation_vector_of(&(wanted * found.transpose()));
        assert!(largest(&missed.0) < FOLLOWED, "{time}: {missed:?}");
    }
}

#[test]
fn a_spatial_arm_goes_along_an_arc() {
    let spec = arm(&arc(start(&arm_at_rest())));
    drives_agree(&spec, &[0.0, 0.13, 0.31, 0.5]);
    let spec = rigid(&spec);
    follows_arc(&completed(in_tree(&spec)));
    follows_arc(&completed(in_nodes(&spec, 1)));
}

#[test]
fn a_hexapod_goes_along_an_arc() {
    let spec = hexapod(&arc([0.0, 0.0, 1.0]));
    drives_agree(&spec, &[0.0, 0.13, 0.31, 0.5]);
    follows_arc(&completed(in_tree(&spec)));
    follows_arc(&completed(in_nodes(&spec, 1)));
}

/// Property: along a spline with a table of orientations by its share, efforts are continuous where it passes its points, and both
/// formulations have the same.
#[test]
fn a_hexapod_passes_the_points_of_a_spline() {
    let spec = hexapod(
        r#"
[nominal_motion]
marker = "tool"
[nominal_motion.path]
spline.through_m = [[0.05, 0.04, 1.03], [0.0, 0.08, 1.0], [-0.06, 0.0, 0.97]]
distance.s_curve = { duration_s = 0.5, ramp_s = 0.2, jerk_s = 0.08 }
[nominal_motion.orientation.table]
path_share = [0.0, 0.4, 1.0]
rotation_vector_rad = [[0.0, 0.0, 0.0], [0.2, 0.1, -0.1], [-0.1, 0.0, 0.2]]
"#,
    );
    drives_agree(&spec, &[0.0, 0.1, 0.27, 0.44]);
    let run = completed(in_tree(&spec));
    let speeds: Vec<f64> = (1..run.recording.time_s.len() - 1)
        .map(|sample| {
            let velocity = Vector(vector(&run.recording, "tool.velocity", sample));
            velocity.dot(velocity).sqrt()
        })
        .collect();
    // between the ramps the speed is constant
    assert!(
        (speeds[4] - speeds[3]).abs() < FOLLOWED && speeds[3] > speeds[1],
        "{speeds:?}"
    );
    let last = run.recording.time_s.len() - 1;
    let missed = Vector(vector(&run.recording, "tool.position", last)) - Vector([-0.06, 0.0, 0.97]);
    assert!(largest(&missed.0) < FOLLOWED, "{missed:?}");
}

/// Property: input shaping leaves the marker on its path, and delays where it is on it.
#[test]
fn shaped_motions_stay_on_their_path() {
    let path = "arc = { via_m = [0.3, 0.3, 0.1], to_m = [0.6, 0.0, 0.2] }\ndistance.cycloid = { duration_s = 0.5 }\n[shaping]\nzv = [{ frequency_rad_per_s = 30.0 }]";
    let spec = gantry(path);
    let run = completed(in_tree(&spec));
    let [a, b] = [[0.3, 0.3, 0.1], [0.6, 0.0, 0.2]].map(Vector);
    let normal = a.cross(b);
    let middle = (b.scale(a.dot(a)) - a.scale(b.dot(b))).cross(normal);
    let center = middle.scale(0.5 / normal.dot(normal));
    let radius = center.dot(center).sqrt();
    for sample in 0..run.recording.time_s.len() {
        let away = nominal(&run, sample) - center;
        assert!((away.dot(away).sqrt() - radius).abs() < ON_PATH);
        assert!(away.dot(normal.unit()).abs() < ON_PATH);
    }
    // half of the period is added
    let [_, rate] = pushed(&spec, 0.55);
    assert!(largest(&rate.0) > 1e-2);
    let [_, rate] = pushed(&spec, 0.5 + std::f64::consts::PI / 30.0);
    assert!(largest(&rate.0) < ROUNDING);
}

/// Mistakes are told where they stand, and paths that only the start of the marker spoils where they are followed.
#[test]
fn mistakes_are_told() {
    let errors = |path: &str| {
        let motion = format!("[nominal_motion]\nmarker = \"tool\"\n{path}\n");
        let errors = ModelSpec::parse(&arm_text(&motion), &[]).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        (errors[0].path.to_string(), errors[0].kind.clone())
    };
    let distance = "distance.cycloid = { duration_s = 1.0 }";
    let line = "line = { to_m = [1.0, 0.0, 0.0] }";
    let (path, kind) = errors(&format!("path = {{ {distance} }}"));
    assert!(path.ends_with("path") && matches!(kind, ErrorKind::NotExactlyOne { .. }));
    let (path, kind) = errors(&format!(
        "path = {{ arc = {{ via_m = [1.0, 0.0, 0.0] }}, {distance} }}"
    ));
    assert!(path.ends_with("arc"), "{path}");
    assert!(matches!(kind, ErrorKind::MissingKey { key } if key == "to_m"));
    let (path, kind) = errors(&format!(
        "path = {{ spline.through_m = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], {distance} }}"
    ));
    assert!(path.ends_with("through_m[1]"), "{path}");
    assert!(matches!(kind, ErrorKind::OutOfRange { .. }));
    let (path, _) = errors(&format!(
        "path = {{ {line}, {distance} }}\nx.polynomial = {{ coefficients_m = [0.0] }}"
    ));
    assert!(path.ends_with("nominal_motion.x"), "{path}");
    let (path, kind) = errors(&format!(
        "path = {{ {line}, distance.cycloid = {{ final_angle_rad = 1.0, duration_s = 1.0 }} }}"
    ));
    assert!(path.ends_with("final_angle_rad"), "{path}");
    assert!(matches!(kind, ErrorKind::WrongUnit { .. }));
    let (path, _) = errors(
        "x.polynomial = { coefficients_m = [0.0] }\norientation.along_path = { final_rotation_vector_rad = [0.0, 0.0, 1.0] }",
    );
    assert!(path.ends_with("along_path"), "{path}");

    let nowhere = gantry(&format!("line = {{ to_m = [0.0, 0.0, 0.0] }}\n{distance}"));
    let found = tree_mechanism(&nowhere).nominal_drives(&[0.1], &mut |_| Flow::Continue);
    assert!(
        matches!(found, Err(NominalError::NoPath { .. })),
        "{found:?}"
    );
    // elements are laid out along the nominal motion
    let nodal = FormulationSpec::Nodal(NodalFormulationSpec {
        elements_per_link: 1,
    });
    let refused = Mechanism::build(&ModelSpec {
        formulation: nodal,
        ..nowhere
    });
    let told = refused.unwrap_err()[0].to_string();
    assert!(told.contains("the line ends where it begins"), "{told}");
}

/// A redundant arm in a plane: three hinges, of which the last one is given its motion, and a tool on a path. It stays on that in both
/// formulations; without that motion the posture is not determined, which is told.
#[test]
fn a_redundant_arm_is_led_by_a_joint_of_its_own() {
    let mut text = "format = 1\ngravity_m_per_s2 = [0.0, -9.81, 0.0]\n".to_owned();
    let mut parent = "ground".to_owned();
    for (name, length, angle) in [("one", 0.5, 0.2), ("two", 0.4, 0.7), ("three", 0.3, 0.5)] {
        let drive = if name == "three" {
            "rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.8, duration_s = 0.5 }"
        } else {
            "nominal_motion = true"
        };
        let _ = write!(
            text,
            r#"
[[body]]
name = "{name}"
rigid = {{ mass_kg = 1.0, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [1e-3, 0.01, 0.01] }}
node = [{{ name = "end", position_m = [{length}, 0.0, 0.0] }}]
[[joint]]
name = "to_{name}"
parent = {parent}
child = "{name}"
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = {angle} }}
[[input]]
joint = "to_{name}"
{drive}
"#,
            parent = if parent == "ground" {
                "\"ground\"".to_owned()
            } else {
                format!("{{ body = \"{parent}\", at = \"end\" }}")
            }
        );
        parent = name.to_owned();
    }
    text += r#"
[[marker]]
name = "tool"
body = "three"
at = "end"
[nominal_motion]
marker = "tool"
[nominal_motion.path]
spline.through_m = [[0.65, 0.8, 0.0], [0.45, 0.85, 0.0]]
distance.quintic = { duration_s = 0.5 }
[simulation]
duration_s = 0.5
integrator.dop853 = { rtol = 1e-10, atol = 1e-12 }
[output]
sample_period_s = 0.05
"#;
    let spec = parsed(&text);
    for run in [in_tree(&spec), in_nodes(&spec, 1)] {
        let run = completed(run);
        let last = run.recording.time_s.len() - 1;
        for sample in 0..=last {
            let place = Vector(vector(&run.recording, "tool.position", sample));
            let missed = place - nominal(&run, sample);
            assert!(largest(&missed.0) < FOLLOWED, "{sample}: {missed:?}");
        }
        let end = nominal(&run, last) - Vector([0.45, 0.85, 0.0]);
        assert!(largest(&end.0) < ON_PATH, "{end:?}");
        let angle = samples(&run.recording, "to_three.angle")[last];
        assert!((angle - 0.8).abs() < FOLLOWED, "{angle}");
    }
    let free = text.replace(
        "rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.8, duration_s = 0.5 }",
        "nominal_motion = true",
    );
    let found = tree_mechanism(&parsed(&free)).nominal_drives(&[0.1], &mut |_| Flow::Continue);
    assert!(
        matches!(found, Err(NominalError::Undetermined { left: 1 })),
        "{found:?}"
    );
}
