//! Elements that start deformed, and elements that are slack elsewhere than where their nodes are written: closed forms.

use lissom_core::study::OperatingPoint;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, Terms, TrackedModes};
use lissom_spec::{ErrorKind, ModelError, ModelSpec, Override};

use crate::models::parsed;
use crate::runs::{completed, in_nodes, mechanism, samples};

/// A few operations in double precision, and a solution of a few equations.
const ROUNDING: f64 = 1e-12;
/// Relative tolerance of a run, with the errors of some hundred steps added up.
const RUN: f64 = 1e-8;

/// A mass between two supports 2 m apart, held by two bars that are shorter than 1 m without load.
fn string(rest_m: [f64; 2], roles: &str) -> ModelSpec {
    let [left, right] = rest_m;
    parsed(&format!(
        r#"
format = 1
[[node]]
name = "left"
planar_point = {{ position_m = [-1.0, 0.0], roles = ["fixed", "fixed"] }}
[[node]]
name = "right"
planar_point = {{ position_m = [1.0, 0.0], roles = ["fixed", "fixed"] }}
[[node]]
name = "mass"
planar_point = {{ position_m = [0.0, 0.0], roles = {roles}, mass_kg = 2.0 }}
[[element]]
name = "bar_1"
truss = {{ from = "left", to = "mass", axial_stiffness_n = 400.0, rest_length_m = {left} }}
[[element]]
name = "bar_2"
truss = {{ from = "mass", to = "right", axial_stiffness_n = 400.0, rest_length_m = {right} }}
[simulation]
duration_s = 1.0
integrator.dop853 = {{ rtol = 1e-10, atol = 1e-12 }}
"#
    ))
}

fn frequencies(spec: &ModelSpec) -> Vec<f64> {
    let mechanism = mechanism(spec);
    let rest = mechanism.equilibrium(&mechanism.written()).unwrap();
    let found = mechanism.linearize(&rest.state, OperatingPoint::Equilibrium, &[], &mut |_| {
        Flow::Continue
    });
    let trajectory = found.unwrap().trajectory;
    let modes = TrackedModes::undamped(&Frozen::new(&trajectory, &[]), Terms::CASES[0], 2).unwrap();
    let frequencies = modes.modes[0].iter().map(|mode| mode.frequency().unwrap());
    frequencies.collect()
}

/// Closed form: a taut string swings across with $`\omega^2 = 2T/(mL)`$, $`T = EA(L - l_0)/l_0`$, and along with
/// $`\omega^2 = 2EA/(l_0m)`$.
#[test]
fn bars_that_are_too_short_are_taut() {
    const REST_M: f64 = 0.8;
    let found = frequencies(&string([REST_M; 2], r#"["dof", "dof"]"#));
    let tension = 400.0 * (1.0 - REST_M) / REST_M;
    let expected = [
        (2.0 * tension / 2.0).sqrt(),
        (2.0 * 400.0 / REST_M / 2.0).sqrt(),
    ];
    for (found, expected) in found.into_iter().zip(expected) {
        // the root of an eigenvalue
        assert!(
            (found - expected).abs() < 1e-9 * expected,
            "{found} {expected}"
        );
    }
}

/// Closed form: two bars of different lengths in line pull until their forces are equal, and a mass released from the middle
/// swings about that place.
#[test]
fn bars_in_line_share_what_they_lack() {
    let rest = [0.7, 0.9];
    let spec = string(rest, r#"["dof", "fixed"]"#);
    let stiffness = rest.map(|length| 400.0 / length);
    let offset = (stiffness[1] * (1.0 - rest[1]) - stiffness[0] * (1.0 - rest[0]))
        / (stiffness[0] + stiffness[1]);
    let mechanism = mechanism(&spec);
    let found = mechanism.equilibrium(&mechanism.written()).unwrap();
    let place = samples(&found.recording, "mass.position.x")[0];
    assert!((place - offset).abs() < 1e3 * ROUNDING, "{place} {offset}");
    let elongation = samples(&found.recording, "bar_1.elongation")[0];
    assert!((elongation - (1.0 + offset - rest[0])).abs() < 1e3 * ROUNDING);

    let run = completed(in_nodes(&spec, 1));
    // of 2 kg
    let frequency = f64::midpoint(stiffness[0], stiffness[1]).sqrt();
    let place = samples(&run.recording, "mass.position.x");
    for (&time, &place) in run.recording.time_s.iter().zip(place) {
        let expected = offset * (1.0 - (frequency * time).cos());
        assert!((place - expected).abs() < RUN, "{time}: {place} {expected}");
    }
    let strain = samples(&run.recording, "energy.strain")[0];
    let expected = (0..2)
        .map(|i| 0.5 * stiffness[i] * (1.0 - rest[i]).powi(2))
        .sum::<f64>();
    assert!(
        (strain - expected).abs() < ROUNDING * expected,
        "{strain} {expected}"
    );
}

/// A mass of 2 kg at 1 m of whatever holds it.
fn oscillator(nodes_and_element: &str) -> ModelSpec {
    parsed(&format!(
        r#"
format = 1
[[node]]
name = "ground"
planar_point = {{ position_m = [0.0, 0.0], roles = ["fixed", "fixed"] }}
[[node]]
name = "axes"
planar_angle = {{ role = "fixed" }}
{nodes_and_element}
[simulation]
duration_s = 1.0
integrator.dop853 = {{ rtol = 1e-10, atol = 1e-12 }}
"#
    ))
}

/// Closed form: $`x = r + (s - r)\cos\omega t + v/\omega\sin\omega t`$ about the place where the spring is slack.
#[test]
fn sliders_trusses_and_hinges_start_where_they_are_told() {
    let mass = |roles: &str| {
        format!(
            "[[node]]\nname = \"mass\"\nplanar_point = {{ position_m = [1.0, 0.0], roles = {roles}, mass_kg = 2.0 }}\n"
        )
    };
    let free = r#"["free", "free"]"#;
    let slider = format!(
        r#"{}
[[element]]
name = "spring"
[element.slider]
from = {{ point = "ground", orientation = "axes" }}
to = "mass"
axis = [1.0, 0.0, 0.0]
stiffness_n_per_m = 50.0
rest_travel_m = 0.9
initial_travel_m = 1.3
initial_rate_m_per_s = 0.4
"#,
        mass(free)
    );
    // its elongation counts from 0.5 m
    let truss = format!(
        r#"{}
[[element]]
name = "spring"
[element.truss]
from = "ground"
to = "mass"
axial_stiffness_n = 25.0
rest_length_m = 0.5
role = "dof"
initial_elongation_m = 0.4
initial_rate_m_per_s = 0.4
"#,
        mass(r#"["free", "fixed"]"#)
    );
    let hinge = r#"
[[node]]
name = "wheel"
planar_angle = { inertia_kg_m2 = 2.0 }
[[element]]
name = "spring"
[element.hinge]
from = "axes"
to = "wheel"
stiffness_n_m_per_rad = 50.0
rest_rotation_rad = -0.2
initial_rotation_rad = 0.2
initial_rate_rad_per_s = 0.4
"#;
    for (text, channel, rest, start) in [
        (slider.as_str(), "spring.travel", 0.9, 1.3),
        (truss.as_str(), "spring.elongation", 0.0, 0.4),
        (hinge, "spring.rotation", -0.2, 0.2),
    ] {
        let run = completed(in_nodes(&oscillator(text), 1));
        let frequency = 5.0;
        let found = samples(&run.recording, channel);
        for (&time, &found) in run.recording.time_s.iter().zip(found) {
            let (sin, cos) = (frequency * time).sin_cos();
            let expected = rest + (start - rest) * cos + 0.4 / frequency * sin;
            assert!(
                (found - expected).abs() < RUN,
                "{channel} at {time}: {found} {expected}"
            );
        }
        assert!(run.audit.energy.max_drift_percent < 1e-5);
    }
}

/// A cantilever of one element in the plane, 2 m long, with a mass at its tip.
fn cantilever(more: &str) -> ModelSpec {
    oscillator(&format!(
        r#"
[[node]]
name = "tip"
planar_point = {{ position_m = [2.0, 0.0], mass_kg = 1.0 }}
[[node]]
name = "tip_axes"
planar_angle = {{ inertia_kg_m2 = 0.1 }}
[[element]]
name = "beam"
[element.beam]
from = {{ point = "ground", orientation = "axes" }}
to = {{ point = "tip", orientation = "tip_axes" }}
mass_per_length_kg_per_m = 0.5
bending_stiffness_y_n_m2 = 30.0
second_order = "elongation"
{more}
"#
    ))
}

/// Where the tip is for deformations at the ends of a beam of 2 m that does not stretch, Jonker & Aarts (2001):
/// $`|l| = l_0 - (2\varepsilon_2^2 + \varepsilon_2\varepsilon_3 + 2\varepsilon_3^2)/(30l_0)`$, turned by $`-\arcsin(\varepsilon_2/|l|)`$.
fn tip([p, q]: [f64; 2]) -> [f64; 2] {
    let length = 2.0 - (2.0 * p * p + p * q + 2.0 * q * q) / 60.0;
    let angle = -(p / length).asin();
    [length * angle.cos(), length * angle.sin()]
}

/// Closed form: a beam starts in the shape of its deformations, strained by $`\tfrac12\varepsilon^TK\varepsilon`$.
#[test]
fn a_beam_starts_deformed_and_strained() {
    let (p, q) = (-0.3, 0.2);
    let spec = cantilever(&format!(
        "initial_deformations_m = {{ bending_p = {p}, bending_q = {q} }}\n\
         initial_rates_m_per_s = {{ bending_q = 0.7 }}"
    ));
    let run = completed(in_nodes(&spec, 1));
    let first = |name: &str| samples(&run.recording, name)[0];
    for (axis, expected) in ["x", "y"].into_iter().zip(tip([p, q])) {
        let found = first(&format!("tip.position.{axis}"));
        assert!(
            (found - expected).abs() < ROUNDING,
            "{axis}: {found} {expected}"
        );
    }
    assert!((first("beam.bending_q.rate") - 0.7).abs() < ROUNDING);
    let energy = 0.5 * 30.0 / 8.0 * (4.0 * p * p - 4.0 * p * q + 4.0 * q * q);
    assert!((first("energy.strain") - energy).abs() < ROUNDING * energy);
    assert!(run.audit.energy.max_drift_percent < 1e-5);
    let bending = samples(&run.recording, "beam.bending_p");
    assert!(bending.iter().any(|value| (value - p).abs() > 0.1));
}

/// Closed form: a beam that is made crooked rests crooked, and stays so if it starts there.
#[test]
fn a_crooked_beam_rests_as_it_is_made() {
    let shape = [-0.3, 0.2];
    let [p, q] = shape;
    let rest = format!("rest_deformations_m = {{ bending_p = {p}, bending_q = {q} }}");
    let spec = cantilever(&rest);
    let straight = mechanism(&spec);
    let found = straight.equilibrium(&straight.written()).unwrap();
    for (axis, expected) in ["x", "y"].into_iter().zip(tip(shape)) {
        let found = samples(&found.recording, &format!("tip.position.{axis}"))[0];
        assert!(
            (found - expected).abs() < 1e3 * ROUNDING,
            "{found} {expected}"
        );
    }
    let start = format!("{rest}\ninitial_deformations_m = {{ bending_p = {p}, bending_q = {q} }}");
    let run = completed(in_nodes(&cantilever(&start), 1));
    for (name, expected) in [("beam.bending_p", p), ("beam.bending_q", q)] {
        let most = (samples(&run.recording, name).iter())
            .fold(0.0_f64, |most, value| most.max((value - expected).abs()));
        assert!(most < ROUNDING, "{name}: {most}");
    }
    assert!(
        samples(&run.recording, "energy.strain")
            .iter()
            .all(|energy| *energy < ROUNDING)
    );
}

/// Second formulation of the same thing: a beam in space that is bent and twisted at the start turns its tip by
/// $`e_2/l_0`$ and moves it as the same beam in the plane.
#[test]
fn a_beam_in_space_starts_bent_and_twisted() {
    let model = |deformations: &str| {
        parsed(&format!(
            r#"
format = 1
[[node]]
name = "ground"
point = {{ position_m = [0.0, 0.0, 0.0], roles = ["fixed", "fixed", "fixed"] }}
[[node]]
name = "axes"
orientation = {{ role = "fixed" }}
[[node]]
name = "tip"
point = {{ position_m = [2.0, 0.0, 0.0], mass_kg = 1.0 }}
[[node]]
name = "tip_axes"
orientation = {{ inertia_kg_m2 = [0.1, 0.1, 0.1] }}
[[element]]
name = "beam"
[element.beam]
from = {{ point = "ground", orientation = "axes" }}
to = {{ point = "tip", orientation = "tip_axes" }}
y_direction = [0.0, 1.0, 0.0]
mass_per_length_kg_per_m = 0.5
bending_stiffness_y_n_m2 = 30.0
bending_stiffness_z_n_m2 = 30.0
torsional_stiffness_n_m2 = 20.0
second_order = "elongation"
initial_deformations_m = {{ {deformations} }}
[simulation]
duration_s = 0.01
"#
        ))
    };
    let first = |spec: &ModelSpec, name: &str| {
        let run = completed(in_nodes(spec, 1));
        samples(&run.recording, name)[0]
    };
    // bending along y has the opposite sign of that in the plane
    let bent = model("bending_y_p = 0.3, bending_y_q = -0.2");
    for (axis, expected) in ["x", "y"].into_iter().zip(tip([-0.3, 0.2])) {
        let found = first(&bent, &format!("tip.position.{axis}"));
        assert!(
            (found - expected).abs() < ROUNDING,
            "{axis}: {found} {expected}"
        );
    }
    // (l0/2)(2 sin) of the angle between the ends
    let twisted = model("torsion = 0.1");
    let found = first(&twisted, "tip_axes.quaternion.x");
    let expected = (0.5 * (0.1_f64 / 2.0).asin()).sin();
    assert!(
        (found.abs() - expected).abs() < ROUNDING,
        "{found} {expected}"
    );
}

/// What has no effect is said, with the key.
#[test]
fn starts_and_rests_without_effect_are_refused() {
    let taut = string([0.8; 2], r#"["dof", "dof"]"#);
    let taut = toml::to_string(&taut).unwrap();
    let beam = toml::to_string(&cantilever("")).unwrap();
    for (text, change, key) in [
        (
            &taut,
            "element.0.truss.initial_elongation_m=0.1",
            "initial_elongation_m",
        ),
        (&taut, "element.0.truss.role=fixed", "rest_length_m"),
        (
            &beam,
            "element.0.beam.initial_deformations_m.elongation=0.1",
            "elongation",
        ),
        (
            &beam,
            "element.0.beam.rest_deformations_m.elongation=0.1",
            "elongation",
        ),
        (
            &beam,
            "element.0.beam.rest_deformations_m.torsion=0.1",
            "torsion",
        ),
        (
            &beam,
            "element.0.beam.initial_rates_m_per_s.bending_z_p=0.1",
            "bending_z_p",
        ),
    ] {
        let errors = refused(text, &[change]);
        let told = |kind: &ErrorKind| matches!(kind, ErrorKind::NoEffect { .. });
        let named = errors.iter().find(|error| told(&error.kind)).unwrap();
        assert!(
            named.path.to_string().ends_with(key),
            "{change}: {}",
            named.path
        );
    }
    let changes = [
        "element.0.beam.initial_deformations_m.bending_p=0.1",
        "element.0.beam.divisions=2",
    ];
    let errors = refused(&beam, &changes);
    assert!(
        errors[0].to_string().contains("divisions = 1"),
        "{}",
        errors[0]
    );
    refused(&taut, &["element.0.truss.rest_length_m=-0.8"]);
}

/// What is said against a model with these changes.
#[track_caller]
fn refused(text: &str, changes: &[&str]) -> Vec<ModelError> {
    let changes: Vec<Override> = (changes.iter())
        .map(|change| Override::parse(change).unwrap())
        .collect();
    ModelSpec::parse(text, &changes).unwrap_err()
}
