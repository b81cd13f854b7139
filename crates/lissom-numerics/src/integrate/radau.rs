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

mod newton;

use nalgebra::Complex;

use newton::{MOST_ITERATIONS, RATE_TO_KEEP_JACOBIAN};

use super::driver::Stepper;
use super::equations::{FirstOrderEquations, NonFiniteComponent};
use super::lu::Lu;
use super::memory::{AcceptedStep, LastStep, RadauMemory};
use super::radau_coefficients::{ERROR, NODES};
use super::schedule::Piece;
use super::step_control::{FittedStep, Tolerance, first_step, fitted_step, smallest_step};
use super::{Control, FirstOrder, IntegrateError, Projection};

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

/// The method: settings, memory and workspace.
#[derive(Clone, Debug)]
pub(super) struct Radau {
    tolerance: Tolerance,
    newton_tolerance: f64,
    initial_step: Option<f64>,
    max_step: Option<f64>,
    memory: RadauMemory,
    /// Factors of the two iteration matrices for the memory's Jacobian and factored step.
    real: Lu<f64>,
    complex: Lu<Complex<f64>>,
    /// Contraction of the last iteration.
    rate: f64,
    /// $`z`$, $`w`$ and $`F`$.
    increments: [Vec<f64>; 3],
    transformed: [Vec<f64>; 3],
    rates: [Vec<f64>; 3],
    real_vector: Vec<f64>,
    complex_vector: Vec<Complex<f64>>,
    trial_state: Vec<f64>,
    trial_rate: Vec<f64>,
}

impl Radau {
    pub(super) fn new(control: &Control, time: f64, state: &[f64]) -> Self {
        let zeros = vec![0.0; state.len()];
        Self::with(
            control,
            RadauMemory {
                time,
                state: state.to_vec(),
                opening: zeros.clone(),
                proposed: 0.0,
                after_rejection: false,
                accepted: None,
                jacobian: vec![0.0; state.len() * state.len()],
                jacobian_wanted: true,
                jacobian_fresh: false,
                factored_step: None,
                contraction: 1.0,
                last_step: LastStep::none(&zeros),
                polynomial: [zeros.clone(), zeros.clone(), zeros],
                worst: 0,
            },
        )
    }

    /// The method as it was when `memory` was taken, which fits itself.
    pub(super) fn resume(control: &Control, memory: RadauMemory) -> Self {
        let mut method = Self::with(control, memory);
        if let Some(step) = method.memory.factored_step {
            // matrices that could be factored before can be factored again; others were not for use
            let _ = method.factor(step);
        }
        method
    }

    fn with(control: &Control, memory: RadauMemory) -> Self {
        let n = memory.state.len();
        let zeros = vec![0.0; n];
        let triple = [zeros.clone(), zeros.clone(), zeros.clone()];
        let rtol = 0.1 * control.rtol.powf(0.8);
        let ratio = rtol / control.rtol;
        let atol = control.atol.iter().map(|atol| atol * ratio).collect();
        Self {
            tolerance: Tolerance::new(rtol, atol),
            newton_tolerance: (10.0 * f64::EPSILON / rtol).max(rtol.sqrt().min(0.03)),
            initial_step: control.initial_step,
            max_step: control.max_step,
            memory,
            real: Lu::new(n),
            complex: Lu::new(n),
            rate: 0.0,
            increments: triple.clone(),
            transformed: triple.clone(),
            rates: triple,
            real_vector: zeros.clone(),
            complex_vector: vec![Complex::new(0.0, 0.0); n],
            trial_state: zeros.clone(),
            trial_rate: zeros,
        }
    }

    pub(super) fn memory(&self) -> &RadauMemory {
        &self.memory
    }

    /// Goes on from the state of another method, with the derivative there and a step to begin with.
    pub(super) fn take_over(&mut self, opening: &[f64], step: f64) {
        self.memory.opening.copy_from_slice(opening);
        self.memory.proposed = step;
    }

    /// Tries a step: leaves its increments in place and returns the scaled error and the iterations.
    fn attempt(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        step: f64,
    ) -> Result<(f64, usize), Unsolved> {
        if self.memory.jacobian_wanted {
            self.build_jacobian(equations)?;
        }
        if self.memory.factored_step != Some(step) {
            equations.statistics.factorizations += 2;
            self.factor(step)?;
        }
        self.guess_increments(step);
        let iterations = self.solve_stages(equations, step)?;
        let mut error = self.error(equations, step, false)?;
        if error >= 1.0 && (self.memory.accepted.is_none() || self.memory.after_rejection) {
            error = self.error(equations, step, true)?;
        }
        Ok((error, iterations))
    }

    /// Scaled error; `filtered` a second time it stays bounded for very stiff
    /// components, at the cost of an evaluation.
    fn error(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        step: f64,
        filtered: bool,
    ) -> Result<f64, NonFiniteComponent> {
        let n = self.memory.state.len();
        if filtered {
            for i in 0..n {
                self.trial_state[i] = self.memory.state[i] + self.real_vector[i];
            }
            equations.derivative(self.memory.time, &self.trial_state, &mut self.trial_rate)?;
        } else {
            self.trial_rate.copy_from_slice(&self.memory.opening);
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
        let (error, worst) = self.tolerance.norm(&self.real_vector, &self.memory.state);
        self.memory.worst = worst;
        // `max` would take a NaN for zero
        Ok(if error.is_nan() {
            f64::INFINITY
        } else {
            error.max(1e-10)
        })
    }

    fn accept(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        step: f64,
        end: f64,
    ) -> Result<(), NonFiniteComponent> {
        for i in 0..self.memory.state.len() {
            self.trial_state[i] = self.memory.state[i] + self.increments[2][i];
        }
        equations.derivative(end, &self.trial_state, &mut self.trial_rate)?;
        self.memory.last_step.start = self.memory.time;
        self.memory.last_step.length = step;
        self.memory.time = end;
        std::mem::swap(&mut self.memory.last_step.state, &mut self.memory.state);
        self.memory.state.copy_from_slice(&self.trial_state);
        self.memory.opening.copy_from_slice(&self.trial_rate);
        self.build_polynomial();
        equations.statistics.steps += 1;
        Ok(())
    }

    fn build_polynomial(&mut self) {
        let [c1, c2, _] = NODES;
        for i in 0..self.memory.state.len() {
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
            self.memory.polynomial[0][i] = first;
            self.memory.polynomial[1][i] = first_second;
            self.memory.polynomial[2][i] = second_third - first_second;
        }
    }

    /// Increment over the last step's start at `theta` of the last step.
    fn polynomial_at(&self, theta: f64, component: usize) -> f64 {
        theta
            * (self.memory.polynomial[0][component]
                + (theta - NODES[0])
                    * (self.memory.polynomial[1][component]
                        + (theta - NODES[1]) * self.memory.polynomial[2][component]))
    }

    /// Chooses the next step after an accepted one, and what may be kept for it.
    fn plan_next(&mut self, fitted: FittedStep, error: f64, iterations: usize) {
        let step = fitted.length;
        // behind a step that was cut the next may be as long as that one was to be
        let growth_limit = GROWTH_LIMIT.max(fitted.regrowth());
        let mut factor = predicted_factor(error, iterations, growth_limit);
        match self.memory.accepted {
            // and its error is no trend
            Some(_) if fitted.is_cut() => {}
            previous => {
                if let Some(previous) = previous {
                    let predicted = SAFETY
                        * (step / previous.step)
                        * (previous.error / (error * error)).powf(0.25);
                    factor = factor.min(predicted.clamp(SHRINK_LIMIT, GROWTH_LIMIT));
                }
                self.memory.accepted = Some(AcceptedStep {
                    step,
                    error: error.max(1e-2),
                });
            }
        }
        if self.memory.after_rejection {
            factor = factor.min(fitted.regrowth());
        }
        self.memory.after_rejection = false;
        let fast = self.rate <= RATE_TO_KEEP_JACOBIAN;
        self.memory.jacobian_fresh = false;
        self.memory.jacobian_wanted = !fast;
        self.memory.proposed = if fast && (1.0..=GROWTH_TO_KEEP_FACTORS).contains(&factor) {
            step
        } else {
            fitted.next(step * factor, error)
        };
    }
}

/// Factor to the next step from an error and the number of iterations it took.
fn predicted_factor(error: f64, iterations: usize, growth_limit: f64) -> f64 {
    let most = MOST_ITERATIONS as f64;
    let effort = (1.0 + 2.0 * most) / (iterations as f64 + 2.0 * most);
    (SAFETY * effort.min(1.0) / error.powf(0.25)).clamp(SHRINK_LIMIT, growth_limit)
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl<'s> Stepper<dyn FirstOrder + 's> for Radau {
    fn start(
        &mut self,
        equations: &mut FirstOrderEquations<'_, 's>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        let memory = &mut self.memory;
        memory.time = piece.start;
        equations.handle_event(piece.start, &mut memory.state);
        equations.statistics.highest_order = 5;
        memory.accepted = None;
        memory.after_rejection = false;
        memory.jacobian_wanted = true;
        memory.jacobian_fresh = false;
        memory.contraction = 1.0;
        equations.opening(memory.time, &memory.state, &mut memory.opening)?;
        memory.proposed = match self.initial_step {
            Some(step) => step,
            None => first_step(
                equations,
                &self.tolerance,
                4,
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
        let time = self.memory.time;
        loop {
            equations.allow_attempt(time, self.memory.worst)?;
            let fitted = fitted_step(self.memory.proposed, time, piece, self.max_step);
            let step = fitted.length;
            let mut attempt = self.attempt(equations, step);
            if let Ok((error, iterations)) = attempt
                && error < 1.0
            {
                let end = if fitted.last { piece.end } else { time + step };
                match self.accept(equations, step, end) {
                    Ok(()) => {
                        self.plan_next(fitted, error, iterations);
                        return Ok(());
                    }
                    Err(component) => attempt = Err(Unsolved::NonFinite(component)),
                }
            }
            let factor = match attempt {
                // the first guess of a step may be far off
                Ok(_) if self.memory.accepted.is_none() => 0.1,
                Ok((error, iterations)) => predicted_factor(error, iterations, GROWTH_LIMIT),
                Err(Unsolved::Slow(factor)) => factor,
                Err(Unsolved::NonFinite(_)) => 0.5,
            };
            self.memory.proposed = step * factor;
            self.memory.after_rejection = true;
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
        let last_step = &self.memory.last_step;
        let theta = (time - last_step.start) / last_step.length;
        for (i, value) in state.iter_mut().enumerate() {
            *value = last_step.state[i] + self.polynomial_at(theta, i);
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
