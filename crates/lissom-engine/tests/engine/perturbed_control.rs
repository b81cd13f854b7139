//! Perturbation runs with controllers and actuators in the loop, in both formulations: against an integration of the closed-loop matrices
//! that knows nothing of the study's, and against the nonlinear equations where deviations are small.

use std::fmt::Write as _;

use lissom_core::study::{
    AnalysisError, Linearized, OperatingPoint, OutputOrder, PerturbOptions, PerturbedRun,
    sample_instants,
};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Interpolation, StateSpace, Terms};
use lissom_spec::ModelSpec;
use nalgebra::DVector;

use crate::models::parsed;
use crate::numbers::largest;
use crate::runs::{completed, nodal_mechanism, samples, tree_mechanism};

/// Turn of the hub: so small that what is of second order in it is a thousandth of the deviations.
const TURN_RAD: f64 = 1e-3;

/// A beam with a load that a hub turns by a small angle, free of gravity, with tables of controllers.
fn arm(control: &str) -> ModelSpec {
    parsed(&format!(
        r#"
format = 1
[[body]]
name = "arm"
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 0.6
bending_stiffness_y_n_m2 = 8.0
basis.elements = {{ count = 1, bending_y = true, bending_z = false }}
[[joint]]
name = "hub"
parent = "ground"
child = "arm"
revolute = {{ axis = [0.0, 0.0, 1.0], initial_rate_rad_per_s = 2e-3 }}
[[payload]]
name = "rotor"
body = "arm"
at = "root"
mass_kg = 0.5
inertia_kg_m2 = [0.02, 0.02, 0.02]
[[payload]]
name = "load"
body = "arm"
at = "tip"
mass_kg = 0.2
inertia_kg_m2 = [1e-4, 1e-4, 1e-4]
[[marker]]
name = "hand"
body = "arm"
at = "tip"
[[sensor]]
name = "encoder"
encoder.joint = "hub"
[[sensor]]
name = "gyro"
gyroscope.marker = "hand"
[[input]]
joint = "hub"
rigid_inverse_dynamics.cycloid = {{ final_angle_rad = {TURN_RAD:?}, duration_s = 0.4 }}
{control}
[simulation]
duration_s = 0.4
integrator.dop853 = {{ rtol = 1e-11, atol = 1e-15 }}
[output]
sample_period_s = 0.02
"#
    ))
}

const PD: &str = "[[controller]]\nname = \"servo\"\njoints = [\"hub\"]\n\
     joint_pd = { position_gain = [40.0], rate_gain = [3.0] }\n";
const COMPUTED: &str = "[[controller]]\nname = \"servo\"\njoints = [\"hub\"]\n\
     computed_pd = { frequency_rad_per_s = 15.0, damping_ratio = 0.6 }\n";
const PID: &str = "[[controller]]\nname = \"servo\"\njoints = [\"hub\"]\n\
     pid = { position_gain = [40.0], integral_gain = [150.0], rate_gain = [3.0], rate_filter_s = 5e-3, anti_windup_s = 0.1 }\n\
     [[actuator]]\nname = \"motor\"\njoint = \"hub\"\nmax_torque_n_m = 5.0\nresponse_time_s = 4e-3\n";
const OBSERVER: &str = "[[controller]]\nname = \"system\"\nmeasures = [\"encoder\", \"gyro.z\"]\ndrives = [\"hub\"]\n\
     state_space = { a = [[-40.0, 10.0], [0.0, -15.0]], b = [[3.0, 0.1], [1.0, 0.0]], c = [[30.0, -20.0]], d = [[-50.0, -0.1]], \
     reference = [1e-3, 0.0] }\n[[actuator]]\nname = \"motor\"\njoint = \"hub\"\n";
/// Nothing but an actuator between the input and the joint.
const LAG: &str = "[[actuator]]\nname = \"motor\"\njoint = \"hub\"\nresponse_time_s = 0.02\n";

const LAWS: [&str; 5] = [PD, COMPUTED, PID, OBSERVER, LAG];

fn both(spec: &ModelSpec) -> [Mechanism; 2] {
    [tree_mechanism(spec), nodal_mechanism(spec, 1)]
}

fn along(mechanism: &Mechanism, points: usize) -> Linearized {
    let step = mechanism.spec().simulation.duration_s / (points - 1) as f64;
    let times: Vec<f64> = (0..points).map(|i| step * i as f64).collect();
    let (start, watch) = (mechanism.start().unwrap(), &mut |_: f64| Flow::Continue);
    (mechanism.linearize(&start, OperatingPoint::Nominal, &times, watch)).unwrap()
}

fn perturbed(mechanism: &Mechanism, found: &Linearized) -> Result<PerturbedRun, AnalysisError> {
    let options = PerturbOptions {
        terms: Terms::CASES[0],
        interpolation: Interpolation::Matrices,
        order: OutputOrder::First,
    };
    let instants = sample_instants(mechanism.spec(), &[]);
    mechanism.perturb(found, &instants, options, &mut |_| Flow::Continue)
}

/// Two independent ways: Runge and Kutta's steps over two intervals take the matrices of three points as they are, so that nothing is
/// interpolated.
#[test]
fn perturbations_integrate_the_closed_loop_matrices() {
    /// Steps of a few hundredths of a period of the highest mode that is excited, and cubics between the points.
    const CLOSE: f64 = 1e-6;
    const POINTS: usize = 1601;
    for law in LAWS {
        for mechanism in both(&arm(law)) {
            let open = along(&mechanism, POINTS);
            let closed = mechanism.with_controllers(&open).unwrap();
            let (trajectory, mut state) = (
                &closed.trajectory,
                DVector::from_vec(closed.start().unwrap()),
            );
            let points = trajectory.points();
            let rate = |at: usize, state: &DVector<f64>| {
                let point = &points[at];
                let matrix = StateSpace::new(trajectory, point).unwrap().state;
                let mut rate = matrix * state;
                let n = point.excitation.len();
                let driven = DVector::from_column_slice(&point.excitation);
                let pushed = point.linear.mass.clone().cholesky().unwrap().solve(&driven);
                let mut rows = rate.rows_mut(n, n);
                rows += pushed;
                // what the rigid motion asks of a motor with a response time, which begins without torque
                if law == PID || law == LAG {
                    let last = rate.len() - 1;
                    let time = if law == PID { 4e-3 } else { 0.02 };
                    rate[last] += point.actuation.asked[0] / time;
                }
                if law == OBSERVER {
                    let readings = &point.sensors.reading;
                    let off = [readings[0] - 1e-3, readings[3]];
                    rate[2 * n] += 3.0 * off[0] + 0.1 * off[1];
                    rate[2 * n + 1] += off[0];
                }
                rate
            };
            let run = perturbed(&mechanism, &open).unwrap();
            let (recording, n) = (&run.recording, points[0].excitation.len());
            let deviations = samples(recording, "hand.deviation.y");
            let states: Vec<&[f64]> = (trajectory.labels().loop_states.iter())
                .map(|(name, _)| samples(recording, name))
                .collect();
            let every = (POINTS - 1) / (deviations.len() - 1);
            let sizes: Vec<f64> = states.iter().map(|own| largest(own)).collect();
            let size = largest(deviations);
            assert!(size > 0.1 * TURN_RAD && sizes.iter().all(|&size| size > 0.0));
            for at in (0..POINTS).step_by(2) {
                if at % every == 0 {
                    let sample = at / every;
                    let moved = (&points[at].outputs[0].first * state.rows(0, n))[1];
                    let off = (moved - deviations[sample]).abs();
                    assert!(off < CLOSE * size, "{law} {sample}: {off:e} of {size:e}");
                    for (own, (found, size)) in state
                        .rows(2 * n, states.len())
                        .iter()
                        .zip(states.iter().zip(&sizes))
                    {
                        let off = (own - found[sample]).abs();
                        assert!(off < CLOSE * size, "{law} {sample}: {off:e} of {size:e}");
                    }
                }
                if at + 2 < POINTS {
                    let step = points[at + 2].time - points[at].time;
                    let first = rate(at, &state);
                    let second = rate(at + 1, &(&state + &first * (0.5 * step)));
                    let third = rate(at + 1, &(&state + &second * (0.5 * step)));
                    let fourth = rate(at + 2, &(&state + &third * step));
                    state += (first + 2.0 * second + 2.0 * third + fourth) * (step / 6.0);
                }
            }
        }
    }
}

/// Second implementation: the nonlinear equations, of which a small motion leaves out nothing.
#[test]
fn small_motions_are_those_of_a_run() {
    /// What is of second order in angles of a thousandth, against deviations of a hundredth of them.
    const SMALL: f64 = 1e-3;
    for law in LAWS {
        let spec = arm(law);
        for mechanism in both(&spec) {
            let linear = perturbed(&mechanism, &along(&mechanism, 161)).unwrap();
            let run = completed(mechanism.run(&sample_instants(&spec, &[])));
            let states = mechanism.layout().unwrap().into_iter();
            let mut channels: Vec<String> = states
                .map(|state| state.name)
                .filter(|name| {
                    name.starts_with("servo")
                        || name.starts_with("system")
                        || name.starts_with("motor")
                })
                .collect();
            channels.extend(["hand.position.y", "hub.angle"].map(str::to_owned));
            for channel in channels {
                let [found, wanted] =
                    [&linear.recording, &run.recording].map(|own| samples(own, &channel));
                let size = largest(wanted);
                assert!(size > 0.0);
                for (found, wanted) in found.iter().zip(wanted) {
                    let off = (found - wanted).abs();
                    assert!(off < SMALL * size, "{law} {channel}: {off:e} of {size:e}");
                }
            }
        }
    }
}

/// A planar four-bar that an input turns while a controller holds the rocker, whose angle follows from the crank's. It starts a little
/// too fast.
fn four_bar(law: &str) -> ModelSpec {
    let bar = |name: &str, length: f64, mass: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\n\
             rigid = {{ mass_kg = {mass:?}, center_of_mass_m = [{:?}, 0, 0], inertia_kg_m2 = [0.001, 0.01, 0.01] }}\n\
             node = [{{ name = \"end\", position_m = [{length:?}, 0, 0] }}]\n",
            length / 2.0
        )
    };
    let mut text = "format = 1\n".to_owned();
    for (name, length, mass) in [
        ("crank", 0.2, 0.3),
        ("coupler", 0.6, 0.6),
        ("rocker", 0.4, 0.4),
    ] {
        text += &bar(name, length, mass);
    }
    write!(
        text,
        r#"
[[joint]]
name = "motor"
parent = "ground"
child = "crank"
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.0, initial_rate_rad_per_s = 1e-3, held = true }}
[[joint]]
name = "knuckle"
parent = {{ body = "crank", at = "end" }}
child = "coupler"
revolute = {{ axis = [0.0, 0.0, 1.0] }}
[[joint]]
name = "pivot"
parent = {{ body = "ground", position_m = [0.5, 0.0, 0.0] }}
child = "rocker"
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.4, branch = "positive" }}
[[loop]]
name = "pin"
from = {{ body = "coupler", at = "end" }}
to = {{ body = "rocker", at = "end" }}
revolute = {{ axis = [0.0, 0.0, 1.0] }}
[[marker]]
name = "hand"
body = "coupler"
at = "end"
[[input]]
joint = "motor"
rigid_inverse_dynamics.cycloid = {{ final_angle_rad = 1.4, duration_s = 0.4 }}
[[controller]]
name = "servo"
joints = ["pivot"]
{law}
[simulation]
duration_s = 0.4
integrator.dop853 = {{ rtol = 1e-12, atol = 1e-14 }}
closure.joint_space.independent = ["motor"]
[output]
sample_period_s = 0.02
"#
    )
    .unwrap();
    parsed(&text)
}

/// Second implementation: feedback of a joint that a loop solves for, with and without states, against the nonlinear equations; it
/// is felt where it acts.
#[test]
fn joints_that_follow_from_others_are_fed_back() {
    /// Deviations of a ten-thousandth of a radian, times the curvature of the linkage.
    const SMALL: f64 = 2e-3;
    let laws = [
        "joint_pd = { position_gain = [20.0], rate_gain = [0.6] }",
        "pid = { position_gain = [20.0], integral_gain = [100.0], rate_gain = [0.6], rate_filter_s = 0.01 }",
    ];
    let free = four_bar("joint_pd = { position_gain = [0.0], rate_gain = [0.0] }");
    let free = tree_mechanism(&free);
    let free = perturbed(&free, &along(&free, 161)).unwrap();
    for law in laws {
        let spec = four_bar(law);
        for mechanism in both(&spec) {
            let linear = perturbed(&mechanism, &along(&mechanism, 161)).unwrap();
            let run = completed(mechanism.run(&sample_instants(&spec, &[])));
            let deviations = samples(&linear.recording, "hand.deviation.x");
            let [found, wanted] =
                [&linear.recording, &run.recording].map(|own| samples(own, "hand.position.x"));
            let size = largest(deviations);
            assert!(size > 1e-6, "{size:e}");
            let others = samples(&free.recording, "hand.deviation.x");
            let felt = deviations.iter().zip(others).map(|(a, b)| (a - b).abs());
            let felt = felt.fold(0.0, f64::max);
            assert!(felt > 20.0 * SMALL * size, "{felt:e} of {size:e}");
            for (found, wanted) in found.iter().zip(wanted) {
                let off = (found - wanted).abs();
                assert!(off < SMALL * size, "{law}: {off:e} of {size:e}");
            }
        }
    }
}

/// What is clipped is not linear: the run ends there, with what was computed until then.
#[test]
fn an_actuator_at_its_limit_ends_a_perturbation_run() {
    for (keys, of_rate) in [
        ("max_torque_n_m = 1e-3", false),
        (
            "response_time_s = 4e-3\nmax_torque_rate_n_m_per_s = 2e-2",
            true,
        ),
    ] {
        let law = format!("{PD}[[actuator]]\nname = \"motor\"\njoint = \"hub\"\n{keys}\n");
        let mut spec = arm(&law);
        // begins on the nominal motion
        spec.joint[0]
            .revolute
            .as_mut()
            .unwrap()
            .initial_rate_rad_per_s = 0.0;
        for mechanism in both(&spec) {
            let done = perturbed(&mechanism, &along(&mechanism, 81)).unwrap();
            let Some(AnalysisError::AtLimit {
                actuator,
                of_rate: found,
                time_s,
            }) = &done.failure
            else {
                panic!("{:?}", done.failure);
            };
            assert_eq!((actuator.as_str(), *found), ("motor", of_rate));
            let last = done.recording.time_s.last().unwrap();
            assert!(*last <= *time_s && *time_s < 0.3, "{last} {time_s}");
        }
    }
}
