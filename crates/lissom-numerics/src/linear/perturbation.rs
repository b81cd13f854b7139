//! Vibrations about a nominal motion: the time-varying linear system of Jonker & Aarts (24), (26), with
//! feedback (36)–(40).

use nalgebra::{DMatrix, DVector};

use crate::integrate::{FirstOrder, SecondOrder};

use super::between::{Between, add_product};
use super::error::LinearError;
use super::trajectory::{Interpolation, LinearizedTrajectory, Point, Terms};
use super::weights::Weights;

/// Inputs that deviations of the actuated degrees of freedom ask for, $`\delta u`$.
pub trait Feedback {
    /// Writes one effort per actuated degree of freedom, from deviations of positions and velocities.
    fn effort(&mut self, time: f64, deviation: &[f64], rate: &[f64], effort: &mut [f64]);
}

/// No feedback: $`\delta u = 0`$.
#[derive(Clone, Copy, Debug)]
pub struct OpenLoop;

impl Feedback for OpenLoop {
    fn effort(&mut self, _: f64, _: &[f64], _: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

/// $`\delta u = -K_p\,\delta e - K_v\,\delta\dot e`$ on some actuated degrees of freedom, gains interpolated by cubics along the
/// motion.
#[derive(Clone, Debug)]
pub struct Servo {
    /// Places among the actuated degrees of freedom.
    members: Vec<usize>,
    times: Vec<f64>,
    /// $`K_p`$ and $`K_v`$ at the instants.
    gains: Vec<[DMatrix<f64>; 2]>,
}

impl Servo {
    /// The same frequency and damping ratio for all actuated degrees of freedom, see [`Servo::computed`].
    pub fn new(trajectory: &LinearizedTrajectory, frequency: f64, damping: f64) -> Self {
        let members = (0..trajectory.actuated().len()).collect();
        Self::computed(trajectory, members, frequency, damping)
    }

    /// $`K_p = \bar M^{ee}\Omega^2`$ and $`K_v = 2\bar M^{ee}\beta\,\Omega`$, eqs (36)–(40), with the mass matrix of `members` of
    /// the actuated degrees of freedom.
    pub fn computed(
        trajectory: &LinearizedTrajectory,
        members: Vec<usize>,
        frequency: f64,
        damping: f64,
    ) -> Self {
        let gains = (0..trajectory.points().len()).map(|point| {
            let all = trajectory.actuated_mass(point);
            let mass = all.select_rows(&members).select_columns(&members);
            [
                &mass * (frequency * frequency),
                &mass * (2.0 * damping * frequency),
            ]
        });
        Self {
            times: trajectory.points().iter().map(|point| point.time).collect(),
            gains: gains.collect(),
            members,
        }
    }

    /// Constant gains of `members` of the actuated degrees of freedom, each by itself.
    pub fn constant(members: Vec<usize>, position: &[f64], rate: &[f64]) -> Self {
        let diagonal = |x: &[f64]| DMatrix::from_diagonal(&DVector::from_column_slice(x));
        Self {
            members,
            times: vec![0.0],
            gains: vec![[diagonal(position), diagonal(rate)]],
        }
    }

    /// $`K_p`$ of the members at an instant.
    pub fn position_gain(&self, time: f64) -> DMatrix<f64> {
        self.gain(0, time)
    }

    /// $`K_p`$ or $`K_v`$ of the members at an instant.
    fn gain(&self, kind: usize, time: f64) -> DMatrix<f64> {
        let size = self.members.len();
        let mut gain = DMatrix::zeros(size, size);
        for (point, weight) in self.weights(time).iter() {
            gain += &self.gains[point][kind] * weight;
        }
        gain
    }

    fn weights(&self, time: f64) -> Weights {
        Weights::cubic(self.times.len(), |point| self.times[point], time)
    }

    /// Adds $`K_p`$ at an instant to a matrix over all actuated degrees of freedom.
    pub fn add_position_gain(&self, time: f64, gain: &mut DMatrix<f64>) {
        self.add(&self.gain(0, time), gain);
    }

    /// Adds $`K_v`$ at an instant to a matrix over all actuated degrees of freedom.
    pub fn add_rate_gain(&self, time: f64, gain: &mut DMatrix<f64>) {
        self.add(&self.gain(1, time), gain);
    }

    /// Adds gains of the members to a matrix over all actuated degrees of freedom.
    fn add(&self, own: &DMatrix<f64>, gain: &mut DMatrix<f64>) {
        for (i, &row) in self.members.iter().enumerate() {
            for (j, &column) in self.members.iter().enumerate() {
                gain[(row, column)] += own[(i, j)];
            }
        }
    }

    /// Adds the efforts of deviations and rates of all actuated degrees of freedom.
    pub fn add_effort(&self, time: f64, deviation: &[f64], rate: &[f64], effort: &mut [f64]) {
        for (point, weight) in self.weights(time).iter() {
            let [position_gain, rate_gain] = &self.gains[point];
            for (i, &row) in self.members.iter().enumerate() {
                for (j, &column) in self.members.iter().enumerate() {
                    effort[row] -= weight
                        * (position_gain[(i, j)] * deviation[column]
                            + rate_gain[(i, j)] * rate[column]);
                }
            }
        }
    }
}

impl Feedback for Servo {
    fn effort(&mut self, time: f64, deviation: &[f64], rate: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        self.add_effort(time, deviation, rate, effort);
    }
}

/// Several servos side by side; none is an open loop.
impl Feedback for Vec<Servo> {
    fn effort(&mut self, time: f64, deviation: &[f64], rate: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        for servo in self.iter() {
            servo.add_effort(time, deviation, rate, effort);
        }
    }
}

/// Vibrations about a nominal motion, eq (26): a first-order system of deviations, then their rates.
#[derive(Debug)]
pub struct Perturbed<'a, F> {
    trajectory: &'a LinearizedTrajectory,
    feedback: F,
    equations: Equations<'a>,
    force: Vec<f64>,
    scratch: Vec<f64>,
    deviation: Vec<f64>,
    rate: Vec<f64>,
    effort: Vec<f64>,
}

/// The equations between the points.
#[derive(Debug)]
enum Equations<'a> {
    Matrices(Between<'a>),
    /// $`M^{-1}`$, $`M^{-1}K`$, $`M^{-1}C`$ at each point.
    StateSpace(Vec<[DMatrix<f64>; 3]>),
}

impl<'a, F: Feedback> Perturbed<'a, F> {
    /// The linearised equations with `terms` (whose inertia is taken in any case) under feedback.
    ///
    /// # Errors
    ///
    /// When a mass matrix along the motion is singular.
    pub fn new(
        trajectory: &'a LinearizedTrajectory,
        feedback: F,
        terms: Terms,
        interpolation: Interpolation,
    ) -> Result<Self, LinearError> {
        let equations = match interpolation {
            Interpolation::Matrices => Equations::Matrices(Between::new(trajectory, terms)?),
            Interpolation::StateSpace => Equations::StateSpace(state_space(trajectory, terms)?),
        };
        let first = trajectory.points().first();
        let dofs = first.map_or(0, |point| point.linear.mass.nrows());
        let actuated = trajectory.actuated().len();
        Ok(Self {
            trajectory,
            feedback,
            equations,
            force: vec![0.0; dofs],
            scratch: vec![0.0; dofs],
            deviation: vec![0.0; actuated],
            rate: vec![0.0; actuated],
            effort: vec![0.0; actuated],
        })
    }

    /// Number of degrees of freedom: half the state.
    pub fn dof_count(&self) -> usize {
        self.force.len()
    }

    /// Excitation and feedback at a state.
    fn excite(&mut self, time: f64, position: &[f64], velocity: &[f64]) {
        self.trajectory.excitation(time, &mut self.force);
        for (i, &dof) in self.trajectory.actuated().iter().enumerate() {
            self.deviation[i] = position[dof];
            self.rate[i] = velocity[dof];
        }
        self.feedback
            .effort(time, &self.deviation, &self.rate, &mut self.effort);
        for (&dof, effort) in self.trajectory.actuated().iter().zip(&self.effort) {
            self.force[dof] += effort;
        }
    }

    fn accelerate(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &mut [f64],
    ) {
        self.excite(time, position, velocity);
        match &mut self.equations {
            Equations::Matrices(between) => {
                between.set(time);
                acceleration.copy_from_slice(&self.force);
                between.accelerate(position, velocity, acceleration);
            }
            Equations::StateSpace(points) => {
                acceleration.fill(0.0);
                for (point, weight) in self.trajectory.linear(time).iter() {
                    let [inverse, stiffness, damping] = &points[point];
                    add_product(inverse, weight, &self.force, acceleration);
                    add_product(stiffness, -weight, position, acceleration);
                    add_product(damping, -weight, velocity, acceleration);
                }
            }
        }
    }
}

/// $`M^{-1}`$, $`M^{-1}K`$, $`M^{-1}C`$ at each point.
fn state_space(
    trajectory: &LinearizedTrajectory,
    terms: Terms,
) -> Result<Vec<[DMatrix<f64>; 3]>, LinearError> {
    let at = |point: &Point| {
        let factor = (point.linear.mass.clone())
            .cholesky()
            .ok_or(LinearError::SingularMass { time_s: point.time })?;
        Ok([
            factor.inverse(),
            factor.solve(&point.stiffness(terms)),
            factor.solve(&point.linear.damping),
        ])
    };
    trajectory.points().iter().map(at).collect()
}

impl<F: Feedback> FirstOrder for Perturbed<'_, F> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let dofs = self.dof_count();
        let (position, velocity) = state.split_at(dofs);
        let (position_rate, acceleration) = rate.split_at_mut(dofs);
        position_rate.copy_from_slice(velocity);
        self.accelerate(time, position, velocity, acceleration);
    }
}

impl<F: Feedback> SecondOrder for Perturbed<'_, F> {
    fn position_count(&self) -> usize {
        self.dof_count()
    }

    fn velocity_count(&self) -> usize {
        self.dof_count()
    }

    fn residual(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) {
        if let Equations::StateSpace(_) = self.equations {
            self.accelerate(time, position, velocity, residual);
            for (residual, acceleration) in residual.iter_mut().zip(acceleration) {
                *residual = acceleration - *residual;
            }
            return;
        }
        self.excite(time, position, velocity);
        if let Equations::Matrices(between) = &mut self.equations {
            between.set(time);
            let places = [&mut self.scratch[..], residual];
            between.residual(position, velocity, acceleration, &self.force, places);
        }
    }

    fn mass_matrix(&mut self, time: f64, _position: &[f64], mass: &mut [f64]) {
        let dofs = self.dof_count();
        match &mut self.equations {
            Equations::Matrices(between) => {
                between.set(time);
                between.mass(mass);
            }
            Equations::StateSpace(_) => {
                mass.fill(0.0);
                mass.iter_mut().step_by(dofs + 1).for_each(|x| *x = 1.0);
            }
        }
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        for ((displaced, position), increment) in displaced.iter_mut().zip(position).zip(increment)
        {
            *displaced = position + increment;
        }
    }
}
