//! Generalised-α and Newmark: fixed-step methods for $`r(t, q, v, \dot v) = 0`$.
//!
//! Sources: Newmark, *J. Eng. Mech. Div. ASCE* 85 (1959); Chung & Hulbert, *J. Appl. Mech.* 60 (1993);
//! Arnold & Brüls, *Multibody Syst. Dyn.* 18 (2007), eqs (2), (3); Brüls & Cardona, *J. Comput.
//! Nonlinear Dyn.* 5 (2010) for positions on a Lie group. With an algorithmic acceleration $`a`$ beside
//! the true one, a step of length h solves
//!
//! ```math
//! \begin{aligned}
//! q_1 &= q \oplus \bigl(h v + h^2 (\tfrac12 - \beta)\, a + h^2 \beta\, a_1\bigr) , \\
//! v_1 &= v + h (1 - \gamma)\, a + h \gamma\, a_1 , \\
//! (1 - \alpha_m)\, a_1 + \alpha_m\, a &= (1 - \alpha_f)\, \dot v_1 + \alpha_f\, \dot v , \\
//! r(t_1, q_1, v_1, \dot v_1) &= 0
//! \end{aligned}
//! ```
//!
//! for $`\dot v_1`$ by Newton's iteration. Newmark's method is the case $`\alpha_m = \alpha_f = 0`$.
//! The tangent is taken by finite differences along $`\dot v_1`$, with $`q_1`$ and $`v_1`$ following, and
//! kept as long as the iterations it needs cost less than a new one. Between the ends of a step the increment of position
//! is a cubic Hermite polynomial, the velocity its derivative, the acceleration linear.

use super::driver::{Piece, Stepper};
use super::lu::{Lu, SingularColumn};
use super::{FixedStep, Flow, IntegrateError, Scheme, SecondOrder, Statistics};

/// Corrections that grow by more than this do not converge, whatever the tangent.
const DIVERGING_RATE: f64 = 2.0;
/// Share of the step below which a remainder is added to the step before it.
const NEGLIGIBLE_REMAINDER: f64 = 1e-6;
/// An old tangent serves a step that differs by less than this share.
const SAME_STEP: f64 = 1e-3;
/// Corrections of velocity below this are rounding noise, whatever the motion.
const VELOCITY_NOISE: f64 = 1e-14;
/// Corrections of positions, in metres or radians, that no longer shrink and are rounding: some thousand times that of
/// unit numbers, as mechanisms of some hundred metres and many elements make it.
const POSITION_NOISE: f64 = 1e-12;

/// Parameters α, β and γ of a scheme.
#[derive(Clone, Copy, Debug)]
struct Parameters {
    alpha_mass: f64,
    alpha_force: f64,
    beta: f64,
    gamma: f64,
}

impl Parameters {
    fn of(scheme: Scheme) -> Self {
        match scheme {
            Scheme::Newmark { beta, gamma } => Self {
                alpha_mass: 0.0,
                alpha_force: 0.0,
                beta,
                gamma,
            },
            Scheme::GeneralizedAlpha {
                spectral_radius: rho,
            } => {
                let alpha_mass = (2.0 * rho - 1.0) / (rho + 1.0);
                let alpha_force = rho / (rho + 1.0);
                let gamma = 0.5 + alpha_force - alpha_mass;
                Self {
                    alpha_mass,
                    alpha_force,
                    beta: 0.25 * (gamma + 0.5).powi(2),
                    gamma,
                }
            }
        }
    }

    /// Share of the new true acceleration in the new algorithmic one.
    fn acceleration_share(self) -> f64 {
        (1.0 - self.alpha_force) / (1.0 - self.alpha_mass)
    }
}

/// Why an iteration was given up.
enum Unsolved {
    Slow { component: usize },
    NonFinite { component: usize },
}

/// The method with its solution and workspace.
pub(super) struct Structural<'a> {
    parameters: Parameters,
    options: FixedStep,
    system: &'a mut dyn SecondOrder,
    statistics: Statistics,
    positions: usize,
    velocities: usize,
    ceiling: f64,
    time: f64,
    /// Full steps made in this piece, so that instants do not gather rounding errors.
    steps_in_piece: u64,
    /// Position, velocity, acceleration.
    state: Vec<f64>,
    previous_time: f64,
    previous_state: Vec<f64>,
    last_step: f64,
    algorithmic_acceleration: Vec<f64>,
    /// Increment of position and new velocity without the new acceleration, and with it.
    base_increment: Vec<f64>,
    base_velocity: Vec<f64>,
    increment: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    position: Vec<f64>,
    residual: Vec<f64>,
    base_residual: Vec<f64>,
    /// Increment of position up to a sample.
    sample_increment: Vec<f64>,
    matrix: Vec<f64>,
    tangent: Lu<f64>,
    /// Step that the tangent was built for.
    tangent_step: Option<f64>,
}

impl<'a> Structural<'a> {
    pub(super) fn new(
        scheme: Scheme,
        options: &FixedStep,
        system: &'a mut dyn SecondOrder,
        position: &[f64],
        velocity: &[f64],
        start: f64,
    ) -> Result<Self, IntegrateError> {
        let (positions, velocities) = (system.position_count(), system.velocity_count());
        for (quantity, given, wanted) in [
            ("number of positions", position.len(), positions),
            ("number of velocities", velocity.len(), velocities),
        ] {
            if given != wanted {
                return Err(IntegrateError::invalid(
                    quantity,
                    given as f64,
                    "it must be that of the system",
                    start,
                ));
            }
        }
        let zeros = vec![0.0; velocities];
        let state = [position, velocity, &zeros].concat();
        Ok(Self {
            parameters: Parameters::of(scheme),
            options: *options,
            system,
            statistics: Statistics {
                highest_order: 2,
                ..Statistics::default()
            },
            positions,
            velocities,
            ceiling: start,
            time: start,
            steps_in_piece: 0,
            previous_time: start,
            previous_state: state.clone(),
            state,
            last_step: 0.0,
            algorithmic_acceleration: zeros.clone(),
            base_increment: zeros.clone(),
            base_velocity: zeros.clone(),
            increment: zeros.clone(),
            velocity: zeros.clone(),
            acceleration: zeros.clone(),
            position: vec![0.0; positions],
            residual: zeros.clone(),
            base_residual: zeros.clone(),
            sample_increment: zeros,
            matrix: vec![0.0; velocities * velocities],
            tangent: Lu::new(velocities),
            tangent_step: None,
        })
    }

    fn split(state: &[f64], positions: usize, velocities: usize) -> (&[f64], &[f64], &[f64]) {
        let (position, rest) = state.split_at(positions);
        let (velocity, acceleration) = rest.split_at(velocities);
        (position, velocity, acceleration)
    }

    /// Prepares what a step of this length adds to without the new acceleration.
    fn prepare(&mut self, step: f64) {
        let Parameters {
            alpha_mass,
            alpha_force,
            beta,
            gamma,
        } = self.parameters;
        let (_, velocity, acceleration) = Self::split(&self.state, self.positions, self.velocities);
        for i in 0..self.velocities {
            let old = self.algorithmic_acceleration[i];
            let new = (alpha_force * acceleration[i] - alpha_mass * old) / (1.0 - alpha_mass);
            self.base_increment[i] =
                step * velocity[i] + step * step * ((0.5 - beta) * old + beta * new);
            self.base_velocity[i] = velocity[i] + step * ((1.0 - gamma) * old + gamma * new);
        }
        self.acceleration.copy_from_slice(acceleration);
    }

    /// Brings position and velocity at the end of the step up to the acceleration as it stands.
    fn follow_acceleration(&mut self, step: f64) {
        let share = self.parameters.acceleration_share();
        let position_weight = step * step * self.parameters.beta * share;
        let velocity_weight = step * self.parameters.gamma * share;
        for i in 0..self.velocities {
            self.increment[i] = self.base_increment[i] + position_weight * self.acceleration[i];
            self.velocity[i] = self.base_velocity[i] + velocity_weight * self.acceleration[i];
        }
        self.system.displace(
            &self.state[..self.positions],
            &self.increment,
            &mut self.position,
        );
    }

    /// Evaluates the residual at the end of the step for the acceleration as it stands.
    fn evaluate(&mut self, end: f64, step: f64) -> Result<(), Unsolved> {
        self.follow_acceleration(step);
        self.statistics.evaluations += 1;
        self.system.residual(
            end.min(self.ceiling),
            &self.position,
            &self.velocity,
            &self.acceleration,
            &mut self.residual,
        );
        match self.residual.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(component) => Err(Unsolved::NonFinite { component }),
        }
    }

    /// Builds and factors the tangent at the acceleration as it stands.
    fn build_tangent(&mut self, end: f64, step: f64) -> Result<(), Unsolved> {
        let n = self.velocities;
        let share = self.parameters.acceleration_share();
        // the larger of the two increments that a unit of acceleration causes, as a position
        let reach = step * step * share * self.parameters.beta.max(self.parameters.gamma);
        self.evaluate(end, step)?;
        self.base_residual.copy_from_slice(&self.residual);
        for column in 0..n {
            let value = self.acceleration[column];
            let size = self.base_increment[column].abs().max(1.0);
            self.acceleration[column] = value + f64::EPSILON.sqrt() * size / reach;
            let difference = self.acceleration[column] - value;
            self.evaluate(end, step)?;
            for row in 0..n {
                self.matrix[row * n + column] =
                    (self.residual[row] - self.base_residual[row]) / difference;
            }
            self.acceleration[column] = value;
        }
        self.statistics.jacobians += 1;
        self.tangent_step = None;
        self.factor_matrix()
            .map_err(|SingularColumn(component)| Unsolved::Slow { component })?;
        self.tangent_step = Some(step);
        Ok(())
    }

    fn factor_matrix(&mut self) -> Result<(), SingularColumn> {
        let n = self.velocities;
        let matrix = &self.matrix;
        self.statistics.factorizations += 1;
        self.tangent.factor(|row, column| matrix[row * n + column])
    }

    /// Newton's iteration with the tangent at hand, which is of this step or an old one.
    fn iterate(&mut self, end: f64, step: f64, fresh: bool) -> Result<(), Unsolved> {
        let share = self.parameters.acceleration_share();
        let position_weight = step * step * self.parameters.beta * share;
        let mut previous_size = f64::INFINITY;
        let mut worst = 0;
        for _ in 0..self.options.max_iterations {
            self.statistics.iterations += 1;
            self.evaluate(end, step)?;
            self.tangent.solve(&mut self.residual);
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
                self.follow_acceleration(step);
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
                // stiff systems near rest: forces that cancel leave accelerations of rounding, which move nothing
                if position_weight * size <= POSITION_NOISE {
                    self.follow_acceleration(step);
                    return Ok(());
                }
                break;
            }
            previous_size = size;
        }
        Err(Unsolved::Slow { component: worst })
    }

    fn solve(&mut self, end: f64, step: f64) -> Result<(), IntegrateError> {
        self.prepare(step);
        let usable = self
            .tangent_step
            .is_some_and(|built| (built - step).abs() < SAME_STEP * step);
        if usable && self.iterate(end, step, false).is_ok() {
            return Ok(());
        }
        self.prepare(step);
        let solved = self
            .build_tangent(end, step)
            .and_then(|()| self.iterate(end, step, true));
        solved.map_err(|unsolved| match unsolved {
            Unsolved::NonFinite { component } => IntegrateError::NonFinite {
                time: self.time,
                component,
                statistics: self.statistics,
            },
            Unsolved::Slow { component } => IntegrateError::NewtonFailed {
                time: self.time,
                component,
                step,
                statistics: self.statistics,
            },
        })
    }

    fn accept(&mut self, end: f64, step: f64) {
        let Parameters {
            alpha_mass,
            alpha_force,
            ..
        } = self.parameters;
        let (positions, velocities) = (self.positions, self.velocities);
        std::mem::swap(&mut self.previous_state, &mut self.state);
        let (_, _, old) = Self::split(&self.previous_state, positions, velocities);
        for i in 0..velocities {
            self.algorithmic_acceleration[i] = ((1.0 - alpha_force) * self.acceleration[i]
                + alpha_force * old[i]
                - alpha_mass * self.algorithmic_acceleration[i])
                / (1.0 - alpha_mass);
        }
        self.state[..positions].copy_from_slice(&self.position);
        self.state[positions..positions + velocities].copy_from_slice(&self.velocity);
        self.state[positions + velocities..].copy_from_slice(&self.acceleration);
        self.previous_time = self.time;
        self.last_step = step;
        self.time = end;
        self.steps_in_piece += 1;
        self.statistics.steps += 1;
    }
}

impl Stepper for Structural<'_> {
    /// Accelerations follow from the residual, which is linear in them.
    fn start(&mut self, piece: &Piece) -> Result<(), IntegrateError> {
        self.time = piece.start;
        self.ceiling = piece.ceiling.max(piece.start);
        self.steps_in_piece = 0;
        self.acceleration.fill(0.0);
        let (position, motion) = self.state.split_at_mut(self.positions);
        (self.system).handle_event(self.time, position, &mut motion[..self.velocities]);
        let (position, velocity, _) = Self::split(&self.state, self.positions, self.velocities);
        self.statistics.evaluations += 1;
        self.system.residual(
            self.time,
            position,
            velocity,
            &self.acceleration,
            &mut self.residual,
        );
        if let Some(component) = self.residual.iter().position(|value| !value.is_finite()) {
            return Err(IntegrateError::NonFinite {
                time: self.time,
                component,
                statistics: self.statistics,
            });
        }
        self.system
            .mass_matrix(self.time, position, &mut self.matrix);
        self.tangent_step = None;
        if let Err(SingularColumn(component)) = self.factor_matrix() {
            return Err(IntegrateError::SingularMass {
                time: self.time,
                component,
                statistics: self.statistics,
            });
        }
        self.tangent.solve(&mut self.residual);
        let acceleration = &mut self.state[self.positions + self.velocities..];
        for i in 0..self.velocities {
            acceleration[i] = -self.residual[i];
        }
        self.algorithmic_acceleration.copy_from_slice(acceleration);
        Ok(())
    }

    fn step(&mut self, piece: &Piece) -> Result<(), IntegrateError> {
        let nominal = self.options.step;
        let next = piece.start + (self.steps_in_piece + 1) as f64 * nominal;
        let (end, step) = if next + NEGLIGIBLE_REMAINDER * nominal >= piece.end {
            (piece.end, piece.end - self.time)
        } else {
            (next, nominal)
        };
        self.solve(end, step)?;
        self.accept(end, step);
        Ok(())
    }

    fn project(&mut self) -> Result<Flow, IntegrateError> {
        let (position, motion) = self.state.split_at_mut(self.positions);
        let time = self.time.min(self.ceiling);
        let projection = (self.system).project(time, position, &mut motion[..self.velocities]);
        Ok(projection.flow())
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn interpolate(&mut self, time: f64, state: &mut [f64]) -> Result<(), IntegrateError> {
        let (positions, velocities) = (self.positions, self.velocities);
        let theta = (time - self.previous_time) / self.last_step;
        let rest = 1.0 - theta;
        let (old_position, old_velocity, old_acceleration) =
            Self::split(&self.previous_state, positions, velocities);
        let (_, new_velocity, new_acceleration) = Self::split(&self.state, positions, velocities);
        let (position, motion) = state.split_at_mut(positions);
        let (velocity, acceleration) = motion.split_at_mut(velocities);
        for i in 0..velocities {
            let whole = self.increment[i];
            let (old, new) = (
                self.last_step * old_velocity[i],
                self.last_step * new_velocity[i],
            );
            self.sample_increment[i] = whole * theta * theta * (3.0 - 2.0 * theta)
                + old * theta * rest * rest
                - new * theta * theta * rest;
            velocity[i] = (whole * 6.0 * theta * rest
                + old * rest * (1.0 - 3.0 * theta)
                + new * theta * (3.0 * theta - 2.0))
                / self.last_step;
            acceleration[i] = rest * old_acceleration[i] + theta * new_acceleration[i];
        }
        self.system
            .displace(old_position, &self.sample_increment, position);
        Ok(())
    }

    fn event_function(&mut self, time: f64, state: &[f64]) -> f64 {
        let (position, velocity, _) = Self::split(state, self.positions, self.velocities);
        (self.system).event_function(time.min(self.ceiling), position, velocity)
    }

    fn rewind(&mut self, time: f64, state: &[f64]) {
        self.time = time;
        self.state.copy_from_slice(state);
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }
}

/// Refuses parameters for which no step is defined.
pub(super) fn check_options(
    scheme: Scheme,
    options: &FixedStep,
    time: f64,
) -> Result<(), IntegrateError> {
    let invalid =
        |quantity, value, remedy| Err(IntegrateError::invalid(quantity, value, remedy, time));
    match scheme {
        Scheme::GeneralizedAlpha { spectral_radius } => {
            if !(0.0..=1.0).contains(&spectral_radius) {
                return invalid(
                    "spectral radius",
                    spectral_radius,
                    "it must lie between 0 and 1",
                );
            }
        }
        Scheme::Newmark { beta, gamma } => {
            if !(0.0..=0.5).contains(&beta) {
                return invalid("newmark's beta", beta, "it must lie between 0 and 1/2");
            }
            if !(gamma > 0.0 && gamma <= 1.0) {
                return invalid(
                    "newmark's gamma",
                    gamma,
                    "it must be positive and at most 1",
                );
            }
        }
    }
    if !(options.step > 0.0 && options.step.is_finite()) {
        return invalid("step", options.step, "it must be positive and finite");
    }
    if !(options.tolerance > 0.0 && options.tolerance < 1.0) {
        return invalid(
            "newton's tolerance",
            options.tolerance,
            "it must lie between 0 and 1",
        );
    }
    if options.max_iterations == 0 {
        return invalid("number of newton iterations", 0.0, "allow at least one");
    }
    Ok(())
}
