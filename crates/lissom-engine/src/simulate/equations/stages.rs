//! The equations as the stages of implicit integrators solve them: one articulated-body sweep per iteration.
//!
//! What is stiff is taken from the bodies ([`StageInertia`]) and from what acts on axes ([`Actions::pulls`](lissom_core::Actions::pulls)):
//! springs, dampers, friction, gains and gears. The motor behind a gear is eliminated before the sweep: with the inertia
//! $`J`$ of the rotor, $`x`$ of the gear and $`x_m`$ of what else pulls the motor,
//!
//! ```math
//! \begin{aligned}
//! (J + x_m + x)\,a_m - x\,a_j &= f_m + (x_m + x)\,a_{m0} - x\,a_{j0} =: r_m\\
//! \dots + x\,a_j - x\,a_m &= f_j + x\,(a_{j0} - a_{m0})
//! \end{aligned}
//! ```
//!
//! leaves $`x - x^2/d`$ with $`d = J + x_m + x`$ on the diagonal of the joint and $`x\,r_m/d`$ among its forces.

use super::Equations;
use super::first_order::position_rates;
use crate::model::{AxisPlace, Model};
use lissom_core::{AxisId, Commanded as _, Pull, Pulled};
use lissom_tree::System;
use lissom_tree::tree::{ArticulatedBody, StageInertia, inverse_dynamics};

/// What solving for stages needs beyond evaluating the equations.
#[derive(Clone, Debug)]
pub(super) struct Stages {
    articulated: ArticulatedBody<f64>,
    added: StageInertia,
    motors: Vec<Motor>,
    /// Full vectors: accelerations to begin with, and forces.
    guess: Vec<f64>,
    force: Vec<f64>,
    /// Positions and velocities of the state.
    state: Vec<f64>,
    /// Frequency of every elastic coordinate by itself, at its entry of the velocity vector.
    frequency: Vec<f64>,
}

/// The motor behind an elastic gear.
#[derive(Clone, Copy, Debug, Default)]
struct Motor {
    /// $`x_m`$, and $`x`$ of its gear.
    own: f64,
    gear: f64,
    /// Whether the joint is free to move, and where it stands among the velocities.
    joint_is_free: bool,
    joint: usize,
    /// $`a_{m0}`$, $`r_m`$ and $`a_m`$.
    guess: f64,
    right: f64,
    acceleration: f64,
}

impl Motor {
    fn inertia(&self, rotor: f64) -> f64 {
        rotor + self.own + self.gear
    }
}

impl Stages {
    pub(super) fn new(model: &Model, state: usize) -> Self {
        let system = &model.linkage.system;
        let zeros = vec![0.0; system.velocity_count()];
        let motors = model.transmissions.iter().map(|gear| Motor {
            joint: gear.velocity,
            joint_is_free: !(model.motions.iter()).any(|motion| motion.velocity == gear.velocity),
            ..Motor::default()
        });
        Self {
            // what is added cannot go into a constant inverse
            articulated: ArticulatedBody::with_indirect_from(system, usize::MAX),
            added: StageInertia::new(system),
            motors: motors.collect(),
            guess: zeros.clone(),
            force: zeros,
            state: vec![0.0; state],
            frequency: frequencies(system),
        }
    }

    fn pull(&mut self, model: &Model, pulled: Pulled, pull: Pull, share: f64) {
        let system = &model.linkage.system;
        let added = share * (pull.damping + share * pull.stiffness);
        let place = |AxisId(axis): AxisId| model.places.axes[axis].place;
        match pulled {
            Pulled::Axis(axis) => match place(axis) {
                AxisPlace::Joint { body, .. } => {
                    self.added.add_to_joint(system, body, 0, added);
                }
                AxisPlace::Motor(motor) => self.motors[motor].own += added.max(0.0),
            },
            Pulled::Gear { motor, .. } => {
                if let AxisPlace::Motor(motor) = place(motor) {
                    self.motors[motor].gear = added;
                }
            }
            Pulled::Joint { joint, slides } => {
                let body = model.places.joints[joint.0].body;
                let first = if slides { 3 } else { 0 };
                for direction in first..first + 3 {
                    self.added.add_to_joint(system, body, direction, added);
                }
            }
        }
    }

    /// Puts the gears into what is added to the joints, motors eliminated.
    fn eliminate_motors(&mut self, model: &Model) {
        for gear in &model.actions.gears {
            let places = [gear.motor, gear.joint].map(|AxisId(axis)| model.places.axes[axis].place);
            if let [AxisPlace::Motor(motor), AxisPlace::Joint { body, .. }] = places {
                let inertia = self.motors[motor].inertia(model.transmissions[motor].inertia);
                let stiff = self.motors[motor].gear;
                let added = stiff - stiff * stiff / inertia;
                self.added
                    .add_to_joint(&model.linkage.system, body, 0, added);
            }
        }
    }
}

/// Frequencies of the elastic coordinates of all bodies, each with the others held; zero for joints.
fn frequencies(system: &System) -> Vec<f64> {
    let layout = system.layout();
    let mut frequency = vec![0.0; system.velocity_count()];
    for (k, body) in system.bodies().iter().enumerate() {
        let (n, Some(flexible)) = (body.modes(), &body.flexible) else {
            continue;
        };
        let mass = &flexible.integrals.mass_matrix;
        for alpha in 0..n {
            let [stiffness, mass] =
                [&flexible.stiffness, mass].map(|matrix| matrix[alpha * (n + 1)]);
            frequency[layout.elastic_velocity[k] + alpha] = (stiffness / mass).max(0.0).sqrt();
        }
    }
    frequency
}

impl Equations<'_> {
    /// Forms what stages of this share of the step add to the mass matrix, at the state that a step begins with.
    pub(super) fn prepare_stage_inertia(
        &mut self,
        time: f64,
        state: &[f64],
        rate: &[f64],
        share: f64,
    ) {
        let model = self.model;
        let system = &model.linkage.system;
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        let mut stages =
            (self.stages.take()).unwrap_or_else(|| Box::new(Stages::new(model, n_q + n_v)));
        self.unpack(time, &state[..n_q], &state[n_q..n_q + n_v]);
        self.apply_forces(time);
        for (&at, &a) in self.free_velocities.iter().zip(&rate[n_q..]) {
            self.acceleration[at] = a;
        }
        inverse_dynamics(
            system,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.reaction,
        );
        (stages.added).update(
            system,
            &self.kinematics,
            &self.inverse,
            &self.position,
            share,
        );
        for motor in &mut stages.motors {
            (motor.own, motor.gear) = (0.0, 0.0);
        }
        let commands = std::mem::take(&mut self.commands);
        let mass = |place| commands.controlled_mass(place);
        let view = self.view();
        let contacts = &commands.efforts().contacts;
        (model.actions).pulls(contacts, &view, mass, |pulled, pull| {
            stages.pull(model, pulled, pull, share);
        });
        self.commands = commands;
        stages.eliminate_motors(model);
        self.stages = Some(stages);
    }

    /// Writes by how much errors of the rates of elastic coordinates and of motors behind gears may be larger than those of positions: by their
    /// frequencies.
    pub(super) fn allow_errors_of_rates(&self, allowance: &mut [f64]) {
        let Some(stages) = &self.stages else {
            return;
        };
        let rates = &mut allowance[self.state_positions()..];
        for (rate, &at) in rates.iter_mut().zip(&self.free_velocities) {
            *rate = stages.frequency[at].max(1.0);
        }
        let motors = &mut rates[self.free_velocities.len()..];
        let gears = self.model.actions.gears.iter();
        for gear in gears {
            if let AxisPlace::Motor(motor) = self.model.places.axes[gear.motor.0].place {
                let inertia = self.model.transmissions[motor].inertia;
                motors[motor] = (gear.stiffness / inertia).sqrt().max(1.0);
            }
        }
    }

    /// One iteration of a stage whose velocities are `base` plus a share of their derivatives.
    pub(super) fn iterate_stage(&mut self, time: f64, base: &[f64], share: f64, rate: &mut [f64]) {
        let Some(mut stages) = self.stages.take() else {
            rate.fill(f64::NAN);
            return;
        };
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        let free = self.free_velocities.len();
        for (x, (&base, &rate)) in stages.state.iter_mut().zip(base.iter().zip(&*rate)) {
            *x = base + share * rate;
        }
        // rates of positions follow from velocities and, where positions are not vectors, from positions
        let (positions, velocities) = stages.state.split_at_mut(n_q);
        self.unpack(time, positions, velocities);
        self.find_position_rates(&mut rate[..n_q]);
        for (x, (&base, &rate)) in positions.iter_mut().zip(base.iter().zip(&*rate)) {
            *x = base + share * rate;
        }
        stages.guess.fill(0.0);
        for (&at, &a) in self.free_velocities.iter().zip(&rate[n_q..]) {
            stages.guess[at] = a;
        }
        for (motor, &a) in stages.motors.iter_mut().zip(&rate[n_q + free..]) {
            motor.guess = a;
        }
        let state = std::mem::take(&mut stages.state);
        self.stages = Some(stages);
        let (positions, velocities) = state.split_at(n_q);
        self.evaluate_by(time, positions, velocities, Self::accelerate_stage);
        let reaction_power = self.reaction_power();
        let Some(mut stages) = self.stages.take() else {
            return;
        };
        stages.state = state;

        let (velocity_rate, work) = rate[n_q..].split_at_mut(n_v);
        let (own, motors) = velocity_rate.split_at_mut(free);
        for (r, &at) in own.iter_mut().zip(&self.free_velocities) {
            *r = self.acceleration[at];
        }
        for (r, motor) in motors.iter_mut().zip(&stages.motors) {
            *r = motor.acceleration;
        }
        // the velocities found give rates of positions and, with the forces that were there, the power
        for (i, &at) in self.free_velocities.iter().enumerate() {
            self.velocity[at] = base[n_q + i] + share * velocity_rate[i];
        }
        for (i, motor_rate) in self.motor_rate.iter_mut().enumerate() {
            *motor_rate = base[n_q + free + i] + share * velocity_rate[free + i];
        }
        let mut power = self.resist();
        self.push_efforts(&mut power);
        power.input += reaction_power;
        (work[0], work[1]) = (power.input, power.dissipated);
        self.find_position_rates(&mut rate[..n_q]);
        self.stages = Some(stages);
    }

    /// Rates of the positions of the unpacked state.
    fn find_position_rates(&mut self, rate: &mut [f64]) {
        let system = &self.model.linkage.system;
        let all = &mut self.position_rate;
        position_rates(system, &self.position, &self.velocity, all);
        let (free, motors) = rate.split_at_mut(self.free_positions.len());
        for (r, &at) in free.iter_mut().zip(&self.free_positions) {
            *r = self.position_rate[at];
        }
        motors.copy_from_slice(&self.motor_rate);
    }

    /// [`accelerate`](Self::accelerate) with what a stage adds.
    fn accelerate_stage(&mut self) {
        let Some(mut stages) = self.stages.take() else {
            return;
        };
        let model = self.model;
        let system = &model.linkage.system;
        let Stages {
            articulated,
            added,
            motors,
            guess,
            force,
            ..
        } = &mut *stages;
        force.copy_from_slice(&self.force);
        added.add_force(system, guess, force);
        for (i, motor) in motors.iter_mut().enumerate() {
            let (x, rotor) = (motor.gear, model.transmissions[i].inertia);
            motor.right = self.motor_force[i] + (motor.own + x) * motor.guess;
            if motor.joint_is_free {
                // the diagonal of the joint has what is left of x; the force is to have x itself
                motor.right -= x * guess[motor.joint];
                let kept = x * x / motor.inertia(rotor);
                force[motor.joint] += kept * guess[motor.joint] - x * motor.guess
                    + x * motor.right / motor.inertia(rotor);
            }
        }
        let formed = if let Ok(Some(loops)) = &mut self.loops {
            loops.accelerate(
                &model.linkage,
                &mut self.kinematics,
                articulated,
                Some(added),
                &self.position,
                &self.velocity,
                force,
                &mut self.acceleration,
            )
        } else {
            let (kinematics, acceleration) = (&self.kinematics, &mut self.acceleration);
            articulated.factor_stage(system, kinematics, added);
            articulated.forward_dynamics_stage(system, kinematics, added, force, acceleration);
            articulated.is_positive_definite(system)
        };
        for (i, motor) in motors.iter_mut().enumerate() {
            let joint = if motor.joint_is_free {
                self.acceleration[motor.joint]
            } else {
                0.0
            };
            let inertia = motor.inertia(model.transmissions[i].inertia);
            motor.acceleration = (motor.right + motor.gear * joint) / inertia;
        }
        self.stages = Some(stages);
        if !formed {
            self.lose_accelerations();
        }
    }
}
