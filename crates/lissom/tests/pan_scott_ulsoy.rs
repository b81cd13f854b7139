//! Pan, Scott & Ulsoy 1990: links that slide through supports, against converged and finite-element references that
//! were computed independently.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use lissom::integrate::Flow;
use lissom::model::{Model, ModelSpec};
use lissom::simulate::{Ending, Run, run, sample_instants};

/// The beam of their section 5: pushed or pulled over two supports a quarter of its length apart.
fn beam(
    basis: &str,
    shortening: &str,
    seconds: f64,
    feed: [f64; 2],
    tip: &str,
    load: f64,
    solution: &str,
) -> Run {
    let text = format!(
        r#"
format = 1
[[body]]
name = "beam"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 1.0
basis = {basis}
[[joint]]
name = "feed"
parent = "ground"
child = "beam"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
initial_displacement_m = {}
[[motion]]
joint = "feed"
[motion.cycloid]
final_displacement_m = {}
duration_s = {seconds}
[[support]]
name = "first"
beam = "beam"
on = {{ body = "ground", position_m = [0.0, 0.0, 0.0] }}
[[support]]
name = "second"
beam = "beam"
on = {{ body = "ground", position_m = [0.25, 0.0, 0.0] }}
[[marker]]
name = "observed"
body = "beam"
at = "{tip}"
[fidelity]
shortening = "{shortening}"
[simulation]
duration_s = {seconds}
initial.static_load.gravity_m_per_s2 = [0.0, {load}, 0.0]
{solution}
[output]
sample_period_s = {}
"#,
        feed[0],
        feed[1],
        seconds / 20.0
    );
    let spec = ModelSpec::parse(&text, &[]).unwrap();
    spec.check().unwrap();
    let model = Model::build(&spec).unwrap();
    let samples = sample_instants(&spec, &[]);
    run(&model, &spec.simulation, &samples, None, &mut |_| {
        Flow::Continue
    })
}

/// Tight enough for the digits of the references.
const EXACT: &str = "integrator.dop853 = { rtol = 1e-9, atol = 1e-12 }";

const FE4: &str = r#"{ elements = { count = 4, boundary = "unconstrained" } }"#;

/// Deflection of the observed tip in mm at every twentieth of the run.
fn tip_of(run: &Run) -> Vec<f64> {
    assert_eq!(run.ending, Ending::Completed);
    let channel = run.recording.channel("observed.position.y").unwrap();
    channel.samples.iter().map(|y| y * 1e3).collect()
}

/// The load that deflects the observed tip by 10 mm before the start: everything is linear in it.
fn load(basis: &str, feed: [f64; 2], tip: &str) -> f64 {
    let trial = beam(basis, "none", 1e-4, [feed[0]; 2], tip, 0.2, EXACT);
    0.2 * 10.0 / tip_of(&trial)[0]
}

/// Deflection of the observed tip in mm at every second twentieth of the run.
fn deflections(basis: &str, shortening: &str, seconds: f64, feed: [f64; 2], tip: &str) -> Vec<f64> {
    let load = load(basis, feed, tip);
    let run = beam(basis, shortening, seconds, feed, tip, load, EXACT);
    let found = tip_of(&run);
    assert!((found[0] - 10.0).abs() < 1e-6, "{}", found[0]);
    // the feed does work, and all of it is accounted for
    let drift = run.audit.energy.max_drift_percent;
    assert!(drift < 1e-7, "{drift} %");
    let closures = run.audit.closures.unwrap();
    assert!(closures.max_position_violation < 1e-12);
    found.into_iter().step_by(2).skip(1).collect()
}

const PUSH: [f64; 2] = [-0.725, -0.025];
const PULL: [f64; 2] = [-0.025, -0.725];

fn assert_agree(found: &[f64], expected: [f64; 10], tolerance: f64, what: &str) {
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() < tolerance,
            "{what} at {}/20: {found} mm, expected {expected} mm",
            2 * (i + 1)
        );
    }
}

/// Four Hermite elements, the exact solution in time.
#[test]
fn four_elements_follow_the_reference() {
    // the digits of the reference
    const MILLIMETRES: f64 = 1e-3;
    let cases = [
        (
            ("push", 0.7, PUSH, "root"),
            [
                10.1664, 10.7218, 11.4375, 14.2975, 14.0498, -6.7637, 2.1630, -0.8782, -0.5991,
                0.4416,
            ],
        ),
        (
            ("pull", 0.7, PULL, "tip"),
            [
                9.3662, 6.6169, 2.4759, -3.4540, -8.0308, 0.4018, -3.7240, -0.8324, 0.2279, 0.3073,
            ],
        ),
        (
            ("slow push", 3.5, PUSH, "root"),
            [
                -3.6412, -7.5690, 9.5426, -8.2935, 1.8905, 1.2040, -0.9012, 0.0919, 0.0624, 0.0573,
            ],
        ),
    ];
    for ((what, seconds, feed, tip), expected) in cases {
        let found = deflections(FE4, "second_order", seconds, feed, tip);
        assert_agree(&found, expected, MILLIMETRES, what);
    }
}

/// Converged in space, with a smooth basis.
#[test]
fn many_functions_converge() {
    // what the reference allows for
    const MILLIMETRES: f64 = 5e-3;
    const SMOOTH: &str = "{ unconstrained = { bending_y = 40 } }";
    let push = [
        10.1771, 10.7371, 11.4485, 14.3251, 14.0470, -6.3001, 3.6157, 1.2687, 0.6168, 0.6237,
    ];
    let found = deflections(SMOOTH, "second_order", 0.7, PUSH, "root");
    assert_agree(&found, push, MILLIMETRES, "push");
}

/// Newmark with Baumgarte's stabilisation, γ = β = 5, against the exact solution of the same elements: errors and
/// violations that an independent implementation with an implicit right-hand side found, at second order.
#[test]
fn newmark_with_stabilised_multipliers_is_of_second_order() {
    let load = load(FE4, PUSH, "root");
    let at = |solution: &str| beam(FE4, "second_order", 0.7, PUSH, "root", load, solution);
    let exact = tip_of(&at(EXACT));
    let mut found = Vec::new();
    for step in [1e-3, 1e-4] {
        let run = at(&format!(
            "integrator.newmark = {{ step_s = {step}, tolerance = 1e-11 }}\n\
             closure.stabilized = {{ frequency_rad_per_s = 5.0, damping_ratio = 1.0 }}"
        ));
        let error =
            (tip_of(&run).iter().zip(&exact)).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        let violation = run.audit.closures.unwrap().max_position_violation;
        found.push((error, violation));
    }
    // the digits of the reference: largest error of the tip in mm, largest violation in m
    let expected = [(0.071, 4.9e-6), (0.0007, 4.3e-8)];
    for ((error, violation), (expected_error, expected_violation)) in found.iter().zip(expected) {
        assert!((error / expected_error - 1.0).abs() < 0.08, "{found:?}");
        assert!(
            (violation / expected_violation - 1.0).abs() < 0.02,
            "{found:?}"
        );
    }
    // ten times smaller steps: second order is a factor of 100
    let ratio = found[0].0 / found[1].0;
    assert!((70.0..140.0).contains(&ratio), "{ratio}");
}

/// A feed that is too long: the run ends where a support leaves the beam, and says so.
#[test]
fn a_support_that_leaves_the_beam_is_reported() {
    let run = beam(FE4, "none", 0.7, [-0.725, 0.2], "root", 0.2, EXACT);
    let Ending::Failed(error) = &run.ending else {
        panic!("{:?}", run.ending);
    };
    let text = error.to_string();
    assert!(
        text.contains("support \"first\" left beam \"beam\""),
        "{text}"
    );
}

/// Symmetry: without axial force a beam that is pulled mirrors one that is pushed.
#[test]
fn push_and_pull_agree_without_shortening() {
    // 1e-12 m, in millimetres
    const ROUNDING: f64 = 1e-9;
    let push = deflections(FE4, "none", 0.7, PUSH, "root");
    let pull = deflections(FE4, "none", 0.7, PULL, "tip");
    for (push, pull) in push.iter().zip(&pull) {
        assert!((push - pull).abs() < ROUNDING);
    }
}

/// Revolute-prismatic robot: a flexible boom in a rigid sleeve.
fn robot(spatial: bool, driven: bool, shortening: &str) -> Run {
    let (axis, child) = if spatial {
        (
            "[0.0, 1.0, 0.0]",
            format!(
                r#"{{ body = "sleeve", rotation_vector_rad = [0.0, 0.0, {}] }}"#,
                -std::f64::consts::FRAC_PI_6
            ),
        )
    } else {
        ("[0.0, 0.0, 1.0]", r#""sleeve""#.to_owned())
    };
    let angle = if spatial {
        std::f64::consts::FRAC_PI_2
    } else {
        std::f64::consts::FRAC_PI_3
    };
    let swing = format!("final_angle_rad = {angle}\nduration_s = 1.0");
    let slide = "final_displacement_m = 0.5\nduration_s = 1.0";
    let moved = if driven {
        format!(
            "[[input]]\njoint = \"swing\"\n[input.rigid_inverse_dynamics.cycloid]\n{swing}\n\
             [[input]]\njoint = \"slide\"\n[input.rigid_inverse_dynamics.cycloid]\n{slide}\n"
        )
    } else {
        format!(
            "[[motion]]\njoint = \"swing\"\n[motion.cycloid]\n{swing}\n\
             [[motion]]\njoint = \"slide\"\n[motion.cycloid]\n{slide}\n"
        )
    };
    let text = format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "sleeve"
[body.rigid]
mass_kg = 2.0
center_of_mass_m = [0.4, 0.0, 0.0]
inertia_kg_m2 = [1e-6, 0.10666666666666667, 0.10666666666666667]
[[body]]
name = "boom"
[body.beam]
length_m = 1.2
mass_per_length_kg_per_m = 0.4
axial_stiffness_n = 2e5
bending_stiffness_y_n_m2 = 40.0
bending_stiffness_z_n_m2 = 25.0
basis = {{ elements = {{ count = 4, stretch = true, bending_z = {spatial} }} }}
[[body.point_mass]]
at = "tip"
mass_kg = 0.2
[[joint]]
name = "swing"
parent = "ground"
child = {child}
[joint.revolute]
axis = {axis}
[[joint]]
name = "slide"
parent = "sleeve"
child = "boom"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
initial_displacement_m = 0.1
[[support]]
name = "mouth"
beam = "boom"
on = {{ body = "sleeve", position_m = [0.8, 0.0, 0.0] }}
[[marker]]
name = "tip"
body = "boom"
at = "tip"
{moved}
[fidelity]
shortening = "{shortening}"
[simulation]
duration_s = {}
initial = "equilibrium"
integrator.dop853 = {{ rtol = 1e-9, atol = 1e-12 }}
[output]
sample_period_s = 0.1
"#,
        if driven { 1.0 } else { 1.5 }
    );
    let spec = ModelSpec::parse(&text, &[]).unwrap();
    spec.check().unwrap();
    let model = Model::build(&spec).unwrap();
    let samples = sample_instants(&spec, &[]);
    let run = run(&model, &spec.simulation, &samples, None, &mut |_| {
        Flow::Continue
    });
    let drift = run.audit.energy.max_drift_percent;
    assert!(drift < 1e-7, "{drift} %");
    assert_eq!(run.ending, Ending::Completed);
    run
}

fn at(run: &Run, channel: &str, sample: usize) -> f64 {
    run.recording.channel(channel).unwrap().samples[sample]
}

/// Prescribed motion of the robot, both forms of the kinetic energy.
#[test]
fn the_boom_of_a_prescribed_robot_follows_the_reference() {
    const MILLIMETRES: f64 = 1e-3;
    for (shortening, planar, spatial_v, spatial_w) in [
        (
            "kinematic",
            [-15.2857, -8.4086, 6.0853],
            [-8.0390, -25.7125, -19.6175],
            [16.9213, -5.3224, -47.9297],
        ),
        (
            "second_order",
            [-15.2817, -8.4168, 6.0705],
            [-8.0335, -25.7788, -19.4449],
            [16.9253, -5.3035, -47.6599],
        ),
    ] {
        let plane = robot(false, false, shortening);
        let space = robot(true, false, shortening);
        for (i, sample) in [3, 6, 9].into_iter().enumerate() {
            for (run, channel, expected) in [
                (&plane, "tip.deflection.y", planar[i]),
                (&space, "tip.deflection.y", spatial_v[i]),
                (&space, "tip.deflection.z", spatial_w[i]),
            ] {
                let found = 1e3 * at(run, channel, sample);
                assert!(
                    (found - expected).abs() < MILLIMETRES,
                    "{shortening} {sample} {channel}: {found} mm, expected {expected} mm"
                );
            }
        }
    }
}

/// The driven robot: joints and boom move freely under the torques of the rigid one.
#[test]
fn the_driven_robot_follows_the_reference() {
    const COORDINATES: f64 = 1e-5;
    // the same angle at the end of the boom
    const DEFLECTIONS: f64 = 1.2e-5;
    let planar = [
        [0.053_055_7, 0.121_674_8, -12.3487],
        [0.322_230_8, 0.234_386_2, -18.5566],
        [0.712_205_9, 0.404_573_8, -9.1628],
        [0.954_447_8, 0.521_528_2, 13.2760],
        [0.986_097_1, 0.557_445_9, -13.6182],
    ];
    let spatial = [
        [0.080_431_2, 0.120_975_4, -5.7861, 11.0739],
        [0.485_042_1, 0.231_629_6, -13.4558, 20.2324],
        [1.066_081_8, 0.401_351_6, -26.5431, -9.0707],
        [1.434_534_8, 0.528_391_1, -25.2158, -58.2990],
        [1.528_791_1, 0.584_576_1, -29.2159, 0.7188],
    ];
    let plane = robot(false, true, "second_order");
    let space = robot(true, true, "second_order");
    for i in 0..5 {
        let sample = 2 * (i + 1);
        let [angle, extension, v] = planar[i];
        agree(&plane, "swing.angle", sample, angle, COORDINATES);
        agree(&plane, "slide.displacement", sample, extension, COORDINATES);
        agree(&plane, "tip.deflection.y", sample, 1e-3 * v, DEFLECTIONS);
        let [angle, extension, v, w] = spatial[i];
        agree(&space, "swing.angle", sample, angle, COORDINATES);
        agree(&space, "slide.displacement", sample, extension, COORDINATES);
        agree(&space, "tip.deflection.y", sample, 1e-3 * v, DEFLECTIONS);
        agree(&space, "tip.deflection.z", sample, 1e-3 * w, DEFLECTIONS);
    }
}

fn agree(run: &Run, channel: &str, sample: usize, expected: f64, tolerance: f64) {
    let found = at(run, channel, sample);
    assert!(
        (found - expected).abs() < tolerance,
        "{channel} at sample {sample}: {found}, expected {expected}"
    );
}
