//! States at which a model is linearised: at the start, on the way, recorded, and of the nominal motion.

use nalgebra::{DMatrix, DVector};

use super::{LinearizeError, Linearizer, is_elastic};
use lissom_core::{Commanded as _, Nominal as _, State};
use lissom_tree::tree::difference;

/// A state of motion with its accelerations, in full vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionState {
    /// Instant, for what the inputs do.
    pub time_s: f64,
    /// Position vector.
    pub position: Vec<f64>,
    /// Velocity vector.
    pub velocity: Vec<f64>,
    /// Its rate.
    pub acceleration: Vec<f64>,
    /// Position, rate and acceleration of every motor behind an elastic gear.
    pub motors: Vec<[f64; 3]>,
    /// States of controllers and actuators; none stands for zeros.
    pub control: Vec<f64>,
    /// Whether bodies are held undeformed by stresses, whatever loads and inertia do, as along the nominal motion.
    pub undeformed: bool,
}

impl Linearizer<'_> {
    /// The model's state at the start, with the accelerations it then has.
    ///
    /// # Errors
    /// When it has none.
    pub fn initial_state(&mut self, time_s: f64) -> Result<MotionState, LinearizeError> {
        let state = self.equations.initial_state();
        self.moving_state(time_s, &state)
    }

    /// A state given by positions and velocities as [`Equations::state_layout`](crate::simulate::Equations::state_layout) lists them, with the accelerations
    /// that it has.
    ///
    /// # Errors
    /// When it has none.
    pub fn moving_state(
        &mut self,
        time_s: f64,
        state: &[f64],
    ) -> Result<MotionState, LinearizeError> {
        let mut state = state.to_vec();
        self.equations.project_sample(time_s, &mut state);
        let (n_q, n_v) = (
            self.equations.state_positions(),
            self.equations.state_velocities(),
        );
        self.equations
            .evaluate(time_s, &state[..n_q], &state[n_q..n_q + n_v]);
        let found = MotionState {
            time_s,
            position: self.equations.position.clone(),
            velocity: self.equations.velocity.clone(),
            acceleration: self.equations.acceleration().to_vec(),
            motors: (self.model.transmissions.iter().enumerate())
                .map(|(i, gear)| {
                    let force = self.equations.motor_force[i];
                    [
                        self.equations.motor_position[i],
                        self.equations.motor_rate[i],
                        force / gear.inertia,
                    ]
                })
                .collect(),
            control: self.equations.commands.efforts().control.clone(),
            undeformed: false,
        };
        match found.acceleration.iter().position(|a| !a.is_finite()) {
            None => Ok(found),
            Some(at) => Err(LinearizeError::NotFinite {
                coordinate: self.model.linkage.velocities[at].name.clone(),
                time_s,
            }),
        }
    }

    /// The motion that would go on from a state if every body stayed as it is bent and every gear as it is wound: joints keep
    /// their momenta, $`B^TM(v - v_0) = 0`$ for the motions $`B`$ that are left, and accelerate under the loads that are there. Vibrations,
    /// which average out, are not in it. Mechanisms with loops, some of which only move while they bend, are left as they are.
    #[must_use]
    pub fn locked(&mut self, state: &MotionState) -> MotionState {
        let model = self.model;
        if !model.linkage.closures.is_empty() {
            return state.clone();
        }
        let free = self.equations.free_velocities.clone();
        let joints: Vec<usize> = (0..free.len())
            .filter(|&i| !is_elastic(model, free[i]))
            .collect();
        let n = free.len() + model.transmissions.len();
        let mut motions = DMatrix::zeros(n, joints.len());
        for (column, &row) in joints.iter().enumerate() {
            motions[(row, column)] = 1.0;
            for (i, gear) in model.transmissions.iter().enumerate() {
                if gear.velocity == free[row] {
                    motions[(free.len() + i, column)] = 1.0;
                }
            }
        }
        self.load_plain(state);
        let plain = &mut self.plain;
        plain
            .kinematics
            .update(&model.linkage.system, &plain.position, &plain.velocity);
        let mass = self.mass();
        let Some(inertia) = (motions.transpose() * &mass * &motions).cholesky() else {
            return state.clone();
        };
        let mut locked = state.clone();
        let put =
            |values: &DVector<f64>, full: &mut [f64], motors: &mut [[f64; 3]], which: usize| {
                for (i, &at) in free.iter().enumerate() {
                    full[at] = values[i];
                }
                for (i, motor) in motors.iter_mut().enumerate() {
                    motor[which] = values[free.len() + i];
                }
            };
        let rates = (free.iter().map(|&at| state.velocity[at]))
            .chain(state.motors.iter().map(|motor| motor[1]));
        let momenta = motions.transpose() * &mass * DVector::from_iterator(n, rates);
        let rates = &motions * inertia.solve(&momenta);
        put(&rates, &mut locked.velocity, &mut locked.motors, 1);
        put(
            &DVector::zeros(n),
            &mut locked.acceleration,
            &mut locked.motors,
            2,
        );
        let residual = DVector::from_vec(self.residual(&locked));
        let accelerations = &motions * inertia.solve(&-(motions.transpose() * residual));
        put(
            &accelerations,
            &mut locked.acceleration,
            &mut locked.motors,
            2,
        );
        locked
    }

    /// The state of the nominal motion at an instant: every body undeformed. Instants rise from call to call.
    ///
    /// # Errors
    /// When there is no such motion.
    pub fn nominal_state(&mut self, time_s: f64) -> Result<MotionState, LinearizeError> {
        let system = &self.model.linkage.system;
        let n_v = system.velocity_count();
        let mut state = MotionState {
            time_s,
            position: vec![0.0; system.position_count()],
            velocity: vec![0.0; n_v],
            acceleration: vec![0.0; n_v],
            motors: Vec::new(),
            control: Vec::new(),
            undeformed: true,
        };
        let model = self.model;
        let path = match &mut self.path {
            Some(path) => path,
            None => self.path.insert(model.any_trajectory()?),
        };
        path.update(time_s)?;
        path.mechanism().write(
            model,
            path.state(),
            [
                &mut state.position,
                &mut state.velocity,
                &mut state.acceleration,
            ],
        );
        let turns_with_its_joint = |gear: &crate::model::Transmission| {
            [
                state.position[gear.position],
                state.velocity[gear.velocity],
                state.acceleration[gear.velocity],
            ]
        };
        state.motors = model
            .transmissions
            .iter()
            .map(turns_with_its_joint)
            .collect();
        Ok(state)
    }

    /// Deviation of a state from another in all coordinates: positions, then rates.
    pub(super) fn whole_deviation(&mut self, state: &State, from: &MotionState) -> [Vec<f64>; 2] {
        let (position, velocity) = self.equations.unpacked(state);
        let free = self.equations.free_velocities.clone();
        let motors = (self.model.transmissions.iter().enumerate()).map(|(i, _)| {
            let positions = self.equations.free_positions.len();
            [
                state.position[positions + i],
                state.velocity[free.len() + i],
                0.0,
            ]
        });
        let state = MotionState {
            time_s: from.time_s,
            position,
            acceleration: vec![0.0; velocity.len()],
            velocity,
            motors: motors.collect(),
            control: Vec::new(),
            undeformed: false,
        };
        let rates = |state: &MotionState| {
            let motors = state.motors.iter().map(|motor| motor[1]);
            let joints = free.iter().map(|&at| state.velocity[at]);
            DVector::from_vec(joints.chain(motors).collect())
        };
        let system = &self.model.linkage.system;
        let whole = difference(system, &from.position, &state.position);
        let motors = (state.motors.iter().zip(&from.motors)).map(|(own, from)| own[0] - from[0]);
        let deviation = free.iter().map(|&at| whole[at]).chain(motors);
        let deviation = DVector::from_vec(deviation.collect());
        // velocities that are no rates of the chart: those deviate by δv = δ' + Wδ
        let rate = rates(&state) - rates(from) - self.quasi_rates(&from.velocity) * &deviation;
        [deviation, rate].map(|vector| vector.as_slice().to_vec())
    }

    /// Positions that stand for the coordinates of the chart; orientations count from where they are.
    pub(super) fn chart_position(&self, state: &MotionState) -> Vec<f64> {
        let system = &self.model.linkage.system;
        let layout = system.layout();
        let mut full = vec![0.0; state.velocity.len()];
        for (k, body) in system.bodies().iter().enumerate() {
            if body.joint.kind.velocities() == 1 {
                full[layout.joint_velocity[k]] = state.position[layout.joint_position[k]];
            }
            for alpha in 0..body.modes() {
                full[layout.elastic_velocity[k] + alpha] =
                    state.position[layout.elastic_position[k] + alpha];
            }
        }
        (self.equations.free_velocities.iter())
            .map(|&at| full[at])
            .chain(state.motors.iter().map(|motor| motor[0]))
            .collect()
    }
}
