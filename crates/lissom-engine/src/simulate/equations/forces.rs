//! What acts in a state: the model's actions, and the damping of its bodies.

use super::Equations;
use crate::simulate::linearize::MotionState;
use crate::simulate::view::TreeView;
use lissom_core::Commanded as _;
use lissom_core::Power;

impl Equations<'_> {
    /// Inputs and feedback of the unpacked state.
    fn update_efforts(&mut self, time: f64) {
        let mut commands = std::mem::take(&mut self.commands);
        commands.evaluate(&self.model.actions, time, &mut self.view());
        self.commands = commands;
    }

    /// Inputs and controllers at a state given in full.
    pub(in crate::simulate) fn act_at(&mut self, state: &MotionState) {
        self.position.copy_from_slice(&state.position);
        self.velocity.copy_from_slice(&state.velocity);
        for (i, motor) in state.motors.iter().enumerate() {
            [self.motor_position[i], self.motor_rate[i]] = [motor[0], motor[1]];
        }
        self.commands.set_control(&state.control);
        let system = &self.model.linkage.system;
        // sensors that controllers read see markers move
        self.kinematics
            .update(system, &self.position, &self.velocity);
        self.update_efforts(state.time_s);
    }

    /// The state as actions see it, where its kinematics is prepared; poses are not.
    pub(super) fn view(&mut self) -> TreeView<'_, f64> {
        self.view_with(false)
    }

    /// The same where inverse dynamics found the accelerations of the bodies.
    pub(super) fn accelerated_view(&mut self) -> TreeView<'_, f64> {
        self.view_with(true)
    }

    fn view_with(&mut self, accelerates: bool) -> TreeView<'_, f64> {
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
            accelerations: accelerates.then_some((&self.acceleration, &self.inverse)),
        }
    }

    /// Prepares kinematics and all forces of the unpacked state; returns the power that flows.
    pub(super) fn apply_forces(&mut self, time: f64) -> Power {
        let mut power = self.prepare_forces(time);
        self.push_efforts(&mut power);
        power
    }

    /// Pushes feedback and inputs; adds to the power that flows.
    pub(super) fn push_efforts(&mut self, power: &mut Power) {
        let actions = &self.model.actions;
        let efforts = std::mem::take(self.commands.efforts_mut());
        let mut view = self.view();
        actions.push_feedback(&efforts, &mut view, &mut power.input);
        actions.push_inputs(&efforts, &mut view, &mut power.input);
        *self.commands.efforts_mut() = efforts;
    }

    /// Prepares kinematics, what the mechanism does of itself, and values of inputs and feedback of the unpacked state; returns
    /// the power that flows.
    pub(super) fn prepare_forces(&mut self, time: f64) -> Power {
        let system = &self.model.linkage.system;
        self.kinematics
            .update(system, &self.position, &self.velocity);
        let power = self.resist();
        self.update_efforts(time);
        power
    }

    /// What the mechanism does of itself in the unpacked state, whose kinematics is prepared; returns the power that is dissipated.
    pub(super) fn resist(&mut self) -> Power {
        let actions = &self.model.actions;
        let system = &self.model.linkage.system;
        self.force.fill(0.0);
        self.motor_force.fill(0.0);
        let mut power = Power::default();
        let contacts = std::mem::take(&mut self.commands.efforts_mut().contacts);
        actions.resist(&contacts, &mut self.view(), &mut power.dissipated);
        self.commands.efforts_mut().contacts = contacts;
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
