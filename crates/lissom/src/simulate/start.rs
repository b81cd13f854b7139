//! The start of a run: prescribed joints stand where their motions begin, and loops are closed.

use super::equations::Equations;
use crate::model::{Body, JointKind, Model};
use lissom_core::MotionCurve;
use std::collections::BTreeMap;

use lissom_core::{State, StateError};
use lissom_spatial::{Motion, Quaternion, RotationVector, Vector};
use lissom_tree::closure::{AssemblyError, Targets, assemble, close};
use lissom_tree::tree::{Kinematics, marker_motion};

/// Closes the loops of a model at the time `start_s`; a model without loops stays as it is.
///
/// # Errors
/// What stays open.
pub fn close_loops(model: &mut Model, start_s: f64) -> Result<(), AssemblyError> {
    if model.linkage.closures.is_empty() {
        return Ok(());
    }
    for motion in &model.motions {
        let point = MotionCurve::new(&motion.profile, motion.initial).at(start_s);
        model.initial_position[motion.position] = point.position;
        model.initial_velocity[motion.velocity] = point.rate;
    }
    let assembled = |model: &mut Model| {
        assemble(
            &mut model.linkage,
            &model.assembly,
            &mut model.initial_position,
            &mut model.initial_velocity,
        )
    };
    assembled(model)?;
    if unfold_stubs(model)? {
        // rates belong to the stubs as they stand
        assembled(model)?;
    }
    for gear in &mut model.transmissions {
        gear.initial_position = model.initial_position[gear.position];
        gear.initial_rate = model.initial_velocity[gear.velocity];
    }
    Ok(())
}

/// Turns the stubs of cut joints that are welded the wrong way round, as a weld is closed by a half turn, too; tells whether any was.
fn unfold_stubs(model: &mut Model) -> Result<bool, AssemblyError> {
    let linkage = &model.linkage;
    let (system, position) = (&linkage.system, &mut model.initial_position);
    let bodies = system.bodies();
    let most = bodies.iter().map(Body::modes).max().unwrap_or(0);
    let mut influence = vec![Motion::zero(); most];
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, position, &model.initial_velocity);
    kinematics.update_poses(system);
    let layout = system.layout();
    let mut unfolded = false;
    for closure in &linkage.closures {
        // a stub's joint has the name of its weld
        let stub = closure.from.body;
        let Some(stub) = stub.filter(|&body| bodies[body].joint.name == closure.name) else {
            continue;
        };
        let [from, to] = [&closure.from, &closure.to].map(|end| match end.body {
            None => end.place.offset().rotation,
            Some(body) => {
                let velocity = &model.initial_velocity;
                let (place, influence) = (&end.place, &mut influence);
                marker_motion(
                    system,
                    &kinematics,
                    body,
                    place,
                    position,
                    velocity,
                    influence,
                )
                .pose
                .rotation
            }
        });
        let turn = from.transpose() * to;
        if turn.0[0][0] + turn.0[1][1] + turn.0[2][2] > 0.0 {
            continue;
        }
        let at = layout.joint_position[stub];
        if model.assembly.held.iter().any(|held| held.position == at) {
            return Err(AssemblyError::Open {
                closure: Some(closure.name.clone()),
                equation: format!("the turn of {}", closure.name),
                gap: std::f64::consts::PI,
                unit: "rad",
            });
        }
        unfolded = true;
        let crossed = bodies[stub].parent;
        let crossed = crossed.filter(|&body| bodies[body].joint.name == closure.name);
        match (bodies[stub].joint.kind.clone(), crossed) {
            (JointKind::Revolute { .. }, None) => {
                position[at] += std::f64::consts::PI * nearer_zero(position[at]);
            }
            (JointKind::Revolute { axis: second }, Some(cross)) => {
                let JointKind::Revolute { axis: first } = bodies[cross].joint.kind else {
                    continue;
                };
                let before = layout.joint_position[cross];
                let rotation =
                    |axis: Vector<f64>, angle: f64| RotationVector::new(axis.scale(angle)).matrix();
                let turned = rotation(first, position[before]) * rotation(second, position[at]);
                let turned = turned * turn;
                let (along, across) = (turned * second, turned.transpose() * first);
                position[before] = first.dot(second.cross(along)).atan2(second.dot(along));
                position[at] = (-second.dot(first.cross(across))).atan2(first.dot(across));
            }
            (JointKind::Spherical, _) => {
                let q = &position[at..at + 4];
                let turned = Quaternion([q[0], q[1], q[2], q[3]]).matrix() * turn;
                position[at..at + 4].copy_from_slice(&Quaternion::of_matrix(&turned).0);
            }
            _ => {}
        }
    }
    Ok(unfolded)
}

/// The sense in which half a turn leads nearer to zero.
fn nearer_zero(angle: f64) -> f64 {
    if angle > 0.0 { -1.0 } else { 1.0 }
}

/// A state with its loops closed: joints of which a position or rate is given keep it, prescribed ones too, the others
/// follow.
pub(crate) fn closed_state(
    model: &Model,
    state: State,
    given: &BTreeMap<String, f64>,
) -> Result<State, StateError> {
    if model.linkage.closures.is_empty() {
        return Ok(state);
    }
    let mut equations = Equations::new(model);
    let (position, velocity) = equations.unpacked(&state);
    let is_given = |at: usize| {
        let rate = &model.linkage.velocities[at].name;
        let axis = model.axis_at(at);
        let position = axis.map(|axis| axis.name.coordinate());
        given.contains_key(rate) || position.is_some_and(|name| given.contains_key(&name))
    };
    let velocities = 0..model.linkage.velocities.len();
    let targets = Targets {
        held: (velocities.filter(|&at| is_given(at)))
            .chain(model.linkage.prescribed.iter().copied())
            .collect(),
        position,
        velocity,
        branches: model.assembly.branches.clone(),
        ..Targets::default()
    };
    let closed = close(&model.linkage, &targets).map_err(|error| StateError::Unplaced {
        reason: error.to_string(),
    })?;
    let at = |entries: &[usize], of: &[f64]| -> Vec<f64> {
        entries.iter().map(|&entry| of[entry]).collect()
    };
    let mut position = at(&equations.free_positions, &closed.position);
    let mut velocity = at(&equations.free_velocities, &closed.velocity);
    position.extend_from_slice(&state.position[position.len()..]);
    velocity.extend_from_slice(&state.velocity[velocity.len()..]);
    Ok(State {
        position,
        velocity,
        ..state
    })
}
