//! What drives a rigid mechanism and what its audit says of it, against closed forms.

use lissom_core::study::{Ending, Run, SimulateOptions};
use lissom_numerics::integrate::Flow;
use lissom_spec::TEMPLATE;

use crate::models::{changed, parsed};
use crate::runs::{completed, in_tree, last, samples, tree_mechanism};

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

fn ran(text: &str) -> Run {
    completed(in_tree(&parsed(text)))
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
        let run = ran(&format!("{ROD}{resistance}\n{drive}{SIMULATION}"));
        let angle = last(&run.recording, "hinge.angle");
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
    let run = ran(&text);
    let nominal = ACCELERATION / 2.0 * 2.0 * 2.0;
    // the gear swings between no wind and twice the static one
    let wind = 2.0 * (2.0 / 3.0) * ACCELERATION / STIFFNESS;
    let angle = last(&run.recording, "hinge.angle");
    assert!((angle - nominal).abs() < wind, "ends at {angle}");
    let motor = last(&run.recording, "hinge.motor_angle");
    assert!((motor - nominal).abs() < wind, "motor ends at {motor}");
}

/// Identity: a mechanism as good as at rest has nothing to lose, and the audit does not compare rounding
/// with rounding: swinging by 3e-8 rad, the rod stores less than the last digit of its energy of -9.81 J.
#[test]
fn the_audit_of_a_mechanism_at_rest_finds_no_drift() {
    let run = ran(&format!(
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
    let run = ran(&text);
    let [violation] = run.audit.limit_violations.as_slice() else {
        panic!("{:?}", run.audit.limit_violations);
    };
    assert_eq!(
        (violation.joint.as_str(), violation.quantity),
        ("hinge", "effort")
    );
    assert!((violation.worst - 9.81).abs() < 1e-9, "{violation:?}");
}

/// Property: a rate that is no number ends the run as such, and has passed no limit.
#[test]
fn what_is_no_number_passes_no_limit() {
    let limits = "limits = { max_rad = 1.0, max_rate_rad_per_s = 1.0 }";
    let mechanism = tree_mechanism(&parsed(&format!("{ROD}{limits}{SIMULATION}")));
    let mut start = mechanism.start().unwrap();
    start.velocity[0] = f64::NAN;
    let (simulation, samples) = (&mechanism.spec().simulation, [0.0, 2.0]);
    let options = SimulateOptions {
        samples: &samples,
        channels: None,
        most_lengths: f64::INFINITY,
    };
    let run = mechanism.simulate(&start, simulation, &options, &mut |_| Flow::Continue);
    assert!(matches!(run.ending, Ending::Failed(_)), "{:?}", run.ending);
    assert_eq!(run.audit.limit_violations, []);
}

/// A body of 2 kg on a free joint, thrown along y while it turns about z.
const THROWN: &str = r#"
format = 1
[[body]]
name = "box"
[body.rigid]
mass_kg = 2.0
inertia_kg_m2 = [0.1, 0.2, 0.25]
[[joint]]
name = "base"
parent = "ground"
child = "box"
[joint.free]
initial_velocity_m_per_s = [0.0, 0.5, 0.0]
initial_angular_velocity_rad_per_s = [0.0, 0.0, 0.8]
"#;

/// Closed form: y = t / 2 passes 0.3 m at 0.6 s, the angle 0.8 t passes 1 rad at 1.25 s; in the child's axes
/// the velocity's largest component is the whole of it at the start, and the input is a step.
#[test]
fn a_free_joint_reports_every_limit_it_passes() {
    let limits = "limits = { min_m = [-1, -1, -1], max_m = [1, 0.3, 1], max_angle_rad = 1.0, \
                  max_rate_rad_per_s = 0.9, max_rate_m_per_s = 0.4, max_torque_n_m = 1.0, max_force_n = 1.0 }";
    let input = r#"
[[input]]
joint = "base"
component = 6
force_step = { value_n = 1.5, from_s = 1.75 }
"#;
    let run = ran(&format!("{THROWN}{limits}\n{input}{SIMULATION}"));
    let found: Vec<(&str, &str)> = (run.audit.limit_violations.iter())
        .map(|violation| (violation.quantity, violation.unit))
        .collect();
    let wanted = [
        ("position", "m"),
        ("position", "rad"),
        ("rate", "m/s"),
        ("rate", "m/s"),
        ("effort", "N"),
    ];
    assert_eq!(found, wanted);
    let first = |at: usize| run.audit.limit_violations[at].first_s;
    // position and angle are linear in time, so that the line between two steps is exact
    for (at, instant) in [(0, 0.6), (1, 1.25), (3, 0.0), (4, 1.75)] {
        assert!((first(at) - instant).abs() < 1e-9, "{at}: {}", first(at));
    }
}

/// Identity: springs, dampers and friction of a free joint are in the audit: what leaves the motion is dissipated.
#[test]
fn energy_of_a_sprung_and_damped_free_joint_balances() {
    let resistance = "
spring = { angular_stiffness_n_m_per_rad = 5.0, angular_damping_n_m_s_per_rad = 0.1, \
linear_stiffness_n_per_m = 40.0, linear_damping_n_s_per_m = 0.4 }
friction = { angular_viscous_n_m_s_per_rad = 0.05, linear_coulomb_n = 0.2, linear_coulomb_rate_m_per_s = 0.05 }
";
    let run = ran(&format!(
        "{}{resistance}{SIMULATION}",
        THROWN.replace("[0.0, 0.0, 0.8]", "[0.4, -0.3, 0.8]")
    ));
    // a thousand steps of the tolerance of 1e-11, in percent
    assert!(run.audit.energy.max_drift_percent < 1e-6, "{:?}", run.audit);
    let lost = last(&run.recording, "energy.dissipated");
    assert!(lost > 0.1 * run.audit.energy.peak_j, "{lost} J");
}

/// Closed form: torque about z on a ball that turns about z.
#[test]
fn a_ball_reports_rate_and_torque_beyond_their_limits() {
    let text = THROWN
        .replace("[joint.free]", "[joint.spherical]")
        .replace("initial_velocity_m_per_s = [0.0, 0.5, 0.0]\n", "");
    let run = ran(&format!(
        r#"{text}limits = {{ max_rate_rad_per_s = 1.6, max_torque_n_m = 0.4 }}
[[input]]
joint = "base"
component = 3
torque_constant.value_n_m = 0.5
{SIMULATION}"#
    ));
    let [rate, effort] = run.audit.limit_violations.as_slice() else {
        panic!("{:?}", run.audit.limit_violations);
    };
    assert_eq!((rate.quantity, effort.quantity), ("rate", "effort"));
    // 0.8 + 0.5 t / 0.25
    assert!((rate.first_s - 0.4).abs() < 1e-9, "{rate:?}");
    assert!((effort.worst - 0.5).abs() < 1e-15 && effort.first_s == 0.0);
}

/// Closed form: the rotors of a free joint weigh like a mass of gear ratio² times their inertia as long as it
/// slides or turns along one axis: 2 kg and 0.01 kg m² (10 rad/m)² move like 3 kg, 0.25 kg m² and
/// 0.001 kg m² times 5² turn like 0.275 kg m².
#[test]
fn rotors_of_a_free_joint_weigh_by_their_gear_ratio_squared() {
    let motor = "motor = { angular_inertia_kg_m2 = 1e-3, angular_gear_ratio = 5.0, \
                 linear_inertia_kg_m2 = 0.01, linear_gear_ratio_rad_per_m = 10.0 }\n";
    let at_rest = THROWN
        .replace("[0.0, 0.5, 0.0]", "[0.0, 0.0, 0.0]")
        .replace("[0.0, 0.0, 0.8]", "[0.0, 0.0, 0.0]");
    for (component, load, channel, wanted) in [
        (4, "force_constant.value_n = 3.0", "base.velocity.x", 2.0),
        (
            3,
            "torque_constant.value_n_m = 0.275",
            "base.angular_velocity.z",
            2.0,
        ),
    ] {
        let input = format!("[[input]]\njoint = \"base\"\ncomponent = {component}\n{load}\n");
        let run = ran(&format!("{at_rest}{motor}{input}{SIMULATION}"));
        let rate = last(&run.recording, channel);
        assert!((rate - wanted).abs() < 1e-10, "{channel}: {rate}");
        assert!(
            run.audit.momentum.is_none(),
            "rotors push against the ground"
        );
        assert!(run.audit.energy.max_drift_percent < 1e-8);
    }
}

/// Property: however loose the tolerance, no energy is told to have been dissipated that is less than none; `dopri5`, one of whose weights is
/// negative, arrives at −0.01 J in its first steps.
#[test]
fn nothing_less_than_nothing_is_dissipated() {
    for integrator in ["dopri5", "radau", "esdirk"] {
        let integrator = format!("simulation.integrator={{{integrator}={{rtol=1e-2,atol=1e-3}}}}");
        let rubs = "joint.elbow.revolute.friction={coulomb_n_m=0.3,coulomb_rate_rad_per_s=0.01}";
        let often = "output.sample_period_s=0.001";
        let spec = changed(
            TEMPLATE,
            &["simulation.duration_s=2", often, rubs, &integrator],
        );
        let run = completed(in_tree(&spec));
        let dissipated = samples(&run.recording, "energy.dissipated");
        assert!(
            dissipated.iter().all(|energy| *energy >= 0.0),
            "{integrator}"
        );
    }
}
