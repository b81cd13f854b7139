//! What acts in a state: inputs, controllers, resistance of joints, elastic gears, damping, loads at markers.

use super::Equations;
use super::control::Control;
use super::resistance::add_resistance;
use crate::model::LoadTarget;
use crate::model::spec::LoadProfile;
use lissom_core::Power;
use lissom_tree::tree::{apply_wrench, marker_motion};

impl Equations<'_> {
    /// Values of all inputs at an instant.
    pub(in crate::simulate) fn update_loads(&mut self, time: f64) {
        let model = self.model;
        if let Some(nominal) = &mut self.nominal {
            // where there is none the forces are not numbers, which the integrator reports
            let _ = nominal.update(time);
        }
        for (i, load) in model.loads.iter().enumerate() {
            let mut value = self.load_curves[i].value(time);
            if let (LoadProfile::RigidInverseDynamics(_), Some(nominal)) =
                (&load.profile, &self.nominal)
            {
                value = match load.target {
                    LoadTarget::Motor(index) => nominal.force(model.transmissions[index].velocity),
                    LoadTarget::Joint(at) => nominal.force(at),
                    LoadTarget::Marker { .. } => 0.0,
                };
            }
            self.load_values[i] = match &self.externals[i] {
                Some(external) => external.at(time),
                None => value,
            };
        }
    }

    /// Torques and forces of the controllers in the unpacked state.
    pub(super) fn update_control(&mut self, time: f64) {
        let Some(control) = &mut self.control else {
            return;
        };
        let (positions, rates) = (&self.motor_position, &self.motor_rate);
        control.update(self.model, time, &self.position, &self.velocity, |motor| {
            [positions[motor], rates[motor]]
        });
    }

    /// Torques and forces of the controllers as last evaluated, in their order.
    pub(in crate::simulate) fn control_efforts(&self) -> &[f64] {
        self.control.as_ref().map_or(&[], Control::efforts)
    }

    /// Inputs and controllers at a state given in full.
    pub(in crate::simulate) fn act_at(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        motors: &[[f64; 3]],
    ) {
        self.position.copy_from_slice(position);
        self.velocity.copy_from_slice(velocity);
        for (i, motor) in motors.iter().enumerate() {
            [self.motor_position[i], self.motor_rate[i]] = [motor[0], motor[1]];
        }
        self.update_loads(time);
        self.update_control(time);
    }

    /// Prepares kinematics and all forces of the unpacked state; returns the power that flows.
    pub(super) fn apply_forces(&mut self, time: f64) -> Power {
        let model = self.model;
        let system = &model.linkage.system;
        self.kinematics
            .update(system, &self.position, &self.velocity);
        self.force.fill(0.0);
        self.motor_force.fill(0.0);
        let mut power = Power::default();

        // resistance of joints
        for (k, resistance) in &model.resistances {
            let lost = add_resistance(
                system,
                *k,
                resistance,
                &self.position,
                &self.velocity,
                &mut self.force,
            );
            power.dissipated += lost;
        }
        // damping of the flexible bodies, already among the kinematics' elastic forces
        let layout = system.layout();
        for &k in &self.damped {
            if let Some(flexible) = &system.bodies()[k].flexible {
                let n = flexible.coordinates.len();
                let rate = &self.velocity[layout.elastic_velocity[k]..][..n];
                power.dissipated += quadratic_form(&flexible.damping, rate);
            }
        }
        // elastic gears
        for (i, gear) in model.transmissions.iter().enumerate() {
            let wind = self.motor_position[i] - self.position[gear.position];
            let slip = self.motor_rate[i] - self.velocity[gear.velocity];
            let torque = gear.stiffness * wind + gear.damping * slip;
            self.force[gear.velocity] += torque;
            self.motor_force[i] -= torque;
            power.dissipated += gear.damping * slip * slip;
        }

        self.update_loads(time);
        self.update_control(time);
        if let Some(control) = &self.control {
            let joints = model.controllers.iter().flat_map(|c| &c.joints);
            for (joint, &effort) in joints.zip(control.efforts()) {
                let (force, rate) = match joint.motor {
                    Some(motor) => (&mut self.motor_force[motor], self.motor_rate[motor]),
                    None => (
                        &mut self.force[joint.velocity],
                        self.velocity[joint.velocity],
                    ),
                };
                *force += effort;
                power.input += effort * rate;
            }
        }
        let mut posed = false;
        for (i, load) in model.loads.iter().enumerate() {
            let value = self.load_values[i];
            match &load.target {
                LoadTarget::Joint(at) => {
                    self.force[*at] += value;
                    power.input += value * self.velocity[*at];
                }
                LoadTarget::Motor(index) => {
                    self.motor_force[*index] += value;
                    power.input += value * self.motor_rate[*index];
                }
                LoadTarget::Marker { index, .. } => {
                    let marker = &model.linkage.markers[*index];
                    let Some(body) = marker.body else { continue };
                    if !posed {
                        self.kinematics.update_poses(system);
                        posed = true;
                    }
                    let motion = marker_motion(
                        system,
                        &self.kinematics,
                        body,
                        &marker.place,
                        &self.position,
                        &self.velocity,
                        &mut self.influence,
                    );
                    let Some(wrench) = load.wrench(value, &motion.pose.rotation) else {
                        continue;
                    };
                    power.input += motion.twist.dot(wrench);
                    apply_wrench(
                        system,
                        &mut self.kinematics,
                        body,
                        motion.pose.translation,
                        &self.influence,
                        wrench,
                    );
                }
            }
        }
        power
    }
}

fn quadratic_form(matrix: &[f64], x: &[f64]) -> f64 {
    let n = x.len();
    let mut sum = 0.0;
    for (i, &xi) in x.iter().enumerate() {
        for (j, &xj) in x.iter().enumerate() {
            sum += matrix[i * n + j] * xi * xj;
        }
    }
    sum
}
