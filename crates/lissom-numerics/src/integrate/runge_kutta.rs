//! Explicit Runge–Kutta methods with error control and dense output, driven by a tableau.
//!
//! Source: Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*, 2nd ed., II.4 to II.6
//! and II.10. With $`k_i = f(t + c_i h, y + h \sum_j a_{ij} k_j)`$ a step ends at
//!
//! ```math
//! y_1 = y + h \sum_j b_j k_j ,
//! ```
//!
//! where $`b`$ is also the row of a stage at the end of the step that opens the next one. Between the
//! two, with $`\theta`$ from 0 to 1,
//!
//! ```math
//! y(\theta) = y + \theta\,(p_1 + (1-\theta)(p_2 + \theta(p_3 + (1-\theta)(p_4 + \dots)))) ,
//! ```
//!
//! $`p_1 = y_1 - y`$, $`p_2 = h k_1 - p_1`$, $`p_3 = p_1 - h f(y_1) - p_2`$, and from $`p_4`$ on
//! $`p_i = h \sum_j d_{ij} k_j`$.
//!
//! # Stiff solutions
//!
//! Where the solution is smooth the two estimates of a tempered tableau are far apart: they are of orders
//! $`h^6`$ and $`h^4`$, and on $`\dot y = \lambda y`$ their ratio is $`0.004\,|h\lambda|^2`$, below 0.05 up to
//! $`|h\lambda| = 3`$. Modes that are faster than the solution and decay excite both alike, whatever the step:
//! $`\lambda^4 h^6 \ddot y`$ in the one and in the other, at a ratio near 0.3. A ratio above 0.1 therefore
//! says that such modes, and not the solution, govern the step. Then two things are no longer true:
//!
//! - the error is not near its estimate. The estimate goes with $`h^6`$, the local error with $`h^9`$, so
//!   that the error falls as the power 3/2 of the tolerance until stability bounds the step;
//! - the interpolant is not as good as the step. At $`|h\lambda| = 6`$ it enlarges what is left of a fast
//!   mode up to twentyfold. Samples are then taken by steps of their own from where the step began, which
//!   are shorter than a stable one and so stable.

use super::driver::{Piece, Stepper};
use super::equations::{Equations, NonFiniteComponent};
use super::step_control::{Controller, Tolerance, first_step, fitted_step, smallest_step};
use super::{Control, Flow, IntegrateError, Projection, Statistics};

/// Accepted steps without a sign of stiffness after which a solution no longer counts as stiff. At the
/// bound of stability the first estimate passes through a zero (near hλ = -5.4) and may miss it for a while.
const CALM_STEPS: u32 = 20;

/// Share of the guessed first step that is tried. A mechanism released at rest does not show its fast modes
/// yet, neither to the guess nor to the error estimate; growth makes up for a short start in two steps.
const CAUTIOUS_START: f64 = 0.1;

/// Coefficients of an explicit method.
pub(super) struct Tableau {
    /// Order of the method and of its step control.
    pub(super) order: u32,
    /// $`c`$ of every stage.
    pub(super) nodes: &'static [f64],
    /// $`a`$ of every stage, rows ending at their last non-zero entry.
    pub(super) coefficients: &'static [&'static [f64]],
    /// Index of the stage at the end of the step, whose row is $`b`$; those behind it serve the
    /// interpolant only.
    pub(super) opening_stage: usize,
    /// Number of stages that the error estimate reads.
    pub(super) error_stages: usize,
    /// One row: error estimate. Two rows: the estimate and a second one of lower order that tempers it,
    /// (II.10.17).
    pub(super) error: &'static [&'static [f64]],
    /// $`d`$, rows from $`p_4`$ on.
    pub(super) interpolant: &'static [&'static [f64]],
    /// β of the step control.
    pub(super) stabilization: f64,
    /// Strongest shortening from one step to the next.
    pub(super) shrink_limit: f64,
    /// Strongest lengthening.
    pub(super) growth_limit: f64,
    /// Share of the tolerance that the estimated error of one step may take.
    pub(super) tolerance_share: f64,
}

/// An explicit method with its solution and workspace.
pub(super) struct RungeKutta<'a> {
    tableau: &'static Tableau,
    equations: Equations<'a>,
    tolerance: Tolerance,
    initial_step: Option<f64>,
    max_step: Option<f64>,
    controller: Controller,
    time: f64,
    state: Vec<f64>,
    /// Where the last step began, for the interpolant.
    previous_time: f64,
    previous_state: Vec<f64>,
    /// Length of the last step and of the one proposed next.
    step: f64,
    proposed: f64,
    /// Component with the worst error in the last attempt.
    worst: usize,
    /// Whether modes faster than the solution governed the error estimate of the last attempt.
    governed_by_fast_modes: bool,
    /// Accepted steps since that was last so.
    calm_steps: u32,
    /// Derivatives at all stages.
    stages: Vec<Vec<f64>>,
    /// The derivative that opens the next step; stage 0 keeps that of the last, for the interpolant.
    opening: Vec<f64>,
    /// $`p_1, p_2, \dots`$ of the last step.
    polynomial: Vec<Vec<f64>>,
    polynomial_ready: bool,
    trial_state: Vec<f64>,
    trial_sum: Vec<f64>,
    second_sum: Vec<f64>,
}

impl<'a> RungeKutta<'a> {
    pub(super) fn new(
        tableau: &'static Tableau,
        control: &Control,
        equations: Equations<'a>,
        state: &[f64],
    ) -> Self {
        let zeros = vec![0.0; state.len()];
        Self {
            tableau,
            equations,
            tolerance: Tolerance::of(control).times(tableau.tolerance_share),
            initial_step: control.initial_step,
            max_step: control.max_step,
            controller: Controller::new(
                tableau.order,
                tableau.stabilization,
                tableau.shrink_limit,
                tableau.growth_limit,
            ),
            time: 0.0,
            state: state.to_vec(),
            previous_time: 0.0,
            previous_state: zeros.clone(),
            step: 0.0,
            proposed: 0.0,
            worst: 0,
            governed_by_fast_modes: false,
            calm_steps: CALM_STEPS,
            stages: vec![zeros.clone(); tableau.nodes.len()],
            opening: zeros.clone(),
            polynomial: vec![zeros.clone(); 3 + tableau.interpolant.len()],
            polynomial_ready: false,
            trial_state: zeros.clone(),
            trial_sum: zeros.clone(),
            second_sum: zeros,
        }
    }

    /// Tries a step from `time`, `state` and `opening`: leaves the new state in `trial_state`, its
    /// derivative in the opening stage, and returns the scaled error.
    fn attempt(&mut self, step: f64) -> Result<f64, NonFiniteComponent> {
        self.stages[0].copy_from_slice(&self.opening);
        for stage in 1..self.tableau.error_stages {
            self.evaluate_stage(stage, step)?;
        }
        if self.tableau.error_stages <= self.tableau.opening_stage {
            self.combine_stage_state(self.tableau.opening_stage, step);
        }
        let error = self.error(step);
        if error <= 1.0 && self.tableau.error_stages <= self.tableau.opening_stage {
            self.evaluate_stage(self.tableau.opening_stage, step)?;
        }
        Ok(error)
    }

    fn evaluate_stage(&mut self, stage: usize, step: f64) -> Result<(), NonFiniteComponent> {
        self.combine_stage_state(stage, step);
        let time = self.time + self.tableau.nodes[stage] * step;
        self.equations
            .derivative(time, &self.trial_state, &mut self.stages[stage])
    }

    fn combine_stage_state(&mut self, stage: usize, step: f64) {
        combine(
            self.tableau.coefficients[stage],
            &self.stages,
            &mut self.trial_sum,
        );
        for i in 0..self.state.len() {
            self.trial_state[i] = self.state[i] + step * self.trial_sum[i];
        }
    }

    fn error(&mut self, step: f64) -> f64 {
        combine(self.tableau.error[0], &self.stages, &mut self.trial_sum);
        let tempered = self.tableau.error.len() == 2;
        if tempered {
            combine(self.tableau.error[1], &self.stages, &mut self.second_sum);
        }
        let mut sum = 0.0;
        let mut second_sum = 0.0;
        let mut worst = 0.0;
        for i in 0..self.state.len() {
            let scale = self
                .tolerance
                .scale(i, self.state[i].abs().max(self.trial_state[i].abs()));
            let square = (self.trial_sum[i] / scale).powi(2);
            sum += square;
            if square > worst {
                worst = square;
                self.worst = i;
            }
            if tempered {
                second_sum += (self.second_sum[i] / scale).powi(2);
            }
        }
        let count = self.state.len().max(1) as f64;
        if !tempered {
            return step * (sum / count).sqrt();
        }
        self.governed_by_fast_modes = sum > 0.01 * second_sum;
        let denominator = sum + 0.01 * second_sum;
        if denominator > 0.0 {
            step * sum / (count * denominator).sqrt()
        } else {
            0.0
        }
    }

    fn accept(&mut self, step: f64, end: f64) {
        self.previous_time = self.time;
        self.previous_state.copy_from_slice(&self.state);
        self.step = step;
        self.time = end;
        self.state.copy_from_slice(&self.trial_state);
        self.opening
            .copy_from_slice(&self.stages[self.tableau.opening_stage]);
        self.polynomial_ready = false;
        self.equations.statistics.steps += 1;
        if self.governed_by_fast_modes {
            self.calm_steps = 0;
        } else if self.calm_steps < CALM_STEPS {
            self.calm_steps += 1;
        }
        self.equations.statistics.stiff_steps += u64::from(self.is_stiff());
    }

    fn is_stiff(&self) -> bool {
        self.calm_steps < CALM_STEPS
    }

    /// Builds the interpolant of the last step, with the extra stages that some tableaus need.
    fn build_polynomial(&mut self) -> Result<(), NonFiniteComponent> {
        let tableau = self.tableau;
        let step = self.step;
        for stage in tableau.opening_stage + 1..tableau.nodes.len() {
            self.evaluate_stage_again(stage, step)?;
        }
        for i in 0..self.state.len() {
            let change = self.state[i] - self.previous_state[i];
            let bend = step * self.stages[0][i] - change;
            self.polynomial[0][i] = change;
            self.polynomial[1][i] = bend;
            self.polynomial[2][i] = change - step * self.opening[i] - bend;
        }
        for (row, term) in tableau.interpolant.iter().zip(&mut self.polynomial[3..]) {
            combine(row, &self.stages, term);
            for value in term {
                *value *= step;
            }
        }
        self.polynomial_ready = true;
        Ok(())
    }

    /// Evaluates a stage of a step from where the last one began.
    fn evaluate_stage_again(&mut self, stage: usize, step: f64) -> Result<(), NonFiniteComponent> {
        self.combine_stage_state_again(stage, step);
        let time = self.previous_time + self.tableau.nodes[stage] * step;
        self.equations
            .derivative(time, &self.trial_state, &mut self.stages[stage])
    }

    fn combine_stage_state_again(&mut self, stage: usize, step: f64) {
        combine(
            self.tableau.coefficients[stage],
            &self.stages,
            &mut self.trial_sum,
        );
        for i in 0..self.state.len() {
            self.trial_state[i] = self.previous_state[i] + step * self.trial_sum[i];
        }
    }

    /// Leaves in `trial_state` the end of a step of this length from where the last one began. Of the
    /// stages it keeps the first.
    fn step_again(&mut self, step: f64) -> Result<(), NonFiniteComponent> {
        let end = self.tableau.opening_stage;
        for stage in 1..end {
            self.evaluate_stage_again(stage, step)?;
        }
        self.combine_stage_state_again(end, step);
        Ok(())
    }
}

impl Stepper for RungeKutta<'_> {
    fn start(&mut self, piece: &Piece) -> Result<(), IntegrateError> {
        self.time = piece.start;
        self.equations.handle_event(piece, &mut self.state);
        self.equations.statistics.highest_order = u64::from(self.tableau.order);
        self.controller.reset();
        if let Err(component) = self
            .equations
            .derivative(self.time, &self.state, &mut self.opening)
        {
            return Err(self.equations.non_finite(self.time, component));
        }
        self.proposed = match self.initial_step {
            Some(step) => step,
            None => {
                CAUTIOUS_START
                    * first_step(
                        &mut self.equations,
                        &self.tolerance,
                        self.tableau.order,
                        piece,
                        &self.state,
                        &self.opening,
                        [&mut self.trial_state, &mut self.trial_sum],
                    )
            }
        };
        Ok(())
    }

    fn step(&mut self, piece: &Piece) -> Result<(), IntegrateError> {
        loop {
            self.equations.allow_attempt(self.time, self.worst)?;
            let (step, last) = fitted_step(self.proposed, self.time, piece, self.max_step);
            let attempt = self.attempt(step);
            match attempt {
                Ok(error) if error <= 1.0 => {
                    let end = if last { piece.end } else { self.time + step };
                    self.accept(step, end);
                    self.proposed = step * self.controller.accepted(error);
                    return Ok(());
                }
                // an infinite error is one that overflowed, not a system that cannot be evaluated
                Ok(error) if !error.is_nan() => {
                    self.proposed = step * self.controller.rejected(error);
                }
                Ok(_) | Err(_) => self.proposed = step * self.controller.failed(),
            }
            self.equations.statistics.rejected += 1;
            if self.proposed < smallest_step(self.time, piece) {
                return Err(match attempt {
                    Ok(_) => self.equations.step_too_small(self.time, self.worst),
                    Err(component) => self.equations.non_finite(self.time, component),
                });
            }
        }
    }

    fn project(&mut self) -> Result<Flow, IntegrateError> {
        let projection = self.equations.project(self.time, &mut self.state);
        if projection == Projection::Moved
            && let Err(component) =
                self.equations
                    .derivative(self.time, &self.state, &mut self.opening)
        {
            return Err(self.equations.non_finite(self.time, component));
        }
        Ok(projection.flow())
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn interpolate(&mut self, time: f64, state: &mut [f64]) -> Result<(), IntegrateError> {
        if self.is_stiff() {
            if let Err(component) = self.step_again(time - self.previous_time) {
                return Err(self.equations.non_finite(self.previous_time, component));
            }
            state.copy_from_slice(&self.trial_state);
            return Ok(());
        }
        if !self.polynomial_ready
            && let Err(component) = self.build_polynomial()
        {
            return Err(self.equations.non_finite(self.previous_time, component));
        }
        let theta = (time - self.previous_time) / self.step;
        for i in 0..state.len() {
            let mut value = 0.0;
            for (index, term) in self.polynomial.iter().enumerate().rev() {
                let factor = if index % 2 == 0 { theta } else { 1.0 - theta };
                value = factor * (term[i] + value);
            }
            state[i] = self.previous_state[i] + value;
        }
        Ok(())
    }

    fn event_function(&mut self, time: f64, state: &[f64]) -> f64 {
        self.equations.event_function(time, state)
    }

    fn rewind(&mut self, time: f64, state: &[f64]) {
        self.time = time;
        self.state.copy_from_slice(state);
    }

    fn statistics(&self) -> Statistics {
        self.equations.statistics
    }
}

/// Writes $`\sum_j w_j k_j`$.
fn combine(weights: &[f64], stages: &[Vec<f64>], sum: &mut [f64]) {
    sum.fill(0.0);
    for (&weight, stage) in weights.iter().zip(stages) {
        if weight != 0.0 {
            for (total, &value) in sum.iter_mut().zip(stage) {
                *total += weight * value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dop853::DOP853;
    use super::super::dopri5::DOPRI5;

    /// Sums of up to sixteen terms of order ten, given to sixteen digits.
    const ROUNDING: f64 = 1e-13;

    fn stages_with(weights: &[f64], value: impl Fn(usize) -> f64) -> f64 {
        weights
            .iter()
            .enumerate()
            .map(|(stage, weight)| weight * value(stage))
            .sum()
    }

    #[test]
    fn rows_sum_to_their_nodes() {
        // closed form: (II.1.9)
        for tableau in [&DOPRI5, &DOP853] {
            assert_eq!(tableau.nodes.len(), tableau.coefficients.len());
            for (row, node) in tableau.coefficients.iter().zip(tableau.nodes) {
                assert!((stages_with(row, |_| 1.0) - node).abs() < ROUNDING);
            }
        }
    }

    #[test]
    fn weights_satisfy_order_conditions() {
        // closed form: bushy trees Σ b c^(k-1) = 1/k up to the order, and the tall tree of order 3 and 4
        for tableau in [&DOPRI5, &DOP853] {
            let weights = tableau.coefficients[tableau.opening_stage];
            for power in 1..=i32::try_from(tableau.order).unwrap() {
                let sum = stages_with(weights, |stage| tableau.nodes[stage].powi(power - 1));
                assert!(
                    (sum - 1.0 / f64::from(power)).abs() < ROUNDING,
                    "{power}: {sum}"
                );
            }
            let inner = |stage: usize, power| {
                stages_with(tableau.coefficients[stage], |j| {
                    tableau.nodes[j].powi(power)
                })
            };
            assert!((stages_with(weights, |i| inner(i, 1)) - 1.0 / 6.0).abs() < ROUNDING);
            assert!((stages_with(weights, |i| inner(i, 2)) - 1.0 / 12.0).abs() < ROUNDING);
            let mixed = stages_with(weights, |i| tableau.nodes[i] * inner(i, 1));
            assert!((mixed - 1.0 / 8.0).abs() < ROUNDING);
            let tall = stages_with(weights, |i| {
                stages_with(tableau.coefficients[i], |j| inner(j, 1))
            });
            assert!((tall - 1.0 / 24.0).abs() < ROUNDING);
        }
    }

    #[test]
    fn error_rows_vanish_on_low_powers() {
        // closed form: an embedded formula of order p integrates t^(k-1) exactly for k up to p
        for (tableau, orders) in [(&DOPRI5, &[4][..]), (&DOP853, &[5, 3][..])] {
            for (row, &order) in tableau.error.iter().zip(orders) {
                for power in 0..order {
                    let sum = stages_with(row, |stage| tableau.nodes[stage].powi(power));
                    assert!(sum.abs() < ROUNDING, "{power}: {sum}");
                }
                let sum = stages_with(row, |stage| tableau.nodes[stage].powi(order));
                assert!(sum.abs() > ROUNDING, "the estimate sees order {order}");
            }
        }
    }

    #[test]
    fn interpolant_rows_vanish_on_constants_and_lines() {
        // closed form: p₄ and those behind it carry derivatives from the third on
        for tableau in [&DOPRI5, &DOP853] {
            for row in tableau.interpolant {
                for power in 0..=2 {
                    let sum = stages_with(row, |stage| tableau.nodes[stage].powi(power));
                    assert!(sum.abs() < 100.0 * ROUNDING, "{power}: {sum}");
                }
            }
        }
    }
}
