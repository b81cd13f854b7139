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
//! kept as long as the iterations it needs cost less than a new one.
//!
//! The accelerations at the start are those of the equations. Where a force jumps, light parts under heavy loads accelerate so much
//! that a step far longer than their periods would bend them by many times what the force can. A linear system forgives that, since
//! the new acceleration takes it back; where bending pulls the load, Newton's iteration diverges, or finds another solution.
//! The first step of a piece in which it diverges is made with one acceleration from its beginning to its end,
//!
//! ```math
//! q_1 = q \oplus \bigl(h v + \tfrac12 h^2 \dot v_1\bigr) , \qquad v_1 = v + h\,\dot v_1 , \qquad r(t_1, q_1, v_1, \dot v_1) = 0 ,
//! ```
//!
//! which is what the scheme does if that is its acceleration at the start too. Positions are then wrong by $`O(h^3)`$ and velocities by
//! $`O(h^2)`$, once: the order remains two. Steps short enough for Newton's iteration start with the true accelerations.
//!
//! Between the ends of a step the increment of position
//! is a cubic Hermite polynomial, the velocity its derivative, the acceleration linear.

mod newton;

use super::driver::Stepper;
use super::equations::SecondOrderEquations;
use super::lu::{Lu, SingularColumn};
use super::memory::{LastStep, StructuralMemory};
use super::schedule::Piece;
use super::{FixedStep, IntegrateError, Projection, Scheme, SecondOrder};

/// Behind a step that is shorter by more than this the algorithmic acceleration begins anew: too few of its digits are left.
const LARGEST_GROWTH: f64 = 10.0;
/// Share of the step below which a remainder is added to the step before it.
const NEGLIGIBLE_REMAINDER: f64 = 1e-6;

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

/// Increments of position and velocity per unit of the new acceleration, and the larger of them as a position.
#[derive(Clone, Copy, Debug, Default)]
struct Weights {
    position: f64,
    velocity: f64,
    reach: f64,
}

/// How a step was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// By the scheme.
    ByScheme,
    /// By one acceleration from its beginning to its end, where the scheme found none.
    ByOneAcceleration,
}

/// The method: settings, memory and workspace.
#[derive(Clone, Debug)]
pub(super) struct Structural {
    parameters: Parameters,
    options: FixedStep,
    positions: usize,
    velocities: usize,
    memory: StructuralMemory,
    weights: Weights,
    /// Factors of the memory's tangent; absent where the system has tangents of its own.
    factors: Option<Lu<f64>>,
    /// Whether the tangent at hand is the system's own.
    own_tangent: bool,
    /// Increment of position and new velocity without the new acceleration; the new ones with it.
    base_increment: Vec<f64>,
    base_velocity: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    position: Vec<f64>,
    residual: Vec<f64>,
    base_residual: Vec<f64>,
    /// Acceleration from which a shortened correction is tried, and the correction.
    base_acceleration: Vec<f64>,
    correction: Vec<f64>,
    /// Increment of position up to a sample.
    sample_increment: Vec<f64>,
}

impl Structural {
    pub(super) fn new(
        scheme: Scheme,
        options: &FixedStep,
        time: f64,
        position: &[f64],
        velocity: &[f64],
    ) -> Self {
        let zeros = vec![0.0; velocity.len()];
        let state = [position, velocity, &zeros].concat();
        Self::with(
            scheme,
            options,
            StructuralMemory {
                time,
                last_step: LastStep::none(&state),
                state,
                algorithmic_acceleration: zeros.clone(),
                origin: time,
                steps_from_origin: 0,
                landed: false,
                tangent: Vec::new(),
                tangent_step: None,
                increment: zeros,
            },
        )
    }

    /// The method as it was when `memory` was taken, which fits itself.
    pub(super) fn resume(scheme: Scheme, options: &FixedStep, memory: StructuralMemory) -> Self {
        let mut method = Self::with(scheme, options, memory);
        if method.memory.tangent_step.is_some() && method.factor_tangent().is_err() {
            method.memory.tangent_step = None;
        }
        method
    }

    fn with(scheme: Scheme, options: &FixedStep, memory: StructuralMemory) -> Self {
        let velocities = memory.algorithmic_acceleration.len();
        let positions = memory.state.len() - 2 * velocities;
        let zeros = vec![0.0; velocities];
        Self {
            parameters: Parameters::of(scheme),
            options: *options,
            positions,
            velocities,
            memory,
            factors: None,
            own_tangent: false,
            weights: Weights::default(),
            base_increment: zeros.clone(),
            base_velocity: zeros.clone(),
            velocity: zeros.clone(),
            acceleration: zeros.clone(),
            position: vec![0.0; positions],
            residual: zeros.clone(),
            base_residual: zeros.clone(),
            base_acceleration: zeros.clone(),
            correction: zeros.clone(),
            sample_increment: zeros,
        }
    }

    pub(super) fn memory(&self) -> &StructuralMemory {
        &self.memory
    }

    /// Numbers of positions and velocities.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.positions, self.velocities)
    }

    /// Refuses a system of another size.
    pub(super) fn check(&self, system: &dyn SecondOrder) -> Result<(), IntegrateError> {
        for (quantity, given, wanted) in [
            (
                "number of positions",
                self.positions,
                system.position_count(),
            ),
            (
                "number of velocities",
                self.velocities,
                system.velocity_count(),
            ),
        ] {
            if given != wanted {
                return Err(IntegrateError::invalid(
                    quantity,
                    given as f64,
                    "it must be that of the system",
                    self.memory.time,
                ));
            }
        }
        Ok(())
    }

    fn split(state: &[f64], positions: usize, velocities: usize) -> (&[f64], &[f64], &[f64]) {
        let (position, rest) = state.split_at(positions);
        let (velocity, acceleration) = rest.split_at(velocities);
        (position, velocity, acceleration)
    }

    /// End and length of the next step.
    fn fit(&self, piece: &Piece) -> (f64, f64) {
        let nominal = self.options.step;
        let memory = &self.memory;
        let way = piece.end - memory.time;
        if memory.landed {
            let steps = (way / nominal - NEGLIGIBLE_REMAINDER).ceil();
            return if steps > 1.0 {
                (memory.time + way / steps, way / steps)
            } else {
                (piece.end, way)
            };
        }
        let next = self.next_multiple();
        if next + NEGLIGIBLE_REMAINDER * nominal >= piece.end {
            (piece.end, way)
        } else {
            (next, nominal)
        }
    }

    /// Where the next step ends of its own.
    fn next_multiple(&self) -> f64 {
        self.memory.origin + (self.memory.steps_from_origin + 1) as f64 * self.options.step
    }

    /// Prepares the algorithmic acceleration for a step of another length than the last: it is ahead of the true one by an
    /// instant in proportion to the step.
    fn refer_acceleration_to(&mut self, step: f64) {
        let memory = &mut self.memory;
        let ratio = step / memory.last_step.length;
        let ratio = if ratio <= LARGEST_GROWTH { ratio } else { 0.0 };
        let acceleration = &memory.state[self.positions + self.velocities..];
        for (algorithmic, &true_one) in memory.algorithmic_acceleration.iter_mut().zip(acceleration)
        {
            *algorithmic = true_one + ratio * (*algorithmic - true_one);
        }
    }

    /// Takes the step over, with the algorithmic acceleration that follows from the old one, the old true one and the new
    /// true one.
    fn accept(&mut self, end: f64, step: f64, algorithmic: impl Fn([f64; 3]) -> f64) {
        let (positions, velocities) = (self.positions, self.velocities);
        let memory = &mut self.memory;
        std::mem::swap(&mut memory.last_step.state, &mut memory.state);
        let (_, _, old) = Self::split(&memory.last_step.state, positions, velocities);
        for i in 0..velocities {
            memory.algorithmic_acceleration[i] = algorithmic([
                memory.algorithmic_acceleration[i],
                old[i],
                self.acceleration[i],
            ]);
        }
        memory.state[..positions].copy_from_slice(&self.position);
        memory.state[positions..positions + velocities].copy_from_slice(&self.velocity);
        memory.state[positions + velocities..].copy_from_slice(&self.acceleration);
        memory.last_step.start = memory.time;
        memory.last_step.length = step;
        memory.time = end;
    }
}

impl<'s> Stepper<dyn SecondOrder + 's> for Structural {
    /// Accelerations follow from the residual, which is linear in them.
    fn start(
        &mut self,
        equations: &mut SecondOrderEquations<'_, 's>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        let (positions, velocities, time) = (self.positions, self.velocities, piece.start);
        self.memory.time = time;
        self.memory.origin = time;
        self.memory.steps_from_origin = 0;
        self.memory.landed = false;
        self.memory.tangent_step = None;
        equations.statistics.highest_order = 2;
        let (position, motion) = self.memory.state.split_at_mut(positions);
        (equations.system).handle_event(time, position, &mut motion[..velocities]);
        self.acceleration.fill(0.0);
        let (position, velocity, _) = Self::split(&self.memory.state, positions, velocities);
        let motion = [position, velocity, &self.acceleration];
        if let Err(component) = equations.residual_at(time, motion, &mut self.residual) {
            return Err(equations.non_finite(time, component));
        }
        equations.statistics.factorizations += 1;
        self.own_tangent = (equations.system).prepare_tangent(time, motion, [0.0; 2]);
        if !self.own_tangent {
            (self.memory.tangent).resize(velocities * velocities, 0.0);
            (equations.system).mass_matrix(time, position, &mut self.memory.tangent);
            if let Err(SingularColumn(component)) = self.factor_tangent() {
                return Err(IntegrateError::SingularMass {
                    time,
                    component,
                    statistics: equations.statistics,
                });
            }
        }
        self.solve_tangent(equations.system);
        let acceleration = &mut self.memory.state[positions + velocities..];
        for i in 0..velocities {
            acceleration[i] = -self.residual[i];
        }
        (self.memory.algorithmic_acceleration).copy_from_slice(acceleration);
        Ok(())
    }

    fn step(
        &mut self,
        equations: &mut SecondOrderEquations<'_, 's>,
        piece: &Piece,
    ) -> Result<(), IntegrateError> {
        let (end, step) = self.fit(piece);
        let nominal = self.options.step;
        let landing = end == piece.end && end != self.next_multiple();
        if self.memory.landed && step != self.memory.last_step.length {
            self.refer_acceleration_to(step);
        }
        let made = self.solve(equations, end, step)?;
        if made == Made::ByOneAcceleration {
            self.accept(end, step, |[_, _, new]| new);
        } else if landing && !self.memory.landed && step + NEGLIGIBLE_REMAINDER * nominal < nominal
        {
            // the length of this step was not that of the one before: the two accelerations are as far apart as before, by its share
            let ratio = match self.memory.steps_from_origin {
                0 => 0.0,
                _ => step / self.memory.last_step.length,
            };
            self.accept(end, step, |[algorithmic, old, new]| {
                new + ratio * (algorithmic - old)
            });
        } else {
            let Parameters {
                alpha_mass,
                alpha_force,
                ..
            } = self.parameters;
            self.accept(end, step, |[algorithmic, old, new]| {
                ((1.0 - alpha_force) * new + alpha_force * old - alpha_mass * algorithmic)
                    / (1.0 - alpha_mass)
            });
        }
        equations.statistics.steps += 1;
        self.memory.steps_from_origin += 1;
        self.memory.landed |= landing;
        Ok(())
    }

    fn project(
        &mut self,
        equations: &mut SecondOrderEquations<'_, 's>,
    ) -> Result<Projection, IntegrateError> {
        let (position, motion) = self.memory.state.split_at_mut(self.positions);
        let velocity = &mut motion[..self.velocities];
        let time = self.memory.time.min(equations.ceiling);
        Ok(equations.system.project(time, position, velocity))
    }

    fn interpolate(
        &mut self,
        equations: &mut SecondOrderEquations<'_, 's>,
        time: f64,
        state: &mut [f64],
    ) -> Result<(), IntegrateError> {
        let (positions, velocities) = (self.positions, self.velocities);
        let LastStep {
            start,
            state: ref old,
            length,
        } = self.memory.last_step;
        let theta = (time - start) / length;
        let rest = 1.0 - theta;
        let (old_position, old_velocity, old_acceleration) =
            Self::split(old, positions, velocities);
        let (_, new_velocity, new_acceleration) =
            Self::split(&self.memory.state, positions, velocities);
        let (position, motion) = state.split_at_mut(positions);
        let (velocity, acceleration) = motion.split_at_mut(velocities);
        for i in 0..velocities {
            let whole = self.memory.increment[i];
            let (old, new) = (length * old_velocity[i], length * new_velocity[i]);
            self.sample_increment[i] = whole * theta * theta * (3.0 - 2.0 * theta)
                + old * theta * rest * rest
                - new * theta * theta * rest;
            velocity[i] = (whole * 6.0 * theta * rest
                + old * rest * (1.0 - 3.0 * theta)
                + new * theta * (3.0 * theta - 2.0))
                / length;
            acceleration[i] = rest * old_acceleration[i] + theta * new_acceleration[i];
        }
        (equations.system).displace(old_position, &self.sample_increment, position);
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
