//! Sliders between two flexible links, (26)–(28), in the plane and in space, against the paper's formulation.

use std::f64::consts::FRAC_PI_6;

use lissom_core::study::{Ending, Run};
use nalgebra::Vector3;

use super::floating::{Equations, Joint, Robot, Shortening, Tie};
use super::frames::{Jet, cycloid, swung};
use super::links::{Field, Link};
use super::robot::at;
use super::simulated;

/// Lengths of the link that is carried and of the one that slides on it.
const LENGTHS: [f64; 2] = [1.2, 1.0];

/// Where the slider is: fixed to the root of the second link and moving along the first, fixed to the tip of the first and
/// moving along the second, or moving along both; or both of the first two, which then hold points only.
#[derive(Clone, Copy, Debug)]
enum Slider {
    AlongFirst,
    AlongSecond,
    AlongBoth,
    TwoPoints,
}

fn model(slider: Slider, spatial: bool) -> String {
    let (axis, place, plane) = if spatial {
        (
            "[0.0, 1.0, 0.0]",
            -FRAC_PI_6,
            "bending_stiffness_z_n_m2 = 25.0",
        )
    } else {
        ("[0.0, 0.0, 1.0]", 0.0, "")
    };
    let support = |name: &str, beam: &str, body: &str, end: &str, slopes: &str| {
        format!(
            "[[support]]\nname = \"{name}\"\nbeam = \"{beam}\"\non = {{ body = \"{body}\", at = \"{end}\" }}\n\
             slopes = \"{slopes}\"\n"
        )
    };
    let supports = match slider {
        Slider::AlongFirst => support("slider", "first", "second", "root", "tied"),
        Slider::AlongSecond => support("slider", "second", "first", "tip", "tied"),
        Slider::TwoPoints => {
            support("rear", "first", "second", "root", "free")
                + &support("mouth", "second", "first", "tip", "free")
        }
        Slider::AlongBoth => {
            let rigid_z = if spatial { ", bending_z = 2" } else { "" };
            // a short piece with nothing but its rigid motions, all but without mass
            format!(
                r#"
[[body]]
name = "piece"
[body.beam]
length_m = 0.05
mass_per_length_kg_per_m = 1e-4
bending_stiffness_y_n_m2 = 40.0
{plane}
basis = {{ unconstrained = {{ bending_y = 2{rigid_z} }} }}
[[joint]]
name = "piece-slide"
parent = {{ body = "first", at = "root" }}
child = "piece"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
initial_displacement_m = 0.6
[[motion]]
joint = "piece-slide"
[motion.cycloid]
final_displacement_m = 0.7
duration_s = 0.5
"#
            ) + &support("on-first", "first", "piece", "root", "tied")
                + &support("on-second", "second", "piece", "root", "tied")
        }
    };
    format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -0.981, 0.0]
[[body]]
name = "first"
[body.beam]
length_m = {}
mass_per_length_kg_per_m = 0.6
bending_stiffness_y_n_m2 = 60.0
{plane}
basis = {{ elements = {{ count = 3 }} }}
[[body]]
name = "second"
[body.beam]
length_m = {}
mass_per_length_kg_per_m = 0.4
bending_stiffness_y_n_m2 = 40.0
{plane}
basis = {{ elements = {{ count = 3, boundary = "unconstrained" }} }}
[[body.point_mass]]
at = "tip"
mass_kg = 0.1
[[joint]]
name = "swing"
parent = "ground"
child = {{ body = "first", rotation_vector_rad = [0.0, 0.0, {place}] }}
[joint.revolute]
axis = {axis}
[[joint]]
name = "slide"
parent = {{ body = "first", at = "root" }}
child = "second"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
initial_displacement_m = 0.45
[[motion]]
joint = "swing"
[motion.cycloid]
final_angle_rad = 0.03
duration_s = 0.5
[[motion]]
joint = "slide"
[motion.cycloid]
final_displacement_m = 0.52
duration_s = 0.5
{supports}
[[marker]]
name = "tip"
body = "second"
at = "tip"
[simulation]
duration_s = 0.5
initial = "equilibrium"
integrator.dop853 = {{ rtol = 1e-9, atol = 1e-12 }}
[output]
sample_period_s = 0.05
"#,
        LENGTHS[0], LENGTHS[1]
    )
}

fn recursions(slider: Slider, spatial: bool) -> Run {
    // per cent of the peak: what steps with rtol = 1e-9 leave
    const DRIFT: f64 = 1e-6;
    // metres
    const CLOSED: f64 = 1e-12;
    let run = simulated(&model(slider, spatial));
    assert_eq!(run.ending, Ending::Completed, "{slider:?} {spatial}");
    let drift = run.audit.energy.max_drift_percent;
    assert!(drift < DRIFT, "{slider:?} {spatial}: {drift} %");
    let closures = run.audit.closures.as_ref().unwrap();
    assert!(
        closures.max_position_violation < CLOSED,
        "{slider:?} {spatial}"
    );
    run
}

/// Deflections of the tip every twentieth of a second, and the largest slope of either link.
fn paper(slider: Slider, spatial: bool) -> (Vec<[f64; 2]>, f64) {
    // of 0.2 ms: the highest mode of the elements, 8e3 rad/s, is stable and of no account
    const STEPS: usize = 250;
    let link = |length: f64, mass_per_length: f64, stiffness: f64, payload: f64| Link {
        length,
        elements: 3,
        mass_per_length,
        payload,
        axial: None,
        bending: [Some(stiffness), spatial.then_some(25.0)],
        torsion: None,
    };
    let swing = cycloid(0.0, 0.03, 0.5);
    let slide = cycloid(0.45, 0.52, 0.5);
    let piece = cycloid(0.6, 0.7, 0.5);
    let root = |_: &[Jet]| Jet::constant(0.0);
    let end = |_: &[Jet]| Jet::constant(LENGTHS[0]);
    let on_first = |joints: &[Jet]| joints[1];
    let end_on_second = |joints: &[Jet]| Jet::constant(LENGTHS[0]) + -joints[1];
    let piece_on_first = |joints: &[Jet]| joints[2];
    let piece_on_second = |joints: &[Jet]| joints[2] + -joints[1];
    let mut ties = vec![Tie::Clamped(0)];
    match slider {
        Slider::AlongFirst => ties.push(Tie::Slider([0, 1], [&on_first, &root], true)),
        Slider::AlongSecond => ties.push(Tie::Slider([0, 1], [&end, &end_on_second], true)),
        Slider::AlongBoth => {
            ties.push(Tie::Slider(
                [0, 1],
                [&piece_on_first, &piece_on_second],
                true,
            ));
        }
        Slider::TwoPoints => {
            ties.push(Tie::Slider([0, 1], [&on_first, &root], false));
            ties.push(Tie::Slider([0, 1], [&end, &end_on_second], false));
        }
    }
    let frames = |joints: &[Jet]| {
        let first = swung(spatial, joints[0]);
        vec![first, first.moved(joints[1])]
    };
    let robot = Robot {
        links: vec![
            link(LENGTHS[0], 0.6, 60.0, 0.0),
            link(LENGTHS[1], 0.4, 40.0, 0.1),
        ],
        joints: vec![
            Joint::Prescribed(&swing),
            Joint::Prescribed(&slide),
            Joint::Prescribed(&piece),
        ],
        ties,
        frames: &frames,
        gravity: Vector3::new(0.0, -0.981, 0.0),
        shortening: Shortening::Field,
    };
    let equations = Equations::new(&robot);
    let states = equations.run(equations.equilibrium(&[0.0, 0.45, 0.6]), 0.05, 10, STEPS);
    let mut steepest = 0.0_f64;
    let tips = states
        .iter()
        .map(|q| {
            for (k, link) in robot.links.iter().enumerate() {
                for field in [Field::V, Field::W] {
                    let slope = link.slope(field, link.length, &q.as_slice()[equations.first[k]..]);
                    steepest = steepest.max(slope.abs());
                }
            }
            let own = &q.as_slice()[equations.first[1]..];
            [Field::V, Field::W].map(|field| robot.links[1].value(field, LENGTHS[1], own))
        })
        .collect();
    (tips, steepest)
}

fn compare(slider: Slider, spatial: bool) {
    // Runge and Kutta's steps, metres
    const INTEGRATION: f64 = 1e-7;
    let run = recursions(slider, spatial);
    let (tips, steepest) = paper(slider, spatial);
    let largest = tips.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    // no support passes a node, where tied slopes would cause an impulse
    // the equations of the paper are linear in slopes that the recursions take as angles, and leave out what shortening does
    // to places: both are of third order
    let tolerance = 2.0 * steepest * steepest * largest + INTEGRATION;
    assert!(largest > 5e-3 && steepest < 0.1, "{largest} {steepest}");
    for (i, tip) in tips.iter().enumerate() {
        for (axis, expected) in ["y", "z"].into_iter().zip(tip) {
            let found = at(&run, &format!("tip.deflection.{axis}"), i);
            assert!(
                (found - expected).abs() < tolerance,
                "{slider:?} {spatial} {axis} at {i}: {found}, expected {expected} to {tolerance}"
            );
        }
    }
}

/// Second formulation: the slider is the root of the second link.
#[test]
fn a_slider_moves_along_the_first_link() {
    compare(Slider::AlongFirst, false);
    compare(Slider::AlongFirst, true);
}

/// Second formulation: the slider is the tip of the first link.
#[test]
fn a_slider_moves_along_the_second_link() {
    compare(Slider::AlongSecond, false);
    compare(Slider::AlongSecond, true);
}

/// Second formulation: the slider moves along both links.
#[test]
fn a_slider_moves_along_both_links() {
    compare(Slider::AlongBoth, false);
    compare(Slider::AlongBoth, true);
}

/// Second formulation: slopes are free, and two points hold the second link.
#[test]
fn a_link_slides_through_two_points_of_another() {
    compare(Slider::TwoPoints, false);
    compare(Slider::TwoPoints, true);
}
