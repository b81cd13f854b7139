//! Supports that pass a node of their beam, or its end.
//!
//! The curvature of finite elements jumps at a node, and with it the acceleration of a support that passes there. So that no
//! step of an integrator sees the jump, the equations of a support are those of the element it was on when it
//! [entered](Loops::enter), continued beyond the node, until the instant of its passage has been found.

use super::Loops;
use crate::closure::error::Trouble;
use crate::closure::sliding::AT_THE_BREAK;
use crate::model::Model;

impl Loops {
    /// From a state on, every support sees the functions of the stretch of its beam that it is on, until this is called
    /// again.
    pub fn enter(&mut self, model: &Model, position: &[f64], velocity: &[f64]) {
        if self.constraints.slides() {
            self.place(model, position, velocity);
            self.constraints.enter(&model.system);
        }
    }

    /// How far a support is beyond the stretch of its beam that it [entered](Self::enter); not positive as long as none
    /// is. The state is brought onto the closures. Allocates nothing.
    pub fn overrun(&mut self, model: &Model, position: &mut [f64], velocity: &mut [f64]) -> f64 {
        if !self.constraints.slides() {
            return f64::NEG_INFINITY;
        }
        if !self.settles() {
            self.place(model, position, velocity);
        } else if self.settle(model, position, velocity).is_err() {
            // what cannot be closed is reported by the projection of the step
            return f64::NEG_INFINITY;
        }
        self.constraints.overrun(&model.system)
    }

    /// The first support that is beyond an end of its beam.
    pub(super) fn off_beam(&self, model: &Model) -> Option<Trouble> {
        model.closures.iter().enumerate().find_map(|(i, closure)| {
            let place = self.constraints.place_along(i)?;
            let beam = &model.system.bodies()[closure.from.body?];
            let length = beam.flexible.as_ref()?.centreline.as_ref()?.length();
            ((-place).max(place - length) - AT_THE_BREAK * length > 0.0).then(|| {
                Trouble::LeftBeam {
                    support: closure.name.clone(),
                    beam: beam.name.clone(),
                    place,
                    length,
                }
            })
        })
    }
}
