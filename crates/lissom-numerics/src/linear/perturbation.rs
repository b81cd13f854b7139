//! Vibrations about a nominal motion: the time-varying linear system of Jonker & Aarts (24), (26), with
//! feedback (36)–(40).

use nalgebra::{DMatrix, DVector};

use crate::integrate::{FirstOrder, SecondOrder};

use super::error::LinearError;
use super::inertia::{InertiaBetween, add_product};
use super::trajectory::{Interpolation, LinearizedTrajectory, Terms};

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

/// $`\delta u = -K_p\,\delta e - K_v\,\delta\dot e`$ on some actuated degrees of freedom, gains interpolated linearly along the
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
        let (index, share) = self.interval(time);
        let next = (index + 1).min(self.gains.len() - 1);
        &self.gains[index][kind] * (1.0 - share) + &self.gains[next][kind] * share
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

    fn interval(&self, time: f64) -> (usize, f64) {
        let after = self.times.partition_point(|&t| t <= time);
        let index = after.saturating_sub(1);
        match self.times.get(index + 1) {
            None => (index, 0.0),
            Some(next) => {
                let start = self.times[index];
                (index, ((time - start) / (next - start)).clamp(0.0, 1.0))
            }
        }
    }

    /// Adds the efforts of deviations and rates of all actuated degrees of freedom.
    pub fn add_effort(&self, time: f64, deviation: &[f64], rate: &[f64], effort: &mut [f64]) {
        let (index, share) = self.interval(time);
        let next = (index + 1).min(self.gains.len() - 1);
        for (i, &row) in self.members.iter().enumerate() {
            for (j, &column) in self.members.iter().enumerate() {
                let gain = |kind: usize| {
                    self.gains[index][kind][(i, j)] * (1.0 - share)
                        + self.gains[next][kind][(i, j)] * share
                };
                effort[row] -= gain(0) * deviation[column] + gain(1) * rate[column];
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
    interpolation: Interpolation,
    stiffness: Vec<DMatrix<f64>>,
    /// $`M^{-1}`$, $`M^{-1}K`$, $`M^{-1}C`$ at each point, if those are interpolated.
    state_space: Vec<[DMatrix<f64>; 3]>,
    /// Between each point and the next, once an acceleration has been asked for there.
    inertia: Vec<Option<InertiaBetween>>,
    force: Vec<f64>,
    scratch: Vec<f64>,
    deviation: Vec<f64>,
    rate: Vec<f64>,
    effort: Vec<f64>,
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
        let stiffness: Vec<DMatrix<f64>> = trajectory
            .points()
            .iter()
            .map(|p| p.stiffness(terms))
            .collect();
        let mut state_space = Vec::new();
        if interpolation == Interpolation::StateSpace {
            for (point, stiffness) in trajectory.points().iter().zip(&stiffness) {
                let factor = point
                    .linear
                    .mass
                    .clone()
                    .cholesky()
                    .ok_or(LinearError::SingularMass { time_s: point.time })?;
                state_space.push([
                    factor.inverse(),
                    factor.solve(stiffness),
                    factor.solve(&point.linear.damping),
                ]);
            }
        }
        let dofs = stiffness.first().map_or(0, DMatrix::nrows);
        let actuated = trajectory.actuated().len();
        Ok(Self {
            trajectory,
            feedback,
            interpolation,
            stiffness,
            state_space,
            inertia: vec![None; trajectory.points().len()],
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
}

impl<F: Feedback> Perturbed<'_, F> {
    /// Writes what the interpolated matrices leave of the excitation, $`f - K\,\delta - C\,\dot\delta`$.
    fn balance(&mut self, time: f64, position: &[f64], velocity: &[f64], left: &mut [f64]) {
        self.excite(time, position, velocity);
        left.copy_from_slice(&self.force);
        let (index, next, share) = self.neighbours(time);
        let [a, b] = [index, next].map(|point| &self.trajectory.points()[point].linear.damping);
        let (stiffness, later) = (&self.stiffness[index], &self.stiffness[next]);
        for (matrix, weight, of) in [
            (stiffness, share - 1.0, position),
            (later, -share, position),
            (a, share - 1.0, velocity),
            (b, -share, velocity),
        ] {
            add_product(matrix, weight, of, left);
        }
    }

    /// The points around an instant and the share of the way between them.
    fn neighbours(&self, time: f64) -> (usize, usize, f64) {
        let (index, share) = self.trajectory.interval(time);
        let next = (index + 1).min(self.trajectory.points().len() - 1);
        (index, next, share)
    }

    /// Accelerations by the interpolated $`A_{ss}`$ and $`B_{ss}`$.
    fn by_state_space(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &mut [f64],
    ) {
        self.excite(time, position, velocity);
        let (index, next, share) = self.neighbours(time);
        let (a, b) = (&self.state_space[index], &self.state_space[next]);
        for (i, acceleration) in acceleration.iter_mut().enumerate() {
            let mut sum = 0.0;
            for j in 0..self.force.len() {
                sum += blend(&a[0], &b[0], share, i, j) * self.force[j]
                    - blend(&a[1], &b[1], share, i, j) * position[j]
                    - blend(&a[2], &b[2], share, i, j) * velocity[j];
            }
            *acceleration = sum;
        }
    }
}

/// An entry between two points.
fn blend(a: &DMatrix<f64>, b: &DMatrix<f64>, share: f64, i: usize, j: usize) -> f64 {
    a[(i, j)] * (1.0 - share) + b[(i, j)] * share
}

impl<F: Feedback> FirstOrder for Perturbed<'_, F> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let dofs = self.dof_count();
        let (position, velocity) = state.split_at(dofs);
        let (position_rate, acceleration) = rate.split_at_mut(dofs);
        position_rate.copy_from_slice(velocity);
        match self.interpolation {
            Interpolation::StateSpace => {
                self.by_state_space(time, position, velocity, acceleration);
            }
            Interpolation::Matrices => {
                self.balance(time, position, velocity, acceleration);
                let (index, next, share) = self.neighbours(time);
                let points = self.trajectory.points();
                let inertia = self.inertia[index].get_or_insert_with(|| {
                    InertiaBetween::new(&points[index].linear.mass, &points[next].linear.mass)
                });
                inertia.solve(share, acceleration, &mut self.scratch);
            }
        }
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
        match self.interpolation {
            Interpolation::StateSpace => {
                self.by_state_space(time, position, velocity, residual);
                for (residual, acceleration) in residual.iter_mut().zip(acceleration) {
                    *residual = acceleration - *residual;
                }
            }
            Interpolation::Matrices => {
                self.balance(time, position, velocity, residual);
                let (index, next, share) = self.neighbours(time);
                let [a, b] =
                    [index, next].map(|point| &self.trajectory.points()[point].linear.mass);
                for residual in residual.iter_mut() {
                    *residual = -*residual;
                }
                add_product(a, 1.0 - share, acceleration, residual);
                add_product(b, share, acceleration, residual);
            }
        }
    }

    fn mass_matrix(&mut self, time: f64, _position: &[f64], mass: &mut [f64]) {
        let dofs = self.dof_count();
        let (index, next, share) = self.neighbours(time);
        let [a, b] = [index, next].map(|point| &self.trajectory.points()[point].linear.mass);
        for i in 0..dofs {
            for j in 0..dofs {
                mass[i * dofs + j] = match self.interpolation {
                    Interpolation::StateSpace => f64::from(u8::from(i == j)),
                    Interpolation::Matrices => blend(a, b, share, i, j),
                };
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
