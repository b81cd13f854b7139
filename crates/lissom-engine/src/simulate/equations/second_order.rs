//! The equations as $`M(q)\,\dot v = f(t, q, v)`$ on a space where positions need not be vectors.
//!
//! With closures the residual is $`\dot v`$ less the accelerations that keep them closed, evaluated at the end of the
//! step: Newmark's method then solves the equations of \[Pan, Scott & Ulsoy 1990, section 4\] with an implicit
//! right-hand side.

use super::Equations;
use lissom_numerics::integrate::{Projection, SecondOrder};
use lissom_tree::tree::{displace_entries, inverse_dynamics, mass_matrix};

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
        if matches!(self.loops, Ok(Some(_))) {
            self.evaluate(time, position, velocity);
            for ((r, &at), &a) in residual
                .iter_mut()
                .zip(&self.free_velocities)
                .zip(acceleration)
            {
                *r = a - self.acceleration[at];
            }
            self.motor_residual(acceleration, residual);
            return;
        }
        self.unpack(time, position, velocity);
        self.apply_forces(time);
        for (&at, &a) in self.free_velocities.iter().zip(acceleration) {
            self.acceleration[at] = a;
        }
        inverse_dynamics(
            &self.model.linkage.system,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.reaction,
        );
        for (r, &at) in residual.iter_mut().zip(&self.free_velocities) {
            *r = self.reaction[at] - self.force[at];
        }
        self.motor_residual(acceleration, residual);
    }

    fn project(&mut self, time: f64, position: &mut [f64], velocity: &mut [f64]) -> Projection {
        self.project_parts(time, position, velocity)
    }

    fn handle_event(&mut self, time: f64, position: &mut [f64], velocity: &mut [f64]) {
        self.enter_stretches(time, position, velocity);
        self.enter_contacts(time, position, velocity);
    }

    fn event_function(&mut self, time: f64, position: &[f64], velocity: &[f64]) -> f64 {
        let crossing = self.crossing_distance(time, position, velocity);
        crossing.max(self.contact_distance(time, position, velocity))
    }

    fn may_have_passed(&mut self, time: f64, motion: [&[f64]; 2], step: f64) -> bool {
        self.may_have_touched(time, motion, step)
    }

    fn mass_matrix(&mut self, time: f64, position: &[f64], mass: &mut [f64]) {
        let n = self.state_velocities();
        let full = self.velocity.len();
        if matches!(self.loops, Ok(Some(_))) {
            mass.fill(0.0);
            for at in 0..self.free_velocities.len() {
                mass[at * n + at] = 1.0;
            }
            self.motor_mass(mass);
            return;
        }
        self.unpack_positions(time, position);
        self.kinematics
            .update(&self.model.linkage.system, &self.position, &self.velocity);
        self.full_mass.resize(full * full, 0.0);
        mass_matrix(
            &self.model.linkage.system,
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
        self.motor_mass(mass);
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        displaced.copy_from_slice(position);
        // entry of the state for an entry of the full vectors, both sorted
        displace_entries(
            &self.model.linkage.system,
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

impl Equations<'_> {
    /// Residuals of the motors behind elastic gears, which stand last.
    fn motor_residual(&self, acceleration: &[f64], residual: &mut [f64]) {
        let free = self.free_velocities.len();
        for (i, gear) in self.model.transmissions.iter().enumerate() {
            residual[free + i] = gear.inertia * acceleration[free + i] - self.motor_force[i];
        }
    }

    /// Their entries of the mass matrix.
    fn motor_mass(&self, mass: &mut [f64]) {
        let n = self.state_velocities();
        for (i, gear) in self.model.transmissions.iter().enumerate() {
            let at = self.free_velocities.len() + i;
            mass[at * n + at] = gear.inertia;
        }
    }
}
