//! [`Equations`]: the one interface between mechanics and everything that works on states.
//!
//! The state of a run is
//!
//! ```text
//! [ free positions | motor positions | free velocities | motor rates | work of inputs | work lost ]
//! ```
//!
//! where "free" leaves out prescribed joints. The two works are integrated with the motion, so that the
//! energy audit \[Damaren & Sharf 1995, eqs (30)–(32)\] is as accurate as the motion itself.

mod control;
mod first_order;
mod nominal;
mod observed;
mod resistance;
mod second_order;

use crate::closure::{self, ClosureError, Loops, Trouble};
use crate::integrate::Projection;
use crate::model::spec::LoadProfile;
use crate::model::{Body, Coordinate, CoordinateKind, LoadTarget, Model, System};
use crate::simulate::formulation::Power;
use crate::simulate::profile::{LoadCurve, MotionCurve};
use crate::spatial::{Force, Motion};
use crate::tree::{
    ArticulatedBody, CompositeBody, Energy, InverseDynamics, Kinematics, apply_wrench, energy,
    inverse_dynamics, marker_motion,
};
use control::Control;
pub(super) use first_order::position_rates;
use nominal::Nominal;
pub(super) use nominal::NominalPath;
pub use nominal::{NominalDrives, NominalError, nominal_drives};
pub(crate) use nominal::{NominalPositions, PivotedQr, course, nominal_motions};
use resistance::spring_energy;
pub(super) use resistance::{Turning, add_resistance, rotation_vector};

/// Equations of motion of a model, with all the memory that evaluating them needs.
#[derive(Clone, Debug)]
pub struct Equations<'m> {
    model: &'m Model,
    load_curves: Vec<LoadCurve>,
    motion_curves: Vec<MotionCurve>,
    nominal: Option<Nominal>,
    control: Option<Control>,
    /// The closures, or why they cannot be kept.
    loops: Result<Option<Loops>, ClosureError>,
    /// What stopped the last projection.
    trouble: Option<Trouble>,
    pub(super) free_positions: Vec<usize>,
    pub(super) free_velocities: Vec<usize>,
    /// Whether a prescribed joint exists, whose reaction does work.
    prescribes: bool,
    /// Whether the equations of a support stay those of one stretch of its beam until it is told that it has passed.
    pub(super) locates_passages: bool,
    /// Bodies whose material damps.
    damped: Vec<usize>,
    // workspace
    pub(super) position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    acceleration: Vec<f64>,
    force: Vec<f64>,
    /// Value of every load.
    pub(super) load_values: Vec<f64>,
    pub(super) motor_position: Vec<f64>,
    pub(super) motor_rate: Vec<f64>,
    pub(super) motor_force: Vec<f64>,
    position_rate: Vec<f64>,
    reaction: Vec<f64>,
    influence: Vec<Motion<f64>>,
    pub(super) kinematics: Kinematics<f64>,
    articulated: ArticulatedBody<f64>,
    inverse: InverseDynamics<f64>,
    composite: CompositeBody<f64>,
    full_mass: Vec<f64>,
}

impl<'m> Equations<'m> {
    /// Equations of `model`.
    pub fn new(model: &'m Model) -> Self {
        let system = &model.system;
        let (n_q, n_v) = (system.position_count(), system.velocity_count());
        let prescribed = |entry: usize, of: fn(&crate::model::PrescribedMotion) -> usize| {
            model.motions.iter().any(|motion| of(motion) == entry)
        };
        let motors = model.transmissions.len();
        let most = system.bodies().iter().map(Body::modes).max().unwrap_or(0);
        Self {
            model,
            load_curves: model
                .loads
                .iter()
                .map(|l| LoadCurve::new(&l.profile))
                .collect(),
            motion_curves: model
                .motions
                .iter()
                .map(|motion| MotionCurve::new(&motion.profile, motion.initial))
                .collect(),
            nominal: Nominal::new(model),
            control: Control::new(model),
            loops: Loops::new(model),
            trouble: None,
            free_positions: (0..n_q)
                .filter(|&i| !prescribed(i, |m| m.position))
                .collect(),
            free_velocities: (0..n_v)
                .filter(|&i| !prescribed(i, |m| m.velocity))
                .collect(),
            prescribes: !model.motions.is_empty(),
            locates_passages: true,
            damped: damped_bodies(&model.system),
            position: model.initial_position.clone(),
            velocity: model.initial_velocity.clone(),
            acceleration: vec![0.0; n_v],
            force: vec![0.0; n_v],
            load_values: vec![0.0; model.loads.len()],
            motor_position: vec![0.0; motors],
            motor_rate: vec![0.0; motors],
            motor_force: vec![0.0; motors],
            position_rate: vec![0.0; n_q],
            reaction: vec![0.0; n_v],
            influence: vec![Motion::zero(); most],
            kinematics: Kinematics::new(system),
            articulated: closure::articulated_body(model),
            inverse: InverseDynamics::new(system),
            composite: CompositeBody::new(system),
            full_mass: vec![0.0; n_v * n_v],
        }
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
        let model = self.model;
        let positions = self
            .free_positions
            .iter()
            .map(|&i| model.initial_position[i]);
        let velocities = self
            .free_velocities
            .iter()
            .map(|&i| model.initial_velocity[i]);
        positions
            .chain(model.transmissions.iter().map(|t| t.initial_position))
            .chain(velocities)
            .chain(model.transmissions.iter().map(|t| t.initial_rate))
            .chain([0.0, 0.0])
            .collect()
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
            .map(|&i| model.positions[i].clone())
            .chain(motor("", "rad", "m"))
            .chain(
                self.free_velocities
                    .iter()
                    .map(|&i| model.velocities[i].clone()),
            )
            .chain(motor(".rate", "rad/s", "m/s"))
            .chain([work("energy.work"), work("energy.lost")])
            .collect()
    }

    /// Instants strictly inside the span at which a load or a motion is not smooth, sorted.
    pub fn breakpoints(&self, start: f64, end: f64) -> Vec<f64> {
        let nominal = self.nominal.iter().flat_map(Nominal::breakpoints);
        let mut instants: Vec<f64> = self
            .load_curves
            .iter()
            .flat_map(LoadCurve::breakpoints)
            .chain(self.motion_curves.iter().flat_map(MotionCurve::breakpoints))
            .chain(nominal)
            .filter(|&t| t > start && t < end)
            .collect();
        instants.sort_by(f64::total_cmp);
        instants.dedup();
        instants
    }

    /// Spreads the positions of a state over the full vector and fills in what is prescribed at `time`.
    fn unpack_positions(&mut self, time: f64, positions: &[f64]) {
        let (free, motors) = positions.split_at(self.free_positions.len());
        for (&at, &x) in self.free_positions.iter().zip(free) {
            self.position[at] = x;
        }
        self.motor_position.copy_from_slice(motors);
        for (motion, curve) in self.model.motions.iter().zip(&self.motion_curves) {
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

    /// Forces that a state of rest would need beyond those that are there, one for every velocity of the state.
    pub(super) fn forces_at_rest(&mut self, time: f64, positions: &[f64], forces: &mut [f64]) {
        self.unpack_positions(time, positions);
        self.velocity.fill(0.0);
        self.motor_rate.fill(0.0);
        self.acceleration.fill(0.0);
        self.apply_forces(time);
        inverse_dynamics(
            &self.model.system,
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

    /// Spreads a state over the full vectors and fills in what is prescribed at `time`.
    fn unpack(&mut self, time: f64, positions: &[f64], velocities: &[f64]) {
        self.unpack_positions(time, positions);
        let (free, motors) = velocities.split_at(self.free_velocities.len());
        for (&at, &x) in self.free_velocities.iter().zip(free) {
            self.velocity[at] = x;
        }
        self.motor_rate.copy_from_slice(motors);
    }

    /// Values of all inputs at an instant.
    pub(super) fn update_loads(&mut self, time: f64) {
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
            self.load_values[i] = value;
        }
    }

    /// Torques and forces of the controllers in the unpacked state.
    fn update_control(&mut self, time: f64) {
        let Some(control) = &mut self.control else {
            return;
        };
        let (positions, rates) = (&self.motor_position, &self.motor_rate);
        control.update(self.model, time, &self.position, &self.velocity, |motor| {
            [positions[motor], rates[motor]]
        });
    }

    /// Torques and forces of the controllers as last evaluated, in their order.
    pub(super) fn control_efforts(&self) -> &[f64] {
        self.control.as_ref().map_or(&[], Control::efforts)
    }

    /// Inputs and controllers at a state given in full.
    pub(super) fn act_at(
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
    fn apply_forces(&mut self, time: f64) -> Power {
        let model = self.model;
        let system = &model.system;
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
            power.lost += lost;
        }
        // damping of the flexible bodies, already among the kinematics' elastic forces
        let layout = system.layout();
        for &k in &self.damped {
            if let Some(flexible) = &system.bodies()[k].flexible {
                let n = flexible.coordinates.len();
                let rate = &self.velocity[layout.elastic_velocity[k]..][..n];
                power.lost += quadratic_form(&flexible.damping, rate);
            }
        }
        // elastic gears
        for (i, gear) in model.transmissions.iter().enumerate() {
            let wind = self.motor_position[i] - self.position[gear.position];
            let slip = self.motor_rate[i] - self.velocity[gear.velocity];
            let torque = gear.stiffness * wind + gear.damping * slip;
            self.force[gear.velocity] += torque;
            self.motor_force[i] -= torque;
            power.lost += gear.damping * slip * slip;
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
                    let marker = &model.markers[*index];
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

    /// Accelerations of the prepared state.
    fn accelerate(&mut self) {
        let system = &self.model.system;
        let formed = if let Ok(Some(loops)) = &mut self.loops {
            loops.accelerate(
                self.model,
                &mut self.kinematics,
                &mut self.articulated,
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
            // the integrator turns this into an error that names time and coordinate
            for &at in &self.free_velocities {
                self.acceleration[at] = f64::NAN;
            }
        }
    }

    /// Power of the reactions that keep prescribed joints on their course.
    fn reaction_power(&mut self) -> f64 {
        if !self.prescribes {
            return 0.0;
        }
        inverse_dynamics(
            &self.model.system,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.reaction,
        );
        if let Ok(Some(loops)) = &mut self.loops {
            loops.multipliers(
                self.model,
                &self.kinematics,
                &self.force,
                &self.acceleration,
            );
        }
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
        self.unpack(time, positions, velocities);
        let closed = match &mut self.loops {
            Ok(Some(loops)) if loops.settles_before_evaluation() => loops
                .settle(self.model, &mut self.position, &mut self.velocity)
                .is_ok(),
            Ok(_) => true,
            Err(_) => false,
        };
        let mut power = self.apply_forces(time);
        if closed {
            self.accelerate();
        } else {
            // no acceleration keeps loops closed that are not
            for &at in &self.free_velocities {
                self.acceleration[at] = f64::NAN;
            }
        }
        power.input += self.reaction_power();
        power
    }

    /// The closures of the model, if it has any.
    ///
    /// # Errors
    /// When they cannot be kept as asked.
    pub fn loops(&self) -> Result<Option<&Loops>, &ClosureError> {
        self.loops.as_ref().map(Option::as_ref)
    }

    /// What stopped the last projection of a state.
    pub(super) fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    /// Brings a state, given by its positions and velocities, onto the closures.
    fn settle_state(&mut self, time: f64, state: &mut [f64]) -> Projection {
        if !matches!(self.loops, Ok(Some(_))) {
            return Projection::Kept;
        }
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        let (positions, rest) = state.split_at_mut(n_q);
        self.settle_parts(time, positions, &mut rest[..n_v])
    }

    /// The same for positions and velocities apart.
    fn settle_parts(
        &mut self,
        time: f64,
        positions: &mut [f64],
        velocities: &mut [f64],
    ) -> Projection {
        self.unpack(time, positions, velocities);
        let Ok(Some(loops)) = &mut self.loops else {
            return Projection::Kept;
        };
        if loops.settles() {
            if loops
                .settle(self.model, &mut self.position, &mut self.velocity)
                .is_err()
            {
                // the derivative there is not finite, which ends the run with what is known of the place
                return Projection::Moved;
            }
            for (&at, x) in self.free_positions.iter().zip(positions) {
                *x = self.position[at];
            }
            for (&at, x) in self.free_velocities.iter().zip(velocities) {
                *x = self.velocity[at];
            }
        }
        self.trouble = loops.watch(self.model, time, &self.position, &self.velocity);
        if self.trouble.is_some() {
            Projection::Stop
        } else if loops.settles() && !loops.settles_before_evaluation() {
            Projection::Moved
        } else {
            // the derivative of a state is that of the settled one
            Projection::Kept
        }
    }

    /// From a state on supports see the stretch of their beam that they are on. Returns the energy lost by an impulse.
    fn enter_stretches(&mut self, time: f64, positions: &[f64], velocities: &mut [f64]) -> f64 {
        if !self.locates_passages || !matches!(self.loops, Ok(Some(_))) {
            return 0.0;
        }
        self.unpack(time, positions, velocities);
        let Ok(Some(loops)) = &mut self.loops else {
            return 0.0;
        };
        let lost = loops.enter(self.model, &self.position, &mut self.velocity);
        for (&at, x) in self.free_velocities.iter().zip(velocities) {
            *x = self.velocity[at];
        }
        lost
    }

    /// How far a support is beyond that stretch.
    fn overrun_of_stretches(&mut self, time: f64, positions: &[f64], velocities: &[f64]) -> f64 {
        if !self.locates_passages || !matches!(self.loops, Ok(Some(_))) {
            return f64::NEG_INFINITY;
        }
        self.unpack(time, positions, velocities);
        let Ok(Some(loops)) = &mut self.loops else {
            return f64::NEG_INFINITY;
        };
        loops.overrun(self.model, &mut self.position, &mut self.velocity)
    }

    /// Brings a state onto the closures that is not the next of a run: independent coordinates are chosen for it.
    pub(super) fn settle_sample(&mut self, time: f64, state: &mut [f64]) {
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        if matches!(self.loops, Ok(Some(_))) {
            self.unpack(time, &state[..n_q], &state[n_q..n_q + n_v]);
        }
        if let Ok(Some(loops)) = &mut self.loops {
            loops.choose(self.model, &self.position, &self.velocity);
        }
        self.settle_state(time, state);
    }

    /// Largest violation of the closures at a state, of positions and of velocities.
    pub(super) fn violation(&mut self, time: f64, state: &[f64]) -> Option<[f64; 2]> {
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        if !matches!(self.loops, Ok(Some(_))) {
            return None;
        }
        self.unpack(time, &state[..n_q], &state[n_q..n_q + n_v]);
        let Ok(Some(loops)) = &mut self.loops else {
            return None;
        };
        Some(loops.violation(self.model, &self.position, &self.velocity))
    }

    /// Force and moment of every closure on its end `to` in the evaluated state, at the frame of that end and
    /// in its axes.
    pub fn closure_forces(&mut self) -> impl Iterator<Item = Force<f64>> {
        if let Ok(Some(loops)) = &mut self.loops {
            loops.multipliers(
                self.model,
                &self.kinematics,
                &self.force,
                &self.acceleration,
            );
        }
        let loops = self.loops.as_ref().ok().and_then(Option::as_ref);
        let closures = 0..self.model.closures.len();
        closures.map(move |i| loops.map_or(Force::zero(), |loops| loops.force_on_to(i)))
    }

    /// Largest violation of every closure in the evaluated state, of places in metres and of directions in radians.
    pub(super) fn closure_violations(&self) -> impl Iterator<Item = [f64; 2]> {
        let loops = self.loops.as_ref().ok().and_then(Option::as_ref);
        let closures = 0..self.model.closures.len();
        closures.map(move |i| loops.map_or([0.0; 2], |loops| loops.violation_of(i)))
    }

    /// Energy of the evaluated state, springs and motors counted as strain and kinetic energy.
    pub(super) fn energy(&mut self) -> Energy<f64> {
        let model = self.model;
        self.kinematics.update_poses(&model.system);
        let mut sum = energy(
            &model.system,
            &self.kinematics,
            &self.position,
            &self.velocity,
        );
        for (k, resistance) in &model.resistances {
            sum.strain += spring_energy(&model.system, *k, resistance, &self.position);
        }
        for (i, gear) in model.transmissions.iter().enumerate() {
            let wind = self.motor_position[i] - self.position[gear.position];
            sum.strain += 0.5 * gear.stiffness * wind * wind;
            sum.kinetic += 0.5 * gear.inertia * self.motor_rate[i] * self.motor_rate[i];
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
        let model = self.model;
        self.position.copy_from_slice(position);
        self.velocity.copy_from_slice(velocity);
        self.kinematics.update(&model.system, position, velocity);
        self.force.fill(0.0);
        for (k, resistance) in &model.resistances {
            add_resistance(
                &model.system,
                *k,
                resistance,
                position,
                velocity,
                &mut self.force,
            );
        }
        &self.force
    }
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
