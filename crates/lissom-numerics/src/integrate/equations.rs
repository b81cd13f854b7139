//! A system during one call: its cost counted, its times held back from the next breakpoint.

use super::{FirstOrder, IntegrateError, Projection, SecondOrder, Statistics};

/// Index of the first component of a derivative or residual that is not finite.
#[derive(Clone, Copy, Debug)]
pub(super) struct NonFiniteComponent(pub(super) usize);

/// What is asked alike of systems of first and of second order.
pub(super) trait System {
    /// Positive beyond a state event.
    fn event_function(&mut self, time: f64, state: &[f64]) -> f64;

    /// Whether the event function may have been positive within the step of this length that ends at a state.
    fn may_have_passed(&mut self, time: f64, state: &[f64], step: f64) -> bool;

    /// In which coordinates the state is given.
    fn chart(&self) -> &[usize];
}

impl System for dyn FirstOrder + '_ {
    fn event_function(&mut self, time: f64, state: &[f64]) -> f64 {
        FirstOrder::event_function(self, time, state)
    }

    fn may_have_passed(&mut self, time: f64, state: &[f64], step: f64) -> bool {
        FirstOrder::may_have_passed(self, time, state, step)
    }

    fn chart(&self) -> &[usize] {
        FirstOrder::chart(self)
    }
}

impl System for dyn SecondOrder + '_ {
    fn event_function(&mut self, time: f64, state: &[f64]) -> f64 {
        let (position, motion) = state.split_at(self.position_count());
        let velocity = &motion[..self.velocity_count()];
        SecondOrder::event_function(self, time, position, velocity)
    }

    fn may_have_passed(&mut self, time: f64, state: &[f64], step: f64) -> bool {
        let (position, motion) = state.split_at(self.position_count());
        let motion = [position, &motion[..self.velocity_count()]];
        SecondOrder::may_have_passed(self, time, motion, step)
    }

    fn chart(&self) -> &[usize] {
        SecondOrder::chart(self)
    }
}

/// The system as the steppers see it.
pub(super) struct Equations<'a, S: ?Sized> {
    pub(super) system: &'a mut S,
    /// Latest time handed to the system.
    pub(super) ceiling: f64,
    /// Attempts at steps allowed in this call.
    max_steps: u64,
    pub(super) allowance: Allowance,
    pub(super) statistics: Statistics,
}

/// What is left of the attempts that a call may make. A call that goes on where an observer stopped the one before takes it over, so
/// that a run is the same whether or not somebody looks in on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// Number of the last attempt, those of earlier calls included.
    last_attempt: u64,
    pace: Pace,
}

/// How fast the integration gets on: near a singular solution rounding makes every stretch shorter than the one before,
/// and the step may never become too small.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// Attempts and time when the stretch began.
    attempts: u64,
    time: f64,
    /// How far the stretch before it came, and how many in a row were shorter than the one before.
    advanced: f64,
    slower: u32,
}

impl Pace {
    /// Attempts in a stretch.
    const STRETCH: u64 = 2000;
    /// Stretches in a row that tell creeping from a transient, which ends.
    const CREEPING: u32 = 4;
    /// By how much each of them is shorter.
    const SHORTER: f64 = 0.95;

    /// Notes an attempt that begins at a time; tells whether the rest until `end` would take more than so many at a pace that only
    /// falls.
    fn creeps(&mut self, attempts: u64, time: f64, end: f64, most: u64) -> bool {
        let made = attempts.saturating_sub(self.attempts);
        if made < Self::STRETCH {
            return false;
        }
        let advanced = time - self.time;
        let slower = advanced < Self::SHORTER * self.advanced;
        *self = Self {
            attempts,
            time,
            advanced,
            slower: if slower { self.slower + 1 } else { 0 },
        };
        let needed = (end - time) / advanced * made as f64;
        self.slower >= Self::CREEPING && end.is_finite() && needed > most as f64
    }
}

pub(super) type FirstOrderEquations<'a, 's> = Equations<'a, dyn FirstOrder + 's>;
pub(super) type SecondOrderEquations<'a, 's> = Equations<'a, dyn SecondOrder + 's>;

impl<'a, S: ?Sized> Equations<'a, S> {
    /// `left` is what a call that was stopped has left of its attempts.
    pub(super) fn new(
        system: &'a mut S,
        max_steps: u64,
        statistics: Statistics,
        left: Option<Allowance>,
    ) -> Self {
        let attempts = statistics.steps + statistics.rejected;
        let whole = Allowance {
            last_attempt: attempts.saturating_add(max_steps),
            pace: Pace {
                attempts,
                time: f64::NEG_INFINITY,
                ..Pace::default()
            },
        };
        Self {
            system,
            ceiling: f64::INFINITY,
            max_steps,
            allowance: left.unwrap_or(whole),
            statistics,
        }
    }

    /// Refuses another attempt at a step once the allowance is used up, or where it will not do by far.
    pub(super) fn allow_attempt(
        &mut self,
        time: f64,
        component: usize,
    ) -> Result<(), IntegrateError> {
        let attempts = self.statistics.steps + self.statistics.rejected;
        let most = self.max_steps.saturating_mul(10);
        let pace = &mut self.allowance.pace;
        if pace.creeps(attempts, time, self.ceiling, most) {
            return Err(self.step_too_small(time, component));
        }
        if attempts < self.allowance.last_attempt {
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

impl<S: System + ?Sized> Equations<'_, S> {
    pub(super) fn event_function(&mut self, time: f64, state: &[f64]) -> f64 {
        self.system.event_function(time.min(self.ceiling), state)
    }

    pub(super) fn may_have_passed(&mut self, time: f64, state: &[f64], step: f64) -> bool {
        (self.system).may_have_passed(time.min(self.ceiling), state, step)
    }

    pub(super) fn chart(&self) -> &[usize] {
        self.system.chart()
    }
}

impl FirstOrderEquations<'_, '_> {
    pub(super) fn handle_event(&mut self, time: f64, state: &mut [f64]) {
        self.system.handle_event(time.min(self.ceiling), state);
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

    /// The derivative that opens a step, without which there is none.
    pub(super) fn opening(
        &mut self,
        time: f64,
        state: &[f64],
        rate: &mut [f64],
    ) -> Result<(), IntegrateError> {
        self.derivative(time, state, rate)
            .map_err(|component| self.non_finite(time, component))
    }

    pub(super) fn project(&mut self, time: f64, state: &mut [f64]) -> Projection {
        self.system.project(time.min(self.ceiling), state)
    }

    /// Projects a state and, where that has moved it, evaluates the derivative that opens the next step anew.
    pub(super) fn project_opening(
        &mut self,
        time: f64,
        state: &mut [f64],
        opening: &mut [f64],
    ) -> Result<Projection, IntegrateError> {
        let projection = self.project(time, state);
        if projection == Projection::Moved {
            self.opening(time, state, opening)?;
        }
        Ok(projection)
    }

    /// Prepares the stages of a step, if the system has an iteration of its own for them.
    pub(super) fn prepare_stages(
        &mut self,
        time: f64,
        state: &[f64],
        rate: &[f64],
        share: f64,
        allowance: &mut [f64],
    ) -> bool {
        let time = time.min(self.ceiling);
        self.system
            .prepare_stages(time, state, rate, share, allowance)
    }

    /// One iteration of the system's own at a stage.
    pub(super) fn improve_stage(
        &mut self,
        time: f64,
        base: &[f64],
        share: f64,
        rate: &mut [f64],
    ) -> Result<(), NonFiniteComponent> {
        self.statistics.evaluations += 1;
        let time = time.min(self.ceiling);
        self.system.improve_stage(time, base, share, rate);
        all_finite(rate)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// By construction: a time that comes ever less far towards a limit, one that only makes a pause, and one that is slow.
    #[test]
    fn creeping_is_told_from_slowness() {
        let creeps = |time: &dyn Fn(f64) -> f64| {
            let mut pace = Pace {
                time: f64::NEG_INFINITY,
                ..Pace::default()
            };
            (0..100_000).any(|n| pace.creeps(n, time(n as f64), 1.0, 1_000_000_000))
        };
        assert!(creeps(&|n| 0.1 - 0.01 / (1.0 + n).sqrt()));
        assert!(!creeps(&|n| 1e-9 * n));
        assert!(!creeps(&|n| 1e-9 * n + 1e-15 * n * n));
    }
}
