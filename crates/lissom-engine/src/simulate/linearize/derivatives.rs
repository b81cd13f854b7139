//! Derivatives of the residual forces by positions and velocities, and the parts of the stiffness.

use nalgebra::DMatrix;

use super::outputs::OutputRows;
use super::{DIRECTIONS, Linearizer, MotionState, Tangent, constant};
use crate::simulate::equations::position_rates;
use lissom_core::study::LinearizeError;
use lissom_core::{Commanded as _, Efforts, Sensor, TurningJoint, quasi_rates};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Linearization, SensorRows};
use lissom_spatial::Vector;
use lissom_tree::JointKind;
use lissom_tree::tree::{
    HeldForces, add_elastic_stiffness, add_generalized_force, add_tension_stiffness, mass_matrix,
};

/// Derivatives of the residual forces in all coordinates that are not prescribed, motors last.
pub(super) struct Derivatives {
    pub(super) linear: Linearization,
    pub(super) residual: Vec<f64>,
}

impl Linearizer<'_> {
    pub(super) fn load_plain(&mut self, state: &MotionState) {
        let plain = &mut self.plain;
        plain.position.copy_from_slice(&state.position);
        plain.velocity.copy_from_slice(&state.velocity);
        plain.acceleration.copy_from_slice(&state.acceleration);
        for (i, motor) in state.motors.iter().enumerate() {
            plain.motor_position[i] = motor[0];
            plain.motor_rate[i] = motor[1];
            plain.motor_acceleration[i] = motor[2];
        }
    }

    pub(super) fn load_tangent(&mut self, state: &MotionState) {
        let tangent = &mut self.tangent;
        let lift = |to: &mut [Tangent], from: &[f64]| {
            for (to, &from) in to.iter_mut().zip(from) {
                *to = constant(from);
            }
        };
        lift(&mut tangent.position, &state.position);
        lift(&mut tangent.velocity, &state.velocity);
        lift(&mut tangent.acceleration, &state.acceleration);
        for (i, motor) in state.motors.iter().enumerate() {
            tangent.motor_position[i] = constant(motor[0]);
            tangent.motor_rate[i] = constant(motor[1]);
            tangent.motor_acceleration[i] = constant(motor[2]);
        }
    }

    /// Gives coordinate `entry` of the state the direction `slot` of the dual positions.
    pub(super) fn seed_position(&mut self, state: &MotionState, entry: usize, slot: usize) {
        let free = &self.equations.free_velocities;
        if let Some(&at) = free.get(entry) {
            let mut unit = vec![0.0; state.velocity.len()];
            unit[at] = 1.0;
            let mut rate = vec![0.0; state.position.len()];
            position_rates(
                &self.model.linkage.system,
                &state.position,
                &unit,
                &mut rate,
            );
            for (position, rate) in self.tangent.position.iter_mut().zip(&rate) {
                position.tangent[slot] = *rate;
            }
        } else {
            self.tangent.motor_position[entry - free.len()].tangent[slot] = 1.0;
        }
    }

    /// Gives the rate of coordinate `entry` so much in the direction `slot` of the dual velocities.
    pub(super) fn seed_velocity(&mut self, entry: usize, slot: usize, rate: f64) {
        let free = &self.equations.free_velocities;
        match free.get(entry) {
            Some(&at) => self.tangent.velocity[at].tangent[slot] = rate,
            None => self.tangent.motor_rate[entry - free.len()].tangent[slot] = rate,
        }
    }

    /// Writes the derivatives of the residual forces along the directions that were seeded.
    pub(super) fn collect(&self, columns: &[usize], derivative: &mut DMatrix<f64>) {
        let free = &self.equations.free_velocities;
        for (slot, &column) in columns.iter().enumerate() {
            for (row, &at) in free.iter().enumerate() {
                derivative[(row, column)] = self.tangent.joints[at].tangent[slot];
            }
            for (i, force) in self.tangent.motors.iter().enumerate() {
                derivative[(free.len() + i, column)] = force.tangent[slot];
            }
        }
    }

    /// Coordinates of the state from the outermost body inward, each with its body: directions of one body leave those before it
    /// as they are.
    pub(super) fn inward(&self) -> Vec<(usize, usize)> {
        let system = &self.model.linkage.system;
        let layout = system.layout();
        let mut owner = vec![system.bodies().len(); system.velocity_count()];
        for (k, body) in system.bodies().iter().enumerate() {
            let joint = layout.joint_velocity[k];
            owner[joint..joint + body.joint.kind.velocities()].fill(k);
            let elastic = layout.elastic_velocity[k];
            owner[elastic..elastic + body.modes()].fill(k);
        }
        let free = &self.equations.free_velocities;
        let motors =
            (0..self.model.transmissions.len()).map(|i| (free.len() + i, system.bodies().len()));
        let joints = free
            .iter()
            .enumerate()
            .map(|(entry, &at)| (entry, owner[at]));
        let mut entries: Vec<(usize, usize)> = joints.chain(motors).collect();
        entries.sort_by_key(|&(_, body)| std::cmp::Reverse(body));
        entries
    }

    /// At a state; outputs are written on the way, with its derivatives, if wanted.
    ///
    /// # Errors
    /// When the watcher stops.
    pub(super) fn derivatives(
        &mut self,
        state: &MotionState,
        mut rows: Option<&mut OutputRows>,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Derivatives, LinearizeError> {
        let n = self.equations.state_velocities();
        let residual = self.residual(state);
        let efforts = self.equations.commands.efforts().clone();
        let free = self.equations.free_velocities.clone();
        let mass = self.mass();
        let held = self.held_forces(state);
        let mut geometric = DMatrix::zeros(n, n);
        let mut springs: Vec<(f64, Vec<f64>)> = Vec::new();
        let each = |own: &mut Self, block: &[usize]| {
            if let Some(rows) = &mut rows {
                own.outputs_at_tangent(block, &mut rows.outputs);
                own.sensors_at_tangent(block, &mut rows.sensors.position);
            }
            let held = own.held_forces_moved(&held);
            own.stretch_springs(block, &mut springs);
            for (slot, &column) in block.iter().enumerate() {
                for (row, &at) in free.iter().enumerate() {
                    geometric[(row, column)] = held[at].tangent[slot];
                }
            }
        };
        let by_position = self.by_position(state, &efforts, each, watch)?;
        let each = |own: &mut Self, block: &[usize]| {
            if let Some(rows) = &mut rows {
                own.sensors_at_tangent(block, &mut rows.sensors.rate);
            }
        };
        let by_velocity = self.by_velocity(state, &efforts, each, watch)?;
        let turning = self.quasi_rates(&state.velocity);
        let turning_rate = self.quasi_rates(&state.acceleration);
        if let Some(rows) = rows {
            self.sensors_by_acceleration(state, &efforts, &mut rows.sensors, watch)?;
            rows.sensors.in_chart(&turning, &turning_rate);
        }
        let tension = self.tension_stiffness(state, &carried(&residual));
        let stiffness = by_position + &by_velocity * &turning + &mass * turning_rate + &tension;
        let damping = by_velocity + &mass * turning;
        let structural = self.elastic_stiffness(state) + spring_stiffness(n, &springs);
        let geometric = (&geometric + geometric.transpose()) * 0.5 + tension;
        Ok(Derivatives {
            linear: Linearization {
                dynamic: stiffness - &structural - &geometric,
                input: self.input_columns(state),
                mass,
                damping,
                structural,
                geometric,
                loops: None,
            },
            residual,
        })
    }

    /// Derivatives of the forces that a state needs beyond those that are there: by displacements of its positions, by its velocities.
    ///
    /// # Errors
    /// When the watcher stops.
    pub(crate) fn force_derivatives(
        &mut self,
        state: &MotionState,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<[DMatrix<f64>; 2], LinearizeError> {
        self.residual(state);
        let efforts = self.equations.commands.efforts().clone();
        Ok([
            self.by_position(state, &efforts, |_, _| {}, watch)?,
            self.by_velocity(state, &efforts, |_, _| {}, watch)?,
        ])
    }

    /// Derivatives of the residual forces by displacements; `each` looks at the dual state of some directions.
    pub(super) fn by_position(
        &mut self,
        state: &MotionState,
        efforts: &Efforts,
        mut each: impl FnMut(&mut Self, &[usize]),
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<DMatrix<f64>, LinearizeError> {
        let seed = |own: &mut Self, entry, slot| own.seed_position(state, entry, slot);
        self.along_all(state, efforts, seed, &mut each, watch)
    }

    /// Derivatives of the residual forces by velocities; `each` looks at the dual state of some directions.
    fn by_velocity(
        &mut self,
        state: &MotionState,
        efforts: &Efforts,
        mut each: impl FnMut(&mut Self, &[usize]),
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<DMatrix<f64>, LinearizeError> {
        let seed = |own: &mut Self, entry, slot| own.seed_velocity(entry, slot, 1.0);
        self.along_all(state, efforts, seed, &mut each, watch)
    }

    /// Derivatives by accelerations of what sensors read, where any of them measures these.
    fn sensors_by_acceleration(
        &mut self,
        state: &MotionState,
        efforts: &Efforts,
        sensors: &mut SensorRows,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<(), LinearizeError> {
        let mut all = self.model.actions.sensors.iter();
        if !all.any(Sensor::measures_accelerations) {
            return Ok(());
        }
        let joints = self.equations.free_velocities.clone();
        let seed = |own: &mut Self, entry: usize, slot: usize| {
            // motors move no body
            if let Some(&at) = joints.get(entry) {
                own.tangent.acceleration[at].tangent[slot] = 1.0;
            }
        };
        let mut each = |own: &mut Self, block: &[usize]| {
            own.sensors_at_tangent(block, &mut sensors.acceleration);
        };
        self.along_all(state, efforts, seed, &mut each, watch)?;
        Ok(())
    }

    /// Derivatives of the residual forces along what `seed` gives every coordinate, some directions at a time; `watch` is told the instant after
    /// them, and may stop.
    fn along_all(
        &mut self,
        state: &MotionState,
        efforts: &Efforts,
        seed: impl Fn(&mut Self, usize, usize),
        each: &mut dyn FnMut(&mut Self, &[usize]),
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<DMatrix<f64>, LinearizeError> {
        let n = self.equations.state_velocities();
        let mut derivative = DMatrix::zeros(n, n);
        let (entries, owners): (Vec<usize>, Vec<usize>) = self.inward().into_iter().unzip();
        for (block, owners) in entries.chunks(DIRECTIONS).zip(owners.chunks(DIRECTIONS)) {
            self.load_tangent(state);
            for (slot, &entry) in block.iter().enumerate() {
                seed(self, entry, slot);
            }
            // from the body nearest to the ground; the first block leaves those before it without derivatives
            let first = block[0] == entries[0];
            let from = if first { 0 } else { owners[owners.len() - 1] };
            self.tangent.evaluate(self.model, from, efforts);
            self.collect(block, &mut derivative);
            each(self, block);
            if watch(state.time_s) == Flow::Stop {
                return Err(LinearizeError::Stopped { at_s: state.time_s });
            }
        }
        Ok(derivative)
    }

    /// Forces that a state needs beyond those that are there, motors last; leaves loads and the plain state.
    pub(super) fn residual(&mut self, state: &MotionState) -> Vec<f64> {
        self.equations.act_at(state);
        self.load_plain(state);
        (self.plain).evaluate(self.model, 0, self.equations.commands.efforts());
        (self.equations.free_velocities.iter())
            .map(|&at| self.plain.joints[at])
            .chain(self.plain.motors.iter().copied())
            .collect()
    }

    /// Mass matrix at the plain state.
    pub(super) fn mass(&mut self) -> DMatrix<f64> {
        let full = self.model.linkage.system.velocity_count();
        let mut matrix = vec![0.0; full * full];
        mass_matrix(
            &self.model.linkage.system,
            &self.plain.kinematics,
            &mut self.composite,
            &mut matrix,
        );
        let mut mass = self.of_state(&matrix);
        let motors = self.equations.free_velocities.len();
        for (i, gear) in self.model.transmissions.iter().enumerate() {
            mass[(motors + i, motors + i)] = gear.inertia;
        }
        mass
    }

    /// Forces of inertia and gravity at the material points.
    fn held_forces(&mut self, state: &MotionState) -> HeldForces {
        let system = &self.model.linkage.system;
        // the accelerations of the points are the rates of their velocities
        let mut rate = vec![0.0; state.position.len()];
        position_rates(system, &state.position, &state.velocity, &mut rate);
        self.load_tangent(state);
        let tangent = &mut self.tangent;
        for (position, &rate) in tangent.position.iter_mut().zip(&rate) {
            position.tangent[0] = rate;
        }
        for (velocity, &acceleration) in tangent.velocity.iter_mut().zip(&state.acceleration) {
            velocity.tangent[0] = acceleration;
        }
        tangent
            .kinematics
            .update_motion(system, &tangent.position, &tangent.velocity);
        tangent.kinematics.update_poses(system);
        let mut velocities = Vec::with_capacity(self.points.len());
        self.points.velocities(
            system,
            &tangent.kinematics,
            &tangent.position,
            &tangent.velocity,
            &mut velocities,
        );
        let gravity = system.gravity();
        let forces: Vec<Vector<f64>> = (velocities.iter().zip(self.points.masses()))
            .map(|(velocity, mass)| {
                let acceleration = Vector(velocity.0.map(|x| x.tangent[0]));
                (acceleration - gravity).scale(mass)
            })
            .collect();
        self.points.hold(&forces)
    }

    /// Generalised force of forces that are held at the material points and of loads held as they are, in the dual
    /// state.
    fn held_forces_moved(&mut self, held: &HeldForces) -> Vec<Tangent> {
        let model = self.model;
        let system = &model.linkage.system;
        let mut force = vec![constant(0.0); system.velocity_count()];
        let tangent = &mut self.tangent;
        held.add(system, &tangent.kinematics, &tangent.position, &mut force);
        for (load, &value) in model
            .actions
            .loads
            .iter()
            .zip(&self.equations.commands.efforts().inputs)
        {
            let Some((body, point, wrench)) = tangent.wrench(model, load, value) else {
                continue;
            };
            let fixed = |v: Vector<Tangent>| Vector(v.0.map(|x| constant(-x.value)));
            let pose = *tangent.kinematics.ground_from_body(body);
            let (moment, push) = (fixed(wrench.moment), fixed(wrench.force));
            let about = moment + (point - pose.translation).cross(push);
            let in_body = lissom_spatial::Force::new(
                pose.rotation.transpose_mul(about),
                pose.rotation.transpose_mul(push),
            );
            let modes = system.bodies()[body].modes();
            add_generalized_force(
                system,
                &tangent.kinematics,
                body,
                &tangent.influence[..modes],
                in_body,
                &mut force,
            );
        }
        force
    }

    /// Stiffness of every spring, and derivatives of its elongation along the directions that were seeded.
    fn stretch_springs(&mut self, columns: &[usize], springs: &mut Vec<(f64, Vec<f64>)>) {
        let (model, n) = (self.model, self.equations.state_velocities());
        let mut spring = 0;
        let view = self.tangent.view(model);
        (model.actions).springs(&view, &mut |stiffness, elongation: Tangent| {
            if spring == springs.len() {
                springs.push((stiffness, vec![0.0; n]));
            }
            for (&column, along) in columns.iter().zip(elongation.tangent) {
                springs[spring].1[column] = along;
            }
            spring += 1;
        });
    }

    /// Stiffness of flexible bodies.
    pub(super) fn elastic_stiffness(&self, state: &MotionState) -> DMatrix<f64> {
        let full = state.velocity.len();
        let mut matrix = vec![0.0; full * full];
        add_elastic_stiffness(&self.model.linkage.system, &state.position, &mut matrix);
        self.of_state(&matrix)
    }

    /// What the forces that bodies carry while they are held undeformed, one per coordinate of the state, do to the stiffness of beams
    /// whose strain is quadratic: it is linear in these forces.
    pub(super) fn tension_stiffness(&self, state: &MotionState, carried: &[f64]) -> DMatrix<f64> {
        let full = state.velocity.len();
        let mut matrix = vec![0.0; full * full];
        if state.undeformed {
            let mut forces = vec![0.0; full];
            for (&at, &force) in self.equations.free_velocities.iter().zip(carried) {
                forces[at] = force;
            }
            add_tension_stiffness(&self.model.linkage.system, &forces, &mut matrix);
        }
        self.of_state(&matrix)
    }

    /// A matrix over all velocities, by rows, in the coordinates of the state.
    fn of_state(&self, matrix: &[f64]) -> DMatrix<f64> {
        let full = self.model.linkage.system.velocity_count();
        let free = &self.equations.free_velocities;
        let n = free.len() + self.model.transmissions.len();
        let mut own = DMatrix::zeros(n, n);
        for (i, &row) in free.iter().enumerate() {
            for (j, &column) in free.iter().enumerate() {
                own[(i, j)] = matrix[row * full + column];
            }
        }
        own
    }

    /// $`W`$ for joint velocities, or its rate for their rates.
    pub(super) fn quasi_rates(&self, velocity: &[f64]) -> DMatrix<f64> {
        let system = &self.model.linkage.system;
        let free = &self.equations.free_velocities;
        let three = |at: usize| Vector(std::array::from_fn(|i| velocity[at + i]));
        let joints = system.bodies().iter().enumerate().filter_map(|(k, body)| {
            let at = system.layout().joint_velocity[k];
            let linear = match body.joint.kind {
                JointKind::Spherical => None,
                JointKind::Free => Some(three(at + 3)),
                _ => return None,
            };
            Some(TurningJoint {
                first: free.binary_search(&at).ok()?,
                angular: three(at),
                linear,
            })
        });
        quasi_rates(self.equations.state_velocities(), joints)
    }

    /// $`B`$ at the plain state: actuators, then loads on markers.
    fn input_columns(&mut self, state: &MotionState) -> DMatrix<f64> {
        let model = self.model;
        let actuated = self.actuated_entries();
        let loads: Vec<_> = model.actions.marker_loads().collect();
        let n = self.equations.state_velocities();
        let mut input = DMatrix::zeros(n, actuated.len() + loads.len());
        for (column, &at) in actuated.iter().enumerate() {
            input[(at, column)] = 1.0;
        }
        for (i, load) in loads.into_iter().enumerate() {
            let mut force = vec![0.0; state.velocity.len()];
            if let Some((body, point, wrench)) = self.plain.wrench(model, load, 1.0) {
                let pose = *self.plain.kinematics.ground_from_body(body);
                let about = wrench.moment + (point - pose.translation).cross(wrench.force);
                let in_body = lissom_spatial::Force::new(
                    pose.rotation.transpose_mul(about),
                    pose.rotation.transpose_mul(wrench.force),
                );
                let modes = model.linkage.system.bodies()[body].modes();
                add_generalized_force(
                    &model.linkage.system,
                    &self.plain.kinematics,
                    body,
                    &self.plain.influence[..modes],
                    in_body,
                    &mut force,
                );
            }
            for (row, &at) in self.equations.free_velocities.iter().enumerate() {
                input[(row, actuated.len() + i)] = force[at];
            }
        }
        input
    }
}

/// Forces that bodies carry where a motion needs so much beyond what is there.
pub(super) fn carried(residual: &[f64]) -> Vec<f64> {
    residual.iter().map(|needed| -needed).collect()
}

/// $`\sum k\,g g^T`$ of springs with these stiffnesses and gradients of their elongations.
fn spring_stiffness(n: usize, springs: &[(f64, Vec<f64>)]) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(n, n);
    for (stiffness, gradient) in springs {
        let moved = |i: &usize| gradient[*i] != 0.0;
        for i in (0..n).filter(moved) {
            for j in (0..n).filter(moved) {
                matrix[(i, j)] += stiffness * gradient[i] * gradient[j];
            }
        }
    }
    matrix
}
