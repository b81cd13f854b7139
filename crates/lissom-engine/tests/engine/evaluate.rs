//! One state in both formulations: the same mass matrix, bias, accelerations and inverse dynamics by name.

use std::collections::BTreeMap;

use lissom_engine::Mechanism;
use lissom_engine::evaluate::{EvaluateOptions, Evaluation, MarkerTarget, Targets};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{FormulationSpec, NodalFormulationSpec, TwistComponent};

use crate::models::parsed;

/// Rigid mechanisms in two formulations, a few dozen operations with numbers near one.
pub(crate) const AGREEMENT: f64 = 1e-9;

/// A rigid arm with all that evaluations leave out, and all that they count.
pub(crate) const ARM: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 1.0]
[[body]]
name = "upper"
rigid = { mass_kg = 2.0, center_of_mass_m = [0.3, 0.02, 0.0], inertia_kg_m2 = [0.01, 0.05, 0.06] }
node = [{ name = "end", position_m = [0.6, 0.0, 0.0] }]
[[body]]
name = "fore"
rigid = { mass_kg = 1.2, center_of_mass_m = [0.2, 0.0, 0.03], inertia_kg_m2 = [0.012, 0.03, 0.02] }
node = [{ name = "end", position_m = [0.4, 0.0, 0.0] }]
[[body]]
name = "slide"
rigid = { mass_kg = 0.5, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [0.001, 0.002, 0.003] }
[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.4, motor = { inertia_kg_m2 = 1e-3, gear_ratio = 20.0, stiffness_n_m_per_rad = 300.0 } }
[[joint]]
name = "elbow"
parent = { body = "upper", at = "end" }
child = "fore"
revolute = { axis = [0.0, 1.0, 0.2], initial_angle_rad = 0.3, friction = { viscous_n_m_s_per_rad = 0.3 } }
[[joint]]
name = "rail"
parent = { body = "fore", at = "end" }
child = "slide"
prismatic = { axis = [1.0, 0.0, 0.0], initial_displacement_m = 0.1, spring = { stiffness_n_per_m = 40.0 } }
[[marker]]
name = "tool"
body = "slide"
position_m = [0.2, 0.0, 0.0]
[[motion]]
joint = "elbow"
constant_rate = { rate_rad_per_s = 0.7 }
[[input]]
joint = "shoulder"
torque_constant = { value_n_m = 3.0 }
[simulation]
start_s = 0.25
"#;

pub(crate) fn in_nodes(spec: &ModelSpec) -> Mechanism {
    let formulation = FormulationSpec::Nodal(NodalFormulationSpec::default());
    let spec = ModelSpec {
        formulation,
        ..spec.clone()
    };
    Mechanism::build(&spec).unwrap()
}

/// Entries by the names of velocities.
pub(crate) fn by_name(mechanism: &Mechanism, values: &[f64]) -> BTreeMap<String, f64> {
    let [_, velocities] = mechanism.coordinates().unwrap();
    assert_eq!(velocities.len(), values.len());
    let names = velocities.into_iter().map(|coordinate| coordinate.name);
    names.zip(values.iter().copied()).collect()
}

#[track_caller]
pub(crate) fn assert_alike(found: &BTreeMap<String, f64>, expected: &BTreeMap<String, f64>) {
    assert!(found.keys().eq(expected.keys()), "{found:?} {expected:?}");
    let largest = expected
        .values()
        .fold(1.0, |most: f64, x| most.max(x.abs()));
    for (name, value) in found {
        let other = expected[name];
        assert!(
            (value - other).abs() < AGREEMENT * largest,
            "{name}: {value} {other}"
        );
    }
}

/// Identity: $`M a + b = \tau`$, whichever way the accelerations are found.
#[track_caller]
fn assert_consistent(found: &Evaluation, force: &[f64]) {
    let n = force.len();
    let other = found.acceleration_by_composite_bodies.as_ref().unwrap();
    for row in 0..n {
        let inertial: f64 = (0..n)
            .map(|at| found.mass_matrix[row * n + at] * found.acceleration[at])
            .sum();
        let left = inertial + found.bias[row] - force[row];
        assert!(left.abs() < AGREEMENT * (1.0 + force[row].abs() + inertial.abs()));
        let (a, b) = (found.acceleration[row], other[row]);
        assert!((a - b).abs() < AGREEMENT * (1.0 + a.abs()), "{a} {b}");
    }
}

/// Two formulations: what is prescribed moves freely, motors behind elastic gears and inputs are left out, springs and
/// friction count.
#[test]
fn both_formulations_say_the_same_of_a_state() {
    let spec = parsed(ARM);
    let tree = Mechanism::build(&spec).unwrap().released().unwrap();
    let nodes = in_nodes(&spec).released().unwrap();
    let state: BTreeMap<String, f64> = [
        ("shoulder.angle", 0.7),
        ("elbow.angle", -0.4),
        ("rail.displacement", 0.15),
        ("shoulder.angle.rate", 1.1),
        ("elbow.angle.rate", -2.0),
        ("rail.displacement.rate", 0.6),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let force = [2.0, -1.0, 4.0];
    let options = EvaluateOptions {
        force: force.to_vec(),
        acceleration: Some(vec![0.5, -0.7, 0.9]),
    };
    let [a, b] = [&tree, &nodes].map(|mechanism| {
        let state = mechanism.state(0.25, &state).unwrap();
        assert_eq!(state.position, [0.7, -0.4, 0.15]);
        let found = mechanism.evaluate(&state, &options).unwrap();
        assert_consistent(&found, &force);
        assert!(found.closed.is_none());
        let rows = found.mass_matrix.chunks(3);
        let mut vectors: Vec<_> = rows.map(|row| by_name(mechanism, row)).collect();
        for values in [
            &found.bias,
            &found.acceleration,
            &found.inverse_dynamics.unwrap(),
        ] {
            vectors.push(by_name(mechanism, values));
        }
        let poses = mechanism.marker_poses(&state).unwrap();
        assert_eq!(poses[0].name, "tool");
        let place = [poses[0].pose.translation.0, poses[0].twist.linear.0].concat();
        vectors.push(
            place
                .iter()
                .enumerate()
                .map(|(i, x)| (i.to_string(), *x))
                .collect(),
        );
        vectors
    });
    for (a, b) in a.iter().zip(&b) {
        assert_alike(b, a);
    }
}

/// Identity: a state of the mechanism as it is, prescribed motions at their instant, is one of the released mechanism.
#[test]
fn states_of_driven_mechanisms_are_completed() {
    let spec = parsed(ARM);
    for mechanism in [Mechanism::build(&spec).unwrap(), in_nodes(&spec)] {
        let start = mechanism.written();
        let found = mechanism
            .evaluate(&start, &EvaluateOptions::default())
            .unwrap();
        let free = mechanism.released().unwrap();
        let mut by_hand = free.written();
        let [positions, velocities] = free.coordinates().unwrap();
        let entry = |names: &[lissom_tree::Coordinate], name: &str| {
            names
                .iter()
                .position(|coordinate| coordinate.name == name)
                .unwrap()
        };
        // where the motion is after a quarter of a second, counted from the angle at the start of time
        by_hand.position[entry(&positions, "elbow.angle")] = 0.3 + 0.25 * 0.7;
        by_hand.velocity[entry(&velocities, "elbow.angle.rate")] = 0.7;
        let expected = free
            .evaluate(&by_hand, &EvaluateOptions::default())
            .unwrap();
        assert_alike(
            &by_name(&free, &found.acceleration),
            &by_name(&free, &expected.acceleration),
        );
        // another elbow, another answer
        by_hand.position[entry(&positions, "elbow.angle")] = 0.3;
        let other = free
            .evaluate(&by_hand, &EvaluateOptions::default())
            .unwrap();
        assert!((other.bias[0] - expected.bias[0]).abs() > 1e-3);
    }
}

/// A parallelogram of cranks of 0.3 m and 1 kg and a coupler of 0.8 m and 2 kg.
pub(crate) fn parallelogram() -> ModelSpec {
    let bar = |name: &str, length: f64, mass: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\n\
             rigid = {{ mass_kg = {mass:?}, center_of_mass_m = [{:?}, 0, 0], inertia_kg_m2 = [0.01, 0.03, 0.03] }}\n\
             node = [{{ name = \"end\", position_m = [{length:?}, 0, 0] }}]\n",
            length / 2.0
        )
    };
    let hinge = |name: &str, parent: &str, child: &str, angle: f64| {
        format!(
            "[[joint]]\nname = \"{name}\"\nparent = {parent}\nchild = {child}\n\
             revolute = {{ axis = [0, 0, 1], initial_angle_rad = {angle:?} }}\n"
        )
    };
    let end = |body: &str| format!("{{ body = \"{body}\", at = \"end\" }}");
    let text = [
        "format = 1\ngravity_m_per_s2 = [0, -9.81, 0]\n".to_owned(),
        bar("crank", 0.3, 1.0),
        bar("coupler", 0.8, 2.0),
        bar("rocker", 0.3, 1.0),
        hinge("motor", "\"ground\"", "\"crank\"", 1.0),
        hinge("knee", &end("crank"), "\"coupler\"", -1.0),
        hinge(
            "pivot",
            "{ body = \"ground\", position_m = [0.8, 0, 0] }",
            "\"rocker\"",
            1.0,
        ),
        hinge("pin", &end("coupler"), &end("rocker"), 0.0),
        "[[marker]]\nname = \"hand\"\nbody = \"coupler\"\nat = \"end\"\n".to_owned(),
        "[simulation.closure.joint_space]\nindependent = [\"motor\"]\n".to_owned(),
    ];
    parsed(&text.concat())
}

/// Closed form: one inertia that gravity turns, found from a height of the hand; in both formulations.
#[test]
fn closed_mechanisms_are_configured_and_evaluated() {
    let (sin, cos) = f64::sin_cos(1.3);
    let targets = Targets {
        held: Vec::new(),
        markers: vec![MarkerTarget {
            marker: "hand".to_owned(),
            component: TwistComponent::Y,
            position: 0.3 * sin,
            rate: 0.6 * cos,
        }],
    };
    let inertia = 2.0 * (0.03 + 0.15 * 0.15) + 2.0 * 0.3 * 0.3;
    let weight = 9.81 * (1.0 + 2.0) * 0.3 * cos;
    let near = |found: f64, expected: f64| {
        assert!(
            (found - expected).abs() < AGREEMENT * 10.0,
            "{found} {expected}"
        );
    };
    let spec = parallelogram();
    let tree = Mechanism::build(&spec).unwrap();
    let nodes = in_nodes(&spec);
    for mechanism in [&tree, &nodes] {
        let found = mechanism.configured(&mechanism.written(), &targets);
        let configuration = found.unwrap().unwrap();
        assert!(configuration.violation < AGREEMENT);
        let state = &configuration.state;
        near(state.position[0].abs(), 1.3);
        let hand = &mechanism.marker_poses(state).unwrap()[0];
        near(hand.pose.translation.0[1], 0.3 * sin);
        near(hand.twist.linear.0[1], 0.6 * cos);
        let found = mechanism
            .evaluate(state, &EvaluateOptions::default())
            .unwrap();
        // in the nodal formulation degrees of freedom are independent by themselves
        let (mass, bias, acceleration) = match &found.closed {
            Some(closed) => {
                let closed = closed.as_ref().unwrap();
                (
                    closed.mass_matrix[0],
                    closed.bias[0],
                    closed.acceleration[0],
                )
            }
            None => (found.mass_matrix[0], found.bias[0], found.acceleration[0]),
        };
        near(mass, inertia);
        near(bias.abs(), weight);
        near(acceleration.abs(), weight / inertia);
    }
    let unknown = Targets {
        held: vec!["moter".to_owned()],
        markers: Vec::new(),
    };
    let error = tree.configured(&tree.written(), &unknown).unwrap_err();
    assert!(
        error.to_string().contains("did you mean \"motor\""),
        "{error}"
    );
}
