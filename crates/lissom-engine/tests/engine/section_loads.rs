//! Forces, moments and stresses in the sections of beams.

use std::f64::consts::PI;

use lissom_core::recording::{LoadPeak, Recording, SectionExtremes};
use lissom_core::study::{Ending, sample_instants};
use lissom_engine::Mechanism;
use lissom_spec::ModelSpec;

use crate::models::parsed;
use crate::numbers::{distance, largest};
use crate::runs::{nodal_mechanism, samples, tree_mechanism, vector};

/// What statics gives of straight beams, of the largest force or moment; these bend by less than 1e-9 of their length, and levers differ
/// by its square.
const STATICS: f64 = 1e-10;
/// What the slopes of these beams, which turn forces across them into forces along them, and the search for the rest leave of loads
/// that are not there.
const ABSENT: f64 = 1e-8;
/// Sums of many products, of forces that accelerations of a stiff beam make.
const ROUNDING: f64 = 1e-9;
const G: f64 = 9.81;

fn recorded(mechanism: &Mechanism) -> Recording {
    let run = mechanism.run(&sample_instants(mechanism.spec(), &[]));
    assert_eq!(run.ending, Ending::Completed);
    run.recording
}

fn both(spec: &ModelSpec, elements: usize) -> [Mechanism; 2] {
    [tree_mechanism(spec), nodal_mechanism(spec, elements)]
}

/// Force and moment in a section at a sample.
fn load(recording: &Recording, section: &str, sample: usize) -> [f64; 6] {
    [
        "axial_force",
        "shear_force.y",
        "shear_force.z",
        "torque",
        "bending_moment.y",
        "bending_moment.z",
    ]
    .map(|what| samples(recording, &format!("{section}.{what}"))[sample])
}

#[track_caller]
fn assert_near(found: f64, expected: f64, scale: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * scale,
        "{what}: {found:e} instead of {expected:e}"
    );
}

/// A rod along x, two metres long, with a mass at its middle and one beside its tip.
fn cantilever((modulus, more): (f64, &str), gravity: f64, inputs: &str) -> ModelSpec {
    let shear_modulus = 0.4 * modulus;
    parsed(&format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -{gravity}]
[[body]]
name = "rod"
node = [{{ name = "middle", position_m = [1.0, 0.0, 0.0] }}]
point_mass = [{{ at = "middle", mass_kg = 3.0 }}]
[body.beam]
length_m = 2.0
section.tube = {{ diameter_m = {OUTER_M}, wall_m = {WALL_M} }}
material.elastic = {{ youngs_modulus_pa = {modulus:e}, shear_modulus_pa = {shear_modulus:e}, density_kg_per_m3 = 7850.0 }}
basis.clamped_free = {{ bending_y = 1, bending_z = 2{more} }}
[[joint]]
name = "wall"
parent = "ground"
child = "rod"
fixed = {{}}
[[payload]]
name = "load"
body = "rod"
mass_kg = 5.0
center_of_mass_m = [0.1, 0.0, 0.0]
[[marker]]
name = "hand"
body = "rod"
at = "tip"
[[marker]]
name = "quarter"
body = "rod"
position_m = [0.5, 0.0, 0.0]
{inputs}
[output]
load_sections = 9
"#
    ))
}

const OUTER_M: f64 = 0.1;
const WALL_M: f64 = 0.01;

/// An input of a constant force or torque on a marker.
fn pull(marker: &str, direction: [f64; 3], what: &str) -> String {
    format!("[[input]]\nmarker = \"{marker}\"\ndirection = {direction:?}\n{what}\n")
}

/// Closed form: loads and stresses of a cantilever under point loads, its weight and the weights that it carries, with few functions
/// and few elements. Loads come one kind at a time, as a bent beam turns forces along it into forces across it.
#[test]
fn a_cantilever_at_rest_carries_what_statics_says() {
    let inner: f64 = OUTER_M - 2.0 * WALL_M;
    let area = 0.25 * PI * (OUTER_M * OUTER_M - inner * inner);
    let moment_of_area = PI * (OUTER_M.powi(4) - inner.powi(4)) / 64.0;
    let (per_length, gravity) = (7850.0 * area, G * 1e-4);
    let weighed = |x: f64| {
        let beyond = 2.0 - x;
        let middle = if x <= 1.0 { 3.0 } else { 0.0 };
        let lifted = if x <= 0.5 { 4e-3 } else { 0.0 };
        let force = lifted - gravity * (5.0 + middle + per_length * beyond);
        let weights = 5.0 * (2.1 - x) + middle * (1.0 - x) + 0.5 * per_length * beyond * beyond;
        let moment = gravity * weights - lifted * (0.5 - x);
        [0.0, 0.0, force, 0.0, moment, 0.0]
    };
    let [along, across, about] = [
        pull("hand", [1.0, 0.0, 0.0], "force_constant.value_n = 700.0"),
        pull("hand", [0.0, 1.0, 0.0], "force_constant.value_n = 0.2"),
        pull("hand", [1.0, 0.0, 0.0], "torque_constant.value_n_m = 30.0"),
    ];
    let lift = pull("quarter", [0.0, 0.0, 1.0], "force_constant.value_n = 4e-3");
    type Loads<'a> = &'a dyn Fn(f64) -> [f64; 6];
    // forces across must not bend the beam, and what stretches or twists it must not be lost in the rounding of places
    let (stiff, soft) = ((6e13, ""), (2e9, ", stretch = 1, torsion = 1"));
    let cases: [((f64, &str), f64, &str, Loads<'_>); 4] = [
        (stiff, gravity, &lift, &weighed),
        (soft, 0.0, &along, &|_| [700.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        (stiff, 0.0, &across, &|x| {
            [0.0, 0.2, 0.0, 0.0, 0.0, 0.2 * (2.0 - x)]
        }),
        (soft, 0.0, &about, &|_| [0.0, 0.0, 0.0, 30.0, 0.0, 0.0]),
    ];
    for (made_of, gravity, inputs, loads) in cases {
        // at the root
        let [force, moment] = [&loads(0.0)[..3], &loads(0.0)[3..]].map(largest);
        for mechanism in both(&cantilever(made_of, gravity, inputs), 3) {
            let rest = mechanism.equilibrium(&mechanism.start().unwrap()).unwrap();
            for section in 0..9 {
                let expected = loads(0.25 * f64::from(section));
                let name = format!("rod.section_{}", section + 1);
                let found = load(&rest.recording, &name, 0);
                for (k, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                    let scale = force.max(moment);
                    let tolerance = if loads(0.0)[k] == 0.0 {
                        ABSENT
                    } else {
                        STATICS
                    };
                    assert_near(found, expected, scale, tolerance, &format!("{name} {k}"));
                }
                let axial = expected[0] / area;
                let bent = 0.5 * OUTER_M * expected[4].hypot(expected[5]) / moment_of_area;
                let shear = 0.25 * OUTER_M * expected[3].abs() / moment_of_area;
                let scale = force / area + 0.5 * OUTER_M * moment / moment_of_area;
                for (what, stress) in [
                    ("normal_stress.max", axial + bent),
                    ("normal_stress.min", axial - bent),
                    ("torsion_stress", shear),
                    (
                        "von_mises_stress",
                        (axial + bent).hypot(3.0_f64.sqrt() * shear),
                    ),
                ] {
                    let found = samples(&rest.recording, &format!("{name}.{what}"))[0];
                    assert_near(found, stress, scale, STATICS, &format!("{name} {what}"));
                }
            }
        }
    }
}

/// Two links in motion, with payload, load, rotary inertia and a point mass.
fn moving(more: &str) -> String {
    format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -{G}, 0.0]
[[body]]
name = "upper"
node = [{{ name = "quarter", position_m = [0.2, 0.0, 0.0] }}]
point_mass = [{{ at = "quarter", mass_kg = 0.3 }}]
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 1.2
bending_stiffness_y_n_m2 = 400.0
bending_stiffness_z_n_m2 = 300.0
torsional_stiffness_n_m2 = 200.0
section_inertia_y_kg_m = 1e-4
section_inertia_z_kg_m = 2e-4
basis.clamped_free = {{ bending_y = 3, bending_z = 3, torsion = 2 }}
[[body]]
name = "fore"
[body.beam]
length_m = 0.6
mass_per_length_kg_per_m = 0.9
bending_stiffness_y_n_m2 = 200.0
bending_stiffness_z_n_m2 = 300.0
basis.clamped_free = {{ bending_y = 3, bending_z = 3 }}
[[payload]]
name = "load"
body = "fore"
mass_kg = 0.4
inertia_kg_m2 = [1e-4, 1e-4, 1e-4]
[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.2, initial_rate_rad_per_s = 2.0 }}
[[joint]]
name = "elbow"
parent = "upper"
child = "fore"
revolute = {{ axis = [0.0, 1.0, 0.0], initial_angle_rad = -0.5, initial_rate_rad_per_s = -3.0 }}
[[marker]]
name = "hand"
body = "fore"
at = "tip"
[[input]]
marker = "hand"
direction = [0.2, 1.0, 0.5]
frame = "body"
force_constant.value_n = 3.0
{more}
[simulation]
duration_s = 0.003
integrator.generalized_alpha.step_s = 5e-4
[output]
sample_period_s = 0.001
load_sections = 5
"#
    )
}

/// Newton's third law: the first section transmits what the joint does that carries the beam, and the last one of the upper arm what
/// the elbow does, at every instant of a motion.
#[test]
fn ends_of_moving_beams_transmit_what_their_joints_do() {
    for mechanism in both(&parsed(&moving("")), 3) {
        let recording = recorded(&mechanism);
        assert!(recording.len() > 2);
        for sample in 0..recording.len() {
            for (joint, beam) in [("shoulder", "upper"), ("elbow", "fore")] {
                let [force, moment] = ["force", "moment"]
                    .map(|what| vector(&recording, &format!("{joint}.reaction.{what}"), sample));
                let found = load(&recording, &format!("{beam}.section_1"), sample);
                let scale = largest(&force).max(largest(&moment));
                let opposite = |v: [f64; 3]| v.map(|x| -x);
                let apart = distance([found[0], found[1], found[2]], opposite(force))
                    .max(distance([found[3], found[4], found[5]], opposite(moment)));
                assert!(
                    apart < ROUNDING * scale,
                    "{joint} {sample}: {apart:e} of {scale:e}"
                );
            }
            let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let tip = load(&recording, "upper.section_5", sample);
            for (part, what) in [(&tip[..3], "force"), (&tip[3..], "moment")] {
                let elbow = vector(&recording, &format!("elbow.reaction.{what}"), sample);
                assert_near(size(part), size(&elbow), 100.0, ROUNDING, what);
            }
        }
    }
}

/// Two formulations: loads along a link that its joint swings, with a payload at its tip.
#[test]
fn both_formulations_find_the_same_loads() {
    // the vibrations that the start of the motion leaves, of three functions and of three elements
    const DISCRETISATION: f64 = 0.01;
    let spec = parsed(
        r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]
[[body]]
name = "boom"
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 1.2
bending_stiffness_y_n_m2 = 4e3
bending_stiffness_z_n_m2 = 6e3
section_inertia_y_kg_m = 1e-4
section_inertia_z_kg_m = 1e-4
basis.clamped_free = { bending_y = 3, bending_z = 3 }
[[payload]]
name = "load"
body = "boom"
mass_kg = 0.5
[[joint]]
name = "hub"
parent = "ground"
child = "boom"
revolute = { axis = [0.0, 1.0, 1.0] }
[[motion]]
joint = "hub"
cycloid = { final_angle_rad = 1.0, duration_s = 0.4 }
[simulation]
initial = "equilibrium"
duration_s = 0.1
integrator.generalized_alpha = { step_s = 1e-3 }
[output]
sample_period_s = 0.02
load_sections = 5
"#,
    );
    let [tree, nodes] = both(&spec, 3).map(|mechanism| recorded(&mechanism));
    for quantity in [
        "axial_force",
        "shear_force.y",
        "shear_force.z",
        "bending_moment.y",
        "bending_moment.z",
    ] {
        let name = |k: usize| format!("boom.section_{k}.{quantity}");
        let scale = largest(samples(&tree, &name(1)));
        assert!(scale > 1.0, "{quantity}: {scale}");
        for k in 1..=5 {
            let pairs = samples(&tree, &name(k))
                .iter()
                .zip(samples(&nodes, &name(k)));
            for (a, b) in pairs {
                assert_near(*b, *a, scale, DISCRETISATION, &name(k));
            }
        }
    }
}

/// Closed form: a beam that turns at a constant rate carries $`\tfrac12\rho A\,\omega^2(L^2 - x^2)`$ along its axis.
#[test]
fn a_turning_beam_is_pulled_by_its_mass() {
    let text = r#"
format = 1
[[body]]
name = "blade"
[body.beam]
length_m = 3.0
mass_per_length_kg_per_m = 2.0
bending_stiffness_y_n_m2 = 1e5
basis.clamped_free = { bending_y = 2 }
[[joint]]
name = "hub"
parent = "ground"
child = "blade"
revolute = { axis = [0.0, 0.0, 1.0] }
[[motion]]
joint = "hub"
constant_rate.rate_rad_per_s = 4.0
[simulation]
duration_s = 0.01
integrator.generalized_alpha.step_s = 1e-3
[output]
load_sections = 7
"#;
    for mechanism in both(&parsed(text), 2) {
        let recording = recorded(&mechanism);
        let last = recording.len() - 1;
        for section in 0..7 {
            let x = 0.5 * f64::from(section);
            let name = format!("blade.section_{}", section + 1);
            let expected = 16.0 * (9.0 - x * x);
            let found = load(&recording, &name, last);
            assert_near(found[0], expected, 144.0, ROUNDING, &name);
            assert_near(found[5], 0.0, 144.0, ROUNDING, &name);
        }
    }
}

/// Closed form: of a beam that vibrates in its first mode, $`M = EI\,\varphi''\,q`$ although no derivative is taken.
#[test]
fn a_vibrating_beam_is_bent_by_its_inertia() {
    let spec = parsed(
        r#"
format = 1
[[body]]
name = "rod"
initial.elastic = { bending_y_1 = 1e-6 }
[body.beam]
length_m = 2.0
mass_per_length_kg_per_m = 3.0
bending_stiffness_y_n_m2 = 50.0
basis.clamped_free = { bending_y = 1 }
[[joint]]
name = "wall"
parent = "ground"
child = "rod"
fixed = {}
[simulation]
duration_s = 0.3
[output]
load_sections = 5
"#,
    );
    let recording = recorded(&tree_mechanism(&spec));
    // the lowest root of cos z cosh z = -1
    let z = 1.875_104_068_711_961_2_f64;
    let ratio = (z.cosh() + z.cos()) / (z.sinh() + z.sin());
    for (sample, q) in samples(&recording, "rod.bending_y_1").iter().enumerate() {
        for section in 0..5 {
            let s = z * 0.25 * f64::from(section);
            let curved = s.cosh() + s.cos() - ratio * (s.sinh() + s.sin());
            // unit modal mass, and k = z / L
            let curvature = 0.25 * z * z * curved / 6.0_f64.sqrt();
            let name = format!("rod.section_{}", section + 1);
            let found = load(&recording, &name, sample)[5];
            // moments of 1e-5 N m at most; deflections of 1e-6 m shorten levers by a part of 1e-12
            assert_near(found, 50.0 * curvature * q, 50e-6, ROUNDING, &name);
        }
    }
}

/// Closed form: a beam over two supports, loaded at its tip.
#[test]
fn supports_along_a_beam_are_counted_where_they_are() {
    let spec = parsed(
        r#"
format = 1
[[body]]
name = "beam"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 1e4
basis.unconstrained = { bending_y = 8 }
[[joint]]
name = "feed"
parent = "ground"
child = "beam"
prismatic = { axis = [1.0, 0.0, 0.0], held = true }
[[support]]
name = "first"
beam = "beam"
on = { body = "ground", position_m = [0.1, 0.0, 0.0] }
[[support]]
name = "second"
beam = "beam"
on = { body = "ground", position_m = [0.6, 0.0, 0.0] }
[[marker]]
name = "tip"
body = "beam"
at = "tip"
[[input]]
marker = "tip"
direction = [0.0, 1.0, 0.0]
force_constant.value_n = 1e-3
[output]
load_sections = 21
"#,
    );
    let mechanism = tree_mechanism(&spec);
    let rest = mechanism.equilibrium(&mechanism.start().unwrap()).unwrap();
    for section in 0..21 {
        let x = 0.05 * f64::from(section);
        // the beam turns about the second support: the first holds it with 0.4 / 0.5 of the load
        let shear = match section {
            0..=2 => 0.0,
            3..=12 => -0.8e-3,
            _ => 1e-3,
        };
        let moment = match section {
            0..=2 => 0.0,
            3..=12 => 0.8e-3 * (x - 0.1),
            _ => 1e-3 * (1.0 - x),
        };
        let name = format!("beam.section_{}", section + 1);
        let found = load(&rest.recording, &name, 0);
        // at the place of a section a support may count on either side
        if section != 2 && section != 12 {
            assert_near(found[1], shear, 1e-3, STATICS, &name);
        }
        assert_near(found[5], moment, 1e-3, STATICS, &name);
    }
}

/// Newton's third law at the end of a loop and at the joint of the beam, in both formulations.
#[test]
fn loops_push_on_beams_where_they_end() {
    let text = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "crank"
rigid = { mass_kg = 0.3, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [1e-4, 1e-3, 1e-3] }
node = [{ name = "pin", position_m = [0.2, 0.0, 0.0] }]
[[body]]
name = "coupler"
[body.beam]
length_m = 0.6
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 300.0
basis.clamped_free = { bending_y = 3 }
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
to = { body = "coupler", at = "tip" }
point_on_line = { direction = [1.0, 0.1, 0.0] }
[simulation]
duration_s = 0.005
integrator.generalized_alpha.step_s = 5e-4
[output]
sample_period_s = 0.0025
load_sections = 4
"#;
    let [tree, nodes] = both(&parsed(text), 3).map(|mechanism| recorded(&mechanism));
    for recording in [&tree, &nodes] {
        for sample in 0..recording.len() {
            // in the plane, along the axes of the tip
            let tip = load(recording, "coupler.section_4", sample);
            let guide = vector(recording, "guide.force", sample);
            let size = |a: f64, b: f64| a.hypot(b);
            assert_near(
                size(tip[0], tip[1]),
                size(guide[0], guide[1]),
                10.0,
                ROUNDING,
                "tip",
            );
            assert_near(tip[5], 0.0, 10.0, ROUNDING, "a point does not turn");
            let root = load(recording, "coupler.section_1", sample);
            let knuckle = vector(recording, "knuckle.reaction.force", sample);
            assert_near(root[0], -knuckle[0], 10.0, ROUNDING, "root");
            assert_near(root[1], -knuckle[1], 10.0, ROUNDING, "root");
        }
    }
}

/// Property: peaks are the largest samples of all sections, and rigid beams have none.
#[test]
fn peaks_are_found_where_they_are() {
    let spec = parsed(&moving(""));
    let recording = recorded(&tree_mechanism(&spec));
    let extremes = SectionExtremes::of(&recording, &spec);
    assert_eq!(extremes.len(), 2 * 5 * 6);
    let peaks = LoadPeak::of(&extremes);
    assert_eq!(peaks.len(), 2 * 6);
    for peak in &peaks {
        let name = |k: usize| format!("{}.section_{k}.{}", peak.beam, peak.quantity);
        let all = (1..=5).map(|k| largest(samples(&recording, &name(k))));
        assert_eq!(peak.value.abs(), all.fold(0.0, f64::max));
        let channel = recording.channel(&name(peak.section)).unwrap();
        assert_eq!(recording.value_at(channel, peak.time_s), Some(peak.value));
        let length = if peak.beam == "upper" { 0.8 } else { 0.6 };
        assert!((peak.place_m - length * 0.25 * (peak.section - 1) as f64).abs() < 1e-15);
    }
    let rigid = parsed(&moving("[fidelity]\npreset = \"rigid\""));
    let mechanism = tree_mechanism(&rigid);
    let signals = mechanism.signals().unwrap();
    assert!(
        signals
            .iter()
            .all(|signal| !signal.name.contains(".section_"))
    );
}
