//! A system during one call: its cost counted, its times held back from the next breakpoint.

use super::{FirstOrder, IntegrateError, Projection, SecondOrder, Statistics};

/// Index of the first component of a derivative or residual that is not finite.
#[derive(Clone, Copy, Debug)]
pub(super) struct NonFiniteComponent(pub(super) usize);

/// The system as the steppers see it.
pub(super) struct Equations<'a, S: ?Sized> {
    pub(super) system: &'a mut S,
    /// Latest time handed to the system.
    pub(super) ceiling: f64,
    /// Attempts at steps allowed in this call, and number of attempts, earlier ones included, that this amounts to.
    max_steps: u64,
    last_attempt: u64,
    pub(super) statistics: Statistics,
}

pub(super) type FirstOrderEquations<'a, 's> = Equations<'a, dyn FirstOrder + 's>;
pub(super) type SecondOrderEquations<'a, 's> = Equations<'a, dyn SecondOrder + 's>;

impl<'a, S: ?Sized> Equations<'a, S> {
    pub(super) fn new(system: &'a mut S, max_steps: u64, statistics: Statistics) -> Self {
        let attempts = statistics.steps + statistics.rejected;
        Self {
            system,
            ceiling: f64::INFINITY,
            max_steps,
            last_attempt: attempts.saturating_add(max_steps),
            statistics,
        }
    }

    /// Refuses another attempt at a step once the allowance is used up.
    pub(super) fn allow_attempt(&self, time: f64, component: usize) -> Result<(), IntegrateError> {
        if self.statistics.steps + self.statistics.rejected < self.last_attempt {
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

impl FirstOrderEquations<'_, '_> {
    pub(super) fn handle_event(&mut self, time: f64, state: &mut [f64]) {
        self.system.handle_event(time.min(self.ceiling), state);
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
        all_finite(rate)
    }

    pub(super) fn project(&mut self, time: f64, state: &mut [f64]) -> Projection {
        self.system.project(time.min(self.ceiling), state)
    }
}

impl SecondOrderEquations<'_, '_> {
    /// Writes the residual at a time that may lie on a breakpoint, where a piece begins.
    pub(super) fn residual_at(
        &mut self,
        time: f64,
        [position, velocity, acceleration]: [&[f64]; 3],
        residual: &mut [f64],
    ) -> Result<(), NonFiniteComponent> {
        self.statistics.evaluations += 1;
        self.system
            .residual(time, position, velocity, acceleration, residual);
        all_finite(residual)
    }

    pub(super) fn residual(
        &mut self,
        time: f64,
        motion: [&[f64]; 3],
        residual: &mut [f64],
    ) -> Result<(), NonFiniteComponent> {
        self.residual_at(time.min(self.ceiling), motion, residual)
    }
}

fn all_finite(values: &[f64]) -> Result<(), NonFiniteComponent> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(component) => Err(NonFiniteComponent(component)),
    }
}
