//! Pan, Scott & Ulsoy 1990: links that slide through supports, against converged and finite-element references that
//! were computed independently.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use lissom::integrate::Flow;
use lissom::model::{Model, ModelSpec};
use lissom::simulate::{Ending, Run, run, sample_instants};

/// The beam of their section 5: pushed or pulled over two supports a quarter of its length apart.
fn beam(basis: &str, shortening: &str, seconds: f64, feed: [f64; 2], tip: &str, load: f64) -> Run {
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
integrator.dop853 = {{ rtol = 1e-9, atol = 1e-12 }}
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
    let run = run(&model, &spec.simulation, &samples, None, &mut |_| {
        Flow::Continue
    });
    assert_eq!(run.ending, Ending::Completed);
    run
}

const FE4: &str = r#"{ elements = { count = 4, boundary = "unconstrained" } }"#;

/// Deflection of the observed tip in mm at every second twentieth of the run, after a static load that deflects it
/// by 10 mm.
fn deflections(basis: &str, shortening: &str, seconds: f64, feed: [f64; 2], tip: &str) -> Vec<f64> {
    let tip_of = |run: &Run| -> Vec<f64> {
        let channel = run.recording.channel("observed.position.y").unwrap();
        channel.samples.iter().map(|y| y * 1e3).collect()
    };
    // everything is linear in the load
    let trial = tip_of(&beam(
        basis,
        shortening,
        1e-3 * seconds,
        [feed[0], feed[0]],
        tip,
        0.2,
    ));
    let run = beam(basis, shortening, seconds, feed, tip, 0.2 * 10.0 / trial[0]);
    let found = tip_of(&run);
    assert!((found[0] - 10.0).abs() < 1e-6, "{}", found[0]);
    println!("{:?}", run.statistics);
    println!("{:?}", run.audit);
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

/// Converged in space, with a smooth basis and with finite elements.
#[test]
fn many_functions_converge() {
    const MILLIMETRES: f64 = 5e-3;
    let push = [
        10.1771, 10.7371, 11.4485, 14.3251, 14.0470, -6.3001, 3.6157, 1.2687, 0.6168, 0.6237,
    ];
    let pull = [
        9.3738, 6.6222, 2.4699, -3.4146, -7.9651, 0.0284, -4.2627, -0.2175, 0.0672, -0.0294,
    ];
    let plain = [
        9.4672, 7.2676, 4.1342, -0.6746, -5.7166, -1.3854, -3.4677, -0.0110, 0.0968, -0.0140,
    ];
    for basis in [
        r#"{ elements = { count = 16, boundary = "unconstrained" } }"#,
        r#"{ unconstrained = { bending_y = 20 } }"#,
    ] {
        let found = deflections(basis, "second_order", 0.7, PUSH, "root");
        println!("{basis} {found:?}");
        let worst = |found: &[f64], expected: [f64; 10]| {
            found
                .iter()
                .zip(expected)
                .fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()))
        };
        println!("push {}", worst(&found, push));
        let found = deflections(basis, "second_order", 0.7, PULL, "tip");
        println!("pull {}", worst(&found, pull));
        let found = deflections(basis, "none", 0.7, PULL, "tip");
        println!("plain {}", worst(&found, plain));
        assert_agree(&found, plain, MILLIMETRES, basis);
    }
}

/// Symmetry: without axial force a beam that is pulled mirrors one that is pushed.
#[test]
fn push_and_pull_agree_without_shortening() {
    const ROUNDING: f64 = 1e-9;
    let push = deflections(FE4, "none", 0.7, PUSH, "root");
    let pull = deflections(FE4, "none", 0.7, PULL, "tip");
    for (push, pull) in push.iter().zip(&pull) {
        println!("{}", push - pull);
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
    let mut count = 0;
    let start = std::time::Instant::now();
    let run = run(&model, &spec.simulation, &samples, None, &mut |t| {
        count += 1;
        if count % 500 == 0 {
            eprintln!("{count} {t} {:?}", start.elapsed());
        }
        Flow::Continue
    });
    println!("{:?} {:?}", run.statistics, run.audit);
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
        println!(
            "{:?}",
            plane
                .recording
                .channels
                .iter()
                .map(|c| &c.name)
                .collect::<Vec<_>>()
        );
        let space = robot(true, false, shortening);
        for (i, sample) in [3, 6, 9].into_iter().enumerate() {
            for (run, channel, expected) in [
                (&plane, "tip.deflection.y", planar[i]),
                (&space, "tip.deflection.y", spatial_v[i]),
                (&space, "tip.deflection.z", spatial_w[i]),
            ] {
                let found = 1e3 * at(run, channel, sample);
                println!("{shortening} {sample} {channel} {found} {expected}");
                assert!((found - expected).abs() < MILLIMETRES);
            }
        }
    }
}

/// The driven robot: joints and boom move freely under the torques of the rigid one.
#[test]
fn the_driven_robot_follows_the_reference() {
    const COORDINATES: f64 = 1e-5;
    let planar = [
        [0.0530557, 0.1216748, -12.3487],
        [0.3222308, 0.2343862, -18.5566],
        [0.7122059, 0.4045738, -9.1628],
        [0.9544478, 0.5215282, 13.2760],
        [0.9860971, 0.5574459, -13.6182],
    ];
    let spatial = [
        [0.0804312, 0.1209754, -5.7861, 11.0739],
        [0.4850421, 0.2316296, -13.4558, 20.2324],
        [1.0660818, 0.4013516, -26.5431, -9.0707],
        [1.4345348, 0.5283911, -25.2158, -58.2990],
        [1.5287911, 0.5845761, -29.2159, 0.7188],
    ];
    let plane = robot(false, true, "second_order");
    let space = robot(true, true, "second_order");
    for i in 0..5 {
        let sample = 2 * (i + 1);
        let found = [
            at(&plane, "swing", sample),
            at(&plane, "slide", sample),
            1e3 * at(&plane, "tip.deflection.y", sample),
        ];
        println!("{found:?} {:?}", planar[i]);
        let found = [
            at(&space, "swing", sample),
            at(&space, "slide", sample),
            1e3 * at(&space, "tip.deflection.y", sample),
            1e3 * at(&space, "tip.deflection.z", sample),
        ];
        println!("{found:?} {:?}", spatial[i]);
        assert!((found[0] - spatial[i][0]).abs() < COORDINATES);
    }
}
