//! The equations as $`M(q)\,\dot v = f(t, q, v)`$ on a space where positions need not be vectors.

use super::Equations;
use super::first_order::node_rotation;
use crate::integrate::SecondOrder;
use crate::model::JointKind;
use crate::spatial::{Quaternion, Vector};
use crate::tree::{inverse_dynamics, mass_matrix};

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
        let system = &self.model.system;
        let layout = system.layout();
        let free_velocities = self.free_velocities.len();
        // entry of the state for an entry of the full vectors, both sorted
        let p = |at: usize| self.free_positions.binary_search(&at).ok();
        let v = |at: usize| self.free_velocities.binary_search(&at).ok();
        for (k, body) in system.bodies().iter().enumerate() {
            let (first_p, first_v) = (layout.joint_position[k], layout.joint_velocity[k]);
            let kind = &body.joint.kind;
            match kind {
                JointKind::Fixed => {}
                JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
                    if let (Some(p), Some(v)) = (p(first_p), v(first_v)) {
                        displaced[p] += increment[v];
                    }
                }
                JointKind::Spherical | JointKind::Free => {
                    let (Some(p), Some(v)) = (p(first_p), v(first_v)) else {
                        continue;
                    };
                    let at = p + kind.positions() - 4;
                    let quaternion = Quaternion([
                        position[at],
                        position[at + 1],
                        position[at + 2],
                        position[at + 3],
                    ]);
                    let turn = Vector([increment[v], increment[v + 1], increment[v + 2]]);
                    displaced[at..at + 4].copy_from_slice(&quaternion.turned(turn).0);
                    if *kind == JointKind::Free {
                        let slide = Vector([increment[v + 3], increment[v + 4], increment[v + 5]]);
                        // along the axes half-way through the turn, which keeps second order
                        let half = quaternion.turned(turn.scale(0.5)).matrix() * slide;
                        for i in 0..3 {
                            displaced[p + i] += half[i];
                        }
                    }
                }
            }
            let increments = |body: usize| {
                let first = v(layout.elastic_velocity[body]).unwrap_or(0);
                &increment[first..]
            };
            if let (Some(at), Some(turn)) = (
                layout.attitude[k].and_then(p),
                node_rotation(system, k, increments),
            ) {
                let attitude = Quaternion(std::array::from_fn(|i| position[at + i]));
                displaced[at..at + 4].copy_from_slice(&attitude.turned_in_parent(turn).0);
            }
            for alpha in 0..body.modes() {
                if let (Some(p), Some(v)) = (
                    p(layout.elastic_position[k] + alpha),
                    v(layout.elastic_velocity[k] + alpha),
                ) {
                    displaced[p] += increment[v];
                }
            }
        }
        for i in 0..self.motor_position.len() {
            displaced[self.free_positions.len() + i] += increment[free_velocities + i];
        }
    }
}
