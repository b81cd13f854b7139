//! Linearised equations of motion of a model in joint and elastic coordinates, by dual numbers.
//!
//! With the forces $`r(q, v, \dot v)`$ that a motion needs beyond those that are there, deviations obey
//! $`r_q\,\delta + r_v\,\delta v + M\,\delta\dot v = B\,\delta u`$. All derivatives are exact: the recursions run over dual numbers.
//!
//! **Charts.** $`\delta`$ has one entry per velocity coordinate and moves the positions as a velocity in unit time would.
//! Where velocities are no rates of positions (spherical and free joints, twists in child axes) they deviate by
//! $`\delta v = \dot\delta + W\delta`$, $`W`$ the cross products with the joint's own velocity, so that
//!
//! ```math
//! C_0 = r_v + M W, \qquad K = r_q + r_v W + M\dot W .
//! ```
//!
//! The attitude of an exact tip deviates with the slopes of its beam: exact as long as the beam does not vibrate.
//!
//! **Parts.** $`K_0`$ is the derivative of the elastic forces of the bodies (the quadratic strain among them), springs and
//! gears. $`G_0`$ is that of $`\sum (\partial r/\partial q)^T f`$ with the forces $`f = \ddot r\,dm - df`$ of inertia, gravity and loads held
//! at every material point, made symmetric; $`N_0`$ is the rest. This is the split of the nodal formulation.
//!
//! **Loops.** In independent coordinates, see `loops.rs`.

mod forces;
mod loops;
mod outputs;

use nalgebra::DMatrix;

use crate::integrate::Flow;
use crate::linear::{Along, Label, Labels, Linearization, Point};
use crate::model::{ControlledJoint, Controller, CoordinateKind, JointKind, LoadTarget, Model};
use crate::scalar::Dual;
use crate::simulate::equations::{Equations, NominalPath, add_resistance, position_rates};
use crate::simulate::{NominalError, Recording};
use crate::spatial::{Matrix, Vector};
use crate::tree::{
    CompositeBody, MaterialPoints, add_elastic_stiffness, add_generalized_force, mass_matrix,
};
use forces::Unbalanced;
use loops::Independent;

/// Directions differentiated at once.
const DIRECTIONS: usize = 4;

type Tangent = Dual<f64, DIRECTIONS>;

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
}

/// Why a model cannot be linearised.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinearizeError {
    /// There is no nominal motion.
    #[error(transparent)]
    Nominal(#[from] NominalError),
    /// The closures leave nothing to move, or are singular.
    #[error(
        "the closures of the model are singular at t = {time_s} s, so that no independent coordinates can be chosen; \
         keep away from this configuration"
    )]
    Singular {
        /// When.
        time_s: f64,
    },
    /// What is independent where a motion begins is not so on its way.
    #[error(
        "the coordinates that are independent at the first instant do not determine the mechanism at t = {time_s} s; \
         take instants one by one, or a shorter stretch of the motion"
    )]
    Worn {
        /// When.
        time_s: f64,
    },
    /// A number that is not finite.
    #[error(
        "{coordinate} has no finite acceleration at t = {time_s} s; run the model to see what happens before"
    )]
    NotFinite {
        /// The coordinate.
        coordinate: String,
        /// When.
        time_s: f64,
    },
    /// Whoever watches stopped it.
    #[error("stopped at {at_s} s")]
    Stopped {
        /// When.
        at_s: f64,
    },
    /// A recording lacks a coordinate.
    #[error(
        "the recording has no channel {channel:?}; record every channel: leave output.channels out"
    )]
    NotRecorded {
        /// The channel.
        channel: String,
    },
}

/// Linearises the equations of a model.
#[derive(Clone, Debug)]
pub struct Linearizer<'m> {
    model: &'m Model,
    equations: Equations<'m>,
    points: MaterialPoints,
    plain: Unbalanced<f64>,
    tangent: Unbalanced<Tangent>,
    composite: CompositeBody<f64>,
    path: Option<NominalPath>,
}

/// Derivatives of the unbalanced forces in all coordinates that are not prescribed, motors last.
struct Derivatives {
    mass: DMatrix<f64>,
    damping: DMatrix<f64>,
    stiffness: DMatrix<f64>,
    structural: DMatrix<f64>,
    geometric: DMatrix<f64>,
    input: DMatrix<f64>,
    unbalanced: Vec<f64>,
}

impl<'m> Linearizer<'m> {
    /// For `model`.
    pub fn new(model: &'m Model) -> Self {
        Self {
            model,
            equations: Equations::new(model),
            points: MaterialPoints::new(&model.system),
            plain: Unbalanced::new(model),
            tangent: Unbalanced::new(model),
            composite: CompositeBody::new(&model.system),
            path: None,
        }
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// The model's state at the start, with the accelerations it then has.
    ///
    /// # Errors
    /// When it has none.
    pub fn initial_state(&mut self, time_s: f64) -> Result<MotionState, LinearizeError> {
        let state = self.equations.initial_state();
        self.moving_state(time_s, &state)
    }

    /// A state given by positions and velocities as [`Equations::state_layout`] lists them, with the accelerations
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
        self.equations.settle_sample(time_s, &mut state);
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
        };
        match found.acceleration.iter().position(|a| !a.is_finite()) {
            None => Ok(found),
            Some(at) => Err(LinearizeError::NotFinite {
                coordinate: self.model.velocities[at].name.clone(),
                time_s,
            }),
        }
    }

    /// A state of a recording, by the number of its sample.
    ///
    /// # Errors
    /// When a coordinate was not recorded.
    pub fn recorded_state(
        &mut self,
        recording: &Recording,
        sample: usize,
    ) -> Result<MotionState, LinearizeError> {
        let state = self
            .equations
            .state_layout()
            .iter()
            .map(|coordinate| match recording.channel(&coordinate.name) {
                Some(channel) => Ok(channel.samples[sample]),
                None => Err(LinearizeError::NotRecorded {
                    channel: coordinate.name.clone(),
                }),
            })
            .collect::<Result<Vec<f64>, _>>()?;
        self.moving_state(recording.time_s[sample], &state)
    }

    /// The state of the nominal motion at an instant: every body undeformed. Instants rise from call to call.
    ///
    /// # Errors
    /// When there is no such motion.
    pub fn nominal_state(&mut self, time_s: f64) -> Result<MotionState, LinearizeError> {
        let system = &self.model.system;
        let n_v = system.velocity_count();
        let mut state = MotionState {
            time_s,
            position: vec![0.0; system.position_count()],
            velocity: vec![0.0; n_v],
            acceleration: vec![0.0; n_v],
            motors: Vec::new(),
        };
        let model = self.model;
        let path = self.path.get_or_insert_with(|| NominalPath::new(model));
        path.at(
            model,
            time_s,
            [
                &mut state.position,
                &mut state.velocity,
                &mut state.acceleration,
            ],
        )?;
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

    /// The equations linearised at states of rising instants, which share their independent coordinates: those of the
    /// first. `watch` is told every instant, and may stop.
    ///
    /// # Errors
    /// When the closures are singular somewhere, or the watcher stops.
    pub fn along(
        &mut self,
        states: &[MotionState],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Along, LinearizeError> {
        let independent = match states.first() {
            Some(first) => Independent::choose(self, first)?,
            None => None,
        };
        let mut points = Vec::with_capacity(states.len());
        for state in states {
            points.push(self.point(state, independent.as_ref())?);
            if watch(state.time_s) == Flow::Stop {
                return Err(LinearizeError::Stopped { at_s: state.time_s });
            }
        }
        let kept = match &independent {
            Some(independent) => independent.kept().to_vec(),
            None => (0..self.equations.state_velocities()).collect(),
        };
        let all = self.labels();
        let labels = Labels {
            coordinates: kept.iter().map(|&i| all.coordinates[i].clone()).collect(),
            ..all
        };
        let actuated = self.actuated();
        let actuated = (0..kept.len())
            .filter(|&i| actuated.contains(&kept[i]))
            .collect();
        Ok(Along::new(labels, points, actuated))
    }

    /// Names of all coordinates that are not prescribed, of inputs and of markers.
    pub fn labels(&self) -> Labels {
        let model = self.model;
        let system = &model.system;
        let layout = system.layout();
        let mut full: Vec<Option<Label>> = vec![None; model.velocities.len()];
        for (k, body) in system.bodies().iter().enumerate() {
            let (p, v) = (layout.joint_position[k], layout.joint_velocity[k]);
            let joint = &body.joint.name;
            let mut set = |at: usize, name: String, unit: &'static str| {
                full[at] = Some(Label::coordinate(name, unit, model.velocities[at].unit));
            };
            match body.joint.kind {
                JointKind::Fixed => {}
                JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
                    let position = &model.positions[p];
                    set(v, position.name.clone(), position.unit);
                }
                JointKind::Spherical | JointKind::Free => {
                    for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
                        set(v + i, format!("{joint}.turn.{axis}"), "rad");
                        if body.joint.kind == JointKind::Free {
                            set(v + 3 + i, format!("{joint}.slide.{axis}"), "m");
                        }
                    }
                }
            }
            for alpha in 0..body.modes() {
                let position = &model.positions[layout.elastic_position[k] + alpha];
                set(
                    layout.elastic_velocity[k] + alpha,
                    position.name.clone(),
                    position.unit,
                );
            }
        }
        let motors = model.transmissions.iter().map(|gear| {
            let (unit, rate) = if gear.translates {
                ("m", "m/s")
            } else {
                ("rad", "rad/s")
            };
            Label::coordinate(gear.name.clone(), unit, rate)
        });
        let coordinates: Vec<Label> = (self.equations.free_velocities.iter())
            .filter_map(|&at| full[at].clone())
            .chain(motors)
            .collect();
        let mut inputs: Vec<Label> = self
            .actuated()
            .into_iter()
            .map(|at| Label::effort(&coordinates[at].name, coordinates[at].unit))
            .collect();
        for load in self.marker_loads() {
            let (unit, rate_unit) = match load.quantity {
                crate::model::spec::LoadQuantity::Torque => ("N m", "N m/s"),
                _ => ("N", "N/s"),
            };
            inputs.push(Label::coordinate(load.name.clone(), unit, rate_unit));
        }
        Labels {
            coordinates,
            inputs,
            markers: model.markers.iter().map(|m| m.name.clone()).collect(),
        }
    }

    /// Coordinates of the state that an actuator may act on: joints with one degree of freedom, or their motors.
    fn actuated(&self) -> Vec<usize> {
        let model = self.model;
        let layout = model.system.layout();
        let free = &self.equations.free_velocities;
        let geared = |at: usize| model.transmissions.iter().any(|gear| gear.velocity == at);
        let single = |at: usize| {
            let body = layout
                .joint_velocity
                .iter()
                .enumerate()
                .rev()
                .find(|(k, first)| {
                    **first == at && model.system.bodies()[*k].joint.kind.velocities() == 1
                });
            body.is_some()
        };
        let joints = (0..free.len()).filter(|&i| single(free[i]) && !geared(free[i]));
        joints
            .chain((0..model.transmissions.len()).map(|i| free.len() + i))
            .collect()
    }

    /// Coordinates of the state on which an input of the model acts.
    pub fn driven(&self) -> Vec<String> {
        let coordinates = self.labels().coordinates;
        self.driven_entries()
            .into_iter()
            .map(|at| coordinates[at].name.clone())
            .collect()
    }

    fn driven_entries(&self) -> Vec<usize> {
        let loads = self.model.loads.iter();
        let joints = self.model.controllers.iter().flat_map(|c| &c.joints);
        let mut entries: Vec<usize> = loads
            .filter_map(|load| self.entry(&load.target))
            .chain(joints.filter_map(|joint| self.controlled_entry(joint)))
            .collect();
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    /// Coordinate of the state that a controller measures and drives.
    fn controlled_entry(&self, joint: &ControlledJoint) -> Option<usize> {
        let free = &self.equations.free_velocities;
        match joint.motor {
            Some(motor) => Some(free.len() + motor),
            None => free.binary_search(&joint.velocity).ok(),
        }
    }

    /// Names of the coordinates that every controller drives.
    pub fn controlled(&self) -> Vec<Vec<String>> {
        let coordinates = self.labels().coordinates;
        let names = |controller: &Controller| {
            let joints = controller.joints.iter();
            let entries = joints.filter_map(|joint| self.controlled_entry(joint));
            entries.map(|at| coordinates[at].name.clone()).collect()
        };
        self.model.controllers.iter().map(names).collect()
    }

    /// Deviation of the start of a run from a state: coordinates, then rates.
    pub fn initial_deviation(&self, from: &MotionState) -> [Vec<f64>; 2] {
        let model = self.model;
        let start = MotionState {
            time_s: from.time_s,
            position: model.initial_position.clone(),
            velocity: model.initial_velocity.clone(),
            acceleration: vec![0.0; model.velocities.len()],
            motors: (model.transmissions.iter())
                .map(|gear| [gear.initial_position, gear.initial_rate, 0.0])
                .collect(),
        };
        let rates = |state: &MotionState| -> Vec<f64> {
            (self.equations.free_velocities.iter())
                .map(|&at| state.velocity[at])
                .chain(state.motors.iter().map(|motor| motor[1]))
                .collect()
        };
        let less = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(b).map(|(a, b)| a - b).collect();
        [
            less(self.chart_position(&start), self.chart_position(from)),
            less(rates(&start), rates(from)),
        ]
    }

    /// Coordinate of the state that a load acts on.
    fn entry(&self, target: &LoadTarget) -> Option<usize> {
        let free = &self.equations.free_velocities;
        match target {
            LoadTarget::Joint(at) => free.binary_search(at).ok(),
            LoadTarget::Motor(index) => Some(free.len() + index),
            LoadTarget::Marker { .. } => None,
        }
    }

    /// Instants strictly inside the span at which a load or a motion is not smooth, sorted.
    pub fn breakpoints(&self, start: f64, end: f64) -> Vec<f64> {
        self.equations.breakpoints(start, end)
    }

    fn marker_loads(&self) -> impl Iterator<Item = &'m crate::model::Load> + use<'m> {
        self.model
            .loads
            .iter()
            .filter(|load| matches!(load.target, LoadTarget::Marker { .. }))
    }

    fn point(
        &mut self,
        state: &MotionState,
        independent: Option<&Independent>,
    ) -> Result<Point, LinearizeError> {
        let derivatives = self.derivatives(state);
        let outputs = self.outputs(state);
        let actuated = self.actuated();
        let position = self.chart_position(state);
        let velocity: Vec<f64> = (self.equations.free_velocities.iter())
            .map(|&at| state.velocity[at])
            .chain(state.motors.iter().map(|motor| motor[1]))
            .collect();
        let input: Vec<f64> = self.inputs(&actuated);
        let Derivatives {
            mass,
            damping,
            stiffness,
            structural,
            geometric,
            input: columns,
            unbalanced,
        } = derivatives;
        let dynamic = stiffness - &structural - &geometric;
        let whole = Point {
            time: state.time_s,
            position,
            velocity,
            linear: Linearization {
                mass,
                damping,
                structural,
                dynamic,
                geometric,
                input: columns,
            },
            input,
            excitation: unbalanced.iter().map(|x| -x).collect(),
            outputs,
        };
        match independent {
            Some(independent) => independent.reduce(self, state, whole),
            None => Ok(whole),
        }
    }

    /// Positions that stand for the coordinates of the chart; orientations count from where they are.
    fn chart_position(&self, state: &MotionState) -> Vec<f64> {
        let system = &self.model.system;
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

    /// Sum of the inputs on every actuated coordinate.
    fn inputs(&self, actuated: &[usize]) -> Vec<f64> {
        let mut sums = vec![0.0; actuated.len()];
        for (load, value) in self.model.loads.iter().zip(&self.equations.load_values) {
            let at = self.entry(&load.target);
            if let Some(slot) = at.and_then(|at| actuated.iter().position(|&a| a == at)) {
                sums[slot] += value;
            }
        }
        let joints = self.model.controllers.iter().flat_map(|c| &c.joints);
        for (joint, value) in joints.zip(self.equations.control_efforts()) {
            let at = self.controlled_entry(joint);
            if let Some(slot) = at.and_then(|at| actuated.iter().position(|&a| a == at)) {
                sums[slot] += value;
            }
        }
        sums
    }

    fn load_plain(&mut self, state: &MotionState) {
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

    fn load_tangent(&mut self, state: &MotionState) {
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
    fn seed_position(&mut self, state: &MotionState, entry: usize, slot: usize) {
        let free = &self.equations.free_velocities;
        if let Some(&at) = free.get(entry) {
            let mut unit = vec![0.0; state.velocity.len()];
            unit[at] = 1.0;
            let mut rate = vec![0.0; state.position.len()];
            position_rates(&self.model.system, &state.position, &unit, &mut rate);
            for (position, rate) in self.tangent.position.iter_mut().zip(&rate) {
                position.tangent[slot] = *rate;
            }
        } else {
            self.tangent.motor_position[entry - free.len()].tangent[slot] = 1.0;
        }
    }

    fn seed_velocity(&mut self, entry: usize, slot: usize) {
        let free = &self.equations.free_velocities;
        match free.get(entry) {
            Some(&at) => self.tangent.velocity[at].tangent[slot] = 1.0,
            None => self.tangent.motor_rate[entry - free.len()].tangent[slot] = 1.0,
        }
    }

    /// Writes the derivatives of the unbalanced forces along the directions that were seeded.
    fn collect(&self, first: usize, directions: usize, derivative: &mut DMatrix<f64>) {
        let free = &self.equations.free_velocities;
        for slot in 0..directions {
            for (row, &at) in free.iter().enumerate() {
                derivative[(row, first + slot)] = self.tangent.joints[at].tangent[slot];
            }
            for (i, force) in self.tangent.motors.iter().enumerate() {
                derivative[(free.len() + i, first + slot)] = force.tangent[slot];
            }
        }
    }

    fn derivatives(&mut self, state: &MotionState) -> Derivatives {
        let model = self.model;
        let n = self.equations.state_velocities();
        self.equations.act_at(
            state.time_s,
            &state.position,
            &state.velocity,
            &state.motors,
        );
        let loads = self.equations.load_values.clone();
        let controls = self.equations.control_efforts().to_vec();
        self.load_plain(state);
        self.plain.evaluate(model, &loads, &controls);
        let free = self.equations.free_velocities.clone();
        let unbalanced = free
            .iter()
            .map(|&at| self.plain.joints[at])
            .chain(self.plain.motors.iter().copied())
            .collect();
        let mass = self.mass();
        let held = self.held_forces(state);
        let (mut by_position, mut geometric) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
        let mut springs = DMatrix::zeros(n, n);
        for first in (0..n).step_by(DIRECTIONS) {
            let directions = DIRECTIONS.min(n - first);
            self.load_tangent(state);
            for slot in 0..directions {
                self.seed_position(state, first + slot, slot);
            }
            self.tangent.evaluate(model, &loads, &controls);
            self.collect(first, directions, &mut by_position);
            let held = self.held_forces_moved(&held);
            let spring = self.spring_forces(state);
            for slot in 0..directions {
                for (row, &at) in free.iter().enumerate() {
                    geometric[(row, first + slot)] = held[at].tangent[slot];
                    springs[(row, first + slot)] = -spring[at].tangent[slot];
                }
            }
        }
        let mut by_velocity = DMatrix::zeros(n, n);
        for first in (0..n).step_by(DIRECTIONS) {
            let directions = DIRECTIONS.min(n - first);
            self.load_tangent(state);
            for slot in 0..directions {
                self.seed_velocity(first + slot, slot);
            }
            self.tangent.evaluate(model, &loads, &controls);
            self.collect(first, directions, &mut by_velocity);
        }
        let turning = self.quasi_rates(&state.velocity);
        let turning_rate = self.quasi_rates(&state.acceleration);
        let stiffness = by_position + &by_velocity * &turning + &mass * turning_rate;
        let damping = by_velocity + &mass * turning;
        let structural = self.elastic_stiffness(state) + springs;
        let geometric = (&geometric + geometric.transpose()) * 0.5;
        Derivatives {
            mass,
            damping,
            stiffness,
            structural,
            geometric,
            input: self.input_columns(state),
            unbalanced,
        }
    }

    /// Mass matrix at the plain state.
    fn mass(&mut self) -> DMatrix<f64> {
        let full = self.model.system.velocity_count();
        let mut matrix = vec![0.0; full * full];
        mass_matrix(
            &self.model.system,
            &self.plain.kinematics,
            &mut self.composite,
            &mut matrix,
        );
        let free = &self.equations.free_velocities;
        let n = free.len() + self.model.transmissions.len();
        let mut mass = DMatrix::zeros(n, n);
        for (i, &row) in free.iter().enumerate() {
            for (j, &column) in free.iter().enumerate() {
                mass[(i, j)] = matrix[row * full + column];
            }
        }
        for (i, gear) in self.model.transmissions.iter().enumerate() {
            mass[(free.len() + i, free.len() + i)] = gear.inertia;
        }
        mass
    }

    /// Forces of inertia and gravity at the material points, in ground components.
    fn held_forces(&mut self, state: &MotionState) -> Vec<Vector<f64>> {
        let system = &self.model.system;
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
        velocities
            .iter()
            .zip(self.points.masses())
            .map(|(velocity, mass)| {
                let acceleration = Vector(velocity.0.map(|x| x.tangent[0]));
                (acceleration - gravity).scale(mass)
            })
            .collect()
    }

    /// Generalised force of forces that are held at the material points and of loads held as they are, in the dual
    /// state.
    fn held_forces_moved(&mut self, held: &[Vector<f64>]) -> Vec<Tangent> {
        let model = self.model;
        let system = &model.system;
        let mut force = vec![constant(0.0); system.velocity_count()];
        let tangent = &mut self.tangent;
        self.points.add_forces(
            system,
            &tangent.kinematics,
            &tangent.position,
            held,
            &mut force,
        );
        for (load, &value) in model.loads.iter().zip(&self.equations.load_values) {
            let Some((body, point, wrench)) = tangent.wrench(model, load, value) else {
                continue;
            };
            let fixed = |v: Vector<Tangent>| Vector(v.0.map(|x| constant(-x.value)));
            let pose = *tangent.kinematics.ground_from_body(body);
            let (moment, push) = (fixed(wrench.moment), fixed(wrench.force));
            let about = moment + (point - pose.translation).cross(push);
            let in_body = crate::spatial::Force::new(
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

    /// Forces of springs in the dual state.
    fn spring_forces(&self, state: &MotionState) -> Vec<Tangent> {
        let still = vec![constant(0.0); state.velocity.len()];
        let mut force = still.clone();
        for (k, resistance) in &self.model.resistances {
            add_resistance(
                &self.model.system,
                *k,
                resistance,
                &self.tangent.position,
                &still,
                &mut force,
            );
        }
        force
    }

    /// Stiffness of flexible bodies and gears.
    fn elastic_stiffness(&self, state: &MotionState) -> DMatrix<f64> {
        let full = state.velocity.len();
        let mut matrix = vec![0.0; full * full];
        add_elastic_stiffness(&self.model.system, &state.position, &mut matrix);
        let free = &self.equations.free_velocities;
        let n = free.len() + self.model.transmissions.len();
        let mut stiffness = DMatrix::zeros(n, n);
        for (i, &row) in free.iter().enumerate() {
            for (j, &column) in free.iter().enumerate() {
                stiffness[(i, j)] = matrix[row * full + column];
            }
        }
        for (i, gear) in self.model.transmissions.iter().enumerate() {
            let motor = free.len() + i;
            stiffness[(motor, motor)] += gear.stiffness;
            if let Ok(joint) = free.binary_search(&gear.velocity) {
                stiffness[(joint, joint)] += gear.stiffness;
                stiffness[(joint, motor)] -= gear.stiffness;
                stiffness[(motor, joint)] -= gear.stiffness;
            }
        }
        stiffness
    }

    /// $`W`$ for joint velocities, or its rate for their rates.
    fn quasi_rates(&self, velocity: &[f64]) -> DMatrix<f64> {
        let system = &self.model.system;
        let free = &self.equations.free_velocities;
        let n = free.len() + self.model.transmissions.len();
        let mut matrix = DMatrix::zeros(n, n);
        let mut put = |row: usize, column: usize, vector: &[f64]| {
            let skew = Matrix::skew(Vector([vector[0], vector[1], vector[2]]));
            let (Ok(row), Ok(column)) = (free.binary_search(&row), free.binary_search(&column))
            else {
                return;
            };
            for i in 0..3 {
                for j in 0..3 {
                    matrix[(row + i, column + j)] = skew.0[i][j];
                }
            }
        };
        for (k, body) in system.bodies().iter().enumerate() {
            let first = system.layout().joint_velocity[k];
            match body.joint.kind {
                JointKind::Spherical => put(first, first, &velocity[first..]),
                JointKind::Free => {
                    put(first, first, &velocity[first..]);
                    put(first + 3, first + 3, &velocity[first..]);
                    put(first + 3, first, &velocity[first + 3..]);
                }
                _ => {}
            }
        }
        matrix
    }

    /// $`B`$ at the plain state: actuators, then loads on markers.
    fn input_columns(&mut self, state: &MotionState) -> DMatrix<f64> {
        let model = self.model;
        let actuated = self.actuated();
        let loads: Vec<_> = self.marker_loads().collect();
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
                let in_body = crate::spatial::Force::new(
                    pose.rotation.transpose_mul(about),
                    pose.rotation.transpose_mul(wrench.force),
                );
                let modes = model.system.bodies()[body].modes();
                add_generalized_force(
                    &model.system,
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

fn constant(value: f64) -> Tangent {
    Tangent {
        value,
        tangent: [0.0; DIRECTIONS],
    }
}

/// Whether an entry of the velocity vector belongs to an elastic coordinate.
fn is_elastic(model: &Model, at: usize) -> bool {
    model.velocities[at].kind == CoordinateKind::Elastic
}
