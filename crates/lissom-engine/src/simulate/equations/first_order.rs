//! The equations as $`\dot y = f(t, y)`$.

use super::Equations;
use lissom_numerics::integrate::{FirstOrder, Projection};
use lissom_spatial::{Quaternion, Vector};
use lissom_tree::tree::node_rotation;
use lissom_tree::{JointKind, System};

impl FirstOrder for Equations<'_> {
    fn project(&mut self, time: f64, state: &mut [f64]) -> Projection {
        self.project_state(time, state)
    }

    fn handle_event(&mut self, time: f64, state: &mut [f64]) {
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        let (positions, rest) = state.split_at_mut(n_q);
        let (velocities, work) = rest.split_at_mut(n_v);
        let before = velocities.to_vec();
        self.enter_stretches(time, positions, velocities);
        if before != *velocities {
            let impulse = self.impulse_at(time, positions, &before, velocities);
            work[0] += impulse.work;
            work[1] += impulse.dissipated;
        }
        self.enter_contacts(time, positions, velocities);
    }

    fn event_function(&mut self, time: f64, state: &[f64]) -> f64 {
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        let (positions, velocities) = (&state[..n_q], &state[n_q..n_q + n_v]);
        let crossing = self.crossing_distance(time, positions, velocities);
        crossing.max(self.contact_distance(time, positions, velocities))
    }

    fn may_have_passed(&mut self, time: f64, state: &[f64], step: f64) -> bool {
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        self.may_have_touched(time, [&state[..n_q], &state[n_q..n_q + n_v]], step)
    }

    fn prepare_stages(
        &mut self,
        time: f64,
        state: &[f64],
        rate: &[f64],
        share: f64,
        allowance: &mut [f64],
    ) -> bool {
        self.prepare_stage_inertia(time, state, rate, share);
        self.allow_errors_of_rates(allowance);
        true
    }

    fn improve_stage(&mut self, time: f64, base: &[f64], share: f64, rate: &mut [f64]) {
        self.iterate_stage(time, base, share, rate);
    }

    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        let (positions, rest) = state.split_at(n_q);
        let power = self.evaluate(time, positions, &rest[..n_v]);
        position_rates(
            &self.model.linkage.system,
            &self.position,
            &self.velocity,
            &mut self.position_rate,
        );

        let (position_rate, rest) = rate.split_at_mut(n_q);
        let (free, motors) = position_rate.split_at_mut(self.free_positions.len());
        for (r, &at) in free.iter_mut().zip(&self.free_positions) {
            *r = self.position_rate[at];
        }
        motors.copy_from_slice(&self.motor_rate);
        let (velocity_rate, work) = rest.split_at_mut(n_v);
        let (free, motors) = velocity_rate.split_at_mut(self.free_velocities.len());
        for (r, &at) in free.iter_mut().zip(&self.free_velocities) {
            *r = self.acceleration[at];
        }
        for (i, r) in motors.iter_mut().enumerate() {
            *r = self.motor_force[i] / self.model.transmissions[i].inertia;
        }
        work[0] = power.input;
        work[1] = power.dissipated;
    }
}

/// Time derivative of the position vector.
pub(in crate::simulate) fn position_rates(
    system: &System,
    position: &[f64],
    velocity: &[f64],
    rate: &mut [f64],
) {
    let layout = system.layout();
    for (k, body) in system.bodies().iter().enumerate() {
        let q = &position[layout.joint_position[k]..];
        let v = &velocity[layout.joint_velocity[k]..];
        let out = &mut rate[layout.joint_position[k]..];
        match body.joint.kind {
            JointKind::Fixed => {}
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => out[0] = v[0],
            JointKind::Spherical => {
                let turning = Quaternion([q[0], q[1], q[2], q[3]]).rate(Vector([v[0], v[1], v[2]]));
                out[..4].copy_from_slice(&turning.0);
            }
            JointKind::Free => {
                let quaternion = Quaternion([q[3], q[4], q[5], q[6]]);
                let sliding = quaternion.matrix() * Vector([v[3], v[4], v[5]]);
                let turning = quaternion.rate(Vector([v[0], v[1], v[2]]));
                out[..3].copy_from_slice(&sliding.0);
                out[3..7].copy_from_slice(&turning.0);
            }
        }
        if let (Some(at), Some(turning)) = (
            layout.orientation[k],
            node_rotation(system, k, |p| &velocity[layout.elastic_velocity[p]..]),
        ) {
            let q = &position[at..];
            let rates = Quaternion([q[0], q[1], q[2], q[3]]).rate_from_parent(turning);
            rate[at..at + 4].copy_from_slice(&rates.0);
        }
        let n = body.modes();
        rate[layout.elastic_position[k]..][..n]
            .copy_from_slice(&velocity[layout.elastic_velocity[k]..][..n]);
    }
}
