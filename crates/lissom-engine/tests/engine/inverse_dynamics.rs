//! Rigid inverse dynamics along a motion as a table, with peaks and means.

use lissom::inverse::{InverseDynamics, InverseError, inverse_dynamics};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;

use crate::models::{changed, parsed};
use crate::runs::{nodal_mechanism, tree_mechanism};

/// A pendulum that is turned by a quintic; how is left open.
const PENDULUM: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "arm"
rigid = { mass_kg = 2.0, center_of_mass_m = [0.3, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.05, 0.06] }
[[joint]]
name = "hub"
parent = "ground"
child = "arm"
revolute = { axis = [0.0, 0.0, 1.0] }
[simulation]
duration_s = 0.8
"#;

fn found(mechanism: &Mechanism) -> InverseDynamics {
    let times: Vec<f64> = (0..=800).map(|i| 1e-3 * f64::from(i)).collect();
    inverse_dynamics(mechanism, &times, &mut |_| Flow::Continue).unwrap()
}

/// Closed form: I q̈ + m g c cos q with q = 10 s³ − 15 s⁴ + 6 s⁵, whether the motion is asked of an input or prescribed, in both formulations.
#[test]
fn a_pendulum_takes_inertia_and_weight() {
    const ROUNDING: f64 = 1e-9;
    let driven = "[[input]]\njoint = \"hub\"\nrigid_inverse_dynamics.quintic = { final_angle_rad = 1.0, duration_s = 0.5 }\n";
    let prescribed =
        "[[motion]]\njoint = \"hub\"\nquintic = { final_angle_rad = 1.0, duration_s = 0.5 }\n";
    for motion in [driven, prescribed] {
        let spec = parsed(&format!("{PENDULUM}{motion}"));
        for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
            let found = found(&mechanism);
            let samples = |name: &str| &found.recording.channel(name).unwrap().samples;
            let (torque, rate) = (samples("hub.torque"), samples("hub.rate"));
            let mut squares = 0.0;
            for (i, &time) in found.recording.time_s.iter().enumerate() {
                let s = (time / 0.5).min(1.0);
                let q = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
                let q_rate = 30.0 * (s * (1.0 - s)).powi(2) / 0.5;
                let q_rate_rate = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / 0.25;
                let expected = (0.06 + 2.0 * 0.09) * q_rate_rate + 2.0 * 9.81 * 0.3 * q.cos();
                assert!((torque[i] - expected).abs() < ROUNDING, "{time}");
                assert!((rate[i] - q_rate).abs() < ROUNDING, "{time}");
                assert!((samples("hub.power")[i] - expected * q_rate).abs() < ROUNDING);
                squares += expected * expected * if i == 0 || i == 800 { 0.5 } else { 1.0 };
            }
            let [drive] = &found.drives[..] else {
                panic!("{:?}", found.drives)
            };
            assert_eq!((drive.name.as_str(), found.degrees_of_freedom), ("hub", 1));
            assert_eq!(drive.rate.peak.time_s, 0.25);
            assert!((drive.rate.peak.value - 3.75).abs() < ROUNDING);
            // the trapezoidal rule errs by the square of a step of 1/500 of the motion
            let rms = (squares / 800.0).sqrt();
            assert!((drive.effort.rms - rms).abs() < 1e-5 * rms);
        }
    }
}

/// Property: what nothing moves has no inverse dynamics, and a watch ends it where it says.
#[test]
fn a_motion_is_needed_and_may_be_ended() {
    let times: Vec<f64> = (0..10).map(|i| 0.1 * f64::from(i)).collect();
    let spec = parsed(PENDULUM);
    let error = inverse_dynamics(&tree_mechanism(&spec), &times, &mut |_| Flow::Continue);
    assert_eq!(error.unwrap_err(), InverseError::NoMotion);
    let motion = r#"motion = [{ joint = "hub", constant_rate = { rate_rad_per_s = 1.0 } }]"#;
    let spec = changed(PENDULUM, &[motion]);
    let mut seen = 0;
    let found = inverse_dynamics(&tree_mechanism(&spec), &times, &mut |_| {
        seen += 1;
        if seen == 3 {
            Flow::Stop
        } else {
            Flow::Continue
        }
    });
    let found = found.unwrap();
    assert_eq!(found.recording.len(), 3);
    assert_eq!(found.stopped_at, Some(0.2));
}
