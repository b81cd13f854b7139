//! Adams–Moulton with variable step and variable order, in Nordsieck form, by functional iteration.
//!
//! Source: Hindmarsh, *ODEPACK, a systematized collection of ODE solvers* (1983), LSODE with `MF = 10`;
//! Byrne & Hindmarsh, *ACM TOMS* 1 (1975). The solution near t is carried as scaled derivatives
//! $`z_j = h^j y^{(j)} / j!`$, j = 0 … q. A step predicts by Taylor expansion, $`z \leftarrow P z`$
//! with Pascal's triangle, then finds $`e = h f(t, z_0 + l_0 e) - z_1`$ and adds $`l_j e`$ to $`z_j`$.
//! Since $`e \approx h^{q+1} y^{(q+1)}`$, the local error at orders q − 1, q and q + 1 is
//!
//! ```math
//! \gamma_{q-1}\, q!\, z_q , \qquad \gamma_q\, e , \qquad \gamma_{q+1}\, (e - e_{\text{previous}}) ,
//! ```
//!
//! and the order that allows the longest next step is taken.

use super::adams_coefficients::{AdamsCoefficients, HIGHEST_ORDER};
use super::driver::Stepper;
use super::equations::{FirstOrderEquations, NonFiniteComponent};
use super::memory::AdamsMemory;
use super::schedule::Piece;
use super::step_control::{FittedStep, Tolerance, first_step, fitted_step, smallest_step};
use super::{Control, FirstOrder, IntegrateError, Projection, Statistics};

/// Corrector iterations before the step is shortened.
const MOST_ITERATIONS: usize = 3;
/// Lengthening by less than this is not worth the change.
const LEAST_GROWTH: f64 = 1.1;
/// Largest lengthening after the first step, which is cautious; after others; after a failure.
const FIRST_GROWTH: f64 = 1e4;
const USUAL_GROWTH: f64 = 10.0;
const GROWTH_AFTER_FAILURE: f64 = 2.0;
/// These favour the present order and caution.
const SAME_ORDER_BIAS: f64 = 1.2;
const LOWER_ORDER_BIAS: f64 = 1.3;
const HIGHER_ORDER_BIAS: f64 = 1.4;
/// Error failures in one step after which the past is distrusted and the order falls to one.
const FAILURES_TO_RESTART: usize = 3;

/// Why a trial step was not even measured.
enum Unsolved {
    Diverged,
    NonFinite(NonFiniteComponent),
}

/// What an error test may choose for the next attempt.
struct Choice {
    order: usize,
    factor: f64,
}

/// The method: settings, memory and workspace.
#[derive(Clone, Debug)]
pub(super) struct Adams {
    tolerance: Tolerance,
    initial_step: Option<f64>,
    max_step: Option<f64>,
    coefficients: AdamsCoefficients,
    memory: AdamsMemory,
    /// $`z_0`$ before the step, which also sets the scale of errors.
    reference: Vec<f64>,
    /// $`e`$ of this step.
    correction: Vec<f64>,
    trial_state: Vec<f64>,
    trial_rate: Vec<f64>,
}

impl Adams {
    pub(super) fn new(control: &Control, time: f64, state: &[f64]) -> Self {
        let zeros = vec![0.0; state.len()];
        let mut nordsieck = vec![zeros.clone(); HIGHEST_ORDER + 1];
        nordsieck[0].copy_from_slice(state);
        Self::resume(
            control,
            AdamsMemory {
                time,
                step: 0.0,
                order: 1,
                nordsieck,
                previous_correction: zeros,
                patience: 0,
                largest_growth: FIRST_GROWTH,
                free_step: None,
                worst: 0,
            },
        )
    }

    /// The method as it was when `memory` was taken, which fits itself.
    pub(super) fn resume(control: &Control, memory: AdamsMemory) -> Self {
        let zeros = vec![0.0; memory.nordsieck[0].len()];
        Self {
            tolerance: Tolerance::of(control),
            initial_step: control.initial_step,
            max_step: control.max_step,
            coefficients: AdamsCoefficients::new(),
            memory,
            reference: zeros.clone(),
            correction: zeros.clone(),
            trial_state: zeros.clone(),
            trial_rate: zeros,
        }
    }

    pub(super) fn memory(&self) -> &AdamsMemory {
        &self.memory
    }

    /// Multiplies by Pascal's triangle: Taylor expansion over one step.
    fn predict(&mut self) {
        self.shift(1.0);
    }

    /// Undoes a prediction.
    fn retract(&mut self) {
        self.shift(-1.0);
        self.memory.nordsieck[0].copy_from_slice(&self.reference);
    }

    fn shift(&mut self, sign: f64) {
        for lowest in (0..self.memory.order).rev() {
            for j in lowest..self.memory.order {
                let (head, tail) = self.memory.nordsieck.split_at_mut(j + 1);
                for (value, &next) in head[j].iter_mut().zip(&tail[0]) {
                    *value += sign * next;
                }
            }
        }
    }

    /// Refers the scaled derivatives to a step `factor` times as long.
    fn rescale(&mut self, factor: f64) {
        let mut power = 1.0;
        for column in &mut self.memory.nordsieck[1..=self.memory.order] {
            power *= factor;
            for value in column {
                *value *= power;
            }
        }
        self.memory.step *= factor;
    }

    /// Iterates for the correction at the end of the predicted step; returns its scaled error.
    fn correct(&mut self, equations: &mut FirstOrderEquations<'_, '_>) -> Result<f64, Unsolved> {
        let gamma = self.coefficients.error[self.memory.order];
        let leading = self.coefficients.correction[self.memory.order][0];
        let threshold = 0.5 / (gamma * (self.memory.order + 2) as f64);
        self.correction.fill(0.0);
        self.trial_state.copy_from_slice(&self.memory.nordsieck[0]);
        let mut previous_change = 0.0;
        let mut convergence_rate = 0.7_f64;
        for iteration in 0..MOST_ITERATIONS {
            equations.statistics.iterations += 1;
            equations
                .derivative(
                    self.memory.time + self.memory.step,
                    &self.trial_state,
                    &mut self.trial_rate,
                )
                .map_err(Unsolved::NonFinite)?;
            for i in 0..self.trial_rate.len() {
                let correction =
                    self.memory.step * self.trial_rate[i] - self.memory.nordsieck[1][i];
                self.trial_rate[i] = correction - self.correction[i];
                self.correction[i] = correction;
                self.trial_state[i] = self.memory.nordsieck[0][i] + leading * correction;
            }
            let (change, worst) = self.tolerance.norm(&self.trial_rate, &self.reference);
            self.memory.worst = worst;
            if iteration > 0 {
                convergence_rate = (0.2 * convergence_rate).max(change / previous_change);
            }
            if change * (1.5 * convergence_rate).min(1.0) <= threshold {
                let (size, worst) = self.tolerance.norm(&self.correction, &self.reference);
                self.memory.worst = worst;
                return Ok(gamma * size);
            }
            if !change.is_finite() || (iteration > 0 && change > 2.0 * previous_change) {
                break;
            }
            previous_change = change;
        }
        Err(Unsolved::Diverged)
    }

    fn accept(&mut self, statistics: &mut Statistics, end: f64) {
        let weights = &self.coefficients.correction[self.memory.order];
        for (column, &weight) in self.memory.nordsieck[..=self.memory.order]
            .iter_mut()
            .zip(weights)
        {
            for (value, &correction) in column.iter_mut().zip(&self.correction) {
                *value += weight * correction;
            }
        }
        self.memory.time = end;
        statistics.steps += 1;
        statistics.highest_order = statistics.highest_order.max(self.memory.order as u64);
    }

    /// Factor by which the next step may differ at the present order and at the one below.
    fn choose_same_or_lower(&self, error: f64) -> Choice {
        let order = self.memory.order;
        let mut choice = Choice {
            order,
            factor: allowed_factor(error, order, SAME_ORDER_BIAS),
        };
        if order > 1 {
            let size = self
                .tolerance
                .norm(&self.memory.nordsieck[order], &self.reference)
                .0;
            let lower_error =
                self.coefficients.error[order - 1] * self.coefficients.factorial[order] * size;
            let factor = allowed_factor(lower_error, order - 1, LOWER_ORDER_BIAS);
            if factor > choice.factor {
                choice = Choice {
                    order: order - 1,
                    factor,
                };
            }
        }
        choice
    }

    /// Reconsiders step and order after an accepted step.
    fn adapt(&mut self, error: f64) {
        let order = self.memory.order;
        let mut choice = self.choose_same_or_lower(error);
        if order < HIGHEST_ORDER {
            for i in 0..self.trial_rate.len() {
                self.trial_rate[i] = self.correction[i] - self.memory.previous_correction[i];
            }
            let size = self.tolerance.norm(&self.trial_rate, &self.reference).0;
            let factor = allowed_factor(
                self.coefficients.error[order + 1] * size,
                order + 1,
                HIGHER_ORDER_BIAS,
            );
            if factor > choice.factor {
                choice = Choice {
                    order: order + 1,
                    factor,
                };
            }
        }
        let longest = self
            .max_step
            .map_or(f64::INFINITY, |max| max / self.memory.step);
        let factor = choice.factor.min(self.memory.largest_growth);
        self.memory.largest_growth = USUAL_GROWTH;
        if choice.factor < LEAST_GROWTH {
            self.memory.patience = 3;
            return;
        }
        if choice.order > order {
            let weight = self.coefficients.correction[order][order] / (order + 1) as f64;
            for (value, &correction) in self.memory.nordsieck[order + 1]
                .iter_mut()
                .zip(&self.correction)
            {
                *value = weight * correction;
            }
        }
        self.memory.order = choice.order;
        self.rescale(factor.min(longest));
        self.memory.patience = self.memory.order + 1;
    }

    /// The next step as it fits into the piece. Once steps are made to end at given instants, equal ones divide the way to
    /// the next: changes of the step are what this method bears least.
    fn fit(&self, piece: &Piece) -> FittedStep {
        let memory = &self.memory;
        let free_step = memory.free_step.unwrap_or(memory.step);
        let fitted = fitted_step(free_step, memory.time, piece, self.max_step);
        if memory.free_step.is_none() || fitted.last {
            return fitted;
        }
        let way = piece.end - memory.time;
        FittedStep {
            length: way / (way / (1.01 * fitted.wanted)).ceil(),
            ..fitted
        }
    }

    /// Refers the past to a step of this length.
    fn change_step(&mut self, step: f64) {
        let factor = step / self.memory.step;
        self.rescale(factor);
        self.memory.step = step;
        if self.memory.free_step.is_some() {
            // which is as h^(q+1) y^(q+1)
            let power = (0..=self.memory.order).fold(1.0, |power, _| power * factor);
            for value in &mut self.memory.previous_correction {
                *value *= power;
            }
        }
    }

    /// Moves on by so little that the past says all about it.
    fn shift_history(&mut self, statistics: &mut Statistics, step: f64, end: f64) {
        let length = self.memory.step;
        self.rescale(step / length);
        self.predict();
        self.rescale(length / step);
        self.memory.step = length;
        self.memory.time = end;
        statistics.steps += 1;
    }

    /// Reconsiders step and order behind an accepted step, when it is time to.
    fn plan_next(&mut self, step: FittedStep, error: f64) {
        let landing = step.last || self.memory.free_step.is_some();
        self.memory.patience -= 1;
        let free_step = if self.memory.patience == 0 {
            self.adapt(error);
            self.memory.step
        } else if step.last {
            // to stretch the past enlarges its errors too
            let factor = allowed_factor(error, self.memory.order, SAME_ORDER_BIAS);
            step.wanted.min(step.length * factor.max(1.0))
        } else {
            step.wanted
        };
        if self.memory.patience == 1 {
            (self.memory.previous_correction).copy_from_slice(&self.correction);
        }
        if landing {
            self.memory.free_step = Some(free_step);
        }
    }

    /// Shortens the step after an error test failed for the `failures`-th time in a row.
    fn recover(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        error: f64,
        failures: usize,
    ) -> Result<(), IntegrateError> {
        self.memory.largest_growth = GROWTH_AFTER_FAILURE;
        if failures < FAILURES_TO_RESTART {
            let choice = self.choose_same_or_lower(error);
            let most = if failures > 1 { 0.2 } else { 1.0 };
            self.memory.order = choice.order;
            self.rescale(choice.factor.min(most));
            self.memory.patience = self.memory.order + 1;
            return Ok(());
        }
        self.memory.order = 1;
        self.memory.step *= 0.1;
        self.memory.patience = 5;
        self.load_derivative(equations)
    }

    /// Sets $`z_1 = h f(t, z_0)`$.
    fn load_derivative(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
    ) -> Result<(), IntegrateError> {
        let (state, rest) = self.memory.nordsieck.split_at_mut(1);
        equations.opening(self.memory.time, &state[0], &mut rest[0])?;
        for value in &mut rest[0] {
            *value *= self.memory.step;
        }
        Ok(())
    }
}

/// Factor by which the step may change so that this error at this order becomes one.
fn allowed_factor(error: f64, order: usize, bias: f64) -> f64 {
    1.0 / (bias * error.powf(1.0 / (order + 1) as f64) + bias * 1e-6)
}

impl<'s> Stepper<dyn FirstOrder + 's> for Adams {
    fn start(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        let memory = &mut self.memory;
        memory.time = piece.start;
        equations.handle_event(piece.start, &mut memory.nordsieck[0]);
        memory.order = 1;
        memory.patience = 2;
        memory.largest_growth = FIRST_GROWTH;
        memory.step = 1.0;
        memory.free_step = None;
        self.load_derivative(equations)?;
        let step = match self.initial_step {
            Some(step) => step,
            None => first_step(
                equations,
                &self.tolerance,
                // the first step is of order one, its error of order two
                2,
                piece,
                &self.memory.nordsieck[0],
                &self.memory.nordsieck[1],
                [&mut self.trial_state, &mut self.trial_rate],
            ),
        };
        self.rescale(step);
        Ok(())
    }

    fn step(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        self.reference.copy_from_slice(&self.memory.nordsieck[0]);
        let time = self.memory.time;
        let mut failures = 0;
        loop {
            equations.allow_attempt(time, self.memory.worst)?;
            let fitted = self.fit(piece);
            let step = fitted.length;
            let landing = self.memory.free_step.is_some();
            if landing && fitted.last && step < smallest_step(time, piece) {
                self.shift_history(&mut equations.statistics, step, piece.end);
                return Ok(());
            }
            if step != self.memory.step {
                self.change_step(step);
            }
            self.predict();
            let solved = self.correct(equations);
            if let Ok(error) = solved
                && error <= 1.0
            {
                let end = if fitted.last { piece.end } else { time + step };
                self.accept(&mut equations.statistics, end);
                self.plan_next(fitted, error);
                return Ok(());
            }
            self.retract();
            equations.statistics.rejected += 1;
            if let Ok(error) = solved {
                failures += 1;
                self.recover(equations, error, failures)?;
            } else {
                self.memory.largest_growth = GROWTH_AFTER_FAILURE;
                self.rescale(0.25);
                self.memory.patience = self.memory.order + 1;
            }
            if landing {
                self.memory.free_step = Some(self.memory.step);
            }
            if self.memory.step < smallest_step(time, piece) {
                return Err(match solved {
                    Err(Unsolved::NonFinite(component)) => equations.non_finite(time, component),
                    _ => equations.step_too_small(time, self.memory.worst),
                });
            }
        }
    }

    /// The higher derivatives of the past are as good as before: the state moves by less than the error of a
    /// step.
    fn project(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
    ) -> Result<Projection, IntegrateError> {
        Ok(equations.project(self.memory.time, &mut self.memory.nordsieck[0]))
    }

    fn interpolate(
        &mut self,
        _equations: &mut FirstOrderEquations<'_, 's>,
        time: f64,
        state: &mut [f64],
    ) -> Result<(), IntegrateError> {
        let memory = &self.memory;
        let position = (time - memory.time) / memory.step;
        state.copy_from_slice(&memory.nordsieck[memory.order]);
        for column in memory.nordsieck[..memory.order].iter().rev() {
            for (value, &next) in state.iter_mut().zip(column) {
                *value = *value * position + next;
            }
        }
        Ok(())
    }

    fn place(&mut self, time: f64, state: &[f64]) {
        self.memory.time = time;
        self.memory.nordsieck[0].copy_from_slice(state);
    }

    fn time(&self) -> f64 {
        self.memory.time
    }

    fn state(&self) -> &[f64] {
        &self.memory.nordsieck[0]
    }
}
