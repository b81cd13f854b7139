//! A first-order system with its cost counted and its times held back from the next breakpoint.

use super::driver::Piece;
use super::{Control, FirstOrder, IntegrateError, Projection, Statistics};

/// Index of the first component of a derivative that is not finite.
#[derive(Clone, Copy, Debug)]
pub(super) struct NonFiniteComponent(pub(super) usize);

/// The system as the steppers see it.
pub(super) struct Equations<'a> {
    system: &'a mut dyn FirstOrder,
    ceiling: f64,
    max_steps: u64,
    pub(super) statistics: Statistics,
}

impl<'a> Equations<'a> {
    pub(super) fn new(system: &'a mut dyn FirstOrder, control: &Control, start: f64) -> Self {
        Self {
            system,
            ceiling: start,
            max_steps: control.max_steps,
            statistics: Statistics::default(),
        }
    }

    pub(super) fn handle_event(&mut self, piece: &Piece, state: &mut [f64]) {
        self.ceiling = piece.ceiling;
        self.system
            .handle_event(piece.start.min(self.ceiling), state);
    }

    pub(super) fn event_function(&mut self, time: f64, state: &[f64]) -> f64 {
        self.system.event_function(time.min(self.ceiling), state)
    }

    pub(super) fn derivative(
        &mut self,
        time: f64,
        state: &[f64],
        rate: &mut [f64],
    ) -> Result<(), NonFiniteComponent> {
        self.statistics.evaluations += 1;
        self.system.derivative(time.min(self.ceiling), state, rate);
        match rate.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(component) => Err(NonFiniteComponent(component)),
        }
    }

    /// Projects a state; tells whether its derivative must be evaluated again.
    pub(super) fn project(&mut self, time: f64, state: &mut [f64]) -> Projection {
        self.system.project(time.min(self.ceiling), state)
    }

    /// Refuses another attempt at a step once the allowance is used up.
    pub(super) fn allow_attempt(&self, time: f64, component: usize) -> Result<(), IntegrateError> {
        if self.statistics.steps + self.statistics.rejected < self.max_steps {
            return Ok(());
        }
        Err(IntegrateError::TooManySteps {
            time,
            component,
            limit: self.max_steps,
            statistics: self.statistics,
        })
    }

    pub(super) fn non_finite(
        &self,
        time: f64,
        NonFiniteComponent(component): NonFiniteComponent,
    ) -> IntegrateError {
        IntegrateError::NonFinite {
            time,
            component,
            statistics: self.statistics,
        }
    }

    pub(super) fn step_too_small(&self, time: f64, component: usize) -> IntegrateError {
        IntegrateError::StepTooSmall {
            time,
            component,
            statistics: self.statistics,
        }
    }
}
