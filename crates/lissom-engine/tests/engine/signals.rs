//! The one list of signals: names, and what reactions, rates and deviations from the nominal trajectory are.

use std::collections::BTreeSet;

use lissom_core::Recording;
use lissom_core::study::sample_instants;
use lissom_engine::Mechanism;
use lissom_spec::ModelSpec;

use crate::models::{driven_arm, parsed, revolute};
use crate::numbers::{distance, largest};
use crate::runs::{nodal_mechanism, samples, tree_mechanism, vector};
use crate::shipped::{self, PLANAR_3RRR, SPACE_ARM};

/// Sums of a few products.
const ROUNDING: f64 = 1e-12;
/// Motions integrated at a relative tolerance of 1e-11, forces of which are as large as 1e2.
const FORCES: f64 = 1e-7;
/// Differences of fourth order of samples 2e-5 s apart, of vibrations below 4e3 rad/s: a thirtieth of $`(\omega h)^4`$ of the
/// rate, with room for two vibrations that meet.
const DIFFERENCES: f64 = 1e-5;

const G: f64 = 9.81;

fn recorded(mechanism: &Mechanism) -> Recording {
    let spec = mechanism.spec();
    let run = mechanism.run(&sample_instants(spec, &[]));
    assert_eq!(run.ending, lissom_core::study::Ending::Completed);
    run.recording
}

fn both(spec: &ModelSpec, elements: usize) -> [Mechanism; 2] {
    [tree_mechanism(spec), nodal_mechanism(spec, elements)]
}

/// A rigid arm of two links with a payload, a load and different frames, at rest or in motion.
fn arm(rates: [f64; 2], more: &str) -> String {
    format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -{G}]
[[body]]
name = "upper"
rigid = {{ mass_kg = 1.5, center_of_mass_m = [0.3, 0.02, 0.0], inertia_kg_m2 = [2e-3, 3e-2, 3e-2] }}
node = [{{ name = "end", position_m = [0.6, 0.0, 0.1] }}]
[[body]]
name = "fore"
rigid = {{ mass_kg = 0.8, center_of_mass_m = [0.2, 0.0, 0.05], inertia_kg_m2 = [1e-3, 1e-2, 1e-2] }}
node = [{{ name = "end", position_m = [0.4, 0.0, 0.0] }}]
[[payload]]
name = "load"
body = "fore"
at = "end"
mass_kg = 0.4
inertia_kg_m2 = [1e-4, 1e-4, 1e-4]
[[joint]]
name = "shoulder"
parent = "ground"
child = {{ body = "upper", rotation_vector_rad = [0.0, 0.0, 0.4] }}
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.2, initial_rate_rad_per_s = {} }}
[[joint]]
name = "elbow"
parent = "fore"
child = {{ body = "upper", at = "end" }}
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = -0.5, initial_rate_rad_per_s = {} }}
[[marker]]
name = "hand"
body = "fore"
at = "end"
{more}
[simulation]
duration_s = 0.1
integrator.dop853 = {{ rtol = 1e-11, atol = 1e-13 }}
"#,
        rates[0], rates[1]
    )
}

/// Closed form: a joint at rest carries the weight of what hangs on it, at its lever.
#[test]
fn joints_at_rest_carry_weight() {
    for mechanism in both(&parsed(&arm([0.0; 2], "")), 1) {
        let recording = recorded(&mechanism);
        let force = vector(&recording, "shoulder.reaction.force", 0);
        let moment = vector(&recording, "shoulder.reaction.moment", 0);
        let weight = (1.5 + 0.8 + 0.4) * G;
        assert!(distance(force, [0.0, 0.0, weight]) < ROUNDING * weight);
        // in a hinge without friction nothing turns about its axis
        assert!(moment[2].abs() < ROUNDING * weight, "{moment:?}");
        // written as the child, the upper arm is carried by the elbow's other side: it bears the forearm's weight
        let force = vector(&recording, "elbow.reaction.force", 0);
        assert!(
            distance(force, [0.0, 0.0, -1.2 * G]) < ROUNDING * weight,
            "{force:?}"
        );
    }
}

/// Newton's and Euler's equations of the whole arm: the root's reaction is the rate of momentum less weight and loads; and two
/// formulations.
#[test]
fn the_root_carries_the_rate_of_momentum() {
    let load = "[[input]]\nmarker = \"hand\"\ndirection = [0.2, 1.0, 0.5]\nframe = \"body\"\nforce_constant.value_n = 3.0\n";
    let spec = parsed(&arm([3.0, -5.0], load));
    let found = both(&spec, 1).map(|mechanism| recorded(&mechanism));
    for recording in &found {
        let [angle, quaternion] =
            ["shoulder.angle", "hand.quaternion.w"].map(|x| samples(recording, x));
        for k in 1..recording.len() - 1 {
            let h = recording.time_s[k + 1] - recording.time_s[k - 1];
            let momentum = |k: usize| vector(recording, "momentum.linear", k);
            let (after, before) = (momentum(k + 1), momentum(k - 1));
            let reaction = vector(recording, "shoulder.reaction.force", k);
            // in the axes of the joint's frame on the upper arm, which turns about z
            let (sin, cos) = angle[k].sin_cos();
            let turn = 2.0 * samples(recording, "hand.quaternion.z")[k].atan2(quaternion[k]);
            let (load_sin, load_cos) = turn.sin_cos();
            let size = (0.2_f64 * 0.2 + 1.0 + 0.25).sqrt() / 3.0;
            let load = [
                (0.2 * load_cos - load_sin) / size,
                (0.2 * load_sin + load_cos) / size,
                0.5 / size,
            ];
            let ground = [
                cos * reaction[0] - sin * reaction[1],
                sin * reaction[0] + cos * reaction[1],
                reaction[2] - 2.7 * G,
            ];
            for i in 0..3 {
                let rate = (after[i] - before[i]) / h;
                let most = 1e-3 * largest(samples(recording, "shoulder.reaction.force.x"));
                assert!(
                    (rate - load[i] - ground[i]).abs() < most,
                    "{k} {i}: {rate} {ground:?} {load:?}"
                );
            }
        }
    }
    for channel in &found[0].channels {
        let other = samples(&found[1], &channel.name);
        for (a, b) in channel.samples.iter().zip(other) {
            assert!((a - b).abs() < FORCES, "{}: {a} {b}", channel.name);
        }
    }
}

/// Two formulations: forces of loops that are not over-constrained, and of joints in them.
#[test]
fn loops_are_held_by_the_same_forces() {
    let text = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "crank"
rigid = { mass_kg = 0.3, center_of_mass_m = [0.1, 0.0, 0.02], inertia_kg_m2 = [1e-4, 1e-3, 1e-3] }
node = [{ name = "pin", position_m = [0.2, 0.0, 0.0] }]
[[body]]
name = "coupler"
rigid = { mass_kg = 0.6, center_of_mass_m = [0.3, 0.05, 0.0], inertia_kg_m2 = [1e-4, 2e-2, 2e-2] }
node = [{ name = "end", position_m = [0.6, 0.0, 0.0] }]
[[joint]]
name = "motor"
parent = "ground"
child = "crank"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.0, initial_rate_rad_per_s = 3.0, held = true }
[[joint]]
name = "knuckle"
parent = { body = "crank", at = "pin" }
child = "coupler"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = -1.3 }
[[loop]]
name = "guide"
from = { body = "ground", position_m = [0.3, 0.1, 0.0] }
to = { body = "coupler", at = "end" }
point_on_line = { direction = [1.0, 0.1, 0.0] }
[simulation]
duration_s = 0.1
integrator.dop853 = { rtol = 1e-11, atol = 1e-13 }
"#;
    let [tree, nodes] = both(&parsed(text), 1).map(|mechanism| recorded(&mechanism));
    let in_plane = |name: &str| {
        // out of the plane the guide and the hinges hold the same
        !name.ends_with("force.z") && !name.ends_with("moment.x") && !name.ends_with("moment.y")
    };
    let mut compared = 0;
    for channel in tree
        .channels
        .iter()
        .filter(|channel| in_plane(&channel.name))
    {
        compared += usize::from(channel.name.contains("force"));
        for (a, b) in channel.samples.iter().zip(samples(&nodes, &channel.name)) {
            assert!((a - b).abs() < FORCES, "{}: {a} {b}", channel.name);
        }
    }
    assert!(compared >= 6, "{compared}");
    assert!(largest(samples(&tree, "guide.force.y")) > 1.0);
}

/// Numerical differentiation of what is recorded beside them.
#[test]
fn rates_of_markers_are_rates() {
    let text = driven_arm(
        [0.0, -9.81, 0.0],
        ["[0.0, 0.0, 1.0]", "[0.0, 1.0, 0.0]"],
        "bending_stiffness_y_n_m2 = 60.0\nbending_stiffness_z_n_m2 = 60.0\n\
         basis.clamped_free = { bending_y = 2, bending_z = 2 }",
        "final_angle_rad = 1.0, duration_s = 0.5",
    ) + "\n[simulation]\nduration_s = 0.004\nintegrator.dop853 = { rtol = 1e-12, atol = 1e-14 }\n\
       [output]\nsample_period_s = 2e-5\n";
    for mechanism in both(&parsed(&text), 2) {
        let recording = recorded(&mechanism);
        let time = &recording.time_s;
        let slope = |of: &[f64], k: usize| {
            let (near, far) = (of[k + 1] - of[k - 1], of[k + 2] - of[k - 2]);
            (8.0 * near - far) / (6.0 * (time[k + 1] - time[k - 1]))
        };
        for axis in ["x", "y", "z"] {
            let [deflection, rate] = ["deflection", "deflection_rate"]
                .map(|what| samples(&recording, &format!("hand.{what}.{axis}")));
            let size = largest(rate).max(1.0);
            for k in 2..time.len() - 2 {
                let slope = slope(deflection, k);
                assert!(
                    (slope - rate[k]).abs() < DIFFERENCES * size,
                    "{axis} {k}: {slope} {}",
                    rate[k]
                );
            }
        }
        assert!(largest(samples(&recording, "hand.deflection_rate.y")) > 1e-3);
        // angular velocity in ground components: twice the rate of the quaternion, times its conjugate
        let q = ["w", "x", "y", "z"]
            .map(|part| samples(&recording, &format!("hand.quaternion.{part}")));
        for k in 2..time.len() - 2 {
            let [w, x, y, z] = q.map(|part| part[k]);
            let [dw, dx, dy, dz] = q.map(|part| slope(part, k));
            let spin = [
                2.0 * (-dw * x + dx * w - dy * z + dz * y),
                2.0 * (-dw * y + dx * z + dy * w - dz * x),
                2.0 * (-dw * z - dx * y + dy * x + dz * w),
            ];
            let read = vector(&recording, "hand.angular_velocity", k);
            assert!(
                distance(spin, read) < DIFFERENCES * (1.0 + largest(&read)),
                "{k}: {spin:?} {read:?}"
            );
        }
    }
}

/// Closed form of the cycloid; the error is what is missing to it.
#[test]
fn deviations_from_the_nominal_trajectory() {
    let text = driven_arm(
        [0.0, 0.0, 0.0],
        ["[0.0, 0.0, 1.0]"; 2],
        "bending_stiffness_y_n_m2 = 300.0\nbasis.clamped_free = { bending_y = 2 }",
        "final_angle_rad = 1.3, duration_s = 0.5",
    ) + "\n[simulation]\nduration_s = 0.1\nintegrator.dop853 = { rtol = 1e-8, atol = 1e-10 }\n";
    for mechanism in both(&parsed(&text), 2) {
        let recording = recorded(&mechanism);
        let of = |name: &str| samples(&recording, name);
        let mut off = 0.0_f64;
        for (k, time) in recording.time_s.iter().enumerate() {
            let part = time / 0.5;
            let turn = std::f64::consts::TAU * part;
            let angle = 0.3 + (part - turn.sin() / std::f64::consts::TAU);
            let nominal = of("upper_joint.nominal_angle")[k];
            assert!((nominal - angle).abs() < ROUNDING, "{nominal} {angle}");
            let error = of("upper_joint.angle_error")[k];
            assert!((error - (nominal - of("upper_joint.angle")[k])).abs() < ROUNDING);
            off = off.max(error.abs());
        }
        assert!(off > 1e-4, "a flexible arm stays behind: {off}");
    }
}

#[test]
fn names_are_unique_and_lead_to_their_signals() {
    for (text, elements) in [(shipped::TWO_LINK, 1), (PLANAR_3RRR, 1), (SPACE_ARM, 1)] {
        let spec = parsed(text);
        let mechanisms = if spec.is_of_nodes() {
            vec![tree_mechanism(&spec)]
        } else {
            both(&spec, elements).into()
        };
        for mechanism in mechanisms {
            let signals = mechanism.signals().unwrap();
            let names: BTreeSet<&str> = signals.iter().map(|signal| signal.name.as_str()).collect();
            assert_eq!(names.len(), signals.len());
            for signal in signals.iter() {
                assert_eq!(&signals[signals.find(&signal.name).unwrap()], signal);
            }
            assert_eq!(signals.inputs().count(), spec.input.len());
        }
    }
}

/// Property: coordinates of a body given by its modes have no unit, even where they are called like those of a beam.
#[test]
fn modes_that_are_given_have_no_unit() {
    let text = r#"format = 1
[[body]]
name = "panel"
[body.nodal]
coordinates = ["u_flap", "twist_1"]
stiffness = [[30.0, 1.0], [1.0, 50.0]]
[[body.nodal.nodes]]
name = "hinge"
position_m = [0.0, 0.0, 0.0]
[[body.nodal.nodes]]
name = "edge"
position_m = [1.0, 0.0, 0.0]
mass_kg = 2.0
inertia_kg_m2 = [[0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.25]]
influence = [[0.0, 1.0], [-1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.7, 0.0]]
"#;
    let hub = revolute(
        "hub",
        "\"ground\"",
        "{ body = \"panel\", at = \"hinge\" }",
        "",
    );
    let signals = tree_mechanism(&parsed(&format!("{text}{hub}"))).signals();
    let signals = signals.unwrap();
    for (name, unit) in [
        ("panel.u_flap", "1"),
        ("panel.twist_1", "1"),
        ("panel.twist_1.rate", "1/s"),
    ] {
        assert_eq!(signals[signals.find(name).unwrap()].unit, unit, "{name}");
    }
}
