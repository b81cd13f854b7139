//! Newton's iteration for one step, with a tangent that is kept over several.

use super::super::equations::{NonFiniteComponent, SecondOrderEquations};
use super::super::lu::SingularColumn;
use super::super::{IntegrateError, SecondOrder};
use super::{Parameters, Structural};

/// Corrections that grow by more than this do not converge, whatever the tangent.
const DIVERGING_RATE: f64 = 2.0;
/// An old tangent serves a step that differs by less than this share.
const SAME_STEP: f64 = 1e-3;
/// Corrections of velocity below this are rounding noise, whatever the motion.
const VELOCITY_NOISE: f64 = 1e-14;
/// Corrections of positions, in metres or radians, that no longer shrink and are rounding: some thousand times that of
/// unit numbers, as mechanisms of some hundred metres and many elements make it.
const POSITION_NOISE: f64 = 1e-12;

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
    }

    /// Brings position and velocity at the end of the step up to the acceleration as it stands.
    fn follow_acceleration(&mut self, system: &dyn SecondOrder, step: f64) {
        let share = self.parameters.acceleration_share();
        let position_weight = step * step * self.parameters.beta * share;
        let velocity_weight = step * self.parameters.gamma * share;
        for i in 0..self.velocities {
            self.memory.increment[i] =
                self.base_increment[i] + position_weight * self.acceleration[i];
            self.velocity[i] = self.base_velocity[i] + velocity_weight * self.acceleration[i];
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
        step: f64,
    ) -> Result<(), Unsolved> {
        self.follow_acceleration(equations.system, step);
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
    ) -> Result<(), Unsolved> {
        let n = self.velocities;
        let share = self.parameters.acceleration_share();
        // the larger of the two increments that a unit of acceleration causes, as a position
        let reach = step * step * share * self.parameters.beta.max(self.parameters.gamma);
        self.memory.tangent_step = None;
        self.evaluate(equations, end, step)?;
        self.base_residual.copy_from_slice(&self.residual);
        for column in 0..n {
            let value = self.acceleration[column];
            let size = self.base_increment[column].abs().max(1.0);
            self.acceleration[column] = value + f64::EPSILON.sqrt() * size / reach;
            let difference = self.acceleration[column] - value;
            self.evaluate(equations, end, step)?;
            for row in 0..n {
                self.memory.tangent[row * n + column] =
                    (self.residual[row] - self.base_residual[row]) / difference;
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
        self.factors.factor(|row, column| tangent[row * n + column])
    }

    /// Newton's iteration with the tangent at hand, which is of this step or an old one.
    fn iterate(
        &mut self,
        equations: &mut SecondOrderEquations<'_, '_>,
        end: f64,
        step: f64,
        fresh: bool,
    ) -> Result<(), Unsolved> {
        let share = self.parameters.acceleration_share();
        let position_weight = step * step * self.parameters.beta * share;
        let mut previous_size = f64::INFINITY;
        let mut worst = 0;
        // stiff systems near rest: forces that cancel leave accelerations of rounding, which move nothing
        let is_noise = |size: f64| position_weight * size <= POSITION_NOISE;
        for _ in 0..self.options.max_iterations {
            equations.statistics.iterations += 1;
            self.evaluate(equations, end, step)?;
            self.factors.solve(&mut self.residual);
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
                self.follow_acceleration(equations.system, step);
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
                    self.follow_acceleration(equations.system, step);
                    return Ok(());
                }
                break;
            }
            previous_size = size;
        }
        if fresh && is_noise(previous_size) {
            self.follow_acceleration(equations.system, step);
            return Ok(());
        }
        Err(Unsolved::Slow { component: worst })
    }

    pub(super) fn solve(
        &mut self,
        equations: &mut SecondOrderEquations<'_, '_>,
        end: f64,
        step: f64,
    ) -> Result<(), IntegrateError> {
        self.prepare(step);
        let usable = self
            .memory
            .tangent_step
            .is_some_and(|built| (built - step).abs() < SAME_STEP * step);
        if usable && self.iterate(equations, end, step, false).is_ok() {
            return Ok(());
        }
        self.prepare(step);
        let solved = self
            .build_tangent(equations, end, step)
            .and_then(|()| self.iterate(equations, end, step, true));
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
