//! PID control and actuators in both formulations, against scalar references, matrix exponentials and differences of the equations.

use std::f64::consts::TAU;

use lissom_core::State;
use lissom_core::study::{
    DrivenJoints, Linearized, OperatingPoint, SimulateOptions, sample_instants,
    sample_instants_from,
};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{StateSpace, Terms, TrackedModes, Transfer};
use lissom_spec::ModelSpec;
use nalgebra::{DMatrix, DVector};

use crate::models::{driven_arm, parsed};
use crate::numbers::largest;
use crate::runs::{
    assert_alike, completed, in_nodes, in_tree, nodal_mechanism, samples, tree_mechanism,
};

/// Error that tolerances of 1e-10 leave after a second.
const INTEGRATED: f64 = 1e-7;
/// The same of runs whose right-hand side has kinks, over which a step goes unawares.
const OVER_KINKS: f64 = 1e-6;

pub(crate) const INERTIA_KG_M2: f64 = 2.0;
pub(crate) const PUSH_N_M: f64 = 5.0;
pub(crate) const GAINS: [f64; 3] = [90.0, 150.0, 12.0];
const FILTER_S: f64 = 0.02;

/// A wheel that a torque pushes off the place where a controller with these keys holds it, with more tables behind.
pub(crate) fn wheel(pid: &str, more: &str) -> String {
    let [kp, ki, kd] = GAINS;
    format!(
        r#"
format = 1
[[body]]
name = "wheel"
rigid = {{ mass_kg = 3.0, inertia_kg_m2 = [1.0, 1.0, {INERTIA_KG_M2:?}] }}
[[joint]]
name = "hub"
parent = "ground"
child = "wheel"
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.2 }}
[[input]]
joint = "hub"
torque_constant = {{ value_n_m = {PUSH_N_M:?} }}
[[controller]]
name = "servo"
joints = ["hub"]
pid = {{ position_gain = [{kp}.0], integral_gain = [{ki}.0], rate_gain = [{kd}.0]{pid} }}
[simulation]
duration_s = 1.0
integrator.dop853 = {{ rtol = 1e-10, atol = 1e-10 }}
[output]
sample_period_s = 0.05
{more}
"#
    )
}

/// Closed form: a wheel under a constant torque and PID control is a linear system, whose solution is an exponential of its matrix.
#[test]
fn pid_follows_the_matrix_exponential() {
    let [kp, ki, kd] = GAINS;
    for filter in [None, Some(FILTER_S)] {
        let key = filter.map_or(String::new(), |time| format!(", rate_filter_s = {time}"));
        // deviation, rate, integral, filtered rate (or nothing), and one that drives
        let (damping, filtered) = filter.map_or((kd, 0.0), |_| (0.0, kd));
        let lag = filter.map_or(0.0, |time| 1.0 / time);
        let j = INERTIA_KG_M2;
        #[rustfmt::skip]
        let matrix = DMatrix::from_row_slice(5, 5, &[
            0.0, 1.0, 0.0, 0.0, 0.0,
            -kp / j, -damping / j, 1.0 / j, filtered / j, PUSH_N_M / j,
            -ki, 0.0, 0.0, 0.0, 0.0,
            0.0, -lag, 0.0, -lag, 0.0,
            0.0, 0.0, 0.0, 0.0, 0.0,
        ]);
        let start = DVector::from_row_slice(&[0.0, 0.0, 0.0, 0.0, 1.0]);
        let integrators = [
            ("", INTEGRATED),
            (
                "\n[simulation.integrator.radau]\nrtol = 1e-10\natol = 1e-10\n",
                INTEGRATED,
            ),
            // a method of second order: (h · 50/s)² of angles below a tenth
            ("\n[simulation.integrator.newmark]\nstep_s = 2e-4\n", 1e-5),
        ];
        for (integrator, tolerance) in integrators {
            let mut text = wheel(&key, integrator);
            if !integrator.is_empty() {
                text = text.replace("integrator.dop853 = { rtol = 1e-10, atol = 1e-10 }\n", "");
            }
            let spec = parsed(&text);
            let runs = [in_tree(&spec), in_nodes(&spec, 1)].map(completed);
            for run in &runs {
                let recording = &run.recording;
                for (sample, &time) in recording.time_s.iter().enumerate() {
                    let exact = (&matrix * time).exp() * &start;
                    let found = |name: &str| samples(recording, name)[sample];
                    assert!(
                        (found("hub.angle") - 0.2 - exact[0]).abs() < tolerance,
                        "{integrator}"
                    );
                    assert!((found("servo.hub.integral") - exact[2]).abs() < tolerance * ki);
                    if filter.is_some() {
                        let x = found("servo.hub.filtered_rate");
                        assert!((x - exact[3]).abs() < tolerance * kd, "{x} at {time}");
                    }
                }
            }
            assert_alike(&runs[0], &runs[1], tolerance * ki);
        }
    }
}

/// How long the wheel is given for a turn of one radian, far less than its motor needs.
const TURN_S: f64 = 0.1;

/// What a scalar integration makes of the wheel that is to turn along a cycloid with a limited motor: angle off the start, integral and
/// torque at the samples.
fn clipped_wheel(
    [limit, rate, response]: [f64; 3],
    tracking: Option<f64>,
    times: &[f64],
) -> Vec<[f64; 3]> {
    let [kp, ki, kd] = GAINS;
    let turn = |time: f64| {
        let s = (time / TURN_S).min(1.0);
        let [sin, cos] = [(TAU * s).sin(), (TAU * s).cos()];
        [
            s - sin / TAU,
            (1.0 - cos) / TURN_S,
            TAU * sin / TURN_S / TURN_S,
        ]
    };
    let derivative = |time: f64, [angle, speed, integral, torque]: [f64; 4]| {
        let [nominal, nominal_speed, acceleration] = turn(time);
        let off = angle - nominal;
        let feedback = -kp * off + integral - kd * (speed - nominal_speed);
        let asked = INERTIA_KG_M2 * acceleration + feedback;
        let clipped = asked.clamp(-limit, limit);
        let back = tracking.map_or(0.0, |time| (clipped - asked) / time);
        let change = ((clipped - torque) / response).clamp(-rate, rate);
        [speed, torque / INERTIA_KG_M2, -ki * off + back, change]
    };
    // over a kink a fixed step leaves an error of its square
    let step = 5e-6;
    let add = |x: [f64; 4], k: [f64; 4], h: f64| std::array::from_fn(|i| x[i] + h * k[i]);
    let mut x = [0.0; 4];
    let mut found = Vec::new();
    let mut taken = 0_u32;
    for &sample in times {
        while f64::from(taken) * step < sample - 0.5 * step {
            let time = f64::from(taken) * step;
            let middle = time + 0.5 * step;
            let k1 = derivative(time, x);
            let k2 = derivative(middle, add(x, k1, 0.5 * step));
            let k3 = derivative(middle, add(x, k2, 0.5 * step));
            let k4 = derivative(time + step, add(x, k3, step));
            x = std::array::from_fn(|i| {
                x[i] + step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
            });
            taken += 1;
        }
        found.push([x[0], x[2], x[3]]);
    }
    found
}

/// Two independent ways: torque, rate and integral of a motor that saturates against a scalar Runge–Kutta integration, with
/// and without anti-windup.
#[test]
fn actuators_clip_torque_and_rate_and_windup_is_taken_back() {
    let limits = [4.0, 60.0, 0.02];
    let actuator = r#"
[[actuator]]
name = "motor"
joint = "hub"
max_torque_n_m = 4.0
max_torque_rate_n_m_per_s = 60.0
response_time_s = 0.02
"#;
    let constant = format!("torque_constant = {{ value_n_m = {PUSH_N_M:?} }}");
    let turn = format!(
        "rigid_inverse_dynamics.cycloid = {{ final_angle_rad = 1.2, duration_s = {TURN_S:?} }}"
    );
    for (key, tracking) in [("", None), (", anti_windup_s = 0.05", Some(0.05))] {
        let spec = parsed(&wheel(key, actuator).replace(&constant, &turn));
        let runs = [in_tree(&spec), in_nodes(&spec, 1)].map(completed);
        for run in &runs {
            let times = &run.recording.time_s;
            let expected = clipped_wheel(limits, tracking, times);
            let names = ["hub.angle", "servo.hub.integral", "motor.torque"];
            for (i, name) in names.into_iter().enumerate() {
                let found = samples(&run.recording, name);
                let first = found[0];
                let size = largest(found).max(1.0);
                for (found, expected) in found.iter().zip(&expected) {
                    let off = found - first - expected[i];
                    assert!(off.abs() < OVER_KINKS * size, "{name}{key}: {off}");
                }
            }
            assert!(largest(samples(&run.recording, "motor.torque")) < 4.0 + OVER_KINKS);
            // what is asked for is recorded beside what is given
            assert!(largest(samples(&run.recording, "servo.hub.torque")) > 40.0);
        }
    }
}

/// A flexible arm under PID control of both joints, of which the shoulder has an actuator with these keys.
fn controlled_arm(actuator: &str) -> ModelSpec {
    let arm = driven_arm(
        [0.0, -9.81, 0.0],
        ["[0.0, 0.0, 1.0]", "[0.0, 0.0, 1.0]"],
        "bending_stiffness_y_n_m2 = 120.0\nbending_stiffness_z_n_m2 = 180.0\ntorsional_stiffness_n_m2 = 60.0\n\
         section_inertia_y_kg_m = 2e-4\nsection_inertia_z_kg_m = 2e-4\nbasis.elements = { count = 1 }",
        "final_angle_rad = 0.4, duration_s = 0.5",
    );
    parsed(&format!(
        r#"{arm}
[[controller]]
name = "servo"
joints = ["upper_joint", "fore_joint"]
pid = {{ position_gain = [400.0, 150.0], integral_gain = [300.0, 90.0], rate_gain = [40.0, 9.0], rate_filter_s = 5e-3, anti_windup_s = 0.2 }}
[[controller]]
name = "damper"
joints = ["fore_joint"]
joint_pd = {{ position_gain = [0.0], rate_gain = [2.0] }}
[[actuator]]
name = "motor"
joint = "upper_joint"
{actuator}
[simulation]
integrator.dopri5 = {{ rtol = 1e-6, atol = 1e-8 }}
[output]
sample_period_s = 0.01
"#
    ))
}

fn linearized(mechanism: &Mechanism, state: &State) -> Linearized {
    let watch = &mut |_: f64| Flow::Continue;
    let found = mechanism.linearize(state, OperatingPoint::Start, &[], watch);
    mechanism.with_controllers(&found.unwrap()).unwrap()
}

/// Derivatives of the equations as they are integrated, by central differences.
fn differences(mechanism: &Mechanism, state: &State) -> DMatrix<f64> {
    let mut dynamics = mechanism.dynamics(state).unwrap();
    let packed = state.packed();
    let n = packed.len() - 2;
    let mut columns = DMatrix::zeros(n, n);
    for j in 0..n {
        let step = 1e-5 * packed[j].abs().max(1.0);
        let [above, below] = [1.0, -1.0].map(|sign| {
            let mut moved = packed.clone();
            moved[j] += sign * step;
            let mut rate = vec![0.0; packed.len()];
            dynamics.derivative(state.time_s, &moved, &mut rate);
            DVector::from_column_slice(&rate[..n])
        });
        columns.set_column(j, &((above - below) / (2.0 * step)));
    }
    columns
}

/// Numerical differentiation: the closed loop of a flexible arm in motion, with integrals, filters and an actuator that gives all,
/// saturates or is as fast as it can, in both formulations.
#[test]
fn closed_loops_are_the_derivative_of_the_equations() {
    // limits, and how many limits hold the motor back
    let actuators = [
        ("response_time_s = 0.01\nmax_torque_n_m = 1e6", 0),
        ("max_torque_n_m = 1e6", 0),
        ("max_torque_n_m = 1.0", 1),
        ("response_time_s = 0.01\nmax_torque_n_m = 1.0", 1),
        (
            "response_time_s = 0.01\nmax_torque_n_m = 1e6\nmax_torque_rate_n_m_per_s = 1.0",
            1,
        ),
    ];
    for (keys, held) in actuators {
        let spec = controlled_arm(keys);
        for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
            let instants = [0.02];
            let mut simulation = spec.simulation.clone();
            simulation.duration_s = 0.02;
            let options = SimulateOptions {
                samples: &instants,
                channels: None,
                most_lengths: f64::INFINITY,
            };
            let watch = &mut |_: f64| Flow::Continue;
            let start = mechanism.start().unwrap();
            let run = completed(mechanism.simulate(&start, &simulation, &options, watch));
            let state = run.last.unwrap();
            assert!(state.control.iter().any(|x| x.abs() > 1e-3));
            let found = linearized(&mechanism, &state);
            assert_eq!(found.saturated().len(), held, "{keys}");
            let point = &found.trajectory.points()[0];
            let space = StateSpace::new(&found.trajectory, point).unwrap();
            let expected = differences(&mechanism, &state);
            assert_eq!(space.state.shape(), expected.shape());
            for i in 0..expected.nrows() {
                // by rows: accelerations of elastic coordinates are large
                let size = expected.row(i).amax().max(1.0);
                for j in 0..expected.ncols() {
                    let off = (space.state[(i, j)] - expected[(i, j)]).abs();
                    assert!(off < 1e-5 * size, "{keys}: {i} {j} {off:e} of {size:e}");
                }
            }
        }
    }
}

/// Closed form: poles of the wheel under PID control with a filter, $`Js^2(Ts+1)s + (k_ps + k_i)(Ts+1) + k_vs^2`$. Two of them are those of its
/// mode, whose frequency is that of the proportional gain.
#[test]
fn poles_of_the_loop_contain_its_states() {
    let [kp, ki, kd] = GAINS;
    let spec = parsed(&wheel(&format!(", rate_filter_s = {FILTER_S}"), ""));
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let start = mechanism.start().unwrap();
        let found = linearized(&mechanism, &start);
        let names = &found.trajectory.labels().loop_states;
        assert_eq!(names[0], ("servo.hub.integral".to_owned(), "N m"));
        assert_eq!(names[1], ("servo.hub.filtered_rate".to_owned(), "rad/s"));
        let transfer = Transfer::new(&found.trajectory, &found.trajectory.points()[0]).unwrap();
        let poles = transfer.poles(&mut || Ok(())).unwrap();
        let count: usize = poles
            .iter()
            .map(|pole| if pole.im > 0.0 { 2 } else { 1 })
            .sum();
        assert_eq!(count, 4);
        let joints = DrivenJoints {
            free: false,
            closed_loop: true,
        };
        let watch = &mut |_: f64| Flow::Continue;
        let frozen = mechanism.frozen(&start, OperatingPoint::Start, &[], joints, watch);
        let modes = TrackedModes::new(&frozen.unwrap(), Terms::CASES[0], 8).unwrap();
        let [mode] = &modes.modes[..] else {
            panic!("{:?}", modes.modes);
        };
        let frequency = mode[0].frequency().unwrap();
        assert!((frequency - (kp / INERTIA_KG_M2).sqrt()).abs() < 1e-12 * frequency);
        let of_modes = mode[0].roots.unwrap().into_iter();
        let of_modes: Vec<_> = of_modes.chain(modes.further[0].iter().copied()).collect();
        assert!(of_modes.len() > 2, "{of_modes:?}");
        for s in poles.into_iter().chain(of_modes) {
            let lag = s * FILTER_S + 1.0;
            let value = s * s * s * INERTIA_KG_M2 * lag + (s * kp + ki) * lag + s * s * kd;
            let size = s.norm().powi(4) * INERTIA_KG_M2 * FILTER_S + s.norm().powi(2) * kd + ki;
            assert!(value.norm() < 1e-11 * size, "{s}");
        }
    }
}

/// Identity: a run that is stopped and goes on from its state is the run that was not interrupted, to the last bit: the states of
/// controllers and actuators are part of it. A recording has them too.
#[test]
fn runs_go_on_with_the_states_of_controllers() {
    let mut spec = controlled_arm("response_time_s = 0.01\nmax_torque_n_m = 30.0");
    spec.simulation.duration_s = 0.04;
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let start = mechanism.start().unwrap();
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
                if time > stop_s {
                    Flow::Stop
                } else {
                    Flow::Continue
                }
            };
            mechanism.simulate(from, &spec.simulation, &options, watch)
        };
        let whole = completed(run(&start, f64::INFINITY));
        let half = run(&start, 0.02).last.unwrap();
        assert!(half.time_s > 0.02 && half.time_s < 0.04);
        assert_eq!(half.control.len(), 5);
        let rest = completed(run(&half, f64::INFINITY));
        let ends = [whole.last.unwrap(), rest.last.unwrap()].map(|end| end.packed());
        assert_eq!(ends[0], ends[1]);
        let recorded = mechanism.recorded_state(&whole.recording, 0.02).unwrap();
        let sample = (whole.recording.time_s.iter()).position(|&time| (time - 0.02).abs() < 1e-9);
        for (state, channel) in recorded.control.iter().zip([
            "servo.upper_joint.integral",
            "servo.upper_joint.filtered_rate",
            "servo.fore_joint.integral",
            "servo.fore_joint.filtered_rate",
            "motor.torque",
        ]) {
            let expected = samples(&whole.recording, channel)[sample.unwrap()];
            assert!(
                (state - expected).abs() < 1e-12 * expected.abs().max(1.0),
                "{channel}"
            );
        }
    }
}

/// Every mistake in the tables of actuators and controllers is told with its place.
#[test]
fn mistakes_in_actuators_are_told() {
    let told = |more: &str, pid: &str| {
        let errors = ModelSpec::parse(&wheel(pid, more), &[]).unwrap_err();
        let told = |error: &lissom_spec::ModelError| format!("{}: {error}", error.path);
        errors.iter().map(told).collect::<Vec<_>>().join("\n")
    };
    let actuator = |keys: &str| format!("[[actuator]]\nname = \"motor\"\n{keys}\n");
    for (more, pid, expected) in [
        (actuator("joint = \"hob\""), "", "hob"),
        (
            actuator("joint = \"hub\"\nmax_force_n = 3.0"),
            "",
            "takes a torque",
        ),
        (
            actuator("joint = \"hub\"\nmax_torque_rate_n_m_per_s = 3.0"),
            "",
            "response_time_s",
        ),
        (
            actuator("joint = \"hub\"\nmax_torque_n_m = -3.0"),
            "",
            "max_torque_n_m",
        ),
        (
            actuator("joint = \"hub\"").replace("motor", "hub"),
            "",
            "reserved",
        ),
        (
            actuator("joint = \"hub\"") + &actuator("joint = \"hub\"").replace("motor", "other"),
            "",
            "another actuator",
        ),
        (String::new(), ", anti_windup_s = 0.1", "no [[actuator]]"),
        (String::new(), ", rate_filter_s = 0.0", "rate_filter_s"),
    ] {
        let found = told(&more, pid);
        assert!(found.contains(expected), "{found} lacks {expected}");
    }
}
