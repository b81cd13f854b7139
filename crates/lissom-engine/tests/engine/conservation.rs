//! Energy and momentum of whole runs, and the rotating beam whose centrifugal stiffening tests the default
//! fidelity.

use std::fmt::Write;

use lissom_core::RunError;
use lissom_core::study::{Ending, Run};

use crate::models::{hinged_beam, parsed};
use crate::runs::{completed, in_tree};

/// Runs a model file to its end.
fn ran(text: &str) -> Run {
    completed(in_tree(&parsed(text)))
}

/// Largest less smallest sample of a channel.
fn swing(run: &Run, channel: &str) -> f64 {
    let extremes = run.recording.extremes();
    let channel = extremes.iter().find(|e| e.name == channel).unwrap();
    channel.maximum.value - channel.minimum.value
}

/// Largest imbalance of energy, relative to the peak of kinetic and strain energy.
fn energy_drift(run: &Run) -> f64 {
    run.audit.energy.max_drift_percent / 100.0
}

fn simulation(duration_s: f64, rtol: f64) -> String {
    format!(
        r"
[simulation]
duration_s = {duration_s}
integrator.dop853 = {{ rtol = {rtol:e}, atol = {atol:e} }}
",
        atol = rtol * 1e-2
    )
}

/// Three links that bend in both planes, hinged about axes in space, at most two modes each.
fn three_links(joint: &str, damping: &str) -> String {
    let mut text = String::new();
    let axes = ["[0, 0, 1]", "[0, 1, 0]", "[0.3, 0.2, 1]"];
    for (i, axis) in axes.into_iter().enumerate() {
        let parent = match i {
            0 => "base".to_owned(),
            _ => format!("link_{}", i - 1),
        };
        write!(
            text,
            r#"
[[body]]
name = "link_{i}"
{damping}
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 0.5
bending_stiffness_y_n_m2 = 30.0
bending_stiffness_z_n_m2 = 20.0
basis.clamped_free = {{ bending_y = 2, bending_z = 2 }}

[[joint]]
name = "joint_{i}"
parent = "{parent}"
child = "link_{i}"
[joint.revolute]
axis = {axis}
initial_angle_rad = 0.3
initial_rate_rad_per_s = 0.5
{joint}
"#
        )
        .unwrap();
    }
    text
}

/// The three links on the ground, under gravity.
fn arm(joint: &str, damping: &str) -> String {
    let links = three_links(joint, damping).replace(r#""base""#, r#""ground""#);
    format!("format = 1\ngravity_m_per_s2 = [0.3, -9.81, 1.0]\n{links}")
}

/// Asked of ten seconds at a relative tolerance of 1e-11.
const ENERGY: f64 = 1e-10;
/// Energy that damped and driven runs may lose track of: work and losses are integrated at the same
/// tolerance as the motion.
const BALANCE: f64 = 1e-9;
/// Momentum of a run at a relative tolerance of 1e-9, relative to its peak.
const MOMENTUM: f64 = 1e-8;
/// Drift against tolerance in logarithms. The step is controlled by its own error, which is of one order
/// more than what accumulates over a span of steps: one, and somewhat more for steps that shrink.
const DRIFT_ORDER: std::ops::Range<f64> = 0.7..1.4;

#[test]
fn an_unforced_flexible_arm_keeps_its_energy() {
    let run = ran(&(arm("", "") + &simulation(10.0, 1e-11)));
    assert!(energy_drift(&run) < ENERGY, "{:e}", energy_drift(&run));
    // it falls, and its links bend
    assert!(swing(&run, "joint_0.angle") > 1.0);
    assert!(swing(&run, "link_0.bending_y_1") > 1e-2);
    assert!(swing(&run, "energy.kinetic") > 10.0);
}

#[test]
fn drift_shrinks_with_the_tolerance() {
    let drift = |rtol: f64| energy_drift(&ran(&(arm("", "") + &simulation(2.0, rtol))));
    let drifts = [1e-4, 1e-6, 1e-8].map(drift);
    for pair in drifts.windows(2) {
        let order = (pair[0] / pair[1]).log10() / 2.0;
        assert!(DRIFT_ORDER.contains(&order), "order {order} of {drifts:?}");
    }
}

#[test]
fn energy_of_damped_and_driven_runs_balances() {
    let resisted = "spring = { stiffness_n_m_per_rad = 5.0, damping_n_m_s_per_rad = 0.3 }\n\
                    friction = { viscous_n_m_s_per_rad = 0.1, coulomb_n_m = 0.2, coulomb_rate_rad_per_s = 0.1 }";
    let driven = r#"
[[marker]]
name = "tip"
body = "link_2"
[[input]]
joint = "joint_0"
torque_sines = { amplitude_n_m = [8.0], frequency_rad_per_s = [3.0] }
[[input]]
marker = "tip"
direction = [0.2, 1.0, 0.0]
force_step = { value_n = 1.5, from_s = 0.4, until_s = 1.1 }
[[motion]]
joint = "joint_1"
cycloid = { final_angle_rad = 1.2, duration_s = 1.5 }
"#;
    let text = arm(resisted, "damping.modal_ratio = 0.02") + driven + &simulation(2.0, 1e-10);
    let run = ran(&text);
    assert!(energy_drift(&run) < BALANCE, "{:e}", energy_drift(&run));
    assert!(swing(&run, "energy.work") > 1.0);
    assert!(swing(&run, "energy.dissipated") > 1.0);
}

#[test]
fn a_floating_arm_keeps_its_momentum() {
    let base = r#"
[[body]]
name = "base"
rigid = { mass_kg = 2.0, inertia_kg_m2 = [0.2, 0.3, 0.4] }
[[joint]]
name = "base"
parent = "ground"
child = "base"
[joint.free]
initial_velocity_m_per_s = [0.2, -0.1, 0.3]
initial_angular_velocity_rad_per_s = [0.4, 0.2, -0.5]
[[input]]
joint = "joint_1"
torque_sines = { amplitude_n_m = [2.0], frequency_rad_per_s = [4.0] }
"#;
    let text = "format = 1\n".to_owned() + &three_links("", "damping.modal_ratio = 0.01") + base;
    let run = ran(&(text + &simulation(3.0, 1e-9)));
    let audit = run.audit.momentum.as_ref().unwrap();
    let linear = audit.linear_drift_kg_m_per_s / audit.peak_linear_kg_m_per_s;
    let angular = audit.angular_drift_kg_m2_per_s / audit.peak_angular_kg_m2_per_s;
    assert!(linear < MOMENTUM, "linear {linear:e}");
    assert!(angular < MOMENTUM, "angular {angular:e}");
    assert!(energy_drift(&run) < MOMENTUM);
    assert!(audit.peak_linear_kg_m_per_s > 0.1 && audit.peak_angular_kg_m2_per_s > 0.1);
    assert!(swing(&run, "joint_1.angle") > 0.5);
}

/// The beam of \[Simo & Vu-Quoc 1987\], spun up to 6 rad/s in 15 s, in three bending functions.
fn spinning_beam(shortening: &str) -> Run {
    let beam = "length_m = 10.0\nmass_per_length_kg_per_m = 1.2\nbending_stiffness_y_n_m2 = 1.4e4\n\
                section_inertia_y_kg_m = 6e-4\nbasis.clamped_free.bending_y = 3";
    let text = format!(
        r#"{}[[motion]]
joint = "hub"
cycloidal_rate = {{ final_rate_rad_per_s = 6.0, duration_s = 15.0 }}
[[marker]]
name = "tip"
body = "beam"
{shortening}
[simulation]
duration_s = 20.0
[output]
sample_period_s = 0.01
"#,
        hinged_beam(beam)
    );
    in_tree(&parsed(&text))
}

/// Three functions and second-order shortening against the geometrically exact beam.
const EXACT_BEAM: f64 = 0.01;

/// Mean of the deflection once the beam turns evenly, relative to its largest: some six periods of an
/// undamped swing average out.
const STEADY_MEAN: f64 = 1e-3;
/// Swing that a smooth start of 15 s leaves, relative to the largest deflection.
const STEADY_SWING: f64 = 1e-2;

#[test]
fn the_spinning_beam_stiffens() {
    let run = spinning_beam("");
    assert_eq!(run.ending, Ending::Completed);
    let tip = run.recording.channel("tip.deflection.y").unwrap();
    let at = |time: f64| run.recording.value_at(tip, time).unwrap();
    // the geometrically exact solution at these instants
    for (time, exact) in [(5.0, -0.46848), (6.76, -0.57384), (10.0, -0.36282)] {
        let error = at(time) / exact - 1.0;
        assert!(error.abs() < EXACT_BEAM, "{} m at {time} s", at(time));
    }
    let lowest = tip.samples.iter().fold(0.0, |low: f64, x| low.min(*x));
    assert!(
        (lowest / -0.57384 - 1.0).abs() < EXACT_BEAM,
        "lowest {lowest}"
    );

    // steady: the tip swings about zero, far less than on the way up
    let steady: Vec<f64> = run
        .recording
        .time_s
        .iter()
        .zip(&tip.samples)
        .filter(|(time, _)| **time >= 15.0)
        .map(|(_, x)| *x)
        .collect();
    let mean = steady.iter().sum::<f64>() / steady.len() as f64;
    let most = steady.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!(mean.abs() < STEADY_MEAN * lowest.abs(), "mean {mean}");
    assert!(most < STEADY_SWING * lowest.abs(), "swing {most}");
}

/// Above its first frequency a beam that does not shorten is thrown off.
#[test]
fn without_shortening_the_spinning_beam_diverges() {
    let run = spinning_beam("[fidelity]\nshortening = \"none\"");
    let tip = run.recording.channel("tip.deflection.y").unwrap();
    let last = tip.samples.last().unwrap();
    assert!(last.abs() > 1e3, "{last}");
    // it ends when nothing finite can be said of it, and says so
    assert!(matches!(
        run.ending,
        Ending::Failed(RunError::NotFinite { .. })
    ));
}
