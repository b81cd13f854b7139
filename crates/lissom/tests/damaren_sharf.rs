//! The Shuttle arm of Damaren & Sharf 1995 at one state: accelerations of their models, and of the integrals
//! behind them, against an independent implementation.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use lissom::model::{Model, ModelSpec, Override};
use lissom::simulate::{StateInput, evaluate};
use serde_json::Value;

/// The reference is given to ten digits and agrees with a second implementation to 1e-7 of the largest
/// acceleration.
const AGREEMENT: f64 = 1e-7;

fn list(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(list).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn reference() -> Value {
    let text = include_str!("../../../validation/damaren_1995/single_state.json");
    serde_json::from_str(text).unwrap()
}

fn arm(preset: &str, tip: &str) -> Model {
    let text = include_str!("../../../models/damaren_1995/shuttle_arm.toml");
    let set = |key: &str, value: &str| Override::parse(&format!("fidelity.{key}={value}")).unwrap();
    let spec = ModelSpec::parse(text, &[set("preset", preset), set("tip", tip)]).unwrap();
    Model::build(&spec).unwrap()
}

/// Names of our coordinates in the order of the reference: joints, then u, v, v, w, w, φ of the two booms.
fn names() -> Vec<String> {
    let joints = [
        "shoulder_yaw",
        "shoulder_pitch",
        "elbow_pitch",
        "wrist_pitch_joint",
        "wrist_yaw_joint",
        "wrist_roll_joint",
    ];
    let modes = [
        "stretch_1",
        "bending_y_1",
        "bending_y_2",
        "bending_z_1",
        "bending_z_2",
        "torsion_1",
    ];
    let booms = ["upper_boom", "lower_boom"];
    let angles = joints.iter().map(|joint| format!("{joint}.angle"));
    let elastic = booms
        .iter()
        .flat_map(|boom| modes.iter().map(move |mode| format!("{boom}.{mode}")));
    angles.chain(elastic).collect()
}

/// Accelerations at the reference state, in the order of the reference.
fn accelerations(preset: &str, tip: &str) -> Vec<f64> {
    let model = arm(preset, tip);
    let state = &reference()["state"];
    let position = [list(&state["theta"]), list(&state["q"])].concat();
    let velocity = [list(&state["theta_dot"]), list(&state["q_dot"])].concat();
    let mut input = StateInput {
        position: model.initial_position.clone(),
        velocity: model.initial_velocity.clone(),
        force: vec![0.0; model.velocities.len()],
        acceleration: None,
    };
    let at = |name: &str| model.positions.iter().position(|c| c.name == name).unwrap();
    let rate_at = |name: &str| {
        let name = format!("{name}.rate");
        model
            .velocities
            .iter()
            .position(|c| c.name == name)
            .unwrap()
    };
    for (i, name) in names().iter().enumerate() {
        input.position[at(name)] = position[i];
        input.velocity[rate_at(name)] = velocity[i];
    }
    // the attitude of an exact tip is given as Euler angles 3-2-1
    let rows = list(&reference()["tip_rotation_rows_xyz"]);
    for (boom, carried) in ["elbow_pitch", "wrist_pitch_joint"].into_iter().enumerate() {
        let Some(first) = model
            .positions
            .iter()
            .position(|c| c.name == format!("{carried}.tip.quaternion.w"))
        else {
            continue;
        };
        let angle = |axis: usize| -> f64 {
            (0..6)
                .map(|mode| rows[boom * 18 + axis * 6 + mode] * position[6 + boom * 6 + mode])
                .sum()
        };
        let half = |axis: usize| (0.5 * angle(axis)).sin_cos();
        let ((sx, cx), (sy, cy), (sz, cz)) = (half(0), half(1), half(2));
        input.position[first..first + 4].copy_from_slice(&[
            cz * cy * cx + sz * sy * sx,
            cz * cy * sx - sz * sy * cx,
            cz * sy * cx + sz * cy * sx,
            sz * cy * cx - cz * sy * sx,
        ]);
    }
    let found = evaluate(&model, &input);
    let by_composite = found.acceleration_by_composite_bodies.unwrap();
    let most = found
        .acceleration
        .iter()
        .fold(0.0_f64, |m, a| m.max(a.abs()));
    for (a, b) in found.acceleration.iter().zip(&by_composite) {
        assert!((a - b).abs() < 1e-9 * most, "both algorithms: {a} {b}");
    }
    names()
        .iter()
        .map(|name| found.acceleration[rate_at(name)])
        .collect()
}

#[track_caller]
fn compare(key: &str, preset: &str, tip: &str) {
    let expected = list(&reference()["accelerations"][key]);
    let found = accelerations(preset, tip);
    let most = expected.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
    for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
        assert!(
            (a - b).abs() < AGREEMENT * most,
            "{key}, {}: {a} for {b}",
            names()[i]
        );
    }
}

#[test]
fn ruthless_accelerations() {
    compare("RL", "ruthless", "rigid");
}

#[test]
fn consistent_accelerations() {
    compare("CL", "consistent", "linear");
}

#[test]
fn inconsistent_accelerations_with_linear_tips() {
    compare("I(1)", "inconsistent", "linear");
}

#[test]
fn inconsistent_accelerations_with_euler_tips() {
    compare("I(321)", "inconsistent", "euler_321");
}

#[test]
fn exact_elasticity_with_linear_tips() {
    compare("EE(1)", "exact", "linear");
}

#[test]
fn exact_accelerations() {
    compare("EEE", "exact", "exact");
}
