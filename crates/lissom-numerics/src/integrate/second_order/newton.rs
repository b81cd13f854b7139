//! Newton's iteration for one step, with a tangent of the system's own, or with one by differences that is kept over several.
//!
//! Where that does not converge the tangent is built anew in every iteration, by central differences: those to one side are wrong
//! by 1e-8 of what a load feels, which is as much as the parts feel that are a thousand times lighter. Corrections are shortened
//! until the one that would follow is smaller: the natural monotonicity test of Deuflhard, *Newton Methods for Nonlinear Problems*,
//! 3.3. A first step is made with one acceleration from its beginning to its end by that iteration, rather than by the
//! scheme: see there.

use super::super::equations::{NonFiniteComponent, SecondOrderEquations};
use super::super::lu::{Lu, SingularColumn};
use super::super::{IntegrateError, SecondOrder};
use super::{Made, Parameters, Structural, Weights};

/// Corrections that grow by more than this do not converge, whatever the tangent.
const DIVERGING_RATE: f64 = 2.0;
/// An old tangent serves a step that differs by less than this share.
const SAME_STEP: f64 = 1e-3;
/// Corrections of velocity below this are rounding noise, whatever the motion.
const VELOCITY_NOISE: f64 = 1e-14;
/// Corrections of positions, in metres or radians, that no longer shrink and are rounding: some thousand times that of
/// unit numbers, as mechanisms of some hundred metres and many elements make it.
const POSITION_NOISE: f64 = 1e-12;

/// Tangents that are built for one step before it is given up.
const MOST_TANGENTS: usize = 40;
/// Share of a correction below which it is not shortened further.
const SHORTEST_SHARE: f64 = 1e-3;

/// How a tangent is differenced.
#[derive(Clone, Copy, PartialEq)]
enum Differences {
    /// To one side, at one evaluation per column.
    Forward,
    /// To both sides, at two.
    Central,
}

/// Why an iteration was given up.
enum Unsolved {
    Slow { component: usize },
    NonFinite { component: usize },
}

impl Structural {
    /// Prepares what a step of this length adds to without the new acceleration.
    fn prepare(&mut self, step: f64) {
        let Parameters {
            alpha_mass,
            alpha_force,
            beta,
            gamma,
        } = self.parameters;
        let (_, velocity, acceleration) =
            Self::split(&self.memory.state, self.positions, self.velocities);
        for i in 0..self.velocities {
            let old = self.memory.algorithmic_acceleration[i];
            let new = (alpha_force * acceleration[i] - alpha_mass * old) / (1.0 - alpha_mass);
            self.base_increment[i] =
                step * velocity[i] + step * step * ((0.5 - beta) * old + beta * new);
            self.base_velocity[i] = velocity[i] + step * ((1.0 - gamma) * old + gamma * new);
        }
        self.acceleration.copy_from_slice(acceleration);
        let share = self.parameters.acceleration_share();
        self.weights = Weights {
            position: step * step * beta * share,
            velocity: step * gamma * share,
            reach: step * step * share * beta.max(gamma),
        };
    }

    /// Prepares a step with one acceleration from its beginning to its end.
    fn prepare_one_acceleration(&mut self, step: f64) {
        let (_, velocity, _) = Self::split(&self.memory.state, self.positions, self.velocities);
        for (increment, &velocity) in self.base_increment.iter_mut().zip(velocity) {
            *increment = step * velocity;
        }
        self.base_velocity.copy_from_slice(velocity);
        self.weights = Weights {
            position: 0.5 * step * step,
            velocity: step,
            reach: step * step,
        };
    }

    /// Brings position and velocity at the end of the step up to the acceleration as it stands.
    fn follow_acceleration(&mut self, system: &dyn SecondOrder) {
        let Weights {
            position, velocity, ..
        } = self.weights;
        for i in 0..self.velocities {
            self.memory.increment[i] = self.base_increment[i] + position * self.acceleration[i];
            self.velocity[i] = self.base_velocity[i] + velocity * self.acceleration[i];
        }
        system.displace(
            &self.memory.state[..self.positions],
            &self.memory.increment,
            &mut self.position,
        );
    }

    /// Evaluates the residual at the end of the step for the acceleration as it stands.
    fn evaluate(
        &mut self,
        equations: &mut SecondOrderEquations<'_, '_>,
        end: f64,
    ) -> Result<(), Unsolved> {
        self.follow_acceleration(equations.system);
        equations
            .residual(
                end,
                [&self.position, &self.velocity, &self.acceleration],
                &mut self.residual,
            )
            .map_err(|NonFiniteComponent(component)| Unsolved::NonFinite { component })
    }

    /// Builds and factors the tangent at the acceleration as it stands.
    fn build_tangent(
        &mut self,
        equations: &mut SecondOrderEquations<'_, '_>,
        end: f64,
        step: f64,
        differences: Differences,
    ) -> Result<(), Unsolved> {
        let n = self.velocities;
        self.memory.tangent_step = None;
        self.memory.tangent.resize(n * n, 0.0);
        self.evaluate(equations, end)?;
        self.base_residual.copy_from_slice(&self.residual);
        for column in 0..n {
            let value = self.acceleration[column];
            let size = self.base_increment[column].abs().max(1.0);
            // where truncation and rounding leave equal errors
            let far = match differences {
                Differences::Forward => f64::EPSILON.sqrt(),
                Differences::Central => f64::EPSILON.cbrt(),
            } * size
                / self.weights.reach;
            let mut behind = value;
            if differences == Differences::Central {
                behind = value - far;
                self.acceleration[column] = behind;
                self.evaluate(equations, end)?;
                self.correction.copy_from_slice(&self.residual);
            } else {
                self.correction.copy_from_slice(&self.base_residual);
            }
            self.acceleration[column] = value + far;
            let difference = self.acceleration[column] - behind;
            self.evaluate(equations, end)?;
            for row in 0..n {
                self.memory.tangent[row * n + column] =
                    (self.residual[row] - self.correction[row]) / difference;
            }
            self.acceleration[column] = value;
        }
        equations.statistics.jacobians += 1;
        equations.statistics.factorizations += 1;
        self.factor_tangent()
            .map_err(|SingularColumn(component)| Unsolved::Slow { component })?;
        self.memory.tangent_step = Some(step);
        Ok(())
    }

    pub(super) fn factor_tangent(&mut self) -> Result<(), SingularColumn> {
        let n = self.velocities;
        let tangent = &self.memory.tangent;
        let factors = self.factors.get_or_insert_with(|| Lu::new(n));
        factors.factor(|row, column| tangent[row * n + column])
    }

    /// Replaces the residual by the correction that the tangent at hand asks for.
    pub(super) fn solve_tangent(&mut self, system: &mut dyn SecondOrder) {
        if self.own_tangent {
            system.solve_tangent(&mut self.residual);
        } else if let Some(factors) = &self.factors {
            factors.solve(&mut self.residual);
        }
    }

    /// Asks the system for its own tangent at the acceleration as it stands; tells whether there is one.
    fn prepare_tangent(&mut self, equations: &mut SecondOrderEquations<'_, '_>, end: f64) -> bool {
        self.follow_acceleration(equations.system);
        let weights = [self.weights.position, self.weights.velocity];
        let motion = [&self.position[..], &self.velocity, &self.acceleration];
        let end = end.min(equations.ceiling);
        self.own_tangent = equations.system.prepare_tangent(end, motion, weights);
        if self.own_tangent {
            equations.statistics.factorizations += 1;
        }
        self.own_tangent
    }

    /// Newton's iteration with the tangent at hand, which is of this step or an old one.
    fn iterate(
        &mut self,
        equations: &mut SecondOrderEquations<'_, '_>,
        end: f64,
        step: f64,
        fresh: bool,
    ) -> Result<(), Unsolved> {
        let position_weight = self.weights.position;
        let mut previous_size = f64::INFINITY;
        let mut worst = 0;
        // stiff systems near rest: forces that cancel leave accelerations of rounding, which move nothing
        let is_noise = |size: f64| position_weight * size <= POSITION_NOISE;
        for _ in 0..self.options.max_iterations {
            equations.statistics.iterations += 1;
            self.evaluate(equations, end)?;
            self.solve_tangent(equations.system);
            let mut size: f64 = 0.0;
            let mut scale: f64 = 0.0;
            for i in 0..self.velocities {
                let correction = self.residual[i];
                self.acceleration[i] -= correction;
                if correction.abs() > size {
                    size = correction.abs();
                    worst = i;
                }
                scale = scale
                    .max(step * self.acceleration[i].abs())
                    .max(self.velocity[i].abs());
            }
            let rate = size / previous_size;
            let tolerated = self.options.tolerance * scale + VELOCITY_NOISE;
            // what is left behind a correction is that of a geometric series
            let left = if rate < 1.0 { rate / (1.0 - rate) } else { 1.0 }.min(1.0);
            let measured = previous_size.is_finite();
            if step * size * (if measured { left } else { 1.0 }) <= tolerated {
                self.follow_acceleration(equations.system);
                return Ok(());
            }
            let hopeless = if fresh {
                rate > DIVERGING_RATE
            } else {
                // a new tangent costs an evaluation per column: the old one serves while it needs fewer
                let needed = (tolerated / (step * size)).ln() / rate.ln();
                rate >= 1.0 || needed > self.velocities as f64
            };
            if measured && hopeless {
                if is_noise(size) {
                    self.follow_acceleration(equations.system);
                    return Ok(());
                }
                break;
            }
            previous_size = size;
        }
        if fresh && is_noise(previous_size) {
            self.follow_acceleration(equations.system);
            return Ok(());
        }
        Err(Unsolved::Slow { component: worst })
    }

    /// Newton's iteration for the prepared step with a tangent of its own for every correction, from a motion that does not accelerate.
    fn iterate_from_uniform_motion(
        &mut self,
        equations: &mut SecondOrderEquations<'_, '_>,
        end: f64,
        step: f64,
    ) -> Result<(), Unsolved> {
        let position_weight = self.weights.position;
        if position_weight > 0.0 {
            let (_, velocity, _) = Self::split(&self.memory.state, self.positions, self.velocities);
            for i in 0..self.velocities {
                self.acceleration[i] =
                    (step * velocity[i] - self.base_increment[i]) / position_weight;
            }
        }
        self.iterate_with_new_tangents(equations, end, step)
    }

    /// The same from the acceleration as it stands.
    fn iterate_with_new_tangents(
        &mut self,
        equations: &mut SecondOrderEquations<'_, '_>,
        end: f64,
        step: f64,
    ) -> Result<(), Unsolved> {
        let position_weight = self.weights.position;
        let mut worst = 0;
        for _ in 0..MOST_TANGENTS {
            equations.statistics.iterations += 1;
            self.build_tangent(equations, end, step, Differences::Central)?;
            self.residual.copy_from_slice(&self.base_residual);
            self.solve_tangent(equations.system);
            self.correction.copy_from_slice(&self.residual);
            let (size, at) = largest(&self.correction);
            worst = at;
            let scale = (self.velocity.iter())
                .zip(&self.acceleration)
                .fold(0.0_f64, |most, (v, a)| {
                    most.max(v.abs()).max(step * a.abs())
                });
            let tolerated = self.options.tolerance * scale + VELOCITY_NOISE;
            self.base_acceleration.copy_from_slice(&self.acceleration);
            let is_small = step * size <= tolerated || position_weight * size <= POSITION_NOISE;
            let share = if is_small {
                1.0
            } else {
                self.useful_share(equations, end, size)?
            };
            self.correct_by(share);
            if is_small {
                self.follow_acceleration(equations.system);
                return Ok(());
            }
        }
        Err(Unsolved::Slow { component: worst })
    }

    /// Makes the first step of a piece with one acceleration from its beginning to its end.
    fn start_gently(
        &mut self,
        equations: &mut SecondOrderEquations<'_, '_>,
        end: f64,
        step: f64,
    ) -> Result<(), Unsolved> {
        self.prepare_one_acceleration(step);
        let solved = self.iterate_from_uniform_motion(equations, end, step);
        // the tangent is none of the scheme's
        self.memory.tangent_step = None;
        solved
    }

    /// The share of a correction of this size after which the next one, by the same tangent, is smaller.
    fn useful_share(
        &mut self,
        equations: &mut SecondOrderEquations<'_, '_>,
        end: f64,
        size: f64,
    ) -> Result<f64, Unsolved> {
        let mut share = 1.0;
        loop {
            self.correct_by(share);
            let next = self.evaluate(equations, end).map(|()| {
                self.solve_tangent(equations.system);
                largest(&self.residual)
            });
            match next {
                Ok((next, _)) if next <= (1.0 - 0.5 * share) * size => return Ok(share),
                Ok((_, component)) if share < SHORTEST_SHARE => {
                    return Err(Unsolved::Slow { component });
                }
                Err(unsolved) if share < SHORTEST_SHARE => return Err(unsolved),
                _ => share *= 0.5,
            }
        }
    }

    /// Takes a share of the correction off the acceleration that it belongs to.
    fn correct_by(&mut self, share: f64) {
        let base = self.base_acceleration.iter().zip(&self.correction);
        for (acceleration, (base, correction)) in self.acceleration.iter_mut().zip(base) {
            *acceleration = base - share * correction;
        }
    }

    pub(super) fn solve(
        &mut self,
        equations: &mut SecondOrderEquations<'_, '_>,
        end: f64,
        step: f64,
    ) -> Result<Made, IntegrateError> {
        self.prepare(step);
        if self.prepare_tangent(equations, end) {
            if self.iterate(equations, end, step, true).is_ok() {
                return Ok(Made::ByScheme);
            }
            // what it leaves out may be what the step needs
            self.own_tangent = false;
            self.prepare(step);
        }
        let usable = self
            .memory
            .tangent_step
            .is_some_and(|built| (built - step).abs() < SAME_STEP * step);
        if usable && self.iterate(equations, end, step, false).is_ok() {
            return Ok(Made::ByScheme);
        }
        self.prepare(step);
        let solved = (self.build_tangent(equations, end, step, Differences::Forward))
            .and_then(|()| self.iterate(equations, end, step, true))
            .map(|()| Made::ByScheme)
            .or_else(|first| {
                let at_start = self.memory.steps_from_origin == 0;
                let gently = at_start && self.start_gently(equations, end, step).is_ok();
                if gently {
                    return Ok(Made::ByOneAcceleration);
                }
                self.prepare(step);
                let solved = self
                    .iterate_from_uniform_motion(equations, end, step)
                    .or_else(|_| {
                        self.prepare(step);
                        self.iterate_with_new_tangents(equations, end, step)
                    });
                solved.map(|()| Made::ByScheme).map_err(|_| first)
            });
        let time = self.memory.time;
        solved.map_err(|unsolved| match unsolved {
            Unsolved::NonFinite { component } => IntegrateError::NonFinite {
                time,
                component,
                statistics: equations.statistics,
            },
            Unsolved::Slow { component } => IntegrateError::NewtonFailed {
                time,
                component,
                step,
                statistics: equations.statistics,
            },
        })
    }
}

/// Size of the largest entry, and which it is.
fn largest(vector: &[f64]) -> (f64, usize) {
    let mut most = (0.0, 0);
    for (i, x) in vector.iter().enumerate() {
        if x.abs() > most.0 {
            most = (x.abs(), i);
        }
    }
    most
}
