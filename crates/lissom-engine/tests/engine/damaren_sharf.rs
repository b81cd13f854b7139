//! The Shuttle arm of Damaren & Sharf 1995 at one state: accelerations of their models, and of the integrals
//! behind them, against an independent implementation.

use lissom_engine::model::Model;
use lissom_engine::simulate::{StateInput, evaluate};
use lissom_tree::flex::FlexibleBody;
use lissom_tree::tree::{Energy, Kinematics, energy};
use nalgebra::{DMatrix, SymmetricEigen};
use serde_json::Value;

use crate::models::changed;
use crate::numbers::numbers;
use crate::shipped::SHUTTLE_ARM;

/// The reference is given to ten digits and agrees with a second implementation to 1e-7 of the largest
/// acceleration.
const AGREEMENT: f64 = 1e-7;

fn reference() -> Value {
    let text = include_str!("../../../../validation/damaren_1995/single_state.json");
    serde_json::from_str(text).unwrap()
}

fn arm(preset: &str, tip: &str) -> Model {
    let preset = format!("fidelity.preset={preset}");
    let tip = format!("fidelity.tip={tip}");
    Model::build(&changed(SHUTTLE_ARM, &[&preset, &tip])).unwrap()
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

fn rate_at(model: &Model, name: &str) -> usize {
    let name = format!("{name}.rate");
    let mut velocities = model.linkage.velocities.iter();
    velocities.position(|c| c.name == name).unwrap()
}

/// The reference state.
fn state(model: &Model) -> StateInput {
    let state = &reference()["state"];
    let position = [numbers(&state["theta"]), numbers(&state["q"])].concat();
    let velocity = [numbers(&state["theta_dot"]), numbers(&state["q_dot"])].concat();
    let mut input = StateInput {
        position: model.initial_position.clone(),
        velocity: model.initial_velocity.clone(),
        force: vec![0.0; model.linkage.velocities.len()],
        acceleration: None,
    };
    let at = |name: &str| {
        model
            .linkage
            .positions
            .iter()
            .position(|c| c.name == name)
            .unwrap()
    };
    for (i, name) in names().iter().enumerate() {
        input.position[at(name)] = position[i];
        input.velocity[rate_at(model, name)] = velocity[i];
    }
    // the orientation of an exact tip is given as Euler angles 3-2-1
    let rows = numbers(&reference()["tip_rotation_rows_xyz"]);
    for (boom, carried) in ["elbow_pitch", "wrist_pitch_joint"].into_iter().enumerate() {
        let Some(first) = model
            .linkage
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
    input
}

/// Accelerations at the reference state, in the order of the reference.
fn accelerations(preset: &str, tip: &str) -> Vec<f64> {
    let model = arm(preset, tip);
    let found = evaluate(&model, &state(&model));
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
        .map(|name| found.acceleration[rate_at(&model, name)])
        .collect()
}

#[track_caller]
fn compare(key: &str, preset: &str, tip: &str) {
    let expected = numbers(&reference()["accelerations"][key]);
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

/// The reference is given to ten digits.
const TEN_DIGITS: f64 = 1e-9;

#[track_caller]
fn close(found: f64, expected: f64, scale: f64, what: &str) {
    assert!(
        (found - expected).abs() < TEN_DIGITS * scale,
        "{what}: {found} for {expected}"
    );
}

fn energy_of(preset: &str, tip: &str) -> Energy<f64> {
    let model = arm(preset, tip);
    let state = state(&model);
    let mut kinematics = Kinematics::new(&model.linkage.system);
    kinematics.update(&model.linkage.system, &state.position, &state.velocity);
    kinematics.update_poses(&model.linkage.system);
    energy(
        &model.linkage.system,
        &kinematics,
        &state.position,
        &state.velocity,
    )
}

/// Kinetic energy with each model's own mass matrices and rates; strain energy of second, third and fourth
/// order, as far as each model has it.
#[test]
fn energies() {
    for (key, preset, tip, highest_order) in [
        ("RL", "ruthless", "rigid", 2),
        ("CL", "consistent", "linear", 3),
        ("I(1)", "inconsistent", "linear", 2),
        ("EEE", "exact", "exact", 4),
    ] {
        let expected = &reference()["energies"][key];
        let found = energy_of(preset, tip);
        let kinetic = expected["kinetic_model"].as_f64().unwrap();
        close(found.kinetic, kinetic, kinetic, &format!("{key}, kinetic"));
        let strain: f64 = (2..=highest_order)
            .map(|order| expected[format!("U{order}")].as_f64().unwrap())
            .sum();
        close(found.strain, strain, strain, &format!("{key}, strain"));
    }
}

/// Coordinates of a boom in the order of the reference.
fn order(boom: &FlexibleBody) -> Vec<usize> {
    let modes = names();
    let modes = modes[6..12]
        .iter()
        .map(|name| name.split_once('.').unwrap().1);
    modes
        .map(|mode| boom.coordinates.iter().position(|c| c == mode).unwrap())
        .collect()
}

/// First moments, angular momentum coefficients, modal masses and tip values of both booms.
#[test]
fn modal_integrals() {
    let reference = reference();
    let model = arm("exact", "exact");
    let booms = model.linkage.system.bodies().iter();
    let booms: Vec<&FlexibleBody> = booms.filter_map(|body| body.flexible.as_ref()).collect();
    assert_eq!(booms.len(), 2);
    for (b, boom) in booms.into_iter().enumerate() {
        let n = boom.coordinates.len();
        let tip = boom.nodes.last().unwrap();
        for (entry, alpha) in order(boom).into_iter().enumerate() {
            let name = &boom.coordinates[alpha];
            let integrals = &boom.integrals;
            let r = integrals.with_position[alpha];
            let moment = [r[1][2] - r[2][1], r[2][0] - r[0][2], r[0][1] - r[1][0]];
            for i in 0..3 {
                let first = numbers(&reference["P"][b][entry])[i];
                close(
                    integrals.first[alpha][i],
                    first,
                    10.0,
                    &format!("P of {name}"),
                );
                let expected = numbers(&reference["H"][b][entry])[i];
                close(moment[i], expected, 40.0, &format!("H of {name}"));
                let moved = numbers(&reference["tip_displacement_rows_xyz"][b][i])[entry];
                close(
                    tip.displacement[alpha][i],
                    moved,
                    1.0,
                    &format!("tip of {name}"),
                );
                let turned = numbers(&reference["tip_rotation_rows_xyz"][b][i])[entry];
                close(
                    tip.rotation[alpha][i],
                    turned,
                    2.0,
                    &format!("turn of {name}"),
                );
            }
            let mass = numbers(&reference["M_ee_diag"][b])[entry];
            close(
                integrals.mass_matrix[alpha * n + alpha],
                mass,
                1.0,
                &format!("mass of {name}"),
            );
            let square = boom.stiffness[alpha * n + alpha];
            let frequency = numbers(&reference["cantilever_rad_s"][b])[entry];
            // of the function without rotary inertia, as the reference has it
            close(
                square.sqrt(),
                frequency,
                frequency,
                &format!("frequency of {name}"),
            );
        }
    }
}

/// Frequencies of the straight arm at rest with free joints, from mass and stiffness matrices.
#[test]
fn frequencies_with_free_joints() {
    let model = arm("exact", "exact");
    let n = model.linkage.velocities.len();
    let input = StateInput {
        position: model.initial_position.clone(),
        velocity: vec![0.0; n],
        force: vec![0.0; n],
        acceleration: None,
    };
    let mass = DMatrix::from_row_slice(n, n, &evaluate(&model, &input).mass_matrix);
    let mut stiffness = DMatrix::zeros(n, n);
    let layout = model.linkage.system.layout();
    for (k, body) in model.linkage.system.bodies().iter().enumerate() {
        let Some(flexible) = &body.flexible else {
            continue;
        };
        let modes = flexible.coordinates.len();
        let own = DMatrix::from_row_slice(modes, modes, &flexible.stiffness);
        let first = layout.elastic_velocity[k];
        stiffness
            .view_mut((first, first), (modes, modes))
            .copy_from(&own);
    }
    let factor = mass.cholesky().unwrap().l();
    let half = factor.solve_lower_triangular(&stiffness).unwrap();
    let standard = factor.solve_lower_triangular(&half.transpose()).unwrap();
    let symmetric = (&standard + standard.transpose()) * 0.5;
    let mut squares = SymmetricEigen::new(symmetric)
        .eigenvalues
        .as_slice()
        .to_vec();
    squares.sort_by(f64::total_cmp);
    let expected = numbers(&reference()["free_joint_rad_s"]);
    let (rigid, elastic) = squares.split_at(n - expected.len());
    for (square, frequency) in elastic.iter().zip(&expected) {
        // the square of the lowest is known to rounding of the highest, 2e4 times as high
        close(square.sqrt(), *frequency, 10.0 * frequency, "frequency");
    }
    assert!(rigid.iter().all(|square| square.abs() < 1e-6), "{rigid:?}");
}
