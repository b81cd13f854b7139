//! The start of a run: prescribed joints stand where their motions begin, and loops are closed.

use super::equations::Equations;
use crate::evaluate::{self, Configuration};
use crate::model::{AxisPlace, Model, StartChange};
use lissom_core::{Limit, LimitedQuantity, MotionCurve, State, StateError, rotation_matrix};
use lissom_numerics::Coordinate;
use lissom_spatial::{Motion, Quaternion, Vector};
use lissom_spec::nearest;
use lissom_tree::closure::{
    AssemblyError, CoordinateLimit, MarkerTarget, Targets, assemble, close,
};
use lissom_tree::tree::{Kinematics, marker_motion, node_rotation};
use lissom_tree::{Body, CoordinateKind, JointKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// Puts prescribed joints where their motions have them at the time `start_s`, and closes the loops of a model there.
///
/// # Errors
/// What stays open.
pub fn close_loops(model: &mut Model, start_s: f64) -> Result<(), AssemblyError> {
    for motion in &model.motions {
        let point = MotionCurve::new(&motion.profile, motion.initial).at(start_s);
        model.initial_position[motion.position] = point.position;
        model.initial_velocity[motion.velocity] = point.rate;
    }
    if !model.linkage.closures.is_empty() {
        assemble_loops(model)?;
    }
    for gear in &mut model.transmissions {
        gear.initial_position = model.initial_position[gear.position];
        gear.initial_rate = model.initial_velocity[gear.velocity];
    }
    Ok(())
}

fn assemble_loops(model: &mut Model) -> Result<(), AssemblyError> {
    let written = [
        model.initial_position.clone(),
        model.initial_velocity.clone(),
    ];
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
    model.start_changes = start_changes(model, &written);
    Ok(())
}

/// What closing the loops has changed of the positions and velocities that the file writes. What it leaves at zero is taken as
/// not written, and what is changed by less than its digits tell is not worth telling.
fn start_changes(model: &Model, [positions, velocities]: &[Vec<f64>; 2]) -> Vec<StartChange> {
    /// Part of a number that four digits leave open, and less than anybody writes, in radians or metres.
    const NOTICEABLE: (f64, f64) = (1e-3, 1e-9);
    let linkage = &model.linkage;
    let positions = (linkage.positions.iter()).zip(positions.iter().zip(&model.initial_position));
    let velocities =
        (linkage.velocities.iter()).zip(velocities.iter().zip(&model.initial_velocity));
    (positions.chain(velocities))
        .filter(|(coordinate, (written, closed))| {
            let change = (*closed - *written).abs();
            coordinate.kind != CoordinateKind::Quaternion
                && **written != 0.0
                && change > NOTICEABLE.0 * written.abs() + NOTICEABLE.1
        })
        .map(|(coordinate, (&written, &closed))| StartChange {
            coordinate: coordinate.name.clone(),
            unit: coordinate.unit,
            written,
            closed,
        })
        .collect()
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
                let rotation = |axis: Vector<f64>, angle: f64| rotation_matrix(axis.scale(angle));
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

/// Has the orientation of an exact tip that is not given follow the deformation of its beam, as where a model starts. `layout` names the
/// entries of the state.
pub(crate) fn follow_given(
    model: &Model,
    layout: &[Coordinate],
    state: &mut State,
    is_given: &dyn Fn(&str) -> bool,
) {
    let positions = &layout[..state.position.len()];
    let named = |name: &str| (positions.iter()).position(|coordinate| coordinate.name == name);
    let names = &model.linkage.positions;
    let system = &model.linkage.system;
    let bodies = system.layout();
    for (k, body) in system.bodies().iter().enumerate() {
        let (Some(at), Some(carrier)) = (bodies.orientation[k], body.parent) else {
            continue;
        };
        let elastic = bodies.elastic_position[carrier]..;
        let elastic = &names[elastic][..system.bodies()[carrier].modes()];
        let is_bent = elastic.iter().any(|mode| is_given(&mode.name));
        let is_told = names[at..at + 4].iter().any(|part| is_given(&part.name));
        if !is_bent || is_told {
            continue;
        }
        let value = |mode: &Coordinate| named(&mode.name).map_or(0.0, |at| state.position[at]);
        let deformation: Vec<f64> = elastic.iter().map(value).collect();
        if let (Some(first), Some(turned)) = (
            named(&names[at].name),
            node_rotation(system, k, |_| &deformation),
        ) {
            let quaternion = Quaternion::of_rotation_vector(turned);
            state.position[first..first + 4].copy_from_slice(&quaternion.0);
        }
    }
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
    let linkage = &model.linkage;
    let is_given = |coordinate: &Coordinate| given.contains_key(&coordinate.name);
    let mut is_held: Vec<bool> = linkage.velocities.iter().map(is_given).collect();
    let layout = linkage.system.layout();
    for (k, body) in linkage.system.bodies().iter().enumerate() {
        let (at, first) = (layout.joint_position[k], layout.joint_velocity[k]);
        let mut hold = |positions: Range<usize>, velocities: Range<usize>| {
            if linkage.positions[positions].iter().any(is_given) {
                is_held[velocities].fill(true);
            }
        };
        let kind = &body.joint.kind;
        if *kind == JointKind::Free {
            // positions are the offset and a quaternion, velocities the angular velocity and the velocity
            hold(at..at + 3, first + 3..first + 6);
            hold(at + 3..at + 7, first..first + 3);
        } else {
            hold(at..at + kind.positions(), first..first + kind.velocities());
        }
    }
    let held = (0..is_held.len()).filter(|&at| is_held[at]).collect();
    Ok(near(model, state, held, Vec::new(), Vec::new())?.state)
}

/// The configuration nearest to a state at which loops are closed and targets are met.
pub(crate) fn configured(
    model: &Model,
    state: State,
    targets: &evaluate::Targets,
) -> Result<Configuration, StateError> {
    let system = &model.linkage.system;
    let mut held = Vec::new();
    for name in &targets.held {
        let of_joint = (system.bodies().iter().enumerate())
            .filter(|(_, body)| body.joint.name == *name)
            .flat_map(|(k, body)| {
                let first = system.layout().joint_velocity[k];
                first..first + body.joint.kind.velocities()
            });
        let before = held.len();
        held.extend(of_joint);
        if held.len() == before {
            let joints = system.bodies().iter().map(|body| body.joint.name.as_str());
            return Err(unknown(name, joints));
        }
    }
    let marker = |target: &evaluate::MarkerTarget| {
        let mut markers = model.linkage.markers.iter();
        let found = markers.position(|marker| marker.name == target.marker);
        let names = model.linkage.markers.iter().map(|marker| &*marker.name);
        Ok(MarkerTarget {
            marker: found.ok_or_else(|| unknown(&target.marker, names))?,
            component: target.component,
            position: target.position,
            rate: target.rate,
        })
    };
    let markers: Result<Vec<_>, StateError> = targets.markers.iter().map(marker).collect();
    let markers = markers?;
    let limits = if markers.is_empty() {
        Vec::new()
    } else {
        limits(model)
    };
    near(model, state, held, markers, limits)
}

/// What angles and displacements of joints have to stay within.
fn limits(model: &Model) -> Vec<CoordinateLimit> {
    let of = |limit: &Limit| {
        let LimitedQuantity::Position(axis) = limit.quantity else {
            return None;
        };
        match model.places.axes[axis.0].place {
            AxisPlace::Joint {
                position, velocity, ..
            } => Some(CoordinateLimit {
                position,
                velocity,
                min: limit.min,
                max: limit.max,
            }),
            AxisPlace::Motor(_) => None,
        }
    };
    model.actions.limits.iter().filter_map(of).collect()
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> StateError {
    StateError::Unknown {
        name: name.to_owned(),
        nearest: nearest(name, known).map(str::to_owned),
    }
}

/// The closed configuration nearest to a state, in which entries of the velocity vector are held and markers are where
/// they should be. What is prescribed and motors stay.
fn near(
    model: &Model,
    state: State,
    held: Vec<usize>,
    markers: Vec<MarkerTarget>,
    limits: Vec<CoordinateLimit>,
) -> Result<Configuration, StateError> {
    let mut equations = Equations::new(model);
    let (position, velocity) = equations.unpacked(&state);
    let prescribed = model.linkage.prescribed.iter().copied();
    let targets = Targets {
        held: held.into_iter().chain(prescribed).collect(),
        markers,
        position,
        velocity,
        branches: model.assembly.branches.clone(),
        limits,
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
    Ok(Configuration {
        state: State {
            position,
            velocity,
            ..state
        },
        violation: closed.violation,
    })
}
