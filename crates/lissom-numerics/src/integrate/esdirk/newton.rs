//! The stages of a step: first guess, iteration, and when it has converged.

use super::super::equations::FirstOrderEquations;
use super::super::jacobian::difference_jacobian;
use super::super::lu::Lu;
use super::{DIAGONAL, Esdirk, NODES, STAGES, Unsolved};

/// An iteration that only omits a little of the Jacobian converges long before; one that omits much is better
/// helped by a shorter step.
const MOST_ITERATIONS: usize = 10;
/// What an unfinished iteration may leave, in the units of the estimated error of a step. With more of it fast modes are no longer damped as
/// the method would damp them, and errors of undamped arms do not follow the tolerance.
const STAGE_TOLERANCE: f64 = 0.005;
/// A correction so small is rounding, or none at rest: what it contracts by says nothing.
const NEGLIGIBLE: f64 = 1e-5;
/// Contraction that is expected in a step before it was measured there. What other steps showed does not count: the contraction changes with the
/// length of the step and the age of a Jacobian, and an iteration that is taken to have converged when it has not makes the solution
/// unstable.
const UNKNOWN_CONTRACTION: f64 = 0.5;
/// The stages of a step say nothing about one that is this many times as long, as behind one that was cut.
const LONGEST_CONTINUATION: f64 = 2.0;
/// Stages whose derivatives, continued by a polynomial, are the first guess of another: those of the step before, and those of the same
/// step. Neighbours that are close together are left out, which would make rounding errors and what other iterations left large.
const GUESSED_FROM: [[&[usize]; 2]; STAGES] = [
    [&[], &[]],
    [&[0, 1, 2], &[0]],
    [&[2], &[0, 1]],
    [&[], &[0, 1, 2]],
    [&[], &[0, 1, 2, 3]],
    [&[], &[0, 1, 3, 4]],
    [&[], &[0, 1, 3, 4, 5]],
];

impl Esdirk {
    /// Prepares the iteration for a step; tells whether the system solves for its stages itself.
    pub(super) fn prepare_stages(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        step: f64,
    ) -> Result<bool, Unsolved> {
        let memory = &mut self.memory;
        let share = DIAGONAL * step;
        let (time, allowance) = (memory.time, &mut self.allowance);
        allowance.fill(1.0);
        if equations.prepare_stages(time, &memory.state, &memory.opening, share, allowance) {
            return Ok(true);
        }
        if memory.jacobian_wanted || memory.jacobian.is_empty() {
            let n = memory.state.len();
            memory.jacobian.resize(n * n, 0.0);
            // what a stage left of its equation is small in the state, but not beside the increments of the differences
            equations.derivative(memory.time, &memory.state, &mut self.base)?;
            difference_jacobian(
                equations,
                memory.time,
                &memory.state,
                &self.base,
                &mut memory.jacobian,
                [&mut self.trial_state, &mut self.trial_rate],
            )?;
            memory.jacobian_wanted = false;
            memory.jacobian_fresh = true;
            memory.factored_step = None;
        }
        if memory.factored_step != Some(step) {
            equations.statistics.factorizations += 1;
            self.factor(step)?;
        }
        Ok(false)
    }

    pub(super) fn factor(&mut self, step: f64) -> Result<(), Unsolved> {
        let memory = &mut self.memory;
        let n = memory.state.len();
        let share = DIAGONAL * step;
        memory.factored_step = None;
        let factors = self.factors.get_or_insert_with(|| Lu::new(n));
        factors
            .factor(|row, column| {
                let one = if row == column { 1.0 } else { 0.0 };
                one - share * memory.jacobian[row * n + column]
            })
            .map_err(|_| Unsolved::Slow)?;
        memory.factored_step = Some(step);
        Ok(())
    }

    /// Whether a Jacobian by differences is older than the step.
    pub(super) fn can_renew_jacobian(&self) -> bool {
        !self.memory.jacobian.is_empty() && !self.memory.jacobian_fresh
    }

    /// Leaves a first guess of the derivative at a stage.
    pub(super) fn guess_stage(&mut self, stage: usize, step: f64) {
        let last = self.memory.last_step.length;
        let [earlier, own] = GUESSED_FROM[stage];
        let earlier = if step <= LONGEST_CONTINUATION * last {
            earlier
        } else {
            &[]
        };
        let (known, rest) = self.stages.split_at_mut(stage);
        // places in units of this step
        let points = || {
            let earlier =
                (earlier.iter()).map(|&i| ((NODES[i] - 1.0) * last / step, &self.memory.stages[i]));
            earlier.chain(own.iter().map(|&i| (NODES[i], &known[i])))
        };
        let guess = &mut rest[0];
        guess.fill(0.0);
        for (at, (place, rates)) in points().enumerate() {
            let others = points().enumerate().filter(|(other, _)| *other != at);
            let weight = others.fold(1.0, |weight, (_, (other, _))| {
                weight * (NODES[stage] - other) / (place - other)
            });
            for (guess, rate) in guess.iter_mut().zip(rates) {
                *guess += weight * rate;
            }
        }
    }

    /// Iterates a stage until what is left of it cannot be told from the solution.
    pub(super) fn solve_stage(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        stage: usize,
        step: f64,
        solves_itself: bool,
    ) -> Result<(), Unsolved> {
        let share = DIAGONAL * step;
        let time = self.memory.time + NODES[stage] * step;
        // what earlier stages of the step showed, if one took two iterations
        let mut contraction = if self.slowest > 0.0 {
            self.slowest
        } else {
            UNKNOWN_CONTRACTION
        };
        let mut previous = f64::INFINITY;
        for iteration in 1..=MOST_ITERATIONS {
            equations.statistics.iterations += 1;
            self.trial_state.copy_from_slice(&self.stages[stage]);
            if solves_itself {
                equations.improve_stage(time, &self.base, share, &mut self.stages[stage])?;
            } else {
                self.newton_step(equations, stage, time, share)?;
            }
            for (i, before) in self.trial_state.iter_mut().enumerate() {
                *before = share * (self.stages[stage][i] - *before) / self.allowance[i];
            }
            let (size, worst) = self.tolerance.norm(&self.trial_state, &self.memory.state);
            if size <= NEGLIGIBLE {
                return Ok(());
            }
            if iteration > 1 {
                contraction = size / previous;
                self.slowest = self.slowest.max(contraction);
                // the first guess may lie where the iteration does not contract yet
                if !contraction.is_finite() || (contraction >= 1.0 && iteration > 3) {
                    self.memory.worst = worst;
                    return Err(Unsolved::Slow);
                }
            }
            let left = if contraction < 1.0 {
                contraction / (1.0 - contraction) * size
            } else {
                f64::INFINITY
            };
            // a first correction by a Jacobian that is too stiff is small however far away the solution is
            let measured = iteration > 1 || self.slowest > 0.0;
            if left <= STAGE_TOLERANCE && measured {
                return Ok(());
            }
            self.memory.worst = worst;
            previous = size;
        }
        Err(Unsolved::Slow)
    }

    /// One step of Newton's method with the Jacobian by differences.
    fn newton_step(
        &mut self,
        equations: &mut FirstOrderEquations<'_, '_>,
        stage: usize,
        time: f64,
        share: f64,
    ) -> Result<(), Unsolved> {
        // `trial_state` keeps the derivative before the step
        let rates = &mut self.stages[stage];
        for (rate, base) in rates.iter_mut().zip(&self.base) {
            *rate = base + share * *rate;
        }
        equations.derivative(time, rates, &mut self.trial_rate)?;
        for (defect, before) in self.trial_rate.iter_mut().zip(&self.trial_state) {
            *defect -= before;
        }
        if let Some(factors) = &self.factors {
            factors.solve(&mut self.trial_rate);
        }
        for i in 0..rates.len() {
            rates[i] = self.trial_state[i] + self.trial_rate[i];
        }
        Ok(())
    }
}
