//! Sensors as outputs of linear models in both formulations: their rows against differences of readings.

use lissom_core::study::{Linearized, OperatingPoint};
use lissom_core::{Dynamics, External, State, snapshot};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{SignalNames, StateSpace};
use nalgebra::{DMatrix, Vector3};

use crate::loops_in_both::FOUR_BAR;
use crate::models::parsed;
use crate::runs::{nodal_mechanism, samples, tree_mechanism};
use crate::sensors::arm;

/// Larger step of the differences, in units of every coordinate.
const STEP: f64 = 2e-3;
/// Part of the largest entry of a row: readings are rounded to 1e-13 and nodes are found to 1e-12 of what they are, over a step; what extrapolation
/// leaves goes as the fourth power of the step with the fifth derivative, some 1e-9.
const DIFFERENCES: f64 = 1e-7;
/// Part of the largest entry of a row that two formulations of a rigid mechanism may differ by: rounding, and nodes found to 1e-12.
const ROUNDING: f64 = 1e-9;

/// A linear model with names of what is in it.
struct Linear {
    space: StateSpace,
    names: SignalNames,
}

impl Linear {
    fn of(mechanism: &Mechanism) -> Self {
        let found = linearized(mechanism);
        let trajectory = &found.trajectory;
        Self {
            space: StateSpace::new(trajectory, &trajectory.points()[0]).unwrap(),
            names: SignalNames::new(trajectory),
        }
    }

    fn place(all: &[(String, String)], name: &str) -> usize {
        let found = all.iter().position(|(own, _)| own == name);
        found.unwrap_or_else(|| panic!("no {name} in {all:?}"))
    }

    /// Derivatives of an output by the states.
    fn row(&self, output: &str) -> Vec<f64> {
        let at = Self::place(&self.names.outputs, output);
        self.space.output.row(at).iter().copied().collect()
    }

    /// Derivatives of an output by an input.
    fn direct(&self, output: &str, input: &str) -> f64 {
        let output = Self::place(&self.names.outputs, output);
        self.space.feedthrough[(output, Self::place(&self.names.inputs, input))]
    }
}

fn linearized(mechanism: &Mechanism) -> Linearized {
    let start = mechanism.start().unwrap();
    let found = mechanism.linearize(&start, OperatingPoint::Start, &[], &mut |_| Flow::Continue);
    found.unwrap()
}

/// Readings of channels in a state of the mechanism that moves as its equations say.
fn read(dynamics: &mut dyn Dynamics, state: &State, channels: &[&str]) -> Vec<f64> {
    let (time, rates) = (state.time_s, state.rates());
    let recording = snapshot(dynamics, time, &state.position, &rates);
    let reading = |name: &&str| samples(&recording, name)[0];
    channels.iter().map(reading).collect()
}

/// A state at a deviation; velocities of spherical joints, whose places are given, deviate by $`\dot\delta + \omega\times\delta`$.
fn deviated(dynamics: &dyn Dynamics, state: &State, balls: &[usize], delta: [&[f64]; 2]) -> State {
    let mut moved = state.clone();
    dynamics.displace(&state.position, delta[0], &mut moved.position);
    for (velocity, rate) in moved.velocity.iter_mut().zip(delta[1]) {
        *velocity += rate;
    }
    for &ball in balls {
        let three = |from: &[f64]| Vector3::from_column_slice(&from[ball..ball + 3]);
        let turned = three(&state.velocity).cross(&three(delta[0]));
        for (velocity, turned) in moved.velocity[ball..].iter_mut().zip(turned.iter()) {
            *velocity += turned;
        }
    }
    moved
}

/// Derivatives of readings by coordinates, then by their rates: central differences, extrapolated to no step.
fn differences(mechanism: &Mechanism, channels: &[&str], balls: &[usize]) -> DMatrix<f64> {
    let start = mechanism.start().unwrap();
    let mut dynamics = mechanism.dynamics(&start).unwrap();
    let n = start.velocity.len();
    let mut rows = DMatrix::zeros(channels.len(), 2 * n);
    for at in 0..2 * n {
        let mut slope = |step: f64| -> Vec<f64> {
            let mut there = |step: f64| {
                let mut delta = vec![0.0; 2 * n];
                delta[at] = step;
                let state = deviated(&*dynamics, &start, balls, [&delta[..n], &delta[n..]]);
                read(&mut *dynamics, &state, channels)
            };
            let pairs = there(step).into_iter().zip(there(-step));
            pairs.map(|(a, b)| (a - b) / (2.0 * step)).collect()
        };
        let [coarse, fine] = [STEP, 0.5 * STEP].map(&mut slope);
        for (row, (coarse, fine)) in coarse.into_iter().zip(fine).enumerate() {
            rows[(row, at)] = (4.0 * fine - coarse) / 3.0;
        }
    }
    rows
}

/// Checks rows of channels, and what inputs, by their numbers in the model, do to them at once, in which readings are linear.
fn assert_differentiated(
    mechanism: &Mechanism,
    channels: &[&str],
    inputs: &[(usize, &str)],
    balls: &[usize],
) -> Linear {
    let linear = Linear::of(mechanism);
    let expected = differences(mechanism, channels, balls);
    for (at, name) in channels.iter().enumerate() {
        let row = linear.row(name);
        let size = row.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(size > 0.0, "{name} does not change");
        for (column, (&found, &expected)) in row.iter().zip(expected.row(at).iter()).enumerate() {
            assert!(
                (found - expected).abs() < DIFFERENCES * size,
                "{name} by {:?}: {found} {expected} of {size}",
                linear.names.states[column]
            );
        }
    }
    let start = mechanism.start().unwrap();
    let mut dynamics = mechanism.dynamics(&start).unwrap();
    for &(number, input) in inputs {
        let mut under = |value: f64| {
            dynamics.set_input(number, Some(External::held(value)));
            read(&mut *dynamics, &start, channels)
        };
        let pairs = under(1.0).into_iter().zip(under(-1.0));
        let slopes: Vec<f64> = pairs.map(|(a, b)| 0.5 * (a - b)).collect();
        let size = slopes.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(size > 0.0, "{input} does nothing at once");
        dynamics.set_input(number, None);
        for (name, expected) in channels.iter().zip(slopes) {
            let found = linear.direct(name, input);
            assert!(
                (found - expected).abs() < ROUNDING * size,
                "{name} by {input}: {found} {expected}"
            );
        }
    }
    linear
}

const LOADS: &str = r#"
[[input]]
joint = "elbow"
torque_constant.value_n_m = 0.7
[[input]]
marker = "middle"
frame = "body"
direction = [0.3, 0.2, 1.0]
force_constant.value_n = 15.0
"#;

/// Differences: rows of every sensor that is an output, of a bent arm behind an elastic gear under a load that turns with it. Steps and bias
/// change nothing of them; readings of forces in joints are no outputs.
#[test]
fn readings_are_outputs_of_linear_models() {
    let spec = arm(LOADS);
    let vector = |name: &str| ["x", "y", "z"].map(|axis| format!("{name}.{axis}"));
    let vectors = ["hand_imu", "bent_imu", "hand_gyro"].map(vector).concat();
    let mut channels: Vec<&str> = vectors.iter().map(String::as_str).collect();
    channels.extend(["elbow_encoder", "root_strain"]);
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 2)] {
        let inputs = [(1, "elbow.torque"), (2, "middle.applied_force")];
        let linear = assert_differentiated(&mechanism, &channels, &inputs, &[]);
        // the motor turns by itself before its gear turns the arm
        for name in &channels {
            assert!(linear.direct(name, "shoulder.torque").abs() < ROUNDING);
        }
        for (stepped, plain) in [
            ("motor_encoder", "shoulder.motor_angle"),
            ("shoulder_encoder", "shoulder.angle"),
        ] {
            let row = linear.row(stepped);
            let at = Linear::place(&linear.names.states, plain);
            let expected = (0..row.len()).map(|i| if i == at { 1.0 } else { 0.0 });
            assert_eq!(row, expected.collect::<Vec<f64>>());
        }
        let outputs = &linear.names.outputs;
        assert!(outputs.iter().all(|(name, _)| !name.starts_with("wrist")));
    }
}

/// A top that spins on a spherical joint, whose rates are no rates of its position, with a rod that bends on it.
const TOP: &str = r#"
format = 1
gravity_m_per_s2 = [0.4, 0.0, -9.81]
[[body]]
name = "top"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.1, 0.0, 0.3], inertia_kg_m2 = [0.05, 0.06, 0.02] }
[[body]]
name = "rod"
[body.beam]
length_m = 0.4
mass_per_length_kg_per_m = 0.5
bending_stiffness_y_n_m2 = 8.0
bending_stiffness_z_n_m2 = 6.0
basis.elements = { count = 1 }
[[joint]]
name = "ball"
parent = "ground"
child = "top"
spherical = { initial_rotation_vector_rad = [0.3, -0.2, 0.5], initial_angular_velocity_rad_per_s = [1.0, -2.0, 5.0] }
[[joint]]
name = "weld"
parent = { body = "top", position_m = [0.0, 0.05, 0.4] }
child = "rod"
fixed = {}
[[marker]]
name = "end"
body = "rod"
[[sensor]]
name = "imu"
accelerometer = { marker = "end" }
[[sensor]]
name = "gyro"
gyroscope = { marker = "end" }
[[input]]
marker = "end"
direction = [0.0, 1.0, 0.5]
force_constant.value_n = 2.0
[simulation]
duration_s = 0.1
"#;

/// Differences: the same where velocities are no rates of coordinates.
#[test]
fn readings_on_a_spherical_joint_are_differentiated() {
    let spec = parsed(TOP);
    let vector = |name: &str| ["x", "y", "z"].map(|axis| format!("{name}.{axis}"));
    let vectors = ["imu", "gyro"].map(vector).concat();
    let channels: Vec<&str> = vectors.iter().map(String::as_str).collect();
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let linear = Linear::of(&mechanism);
        let ball = Linear::place(&linear.names.states, "ball.rotation.x");
        let inputs = [(0, "end.applied_force")];
        assert_differentiated(&mechanism, &channels, &inputs, &[ball]);
    }
}

const ON_THE_FOUR_BAR: &str = r#"
[[sensor]]
name = "imu"
accelerometer = { marker = "middle" }
[[sensor]]
name = "gyro"
gyroscope = { marker = "middle" }
[[sensor]]
name = "pin"
encoder.joint = "rocker_pin"
"#;

/// Differences, of a mechanism whose states hold its independent coordinate alone; and the agreement of two formulations, of which the other one has
/// the coordinates of all joints.
#[test]
fn readings_in_loops_are_differentiated() {
    let spec = parsed(&format!("{FOUR_BAR}{ON_THE_FOUR_BAR}"));
    let channels = [
        "imu.x", "imu.y", "imu.z", "gyro.x", "gyro.y", "gyro.z", "pin",
    ];
    // across its plane nothing changes
    let moving = ["imu.x", "imu.y", "gyro.z", "pin"];
    let inputs = [(0, "motor.torque"), (1, "middle.applied_force")];
    let nodal = assert_differentiated(&nodal_mechanism(&spec, 1), &moving, &inputs, &[]);
    let tree = Linear::of(&tree_mechanism(&spec));
    assert_eq!(tree.names.states, nodal.names.states);
    for name in channels {
        let [a, b] = [&tree, &nodal].map(|linear| linear.row(name));
        let size = b.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < ROUNDING * size, "{name}: {a} {b}");
        }
        for (_, input) in inputs {
            let [a, b] = [&tree, &nodal].map(|linear| linear.direct(name, input));
            assert!(
                (a - b).abs() < ROUNDING * size,
                "{name} by {input}: {a} {b}"
            );
        }
    }
}

/// A slider on a spring whose drive answers late.
const SLIDER: &str = r#"
format = 1
[[body]]
name = "sled"
rigid = { mass_kg = 3.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }
[[joint]]
name = "rail"
parent = "ground"
child = "sled"
prismatic = { axis = [1.0, 0.0, 0.0], spring = { stiffness_n_per_m = 200.0, damping_n_s_per_m = 4.0 } }
[[marker]]
name = "nose"
body = "sled"
[[sensor]]
name = "imu"
accelerometer = { marker = "nose" }
[[input]]
joint = "rail"
force_constant.value_n = 1.0
[[controller]]
name = "servo"
joints = ["rail"]
pid = { position_gain = [900.0], integral_gain = [400.0], rate_gain = [60.0], rate_filter_s = 2e-3 }
[[actuator]]
name = "drive"
joint = "rail"
response_time_s = 5e-3
[simulation]
duration_s = 0.1
"#;

/// Identity: along a rail an accelerometer reads the rate of the rate, which the states of controllers and actuators in the loop push too.
#[test]
fn accelerations_are_rates_of_rates_in_closed_loops_too() {
    let spec = parsed(SLIDER);
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let open = linearized(&mechanism);
        let closed = mechanism.with_controllers(&open).unwrap();
        for (found, states) in [(&open, 2), (&closed, 5)] {
            let trajectory = &found.trajectory;
            let space = StateSpace::new(trajectory, &trajectory.points()[0]).unwrap();
            let names = SignalNames::new(trajectory);
            assert_eq!(names.states.len(), states);
            let rate = Linear::place(&names.states, "rail.displacement.rate");
            let imu = Linear::place(&names.outputs, "imu.x");
            let off = space.output.row(imu) - space.state.row(rate);
            assert!(
                off.norm() <= ROUNDING * space.state.row(rate).norm(),
                "{off}"
            );
            let off = space.feedthrough.row(imu) - space.input.row(rate);
            assert!(
                off.norm() <= ROUNDING * space.input.row(rate).norm(),
                "{off}"
            );
        }
    }
}
