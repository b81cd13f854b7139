//! Vibrations about a nominal motion: the time-varying linear system of Jonker & Aarts (24), (26), with controllers and actuators
//! in the loop, (36)–(40).

use nalgebra::DMatrix;

use crate::integrate::{FirstOrder, SecondOrder};

use super::between::{Between, add_product};
use super::error::LinearError;
use super::loops::{Loops, LoopsBetween};
use super::trajectory::{Interpolation, LinearizedTrajectory, Point, Terms};

/// Vibrations about a nominal motion, eq (26): a first-order system of deviations, then their rates, then states of controllers and
/// actuators. As a system of second order these states are velocities of unit mass without positions.
#[derive(Debug)]
pub struct Perturbed<'a> {
    trajectory: &'a LinearizedTrajectory,
    /// At every point; none where nothing closes a loop.
    loops: &'a [Loops],
    between: LoopsBetween,
    equations: Equations<'a>,
    force: Vec<f64>,
    scratch: Vec<f64>,
}

/// The equations between the points.
#[derive(Debug)]
enum Equations<'a> {
    Matrices(Between<'a>),
    /// $`M^{-1}`$, $`M^{-1}K`$, $`M^{-1}C`$ at each point.
    StateSpace(Vec<[DMatrix<f64>; 3]>),
}

impl<'a> Perturbed<'a> {
    /// The linearised equations with `terms` (whose inertia is taken in any case), and with loops, of which there is one per point or none.
    ///
    /// # Errors
    ///
    /// When a mass matrix along the motion is singular.
    pub fn new(
        trajectory: &'a LinearizedTrajectory,
        loops: &'a [Loops],
        terms: Terms,
        interpolation: Interpolation,
    ) -> Result<Self, LinearError> {
        let equations = match interpolation {
            Interpolation::Matrices => Equations::Matrices(Between::new(trajectory, terms)?),
            Interpolation::StateSpace => Equations::StateSpace(state_space(trajectory, terms)?),
        };
        let first = trajectory.points().first();
        let dofs = first.map_or(0, |point| point.linear.mass.nrows());
        Ok(Self {
            trajectory,
            loops,
            between: LoopsBetween::new(loops),
            equations,
            force: vec![0.0; dofs],
            scratch: vec![0.0; dofs],
        })
    }

    /// Number of degrees of freedom.
    pub fn dof_count(&self) -> usize {
        self.force.len()
    }

    /// Excitation and feedback at a state.
    fn excite(&mut self, time: f64, deviated: [&[f64]; 3]) {
        self.trajectory.excitation(time, &mut self.force);
        let weights = self.trajectory.cubic(time);
        (self.between).push(self.loops, weights, deviated, &mut self.force);
    }

    fn accelerate(&mut self, time: f64, deviated: [&[f64]; 3], acceleration: &mut [f64]) {
        self.excite(time, deviated);
        let [position, velocity, _] = deviated;
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

impl FirstOrder for Perturbed<'_> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let dofs = self.dof_count();
        let (position, rest) = state.split_at(dofs);
        let (velocity, states) = rest.split_at(dofs);
        let (position_rate, rest) = rate.split_at_mut(dofs);
        let (acceleration, state_rate) = rest.split_at_mut(dofs);
        position_rate.copy_from_slice(velocity);
        self.accelerate(time, [position, velocity, states], acceleration);
        state_rate.copy_from_slice(&self.between.rate);
    }
}

impl SecondOrder for Perturbed<'_> {
    fn position_count(&self) -> usize {
        self.dof_count()
    }

    fn velocity_count(&self) -> usize {
        self.dof_count() + self.between.rate.len()
    }

    fn residual(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) {
        let dofs = self.dof_count();
        let (velocity, states) = velocity.split_at(dofs);
        let (acceleration, changes) = acceleration.split_at(dofs);
        let (residual, others) = residual.split_at_mut(dofs);
        let deviated = [position, velocity, states];
        if let Equations::StateSpace(_) = self.equations {
            self.accelerate(time, deviated, residual);
            for (residual, acceleration) in residual.iter_mut().zip(acceleration) {
                *residual = acceleration - *residual;
            }
        } else {
            self.excite(time, deviated);
        }
        if let Equations::Matrices(between) = &mut self.equations {
            between.set(time);
            let places = [&mut self.scratch[..], residual];
            between.residual(position, velocity, acceleration, &self.force, places);
        }
        for (residual, (change, rate)) in others
            .iter_mut()
            .zip(changes.iter().zip(&self.between.rate))
        {
            *residual = change - rate;
        }
    }

    fn mass_matrix(&mut self, time: f64, _position: &[f64], mass: &mut [f64]) {
        let all = self.velocity_count();
        mass.fill(0.0);
        mass.iter_mut().step_by(all + 1).for_each(|x| *x = 1.0);
        if let Equations::Matrices(between) = &mut self.equations {
            between.set(time);
            between.mass(mass, all);
        }
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        for ((displaced, position), increment) in displaced.iter_mut().zip(position).zip(increment)
        {
            *displaced = position + increment;
        }
    }
}
