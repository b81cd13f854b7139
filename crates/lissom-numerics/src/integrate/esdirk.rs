//! Diagonally implicit Runge–Kutta method of order 5(4) with an explicit first stage.
//!
//! Source: Kennedy & Carpenter (2019), ESDIRK5(4)7L\[2\]SA2. With $`k_1 = f(t, y)`$ every other stage solves
//!
//! ```math
//! k_i = f(t + c_i h,\; b_i + \gamma h\,k_i) , \qquad b_i = y + h \sum_{j<i} a_{ij} k_j ,
//! ```
//!
//! one after the other, all with the same $`\gamma = 0.184`$. The last stage is the end of the step (the method is stiffly
//! accurate), and its $`k`$ opens the next step. Fast modes are damped out (the method is L-stable), and the difference to the embedded
//! method of order 4 stays bounded for them, so that it needs no filter.
//!
//! A system that [solves for its stages itself](super::FirstOrder::improve_stage) is iterated by its own means, at a cost per iteration near that
//! of an evaluation; for others Newton's method takes a Jacobian by differences, kept while it serves. Either iteration may leave
//! parts of the Jacobian out, so that its contraction is watched: it says when a stage is solved, and bounds the step where
//! it would become too slow.
//!
//! The error of a step falls as $`h^5`$ in the estimate and in the global error alike, which therefore follows the tolerance. An error
//! of a velocity goes on to displace its position as long as nothing pulls back, over as many steps as there are: a share of the
//! tolerance is left for that.
//!
//! Between the ends of a step, at $`t + \theta h`$, the solution is the cubic through the states and derivatives at both, and what makes it one of order 4:
//!
//! ```math
//! \theta^2 (1 - \theta)^2\, h \sum_i e_i k_i .
//! ```

mod newton;

use super::driver::Stepper;
use super::equations::{FirstOrderEquations, NonFiniteComponent};
use super::esdirk_coefficients::{COEFFICIENTS, DIAGONAL, ERROR, MIDDLE, NODES, STAGES};
use super::lu::Lu;
use super::memory::{ErrorTrend, EsdirkMemory, LastStep};
use super::schedule::Piece;
use super::step_control::{Controller, Tolerance, first_step, fitted_step, smallest_step};
use super::{Control, FirstOrder, IntegrateError, Projection};

/// Share of the tolerance that the estimated error of one step may take.
const TOLERANCE_SHARE: f64 = 0.3;
/// Weight of the previous error in the control of the step.
const STABILIZATION: f64 = 0.08;
const SHRINK_LIMIT: f64 = 0.2;
const GROWTH_LIMIT: f64 = 5.0;
/// Contraction of the stages that the next step is to have at most.
const CONTRACTION_WANTED: f64 = 0.3;
/// A Jacobian by differences is kept while stages contract at least this fast.
const CONTRACTION_TO_KEEP_JACOBIAN: f64 = 0.03;

/// Why an attempt was given up.
#[derive(Clone, Copy)]
enum Unsolved {
    /// The iteration of a stage does not converge.
    Slow,
    NonFinite(NonFiniteComponent),
}

impl From<NonFiniteComponent> for Unsolved {
    fn from(component: NonFiniteComponent) -> Self {
        Self::NonFinite(component)
    }
}

/// The method: settings, memory and workspace.
#[derive(Clone, Debug)]
pub(super) struct Esdirk {
    tolerance: Tolerance,
    initial_step: Option<f64>,
    max_step: Option<f64>,
    controller: Controller,
    memory: EsdirkMemory,
    /// Factors of $`1 - \gamma h J`$ for the memory's Jacobian and factored step; absent where the system solves for its stages itself.
    factors: Option<Lu<f64>>,
    /// Slowest contraction in the last attempt; zero before one was measured.
    slowest: f64,
    /// $`k`$ of the attempt.
    stages: [Vec<f64>; STAGES],
    /// $`b_i`$ of the stage at hand.
    base: Vec<f64>,
    /// By how much the error of a component may exceed its tolerance.
    allowance: Vec<f64>,
    trial_state: Vec<f64>,
    trial_rate: Vec<f64>,
}

impl Esdirk {
    pub(super) fn new(control: &Control, time: f64, state: &[f64]) -> Self {
        let zeros = vec![0.0; state.len()];
        let memory = EsdirkMemory {
            time,
            state: state.to_vec(),
            opening: zeros.clone(),
            proposed: 0.0,
            trend: ErrorTrend::NONE,
            last_step: LastStep::none(&zeros),
            stages: vec![zeros; STAGES],
            jacobian: Vec::new(),
            jacobian_wanted: true,
            jacobian_fresh: false,
            factored_step: None,
            worst: 0,
        };
        Self::with(control, memory)
    }

    /// The method as it was when `memory` was taken, which fits itself.
    pub(super) fn resume(control: &Control, memory: EsdirkMemory) -> Self {
        let mut method = Self::with(control, memory);
        if let Some(step) = method.memory.factored_step {
            // a matrix that could be factored before can be factored again; another was not for use
            let _ = method.factor(step);
        }
        method
    }

    fn with(control: &Control, memory: EsdirkMemory) -> Self {
        let zeros = vec![0.0; memory.state.len()];
        Self {
            tolerance: Tolerance::of(control).times(TOLERANCE_SHARE),
            initial_step: control.initial_step,
            max_step: control.max_step,
            controller: Controller::new(5, STABILIZATION, SHRINK_LIMIT, GROWTH_LIMIT),
            memory,
            factors: None,
            slowest: 0.0,
            stages: std::array::from_fn(|_| zeros.clone()),
            base: zeros.clone(),
            allowance: vec![1.0; zeros.len()],
            trial_state: zeros.clone(),
            trial_rate: zeros,
        }
    }

    pub(super) fn memory(&self) -> &EsdirkMemory {
        &self.memory
    }

    /// Goes on from the state of another method, with the derivative there and a step to begin with.
    pub(super) fn take_over(&mut self, opening: &[f64], step: f64) {
        self.memory.opening.copy_from_slice(opening);
        self.memory.proposed = step;
    }

    /// Tries a step: leaves the derivatives of its stages and the state at its end in place and returns the scaled error.
    fn attempt(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        step: f64,
    ) -> Result<f64, Unsolved> {
        let solves_itself = self.prepare_stages(equations, step)?;
        self.slowest = 0.0;
        self.stages[0].copy_from_slice(&self.memory.opening);
        for stage in 1..STAGES {
            self.guess_stage(stage, step);
            self.combine_base(stage, step);
            self.solve_stage(equations, stage, step, solves_itself)?;
        }
        let closing = &self.stages[STAGES - 1];
        for i in 0..self.base.len() {
            self.trial_state[i] = self.base[i] + DIAGONAL * step * closing[i];
        }
        Ok(self.error(step))
    }

    fn combine_base(&mut self, stage: usize, step: f64) {
        for i in 0..self.base.len() {
            let mut sum = 0.0;
            for (rates, coefficient) in self.stages.iter().zip(&COEFFICIENTS[stage][..stage]) {
                sum += coefficient * rates[i];
            }
            self.base[i] = self.memory.state[i] + step * sum;
        }
    }

    fn error(&mut self, step: f64) -> f64 {
        for i in 0..self.base.len() {
            let mut sum = 0.0;
            for (rates, weight) in self.stages.iter().zip(&ERROR) {
                sum += weight * rates[i];
            }
            self.trial_rate[i] = step * sum / self.allowance[i];
        }
        let (error, worst) = self.tolerance.norm(&self.trial_rate, &self.memory.state);
        self.memory.worst = worst;
        // `max` would take a NaN for zero
        if error.is_nan() {
            f64::INFINITY
        } else {
            error.max(1e-10)
        }
    }

    fn accept(&mut self, step: f64, end: f64) {
        let memory = &mut self.memory;
        memory.last_step.start = memory.time;
        memory.last_step.length = step;
        memory.time = end;
        std::mem::swap(&mut memory.last_step.state, &mut memory.state);
        memory.state.copy_from_slice(&self.trial_state);
        for (kept, rates) in memory.stages.iter_mut().zip(&mut self.stages) {
            std::mem::swap(kept, rates);
        }
        memory.opening.copy_from_slice(&memory.stages[STAGES - 1]);
        memory.jacobian_fresh = false;
        memory.jacobian_wanted = self.slowest > CONTRACTION_TO_KEEP_JACOBIAN;
    }

    /// The step whose stages will contract as wanted: they do so the better the shorter it is.
    fn step_by_contraction(&self, step: f64) -> f64 {
        step * (CONTRACTION_WANTED / self.slowest).max(SHRINK_LIMIT)
    }
}

impl<'s> Stepper<dyn FirstOrder + 's> for Esdirk {
    fn start(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        let memory = &mut self.memory;
        memory.time = piece.start;
        equations.handle_event(piece.start, &mut memory.state);
        equations.statistics.highest_order = 5;
        memory.trend = ErrorTrend::NONE;
        memory.last_step.length = 0.0;
        memory.jacobian_wanted = true;
        memory.jacobian_fresh = false;
        equations.opening(memory.time, &memory.state, &mut memory.opening)?;
        memory.proposed = match self.initial_step {
            Some(step) => step,
            None => first_step(
                equations,
                &self.tolerance,
                5,
                piece,
                &memory.state,
                &memory.opening,
                [&mut self.trial_state, &mut self.trial_rate],
            ),
        };
        Ok(())
    }

    fn step(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        loop {
            let time = self.memory.time;
            equations.allow_attempt(time, self.memory.worst)?;
            let fitted = fitted_step(self.memory.proposed, time, piece, self.max_step);
            let step = fitted.length;
            let attempt = self.attempt(equations, step);
            let renewable = self.can_renew_jacobian();
            let trend = &mut self.memory.trend;
            match attempt {
                Ok(error) if error <= 1.0 => {
                    let by_error = self.controller.accepted(trend, error, fitted);
                    self.memory.proposed = by_error.min(self.step_by_contraction(step));
                    let end = if fitted.last { piece.end } else { time + step };
                    self.accept(step, end);
                    equations.statistics.steps += 1;
                    return Ok(());
                }
                Ok(error) => {
                    self.memory.proposed = step * self.controller.rejected(trend, error);
                }
                // what a new Jacobian can mend needs no shorter step
                Err(Unsolved::Slow) if renewable => {
                    self.memory.proposed = step;
                }
                Err(_) => self.memory.proposed = step * Controller::failed(trend),
            }
            self.memory.jacobian_wanted = !self.memory.jacobian_fresh;
            equations.statistics.rejected += 1;
            if self.memory.proposed < smallest_step(time, piece) {
                return Err(match attempt {
                    Err(Unsolved::NonFinite(component)) => equations.non_finite(time, component),
                    _ => equations.step_too_small(time, self.memory.worst),
                });
            }
        }
    }

    fn project(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
    ) -> Result<Projection, IntegrateError> {
        let memory = &mut self.memory;
        equations.project_opening(memory.time, &mut memory.state, &mut memory.opening)
    }

    fn interpolate(
        &mut self,
        _equations: &mut FirstOrderEquations<'_, 's>,
        time: f64,
        state: &mut [f64],
    ) -> Result<(), IntegrateError> {
        let memory = &self.memory;
        let (start, step) = (&memory.last_step.state, memory.last_step.length);
        let theta = (time - memory.last_step.start) / step;
        let rest = 1.0 - theta;
        for (i, value) in state.iter_mut().enumerate() {
            let change = memory.state[i] - start[i];
            let opening = step * memory.stages[0][i] - change;
            let closing = change - step * memory.stages[STAGES - 1][i];
            let mut middle = 0.0;
            for (rates, weight) in memory.stages.iter().zip(&MIDDLE) {
                middle += weight * rates[i];
            }
            let inner = rest * opening + theta * closing + theta * rest * step * middle;
            *value = start[i] + theta * (change + rest * inner);
        }
        Ok(())
    }

    fn place(&mut self, time: f64, state: &[f64]) {
        self.memory.time = time;
        self.memory.state.copy_from_slice(state);
    }

    fn time(&self) -> f64 {
        self.memory.time
    }

    fn state(&self) -> &[f64] {
        &self.memory.state
    }
}
