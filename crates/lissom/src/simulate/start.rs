//! The start of a run: prescribed joints stand where their motions begin, and loops are closed.

use super::equations::Equations;
use crate::model::Model;
use lissom_core::MotionCurve;
use std::collections::BTreeMap;

use lissom_core::{State, StateError};
use lissom_tree::closure::{AssemblyError, Targets, assemble, close};

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
    assemble(
        &mut model.linkage,
        &model.assembly,
        &mut model.initial_position,
        &mut model.initial_velocity,
    )?;
    for gear in &mut model.transmissions {
        gear.initial_position = model.initial_position[gear.position];
        gear.initial_rate = model.initial_velocity[gear.velocity];
    }
    Ok(())
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
