//! Newton's iteration for the stages: Jacobian by finite differences, factors, first guess, corrections.

use nalgebra::Complex;

use super::super::equations::{FirstOrderEquations, NonFiniteComponent};
use super::super::jacobian::difference_jacobian;
use super::super::radau_coefficients::{
    COMPLEX_EIGENVALUE, FROM_TRANSFORMED, NODES, REAL_EIGENVALUE, TO_TRANSFORMED,
};
use super::{Radau, Unsolved, dot};

pub(super) const MOST_ITERATIONS: usize = 7;
/// A Jacobian is kept while the iteration contracts at least this fast.
pub(super) const RATE_TO_KEEP_JACOBIAN: f64 = 1e-3;
/// A polynomial says nothing about a step that is this many times as long as its own, as behind one that was cut.
const LONGEST_CONTINUATION: f64 = 10.0;

impl Radau {
    pub(super) fn build_jacobian(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
    ) -> Result<(), NonFiniteComponent> {
        let memory = &mut self.memory;
        difference_jacobian(
            equations,
            memory.time,
            &memory.state,
            &memory.opening,
            &mut memory.jacobian,
            [&mut self.trial_state, &mut self.trial_rate],
        )?;
        self.memory.jacobian_wanted = false;
        self.memory.jacobian_fresh = true;
        self.memory.factored_step = None;
        Ok(())
    }

    pub(super) fn factor(&mut self, step: f64) -> Result<(), Unsolved> {
        let n = self.memory.state.len();
        let jacobian = &self.memory.jacobian;
        let real = REAL_EIGENVALUE / step;
        let complex = complex_eigenvalue() / step;
        self.memory.factored_step = None;
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
        self.memory.factored_step = Some(step);
        Ok(())
    }

    /// Starts the iteration from the continued collocation polynomial of the last step.
    pub(super) fn guess_increments(&mut self, step: f64) {
        let ratio = step / self.memory.last_step.length;
        if self.memory.accepted.is_none() || ratio > LONGEST_CONTINUATION {
            for i in 0..3 {
                self.increments[i].fill(0.0);
                self.transformed[i].fill(0.0);
            }
            return;
        }
        for component in 0..self.memory.state.len() {
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
    pub(super) fn solve_stages(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        step: f64,
    ) -> Result<usize, Unsolved> {
        let n = self.memory.state.len();
        let real = REAL_EIGENVALUE / step;
        let complex = complex_eigenvalue() / step;
        self.memory.contraction = self.memory.contraction.max(f64::EPSILON).powf(0.8);
        self.rate = RATE_TO_KEEP_JACOBIAN;
        let mut previous_size = 0.0;
        let mut previous_ratio = 0.0;
        for iteration in 1..=MOST_ITERATIONS {
            equations.statistics.iterations += 1;
            for stage in 0..3 {
                for i in 0..n {
                    self.trial_state[i] = self.memory.state[i] + self.increments[stage][i];
                }
                equations.derivative(
                    self.memory.time + NODES[stage] * step,
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
                self.memory.contraction = self.rate / (1.0 - self.rate);
                let remaining = (MOST_ITERATIONS - iteration) as f64;
                let expected = self.memory.contraction * size * self.rate.powf(remaining)
                    / self.newton_tolerance;
                if expected >= 1.0 {
                    return Err(Unsolved::Slow(
                        0.8 * expected.clamp(1e-4, 20.0).powf(-1.0 / (4.0 + remaining)),
                    ));
                }
            }
            previous_size = size.max(f64::EPSILON);
            self.apply_correction();
            if self.memory.contraction * size <= self.newton_tolerance {
                return Ok(iteration);
            }
        }
        Err(Unsolved::Slow(0.5))
    }

    fn correction_size(&self) -> f64 {
        let n = self.memory.state.len();
        let mut sum = 0.0;
        for i in 0..n {
            let scale = self.tolerance.scale(i, self.memory.state[i].abs());
            sum += (self.real_vector[i] / scale).powi(2)
                + self.complex_vector[i].norm_sqr() / (scale * scale);
        }
        (sum / (3 * n.max(1)) as f64).sqrt()
    }

    fn apply_correction(&mut self) {
        for i in 0..self.memory.state.len() {
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
}

fn complex_eigenvalue() -> Complex<f64> {
    Complex::new(COMPLEX_EIGENVALUE.0, COMPLEX_EIGENVALUE.1)
}
