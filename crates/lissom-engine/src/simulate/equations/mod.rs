//! [`Equations`]: the one interface between mechanics and everything that works on states.
//!
//! The state of a run is
//!
//! ```text
//! [ free positions | motor positions | free velocities | motor rates | work of inputs | energy dissipated ]
//! ```
//!
//! where "free" leaves out prescribed joints. The two works are integrated with the motion, so that the
//! energy audit \[Damaren & Sharf 1995, eqs (30)–(32)\] is as accurate as the motion itself.

mod at_states;
mod closed;
mod contacts;
mod first_order;
mod forces;
mod outputs;
mod readout;
mod second_order;
mod side_by_side;
mod stages;

use crate::model::Model;
use crate::simulate::extent;
use crate::simulate::linearize::Linearizer;
use crate::simulate::nominal::RigidTree;
pub(super) use first_order::position_rates;
use lissom_core::study::StaticLoads;
use lissom_core::{Commands, LoadCurve, Nominal as _, PlaceError, Power, RunError, State};
use lissom_numerics::integrate::Flow;
use lissom_spatial::Motion;
use lissom_spec::spec::{ElementCrossings, SimulationSpec};
use lissom_tree::closure::{self, ClosureError, Loops, Trouble};
use lissom_tree::tree::{
    ArticulatedBody, CompositeBody, Energy, InverseDynamics, Kinematics, energy, inverse_dynamics,
};
use lissom_tree::{Body, ClosureMethod, Coordinate, CoordinateKind, Linkage, System};
use side_by_side::SideBySide;
use stages::Stages;

/// Equations of motion of a model, with all the memory that evaluating them needs.
#[derive(Clone, Debug)]
pub struct Equations<'m> {
    model: &'m Model,
    pub(super) commands: Commands<RigidTree>,
    /// The closures, or why they cannot be kept.
    loops: Result<Option<Loops>, ClosureError>,
    /// What stopped the last projection.
    trouble: Option<Trouble>,
    pub(super) free_positions: Vec<usize>,
    pub(super) free_velocities: Vec<usize>,
    /// Whether a prescribed joint exists, whose reaction does work.
    prescribes: bool,
    /// Whether the equations of a support stay those of one stretch of its beam until it is told that it has passed.
    pub(super) locates_crossings: bool,
    /// Bodies whose material damps.
    damped: Vec<usize>,
    /// Bodies that bend.
    flexible: Vec<usize>,
    /// Entry of the velocity vector for every elastic entry of the position vector.
    elastic_rate: Vec<usize>,
    // workspace
    pub(super) position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    acceleration: Vec<f64>,
    force: Vec<f64>,
    pub(super) motor_position: Vec<f64>,
    pub(super) motor_rate: Vec<f64>,
    pub(super) motor_force: Vec<f64>,
    position_rate: Vec<f64>,
    reaction: Vec<f64>,
    /// Generalised forces that nobody reads.
    unused_force: Vec<f64>,
    influence: Vec<Motion<f64>>,
    pub(super) kinematics: Kinematics<f64>,
    articulated: ArticulatedBody<f64>,
    inverse: InverseDynamics<f64>,
    composite: CompositeBody<f64>,
    /// The mass matrix of the tree; empty until it is asked for, since it alone grows with the square of the coordinates.
    full_mass: Vec<f64>,
    /// For implicit stages, from the first on.
    stages: Option<Box<Stages>>,
    /// For evaluations at many states, from the first on.
    side_by_side: Option<Box<SideBySide>>,
    /// For derivatives at states, from the first on.
    linearizer: Option<Box<Linearizer<'m>>>,
}

impl<'m> Equations<'m> {
    /// Equations of `model` where its file has it start.
    pub fn new(model: &'m Model) -> Self {
        Self::at(model, &model.initial_position)
    }

    /// Equations of `model` that start at a state.
    pub fn starting_at(model: &'m Model, start: &State) -> Self {
        let position = full_position(model, start);
        Self::at(model, &position)
    }

    /// The same for one evaluation in O(N), whatever method the model asks for: loops by multipliers, which need no matrix
    /// over all coordinates.
    pub(super) fn by_multipliers(model: &'m Model, start: &State) -> Self {
        let position = full_position(model, start);
        let loops = if model.linkage.closures.is_empty() {
            Ok(None)
        } else {
            let linkage = Linkage {
                closure_method: ClosureMethod::Projected,
                ..model.linkage.clone()
            };
            Loops::new(&linkage, &position)
        };
        Self::with_loops(model, &position, loops)
    }

    /// Equations of the tree with its loops cut.
    pub(super) fn of_open_tree(model: &'m Model, start: &State) -> Self {
        Self::with_loops(model, &full_position(model, start), Ok(None))
    }

    /// Equations with loops that are closed at a position.
    fn at(model: &'m Model, position: &[f64]) -> Self {
        Self::with_loops(model, position, Loops::new(&model.linkage, position))
    }

    fn with_loops(
        model: &'m Model,
        position: &[f64],
        loops: Result<Option<Loops>, ClosureError>,
    ) -> Self {
        let system = &model.linkage.system;
        let (n_q, n_v) = (system.position_count(), system.velocity_count());
        let (free_positions, free_velocities) = free_entries(model);
        let motors = model.transmissions.len();
        let most = system.bodies().iter().map(Body::modes).max().unwrap_or(0);
        Self {
            model,
            commands: Commands::new(&model.actions, model.motion_curves(), model.trajectory()),
            loops,
            trouble: None,
            free_positions,
            free_velocities,
            prescribes: !model.motions.is_empty(),
            locates_crossings: true,
            damped: damped_bodies(&model.linkage.system),
            flexible: (extent::flexible_links(model).into_iter())
                .map(|(body, _)| body)
                .collect(),
            elastic_rate: elastic_rates(system),
            position: position.to_vec(),
            velocity: model.initial_velocity.clone(),
            acceleration: vec![0.0; n_v],
            force: vec![0.0; n_v],
            motor_position: vec![0.0; motors],
            motor_rate: vec![0.0; motors],
            motor_force: vec![0.0; motors],
            position_rate: vec![0.0; n_q],
            reaction: vec![0.0; n_v],
            unused_force: vec![0.0; n_v],
            influence: vec![Motion::zero(); most],
            kinematics: Kinematics::new(system),
            articulated: closure::articulated_body(&model.linkage),
            inverse: InverseDynamics::new(system),
            composite: CompositeBody::new(system),
            full_mass: Vec::new(),
            stages: None,
            side_by_side: None,
            linearizer: None,
        }
    }

    /// Refuses equations whose loops cannot be kept closed.
    pub(super) fn refuse_open(&self, time_s: f64) -> Result<(), RunError> {
        let refused = |source: &ClosureError| {
            let source = PlaceError {
                reason: source.to_string(),
                part: "the closures",
            };
            RunError::Unplaced { source, time_s }
        };
        self.loops().map(drop).map_err(refused)
    }

    /// The model these are the equations of.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// Number of positions in the state: free ones and motors.
    pub fn state_positions(&self) -> usize {
        self.free_positions.len() + self.motor_position.len()
    }

    /// Number of velocities in the state: free ones and motors.
    pub fn state_velocities(&self) -> usize {
        self.free_velocities.len() + self.motor_rate.len()
    }

    /// Length of the state.
    pub fn state_len(&self) -> usize {
        self.state_positions() + self.state_velocities() + 2
    }

    /// The state at the start.
    pub fn initial_state(&self) -> Vec<f64> {
        written_state(self.model, self.model.start_s).packed()
    }

    /// Name, unit and kind of every entry of the state.
    pub fn state_layout(&self) -> Vec<Coordinate> {
        let model = self.model;
        let motor = |suffix: &str, rotates: &'static str, slides: &'static str| {
            let suffix = suffix.to_owned();
            model.transmissions.iter().map(move |t| {
                let unit = if t.translates { slides } else { rotates };
                Coordinate::new(format!("{}{suffix}", t.name), unit, CoordinateKind::Motor)
            })
        };
        let work = |name: &str| Coordinate::new(name, "J", CoordinateKind::Joint);
        self.free_positions
            .iter()
            .map(|&i| model.linkage.positions[i].clone())
            .chain(motor("", "rad", "m"))
            .chain(
                self.free_velocities
                    .iter()
                    .map(|&i| model.linkage.velocities[i].clone()),
            )
            .chain(motor(".rate", "rad/s", "m/s"))
            .chain([work("energy.work"), work("energy.dissipated")])
            .collect()
    }

    /// Spreads the positions of a state over the full vector and fills in what is prescribed at `time`.
    fn unpack_positions(&mut self, time: f64, positions: &[f64]) {
        let (free, motors) = positions.split_at(self.free_positions.len());
        for (&at, &x) in self.free_positions.iter().zip(free) {
            self.position[at] = x;
        }
        self.motor_position.copy_from_slice(motors);
        for (motion, curve) in self.model.motions.iter().zip(self.commands.motions()) {
            let point = curve.at(time);
            self.position[motion.position] = point.position;
            self.velocity[motion.velocity] = point.rate;
            self.acceleration[motion.velocity] = point.acceleration;
        }
    }

    /// Entry of the full velocity vector that an entry of the state's velocities stands for; `None` for motors.
    pub(super) fn velocity_entry(&self, entry: usize) -> Option<usize> {
        self.free_velocities.get(entry).copied()
    }

    /// The full position vector for the positions of a state, with what is prescribed at `time`.
    pub(super) fn position_at(&mut self, time: f64, positions: &[f64]) -> &[f64] {
        self.unpack_positions(time, positions);
        &self.position
    }

    /// Forces that a state of rest would need beyond those that are there under a share of gravity, inputs and `loads`, one for every
    /// velocity of the state.
    pub(super) fn forces_at_rest(
        &mut self,
        time: f64,
        positions: &[f64],
        loads: &StaticLoads,
        share: f64,
        forces: &mut [f64],
    ) {
        self.unpack_positions(time, positions);
        self.velocity.fill(0.0);
        self.motor_rate.fill(0.0);
        self.acceleration.fill(0.0);
        self.prepare_forces(time);
        let efforts = self.commands.efforts_mut();
        efforts.scale_inputs(&self.model.actions, share);
        self.push_efforts(&mut Power::default());
        let weight = self.model.linkage.system.gravity();
        let mut view = self.view();
        for load in &loads.loads {
            load.push(share * LoadCurve::new(&load.profile).value(time), &mut view);
        }
        let gravity = loads.gravity.unwrap_or(weight);
        self.inverse.set_gravity(gravity.scale(share));
        inverse_dynamics(
            &self.model.linkage.system,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.reaction,
        );
        let free = self.free_velocities.len();
        for (force, &at) in forces.iter_mut().zip(&self.free_velocities) {
            *force = self.reaction[at] - self.force[at];
        }
        for (force, motor) in forces[free..].iter_mut().zip(&self.motor_force) {
            *force = -motor;
        }
    }

    /// Whether the closures balance all forces at the positions of a state, so that nothing accelerates if nothing moves.
    pub(super) fn is_balanced(&mut self, state: &State) -> bool {
        /// Part of the largest force at work that rounding leaves.
        const BALANCED: f64 = 1e-10;
        let mut forces = vec![0.0; self.state_velocities()];
        let loads = StaticLoads::default();
        self.forces_at_rest(state.time_s, &state.position, &loads, 1.0, &mut forces);
        let mut of_tree = vec![0.0; self.force.len()];
        for (&at, &force) in self.free_velocities.iter().zip(&forces) {
            of_tree[at] = force;
        }
        let left = closure::unbalanced(&self.model.linkage, &self.position, &of_tree);
        let of_motors = &forces[self.free_velocities.len()..];
        let size = |forces: &[f64]| forces.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        size(&left).max(size(of_motors)) <= BALANCED * size(&forces)
    }

    /// Spreads a state over the full vectors and fills in what is prescribed at `time`.
    fn unpack(&mut self, time: f64, positions: &[f64], velocities: &[f64]) {
        self.unpack_positions(time, positions);
        let (free, motors) = velocities.split_at(self.free_velocities.len());
        for (&at, &x) in self.free_velocities.iter().zip(free) {
            self.velocity[at] = x;
        }
        self.motor_rate.copy_from_slice(motors);
    }

    /// The full position and velocity vectors of a state.
    pub(super) fn unpacked(&mut self, state: &State) -> (Vec<f64>, Vec<f64>) {
        self.unpack(state.time_s, &state.position, &state.velocity);
        (self.position.clone(), self.velocity.clone())
    }

    /// Accelerations of the prepared state.
    fn accelerate(&mut self) {
        let system = &self.model.linkage.system;
        let formed = if let Ok(Some(loops)) = &mut self.loops {
            loops.accelerate(
                &self.model.linkage,
                &mut self.kinematics,
                &mut self.articulated,
                None,
                &self.position,
                &self.velocity,
                &self.force,
                &mut self.acceleration,
            )
        } else {
            self.articulated.factor(system, &self.kinematics);
            self.articulated.forward_dynamics(
                system,
                &self.kinematics,
                &self.force,
                &mut self.acceleration,
            );
            self.articulated.is_positive_definite(system)
        };
        if !formed {
            self.lose_accelerations();
        }
    }

    /// Leaves accelerations that integrators turn into an error that names time and coordinate.
    fn lose_accelerations(&mut self) {
        for &at in &self.free_velocities {
            self.acceleration[at] = f64::NAN;
        }
    }

    /// Power of the reactions that keep joints on their prescribed motion.
    fn reaction_power(&mut self) -> f64 {
        if !self.prescribes {
            return 0.0;
        }
        inverse_dynamics(
            &self.model.linkage.system,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.reaction,
        );
        self.find_multipliers();
        let mut power = 0.0;
        for motion in &self.model.motions {
            let at = motion.velocity;
            self.reaction[at] -= self.force[at];
            if let Ok(Some(loops)) = &self.loops {
                self.reaction[at] -= loops.generalized_force(at);
            }
            power += self.reaction[at] * self.velocity[at];
        }
        power
    }

    /// Evaluates everything at a state given by its positions and velocities: afterwards the accessors and
    /// the recording's sampler may read. Returns the power that flows.
    pub(super) fn evaluate(&mut self, time: f64, positions: &[f64], velocities: &[f64]) -> Power {
        let mut power = self.evaluate_by(time, positions, velocities, Self::accelerate);
        power.input += self.reaction_power();
        power
    }

    /// The same with accelerations of another kind, and without the power of reactions.
    fn evaluate_by(
        &mut self,
        time: f64,
        positions: &[f64],
        velocities: &[f64],
        accelerate: fn(&mut Self),
    ) -> Power {
        self.unpack(time, positions, velocities);
        let closed = match &mut self.loops {
            Ok(Some(loops)) if loops.projects_before_evaluation() => loops
                .project(&self.model.linkage, &mut self.position, &mut self.velocity)
                .is_ok(),
            Ok(_) => true,
            Err(_) => false,
        };
        let power = self.apply_forces(time);
        if closed {
            accelerate(self);
        } else {
            // no acceleration keeps loops closed that are not
            self.lose_accelerations();
        }
        power
    }

    /// Energy of the evaluated state, springs and motors counted as strain and kinetic energy.
    pub(super) fn energy(&mut self) -> Energy<f64> {
        let model = self.model;
        self.kinematics.update_poses(&model.linkage.system);
        let mut sum = energy(
            &model.linkage.system,
            &self.kinematics,
            &self.position,
            &self.velocity,
        );
        (model.actions).add_spring_energy(&self.view(), &mut sum.strain);
        for (gear, rate) in model.transmissions.iter().zip(&self.motor_rate) {
            sum.kinetic += 0.5 * gear.inertia * rate * rate;
        }
        sum
    }

    /// Generalised accelerations of the evaluated state.
    pub fn acceleration(&self) -> &[f64] {
        &self.acceleration
    }

    /// Force that a prescribed joint needs, at its entry of the velocity vector.
    pub(super) fn reaction(&self, at: usize) -> f64 {
        self.reaction[at]
    }

    /// Prepares the kinematics of a full state without time, inputs and motors; joint resistances are the
    /// only forces. For single-state evaluations.
    pub(super) fn prepare_bare(&mut self, position: &[f64], velocity: &[f64]) -> &[f64] {
        let system = &self.model.linkage.system;
        self.kinematics.update(system, position, velocity);
        self.resist_bare(position, velocity);
        &self.force
    }

    /// Joint resistances of such a state by themselves.
    fn resist_bare(&mut self, position: &[f64], velocity: &[f64]) {
        let model = self.model;
        self.position.copy_from_slice(position);
        self.velocity.copy_from_slice(velocity);
        self.force.fill(0.0);
        model.actions.resist(&[], &mut self.view(), &mut 0.0);
    }
}

/// Equations of a model as they start at a state.
///
/// # Errors
/// When its loops cannot be there, or its nominal trajectory cannot be driven.
pub fn equations_at<'m>(
    model: &'m Model,
    simulation: &SimulationSpec,
    start: &State,
) -> Result<Equations<'m>, RunError> {
    let time_s = start.time_s;
    // loops that remember may be a little open, as stabilised ones are: they are made where they are closed
    let mut equations = if start.memory.is_empty() {
        Equations::starting_at(model, start)
    } else {
        Equations::new(model)
    };
    equations.locates_crossings = simulation.element_crossings == ElementCrossings::Located;
    equations.refuse_open(time_s)?;
    (model.nominal_drives(&[time_s], &mut |_| Flow::Continue))
        .map_err(|source| RunError::NominalMotion { source, time_s })?;
    Ok(equations)
}

/// The state at the start that the model's file writes, as of an instant.
pub fn written_state(model: &Model, time_s: f64) -> State {
    let (positions, velocities) = free_entries(model);
    let motors = &model.transmissions;
    let positions = positions.iter().map(|&at| model.initial_position[at]);
    let velocities = velocities.iter().map(|&at| model.initial_velocity[at]);
    State::new(
        time_s,
        (positions.chain(motors.iter().map(|motor| motor.initial_position))).collect(),
        (velocities.chain(motors.iter().map(|motor| motor.initial_rate))).collect(),
    )
}

/// Entries of the position and of the velocity vector that are not prescribed.
fn free_entries(model: &Model) -> (Vec<usize>, Vec<usize>) {
    let system = &model.linkage.system;
    let mut is_free = (
        vec![true; system.position_count()],
        vec![true; system.velocity_count()],
    );
    for motion in &model.motions {
        is_free.0[motion.position] = false;
        is_free.1[motion.velocity] = false;
    }
    let free = |is_free: Vec<bool>| (0..is_free.len()).filter(|&at| is_free[at]).collect();
    (free(is_free.0), free(is_free.1))
}

/// The position vector of a state, with what is prescribed at its time.
fn full_position(model: &Model, state: &State) -> Vec<f64> {
    let mut position = model.initial_position.clone();
    for (motion, curve) in model.motions.iter().zip(model.motion_curves()) {
        position[motion.position] = curve.at(state.time_s).position;
    }
    let (free, _) = free_entries(model);
    for (at, &value) in free.into_iter().zip(&state.position) {
        position[at] = value;
    }
    position
}

fn elastic_rates(system: &System) -> Vec<usize> {
    let layout = system.layout();
    let mut rates = vec![usize::MAX; system.position_count()];
    for (k, body) in system.bodies().iter().enumerate() {
        for alpha in 0..body.modes() {
            rates[layout.elastic_position[k] + alpha] = layout.elastic_velocity[k] + alpha;
        }
    }
    rates
}

fn damped_bodies(system: &System) -> Vec<usize> {
    let bodies = system.bodies().iter().enumerate();
    bodies
        .filter(|(_, body)| {
            let flexible = body.flexible.as_ref();
            flexible.is_some_and(|flexible| flexible.damping.iter().any(|&d| d != 0.0))
        })
        .map(|(k, _)| k)
        .collect()
}
