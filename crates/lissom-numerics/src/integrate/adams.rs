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
use super::driver::{Piece, Stepper};
use super::equations::{Equations, NonFiniteComponent};
use super::step_control::{Tolerance, first_step, fitted_step, smallest_step};
use super::{Control, Flow, IntegrateError, Statistics};

/// Corrector iterations before the step is shortened.
const MOST_ITERATIONS: usize = 3;
/// Lengthening by less than this is not worth the change.
const LEAST_GROWTH: f64 = 1.1;
/// Largest lengthening after the first step, which is cautious; after others; after a failure.
const FIRST_GROWTH: f64 = 1e4;
const USUAL_GROWTH: f64 = 10.0;
const GROWTH_AFTER_FAILURE: f64 = 2.0;
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

/// The method with its solution and workspace.
pub(super) struct Adams<'a> {
    equations: Equations<'a>,
    tolerance: Tolerance,
    initial_step: Option<f64>,
    max_step: Option<f64>,
    coefficients: AdamsCoefficients,
    time: f64,
    /// Step that the scaled derivatives refer to.
    step: f64,
    order: usize,
    /// $`z_0 \dots z_q`$, with room for the highest order.
    nordsieck: Vec<Vec<f64>>,
    /// $`z_0`$ before the step, which also sets the scale of errors.
    reference: Vec<f64>,
    /// $`e`$ of this step and of the one before.
    correction: Vec<f64>,
    previous_correction: Vec<f64>,
    /// Accepted steps until a change of step or order is considered.
    patience: usize,
    largest_growth: f64,
    worst: usize,
    trial_state: Vec<f64>,
    trial_rate: Vec<f64>,
}

impl<'a> Adams<'a> {
    pub(super) fn new(control: &Control, equations: Equations<'a>, state: &[f64]) -> Self {
        let zeros = vec![0.0; state.len()];
        let mut nordsieck = vec![zeros.clone(); HIGHEST_ORDER + 1];
        nordsieck[0].copy_from_slice(state);
        Self {
            equations,
            tolerance: Tolerance::of(control),
            initial_step: control.initial_step,
            max_step: control.max_step,
            coefficients: AdamsCoefficients::new(),
            time: 0.0,
            step: 0.0,
            order: 1,
            nordsieck,
            reference: zeros.clone(),
            correction: zeros.clone(),
            previous_correction: zeros.clone(),
            patience: 0,
            largest_growth: FIRST_GROWTH,
            worst: 0,
            trial_state: zeros.clone(),
            trial_rate: zeros,
        }
    }

    /// Multiplies by Pascal's triangle: Taylor expansion over one step.
    fn predict(&mut self) {
        self.shift(1.0);
    }

    /// Undoes a prediction.
    fn retract(&mut self) {
        self.shift(-1.0);
        self.nordsieck[0].copy_from_slice(&self.reference);
    }

    fn shift(&mut self, sign: f64) {
        for lowest in (0..self.order).rev() {
            for j in lowest..self.order {
                let (head, tail) = self.nordsieck.split_at_mut(j + 1);
                for (value, &next) in head[j].iter_mut().zip(&tail[0]) {
                    *value += sign * next;
                }
            }
        }
    }

    /// Refers the scaled derivatives to a step `factor` times as long.
    fn rescale(&mut self, factor: f64) {
        let mut power = 1.0;
        for column in &mut self.nordsieck[1..=self.order] {
            power *= factor;
            for value in column {
                *value *= power;
            }
        }
        self.step *= factor;
    }

    /// Iterates for the correction at the end of the predicted step; returns its scaled error.
    fn correct(&mut self) -> Result<f64, Unsolved> {
        let gamma = self.coefficients.error[self.order];
        let leading = self.coefficients.correction[self.order][0];
        let threshold = 0.5 / (gamma * (self.order + 2) as f64);
        self.correction.fill(0.0);
        self.trial_state.copy_from_slice(&self.nordsieck[0]);
        let mut previous_change = 0.0;
        let mut convergence_rate = 0.7_f64;
        for iteration in 0..MOST_ITERATIONS {
            self.equations.statistics.iterations += 1;
            self.equations
                .derivative(
                    self.time + self.step,
                    &self.trial_state,
                    &mut self.trial_rate,
                )
                .map_err(Unsolved::NonFinite)?;
            for i in 0..self.trial_rate.len() {
                let correction = self.step * self.trial_rate[i] - self.nordsieck[1][i];
                self.trial_rate[i] = correction - self.correction[i];
                self.correction[i] = correction;
                self.trial_state[i] = self.nordsieck[0][i] + leading * correction;
            }
            let (change, worst) = self.tolerance.norm(&self.trial_rate, &self.reference);
            self.worst = worst;
            if iteration > 0 {
                convergence_rate = (0.2 * convergence_rate).max(change / previous_change);
            }
            if change * (1.5 * convergence_rate).min(1.0) <= threshold {
                let (size, worst) = self.tolerance.norm(&self.correction, &self.reference);
                self.worst = worst;
                return Ok(gamma * size);
            }
            if !change.is_finite() || (iteration > 0 && change > 2.0 * previous_change) {
                break;
            }
            previous_change = change;
        }
        Err(Unsolved::Diverged)
    }

    fn accept(&mut self, end: f64) {
        let weights = &self.coefficients.correction[self.order];
        for (column, &weight) in self.nordsieck[..=self.order].iter_mut().zip(weights) {
            for (value, &correction) in column.iter_mut().zip(&self.correction) {
                *value += weight * correction;
            }
        }
        self.time = end;
        let statistics = &mut self.equations.statistics;
        statistics.steps += 1;
        statistics.highest_order = statistics.highest_order.max(self.order as u64);
    }

    /// Factor by which the next step may differ at the present order and at the one below. The biases
    /// 1.2 and 1.3 (and 1.4 above) favour the present order and caution.
    fn choose_same_or_lower(&self, error: f64) -> Choice {
        let order = self.order;
        let mut choice = Choice {
            order,
            factor: allowed_factor(error, order, 1.2),
        };
        if order > 1 {
            let size = self
                .tolerance
                .norm(&self.nordsieck[order], &self.reference)
                .0;
            let lower_error =
                self.coefficients.error[order - 1] * self.coefficients.factorial[order] * size;
            let factor = allowed_factor(lower_error, order - 1, 1.3);
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
        let order = self.order;
        let mut choice = self.choose_same_or_lower(error);
        if order < HIGHEST_ORDER {
            for i in 0..self.trial_rate.len() {
                self.trial_rate[i] = self.correction[i] - self.previous_correction[i];
            }
            let size = self.tolerance.norm(&self.trial_rate, &self.reference).0;
            let factor = allowed_factor(self.coefficients.error[order + 1] * size, order + 1, 1.4);
            if factor > choice.factor {
                choice = Choice {
                    order: order + 1,
                    factor,
                };
            }
        }
        let longest = self.max_step.map_or(f64::INFINITY, |max| max / self.step);
        let factor = choice.factor.min(self.largest_growth);
        self.largest_growth = USUAL_GROWTH;
        if choice.factor < LEAST_GROWTH {
            self.patience = 3;
            return;
        }
        if choice.order > order {
            let weight = self.coefficients.correction[order][order] / (order + 1) as f64;
            for (value, &correction) in self.nordsieck[order + 1].iter_mut().zip(&self.correction) {
                *value = weight * correction;
            }
        }
        self.order = choice.order;
        self.rescale(factor.min(longest));
        self.patience = self.order + 1;
    }

    /// Shortens the step after an error test failed for the `failures`-th time in a row.
    fn recover(&mut self, error: f64, failures: usize) -> Result<(), IntegrateError> {
        self.largest_growth = GROWTH_AFTER_FAILURE;
        if failures < FAILURES_TO_RESTART {
            let choice = self.choose_same_or_lower(error);
            let most = if failures > 1 { 0.2 } else { 1.0 };
            self.order = choice.order;
            self.rescale(choice.factor.min(most));
            self.patience = self.order + 1;
            return Ok(());
        }
        self.order = 1;
        self.step *= 0.1;
        self.patience = 5;
        self.load_derivative()
    }

    /// Sets $`z_1 = h f(t, z_0)`$.
    fn load_derivative(&mut self) -> Result<(), IntegrateError> {
        let (state, rest) = self.nordsieck.split_at_mut(1);
        if let Err(component) = self
            .equations
            .derivative(self.time, &state[0], &mut rest[0])
        {
            return Err(self.equations.non_finite(self.time, component));
        }
        for value in &mut rest[0] {
            *value *= self.step;
        }
        Ok(())
    }
}

/// Factor by which the step may change so that this error at this order becomes one.
fn allowed_factor(error: f64, order: usize, bias: f64) -> f64 {
    1.0 / (bias * error.powf(1.0 / (order + 1) as f64) + bias * 1e-6)
}

impl Stepper for Adams<'_> {
    fn start(&mut self, piece: &Piece) -> Result<(), IntegrateError> {
        self.time = piece.start;
        self.equations.handle_event(piece, &mut self.nordsieck[0]);
        self.order = 1;
        self.patience = 2;
        self.largest_growth = FIRST_GROWTH;
        self.step = 1.0;
        self.load_derivative()?;
        let step = match self.initial_step {
            Some(step) => step,
            None => first_step(
                &mut self.equations,
                &self.tolerance,
                // the first step is of order one, its error of order two
                2,
                piece,
                &self.nordsieck[0],
                &self.nordsieck[1],
                [&mut self.trial_state, &mut self.trial_rate],
            ),
        };
        self.rescale(step);
        Ok(())
    }

    fn step(&mut self, piece: &Piece) -> Result<(), IntegrateError> {
        self.reference.copy_from_slice(&self.nordsieck[0]);
        let mut failures = 0;
        loop {
            self.equations.allow_attempt(self.time, self.worst)?;
            let (step, last) = fitted_step(self.step, self.time, piece, self.max_step);
            if step != self.step {
                self.rescale(step / self.step);
                self.step = step;
            }
            self.predict();
            let solved = self.correct();
            if let Ok(error) = solved
                && error <= 1.0
            {
                self.accept(if last { piece.end } else { self.time + step });
                self.patience -= 1;
                if self.patience == 0 {
                    self.adapt(error);
                } else if self.patience == 1 {
                    self.previous_correction.copy_from_slice(&self.correction);
                }
                return Ok(());
            }
            self.retract();
            self.equations.statistics.rejected += 1;
            if let Ok(error) = solved {
                failures += 1;
                self.recover(error, failures)?;
            } else {
                self.largest_growth = GROWTH_AFTER_FAILURE;
                self.rescale(0.25);
                self.patience = self.order + 1;
            }
            if self.step < smallest_step(self.time, piece) {
                return Err(match solved {
                    Err(Unsolved::NonFinite(component)) => {
                        self.equations.non_finite(self.time, component)
                    }
                    _ => self.equations.step_too_small(self.time, self.worst),
                });
            }
        }
    }

    /// The higher derivatives of the past are as good as before: the state moves by less than the error of a
    /// step.
    fn project(&mut self) -> Result<Flow, IntegrateError> {
        let projection = self.equations.project(self.time, &mut self.nordsieck[0]);
        Ok(projection.flow())
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn state(&self) -> &[f64] {
        &self.nordsieck[0]
    }

    fn interpolate(&mut self, time: f64, state: &mut [f64]) -> Result<(), IntegrateError> {
        let position = (time - self.time) / self.step;
        state.copy_from_slice(&self.nordsieck[self.order]);
        for column in self.nordsieck[..self.order].iter().rev() {
            for (value, &next) in state.iter_mut().zip(column) {
                *value = *value * position + next;
            }
        }
        Ok(())
    }

    fn event_function(&mut self, time: f64, state: &[f64]) -> f64 {
        self.equations.event_function(time, state)
    }

    fn rewind(&mut self, time: f64, state: &[f64]) {
        self.time = time;
        self.nordsieck[0].copy_from_slice(state);
    }

    fn statistics(&self) -> Statistics {
        self.equations.statistics
    }
}
