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
    let push = deflections(FE4, "second_order", 0.7, PUSH, "root");
    println!("{push:?}");
    let expected = [
        10.1664, 10.7218, 11.4375, 14.2975, 14.0498, -6.7637, 2.1630, -0.8782, -0.5991, 0.4416,
    ];
    assert_agree(&push, expected, MILLIMETRES, "push");
}
