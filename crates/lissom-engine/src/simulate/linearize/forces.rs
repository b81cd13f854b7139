//! What the equations of motion leave unbalanced at a state, over any scalar: the function that is differentiated.

use crate::model::Model;
use crate::simulate::view::TreeView;
use lissom_core::{Efforts, Load, LoadTarget, View as _};
use lissom_spatial::{Force, Motion, Real, Vector};
use lissom_tree::Body;
use lissom_tree::tree::{InverseDynamics, Kinematics, inverse_dynamics_from};

/// A state with its accelerations, and what evaluating it needs and leaves.
#[derive(Clone, Debug)]
pub(super) struct Residual<T> {
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
    /// What acts on joints, and on motors less what their acceleration takes.
    force: Vec<T>,
    motor_force: Vec<T>,
    /// Loads that act beside the model's, with their values.
    further: Vec<(Load, f64)>,
    pub(super) influence: Vec<Motion<T>>,
}

impl<T: Real> Residual<T> {
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
            motor_force: zeros(motors),
            further: Vec::new(),
            influence: vec![Motion::zero(); most],
        }
    }

    /// Lets other gravity act than the model's, and further loads with their values.
    pub(super) fn put_loads(&mut self, gravity: Vector<f64>, further: Vec<(Load, f64)>) {
        self.inverse.set_gravity(gravity);
        self.further = further;
    }

    /// The state as actions see it, where its kinematics and poses are prepared.
    pub(super) fn view<'a>(&'a mut self, model: &'a Model) -> TreeView<'a, T> {
        self.view_with(model, false)
    }

    /// The same as sensors see it after an evaluation.
    pub(super) fn evaluated<'a>(&'a mut self, model: &'a Model) -> TreeView<'a, T> {
        self.view_with(model, true)
    }

    fn view_with<'a>(&'a mut self, model: &'a Model, accelerates: bool) -> TreeView<'a, T> {
        TreeView {
            system: &model.linkage.system,
            places: &model.places,
            markers: &model.linkage.markers,
            position: &self.position,
            velocity: &self.velocity,
            motors: [&self.motor_position, &self.motor_rate],
            kinematics: &mut self.kinematics,
            force: &mut self.force,
            motor_force: &mut self.motor_force,
            influence: &mut self.influence,
            at: None,
            posed: true,
            accelerations: accelerates.then_some((&self.acceleration, &self.inverse)),
        }
    }

    /// Evaluates the state under inputs and feedback of the given values. Nothing may have changed on the bodies
    /// before `first` since the last evaluation.
    pub(super) fn evaluate(&mut self, model: &Model, first: usize, efforts: &Efforts) {
        let system = &model.linkage.system;
        self.kinematics
            .update_from(system, first, &self.position, &self.velocity);
        self.kinematics.update_poses_from(system, first);
        self.force.fill(T::zero());
        for (i, gear) in model.transmissions.iter().enumerate() {
            self.motor_force[i] = -(self.motor_acceleration[i] * gear.inertia);
        }
        let (actions, mut power) = (&model.actions, T::zero());
        let further = std::mem::take(&mut self.further);
        let mut view = self.view(model);
        actions.resist(&[], &mut view, &mut power);
        actions.turn_gears(&mut view, &mut power);
        actions.push_inputs(efforts, &mut view, &mut power);
        actions.push_feedback(efforts, &mut view, &mut power);
        for (load, value) in &further {
            load.push(T::constant(*value), &mut view);
        }
        self.further = further;
        inverse_dynamics_from(
            system,
            first,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.joints,
        );
        for (residual, &force) in self.joints.iter_mut().zip(&self.force) {
            *residual -= force;
        }
        for (residual, &force) in self.motors.iter_mut().zip(&self.motor_force) {
            *residual = -force;
        }
    }

    /// Body, point and wrench in ground components of a load on a marker that moves; writes the influence of its
    /// body's elastic coordinates.
    pub(super) fn wrench(
        &mut self,
        model: &Model,
        load: &Load,
        value: f64,
    ) -> Option<(usize, Vector<T>, Force<T>)> {
        let LoadTarget::Marker(marker, toward) = &load.target else {
            return None;
        };
        let body = model.linkage.markers[marker.0].body?;
        let pose = self.view(model).marker(*marker).pose;
        let wrench = load.wrench(toward, T::constant(value), &pose.rotation);
        Some((body, pose.translation, wrench))
    }
}
