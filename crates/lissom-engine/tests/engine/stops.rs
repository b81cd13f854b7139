//! Stops of joints in both formulations, against the closed form of a bounce, the balance of energy and differences of the equations.

use lissom_core::State;
use lissom_core::study::{
    AnalysisError, OperatingPoint, OutputOrder, PerturbOptions, SimulateOptions, sample_instants,
    sample_instants_from,
};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Interpolation, Terms};
use lissom_spec::ModelSpec;

use crate::models::parsed;
use crate::numbers::largest;
use crate::runs::{
    assert_alike, completed, in_nodes, in_tree, last, nodal_mechanism, samples, tree_mechanism,
    value_at,
};

const INERTIA_KG_M2: f64 = 2.0;
const RATE_RAD_PER_S: f64 = 3.0;
const END_RAD: f64 = 0.5;
const STIFFNESS: f64 = 2e4;
const DAMPING: f64 = 60.0;
/// Error that tolerances of 1e-10 leave after a second, contacts located to 1e-10 of a step among it.
const INTEGRATED: f64 = 1e-7;

/// A wheel that runs freely between two stops, with keys of its joint and tables behind.
fn wheel(keys: &str, damping: f64, integrator: &str, more: &str) -> ModelSpec {
    parsed(&format!(
        r#"
format = 1
[[body]]
name = "wheel"
rigid = {{ mass_kg = 3.0, inertia_kg_m2 = [1.0, 1.0, {INERTIA_KG_M2:?}] }}
[[joint]]
name = "hub"
parent = "ground"
child = "wheel"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_rate_rad_per_s = {RATE_RAD_PER_S:?}
limits = {{ min_rad = -0.2, max_rad = {END_RAD:?} }}
stops = {{ stiffness_n_m_per_rad = {STIFFNESS:?}, damping_n_m_s_per_rad = {damping:?} }}
{keys}
{more}
[simulation]
duration_s = 0.6
[simulation.integrator]
{integrator}
[output]
sample_period_s = 0.01
"#
    ))
}

const TIGHT: &str = "dop853 = { rtol = 1e-10, atol = 1e-10 }";

/// Time of contact, depth at its end and restitution of an inertia that runs into a spring and damper that do not pull, of
/// $`J\ddot p + c\dot p + k p = 0`$ from $`p = 0`$ on until $`\ddot p = 0`$.
fn bounce(damping: f64, rate: f64) -> [f64; 3] {
    let frequency = (STIFFNESS / INERTIA_KG_M2).sqrt();
    let decay = 0.5 * damping / INERTIA_KG_M2;
    let damped = (frequency * frequency - decay * decay).sqrt();
    let turned = (2.0 * decay * damped).atan2(decay * decay - damped * damped);
    let time = turned / damped;
    let (sin, cos) = turned.sin_cos();
    let shrunk = (-decay * time).exp();
    let depth = rate / damped * shrunk * sin;
    let restitution = -shrunk * (cos - decay / damped * sin);
    [time, depth, restitution]
}

/// Closed form: a wheel bounces between its stops; integrators of every kind, and no energy is lost sight of.
#[test]
fn a_wheel_bounces_as_the_closed_form_says() {
    for (integrator, tolerance) in [
        (TIGHT, INTEGRATED),
        ("dopri5 = { rtol = 1e-10, atol = 1e-10 }", INTEGRATED),
        ("adams = { rtol = 1e-10, atol = 1e-10 }", INTEGRATED),
        ("radau = { rtol = 1e-10, atol = 1e-10 }", INTEGRATED),
        ("esdirk = { rtol = 1e-10, atol = 1e-10 }", INTEGRATED),
        ("auto = { rtol = 1e-10, atol = 1e-10 }", INTEGRATED),
        // of second order: a part of (h · 100/s)² of the rate
        ("newmark = { step_s = 2e-5 }", 2e-5),
        (
            "generalized_alpha = { step_s = 2e-5, spectral_radius = 1.0 }",
            2e-5,
        ),
    ] {
        for damping in [0.0, DAMPING] {
            let spec = wheel("", damping, integrator, "");
            let [time, depth, restitution] = bounce(damping, RATE_RAD_PER_S);
            let touched = END_RAD / RATE_RAD_PER_S;
            let back = restitution * RATE_RAD_PER_S;
            let runs = [in_tree(&spec), in_nodes(&spec, 1)].map(completed);
            for run in &runs {
                let what = format!("{integrator} {damping}");
                let recording = &run.recording;
                let check = |found: f64, wanted: f64, of: &str| {
                    let error = (found - wanted).abs();
                    assert!(error < tolerance * RATE_RAD_PER_S, "{what} {of}: {error:e}");
                };
                let at = touched + time;
                for later in [0.25, 0.3] {
                    let angle = END_RAD + depth - back * (later - at);
                    check(value_at(recording, "hub.angle", later), angle, "angle");
                    check(value_at(recording, "hub.angle.rate", later), -back, "rate");
                    let kept = 0.5 * INERTIA_KG_M2 * back * back;
                    let had = 0.5 * INERTIA_KG_M2 * RATE_RAD_PER_S * RATE_RAD_PER_S;
                    let lost = value_at(recording, "energy.dissipated", later);
                    check(lost, had - kept, "energy");
                }
                // the other stop sends it back as well
                let [.., again] = bounce(damping, back);
                check(last(recording, "hub.angle.rate"), again * back, "second");
                let torque = samples(recording, "hub.stop_torque");
                assert!(largest(torque) > 100.0, "{what}");
                let angle = samples(recording, "hub.angle");
                for (angle, torque) in angle.iter().zip(torque) {
                    // never inwards
                    assert!(angle * torque <= 0.0, "{what}: {torque} at {angle}");
                }
                let drift = run.audit.energy.max_drift_percent;
                assert!(drift < 100.0 * tolerance, "{what}: {drift} %");
                // what is stopped has not passed its limit
                assert!(run.audit.limit_violations.is_empty());
            }
            assert_alike(&runs[0], &runs[1], tolerance * STIFFNESS);
        }
    }
}

/// Closed form: a mass falls onto its stop and comes to rest where that bears its weight.
#[test]
fn a_mass_comes_to_rest_on_its_stop() {
    let spec = parsed(
        r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]
[[body]]
name = "slide"
rigid = { mass_kg = 2.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }
[[joint]]
name = "rail"
parent = "ground"
child = "slide"
[joint.prismatic]
axis = [0.0, 0.0, 1.0]
initial_displacement_m = 0.1
limits = { min_m = 0.0 }
stops = { stiffness_n_per_m = 1000.0, damping_n_s_per_m = 60.0 }
[simulation]
duration_s = 3.0
integrator.dop853 = { rtol = 1e-10, atol = 1e-10 }
[output]
sample_period_s = 0.05
"#,
    );
    for run in [in_tree(&spec), in_nodes(&spec, 1)].map(completed) {
        let at_rest = last(&run.recording, "rail.displacement") + 2.0 * 9.81 / 1000.0;
        assert!(at_rest.abs() < INTEGRATED, "{at_rest:e}");
        let pressed = last(&run.recording, "rail.stop_force") - 2.0 * 9.81;
        assert!(pressed.abs() < INTEGRATED * 1000.0, "{pressed:e}");
        assert!(run.audit.energy.max_drift_percent < 1e-5);
    }
    // where it rests is an equilibrium
    let mut resting = spec.clone();
    resting.joint[0]
        .prismatic
        .as_mut()
        .unwrap()
        .initial_displacement_m = -0.001;
    for mechanism in [tree_mechanism(&resting), nodal_mechanism(&resting, 1)] {
        let found = mechanism.equilibrium(&mechanism.written()).unwrap();
        let depth = found.state.position[0] + 2.0 * 9.81 / 1000.0;
        assert!(depth.abs() < 1e-9, "{depth:e}");
    }
}

/// A torque turns the wheel back a little beyond the stop: its motion is a parabola, over whose peak an integrator steps at once.
#[test]
fn a_touch_within_one_step_is_found() {
    let push = "[[input]]\njoint = \"hub\"\ntorque_constant = { value_n_m = -17.98 }\n";
    let spec = wheel("", 20.0, TIGHT, push);
    // without a stop it would turn back at 0.50056
    let peak = RATE_RAD_PER_S * RATE_RAD_PER_S / (2.0 * 17.98 / INERTIA_KG_M2);
    assert!(peak > END_RAD && peak < END_RAD + 6e-4);
    let runs = [in_tree(&spec), in_nodes(&spec, 1)].map(completed);
    for run in &runs {
        let recording = &run.recording;
        let lost = value_at(recording, "energy.dissipated", 0.4);
        assert!(lost > 1e-3, "{lost}");
        assert!(run.audit.energy.max_drift_percent < 1e-5);
    }
    assert_alike(&runs[0], &runs[1], INTEGRATED * STIFFNESS);
}

/// To the last bit: a run goes on from a state in contact, and from one between.
#[test]
fn runs_go_on_from_contacts() {
    for integrator in [
        "dop853 = { rtol = 1e-8, atol = 1e-8, max_step_s = 0.01 }",
        "esdirk = { rtol = 1e-8, atol = 1e-8, max_step_s = 0.01 }",
        "newmark = { step_s = 1e-4 }",
    ] {
        let spec = wheel("", DAMPING, integrator, "");
        for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
            let run = |from: &State, stop_s: f64| {
                let instants = match from.integrator {
                    None => sample_instants(&spec, &[]),
                    Some(_) => sample_instants_from(&spec, from.time_s, &[]),
                };
                let options = SimulateOptions {
                    samples: &instants,
                    channels: None,
                    most_lengths: f64::INFINITY,
                };
                let watch = &mut |time: f64| {
                    if time >= stop_s {
                        Flow::Stop
                    } else {
                        Flow::Continue
                    }
                };
                mechanism.simulate(from, &spec.simulation, &options, watch)
            };
            let start = mechanism.start().unwrap();
            let end = completed(run(&start, f64::INFINITY)).last.unwrap().packed();
            for stop_s in [0.12, 0.18, 0.3] {
                let middle = run(&start, stop_s).last.unwrap();
                let touches = middle.position[0] > END_RAD;
                assert_eq!(touches, stop_s == 0.18, "{integrator} {stop_s}");
                let rest = completed(run(&middle, f64::INFINITY));
                let rest = rest.last.unwrap().packed();
                assert_eq!(rest, end, "{integrator} {stop_s}");
            }
        }
    }
}

/// Two independent ways: the joint behind an elastic gear meets its stop, and so do joints of a closed loop, one of which is cut.
#[test]
fn joints_behind_gears_and_in_loops_are_stopped_alike() {
    let geared = wheel(
        "motor = { inertia_kg_m2 = 1e-4, gear_ratio = 50.0, stiffness_n_m_per_rad = 900.0, damping_n_m_s_per_rad = 1.0 }",
        DAMPING,
        TIGHT,
        "",
    );
    let four_bar = parsed(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "crank"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.15, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.02, 0.02] }
[[body]]
name = "coupler"
rigid = { mass_kg = 2.0, center_of_mass_m = [0.4, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.1, 0.1] }
[[body]]
name = "rocker"
rigid = { mass_kg = 1.5, center_of_mass_m = [0.3, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.05, 0.05] }
[[joint]]
name = "drive"
parent = "ground"
child = "crank"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 1.2
held = true
limits = { min_rad = 0.9 }
stops = { stiffness_n_m_per_rad = 3000.0, damping_n_m_s_per_rad = 8.0 }
[[joint]]
name = "knee"
parent = { body = "crank", position_m = [0.3, 0.0, 0.0] }
child = "coupler"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = -0.8 }
[[joint]]
name = "base"
parent = { body = "ground", position_m = [0.9, 0.0, 0.0] }
child = "rocker"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 1.5
[[joint]]
name = "elbow"
cut = true
parent = { body = "coupler", position_m = [0.8, 0.0, 0.0] }
child = { body = "rocker", position_m = [0.6, 0.0, 0.0] }
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 1.1
limits = { min_rad = 1.0, max_rad = 1.3 }
stops = { stiffness_n_m_per_rad = 2000.0, damping_n_m_s_per_rad = 5.0 }
[simulation]
duration_s = 0.8
integrator.dop853 = { rtol = 1e-10, atol = 1e-10 }
[output]
sample_period_s = 0.01
"#,
    );
    for (spec, stops) in [
        (geared, vec!["hub.stop_torque"]),
        (four_bar, vec!["drive.stop_torque", "elbow.stop_torque"]),
    ] {
        let runs = [in_tree(&spec), in_nodes(&spec, 1)].map(completed);
        let torques = stops
            .iter()
            .map(|name| largest(samples(&runs[0].recording, name)));
        assert!(
            torques.fold(0.0, f64::max) > 1.0,
            "nothing was touched: {stops:?}"
        );
        for run in &runs {
            let drift = run.audit.energy.max_drift_percent;
            assert!(drift < 1e-5, "{drift}");
        }
        for name in ["energy.strain", "energy.dissipated", "energy.kinetic"] {
            let [a, b] = [0, 1].map(|i| samples(&runs[i].recording, name));
            for (a, b) in a.iter().zip(b) {
                assert!((a - b).abs() < 1e-5 * largest(samples(&runs[0].recording, name)).max(1.0));
            }
        }
    }
}

/// Closed form: linearised, a stop that presses is a spring and a damper, and one that does not is nothing. Which they are is told.
#[test]
fn linear_models_take_stops_as_they_are() {
    for (angle, presses) in [(END_RAD + 1e-3, true), (0.2, false)] {
        let mut spec = wheel("", DAMPING, TIGHT, "");
        let hub = spec.joint[0].revolute.as_mut().unwrap();
        (hub.initial_angle_rad, hub.initial_rate_rad_per_s) = (angle, 0.0);
        for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
            let found = mechanism
                .linearize_to(
                    &mechanism.written(),
                    OperatingPoint::Start,
                    &[],
                    OutputOrder::First,
                    &mut |_| Flow::Continue,
                )
                .unwrap();
            let linear = &found.trajectory.points()[0].linear;
            let (stiffness, damping) = if presses {
                (STIFFNESS, DAMPING)
            } else {
                (0.0, 0.0)
            };
            let whole = linear.stiffness()[(0, 0)];
            assert!((whole - stiffness).abs() < 1e-9 * STIFFNESS, "{whole}");
            let rubs = linear.damping[(0, 0)];
            assert!((rubs - damping).abs() < 1e-9 * DAMPING, "{rubs}");
            let told: Vec<&str> = if presses { vec!["hub"] } else { Vec::new() };
            assert_eq!(found.pressed_stops(), told);
        }
    }
}

/// The perturbation method has no contact, and says so where it would be needed: here it comes to the stop as the free wheel does.
#[test]
fn perturbations_end_at_stops() {
    let turn = r#"
[[input]]
joint = "hub"
rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.1, duration_s = 0.6 }
"#;
    let spec = wheel("", DAMPING, TIGHT, turn);
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let times: Vec<f64> = (0..=30).map(|i| 0.02 * f64::from(i)).collect();
        let (start, watch) = (mechanism.start().unwrap(), &mut |_: f64| Flow::Continue);
        let found = mechanism.linearize(&start, OperatingPoint::Nominal, &times, watch);
        let options = PerturbOptions {
            terms: Terms::CASES[0],
            interpolation: Interpolation::Matrices,
            order: OutputOrder::First,
        };
        let instants = sample_instants(&spec, &[]);
        let run = mechanism.perturb(&found.unwrap(), &instants, options, watch);
        match run.unwrap().failure {
            Some(AnalysisError::AtStop { joint, time_s }) => {
                assert_eq!(joint, "hub");
                let alone = END_RAD / RATE_RAD_PER_S;
                assert!(time_s > 0.9 * alone && time_s < alone + 0.02, "{time_s}");
            }
            other => panic!("{other:?}"),
        }
    }
}
