//! Controllers that are linear systems between sensors and drives, in both formulations, against exact recursions and matrix exponentials.

use lissom_core::study::OperatingPoint;
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{SignalNames, StateSpace};
use lissom_spec::{ModelError, ModelSpec};
use nalgebra::{DMatrix, DVector, Matrix2, Vector2};

use crate::models::{changed, parsed};
use crate::numbers::largest;
use crate::runs::{completed, in_nodes, in_tree, nodal_mechanism, samples, tree_mechanism};

const INERTIA_KG_M2: f64 = 2.0;
const PERIOD_S: f64 = 0.01;
const STEP_RAD: f64 = std::f64::consts::TAU / 5000.0;
const REFERENCE_RAD: f64 = 0.3;
const A: [[f64; 2]; 2] = [[0.5, 0.1], [-0.2, 0.8]];
const B: [f64; 2] = [0.3, -0.4];
const C: [f64; 2] = [-20.0, 35.0];
const D: f64 = -160.0;

/// A wheel under a sampled linear system that reads an encoder in steps.
fn wheel(delay_s: f64) -> ModelSpec {
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
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.5, initial_rate_rad_per_s = -0.3 }}
[[actuator]]
name = "motor"
joint = "hub"
[[sensor]]
name = "spare"
encoder.joint = "hub"
[[sensor]]
name = "encoder"
encoder = {{ joint = "hub", counts_per_revolution = 5000.0 }}
[[controller]]
name = "system"
measures = ["encoder"]
drives = ["motor"]
sampled = {{ period_s = {PERIOD_S:?}, delay_s = {delay_s:?} }}
[controller.state_space]
a = {A:?}
b = [[{b0:?}], [{b1:?}]]
c = [{C:?}]
d = [[{D:?}]]
reference = [{REFERENCE_RAD:?}]
[simulation]
duration_s = 0.5
[output]
sample_period_s = {PERIOD_S:?}
"#,
        b0 = B[0],
        b1 = B[1],
    ))
}

/// Closed form: from tick to tick the wheel moves under a constant torque, and the states of the system go on as its matrices say.
#[test]
fn sampled_systems_go_from_tick_to_tick() {
    /// Integrators leave rounding, and the reading is the same step unless that decides on it.
    const ROUNDING: f64 = 1e-10;
    for delay in [0.0, 0.004, PERIOD_S] {
        let (a, b, c) = (
            Matrix2::from(A).transpose(),
            Vector2::from(B),
            Vector2::from(C),
        );
        let [mut angle, mut speed, mut held] = [0.5, -0.3, 0.0];
        let mut state = Vector2::zeros();
        let mut expected = Vec::new();
        for _ in 0..=50 {
            expected.push((angle, state[0]));
            let reading = (angle / STEP_RAD).round() * STEP_RAD - REFERENCE_RAD;
            let answer = c.dot(&state) + D * reading;
            state = a * state + b * reading;
            for (stretch, torque) in [(delay, held), (PERIOD_S - delay, answer)] {
                let acceleration = torque / INERTIA_KG_M2;
                angle += stretch * speed + 0.5 * stretch * stretch * acceleration;
                speed += stretch * acceleration;
            }
            held = answer;
        }
        for run in [in_tree(&wheel(delay)), in_nodes(&wheel(delay), 1)] {
            let recording = completed(run).recording;
            let found = samples(&recording, "hub.angle");
            assert_eq!(found.len(), expected.len());
            for (tick, (found, (angle, _))) in found.iter().zip(&expected).enumerate() {
                assert!(
                    (found - angle).abs() < ROUNDING,
                    "{delay} {tick}: {found} {angle}"
                );
            }
            // a sample at a tick is taken behind it
            let states = samples(&recording, "system.state_1").iter().skip(1);
            for (found, (_, state)) in states.zip(&expected[2..]) {
                assert!((found - state).abs() < ROUNDING, "{delay}: {found} {state}");
            }
        }
    }
}

/// A flexible arm with an encoder at its motor, a gyroscope and a strain gauge, held by a continuous linear system of two states.
const ARM: &str = r#"
format = 1
[[body]]
name = "arm"
damping = { modal_ratio = 0.01 }
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 1.2
bending_stiffness_y_n_m2 = 300.0
basis.elements = { count = 2 }
[[payload]]
name = "gripper"
body = "arm"
mass_kg = 0.5
[[joint]]
name = "shoulder"
parent = "ground"
child = "arm"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_rate_rad_per_s = 1e-4
motor = { inertia_kg_m2 = 1e-4, gear_ratio = 40.0 }
[[marker]]
name = "hand"
body = "arm"
[[actuator]]
name = "motor"
joint = "shoulder"
response_time_s = 2e-3
[[sensor]]
name = "encoder"
encoder = { joint = "shoulder", side = "motor" }
[[sensor]]
name = "root_strain"
strain = { body = "arm", at_m = 0.05, offset_m = [0.01, 0.0] }
[[sensor]]
name = "gyro"
gyroscope = { marker = "hand" }
[[controller]]
name = "system"
measures = ["encoder", "root_strain", "gyro.z"]
drives = ["motor"]
[controller.state_space]
a = [[-40.0, 10.0], [0.0, -15.0]]
b = [[3.0, 200.0, 0.1], [1.0, 0.0, 0.0]]
c = [[30.0, -20.0]]
d = [[-50.0, 900.0, -4.0]]
[simulation]
duration_s = 0.3
integrator.dop853 = { rtol = 1e-10, atol = 1e-16 }
[output]
sample_period_s = 0.01
"#;

fn open_and_closed(mechanism: &Mechanism) -> (StateSpace, SignalNames, StateSpace) {
    let start = mechanism.start().unwrap();
    let watch = &mut |_: f64| Flow::Continue;
    let found = mechanism
        .linearize(&start, OperatingPoint::Start, &[], watch)
        .unwrap();
    let closed = mechanism.with_controllers(&found).unwrap();
    let space = |of: &lissom_core::study::Linearized| {
        StateSpace::new(&of.trajectory, &of.trajectory.points()[0]).unwrap()
    };
    (
        space(&found),
        SignalNames::new(&found.trajectory),
        space(&closed),
    )
}

/// Identity: the closed loop is the plant, the response of the motor and the system put together by hand; small motions of the nonlinear model are
/// its matrix exponential.
#[test]
fn continuous_systems_close_their_loops() {
    const ROUNDING: f64 = 1e-9;
    /// Of the plant of nodes, whose readings are differences of nodes that iterations find.
    const DIFFERENCES: f64 = 1e-6;
    /// What is of second order in motions of 1e-4, and tolerances.
    const SMALL: f64 = 1e-4;
    let spec = parsed(ARM);
    for (mechanism, tolerance) in [
        (tree_mechanism(&spec), ROUNDING),
        (nodal_mechanism(&spec, 2), DIFFERENCES),
    ] {
        let (plant, names, closed) = open_and_closed(&mechanism);
        let place = |of: &[(String, String)], name: &str| {
            of.iter().position(|(own, _)| own == name).unwrap()
        };
        let input = plant.input.column(place(&names.inputs, "shoulder.torque"));
        let rows = ["encoder", "root_strain", "gyro.z"].map(|name| place(&names.outputs, name));
        let measured = plant.output.select_rows(&rows);
        let n = plant.state.nrows();
        let a = DMatrix::from_row_slice(2, 2, &[-40.0, 10.0, 0.0, -15.0]);
        let b = DMatrix::from_row_slice(2, 3, &[3.0, 200.0, 0.1, 1.0, 0.0, 0.0]);
        let c = DMatrix::from_row_slice(1, 2, &[30.0, -20.0]);
        let d = DMatrix::from_row_slice(1, 3, &[-50.0, 900.0, -4.0]);
        // plant, states of the system, torque of the motor
        let mut expected = DMatrix::zeros(n + 3, n + 3);
        expected.view_mut((0, 0), (n, n)).copy_from(&plant.state);
        expected.view_mut((0, n + 2), (n, 1)).copy_from(&input);
        expected
            .view_mut((n, 0), (2, n))
            .copy_from(&(b * &measured));
        expected.view_mut((n, n), (2, 2)).copy_from(&a);
        expected
            .view_mut((n + 2, 0), (1, n))
            .copy_from(&(d * &measured / 2e-3));
        expected.view_mut((n + 2, n), (1, 2)).copy_from(&(c / 2e-3));
        expected[(n + 2, n + 2)] = -1.0 / 2e-3;
        assert_eq!(closed.state.shape(), expected.shape());
        let off = (&closed.state - &expected).norm() / expected.norm();
        assert!(off < tolerance, "{off}");
        let run =
            completed(mechanism.run(&(0..=30).map(|i| 0.01 * f64::from(i)).collect::<Vec<_>>()));
        let mut state = DVector::zeros(n + 3);
        state[place(&names.states, "shoulder.angle.rate")] = 1e-4;
        let step = (expected * 0.01).exp();
        let (mut angles, mut numbers) = (Vec::new(), Vec::new());
        for _ in 0..=30 {
            angles.push(state[place(&names.states, "shoulder.angle")]);
            numbers.push(state[n]);
            state = &step * state;
        }
        for (channel, expected) in [("shoulder.angle", angles), ("system.state_1", numbers)] {
            let size = largest(&expected);
            for (found, expected) in samples(&run.recording, channel).iter().zip(&expected) {
                assert!(
                    (found - expected).abs() < SMALL * size,
                    "{channel}: {found} {expected}"
                );
            }
        }
    }
}

/// What is said of linear systems that make no sense.
#[test]
fn wrong_systems_are_refused() {
    for (change, expected) in [
        (
            "controller.system.measures=[\"encoder\"]",
            "`b` has 3 entries, expected 1",
        ),
        (
            "controller.system.measures=[\"encode\"]",
            "there is no sensor called \"encode\"",
        ),
        (
            "controller.system.drives=[\"elbow\"]",
            "there is no joint called \"elbow\"",
        ),
        (
            "controller.system.joints=[\"shoulder\"]",
            "`joints` has no effect",
        ),
        (
            "controller.system.state_space.c=[[1.0]]",
            "`c` has 1 entries, expected 2",
        ),
        (
            "controller.system.state_space.reference=[1.0]",
            "`reference` has 1 entries, expected 3",
        ),
        (
            "sensor.encoder.encoder.counts_per_revolution=100",
            "reads in steps",
        ),
        (
            "sensor.root_strain.noise={rms=[1e-6],period_s=1e-3}",
            "its noise is a sequence of numbers that jump",
        ),
    ] {
        let change = lissom_spec::Override::parse(change).unwrap();
        let errors = ModelSpec::parse(ARM, &[change]).unwrap_err();
        let said: Vec<String> = errors.iter().map(ModelError::to_string).collect();
        let said = said.join("\n");
        assert!(said.contains(expected), "{expected}: {said}");
    }
    // what reads in steps or with noise is measured by sampled controllers
    let sampled = "controller.system.sampled={period_s=1e-3}";
    changed(
        ARM,
        &[sampled, "sensor.encoder.encoder.counts_per_revolution=100"],
    );
}
