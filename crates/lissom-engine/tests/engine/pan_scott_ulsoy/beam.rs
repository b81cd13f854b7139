//! The beam of section 5, pushed and pulled over two supports.

use lissom_core::study::{Ending, Run};

use super::simulated;
use crate::runs::samples;

/// The beam of their section 5: pushed or pulled over two supports a quarter of its length apart.
pub(crate) fn beam(
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
    simulated(&text)
}

/// Tight enough for the digits of the references.
pub(crate) const EXACT: &str = "integrator.dop853 = { rtol = 1e-9, atol = 1e-12 }";

pub(crate) const FE4: &str = r#"{ elements = { count = 4, boundary = "unconstrained" } }"#;

/// Deflection of the observed tip in mm at every twentieth of the run.
pub(crate) fn tip_of(run: &Run) -> Vec<f64> {
    assert_eq!(run.ending, Ending::Completed);
    let height = samples(&run.recording, "observed.position.y");
    height.iter().map(|y| y * 1e3).collect()
}

/// The load that deflects the observed tip by 10 mm before the start: everything is linear in it.
pub(crate) fn load(basis: &str, feed: [f64; 2], tip: &str) -> f64 {
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

pub(crate) const PUSH: [f64; 2] = [-0.725, -0.025];
pub(crate) const PULL: [f64; 2] = [-0.025, -0.725];

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

/// Published: converged in space, with a smooth basis. The slow push, which takes five times as long, is a validation row.
#[test]
fn many_functions_converge() {
    // what the reference allows for
    const MILLIMETRES: f64 = 5e-3;
    const SMOOTH: &str = "{ unconstrained = { bending_y = 32 } }";
    let cases = [
        (
            ("push", "second_order", PUSH, "root"),
            [
                10.1771, 10.7371, 11.4485, 14.3251, 14.0470, -6.3001, 3.6157, 1.2687, 0.6168,
                0.6237,
            ],
        ),
        (
            ("pull", "second_order", PULL, "tip"),
            [
                9.3738, 6.6222, 2.4699, -3.4146, -7.9651, 0.0284, -4.2627, -0.2175, 0.0672, -0.0294,
            ],
        ),
        (
            ("no axial force", "none", PUSH, "root"),
            [
                9.4672, 7.2676, 4.1342, -0.6746, -5.7166, -1.3854, -3.4677, -0.0110, 0.0968,
                -0.0140,
            ],
        ),
    ];
    for ((what, shortening, feed, tip), expected) in cases {
        let found = deflections(SMOOTH, shortening, 0.7, feed, tip);
        assert_agree(&found, expected, MILLIMETRES, what);
    }
}

/// Second formulation: Newmark with Baumgarte's stabilisation, γ = β = 5, against the exact solution of the same elements. Errors
/// and violations are those of an independent implementation with an implicit right-hand side that steps over the nodes.
#[test]
fn newmark_with_stabilised_multipliers_is_of_second_order() {
    // the reference says the largest error of the tip in mm to a digit or two, and the largest violation in m to two; the
    // largest error lies between two samples
    const SAME_ERROR: f64 = 0.08;
    const SAME_VIOLATION: f64 = 0.02;
    let load = load(FE4, PUSH, "root");
    let at = |solution: &str| beam(FE4, "second_order", 0.7, PUSH, "root", load, solution);
    let exact = tip_of(&at(EXACT));
    let study = |crossings: &str| {
        [1e-3, 1e-4].map(|step| {
            let run = at(&format!(
                "integrator.newmark = {{ step_s = {step}, tolerance = 1e-11 }}\n\
                 element_crossings = \"{crossings}\"\n\
                 closure.stabilized = {{ frequency_rad_per_s = 5.0, damping_ratio = 1.0 }}"
            ));
            let error =
                (tip_of(&run).iter().zip(&exact)).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            (error, run.audit.closures.unwrap().max_position_violation)
        })
    };
    let found = study("stepped_over");
    let expected = [(0.071, 4.9e-6), (0.0007, 4.3e-8)];
    for ((error, violation), (expected_error, expected_violation)) in found.iter().zip(expected) {
        assert!(
            (error / expected_error - 1.0).abs() < SAME_ERROR,
            "{found:?}"
        );
        assert!(
            (violation / expected_violation - 1.0).abs() < SAME_VIOLATION,
            "{found:?}"
        );
    }
    // ten times smaller steps: second order is a factor of 100
    for found in [found, study("located")] {
        let ratio = found[0].0 / found[1].0;
        assert!((70.0..140.0).contains(&ratio), "{found:?}");
    }
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
