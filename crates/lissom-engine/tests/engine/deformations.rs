//! What single deformations of elements are: prescribed, actuated, suppressed; and loads in the axes of a node.

use lissom_core::study::Run;
use lissom_spec::{ModelSpec, Override};

use crate::models::parsed;
use crate::runs::{completed, in_nodes, mechanism, samples};

/// Relative tolerance of the runs here.
const RTOL: f64 = 1e-10;
/// Error of a run: a relative tolerance of 1e-10 in each of some hundred steps, on numbers of order one.
const RUN: f64 = 1e3 * RTOL;

fn ran(text: &str) -> Run {
    completed(in_nodes(&parsed(text), 1))
}

/// A mass of 2 kg at the end of a massless arm of 1 m on a hinge without friction.
const ARM: &str = r#"
format = 1
[[node]]
name = "ground"
planar_angle.role = "fixed"
[[node]]
name = "pivot"
planar_point = { position_m = [0.0, 0.0], roles = ["fixed", "fixed"] }
[[node]]
name = "root"
planar_angle = {}
[[node]]
name = "tip"
planar_point = { position_m = [1.0, 0.0], mass_kg = 2.0 }
[[node]]
name = "tip_angle"
planar_angle = {}
[[element]]
name = "axle"
hinge = { from = "ground", to = "root", initial_rate_rad_per_s = 1.5 }
[[element]]
name = "boom"
[element.beam]
from = { point = "pivot", orientation = "root" }
to = { point = "tip", orientation = "tip_angle" }
BOOM
[simulation]
duration_s = 1.0
integrator.dop853 = { rtol = 1.0e-10, atol = 1.0e-12 }
[output]
sample_period_s = 0.05
"#;

/// Closed form: an arm whose elongation is prescribed is as long as written, turns with the angular momentum it had,
/// and the work of its drive is what it stores and what it has given the mass.
#[test]
fn a_prescribed_elongation_moves_the_tip_as_written() {
    // Newton's iteration of the nodes ends at rounding
    const ROUNDING: f64 = 1e-12;
    let text = ARM.replace(
        "BOOM",
        r#"axial_stiffness_n = 50.0
roles = { elongation = "prescribed" }
[[motion]]
joint = "boom"
deformation = "elongation"
cycloid = { final_displacement_m = 0.5, duration_s = 0.8 }"#,
    );
    let run = ran(&text);
    let recording = &run.recording;
    let [x, y] = ["x", "y"].map(|axis| samples(recording, &format!("tip.position.{axis}")));
    let rate = samples(recording, "axle.rotation.rate");
    let (work, effort) = (
        samples(recording, "energy.work"),
        samples(recording, "boom.elongation.driving_force"),
    );
    for (i, &time) in recording.time_s.iter().enumerate() {
        let part = (time / 0.8).min(1.0);
        let turn = std::f64::consts::TAU * part;
        let elongation = 0.5 * (part - turn.sin() / std::f64::consts::TAU);
        let acceleration = if part < 1.0 {
            0.5 * std::f64::consts::TAU * turn.sin() / 0.64
        } else {
            0.0
        };
        let speed = if part < 1.0 {
            0.5 * (1.0 - turn.cos()) / 0.8
        } else {
            0.0
        };
        let length = 1.0 + elongation;
        assert!((x[i].hypot(y[i]) - length).abs() < ROUNDING);
        let spin = 1.5 / (length * length);
        assert!((rate[i] - spin).abs() < RUN, "{} {spin}", rate[i]);
        let force = 50.0 * elongation + 2.0 * (acceleration - length * spin * spin);
        assert!(
            (effort[i] - force).abs() < 50.0 * RUN,
            "{} {force}",
            effort[i]
        );
        let kinetic = speed * speed + (length * spin).powi(2);
        let stored = 25.0 * elongation * elongation + kinetic - 2.25;
        assert!(
            (work[i] - stored).abs() < 50.0 * RUN,
            "{} {stored}",
            work[i]
        );
    }
    assert!(work.last().unwrap().abs() > 1.0, "the drive works");
    // percent of the peak
    assert!(run.audit.energy.max_drift_percent < 1e2 * RUN);
}

/// Closed form: a constant force on the elongation of an arm that does not turn is a constant acceleration.
#[test]
fn an_actuated_elongation_takes_a_force() {
    let text = ARM
        .replace("initial_rate_rad_per_s = 1.5", "role = \"fixed\"")
        .replace(
            "BOOM",
            r#"roles = { elongation = "actuated" }
[[input]]
joint = "boom"
deformation = "elongation"
force_constant.value_n = 3.0"#,
        );
    let run = ran(&text);
    let tip = samples(&run.recording, "tip.position.x");
    for (x, time) in tip.iter().zip(&run.recording.time_s) {
        let wanted = 1.0 + 0.5 * (3.0 / 2.0) * time * time;
        assert!((x - wanted).abs() < RUN, "{x} {wanted}");
    }
    let force = samples(&run.recording, "boom.elongation.force");
    assert!(force.iter().all(|&force| force == 3.0));
    assert!(run.audit.energy.max_drift_percent < 1e2 * RUN);
}

/// Twist of the end of a clamped beam under a torque of 0.1 N m.
fn twist(torsion: &str) -> f64 {
    let loads = r#"
[[input]]
marker = "tip_orientation"
direction = [1.0, 0.0, 0.0]
torque_constant.value_n_m = 0.1
[[input]]
marker = "tip"
direction = [0.0, 1.0, 1.0]
force_constant.value_n = 0.01
"#;
    let beam = CANTILEVER.replace("torsional_stiffness_n_m2 = 5.0", torsion);
    let spec = parsed(&format!("{beam}{loads}"));
    let mechanism = mechanism(&spec);
    let rest = mechanism.equilibrium(&mechanism.written()).unwrap();
    2.0 * samples(&rest.recording, "tip_orientation.quaternion.x")[0].asin()
}

/// Closed form: torsion that is suppressed is the limit of a stiffness that grows, from which the twist T l / GJ is
/// missing.
#[test]
fn suppressed_torsion_is_the_limit_of_stiff_torsion() {
    /// Slope of the end, F l² / 2 EI in each plane: bending in both turns the end about x by products of slopes.
    const SLOPE: f64 = 0.01 * 4.0 / 20.0;
    let rigid = twist("torsional_stiffness_n_m2 = 5.0\nroles = { torsion = \"fixed\" }");
    assert!(rigid.abs() < SLOPE * SLOPE, "{rigid}");
    for stiffness in [5.0, 50.0, 500.0] {
        let twisted = twist(&format!("torsional_stiffness_n_m2 = {stiffness}")) - rigid;
        let wanted = 0.1 * 2.0 / stiffness;
        // the stress of an element is GJ sin θ cos θ / l
        let error = (twisted / wanted - 1.0).abs();
        assert!(
            error < wanted * wanted + SLOPE * SLOPE,
            "{twisted} {wanted}"
        );
    }
}

/// Closed form: a force that turns with the body it pushes goes round with it.
#[test]
fn a_load_follows_the_axes_of_a_node() {
    let text = r#"
format = 1
[[node]]
name = "rocket"
planar_point = { position_m = [0.0, 0.0], roles = ["dof", "dof"], mass_kg = 2.0 }
[[node]]
name = "heading"
planar_angle = { angle_rad = 0.4, role = "dof", inertia_kg_m2 = 0.3, initial_rate_rad_per_s = 2.0 }
[[input]]
marker = "rocket"
direction = [1.0, 0.0, 0.0]
frame = "body"
orientation = "heading"
force_constant.value_n = 5.0
[simulation]
duration_s = 2.0
integrator.dop853 = { rtol = 1.0e-10, atol = 1.0e-12 }
"#;
    let run = ran(text);
    let [x, y] = ["x", "y"].map(|axis| samples(&run.recording, &format!("rocket.velocity.{axis}")));
    for (i, time) in run.recording.time_s.iter().enumerate() {
        let angle = 0.4 + 2.0 * time;
        let scale = 5.0 / 2.0 / 2.0;
        assert!((x[i] - scale * (angle.sin() - 0.4_f64.sin())).abs() < RUN);
        assert!((y[i] - scale * (0.4_f64.cos() - angle.cos())).abs() < RUN);
    }
    assert!(run.audit.energy.max_drift_percent < 1e2 * RUN);
}

/// Property: what a role cannot be is said where it is written, with what to do.
#[test]
fn wrong_roles_are_found_where_they_are() {
    let motion =
        "[[motion]]\njoint = \"boom\"\ncycloid = { final_displacement_m = 0.5, duration_s = 0.8 }";
    let cases = [
        (
            "roles = { torsion = \"fixed\" }".to_owned(),
            "torsion",
            "in the plane has `elongation`",
        ),
        (
            format!(
                "divisions = 3\nroles = {{ elongation = \"prescribed\" }}\n{motion}\ndeformation = \"elongation\""
            ),
            "elongation",
            "divisions = 1",
        ),
        (
            format!("roles = {{ elongation = \"prescribed\" }}\n{motion}"),
            "\"boom\"",
            "prescribed deformation",
        ),
        (
            "roles = { elongation = \"prescribed\" }".to_owned(),
            "[[element]]",
            "no [[motion]]",
        ),
        (
            "axial_stiffness_n = 5.0\n[[input]]\njoint = \"boom\"\ndeformation = \"elongation\"\nforce_constant.value_n = 1.0"
                .to_owned(),
            "\"boom\"",
            "actuated `deformation` of a beam",
        ),
        (
            "roles = { elongation = \"actuated\" }\n[[input]]\njoint = \"boom\"\ndeformation = \"elongation\"\ntorque_constant.value_n_m = 1.0"
                .to_owned(),
            "torque_constant",
            "force",
        ),
        (
            "[[input]]\nmarker = \"tip\"\ndirection = [1.0, 0.0, 0.0]\nframe = \"body\"\nforce_constant.value_n = 1.0"
                .to_owned(),
            "",
            "orientation",
        ),
    ];
    for (boom, located, said) in cases {
        let text = ARM.replace("BOOM", &boom);
        let errors = ModelSpec::parse(&text, &[]).unwrap_err();
        let found = errors.iter().any(|error| {
            let place = error.locate(&text).map_or("", |place| &text[place]);
            place.contains(located) && error.to_string().contains(said)
        });
        assert!(found, "{boom}: {errors:?}");
    }
    let bodies = r#"
format = 1
[[body]]
name = "arm"
rigid = { mass_kg = 1.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }
[[joint]]
name = "axle"
parent = "ground"
child = "arm"
revolute.axis = [0.0, 0.0, 1.0]
[[motion]]
joint = "axle"
deformation = "rotation"
constant_rate.rate_rad_per_s = 1.0
"#;
    let errors = ModelSpec::parse(bodies, &[]).unwrap_err();
    assert!(
        errors[0].to_string().contains("nodes and elements"),
        "{errors:?}"
    );
}

/// A clamped beam of 1 kg with a mass of 1 kg at its tip.
const CANTILEVER: &str = r#"
format = 1
[[node]]
name = "base"
point = { position_m = [0.0, 0.0, 0.0], roles = ["fixed", "fixed", "fixed"] }
[[node]]
name = "clamp"
orientation.role = "fixed"
[[node]]
name = "tip"
point = { position_m = [2.0, 0.0, 0.0], mass_kg = 1.0 }
[[node]]
name = "tip_orientation"
orientation.inertia_kg_m2 = [0.1, 0.1, 0.1]
[[element]]
name = "beam"
[element.beam]
from = { point = "base", orientation = "clamp" }
to = { point = "tip", orientation = "tip_orientation" }
y_direction = [0.0, 1.0, 0.0]
mass_per_length_kg_per_m = 0.5
bending_stiffness_y_n_m2 = 10.0
bending_stiffness_z_n_m2 = 10.0
torsional_stiffness_n_m2 = 5.0
"#;

/// Closed form: a beam of nodes starts where a force at its tip has bent it, F l³ / 3 EI.
#[test]
fn a_static_load_acts_on_a_point() {
    /// Squares of slopes of some thousandths.
    const SMALL: f64 = 1e-5;
    let load = "[simulation]\nduration_s = 0.01\n\
        initial.static_load.force = [{ marker = \"MARKER\", force_n = [0.0, 0.01, 0.0] }]\n";
    let text = format!("{CANTILEVER}{load}");
    let spec = parsed(&text.replace("MARKER", "tip"));
    let mechanism = mechanism(&spec);
    let run = completed(mechanism.run(&[0.0, 0.01]));
    let [bent, wanted] = [
        samples(&run.recording, "tip.position.y")[0],
        0.01 * 8.0 / 30.0,
    ];
    assert!((bent / wanted - 1.0).abs() < SMALL, "{bent} {wanted}");
    let errors = ModelSpec::parse(&text.replace("MARKER", "tip_orientation"), &[]).unwrap_err();
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["there is no point called \"tip_orientation\""]);
}

/// Closed form: mass of the beam and of the node, and their common centre.
#[test]
fn a_diagnosis_tells_the_mass_of_nodes_and_elements() {
    const ROUNDING: f64 = 1e-14;
    let diagnosis = mechanism(&parsed(CANTILEVER)).diagnose();
    assert!((diagnosis.total_mass_kg - 2.0).abs() < ROUNDING);
    let [x, y, z] = diagnosis.center_of_mass_m;
    assert!((x - 1.5).abs() < ROUNDING, "{x}");
    assert_eq!([y, z], [0.0; 2]);
}

#[test]
fn nodes_and_elements_have_no_tree_formulation() {
    let tree = Override::parse("formulation=tree").unwrap();
    let errors = ModelSpec::parse(CANTILEVER, &[tree]).unwrap_err();
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["a model of nodes and elements has no tree formulation"]
    );
    let remedy = "leave `formulation` out, or write the mechanism in bodies and joints";
    assert!(errors[0].remedy().starts_with(remedy));
}
