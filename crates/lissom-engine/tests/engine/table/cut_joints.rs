//! Joints that close loops are joints: whichever of them is cut, the mechanism is the same.
//!
//! Kind of truth: the same mechanism on different spanning trees, and two formulations.

use std::collections::BTreeSet;

use lissom_core::Channel;
use lissom_core::study::{Linearized, OperatingPoint, Run};
use lissom_engine::Mechanism;
use lissom_engine::diagnose::Warning;
use lissom_spec::{ModelSpec, spanning_tree};

use super::{INTEGRATOR, MOTION, assert_same_eigenvalues, going, ran};
use crate::models::parsed;
use crate::runs::{assert_alike, nodal_mechanism, tree_mechanism};

const BODIES: &str = r#"
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
[[body]]
name = "rocker"
rigid = { mass_kg = 0.4, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [1e-4, 6e-3, 6e-3] }
node = [{ name = "end", position_m = [0.4, 0.0, 0.0] }]
[[marker]]
name = "hand"
body = "coupler"
at = "end"
"#;

/// A torque on a joint that may be cut. The motor is the coordinate: it passes no dead point, which the pin does.
const TORQUE: &str = "[[input]]\njoint = \"pin\"\ntorque_constant.value_n_m = 0.3\n\
    [simulation.closure.joint_space]\nindependent = [\"motor\"]\n";

const CRANK: &str = "name = \"motor\"\nparent = \"ground\"\nchild = \"crank\"\n\
    revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.0, initial_rate_rad_per_s = 0.8, held = true, \
    spring = { stiffness_n_m_per_rad = 5.0 }, motor = { inertia_kg_m2 = 1e-5, gear_ratio = 15.0 } }";

/// A planar four-bar, on every joint of which something acts.
const FOUR_BAR: [&str; 4] = [
    CRANK,
    "name = \"knuckle\"\nparent = { body = \"crank\", at = \"pin\" }\nchild = \"coupler\"\n\
     revolute = { axis = [0.0, 0.0, 1.0], friction = { viscous_n_m_s_per_rad = 0.05, coulomb_n_m = 0.1, coulomb_rate_rad_per_s = 0.4 } }",
    "name = \"pivot\"\nparent = { body = \"ground\", position_m = [0.5, 0.0, 0.0] }\nchild = \"rocker\"\n\
     revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.4, branch = \"positive\", limits = { max_rate_rad_per_s = 0.1 }, \
     motor = { inertia_kg_m2 = 1e-5, gear_ratio = 10.0, stiffness_n_m_per_rad = 200.0, damping_n_m_s_per_rad = 0.2 } }",
    "name = \"pin\"\nparent = { body = \"coupler\", at = \"end\" }\nchild = { body = \"rocker\", at = \"end\" }\n\
     revolute = { axis = [0.0, 0.0, 1.0], spring = { stiffness_n_m_per_rad = 2.0, rest_angle_rad = 0.7, damping_n_m_s_per_rad = 0.03 }, \
     friction = { viscous_n_m_s_per_rad = 0.02 }, motor = { inertia_kg_m2 = 2e-5, gear_ratio = 12.0 } }",
];

/// A slider crank; the rocker slides.
const SLIDER_CRANK: [&str; 4] = [
    CRANK,
    "name = \"knuckle\"\nparent = { body = \"crank\", at = \"pin\" }\nchild = \"coupler\"\n\
     revolute = { axis = [0.0, 0.0, 1.0], spring = { stiffness_n_m_per_rad = 0.5 } }",
    "name = \"pin\"\nparent = { body = \"coupler\", at = \"end\" }\nchild = \"rocker\"\n\
     revolute = { axis = [0.0, 0.0, 1.0], friction = { viscous_n_m_s_per_rad = 0.05 } }",
    "name = \"guide\"\nparent = { body = \"ground\", position_m = [0.1, -0.05, 0.0] }\nchild = \"rocker\"\n\
     prismatic = { axis = [1.0, 0.1, 0.0], initial_displacement_m = 0.6, branch = \"positive\", \
     spring = { stiffness_n_per_m = 60.0, rest_displacement_m = 0.5, damping_n_s_per_m = 0.8 }, \
     friction = { coulomb_n = 0.5, coulomb_rate_m_per_s = 0.1 }, motor = { inertia_kg_m2 = 1e-5, gear_ratio_rad_per_m = 100.0 }, \
     limits = { max_rate_m_per_s = 0.01 } }",
];

/// A four-bar in space with a ball and a universal joint.
const SPATIAL: [&str; 4] = [
    CRANK,
    "name = \"knuckle\"\nparent = { body = \"crank\", at = \"pin\" }\nchild = \"coupler\"\n\
     spherical = { spring = { stiffness_n_m_per_rad = 1.5, damping_n_m_s_per_rad = 0.02 }, \
     friction = { viscous_n_m_s_per_rad = 0.03 }, motor = { inertia_kg_m2 = 1e-5, gear_ratio = 10.0 } }",
    "name = \"pivot\"\nparent = { body = \"ground\", position_m = [0.5, 0.0, 0.1], rotation_vector_rad = [0.4, 0.2, 0.0] }\n\
     child = \"rocker\"\nrevolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.4, branch = \"positive\", \
     spring = { stiffness_n_m_per_rad = 2.0 } }",
    "name = \"pin\"\nparent = { body = \"rocker\", at = \"end\" }\nchild = { body = \"coupler\", at = \"end\" }\n\
     universal = { first = { axis = [0.0, 0.0, 1.0], spring = { stiffness_n_m_per_rad = 1.0 }, \
     motor = { inertia_kg_m2 = 1e-5, gear_ratio = 10.0 } }, \
     second = { axis = [0.0, 1.0, 0.0], friction = { viscous_n_m_s_per_rad = 0.05 }, \
     motor = { inertia_kg_m2 = 1e-5, gear_ratio = 10.0, stiffness_n_m_per_rad = 100.0, damping_n_m_s_per_rad = 0.1 } } }",
];

/// The joints written in the order that begins with one of them.
fn from_joint(joints: &[&str], first: usize) -> String {
    let ordered = joints.iter().cycle().skip(first).take(joints.len());
    let written: Vec<String> = ordered
        .map(|joint| format!("[[joint]]\n{joint}\n"))
        .collect();
    written.concat()
}

/// The joints with one of them cut.
fn cut_at(joints: &[&str], cut: usize) -> String {
    let written = joints.iter().enumerate().map(|(index, joint)| {
        let key = if index == cut { "cut = true\n" } else { "" };
        format!("[[joint]]\n{key}{joint}\n")
    });
    written.collect()
}

/// Mechanisms of these joints in both formulations.
fn mechanisms(joints: &[String], more: &str) -> Vec<Mechanism> {
    let specs = joints.iter().map(|joints| spec_of(joints, more));
    specs
        .flat_map(|spec| [tree_mechanism(&spec), nodal_mechanism(&spec, 1)])
        .collect()
}

fn spec_of(joints: &str, more: &str) -> ModelSpec {
    parsed(&format!("{BODIES}{joints}{more}{INTEGRATOR}"))
}

/// Asserts that mechanisms move alike, in both formulations, and vibrate alike about their equilibrium.
fn assert_same_mechanism(joints: &[String]) {
    let runs: Vec<Run> = mechanisms(joints, TORQUE).iter().map(ran).collect();
    let spec = spec_of(&joints[0], TORQUE);
    for run in &runs[1..] {
        assert!(assert_alike(&runs[0], run, MOTION) > 20);
        for joint in &spec.joint {
            let begins = |channel: &Channel| channel.name.starts_with(&joint.name);
            assert!(run.recording.channels.iter().any(begins), "{}", joint.name);
        }
        let [a, b] = [&runs[0], run].map(|run| run.audit.limit_violations.len());
        assert_eq!(a, b);
    }
    let found: Vec<Linearized> = (mechanisms(joints, "").iter())
        .map(|mechanism| {
            mechanism
                .linearize(
                    &mechanism.written(),
                    OperatingPoint::Equilibrium,
                    &[],
                    &mut going,
                )
                .unwrap()
        })
        .collect();
    for other in &found[1..] {
        assert_same_eigenvalues("cut joints", [&found[0], other], 0);
    }
}

/// Each of these joints is cut once.
fn assert_any_may_be_cut(joints: &[&str], cuts: &[usize]) {
    let texts: Vec<String> = cuts.iter().map(|&cut| cut_at(joints, cut)).collect();
    for (&cut, text) in cuts.iter().zip(&texts) {
        assert_eq!(spanning_tree(&spec_of(text, "")).cuts, [cut]);
    }
    assert_same_mechanism(&texts);
}

#[test]
fn any_joint_of_a_four_bar_may_be_cut() {
    assert_any_may_be_cut(&FOUR_BAR, &[0, 1, 2, 3]);
}

#[test]
fn any_joint_of_a_slider_crank_may_be_cut() {
    assert_any_may_be_cut(&SLIDER_CRANK, &[0, 1, 2, 3]);
}

/// Without the others ball and universal joint would have to carry their parents.
#[test]
fn ball_and_universal_joint_of_a_four_bar_may_be_cut() {
    assert_any_may_be_cut(&SPATIAL, &[1, 3]);
}

#[test]
fn the_order_of_the_joints_does_not_matter() {
    let texts: Vec<String> = (0..4).map(|first| from_joint(&FOUR_BAR, first)).collect();
    let cuts = texts.iter().map(|text| {
        let spec = spec_of(text, "");
        spec.joint[spanning_tree(&spec).cuts[0]].name.clone()
    });
    assert!(cuts.collect::<BTreeSet<_>>().len() > 1);
    assert_same_mechanism(&texts);
}

/// Motions at a relative tolerance of 1e-11 with a motor behind an elastic gear, whose rate of some hundred vibrations takes up
/// what different steps leave: 4e-9 between the formulations.
const GEARED_MOTION: f64 = 1e-8;

/// How loops are closed, by complement and by multipliers.
const CLOSURES: [&str; 5] = [
    "automatic = {}",
    "joint_space = { independent = [\"motor\"] }",
    "stabilized = { frequency_rad_per_s = 20.0, damping_ratio = 1.0 }",
    "projected = {}",
    "operational_space = {}",
];

/// A mechanism under a torque at its motor, with a closure.
fn under(bodies: &str, joints: &str, closure: &str) -> ModelSpec {
    let torque = "[[input]]\njoint = \"motor\"\ntorque_constant.value_n_m = 0.3\n";
    parsed(&format!(
        "{bodies}{joints}{torque}{INTEGRATOR}closure.{closure}\n"
    ))
}

/// Asserts that the motion is the same under every closure wherever it is cut, in both formulations.
fn assert_same_under_every_closure(joints: &[&str], cuts: &[usize]) {
    let mut reference: Option<Run> = None;
    for &cut in cuts {
        for closure in CLOSURES {
            let spec = under(BODIES, &cut_at(joints, cut), closure);
            for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
                let run = ran(&mechanism);
                let reference = reference.get_or_insert_with(|| run.clone());
                let compared = assert_alike(reference, &run, GEARED_MOTION);
                assert!(compared > 20, "{cut} {closure}: {compared}");
            }
        }
    }
}

/// What stubs take of the bodies that they are welded to, they give back.
#[test]
fn a_cut_leaves_masses_as_they_are() {
    const ROUNDING: f64 = 1e-14;
    let wanted = tree_mechanism(&spec_of(&cut_at(&FOUR_BAR, 0), "")).diagnose();
    for cut in 0..4 {
        let diagnosis = tree_mechanism(&spec_of(&cut_at(&FOUR_BAR, cut), "")).diagnose();
        let is_massless = |warning: &Warning| matches!(warning, Warning::NoInertia { .. });
        assert!(!diagnosis.warnings.iter().any(is_massless), "{cut}");
        assert!((diagnosis.total_mass_kg - 1.3).abs() < ROUNDING, "{cut}");
        for (a, b) in diagnosis
            .center_of_mass_m
            .iter()
            .zip(wanted.center_of_mass_m)
        {
            assert!((a - b).abs() < MOTION, "{cut}: {a} {b}");
        }
    }
}

#[test]
fn any_joint_of_a_four_bar_may_be_cut_under_every_closure() {
    assert_same_under_every_closure(&FOUR_BAR, &[0, 1, 2, 3]);
}

#[test]
fn any_joint_of_a_slider_crank_may_be_cut_under_every_closure() {
    assert_same_under_every_closure(&SLIDER_CRANK, &[0, 1, 2, 3]);
}

/// Here nothing is held twice: forces of closures and joints are alike, too.
#[test]
fn ball_and_universal_joint_may_be_cut_under_every_closure() {
    assert_same_under_every_closure(&SPATIAL, &[1, 3]);
}

/// The same functions along the beams, whichever joint is cut: stubs at either end of a beam take of its inertia what it has
/// there.
#[test]
fn joints_of_beams_may_be_cut_under_every_closure() {
    let beam = |mass: f64, length: f64| {
        format!(
            "[body.beam]\nlength_m = {length}\nmass_per_length_kg_per_m = {mass}\n\
             bending_stiffness_y_n_m2 = 40.0\nbasis.clamped_free.bending_y = 3\n"
        )
    };
    let bodies = BODIES
        .replace(
            "rigid = { mass_kg = 0.6, center_of_mass_m = [0.3, 0.05, 0.0], inertia_kg_m2 = [1e-4, 2e-2, 2e-2] }\n\
             node = [{ name = \"end\", position_m = [0.6, 0.0, 0.0] }]\n",
            &beam(1.0, 0.6),
        )
        .replace(
            "rigid = { mass_kg = 0.4, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [1e-4, 6e-3, 6e-3] }\n\
             node = [{ name = \"end\", position_m = [0.4, 0.0, 0.0] }]\n",
            &beam(1.0, 0.4),
        )
        .replace("at = \"end\"", "at = \"tip\"");
    let joints = FOUR_BAR.map(|joint| joint.replace("at = \"end\"", "at = \"tip\""));
    let joints: Vec<&str> = joints.iter().map(String::as_str).collect();
    let mut reference: Option<Run> = None;
    for cut in 0..4 {
        for closure in CLOSURES {
            let spec = under(&bodies, &cut_at(&joints, cut), closure);
            let run = ran(&tree_mechanism(&spec));
            let reference = reference.get_or_insert_with(|| run.clone());
            let compared = assert_alike(reference, &run, MOTION);
            assert!(compared > 20, "{cut} {closure}: {compared}");
        }
    }
}

/// Wherever the zero of an angle is: a weld is closed by a half turn, too, which must not be taken for its closed place.
#[test]
fn a_cut_joint_starts_at_the_angle_that_it_has() {
    for turned in [0.0, 1.0, 2.0, 3.0, -2.0] {
        let [of_cut, of_kept] = [3, 1].map(|cut| {
            let text = cut_at(&FOUR_BAR, cut).replace(
                "child = { body = \"rocker\", at = \"end\" }",
                &format!("child = {{ body = \"rocker\", at = \"end\", rotation_vector_rad = [0.0, 0.0, {turned:?}] }}"),
            );
            let mechanism = tree_mechanism(&spec_of(&text, ""));
            let layout = mechanism.layout().unwrap();
            let mut names = layout.iter();
            let pin = names.position(|coordinate| coordinate.name == "pin.angle");
            mechanism.written().position[pin.unwrap()]
        });
        let turns = (of_cut - of_kept) / std::f64::consts::TAU;
        assert!(
            (turns - turns.round()).abs() < MOTION,
            "{turned}: {of_cut} {of_kept}"
        );
    }
}
