//! What drives a rigid mechanism and what the books say of it, against closed forms.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic too")]

use lissom::integrate::Flow;
use lissom::model::{Model, ModelSpec};
use lissom::simulate::{Ending, Run, run, sample_instants};

/// Rounding and the tolerance of 1e-11, grown over an unstable motion of two seconds.
const TRACKING_RAD: f64 = 1e-8;

/// A rod of 2 kg and 1 m on a hinge at its end; moment of inertia 2/3 kg m².
const ROD: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "rod"
[body.rigid]
mass_kg = 2.0
center_of_mass_m = [0.5, 0.0, 0.0]
inertia_kg_m2 = [0.001, 0.16666666666666666, 0.16666666666666666]
[[joint]]
name = "hinge"
parent = "ground"
child = "rod"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
"#;

fn completed(text: &str) -> Run {
    let spec: ModelSpec = toml::from_str(text).unwrap();
    spec.check().unwrap();
    let model = Model::build(&spec).unwrap();
    let samples = sample_instants(&spec, &[]);
    let run = run(&model, &spec.simulation, &samples, None, &mut |_| {
        Flow::Continue
    });
    assert_eq!(run.ending, Ending::Completed);
    run
}

fn last(run: &Run, channel: &str) -> f64 {
    let extremes = run.recording.extremes();
    let channel = extremes.iter().find(|e| e.name == channel).unwrap();
    channel.last.value
}

const SIMULATION: &str = "
[simulation]
duration_s = 2.0
integrator.dop853 = { rtol = 1e-11, atol = 1e-13 }
";

/// Identity: rigid inverse dynamics of a rigid arm moves it as said, whatever resists in its joint.
#[test]
fn rigid_inverse_dynamics_overcomes_springs_and_friction() {
    let drive = r#"
[[input]]
joint = "hinge"
rigid_inverse_dynamics.cycloid = { final_angle_rad = 1.2, duration_s = 1.5 }
"#;
    for resistance in [
        "",
        "spring = { stiffness_n_m_per_rad = 3.0, damping_n_m_s_per_rad = 0.2, rest_angle_rad = -0.4 }",
        "friction = { viscous_n_m_s_per_rad = 0.3, coulomb_n_m = 0.1, coulomb_rate_rad_per_s = 0.05 }",
        "motor = { inertia_kg_m2 = 1e-4, gear_ratio = 30.0 }",
    ] {
        let run = completed(&format!("{ROD}{resistance}\n{drive}{SIMULATION}"));
        let angle = last(&run, "hinge.angle");
        assert!(
            (angle - 1.2).abs() < TRACKING_RAD,
            "{resistance}: ends at {angle}"
        );
    }
}

/// Closed form: behind an elastic gear the rotor needs its share of the torque as well, so that a constant
/// acceleration a winds the gear up by (rod's inertia) a / stiffness and by no more.
#[test]
fn rigid_inverse_dynamics_accelerates_the_rotor_too() {
    const STIFFNESS: f64 = 1e4;
    const ACCELERATION: f64 = 0.5;
    let text = format!(
        r#"{rod}motor = {{ inertia_kg_m2 = 1e-3, gear_ratio = 30.0, stiffness_n_m_per_rad = {STIFFNESS:e} }}
[[input]]
joint = "hinge"
rigid_inverse_dynamics.polynomial = {{ coefficients_rad = [0.0, 0.0, {half}] }}
{SIMULATION}"#,
        rod = ROD.replace("-9.81", "0.0"),
        half = ACCELERATION / 2.0
    );
    let run = completed(&text);
    let nominal = ACCELERATION / 2.0 * 2.0 * 2.0;
    // the gear swings between no wind and twice the static one
    let wind = 2.0 * (2.0 / 3.0) * ACCELERATION / STIFFNESS;
    let angle = last(&run, "hinge.angle");
    assert!((angle - nominal).abs() < wind, "ends at {angle}");
    let motor = last(&run, "hinge.motor_angle");
    assert!((motor - nominal).abs() < wind, "motor ends at {motor}");
}

/// Identity: a mechanism as good as at rest has nothing to lose, and the audit does not compare rounding
/// with rounding: swinging by 3e-8 rad, the rod stores less than the last digit of its energy of -9.81 J.
#[test]
fn the_audit_of_a_mechanism_at_rest_finds_no_drift() {
    let run = completed(&format!(
        "{ROD}initial_angle_rad = -1.5707963\n{SIMULATION}"
    ));
    let energy = &run.audit.energy;
    assert!(energy.peak_j < 1e-14, "at rest, {} J", energy.peak_j);
    assert!(
        energy.max_drift_percent < 1.0,
        "{} %",
        energy.max_drift_percent
    );
}

/// Closed form: held level, the rod needs m g l / 2 = 9.81 N m, which a limit of 9 N m tells.
#[test]
fn a_prescribed_joint_reports_the_torque_beyond_its_limit() {
    let text = format!(
        r#"{ROD}limits = {{ max_torque_n_m = 9.0 }}
[[motion]]
joint = "hinge"
constant_rate.rate_rad_per_s = 0.0
{SIMULATION}"#
    );
    let run = completed(&text);
    let [violation] = run.audit.limit_violations.as_slice() else {
        panic!("{:?}", run.audit.limit_violations);
    };
    assert_eq!(
        (violation.joint.as_str(), violation.quantity),
        ("hinge", "effort")
    );
    assert!((violation.worst - 9.81).abs() < 1e-9, "{violation:?}");
}
