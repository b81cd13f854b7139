//! The equations as $`M(q)\,\dot v = f(t, q, v)`$ on a space where positions need not be vectors.

use super::Equations;
use crate::integrate::SecondOrder;
use crate::tree::{displace_entries, inverse_dynamics, mass_matrix};

impl SecondOrder for Equations<'_> {
    fn position_count(&self) -> usize {
        self.state_positions()
    }

    fn velocity_count(&self) -> usize {
        self.state_velocities()
    }

    fn residual(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) {
        self.unpack(time, position, velocity);
        self.apply_forces(time);
        for (&at, &a) in self.free_velocities.iter().zip(acceleration) {
            self.acceleration[at] = a;
        }
        inverse_dynamics(
            &self.model.system,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.reaction,
        );
        let free = self.free_velocities.len();
        for (r, &at) in residual.iter_mut().zip(&self.free_velocities) {
            *r = self.reaction[at] - self.force[at];
        }
        for (i, gear) in self.model.transmissions.iter().enumerate() {
            residual[free + i] = gear.inertia * acceleration[free + i] - self.motor_force[i];
        }
    }

    fn mass_matrix(&mut self, time: f64, position: &[f64], mass: &mut [f64]) {
        let n = self.state_velocities();
        let full = self.velocity.len();
        self.unpack_positions(time, position);
        self.kinematics
            .update(&self.model.system, &self.position, &self.velocity);
        mass_matrix(
            &self.model.system,
            &self.kinematics,
            &mut self.composite,
            &mut self.full_mass,
        );
        mass.fill(0.0);
        for (i, &row) in self.free_velocities.iter().enumerate() {
            for (j, &column) in self.free_velocities.iter().enumerate() {
                mass[i * n + j] = self.full_mass[row * full + column];
            }
        }
        for (i, gear) in self.model.transmissions.iter().enumerate() {
            let at = self.free_velocities.len() + i;
            mass[at * n + at] = gear.inertia;
        }
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        displaced.copy_from_slice(position);
        // entry of the state for an entry of the full vectors, both sorted
        displace_entries(
            &self.model.system,
            displaced,
            increment,
            |at| self.free_positions.binary_search(&at).ok(),
            |at| self.free_velocities.binary_search(&at).ok(),
        );
        let free_velocities = self.free_velocities.len();
        for i in 0..self.motor_position.len() {
            displaced[self.free_positions.len() + i] += increment[free_velocities + i];
        }
    }
}
