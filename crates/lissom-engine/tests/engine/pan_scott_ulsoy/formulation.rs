//! The paper's formulation beside the recursions: prescribed motion (partial coupling), driven joints (full coupling), and links
//! behind a flexible one.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_3};

use lissom_core::study::{Ending, Run};
use nalgebra::Vector3;

use super::beam::{EXACT, FE4, PUSH, beam, load, tip_of};
use super::floating::{Equations, Joint, Robot, Shortening, Tie};
use super::frames::{Frame, Jet, cycloid, swung};
use super::links::{Field, Link};
use super::robot::{agree, robot};
use super::simulated;
use crate::runs::vector;

/// Digits to which references are given, in metres.
const DEFLECTION: f64 = 1e-6;

/// A link that bends along y.
fn bending(length: f64, elements: usize, mass_per_length: f64, stiffness: f64) -> Link {
    Link {
        length,
        elements,
        mass_per_length,
        payload: 0.0,
        axial: None,
        bending: [Some(stiffness), None],
        torsion: None,
    }
}

/// Second formulation: the beam of section 5, pushed, with the work of the axial force.
#[test]
fn the_beam_over_supports() {
    // of 0.2 ms: a period of the highest mode of the elements, 1.5e3 rad/s, is twenty of these
    const STEPS: usize = 175;
    let feed = cycloid(PUSH[0], PUSH[1], 0.7);
    let first = |joints: &[Jet]| -joints[0];
    let second = |joints: &[Jet]| Jet::constant(0.25) + -joints[0];
    let load = load(FE4, PUSH, "root");
    let of = |gravity: f64| Robot {
        links: vec![bending(1.0, 4, 1.0, 1.0)],
        joints: vec![Joint::Prescribed(&feed)],
        ties: vec![Tie::Support(0, &first), Tie::Support(0, &second)],
        frames: &|joints| vec![Frame::ground().moved(joints[0])],
        gravity: Vector3::new(0.0, gravity, 0.0),
        shortening: Shortening::Work { carried: false },
    };
    let (loaded, free) = (of(load), of(0.0));
    let start = Equations::new(&loaded).equilibrium(&[PUSH[0]]);
    let states = Equations::new(&free).run(start, 0.035, 20, STEPS);
    let run = beam(FE4, "second_order", 0.7, PUSH, "root", load, EXACT);
    for (i, (state, tip)) in states.iter().zip(tip_of(&run)).enumerate() {
        let found = free.links[0].value(Field::V, 0.0, state.as_slice());
        assert!(
            (found - 1e-3 * tip).abs() < DEFLECTION,
            "{i}: {found} {tip}"
        );
    }
}

/// The revolute-prismatic robot in the paper's formulation: tip deflections and joints every tenth of a second.
fn paper_robot(spatial: bool, driven: bool, shortening: Shortening) -> Vec<([f64; 2], [f64; 2])> {
    // of 0.2 ms: the highest axial mode, 8e3 rad/s, is stable and of no account
    const STEPS: usize = 500;
    let angle = cycloid(0.0, if spatial { FRAC_PI_2 } else { FRAC_PI_3 }, 1.0);
    let slide = cycloid(0.1, 0.5, 1.0);
    let mouth = |joints: &[Jet]| Jet::constant(0.8) + -joints[1];
    let frames = |joints: &[Jet]| {
        let sleeve = swung(spatial, joints[0]);
        vec![sleeve, sleeve.moved(joints[1])]
    };
    let robot = Robot {
        links: vec![
            Link {
                bending: [None; 2],
                ..bending(0.8, 0, 2.0 / 0.8, 0.0)
            },
            Link {
                payload: 0.2,
                axial: Some(2e5),
                bending: [Some(40.0), spatial.then_some(25.0)],
                ..bending(1.2, 4, 0.4, 40.0)
            },
        ],
        joints: if driven {
            vec![Joint::Driven(&angle), Joint::Driven(&slide)]
        } else {
            vec![Joint::Prescribed(&angle), Joint::Prescribed(&slide)]
        },
        ties: vec![Tie::Clamped(1), Tie::Support(1, &mouth)],
        frames: &frames,
        gravity: Vector3::new(0.0, -9.81, 0.0),
        shortening,
    };
    let equations = Equations::new(&robot);
    let start = equations.equilibrium(&[0.0, 0.1]);
    let states = equations.run(start, 0.1, 10, STEPS);
    let joints = states[0].len() - 2;
    states
        .iter()
        .map(|q| {
            let boom = &robot.links[1];
            let tip = [Field::V, Field::W].map(|field| boom.value(field, 1.2, q.as_slice()));
            ([q[joints], q[joints + 1]], tip)
        })
        .collect()
}

/// Second formulation, partial coupling: the axial force works on the shortening, which for a motion that is given is the kinetic
/// energy to second order.
#[test]
fn the_prescribed_robot() {
    for spatial in [false, true] {
        let paper = paper_robot(spatial, false, Shortening::Work { carried: true });
        let run = robot(spatial, false, "second_order");
        for (i, (_, tip)) in paper.iter().enumerate() {
            agree(&run, "tip.deflection.y", i, tip[0], DEFLECTION);
            if spatial {
                agree(&run, "tip.deflection.z", i, tip[1], DEFLECTION);
            }
        }
    }
}

/// Second formulation, full coupling: shortening in the displacement field, as torques and forces need it.
#[test]
fn the_driven_robot() {
    // what is asked of joint coordinates, and the same angle at the end of the boom
    const COORDINATES: f64 = 1e-5;
    const DEFLECTIONS: f64 = 1.2e-5;
    let paper = paper_robot(true, true, Shortening::Field);
    let run = robot(true, true, "kinematic");
    for (i, (joints, tip)) in paper.iter().enumerate() {
        agree(&run, "swing.angle", i, joints[0], COORDINATES);
        agree(&run, "slide.displacement", i, joints[1], COORDINATES);
        agree(&run, "tip.deflection.y", i, tip[0], DEFLECTIONS);
        agree(&run, "tip.deflection.z", i, tip[1], DEFLECTIONS);
    }
}

/// Two flexible links with a revolute joint between them, moved along given angles under gravity across the plane: the path of
/// the tip by the recursions, whose frames follow the flexible links, less that by frames of the nominal motion, and the
/// deflection of the tip.
fn elbow_difference(share: f64) -> (f64, f64) {
    // of 0.1 ms: the highest mode of torsion, 1.4e4 rad/s, is stable and of no account
    const STEPS: usize = 500;
    const STIFFNESS: f64 = 20.0;
    let gravity = [0.0, -2.0 * share, -3.0 * share];
    let (turn, bend) = (0.1 * share, 0.8 + 0.1 * share);
    let link = Link {
        axial: Some(1e4),
        bending: [Some(STIFFNESS); 2],
        // sections all but without inertia, which the paper leaves out
        torsion: Some([0.1 * STIFFNESS, 2e-6]),
        ..bending(0.5, 2, 0.4, STIFFNESS)
    };
    let (shoulder, elbow) = (cycloid(0.0, turn, 0.5), cycloid(0.8, bend, 0.5));
    let angle = |joints: &[Jet]| joints[1];
    let frames = |joints: &[Jet]| {
        let upper = Frame::ground().turned(2, joints[0]);
        let fore = upper.moved(Jet::constant(0.5)).turned(2, joints[1]);
        vec![upper, fore]
    };
    let robot = Robot {
        links: vec![link.clone(), link],
        joints: vec![Joint::Prescribed(&shoulder), Joint::Prescribed(&elbow)],
        ties: vec![Tie::Clamped(0), Tie::Revolute(0, 1, &angle)],
        frames: &frames,
        gravity: Vector3::from(gravity),
        shortening: Shortening::Work { carried: true },
    };
    let equations = Equations::new(&robot);
    let start = equations.equilibrium(&[0.0, 0.8]);
    let states = equations.run(start, 0.05, 10, STEPS);
    let run = elbow_run(STIFFNESS, gravity, turn, bend);
    let (mut apart, mut deflected) = (0.0_f64, 0.0_f64);
    for (i, q) in states.iter().enumerate() {
        let (place, rigid) = equations.end(1, q);
        let found = vector(&run.recording, "tip.position", i);
        apart = apart.max((Vector3::from(found) - place).norm());
        deflected = deflected.max((place - rigid).norm());
    }
    (apart, deflected)
}

fn elbow_run(stiffness: f64, gravity: [f64; 3], turn: f64, bend: f64) -> Run {
    let link = |name: &str| {
        format!(
            r#"
[[body]]
name = "{name}"
[body.beam]
length_m = 0.5
mass_per_length_kg_per_m = 0.4
axial_stiffness_n = 1e4
bending_stiffness_y_n_m2 = {stiffness}
bending_stiffness_z_n_m2 = {stiffness}
torsional_stiffness_n_m2 = {}
section_inertia_y_kg_m = 1e-6
section_inertia_z_kg_m = 1e-6
basis = {{ elements = {{ count = 2, stretch = true, torsion = true }} }}
"#,
            0.1 * stiffness
        )
    };
    let (upper, fore) = (link("upper"), link("fore"));
    let run = simulated(&format!(
        r#"
format = 1
gravity_m_per_s2 = {gravity:?}
{upper}
{fore}
[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "elbow"
parent = "upper"
child = "fore"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 0.8
[[motion]]
joint = "shoulder"
[motion.cycloid]
final_angle_rad = {turn}
duration_s = 0.5
[[motion]]
joint = "elbow"
[motion.cycloid]
final_angle_rad = {bend}
duration_s = 0.5
[[marker]]
name = "tip"
body = "fore"
at = "tip"
[fidelity]
shortening = "second_order"
[simulation]
duration_s = 0.5
initial = "equilibrium"
integrator.dop853 = {{ rtol = 1e-9, atol = 1e-12 }}
[output]
sample_period_s = 0.05
"#
    ));
    assert_eq!(run.ending, Ending::Completed);
    run
}

/// Second formulation: (19)–(21) are the joint of the recursions up to the square of the deflection.
#[test]
fn a_revolute_joint_behind_a_flexible_link() {
    let (apart, deflected) = elbow_difference(1.0);
    let (apart_of_half, deflected_of_half) = elbow_difference(0.5);
    // half the load and half the motion: half the deflection, a quarter of its square, up to what angles that are not
    // small change
    let (halves, quarters) = (deflected / deflected_of_half, apart / apart_of_half);
    assert!(
        (halves - 2.0).abs() < 0.1,
        "{deflected} {deflected_of_half}"
    );
    assert!((quarters - 4.0).abs() < 0.4, "{apart} {apart_of_half}");
    // and the square itself, of links of half a metre: a turn of 2 δ/L shortens what it turns by half its square
    assert!(
        apart < 2.0 * deflected * deflected / 0.5,
        "{apart} {deflected}"
    );
    assert!(deflected > 5e-3, "{deflected}");
}
