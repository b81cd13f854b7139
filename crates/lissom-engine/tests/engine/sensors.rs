//! Sensors in both formulations, each against its definition.

use std::f64::consts::TAU;

use lissom_core::study::{SimulateOptions, sample_instants};
use lissom_core::{Recording, State};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_spatial::{Quaternion, Vector};
use lissom_spec::{ModelError, ModelSpec};

use crate::models::parsed;
use crate::numbers::largest;
use crate::runs::{completed, in_nodes, in_tree, nodal_mechanism, samples, tree_mechanism, vector};

const GRAVITY: [f64; 3] = [0.3, -9.81, 0.5];
const COUNTS: f64 = 500.0;
const RATIO: f64 = 40.0;
const SAMPLE_S: f64 = 2.5e-4;

/// An arm of two links in space, of which the first bends and stretches behind an elastic gear, with sensors of every kind.
pub(crate) fn arm(more: &str) -> ModelSpec {
    parsed(&text_of_arm(more))
}

fn text_of_arm(more: &str) -> String {
    let [x, y, z] = GRAVITY;
    format!(
        r#"
format = 1
gravity_m_per_s2 = [{x:?}, {y:?}, {z:?}]

[[body]]
name = "upper"
damping = {{ modal_ratio = 0.02 }}
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 2.0
bending_stiffness_y_n_m2 = 400.0
bending_stiffness_z_n_m2 = 600.0
axial_stiffness_n = 1e5
torsional_stiffness_n_m2 = 50.0
section_inertia_y_kg_m = 2e-4
section_inertia_z_kg_m = 3e-4
basis.elements = {{ count = 2, stretch = true, torsion = true }}

[[body]]
name = "fore"
rigid = {{ mass_kg = 1.5, center_of_mass_m = [0.2, 0.05, 0.0], inertia_kg_m2 = [0.01, 0.03, 0.03] }}

[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
[joint.revolute]
axis = [0.0, 0.6, 0.8]
initial_rate_rad_per_s = 1.0
motor = {{ inertia_kg_m2 = 2e-3, gear_ratio = {RATIO:?}, stiffness_n_m_per_rad = 3000.0, damping_n_m_s_per_rad = 3.0 }}

[[joint]]
name = "elbow"
parent = "upper"
child = "fore"
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.7, initial_rate_rad_per_s = -2.0 }}

[[marker]]
name = "hand"
body = "fore"
position_m = [0.4, 0.1, 0.05]

[[marker]]
name = "middle"
body = "upper"
position_m = [0.8, 0.0, 0.0]

[[input]]
joint = "shoulder"
torque_sines = {{ amplitude_n_m = [20.0], frequency_rad_per_s = [9.0] }}

[[sensor]]
name = "elbow_encoder"
encoder = {{ joint = "elbow" }}
bias = [0.25]

[[sensor]]
name = "motor_encoder"
encoder = {{ joint = "shoulder", side = "motor", counts_per_revolution = {COUNTS:?} }}

[[sensor]]
name = "shoulder_encoder"
encoder = {{ joint = "shoulder", counts_per_revolution = {COUNTS:?} }}

[[sensor]]
name = "root_strain"
strain = {{ body = "upper", at_m = 0.1, offset_m = [0.01, -0.02] }}

[[sensor]]
name = "hand_imu"
accelerometer = {{ marker = "hand" }}

[[sensor]]
name = "bent_imu"
accelerometer = {{ marker = "middle" }}

[[sensor]]
name = "hand_gyro"
gyroscope = {{ marker = "hand" }}

[[sensor]]
name = "wrist"
force_torque = {{ joint = "elbow" }}

[simulation]
duration_s = 0.05
integrator.dop853 = {{ rtol = 1e-9, atol = 1e-11 }}
[output]
sample_period_s = {SAMPLE_S:?}
{more}
"#
    )
}

/// Orientation of a marker at a sample.
fn turned_back(recording: &Recording, marker: &str, sample: usize, v: Vector<f64>) -> Vector<f64> {
    let part = |part: &str| samples(recording, &format!("{marker}.quaternion.{part}"))[sample];
    let rotation = Quaternion(["w", "x", "y", "z"].map(part)).matrix();
    rotation.transpose_mul(v)
}

/// Definition: encoders read the joint or its motor in steps, gyroscopes the angular velocity and accelerometers the rate of the velocity
/// less gravity, both in the axes of their marker, force-torque sensors the reaction.
#[test]
fn readings_are_what_they_are_defined_as() {
    /// Differences of fourth order over a quarter of a millisecond of vibrations of up to 2e3 rad/s: (ωh)⁴/30.
    const DIFFERENCE: f64 = 2e-3;
    const ROUNDING: f64 = 1e-12;
    for run in [in_tree(&arm("")), in_nodes(&arm(""), 2)] {
        let recording = &completed(run).recording;
        let of = |name: &str| samples(recording, name);
        for (reading, angle) in of("elbow_encoder").iter().zip(of("elbow.angle")) {
            assert!((reading - angle - 0.25).abs() < ROUNDING);
        }
        for (encoder, channel, step) in [
            (
                "motor_encoder",
                "shoulder.motor_angle",
                TAU / (COUNTS * RATIO),
            ),
            ("shoulder_encoder", "shoulder.angle", TAU / COUNTS),
        ] {
            for (reading, angle) in of(encoder).iter().zip(of(channel)) {
                assert!((reading - angle).abs() <= 0.5 * step * (1.0 + ROUNDING));
                let steps = reading / step;
                assert!((steps - steps.round()).abs() < 1e-9);
            }
            let distinct = of(encoder).windows(2).filter(|pair| pair[0] != pair[1]);
            assert!(distinct.count() > 2, "{encoder} does not move");
        }
        for what in [
            "force.x", "force.y", "force.z", "moment.x", "moment.y", "moment.z",
        ] {
            assert_eq!(
                of(&format!("wrist.{what}")),
                of(&format!("elbow.reaction.{what}"))
            );
        }
        let count = recording.time_s.len();
        for sample in 0..count {
            let spin = Vector(vector(recording, "hand.angular_velocity", sample));
            let spin = turned_back(recording, "hand", sample, spin);
            let read = Vector(vector(recording, "hand_gyro", sample));
            assert!((spin - read).dot(spin - read).sqrt() < 1e-9);
        }
        for (sensor, marker) in [("hand_imu", "hand"), ("bent_imu", "middle")] {
            let mut worst = 0.0_f64;
            let most = (0..3).map(|i| largest(of(&format!("{sensor}.{}", ["x", "y", "z"][i]))));
            let most = most.fold(0.0, f64::max);
            for sample in 2..count - 2 {
                let at = |k: usize| Vector(vector(recording, &format!("{marker}.velocity"), k));
                let near = (at(sample + 1) - at(sample - 1)).scale(8.0);
                let rate = near - (at(sample + 2) - at(sample - 2));
                let rate = rate.scale(1.0 / (12.0 * SAMPLE_S)) - Vector(GRAVITY);
                let expected = turned_back(recording, marker, sample, rate);
                let off = expected - Vector(vector(recording, sensor, sample));
                worst = worst.max(off.dot(off).sqrt());
            }
            assert!(worst < DIFFERENCE * most, "{sensor}: {worst} of {most}");
        }
    }
}

/// Both formulations, of which one has functions along the beam and one elements, read the same strain.
#[test]
fn formulations_read_the_same() {
    /// Two elements of a beam that bends by a few millimetres: terms of second order differ, and so do mass matrices.
    const FORMULATIONS: f64 = 2e-2;
    let [tree, nodes] = [in_tree(&arm("")), in_nodes(&arm(""), 2)].map(completed);
    for sensor in [
        "root_strain",
        "elbow_encoder",
        "hand_gyro.y",
        "hand_imu.x",
        "wrist.moment.y",
    ] {
        let [a, b] = [&tree, &nodes].map(|run| samples(&run.recording, sensor));
        let size = largest(a);
        let off = a
            .iter()
            .zip(b)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(off < FORMULATIONS * size, "{sensor}: {off} of {size}");
    }
}

/// Closed form: a cantilever under forces at its tip, $`\varepsilon = N/EA - (L - x)(y F_y/EI_y + z F_z/EI_z)`$.
#[test]
fn strain_of_a_cantilever_is_that_of_statics() {
    /// Of strains of 1e-9: it bends by 1e-7 of its length, tension and bending act on each other by as much, and places are rounded to 1e-16.
    const STATICS: f64 = 1e-15;
    let gauges = [
        (0.0, [0.01, 0.0]),
        (0.33, [0.0, 0.02]),
        (0.9, [0.01, -0.02]),
        (1.0, [0.0, 0.0]),
    ];
    let tables: Vec<String> = (gauges.iter().enumerate())
        .map(|(i, (at, offset))| {
            format!("[[sensor]]\nname = \"g{i}\"\nstrain = {{ body = \"rod\", at_m = {at:?}, offset_m = {offset:?} }}\n")
        })
        .collect();
    let tables = tables.concat();
    let [along, up, out] = [1e-3, 1e-3, -5e-4];
    let model = |basis: &str| {
        parsed(&format!(
            r#"
format = 1
[[body]]
name = "rod"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 1e4
bending_stiffness_z_n_m2 = 3e4
axial_stiffness_n = 1e6
torsional_stiffness_n_m2 = 5e3
basis.elements = {{ count = 2, stretch = true{basis} }}
[[joint]]
name = "wall"
parent = "ground"
child = "rod"
fixed = {{}}
[[marker]]
name = "tip"
body = "rod"
[[input]]
marker = "tip"
direction = [1.0, 0.0, 0.0]
force_constant.value_n = {along:?}
[[input]]
marker = "tip"
direction = [0.0, 1.0, 0.0]
force_constant.value_n = {up:?}
[[input]]
marker = "tip"
direction = [0.0, 0.0, 1.0]
force_constant.value_n = {out:?}
{tables}
[simulation]
duration_s = 1e-6
initial = "equilibrium"
"#
        ))
    };
    for run in [in_tree(&model("")), in_nodes(&model(""), 2)] {
        let recording = completed(run).recording;
        for (i, (at, [y, z])) in gauges.iter().enumerate() {
            let bending = (1.0 - at) * (y * up / 1e4 + z * out / 3e4);
            let expected = along / 1e6 - bending;
            let found = samples(&recording, &format!("g{i}"))[0];
            assert!(
                (found - expected).abs() < STATICS,
                "{i}: {found} {expected}"
            );
        }
    }
}

const NOISY: &str = r#"
[[sensor]]
name = "noisy"
gyroscope = { marker = "hand" }
bias = [0.5, 0.0, 0.0]
noise = { rms = [0.1, 0.2, 0.0], period_s = 0.0025, seed = 3 }
"#;

/// By construction: noise holds for its period, is none without deviation, has the same bits when a run is repeated or goes on from one of its
/// states, and other numbers for another seed.
#[test]
fn noise_belongs_to_instants() {
    let spec = arm(NOISY);
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 2)] {
        let whole = completed(mechanism.run(&sample_instants(&spec, &[])));
        let noise = |recording: &Recording, axis: &str| -> Vec<f64> {
            let noisy = samples(recording, &format!("noisy.{axis}")).iter();
            let plain = samples(recording, &format!("hand_gyro.{axis}"));
            noisy.zip(plain).map(|(a, b)| a - b).collect()
        };
        let [x, y, z] = ["x", "y", "z"].map(|axis| noise(&whole.recording, axis));
        assert!(z.iter().all(|&z| z == 0.0));
        // ten samples of each period are alike
        for (first, own) in y.chunks(10).zip(y.chunks(10).skip(1)) {
            assert!(first.iter().all(|value| (value - first[0]).abs() < 1e-12));
            assert!((first[0] - own[0]).abs() > 1e-6);
        }
        assert!(largest(&x) > 0.5 && largest(&x) < 1.0);
        let again = completed(mechanism.run(&sample_instants(&spec, &[])));
        assert_eq!(
            samples(&again.recording, "noisy.y"),
            samples(&whole.recording, "noisy.y")
        );
        let split = whole
            .recording
            .time_s
            .iter()
            .position(|&t| t > 0.0236)
            .unwrap();
        let part = |from: &State, times: &[f64]| {
            let options = SimulateOptions {
                samples: times,
                channels: None,
                most_lengths: f64::INFINITY,
            };
            let mut simulation = spec.simulation.clone();
            (simulation.start_s, simulation.duration_s) =
                (times[0], times[times.len() - 1] - times[0]);
            completed(mechanism.simulate(from, &simulation, &options, &mut |_| Flow::Continue))
        };
        let times = &whole.recording.time_s;
        let start = mechanism.start().unwrap();
        let first = part(&start, &times[..=split]);
        let halfway = first.last.unwrap();
        let second = part(&halfway, &times[split..]);
        let rest = noise(&second.recording, "y");
        for (a, b) in rest.iter().zip(&y[split..]) {
            assert!((a - b).abs() < 1e-12);
        }
    }
    let other = arm(&NOISY.replace("seed = 3", "seed = 4"));
    let [a, b] = [&spec, &other].map(|spec| completed(in_tree(spec)));
    assert_ne!(
        samples(&a.recording, "noisy.y"),
        samples(&b.recording, "noisy.y")
    );
}

/// What is said of sensors that make no sense.
#[test]
fn wrong_sensors_are_refused() {
    let said = |more: &str| {
        let errors = ModelSpec::parse(&text_of_arm(more), &[]).unwrap_err();
        errors
            .iter()
            .map(ModelError::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    for (sensor, expected) in [
        (
            "encoder.joint = \"elbo\"",
            "there is no joint called \"elbo\"",
        ),
        (
            "encoder = { joint = \"elbow\", side = \"motor\" }",
            "an encoder at the motor of a joint needs `motor`",
        ),
        (
            "encoder = { joint = \"elbow\", resolution_m = 1e-3 }",
            "`resolution_m` has no effect",
        ),
        (
            "strain = { body = \"fore\", at_m = 0.1 }",
            "body \"fore\" is not a beam",
        ),
        (
            "strain = { body = \"upper\", at_m = 0.9 }",
            "x = 0.9 m is outside the beam",
        ),
        (
            "gyroscope.marker = \"foot\"",
            "there is no marker called \"foot\"",
        ),
        (
            "force_torque.joint = \"knee\"",
            "there is no joint called \"knee\"",
        ),
        (
            "gyroscope.marker = \"hand\"\nbias = [1.0]",
            "`bias` has 1 entries, expected 3",
        ),
        ("", "none of `encoder`"),
    ] {
        let found = said(&format!("[[sensor]]\nname = \"new\"\n{sensor}"));
        assert!(found.contains(expected), "{sensor}: {found}");
    }
    let found = said("[[sensor]]\nname = \"elbow\"\nencoder.joint = \"elbow\"");
    assert!(
        found.contains("the sensor name \"elbow\" is reserved"),
        "{found}"
    );
}

/// By construction: a sensor whose channels are called like others is refused, whichever of both comes first in a recording; a name with a dot or a number
/// that nothing else has is one like any other.
#[test]
fn sensors_hide_no_channels() {
    let with = |name: &str, kind: &str| {
        let sensor = format!("\n[[sensor]]\nname = \"{name}\"\n{kind}\n");
        Mechanism::build(&parsed(&text_of_arm(&sensor)))
    };
    let (marker, joint) = ("gyroscope.marker = \"hand\"", "encoder.joint = \"elbow\"");
    for (name, kind, channel) in [
        ("hand.position", marker, "hand.position.x"),
        ("energy.total", joint, "energy.total"),
        ("elbow.angle.rate", joint, "elbow.angle.rate"),
        (
            "elbow.reaction",
            "force_torque.joint = \"elbow\"",
            "elbow.reaction.force.x",
        ),
    ] {
        let errors = with(name, kind).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        let told = errors[0].to_string();
        assert!(told.contains(name) && told.contains(channel), "{told}");
        assert!(
            errors[0].path().to_string().starts_with("sensor["),
            "{told}"
        );
    }
    for name in ["hand.gyro", "elbow.angle#2"] {
        assert!(with(name, marker).is_ok(), "{name}");
    }
}
