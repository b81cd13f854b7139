//! Radau IIA of order 5: collocation at three points, solved by simplified Newton iteration.
//!
//! Source: Hairer & Wanner, *Solving Ordinary Differential Equations II*, 2nd ed., section IV.8. The
//! increments $`z_i = y(t + c_i h) - y(t)`$ solve $`z = h (A \otimes I) F(z)`$; in the variables
//! $`w = T^{-1} z`$ a Newton step is one real and one complex linear system of the size of the state,
//!
//! ```math
//! \left(\tfrac{\mu}{h} I - J\right) \Delta w_1 = (T^{-1} F)_1 - \tfrac{\mu}{h} w_1 .
//! ```
//!
//! The Jacobian, by finite differences, is kept while the iteration converges fast, the factors while
//! the step stays. The error estimate is of order 3, the solution of order 5: steps grow as the fourth
//! root of the tolerance inside, the global error as its power 5/4. The tolerance given is therefore
//! mapped by its power 4/5, with the factor 0.1 of the authors' program, and the global error follows it. The
//! step follows Gustafsson's predictive controller.
//! Between the ends of a step the collocation polynomial is of order 3.

use nalgebra::Complex;

use super::driver::{Piece, Stepper};
use super::equations::{Equations, NonFiniteComponent};
use super::lu::Lu;
use super::radau_coefficients::{
    COMPLEX_EIGENVALUE, ERROR, FROM_TRANSFORMED, NODES, REAL_EIGENVALUE, TO_TRANSFORMED,
};
use super::step_control::{Tolerance, first_step, fitted_step, smallest_step};
use super::{Control, Flow, IntegrateError, Projection, Statistics};

const MOST_ITERATIONS: usize = 7;
/// A Jacobian is kept while the iteration contracts at least this fast.
const RATE_TO_KEEP_JACOBIAN: f64 = 1e-3;
/// The step, and with it the factors, is kept if it would grow by no more than this.
const GROWTH_TO_KEEP_FACTORS: f64 = 1.2;
const SAFETY: f64 = 0.9;
const SHRINK_LIMIT: f64 = 0.2;
const GROWTH_LIMIT: f64 = 8.0;

/// What became of an attempt whose stage equations were not solved.
#[derive(Clone, Copy)]
enum Unsolved {
    /// The iteration will not converge in time; the step should change by this factor.
    Slow(f64),
    NonFinite(NonFiniteComponent),
}

impl From<NonFiniteComponent> for Unsolved {
    fn from(component: NonFiniteComponent) -> Self {
        Self::NonFinite(component)
    }
}

/// The last accepted step, for the predictive controller.
#[derive(Clone, Copy)]
struct Accepted {
    step: f64,
    error: f64,
}

/// The method with its solution and workspace.
pub(super) struct Radau<'a> {
    equations: Equations<'a>,
    tolerance: Tolerance,
    newton_tolerance: f64,
    initial_step: Option<f64>,
    max_step: Option<f64>,
    time: f64,
    state: Vec<f64>,
    /// Derivative at `time`.
    opening: Vec<f64>,
    proposed: f64,
    worst: usize,
    after_rejection: bool,
    accepted: Option<Accepted>,
    /// $`\partial f / \partial y`$ by rows.
    jacobian: Vec<f64>,
    jacobian_wanted: bool,
    /// Whether the Jacobian was taken at `time`.
    jacobian_fresh: bool,
    factored_step: Option<f64>,
    real: Lu<f64>,
    complex: Lu<Complex<f64>>,
    /// Contraction of the last iteration, and θ/(1 − θ) of it.
    rate: f64,
    contraction: f64,
    /// $`z`$, $`w`$ and $`F`$.
    increments: [Vec<f64>; 3],
    transformed: [Vec<f64>; 3],
    rates: [Vec<f64>; 3],
    /// Divided differences of the collocation polynomial of the last step.
    polynomial: [Vec<f64>; 3],
    previous_time: f64,
    previous_state: Vec<f64>,
    last_step: f64,
    real_vector: Vec<f64>,
    complex_vector: Vec<Complex<f64>>,
    trial_state: Vec<f64>,
    trial_rate: Vec<f64>,
}

impl<'a> Radau<'a> {
    pub(super) fn new(control: &Control, equations: Equations<'a>, state: &[f64]) -> Self {
        let n = state.len();
        let zeros = vec![0.0; n];
        let triple = [zeros.clone(), zeros.clone(), zeros.clone()];
        let rtol = 0.1 * control.rtol.powf(0.8);
        let ratio = rtol / control.rtol;
        let atol = control.atol.iter().map(|atol| atol * ratio).collect();
        Self {
            equations,
            tolerance: Tolerance::new(rtol, atol),
            newton_tolerance: (10.0 * f64::EPSILON / rtol).max(rtol.sqrt().min(0.03)),
            initial_step: control.initial_step,
            max_step: control.max_step,
            time: 0.0,
            state: state.to_vec(),
            opening: zeros.clone(),
            proposed: 0.0,
            worst: 0,
            after_rejection: false,
            accepted: None,
            jacobian: vec![0.0; n * n],
            jacobian_wanted: true,
            jacobian_fresh: false,
            factored_step: None,
            real: Lu::new(n),
            complex: Lu::new(n),
            rate: 0.0,
            contraction: 1.0,
            increments: triple.clone(),
            transformed: triple.clone(),
            rates: triple.clone(),
            polynomial: triple,
            previous_time: 0.0,
            previous_state: zeros.clone(),
            last_step: 0.0,
            real_vector: zeros.clone(),
            complex_vector: vec![Complex::new(0.0, 0.0); n],
            trial_state: zeros.clone(),
            trial_rate: zeros,
        }
    }

    /// Tries a step: leaves its increments in place and returns the scaled error and the iterations.
    fn attempt(&mut self, step: f64) -> Result<(f64, usize), Unsolved> {
        if self.jacobian_wanted {
            self.build_jacobian()?;
        }
        if self.factored_step != Some(step) {
            self.factor(step)?;
        }
        self.guess_increments(step);
        let iterations = self.solve_stages(step)?;
        let mut error = self.error(step, false)?;
        if error >= 1.0 && (self.accepted.is_none() || self.after_rejection) {
            error = self.error(step, true)?;
        }
        Ok((error, iterations))
    }

    fn build_jacobian(&mut self) -> Result<(), NonFiniteComponent> {
        let n = self.state.len();
        self.trial_state.copy_from_slice(&self.state);
        for column in 0..n {
            let value = self.state[column];
            let increment = (f64::EPSILON * value.abs().max(1e-5)).sqrt();
            self.trial_state[column] = value + increment;
            let mut evaluated =
                self.equations
                    .derivative(self.time, &self.trial_state, &mut self.trial_rate);
            if evaluated.is_err() {
                // at the edge of where the system is defined the other side may do
                self.trial_state[column] = value - increment;
                evaluated =
                    self.equations
                        .derivative(self.time, &self.trial_state, &mut self.trial_rate);
            }
            evaluated?;
            let difference = self.trial_state[column] - value;
            for row in 0..n {
                self.jacobian[row * n + column] =
                    (self.trial_rate[row] - self.opening[row]) / difference;
            }
            self.trial_state[column] = value;
        }
        self.equations.statistics.jacobians += 1;
        self.jacobian_wanted = false;
        self.jacobian_fresh = true;
        self.factored_step = None;
        Ok(())
    }

    fn factor(&mut self, step: f64) -> Result<(), Unsolved> {
        let n = self.state.len();
        let jacobian = &self.jacobian;
        let real = REAL_EIGENVALUE / step;
        let complex = complex_eigenvalue() / step;
        self.equations.statistics.factorizations += 2;
        self.factored_step = None;
        let diagonal = |row, column, value| if row == column { value } else { 0.0 };
        self.real
            .factor(|row, column| diagonal(row, column, real) - jacobian[row * n + column])
            .map_err(|_| Unsolved::Slow(0.5))?;
        self.complex
            .factor(|row, column| {
                Complex::new(
                    diagonal(row, column, complex.re) - jacobian[row * n + column],
                    diagonal(row, column, complex.im),
                )
            })
            .map_err(|_| Unsolved::Slow(0.5))?;
        self.factored_step = Some(step);
        Ok(())
    }

    /// Starts the iteration from the continued collocation polynomial of the last step.
    fn guess_increments(&mut self, step: f64) {
        if self.accepted.is_none() {
            for i in 0..3 {
                self.increments[i].fill(0.0);
                self.transformed[i].fill(0.0);
            }
            return;
        }
        let ratio = step / self.last_step;
        for component in 0..self.state.len() {
            let end = self.polynomial_at(1.0, component);
            let z: [f64; 3] = std::array::from_fn(|i| {
                self.polynomial_at(1.0 + ratio * NODES[i], component) - end
            });
            for i in 0..3 {
                self.increments[i][component] = z[i];
                self.transformed[i][component] = dot(&TO_TRANSFORMED[i], &z);
            }
        }
    }

    /// Solves for the increments by simplified Newton iteration; returns the number of iterations.
    fn solve_stages(&mut self, step: f64) -> Result<usize, Unsolved> {
        let n = self.state.len();
        let real = REAL_EIGENVALUE / step;
        let complex = complex_eigenvalue() / step;
        self.contraction = self.contraction.max(f64::EPSILON).powf(0.8);
        self.rate = RATE_TO_KEEP_JACOBIAN;
        let mut previous_size = 0.0;
        let mut previous_ratio = 0.0;
        for iteration in 1..=MOST_ITERATIONS {
            self.equations.statistics.iterations += 1;
            for stage in 0..3 {
                for i in 0..n {
                    self.trial_state[i] = self.state[i] + self.increments[stage][i];
                }
                self.equations.derivative(
                    self.time + NODES[stage] * step,
                    &self.trial_state,
                    &mut self.rates[stage],
                )?;
            }
            for i in 0..n {
                let rates = [self.rates[0][i], self.rates[1][i], self.rates[2][i]];
                let w = [
                    self.transformed[0][i],
                    self.transformed[1][i],
                    self.transformed[2][i],
                ];
                self.real_vector[i] = dot(&TO_TRANSFORMED[0], &rates) - real * w[0];
                self.complex_vector[i] = Complex::new(
                    dot(&TO_TRANSFORMED[1], &rates),
                    dot(&TO_TRANSFORMED[2], &rates),
                ) - complex * Complex::new(w[1], w[2]);
            }
            self.real.solve(&mut self.real_vector);
            self.complex.solve(&mut self.complex_vector);
            let size = self.correction_size();
            if !size.is_finite() {
                return Err(Unsolved::Slow(0.5));
            }
            if iteration > 1 {
                let ratio = size / previous_size;
                self.rate = if iteration == 2 {
                    ratio
                } else {
                    f64::sqrt(ratio * previous_ratio)
                };
                previous_ratio = ratio;
                if self.rate >= 0.99 {
                    return Err(Unsolved::Slow(0.5));
                }
                self.contraction = self.rate / (1.0 - self.rate);
                let remaining = (MOST_ITERATIONS - iteration) as f64;
                let expected =
                    self.contraction * size * self.rate.powf(remaining) / self.newton_tolerance;
                if expected >= 1.0 {
                    return Err(Unsolved::Slow(
                        0.8 * expected.clamp(1e-4, 20.0).powf(-1.0 / (4.0 + remaining)),
                    ));
                }
            }
            previous_size = size.max(f64::EPSILON);
            self.apply_correction();
            if self.contraction * size <= self.newton_tolerance {
                return Ok(iteration);
            }
        }
        Err(Unsolved::Slow(0.5))
    }

    fn correction_size(&self) -> f64 {
        let n = self.state.len();
        let mut sum = 0.0;
        for i in 0..n {
            let scale = self.tolerance.scale(i, self.state[i].abs());
            sum += (self.real_vector[i] / scale).powi(2)
                + self.complex_vector[i].norm_sqr() / (scale * scale);
        }
        (sum / (3 * n.max(1)) as f64).sqrt()
    }

    fn apply_correction(&mut self) {
        for i in 0..self.state.len() {
            self.transformed[0][i] += self.real_vector[i];
            self.transformed[1][i] += self.complex_vector[i].re;
            self.transformed[2][i] += self.complex_vector[i].im;
            let w = [
                self.transformed[0][i],
                self.transformed[1][i],
                self.transformed[2][i],
            ];
            for stage in 0..3 {
                self.increments[stage][i] = dot(&FROM_TRANSFORMED[stage], &w);
            }
        }
    }

    /// Scaled error; `filtered` a second time it stays bounded for very stiff
    /// components, at the cost of an evaluation.
    fn error(&mut self, step: f64, filtered: bool) -> Result<f64, NonFiniteComponent> {
        let n = self.state.len();
        if filtered {
            for i in 0..n {
                self.trial_state[i] = self.state[i] + self.real_vector[i];
            }
            self.equations
                .derivative(self.time, &self.trial_state, &mut self.trial_rate)?;
        } else {
            self.trial_rate.copy_from_slice(&self.opening);
        }
        for i in 0..n {
            let z = [
                self.increments[0][i],
                self.increments[1][i],
                self.increments[2][i],
            ];
            self.real_vector[i] = self.trial_rate[i] + dot(&ERROR, &z) / step;
        }
        self.real.solve(&mut self.real_vector);
        let (error, worst) = self.tolerance.norm(&self.real_vector, &self.state);
        self.worst = worst;
        // `max` would take a NaN for zero
        Ok(if error.is_nan() {
            f64::INFINITY
        } else {
            error.max(1e-10)
        })
    }

    fn accept(&mut self, step: f64, end: f64) -> Result<(), NonFiniteComponent> {
        for i in 0..self.state.len() {
            self.trial_state[i] = self.state[i] + self.increments[2][i];
        }
        self.equations
            .derivative(end, &self.trial_state, &mut self.trial_rate)?;
        self.previous_time = self.time;
        self.last_step = step;
        self.time = end;
        std::mem::swap(&mut self.previous_state, &mut self.state);
        self.state.copy_from_slice(&self.trial_state);
        self.opening.copy_from_slice(&self.trial_rate);
        self.build_polynomial();
        self.equations.statistics.steps += 1;
        Ok(())
    }

    fn build_polynomial(&mut self) {
        let [c1, c2, _] = NODES;
        for i in 0..self.state.len() {
            let (z1, z2, z3) = (
                self.increments[0][i],
                self.increments[1][i],
                self.increments[2][i],
            );
            let first = z1 / c1;
            let second = (z2 - z1) / (c2 - c1);
            let third = (z3 - z2) / (1.0 - c2);
            let first_second = (second - first) / c2;
            let second_third = (third - second) / (1.0 - c1);
            self.polynomial[0][i] = first;
            self.polynomial[1][i] = first_second;
            self.polynomial[2][i] = second_third - first_second;
        }
    }

    /// Increment over the last step's start at `theta` of the last step.
    fn polynomial_at(&self, theta: f64, component: usize) -> f64 {
        theta
            * (self.polynomial[0][component]
                + (theta - NODES[0])
                    * (self.polynomial[1][component]
                        + (theta - NODES[1]) * self.polynomial[2][component]))
    }

    /// Chooses the next step after an accepted one, and what may be kept for it.
    fn plan_next(&mut self, step: f64, error: f64, iterations: usize) {
        let mut factor = predicted_factor(error, iterations);
        if let Some(previous) = self.accepted {
            let predicted =
                SAFETY * (step / previous.step) * (previous.error / (error * error)).powf(0.25);
            factor = factor.min(predicted.clamp(SHRINK_LIMIT, GROWTH_LIMIT));
        }
        self.accepted = Some(Accepted {
            step,
            error: error.max(1e-2),
        });
        if self.after_rejection {
            factor = factor.min(1.0);
        }
        self.after_rejection = false;
        let fast = self.rate <= RATE_TO_KEEP_JACOBIAN;
        self.jacobian_fresh = false;
        self.jacobian_wanted = !fast;
        self.proposed = if fast && (1.0..=GROWTH_TO_KEEP_FACTORS).contains(&factor) {
            step
        } else {
            step * factor
        };
    }
}

/// Factor to the next step from an error and the number of iterations it took.
fn predicted_factor(error: f64, iterations: usize) -> f64 {
    let most = MOST_ITERATIONS as f64;
    let effort = (1.0 + 2.0 * most) / (iterations as f64 + 2.0 * most);
    (SAFETY * effort.min(1.0) / error.powf(0.25)).clamp(SHRINK_LIMIT, GROWTH_LIMIT)
}

fn complex_eigenvalue() -> Complex<f64> {
    Complex::new(COMPLEX_EIGENVALUE.0, COMPLEX_EIGENVALUE.1)
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Stepper for Radau<'_> {
    fn start(&mut self, piece: &Piece) -> Result<(), IntegrateError> {
        self.time = piece.start;
        self.equations.handle_event(piece, &mut self.state);
        self.equations.statistics.highest_order = 5;
        self.accepted = None;
        self.after_rejection = false;
        self.jacobian_wanted = true;
        self.jacobian_fresh = false;
        self.contraction = 1.0;
        if let Err(component) = self
            .equations
            .derivative(self.time, &self.state, &mut self.opening)
        {
            return Err(self.equations.non_finite(self.time, component));
        }
        self.proposed = match self.initial_step {
            Some(step) => step,
            None => first_step(
                &mut self.equations,
                &self.tolerance,
                4,
                piece,
                &self.state,
                &self.opening,
                [&mut self.trial_state, &mut self.trial_rate],
            ),
        };
        Ok(())
    }

    fn step(&mut self, piece: &Piece) -> Result<(), IntegrateError> {
        loop {
            self.equations.allow_attempt(self.time, self.worst)?;
            let (step, last) = fitted_step(self.proposed, self.time, piece, self.max_step);
            let mut attempt = self.attempt(step);
            if let Ok((error, iterations)) = attempt
                && error < 1.0
            {
                let end = if last { piece.end } else { self.time + step };
                match self.accept(step, end) {
                    Ok(()) => {
                        self.plan_next(step, error, iterations);
                        return Ok(());
                    }
                    Err(component) => attempt = Err(Unsolved::NonFinite(component)),
                }
            }
            let factor = match attempt {
                // the first guess of a step may be far off
                Ok(_) if self.accepted.is_none() => 0.1,
                Ok((error, iterations)) => predicted_factor(error, iterations),
                Err(Unsolved::Slow(factor)) => factor,
                Err(Unsolved::NonFinite(_)) => 0.5,
            };
            self.proposed = step * factor;
            self.after_rejection = true;
            self.jacobian_wanted = !self.jacobian_fresh;
            self.equations.statistics.rejected += 1;
            if self.proposed < smallest_step(self.time, piece) {
                return Err(match attempt {
                    Err(Unsolved::NonFinite(component)) => {
                        self.equations.non_finite(self.time, component)
                    }
                    _ => self.equations.step_too_small(self.time, self.worst),
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
        let theta = (time - self.previous_time) / self.last_step;
        for (i, value) in state.iter_mut().enumerate() {
            *value = self.previous_state[i] + self.polynomial_at(theta, i);
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
