//! Models written in nodes and elements: published numbers, closed forms, and what is said against wrong ones.

use std::f64::consts::PI;

use lissom_core::Recording;
use lissom_core::study::{Ending, Run};
use lissom_spec::{ErrorKind, ModelSpec};

use crate::models::{changed, nodal_model, parsed};
use crate::runs::{completed, in_nodes, last, mechanism, samples};
use crate::shipped::{
    BEND, FLYING_SPAGHETTI, FOUR_BAR_ELEMENTS, PRINCETON_BEAM, ROTATING_BEAM, SPIN_UP_ELEMENTS,
    TWO_LINK,
};

fn ran(spec: &ModelSpec) -> Run {
    completed(in_nodes(spec, 1))
}

/// Displacement of the tip at rest.
fn deflection(text: &str, changes: &[&str]) -> [f64; 3] {
    let spec = changed(text, changes);
    let mechanism = mechanism(&spec);
    let rest = mechanism.equilibrium(&mechanism.written()).unwrap();
    let start = spec.find_node("tip").unwrap().point.as_ref().unwrap();
    std::array::from_fn(|i| {
        let name = format!("tip.position.{}", ["x", "y", "z"][i]);
        samples(&rest.recording, &name)[0] - start.position_m[i]
    })
}

/// Tip along and across the hub's axis at the samples.
fn turning(recording: &Recording) -> Vec<[f64; 2]> {
    let [angle, x, y] =
        ["hub.rotation", "tip.position.x", "tip.position.y"].map(|name| samples(recording, name));
    let of = |i: usize| {
        let (sin, cos) = angle[i].sin_cos();
        [cos * x[i] + sin * y[i], cos * y[i] - sin * x[i]]
    };
    (0..angle.len()).map(of).collect()
}

/// Smallest displacement across, and its instant.
fn lowest(recording: &Recording) -> (f64, f64) {
    let across = turning(recording).into_iter().map(|[_, across]| across);
    let instants = recording.time_s.iter().copied();
    across.zip(instants).fold(
        (0.0, 0.0),
        |best, found| {
            if found.0 < best.0 { found } else { best }
        },
    )
}

/// Second implementation: Jonker & Aarts's beam of four elements, with and without the quadratic term
/// of the elongation; converged reference values with five digits.
#[test]
fn spin_up_of_jonker_and_aarts() {
    const DIGITS: f64 = 1e-5;
    let span = ["simulation.duration_s=8", "output.sample_period_s=0.005"];
    for (terms, wanted) in [("elongation", -0.53424), ("none", -0.53866)] {
        let terms = format!("element.beam.beam.second_order={terms}");
        let run = ran(&changed(ROTATING_BEAM, &[span[0], span[1], &terms]));
        let (found, instant) = lowest(&run.recording);
        assert!((found - wanted).abs() < DIGITS, "{found} at {instant}");
        assert!((instant - 6.766).abs() < 0.05, "{instant}");
        // percent of the peak: a relative tolerance of 1e-7 over some thousand steps
        assert!(run.audit.energy.max_drift_percent < 1e-4);
    }
}

/// Second implementation: Simo & Vu-Quoc's beam, geometrically exact, 20 elements, implicit; the error
/// asked of 20 elements is 1e-4 m.
#[test]
fn spin_up_of_simo_and_vu_quoc() {
    const AGREEMENT: f64 = 1e-4;
    let run = ran(&changed(
        SPIN_UP_ELEMENTS,
        &["simulation.duration_s=18", "output.sample_period_s=0.005"],
    ));
    let (found, instant) = lowest(&run.recording);
    assert!((found + 0.57384).abs() < AGREEMENT, "{found} at {instant}");
    let tip = turning(&run.recording);
    assert!((tip[1000][1] + 0.46848).abs() < AGREEMENT);
    assert!((tip[2000][1] + 0.36282).abs() < AGREEMENT);
    let extension = tip[3600][0] - 10.0;
    assert!(
        (extension - 5.1429e-4).abs() < 1e-2 * 5.1429e-4,
        "{extension}"
    );
}

/// Published number and closed form: Simo & Vu-Quoc's flying beam, whose loaded end curls up within a few elements.
/// Its displacement agrees with published solutions as these do among each other; the centre of mass moves as a
/// particle does.
#[test]
fn flying_spaghetti() {
    // one hundredth of the length
    const AGREEMENT: f64 = 0.1;
    // steps of 5 ms while the loaded end turns at up to 10 rad/s: their square
    const PARTICLE: f64 = 2.5e-3;
    let run = ran(&changed(FLYING_SPAGHETTI, &["simulation.duration_s=2.5"]));
    let last = |name: &str| last(&run.recording, name);
    let displacement = [last("lower.position.x") - 6.0, last("lower.position.y")];
    // it weighs 10 kg
    let velocity = ["x", "y"].map(|axis| last(&format!("momentum.linear.{axis}")) / 10.0);
    assert!((velocity[0] - 2.0).abs() < PARTICLE, "{velocity:?}");
    assert!(velocity[1].abs() < PARTICLE, "{velocity:?}");
    for (found, published) in displacement.into_iter().zip([-1.037, 4.476]) {
        assert!((found - published).abs() < AGREEMENT, "{displacement:?}");
    }
}

/// Published numbers: the Princeton beam (shell and solid models of other programs) to one per cent.
#[test]
fn beam_of_princeton() {
    const AGREEMENT: f64 = 0.01;
    let [_, y, z] = deflection(PRINCETON_BEAM, &["input.0.direction=[0, 1, 1]"]);
    assert!((y / 0.008_837_2 - 1.0).abs() < AGREEMENT, "{y}");
    assert!((z / 0.108_987_9 - 1.0).abs() < AGREEMENT, "{z}");
    let [_, y, z] = deflection(PRINCETON_BEAM, &["input.0.direction=[0, 0, 1]"]);
    assert!(y.abs() < 1e-12, "{y}");
    assert!((z / 0.146_246 - 1.0).abs() < AGREEMENT, "{z}");
}

/// Published numbers: Bathe & Bolourchi's 45° bend to half a per cent of each displacement.
#[test]
fn bend_of_45_degrees() {
    const AGREEMENT: f64 = 0.005;
    let found = deflection(BEND, &[]);
    for (found, published) in found.into_iter().zip([-23.82, -13.73, 53.61]) {
        let apart = (found / published - 1.0).abs();
        assert!(apart < AGREEMENT, "{found} {published}");
    }
}

/// Order of convergence: halving the elements divides the error by four.
#[test]
fn elements_are_of_second_order() {
    let [coarse, middle, fine] = [4, 8, 16].map(|n| {
        let divisions = format!("element.beam.beam.divisions={n}");
        deflection(PRINCETON_BEAM, &["input.0.direction=[0, 0, 1]", &divisions])[2]
    });
    let ratio = (coarse - middle) / (middle - fine);
    assert!((ratio - 4.0).abs() < 0.2, "{ratio}");
}

/// Tip of a cantilever of length 1 m, EI = 10 N m², under a moment.
fn rolled(elements: usize, axial_stiffness: f64, second_order: &str, moment: f64) -> [f64; 2] {
    let text = format!(
        r#"
format = 1
[[node]]
name = "root"
point = {{ position_m = [0.0, 0.0, 0.0], roles = ["fixed", "fixed", "fixed"] }}
[[node]]
name = "clamp"
orientation.role = "fixed"
[[node]]
name = "tip"
point.position_m = [1.0, 0.0, 0.0]
[[node]]
name = "end"
orientation = {{}}
[[element]]
name = "beam"
[element.beam]
from = {{ point = "root", orientation = "clamp" }}
to = {{ point = "tip", orientation = "end" }}
divisions = {elements}
y_direction = [0.0, 1.0, 0.0]
axial_stiffness_n = {axial_stiffness}
torsional_stiffness_n_m2 = 10.0
bending_stiffness_y_n_m2 = 10.0
bending_stiffness_z_n_m2 = 10.0
mass_per_length_kg_per_m = 1.0
second_order = "{second_order}"
[[input]]
marker = "end"
direction = [0.0, 0.0, 1.0]
torque_constant.value_n_m = {moment}
"#
    );
    let [x, y, _] = deflection(&text, &[]);
    [1.0 + x, y]
}

/// Closed form: a moment EI 2π/L rolls a cantilever up into a circle. The elements make a regular polygon
/// with sides λ l₀ and turns 2x, where λ = 1 − λ² sin²x/6, since nothing stretches, and the energy
/// 2 EI λ² sin²x/l₀ gives the moment: λ³ sin 2x/(1 + λ² sin²x/6) = M l₀/EI.
#[test]
fn moment_rolls_a_beam_into_a_circle() {
    // the axial stiffness is so large that elements stretch by 4e-10
    const STRETCH: f64 = 1e-8;
    let tip = |elements: usize| {
        let found = rolled(elements, 1e12, "elongation", 20.0 * PI);
        let (mut side, mut half) = (1.0_f64, PI / elements as f64);
        for _ in 0..100 {
            let slope = (side * half.sin()).powi(2) / 6.0;
            let turn = 2.0 * PI * (1.0 + slope) / (elements as f64 * side.powi(3));
            half = 0.5 * turn.asin();
            side = 1.0 - slope;
        }
        let mut polygon = [0.0, 0.0];
        for k in 0..elements {
            let (sin, cos) = (half * (2 * k + 1) as f64).sin_cos();
            polygon[0] += side * cos / elements as f64;
            polygon[1] += side * sin / elements as f64;
        }
        let apart = (found[0] - polygon[0]).hypot(found[1] - polygon[1]);
        assert!(apart < STRETCH, "{found:?} {polygon:?}");
        polygon[0].hypot(polygon[1])
    };
    let (coarse, fine) = (tip(20), tip(40));
    assert!((coarse / fine - 4.0).abs() < 0.5, "{coarse} {fine}");
}

/// Closed form: a moment does not stretch the axis of a rod, however soft that is. EA is such that bending parameters of
/// unscaled chords would shorten it by EI κ²/EA = 2 %; the half circle is met at second order.
#[test]
fn moment_does_not_stretch_a_soft_beam() {
    let soft = 10.0 * PI * PI / 0.02;
    let off = |elements: usize, second_order: &str| {
        let [x, y] = rolled(elements, soft, second_order, 10.0 * PI);
        x.hypot(y - 2.0 / PI)
    };
    let (coarse, fine) = (off(16, "all"), off(32, "all"));
    assert!((coarse / fine - 4.0).abs() < 0.2, "{coarse} {fine}");
    let unscaled = off(32, "elongation");
    assert!(unscaled > 0.02 * 2.0 / PI, "{unscaled}");
}

/// Property: the loop of the four-bar stays closed while its coupler bends, and energy balances.
#[test]
fn a_loop_of_elements_stays_closed() {
    // Newton's iteration of the nodes ends at rounding
    const CLOSED: f64 = 1e-9;
    let run = ran(&parsed(FOUR_BAR_ELEMENTS));
    let apart = |from: [f64; 2], to: &str, sample: usize| {
        let at = |axis: &str| samples(&run.recording, &format!("{to}.position.{axis}"))[sample];
        (at("x") - from[0]).hypot(at("y") - from[1])
    };
    let rocker = (0.1_f64).hypot(0.7);
    for sample in 0..run.recording.len() {
        assert!((apart([0.0, 0.0], "crank_pin", sample) - 0.3).abs() < CLOSED);
        assert!((apart([0.9, 0.0], "rocker_pin", sample) - rocker).abs() < CLOSED);
    }
    let bent = samples(&run.recording, "coupler.2.bending_q");
    assert!(bent.iter().any(|x| x.abs() > 1e-4), "the coupler bends");
    assert!(run.audit.energy.max_drift_percent < 1e-4);
}

/// Property: each mistake is found where it is made, all of them at once.
#[test]
fn mistakes_are_found_where_they_are() {
    let cases = [
        (
            "roles = [\"fixed\", \"fixed\"]\n\n[[node]]\nname = \"pivot\"",
            "roles = [\"prescribed\", \"fixed\"]\n\n[[node]]\nname = \"pivot\"",
            "[[node]]",
        ),
        (
            "from = \"ground\", to = \"crank_angle\"",
            "from = \"motor\", to = \"crank_angle\"",
            "\"motor\"",
        ),
        ("divisions = 4", "divisions = 0", "0"),
        (
            "bending_stiffness_y_n_m2 = 30.0",
            "bending_stiffness_z_n_m2 = 30.0",
            "bending_stiffness_z_n_m2",
        ),
        ("joint = \"drive\"", "joint = \"coupler\"", "\"coupler\""),
        (
            "mass_kg = 0.2 }\n\n[[node]]\nname = \"coupler_root\"",
            "mass_kg = -0.2 }\n\n[[node]]\nname = \"coupler_root\"",
            "-0.2",
        ),
    ];
    for (from, to, located) in cases {
        assert_eq!(FOUR_BAR_ELEMENTS.matches(from).count(), 1, "{from:?}");
        let text = FOUR_BAR_ELEMENTS.replacen(from, to, 1);
        let errors = ModelSpec::parse(&text, &[]).unwrap_err();
        let found: Vec<&str> = (errors.iter())
            .filter_map(|error| Some(&text[error.locate(&text)?]))
            .collect();
        assert!(
            found.iter().any(|place| place.contains(located)),
            "{to:?}: {errors:?} {found:?}"
        );
    }
    let mixed = format!(
        "{FOUR_BAR_ELEMENTS}\n[[body]]\nname = \"arm\"\nrigid = {{ mass_kg = 1.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }}\n"
    );
    let errors = ModelSpec::parse(&mixed, &[]).unwrap_err();
    assert!(
        matches!(errors[0].kind, ErrorKind::NoEffect { .. }),
        "{errors:?}"
    );
    // one support too few
    let loose = FOUR_BAR_ELEMENTS.replacen("role = \"prescribed\"", "role = \"free\"", 1);
    let loose = loose.split("[[motion]]").next().unwrap();
    let spec = parsed(loose);
    let error = nodal_model(&spec, 1).unwrap_err().remove(0);
    assert!(
        error.to_string().contains("nodal coordinates are free"),
        "{error}"
    );
}

/// Property: a link that twists without inertia cannot be run, and its coordinate is named.
#[test]
fn torsion_without_inertia_is_refused() {
    let spec = changed(
        TWO_LINK,
        &[
            "element.fore.beam.torsional_stiffness_n_m2=1000",
            "simulation.initial=written",
            "simulation.integrator={dop853={}}",
        ],
    );
    let run = mechanism(&spec).run(&[0.0, 1.2]);
    let Ending::Failed(error) = run.ending else {
        panic!("it runs");
    };
    let message = error.to_string();
    assert!(
        message.contains("mass matrix is singular: fore.torsion"),
        "{message}"
    );
}

/// Conservation: a pendulum on a damped hinge, whose pivot is shaken, loses what its damper takes.
#[test]
fn a_damped_hinge_takes_what_it_is_said_to() {
    // percent of the peak: a relative tolerance of 1e-9 over a few hundred steps
    const BALANCE_PERCENT: f64 = 1e-5;
    let text = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[node]]
name = "stand"
planar_angle.role = "prescribed"
[[node]]
name = "pivot"
planar_point = { position_m = [0.0, 0.0], roles = ["prescribed", "fixed"] }
[[node]]
name = "bar"
planar_angle = {}
[[node]]
name = "bob"
planar_point = { position_m = [1.0, 0.0], mass_kg = 1.0 }
[[node]]
name = "bob_angle"
planar_angle.inertia_kg_m2 = 0.1
[[element]]
name = "axle"
hinge = { from = "stand", to = "bar", damping_n_m_s_per_rad = 0.5, initial_rate_rad_per_s = 0.3 }
[[element]]
name = "rod"
rigid_beam = { from = { point = "pivot", orientation = "bar" }, to = { point = "bob", orientation = "bob_angle" } }
[[motion]]
joint = "stand"
sines = { amplitude_rad = [0.2], frequency_rad_per_s = [5.0] }
[[motion]]
joint = "pivot"
cycloid = { final_displacement_m = 0.5, duration_s = 0.7 }
[simulation]
duration_s = 1.0
"#;
    let run = ran(&parsed(text));
    let last = |name: &str| last(&run.recording, name);
    assert!(
        last("energy.dissipated") > 0.5,
        "{}",
        last("energy.dissipated")
    );
    assert!((last("pivot.position.x") - 0.5).abs() < 1e-12);
    assert!(run.audit.energy.max_drift_percent < BALANCE_PERCENT);
}
