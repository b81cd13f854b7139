//! What the equations of motion leave unbalanced at a state, over any scalar: the function that is differentiated.

use crate::model::{Body, LoadTarget, Model};
use crate::simulate::equations::{Turning, add_resistance};
use lissom_spatial::{Force, Motion, Vector};
use lissom_tree::tree::{
    InverseDynamics, Kinematics, apply_wrench, inverse_dynamics_from, marker_motion,
};

/// A state with its accelerations, and what evaluating it needs and leaves.
#[derive(Clone, Debug)]
pub(super) struct Unbalanced<T> {
    pub(super) position: Vec<T>,
    pub(super) velocity: Vec<T>,
    pub(super) acceleration: Vec<T>,
    pub(super) motor_position: Vec<T>,
    pub(super) motor_rate: Vec<T>,
    pub(super) motor_acceleration: Vec<T>,
    pub(super) kinematics: Kinematics<T>,
    /// Forces that the motion needs beyond those that are there.
    pub(super) joints: Vec<T>,
    pub(super) motors: Vec<T>,
    inverse: InverseDynamics<T>,
    /// Springs, dampers, friction, gears and inputs on coordinates.
    force: Vec<T>,
    pub(super) influence: Vec<Motion<T>>,
}

impl<T: Turning> Unbalanced<T> {
    pub(super) fn new(model: &Model) -> Self {
        let system = &model.linkage.system;
        let (n_q, n_v) = (system.position_count(), system.velocity_count());
        let motors = model.transmissions.len();
        let most = system.bodies().iter().map(Body::modes).max().unwrap_or(0);
        let zeros = |n: usize| vec![T::zero(); n];
        Self {
            position: zeros(n_q),
            velocity: zeros(n_v),
            acceleration: zeros(n_v),
            motor_position: zeros(motors),
            motor_rate: zeros(motors),
            motor_acceleration: zeros(motors),
            kinematics: Kinematics::new(system),
            joints: zeros(n_v),
            motors: zeros(motors),
            inverse: InverseDynamics::new(system),
            force: zeros(n_v),
            influence: vec![Motion::zero(); most],
        }
    }

    /// Evaluates the state under inputs and efforts of controllers of the given values. Nothing may have changed on the bodies
    /// before `first` since the last evaluation.
    pub(super) fn evaluate(
        &mut self,
        model: &Model,
        first: usize,
        loads: &[f64],
        controls: &[f64],
    ) {
        let system = &model.linkage.system;
        self.kinematics
            .update_from(system, first, &self.position, &self.velocity);
        self.kinematics.update_poses(system);
        self.force.fill(T::zero());
        for (k, resistance) in &model.resistances {
            add_resistance(
                system,
                *k,
                resistance,
                &self.position,
                &self.velocity,
                &mut self.force,
            );
        }
        for (i, gear) in model.transmissions.iter().enumerate() {
            let wind = self.motor_position[i] - self.position[gear.position];
            let slip = self.motor_rate[i] - self.velocity[gear.velocity];
            let torque = wind * gear.stiffness + slip * gear.damping;
            self.force[gear.velocity] += torque;
            self.motors[i] = self.motor_acceleration[i] * gear.inertia + torque;
        }
        for (load, &value) in model.loads.iter().zip(loads) {
            match &load.target {
                LoadTarget::Joint(at) => self.force[*at] += T::constant(value),
                LoadTarget::Motor(index) => self.motors[*index] -= T::constant(value),
                LoadTarget::Marker { .. } => self.push_marker(model, load, value),
            }
        }
        let joints = model.controllers.iter().flat_map(|c| &c.joints);
        for (joint, &effort) in joints.zip(controls) {
            match joint.motor {
                Some(motor) => self.motors[motor] -= T::constant(effort),
                None => self.force[joint.velocity] += T::constant(effort),
            }
        }
        inverse_dynamics_from(
            system,
            first,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.joints,
        );
        for (unbalanced, &force) in self.joints.iter_mut().zip(&self.force) {
            *unbalanced -= force;
        }
    }

    fn push_marker(&mut self, model: &Model, load: &crate::model::Load, value: f64) {
        if let Some((body, point, wrench)) = self.wrench(model, load, value) {
            apply_wrench(
                &model.linkage.system,
                &mut self.kinematics,
                body,
                point,
                &self.influence,
                wrench,
            );
        }
    }

    /// Body, point and wrench in ground components of a load on a marker that moves; writes the influence of its
    /// body's elastic coordinates.
    pub(super) fn wrench(
        &mut self,
        model: &Model,
        load: &crate::model::Load,
        value: f64,
    ) -> Option<(usize, Vector<T>, Force<T>)> {
        let LoadTarget::Marker { index, .. } = &load.target else {
            return None;
        };
        let marker = &model.linkage.markers[*index];
        let body = marker.body?;
        let motion = marker_motion(
            &model.linkage.system,
            &self.kinematics,
            body,
            &marker.place,
            &self.position,
            &self.velocity,
            &mut self.influence,
        );
        let wrench = load.wrench(T::constant(value), &motion.pose.rotation)?;
        Some((body, motion.pose.translation, wrench))
    }
}
