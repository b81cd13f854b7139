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

use super::driver::Stepper;
use super::equations::{FirstOrderEquations, NonFiniteComponent};
use super::memory::{ErrorTrend, LastStep, RungeKuttaMemory};
use super::schedule::Piece;
use super::step_control::{Controller, Tolerance, first_step, fitted_step, smallest_step};
use super::{Control, FirstOrder, IntegrateError, Projection, Statistics};

/// Accepted steps without a sign of stiffness after which a solution no longer counts as stiff. At the
/// bound of stability the first estimate passes through a zero (near hλ = -5.4) and may miss it for a while.
const CALM_STEPS: u32 = 20;

/// Part of the tolerance below which the estimated error of a step tells nothing of what keeps steps short: where it is so small
/// nothing does, and of a motion without acceleration, such as that of a body adrift, both estimates are rounding.
const TELLING_ERROR: f64 = 1e-3;

/// Share of the guessed first step that is tried. A mechanism released at rest does not show its fast modes
/// yet, neither to the guess nor to the error estimate; growth makes up for a short start in two steps.
const CAUTIOUS_START: f64 = 0.1;

/// Coefficients of an explicit method.
#[derive(Debug)]
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

/// Where a step begins.
#[derive(Clone, Copy)]
enum Begins {
    /// At the end of the last step.
    Here,
    /// Where the last step began.
    WithTheLast,
}

/// An explicit method: settings, memory and workspace.
#[derive(Clone, Debug)]
pub(super) struct RungeKutta {
    tableau: &'static Tableau,
    tolerance: Tolerance,
    initial_step: Option<f64>,
    max_step: Option<f64>,
    controller: Controller,
    /// Its opening derivative opens the next step; stage 0 keeps that of the last, for the interpolant.
    memory: RungeKuttaMemory,
    /// Whether modes faster than the solution governed the error estimate of the last attempt.
    governed_by_fast_modes: bool,
    trial_state: Vec<f64>,
    trial_sum: Vec<f64>,
    second_sum: Vec<f64>,
}

impl RungeKutta {
    pub(super) fn new(
        tableau: &'static Tableau,
        control: &Control,
        time: f64,
        state: &[f64],
    ) -> Self {
        let zeros = vec![0.0; state.len()];
        let memory = RungeKuttaMemory {
            time,
            state: state.to_vec(),
            opening: zeros.clone(),
            proposed: 0.0,
            trend: ErrorTrend::NONE,
            calm_steps: CALM_STEPS,
            worst: 0,
            last_step: LastStep::none(&zeros),
            stages: vec![zeros.clone(); tableau.nodes.len()],
            polynomial: vec![zeros.clone(); 3 + tableau.interpolant.len()],
            polynomial_ready: false,
        };
        Self::with(tableau, control, memory)
    }

    /// The method as it was when `memory` was taken, which fits itself; absent if it is that of another tableau.
    pub(super) fn resume(
        tableau: &'static Tableau,
        control: &Control,
        memory: &RungeKuttaMemory,
    ) -> Option<Self> {
        let fits = memory.stages.len() == tableau.nodes.len()
            && memory.polynomial.len() == 3 + tableau.interpolant.len();
        fits.then(|| Self::with(tableau, control, memory.clone()))
    }

    fn with(tableau: &'static Tableau, control: &Control, memory: RungeKuttaMemory) -> Self {
        let zeros = vec![0.0; memory.state.len()];
        Self {
            tableau,
            tolerance: Tolerance::of(control).times(tableau.tolerance_share),
            initial_step: control.initial_step,
            max_step: control.max_step,
            controller: Controller::new(
                tableau.order,
                tableau.stabilization,
                tableau.shrink_limit,
                tableau.growth_limit,
            ),
            memory,
            governed_by_fast_modes: false,
            trial_state: zeros.clone(),
            trial_sum: zeros.clone(),
            second_sum: zeros,
        }
    }

    pub(super) fn memory(&self) -> &RungeKuttaMemory {
        &self.memory
    }

    /// Goes on from the state of another method, with the derivative there and a step to begin with.
    pub(super) fn take_over(&mut self, opening: &[f64], step: f64) {
        self.memory.opening.copy_from_slice(opening);
        self.memory.proposed = step;
    }

    /// Tries a step from `time`, `state` and `opening`: leaves the new state in `trial_state`, its
    /// derivative in the opening stage, and returns the scaled error.
    fn attempt(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        step: f64,
    ) -> Result<f64, NonFiniteComponent> {
        self.memory.stages[0].copy_from_slice(&self.memory.opening);
        for stage in 1..self.tableau.error_stages {
            self.evaluate_stage(equations, Begins::Here, stage, step)?;
        }
        if self.tableau.error_stages <= self.tableau.opening_stage {
            self.combine_stage_state(Begins::Here, self.tableau.opening_stage, step);
        }
        let error = self.error(step);
        if error <= 1.0 && self.tableau.error_stages <= self.tableau.opening_stage {
            self.evaluate_stage(equations, Begins::Here, self.tableau.opening_stage, step)?;
        }
        Ok(error)
    }

    fn evaluate_stage(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        begins: Begins,
        stage: usize,
        step: f64,
    ) -> Result<(), NonFiniteComponent> {
        self.combine_stage_state(begins, stage, step);
        let start = match begins {
            Begins::Here => self.memory.time,
            Begins::WithTheLast => self.memory.last_step.start,
        };
        let time = start + self.tableau.nodes[stage] * step;
        equations.derivative(time, &self.trial_state, &mut self.memory.stages[stage])
    }

    fn combine_stage_state(&mut self, begins: Begins, stage: usize, step: f64) {
        combine(
            self.tableau.coefficients[stage],
            &self.memory.stages,
            &mut self.trial_sum,
        );
        let state = match begins {
            Begins::Here => &self.memory.state,
            Begins::WithTheLast => &self.memory.last_step.state,
        };
        for i in 0..state.len() {
            self.trial_state[i] = state[i] + step * self.trial_sum[i];
        }
    }

    fn error(&mut self, step: f64) -> f64 {
        combine(
            self.tableau.error[0],
            &self.memory.stages,
            &mut self.trial_sum,
        );
        let tempered = self.tableau.error.len() == 2;
        if tempered {
            combine(
                self.tableau.error[1],
                &self.memory.stages,
                &mut self.second_sum,
            );
        }
        let mut sum = 0.0;
        let mut second_sum = 0.0;
        let mut worst = 0.0;
        for i in 0..self.memory.state.len() {
            let scale = self
                .tolerance
                .scale(i, self.memory.state[i].abs().max(self.trial_state[i].abs()));
            let square = (self.trial_sum[i] / scale).powi(2);
            sum += square;
            if square > worst {
                worst = square;
                self.memory.worst = i;
            }
            if tempered {
                second_sum += (self.second_sum[i] / scale).powi(2);
            }
        }
        let count = self.memory.state.len().max(1) as f64;
        if !tempered {
            return step * (sum / count).sqrt();
        }
        let denominator = sum + 0.01 * second_sum;
        let error = if denominator > 0.0 {
            step * sum / (count * denominator).sqrt()
        } else {
            0.0
        };
        self.governed_by_fast_modes = sum > 0.01 * second_sum && error > TELLING_ERROR;
        error
    }

    fn accept(&mut self, statistics: &mut Statistics, step: f64, end: f64) {
        self.memory.last_step.start = self.memory.time;
        self.memory
            .last_step
            .state
            .copy_from_slice(&self.memory.state);
        self.memory.last_step.length = step;
        self.memory.time = end;
        self.memory.state.copy_from_slice(&self.trial_state);
        self.memory
            .opening
            .copy_from_slice(&self.memory.stages[self.tableau.opening_stage]);
        self.memory.polynomial_ready = false;
        statistics.steps += 1;
        if self.governed_by_fast_modes {
            self.memory.calm_steps = 0;
        } else if self.memory.calm_steps < CALM_STEPS {
            self.memory.calm_steps += 1;
        }
        statistics.stiff_steps += u64::from(self.is_stiff());
    }

    fn is_stiff(&self) -> bool {
        self.memory.calm_steps < CALM_STEPS
    }

    /// Builds the interpolant of the last step, with the extra stages that some tableaus need.
    fn build_polynomial(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
    ) -> Result<(), NonFiniteComponent> {
        let tableau = self.tableau;
        let step = self.memory.last_step.length;
        for stage in tableau.opening_stage + 1..tableau.nodes.len() {
            self.evaluate_stage(equations, Begins::WithTheLast, stage, step)?;
        }
        for i in 0..self.memory.state.len() {
            let change = self.memory.state[i] - self.memory.last_step.state[i];
            let bend = step * self.memory.stages[0][i] - change;
            self.memory.polynomial[0][i] = change;
            self.memory.polynomial[1][i] = bend;
            self.memory.polynomial[2][i] = change - step * self.memory.opening[i] - bend;
        }
        for (row, term) in tableau
            .interpolant
            .iter()
            .zip(&mut self.memory.polynomial[3..])
        {
            combine(row, &self.memory.stages, term);
            for value in term {
                *value *= step;
            }
        }
        self.memory.polynomial_ready = true;
        Ok(())
    }

    /// Leaves in `trial_state` the end of a step of this length from where the last one began. Of the
    /// stages it keeps the first.
    fn step_again(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        step: f64,
    ) -> Result<(), NonFiniteComponent> {
        let end = self.tableau.opening_stage;
        for stage in 1..end {
            self.evaluate_stage(equations, Begins::WithTheLast, stage, step)?;
        }
        self.combine_stage_state(Begins::WithTheLast, end, step);
        Ok(())
    }
}

impl<'s> Stepper<dyn FirstOrder + 's> for RungeKutta {
    fn start(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        let memory = &mut self.memory;
        memory.time = piece.start;
        equations.handle_event(piece.start, &mut memory.state);
        equations.statistics.highest_order = u64::from(self.tableau.order);
        memory.trend = ErrorTrend::NONE;
        equations.opening(memory.time, &memory.state, &mut memory.opening)?;
        memory.proposed = match self.initial_step {
            Some(step) => step,
            None => {
                CAUTIOUS_START
                    * first_step(
                        equations,
                        &self.tolerance,
                        self.tableau.order,
                        piece,
                        &memory.state,
                        &memory.opening,
                        [&mut self.trial_state, &mut self.trial_sum],
                    )
            }
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
            let trend = &mut self.memory.trend;
            match attempt {
                Ok(error) if error <= 1.0 => {
                    self.memory.proposed = self.controller.accepted(trend, error, fitted);
                    let end = if fitted.last { piece.end } else { time + step };
                    self.accept(&mut equations.statistics, step, end);
                    return Ok(());
                }
                // an infinite error is one that overflowed, not a system that cannot be evaluated
                Ok(error) if !error.is_nan() => {
                    self.memory.proposed = step * self.controller.rejected(trend, error);
                }
                Ok(_) | Err(_) => self.memory.proposed = step * Controller::failed(trend),
            }
            equations.statistics.rejected += 1;
            if self.memory.proposed < smallest_step(time, piece) {
                return Err(match attempt {
                    Ok(_) => equations.step_too_small(time, self.memory.worst),
                    Err(component) => equations.non_finite(time, component),
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
        equations: &mut FirstOrderEquations<'_, 's>,
        time: f64,
        state: &mut [f64],
    ) -> Result<(), IntegrateError> {
        let start = self.memory.last_step.start;
        if self.is_stiff() {
            if let Err(component) = self.step_again(equations, time - start) {
                return Err(equations.non_finite(start, component));
            }
            state.copy_from_slice(&self.trial_state);
            return Ok(());
        }
        if !self.memory.polynomial_ready
            && let Err(component) = self.build_polynomial(equations)
        {
            return Err(equations.non_finite(start, component));
        }
        let theta = (time - start) / self.memory.last_step.length;
        for i in 0..state.len() {
            let mut value = 0.0;
            for (index, term) in self.memory.polynomial.iter().enumerate().rev() {
                let factor = if index % 2 == 0 { theta } else { 1.0 - theta };
                value = factor * (term[i] + value);
            }
            state[i] = self.memory.last_step.state[i] + value;
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
