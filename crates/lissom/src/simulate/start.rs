//! The start of a run: prescribed joints stand where their motions begin, and loops are closed.

use crate::model::Model;
use lissom_core::MotionCurve;
use lissom_tree::closure::{AssemblyError, assemble};

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
