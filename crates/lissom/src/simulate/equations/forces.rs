//! What acts in a state: the model's actions, and the damping of its bodies.

use super::Equations;
use crate::model::{AxisId, AxisPlace};
use crate::simulate::view::TreeView;
use lissom_core::{Power, View as _};

impl Equations<'_> {
    /// Values of all inputs at an instant.
    pub(in crate::simulate) fn update_inputs(&mut self, time: f64) {
        let model = self.model;
        if let Some(nominal) = &mut self.nominal {
            // where there is none the forces are not numbers, which the integrator reports
            let _ = nominal.update(time);
        }
        let nominal = self.nominal.as_ref();
        let feedforward = |AxisId(axis)| {
            let at = match model.places.axes[axis].place {
                AxisPlace::Joint { velocity, .. } => velocity,
                AxisPlace::Motor(motor) => model.transmissions[motor].velocity,
            };
            nominal.map_or(0.0, |nominal| nominal.force(at))
        };
        let (loads, values) = (&model.actions.loads, &mut self.efforts.inputs);
        self.inputs.evaluate(loads, time, feedforward, values);
    }

    /// Torques and forces of the controllers in the unpacked state.
    pub(super) fn update_feedback(&mut self, time: f64) {
        let Some(mut control) = self.control.take() else {
            return;
        };
        let mut efforts = std::mem::take(&mut self.efforts.feedback);
        let (model, view) = (self.model, self.view());
        control.evaluate(model, time, |axis| view.axis(axis), &mut efforts);
        self.efforts.feedback = efforts;
        self.control = Some(control);
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
        self.update_inputs(time);
        self.update_feedback(time);
    }

    /// The state as actions see it, where its kinematics is prepared; poses are not.
    pub(super) fn view(&mut self) -> TreeView<'_, f64> {
        let linkage = &self.model.linkage;
        TreeView {
            system: &linkage.system,
            places: &self.model.places,
            markers: &linkage.markers,
            position: &self.position,
            velocity: &self.velocity,
            motors: [&self.motor_position, &self.motor_rate],
            kinematics: &mut self.kinematics,
            force: &mut self.force,
            motor_force: &mut self.motor_force,
            influence: &mut self.influence,
            posed: false,
            at: None,
        }
    }

    /// Prepares kinematics and all forces of the unpacked state; returns the power that flows.
    pub(super) fn apply_forces(&mut self, time: f64) -> Power {
        let actions = &self.model.actions;
        let system = &self.model.linkage.system;
        self.kinematics
            .update(system, &self.position, &self.velocity);
        self.force.fill(0.0);
        self.motor_force.fill(0.0);
        let mut power = Power::default();
        actions.resist(&mut self.view(), &mut power.dissipated);
        // damping of the flexible bodies, already among the kinematics' elastic forces
        let layout = system.layout();
        for &k in &self.damped {
            if let Some(flexible) = &system.bodies()[k].flexible {
                let n = flexible.coordinates.len();
                let rate = &self.velocity[layout.elastic_velocity[k]..][..n];
                power.dissipated += quadratic_form(&flexible.damping, rate);
            }
        }
        actions.turn_gears(&mut self.view(), &mut power.dissipated);
        self.update_inputs(time);
        self.update_feedback(time);
        let efforts = std::mem::take(&mut self.efforts);
        let mut view = self.view();
        actions.push_feedback(&efforts.feedback, &mut view, &mut power.input);
        actions.push_inputs(&efforts.inputs, &mut view, &mut power.input);
        self.efforts = efforts;
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
