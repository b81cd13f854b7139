//! Input shaping: what vibrates after a motion, with and without it.

use lissom::shaping::shaped_modes;
use lissom_core::study::{DrivenJoints, OperatingPoint, Run};
use lissom_engine::{Mechanism, ModesOptions};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::Terms;
use lissom_spec::ModelSpec;
use lissom_spec::spec::{ShapedModeSpec, ShapingSpec};

use crate::models::parsed;
use crate::runs::{completed, in_nodes, in_tree, samples};

/// A beam with one mode on a hub that is turned by 0.2 rad within about a period of it.
const ONE_MODE: &str = r#"
format = 1
[[body]]
name = "arm"
fidelity = { inertia = "full", elasticity = "linear", shortening = "none", tip = "linear" }
damping = { modal_ratio = 0.02 }
beam = { length_m = 1.0, mass_per_length_kg_per_m = 1.0, bending_stiffness_y_n_m2 = 20.0, basis.clamped_free = { bending_y = 1 } }
[[joint]]
name = "hub"
parent = "ground"
child = "arm"
revolute = { axis = [0.0, 0.0, 1.0] }
[[marker]]
name = "tip"
body = "arm"
[[motion]]
joint = "hub"
quintic = { final_angle_rad = 0.2, duration_s = 0.3 }
[simulation]
duration_s = 2.0
integrator.dop853 = { rtol = 1e-10, atol = 1e-13 }
[output]
sample_period_s = 0.002
"#;

/// Two links behind elastic gears, whose motors are kept on their motion by proportional and derivative feedback.
const GEARS: &str = r#"
format = 1
[[body]]
name = "upper"
rigid = { mass_kg = 3.0, center_of_mass_m = [0.25, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.08, 0.08] }
node = [{ name = "end", position_m = [0.5, 0.0, 0.0] }]
[[body]]
name = "fore"
rigid = { mass_kg = 2.0, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.04, 0.04] }
node = [{ name = "end", position_m = [0.4, 0.0, 0.0] }]
[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
revolute = { axis = [0.0, 0.0, 1.0], motor = { inertia_kg_m2 = 1e-4, gear_ratio = 100.0, stiffness_n_m_per_rad = 900.0, damping_n_m_s_per_rad = 0.5 } }
[[joint]]
name = "elbow"
parent = { body = "upper", at = "end" }
child = "fore"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.6, motor = { inertia_kg_m2 = 5e-5, gear_ratio = 100.0, stiffness_n_m_per_rad = 400.0, damping_n_m_s_per_rad = 0.2 } }
[[marker]]
name = "tip"
body = "fore"
at = "end"
[[input]]
joint = "shoulder"
rigid_inverse_dynamics.quintic = { final_angle_rad = 0.8, duration_s = 0.4 }
[[input]]
joint = "elbow"
rigid_inverse_dynamics.quintic = { final_angle_rad = 1.1, duration_s = 0.4 }
[[controller]]
name = "servo"
joints = ["shoulder", "elbow"]
joint_pd = { position_gain = [2000.0, 800.0], rate_gain = [60.0, 20.0] }
[simulation]
duration_s = 2.5
integrator.dop853 = { rtol = 1e-9, atol = 1e-12 }
[output]
sample_period_s = 0.002
"#;

/// The same model with its motions shaped.
fn shaped(spec: &ModelSpec, zv: &[ShapedModeSpec], zvd: &[ShapedModeSpec]) -> ModelSpec {
    let (zv, zvd) = (zv.to_vec(), zvd.to_vec());
    ModelSpec {
        shaping: Some(ShapingSpec { zv, zvd }),
        ..spec.clone()
    }
}

/// The lowest modes of a model at the end of its nominal motion, or at its start where nothing moves them.
fn modes(spec: &ModelSpec, count: usize, closed_loop: bool) -> Vec<ShapedModeSpec> {
    let mechanism = Mechanism::build(spec).unwrap();
    let options = ModesOptions {
        joints: DrivenJoints {
            free: false,
            closed_loop,
        },
        terms: Terms::CASES[0],
        count,
    };
    let times = [spec.simulation.end_s()];
    let start = mechanism.written();
    let found = mechanism.modes(
        &start,
        OperatingPoint::Nominal,
        &times,
        options,
        &mut |_| Flow::Continue,
    );
    shaped_modes(&found.unwrap().1)
}

/// How much a channel varies from an instant on.
fn left(run: &Run, channel: &str, from_s: f64) -> f64 {
    let values = samples(&run.recording, channel)
        .iter()
        .zip(&run.recording.time_s);
    let after = values.filter(|(_, time)| **time >= from_s).map(|(x, _)| *x);
    let (least, most) = after.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| {
        (x.min(a), x.max(b))
    });
    most - least
}

/// Definition: of the vibration of an arm with one mode that a motion leaves, shaped by that mode, less than a hundredth is left. In both
/// formulations, of which the nodal one has higher modes too: there a tenth.
#[test]
fn one_mode_is_not_excited() {
    let spec = parsed(ONE_MODE);
    let mode = modes(&spec, 1, false);
    assert_eq!(mode.len(), 1);
    // the frequency of the mode by hand: 3.516 of a cantilever
    let frequency = 3.516_015 * 20.0_f64.sqrt();
    assert!((mode[0].frequency_rad_per_s - frequency).abs() < 1e-4 * frequency);
    assert!((mode[0].damping_ratio - 0.02).abs() < 1e-6);
    // all motions have ended by then: 0.3 s and a period of 0.4 s
    let ended = 0.71;
    let unshaped = left(&completed(in_tree(&spec)), "tip.deflection.y", ended);
    assert!(unshaped > 1e-3, "{unshaped}");
    for (zv, zvd) in [(&mode[..], &[][..]), (&[], &mode)] {
        let run = completed(in_tree(&shaped(&spec, zv, zvd)));
        let ratio = left(&run, "tip.deflection.y", ended) / unshaped;
        assert!(ratio < 0.01, "{} {}: {ratio}", zv.len(), zvd.len());
    }
    let nodal = |spec: &ModelSpec| {
        let mut spec = spec.clone();
        spec.simulation.integrator = parsed(STIFF).simulation.integrator;
        left(&completed(in_nodes(&spec, 2)), "tip.deflection.y", ended)
    };
    let ratio = nodal(&shaped(&spec, &[], &mode)) / nodal(&spec);
    assert!(ratio < 0.1, "{ratio}");
}

/// An integrator for stretching elements.
const STIFF: &str = r#"
format = 1
[[body]]
name = "arm"
rigid = { mass_kg = 1.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }
[[joint]]
name = "hub"
parent = "ground"
child = "arm"
revolute = { axis = [0.0, 0.0, 1.0] }
[simulation]
duration_s = 1.0
integrator.generalized_alpha = { step_s = 1e-3 }
"#;

/// Definition: of the vibration of two links behind elastic gears less than a tenth is left, with the frequencies of the arm under its feedback where it
/// arrives.
#[test]
fn elastic_gears_are_not_excited() {
    let spec = parsed(GEARS);
    let found = modes(&spec, 4, true);
    assert_eq!(found.len(), 4, "{found:?}");
    // every mode delays the end by half of a damped period or by a whole one
    let half_periods: f64 = (found.iter())
        .map(|mode| {
            let damped = (1.0 - mode.damping_ratio * mode.damping_ratio).sqrt();
            std::f64::consts::PI / (mode.frequency_rad_per_s * damped)
        })
        .sum();
    let unshaped = completed(in_tree(&spec));
    for (shaped, halves) in [
        (shaped(&spec, &found, &[]), 1.0),
        (shaped(&spec, &[], &found), 2.0),
    ] {
        let ended = 0.4 + halves * half_periods;
        let run = completed(in_tree(&shaped));
        for channel in ["tip.position.x", "tip.position.y"] {
            let [with, without] = [(&run), (&unshaped)].map(|run| left(run, channel, ended));
            assert!(with < 0.1 * without, "{channel}: {with} of {without}");
        }
    }
}

/// Closed form: a joint that turns at a constant rate from its initial angle on does so with and without shaping, prescribed or followed by a marker, in both
/// formulations.
#[test]
fn a_constant_rate_is_not_shaped() {
    const ROUNDING: f64 = 1e-12;
    let mode = ShapedModeSpec {
        frequency_rad_per_s: 15.0,
        damping_ratio: 0.02,
    };
    let text = ONE_MODE
        .replace(
            "quintic = { final_angle_rad = 0.2, duration_s = 0.3 }",
            "constant_rate = { rate_rad_per_s = 0.5 }",
        )
        .replace(
            "axis = [0.0, 0.0, 1.0] }",
            "axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.3 }",
        )
        .replace("duration_s = 2.0", "duration_s = 0.1");
    let spec = shaped(&parsed(&text), &[mode], &[mode]);
    let mut nodal = spec.clone();
    nodal.simulation.integrator = parsed(STIFF).simulation.integrator;
    for run in [completed(in_tree(&spec)), completed(in_nodes(&nodal, 2))] {
        let angles = samples(&run.recording, "hub.angle").iter();
        let rates = samples(&run.recording, "hub.angle.rate").iter();
        for ((time, angle), rate) in run.recording.time_s.iter().zip(angles).zip(rates) {
            assert!(
                (angle - 0.3 - 0.5 * time).abs() < ROUNDING,
                "{time}: {angle}"
            );
            assert!((rate - 0.5).abs() < ROUNDING, "{time}: {rate}");
        }
    }
}

/// By construction: what begins or ends with a rate cannot be shared out, what comes to rest within four digits can.
#[test]
fn motions_that_jump_are_not_shaped() {
    let shaping = "\n[shaping]\nzv = [{ frequency_rad_per_s = 20.0 }]\n";
    for (motion, says) in [
        (
            "sines = { amplitude_rad = [0.1], frequency_rad_per_s = [2.0] }",
            Some("begins at a rate of 0.2"),
        ),
        (
            "sines = { amplitude_rad = [0.1], frequency_rad_per_s = [2.0], phase_rad = [-1.5708] }",
            None,
        ),
        (
            "sines = { amplitude_rad = [0.1], frequency_rad_per_s = [2.0], phase_rad = [-1.5708], until_s = 1.0 }",
            Some("ends at a rate of 0.18"),
        ),
        (
            "sines = { amplitude_rad = [0.1], frequency_rad_per_s = [2.0], phase_rad = [-1.5708], until_s = 1.5708 }",
            None,
        ),
        (
            "polynomial = { coefficients_rad = [0.0, 0.3, 1.0] }",
            Some("begins at a rate of 0.3"),
        ),
        ("polynomial = { coefficients_rad = [0.2, 0.0, 1.0] }", None),
        (
            "polynomial = { coefficients_rad = [0.0, 0.0, 3.0, -2.0], from_s = 0.5, until_s = 1.5 }",
            None,
        ),
        (
            "polynomial = { coefficients_rad = [0.0, 0.0, 3.0, -2.0], from_s = 0.5, until_s = 1.0 }",
            Some("ends at a rate of 1.5"),
        ),
    ] {
        let text = ONE_MODE.replace(
            "quintic = { final_angle_rad = 0.2, duration_s = 0.3 }",
            motion,
        );
        assert!(ModelSpec::parse(&text, &[]).is_ok(), "{motion}");
        let found = ModelSpec::parse(&(text + shaping), &[]);
        match (found, says) {
            (Ok(_), None) => {}
            (Err(errors), Some(says)) => {
                let told = errors[0].to_string();
                assert!(told.contains(says) && errors.len() == 1, "{told}");
            }
            (found, says) => panic!("{motion}: {found:?} instead of {says:?}"),
        }
    }
}
