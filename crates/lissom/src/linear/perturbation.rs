//! Vibrations about a nominal motion: the time-varying linear system of Jonker & Aarts (24), (26), with
//! feedback (36)–(40).

use nalgebra::DMatrix;

use crate::integrate::{FirstOrder, Lu};

use super::along::{Along, Interpolation, Terms};
use super::error::LinearError;

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

/// $`\delta u = -K_p\,\delta e - K_v\,\delta\dot e`$ with $`K_p = \bar M^{ee}\Omega^2`$ and $`K_v = 2\bar M^{ee}\beta\,\Omega`$, eqs
/// (36)–(40), the mass matrix interpolated linearly along the motion.
#[derive(Clone, Debug)]
pub struct Servo {
    times: Vec<f64>,
    masses: Vec<DMatrix<f64>>,
    frequency: f64,
    damping: f64,
}

impl Servo {
    /// The same frequency and damping ratio for all actuated degrees of freedom.
    pub fn new(along: &Along, frequency: f64, damping: f64) -> Self {
        Self {
            times: along.points().iter().map(|point| point.time).collect(),
            masses: (0..along.points().len())
                .map(|point| along.actuated_mass(point))
                .collect(),
            frequency,
            damping,
        }
    }

    /// $`K_p`$ at an instant.
    pub fn position_gain(&self, time: f64) -> DMatrix<f64> {
        let (index, share) = self.interval(time);
        let next = (index + 1).min(self.masses.len() - 1);
        (&self.masses[index] * (1.0 - share) + &self.masses[next] * share)
            * (self.frequency * self.frequency)
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
}

impl Feedback for Servo {
    fn effort(&mut self, time: f64, deviation: &[f64], rate: &[f64], effort: &mut [f64]) {
        let (index, share) = self.interval(time);
        let next = (index + 1).min(self.masses.len() - 1);
        let (position, velocity) = (
            self.frequency * self.frequency,
            2.0 * self.damping * self.frequency,
        );
        for (i, effort) in effort.iter_mut().enumerate() {
            *effort = 0.0;
            for j in 0..deviation.len() {
                let mass =
                    self.masses[index][(i, j)] * (1.0 - share) + self.masses[next][(i, j)] * share;
                *effort -= mass * (position * deviation[j] + velocity * rate[j]);
            }
        }
    }
}

/// Vibrations about a nominal motion, eq (26): a first-order system of deviations, then their rates.
#[derive(Debug)]
pub struct Perturbed<'a, F> {
    along: &'a Along,
    feedback: F,
    interpolation: Interpolation,
    stiffness: Vec<DMatrix<f64>>,
    /// $`M^{-1}`$, $`M^{-1}K`$, $`M^{-1}C`$ at each point, if those are interpolated.
    state_space: Vec<[DMatrix<f64>; 3]>,
    mass: Vec<f64>,
    factor: Lu<f64>,
    force: Vec<f64>,
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
        along: &'a Along,
        feedback: F,
        terms: Terms,
        interpolation: Interpolation,
    ) -> Result<Self, LinearError> {
        let stiffness: Vec<DMatrix<f64>> =
            along.points().iter().map(|p| p.stiffness(terms)).collect();
        let mut state_space = Vec::new();
        if interpolation == Interpolation::StateSpace {
            for (point, stiffness) in along.points().iter().zip(&stiffness) {
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
        let actuated = along.actuated().len();
        Ok(Self {
            along,
            feedback,
            interpolation,
            stiffness,
            state_space,
            mass: vec![0.0; dofs * dofs],
            factor: Lu::new(dofs),
            force: vec![0.0; dofs],
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
        let (nodes, weights) = self.along.cubic(time);
        for (i, force) in self.force.iter_mut().enumerate() {
            *force = (0..4)
                .map(|k| weights[k] * self.along.points()[nodes[k]].excitation[i])
                .sum();
        }
        for (i, &dof) in self.along.actuated().iter().enumerate() {
            self.deviation[i] = position[dof];
            self.rate[i] = velocity[dof];
        }
        self.feedback
            .effort(time, &self.deviation, &self.rate, &mut self.effort);
        for (&dof, effort) in self.along.actuated().iter().zip(&self.effort) {
            self.force[dof] += effort;
        }
    }
}

impl<F: Feedback> FirstOrder for Perturbed<'_, F> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let dofs = self.dof_count();
        let (position, velocity) = state.split_at(dofs);
        self.excite(time, position, velocity);
        let (position_rate, acceleration) = rate.split_at_mut(dofs);
        position_rate.copy_from_slice(velocity);
        let (index, share) = self.along.interval(time);
        let next = (index + 1).min(self.along.points().len() - 1);
        let blend = |a: &DMatrix<f64>, b: &DMatrix<f64>, i: usize, j: usize| {
            a[(i, j)] * (1.0 - share) + b[(i, j)] * share
        };
        match self.interpolation {
            Interpolation::StateSpace => {
                let (a, b) = (&self.state_space[index], &self.state_space[next]);
                for i in 0..dofs {
                    let mut sum = 0.0;
                    for j in 0..dofs {
                        sum += blend(&a[0], &b[0], i, j) * self.force[j]
                            - blend(&a[1], &b[1], i, j) * position[j]
                            - blend(&a[2], &b[2], i, j) * velocity[j];
                    }
                    acceleration[i] = sum;
                }
            }
            Interpolation::Matrices => {
                let (a, b) = (&self.along.points()[index], &self.along.points()[next]);
                let (stiffness, later) = (&self.stiffness[index], &self.stiffness[next]);
                for i in 0..dofs {
                    let mut sum = self.force[i];
                    for j in 0..dofs {
                        sum -= blend(stiffness, later, i, j) * position[j]
                            + blend(&a.linear.damping, &b.linear.damping, i, j) * velocity[j];
                        self.mass[i * dofs + j] = blend(&a.linear.mass, &b.linear.mass, i, j);
                    }
                    acceleration[i] = sum;
                }
                let mass = &self.mass;
                if self.factor.factor(|i, j| mass[i * dofs + j]).is_err() {
                    acceleration.fill(f64::NAN);
                    return;
                }
                self.factor.solve(acceleration);
            }
        }
    }
}
