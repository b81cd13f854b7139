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

use crate::integrate::{FirstOrder, SecondOrder};
use crate::model::spec::{Frame, LoadProfile, LoadQuantity};
use crate::model::{
    Coordinate, CoordinateKind, JointKind, JointResistance, LoadTarget, Model, System,
};
use crate::simulate::profile::{LoadCurve, MotionCurve};
use crate::spatial::{Force, Motion, Quaternion, Vector};
use crate::tree::{
    ArticulatedBody, CompositeBody, Energy, InverseDynamics, Kinematics, apply_wrench, energy,
    inverse_dynamics, marker_motion, mass_matrix,
};

/// Equations of motion of a model, with all the memory that evaluating them needs.
#[derive(Clone, Debug)]
pub struct Equations<'m> {
    model: &'m Model,
    load_curves: Vec<LoadCurve>,
    motion_curves: Vec<MotionCurve>,
    nominal: Option<Nominal>,
    free_positions: Vec<usize>,
    free_velocities: Vec<usize>,
    /// Whether a prescribed joint exists, whose reaction does work.
    prescribes: bool,
    // workspace
    pub(super) position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    acceleration: Vec<f64>,
    force: Vec<f64>,
    /// Value of every load.
    pub(super) load_values: Vec<f64>,
    pub(super) motor_position: Vec<f64>,
    pub(super) motor_rate: Vec<f64>,
    motor_force: Vec<f64>,
    position_rate: Vec<f64>,
    reaction: Vec<f64>,
    influence: Vec<Motion<f64>>,
    pub(super) kinematics: Kinematics<f64>,
    articulated: ArticulatedBody<f64>,
    inverse: InverseDynamics<f64>,
    composite: CompositeBody<f64>,
    full_mass: Vec<f64>,
}

/// Rigid inverse dynamics of a nominal motion, as an input.
#[derive(Clone, Debug)]
struct Nominal {
    system: System,
    /// Nominal curve and entries (flexible position, velocity; rigid position, velocity) of every joint
    /// with one degree of freedom.
    curves: Vec<(MotionCurve, usize, usize)>,
    /// Entry of the rigid velocity vector for every entry of the flexible one that has it.
    rigid_velocity: Vec<Option<usize>>,
    position: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    force: Vec<f64>,
    /// Springs, dampers and friction of the joints, which the drives work against too.
    resistances: Vec<(usize, JointResistance)>,
    resistance: Vec<f64>,
    /// Entry of the rigid velocity vector and inertia of the rotors behind elastic gears, which are not
    /// part of the system; here they turn with their joints.
    rotors: Vec<(usize, f64)>,
    kinematics: Kinematics<f64>,
    inverse: InverseDynamics<f64>,
}

impl Nominal {
    fn new(model: &Model) -> Option<Self> {
        let wanted: Vec<(usize, MotionCurve)> = model
            .loads
            .iter()
            .filter_map(|load| {
                let LoadProfile::RigidInverseDynamics(profile) = &load.profile else {
                    return None;
                };
                let at = match load.target {
                    LoadTarget::Joint(at) => at,
                    LoadTarget::Motor(index) => model.transmissions[index].velocity,
                    LoadTarget::Marker { .. } => return None,
                };
                let position = position_of_velocity(&model.system, at)?;
                let initial = model.initial_position[position];
                Some((at, MotionCurve::new(profile, initial)))
            })
            .collect();
        if wanted.is_empty() {
            return None;
        }
        let system = model.system.rigidified();
        let (flexible_layout, rigid_layout) = (model.system.layout(), system.layout());
        let mut position = vec![0.0; system.position_count()];
        let mut rigid_velocity = vec![None; model.system.velocity_count()];
        let mut curves = Vec::new();
        for (k, body) in system.bodies().iter().enumerate() {
            let kind = &body.joint.kind;
            let (from, to) = (
                flexible_layout.joint_position[k],
                rigid_layout.joint_position[k],
            );
            position[to..to + kind.positions()]
                .copy_from_slice(&model.initial_position[from..from + kind.positions()]);
            let (from_v, to_v) = (
                flexible_layout.joint_velocity[k],
                rigid_layout.joint_velocity[k],
            );
            for i in 0..kind.velocities() {
                rigid_velocity[from_v + i] = Some(to_v + i);
            }
            if kind.velocities() != 1 {
                continue;
            }
            // joints without a nominal motion follow what is prescribed for them, or stay
            let prescribed = model
                .motions
                .iter()
                .find(|motion| motion.velocity == from_v);
            let curve = match (wanted.iter().find(|(at, _)| *at == from_v), prescribed) {
                (Some((_, curve)), _) => curve.clone(),
                (None, Some(motion)) => MotionCurve::new(&motion.profile, motion.initial),
                (None, None) => MotionCurve::held(model.initial_position[from]),
            };
            curves.push((curve, to, to_v));
        }
        let rotors = model
            .transmissions
            .iter()
            .filter_map(|gear| Some((rigid_velocity[gear.velocity]?, gear.inertia)))
            .collect();
        Some(Self {
            curves,
            rigid_velocity,
            resistances: model.resistances.clone(),
            resistance: vec![0.0; system.velocity_count()],
            rotors,
            position,
            velocity: vec![0.0; system.velocity_count()],
            acceleration: vec![0.0; system.velocity_count()],
            force: vec![0.0; system.velocity_count()],
            kinematics: Kinematics::new(&system),
            inverse: InverseDynamics::new(&system),
            system,
        })
    }

    /// Rigid inverse dynamics at `time`, into `force`.
    fn update(&mut self, time: f64) {
        for (curve, position, velocity) in &self.curves {
            let point = curve.at(time);
            self.position[*position] = point.position;
            self.velocity[*velocity] = point.rate;
            self.acceleration[*velocity] = point.acceleration;
        }
        self.kinematics
            .update(&self.system, &self.position, &self.velocity);
        inverse_dynamics(
            &self.system,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.force,
        );
        self.resistance.fill(0.0);
        for (k, resistance) in &self.resistances {
            add_resistance(
                &self.system,
                *k,
                resistance,
                &self.position,
                &self.velocity,
                &mut self.resistance,
            );
        }
        for (force, resistance) in self.force.iter_mut().zip(&self.resistance) {
            *force -= resistance;
        }
        for &(at, inertia) in &self.rotors {
            self.force[at] += inertia * self.acceleration[at];
        }
    }
}

/// Entry of the position vector that belongs to a joint velocity of a joint with one degree of freedom.
fn position_of_velocity(system: &System, at: usize) -> Option<usize> {
    let layout = system.layout();
    let k = layout
        .joint_velocity
        .iter()
        .position(|&first| first == at)?;
    (system.bodies()[k].joint.kind.velocities() == 1).then(|| layout.joint_position[k])
}

/// Power that flows into and out of the mechanism.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Power {
    /// From inputs and prescribed motions.
    pub(super) input: f64,
    /// Into dampers and friction.
    pub(super) lost: f64,
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
        let most = system.bodies().iter().map(|b| b.modes()).max().unwrap_or(0);
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
            free_positions: (0..n_q)
                .filter(|&i| !prescribed(i, |m| m.position))
                .collect(),
            free_velocities: (0..n_v)
                .filter(|&i| !prescribed(i, |m| m.velocity))
                .collect(),
            prescribes: !model.motions.is_empty(),
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
            articulated: ArticulatedBody::new(system),
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
        let nominal = self
            .nominal
            .iter()
            .flat_map(|n| n.curves.iter().map(|(c, ..)| c));
        let mut instants: Vec<f64> = self
            .load_curves
            .iter()
            .flat_map(LoadCurve::breakpoints)
            .chain(
                self.motion_curves
                    .iter()
                    .chain(nominal)
                    .flat_map(MotionCurve::breakpoints),
            )
            .filter(|&t| t > start && t < end)
            .collect();
        instants.sort_by(f64::total_cmp);
        instants.dedup();
        instants
    }

    /// Spreads a state over the full vectors and fills in what is prescribed at `time`.
    fn unpack(&mut self, time: f64, positions: &[f64], velocities: &[f64]) {
        let (free, motors) = positions.split_at(self.free_positions.len());
        for (&at, &x) in self.free_positions.iter().zip(free) {
            self.position[at] = x;
        }
        self.motor_position.copy_from_slice(motors);
        let (free, motors) = velocities.split_at(self.free_velocities.len());
        for (&at, &x) in self.free_velocities.iter().zip(free) {
            self.velocity[at] = x;
        }
        self.motor_rate.copy_from_slice(motors);
        for (motion, curve) in self.model.motions.iter().zip(&self.motion_curves) {
            let point = curve.at(time);
            self.position[motion.position] = point.position;
            self.velocity[motion.velocity] = point.rate;
            self.acceleration[motion.velocity] = point.acceleration;
        }
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
        for (k, body) in system.bodies().iter().enumerate() {
            if let Some(flexible) = &body.flexible {
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

        // inputs
        if let Some(nominal) = &mut self.nominal {
            nominal.update(time);
        }
        let mut posed = false;
        for (i, load) in model.loads.iter().enumerate() {
            let mut value = self.load_curves[i].value(time);
            if let (LoadProfile::RigidInverseDynamics(_), Some(nominal)) =
                (&load.profile, &self.nominal)
            {
                let at = match load.target {
                    LoadTarget::Motor(index) => model.transmissions[index].velocity,
                    LoadTarget::Joint(at) => at,
                    LoadTarget::Marker { .. } => continue,
                };
                value = nominal.rigid_velocity[at].map_or(0.0, |at| nominal.force[at]);
            }
            self.load_values[i] = value;
            match &load.target {
                LoadTarget::Joint(at) => {
                    self.force[*at] += value;
                    power.input += value * self.velocity[*at];
                }
                LoadTarget::Motor(index) => {
                    self.motor_force[*index] += value;
                    power.input += value * self.motor_rate[*index];
                }
                LoadTarget::Marker {
                    index,
                    direction,
                    frame,
                } => {
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
                    let along = match frame {
                        Frame::World => *direction,
                        Frame::Body => motion.pose.rotation * *direction,
                    }
                    .scale(value);
                    let wrench = match load.quantity {
                        LoadQuantity::Torque => Force::new(along, Vector::zero()),
                        LoadQuantity::Force | LoadQuantity::Either => {
                            Force::new(Vector::zero(), along)
                        }
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
        self.articulated.factor(system, &self.kinematics);
        self.articulated.forward_dynamics(
            system,
            &self.kinematics,
            &self.force,
            &mut self.acceleration,
        );
        if !self.articulated.is_positive_definite(system) {
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
        let mut power = 0.0;
        for motion in &self.model.motions {
            let at = motion.velocity;
            self.reaction[at] -= self.force[at];
            power += self.reaction[at] * self.velocity[at];
        }
        power
    }

    /// Evaluates everything at a state given by its positions and velocities: afterwards the accessors and
    /// the recording's sampler may read. Returns the power that flows.
    pub(super) fn evaluate(&mut self, time: f64, positions: &[f64], velocities: &[f64]) -> Power {
        self.unpack(time, positions, velocities);
        let mut power = self.apply_forces(time);
        self.accelerate();
        power.input += self.reaction_power();
        power
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

impl FirstOrder for Equations<'_> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        let (positions, rest) = state.split_at(n_q);
        let power = self.evaluate(time, positions, &rest[..n_v]);
        position_rates(
            &self.model.system,
            &self.position,
            &self.velocity,
            &mut self.position_rate,
        );

        let (position_rate, rest) = rate.split_at_mut(n_q);
        let (free, motors) = position_rate.split_at_mut(self.free_positions.len());
        for (r, &at) in free.iter_mut().zip(&self.free_positions) {
            *r = self.position_rate[at];
        }
        motors.copy_from_slice(&self.motor_rate);
        let (velocity_rate, work) = rest.split_at_mut(n_v);
        let (free, motors) = velocity_rate.split_at_mut(self.free_velocities.len());
        for (r, &at) in free.iter_mut().zip(&self.free_velocities) {
            *r = self.acceleration[at];
        }
        for (i, r) in motors.iter_mut().enumerate() {
            *r = self.motor_force[i] / self.model.transmissions[i].inertia;
        }
        work[0] = power.input;
        work[1] = power.lost;
    }
}

impl SecondOrder for Equations<'_> {
    fn position_count(&self) -> usize {
        self.state_positions()
    }

    fn velocity_count(&self) -> usize {
        self.state_velocities()
    }

    fn residual(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) {
        self.unpack(time, position, velocity);
        self.apply_forces(time);
        for (&at, &a) in self.free_velocities.iter().zip(acceleration) {
            self.acceleration[at] = a;
        }
        inverse_dynamics(
            &self.model.system,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.reaction,
        );
        let free = self.free_velocities.len();
        for (r, &at) in residual.iter_mut().zip(&self.free_velocities) {
            *r = self.reaction[at] - self.force[at];
        }
        for (i, gear) in self.model.transmissions.iter().enumerate() {
            residual[free + i] = gear.inertia * acceleration[free + i] - self.motor_force[i];
        }
    }

    fn mass_matrix(&mut self, time: f64, position: &[f64], mass: &mut [f64]) {
        let n = self.state_velocities();
        let full = self.velocity.len();
        let velocity = vec![0.0; n];
        self.unpack(time, position, &velocity);
        self.kinematics
            .update(&self.model.system, &self.position, &self.velocity);
        mass_matrix(
            &self.model.system,
            &self.kinematics,
            &mut self.composite,
            &mut self.full_mass,
        );
        mass.fill(0.0);
        for (i, &row) in self.free_velocities.iter().enumerate() {
            for (j, &column) in self.free_velocities.iter().enumerate() {
                mass[i * n + j] = self.full_mass[row * full + column];
            }
        }
        for (i, gear) in self.model.transmissions.iter().enumerate() {
            let at = self.free_velocities.len() + i;
            mass[at * n + at] = gear.inertia;
        }
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        displaced.copy_from_slice(position);
        let system = &self.model.system;
        let layout = system.layout();
        let free_velocities = self.free_velocities.len();
        // entry of the state for an entry of the full vectors, both sorted
        let p = |at: usize| self.free_positions.binary_search(&at).ok();
        let v = |at: usize| self.free_velocities.binary_search(&at).ok();
        for (k, body) in system.bodies().iter().enumerate() {
            let (first_p, first_v) = (layout.joint_position[k], layout.joint_velocity[k]);
            let kind = &body.joint.kind;
            match kind {
                JointKind::Fixed => {}
                JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
                    if let (Some(p), Some(v)) = (p(first_p), v(first_v)) {
                        displaced[p] += increment[v];
                    }
                }
                JointKind::Spherical | JointKind::Free => {
                    let (Some(p), Some(v)) = (p(first_p), v(first_v)) else {
                        continue;
                    };
                    let at = p + kind.positions() - 4;
                    let quaternion = Quaternion([
                        position[at],
                        position[at + 1],
                        position[at + 2],
                        position[at + 3],
                    ]);
                    let turn = Vector([increment[v], increment[v + 1], increment[v + 2]]);
                    displaced[at..at + 4].copy_from_slice(&quaternion.turned(turn).0);
                    if *kind == JointKind::Free {
                        let slide = Vector([increment[v + 3], increment[v + 4], increment[v + 5]]);
                        // along the axes half-way through the turn, which keeps second order
                        let half = quaternion.turned(turn.scale(0.5)).matrix() * slide;
                        for i in 0..3 {
                            displaced[p + i] += half[i];
                        }
                    }
                }
            }
            for alpha in 0..body.modes() {
                if let (Some(p), Some(v)) = (
                    p(layout.elastic_position[k] + alpha),
                    v(layout.elastic_velocity[k] + alpha),
                ) {
                    displaced[p] += increment[v];
                }
            }
        }
        for i in 0..self.motor_position.len() {
            displaced[self.free_positions.len() + i] += increment[free_velocities + i];
        }
    }
}

/// Time derivative of the position vector.
fn position_rates(system: &System, position: &[f64], velocity: &[f64], rate: &mut [f64]) {
    let layout = system.layout();
    for (k, body) in system.bodies().iter().enumerate() {
        let q = &position[layout.joint_position[k]..];
        let v = &velocity[layout.joint_velocity[k]..];
        let out = &mut rate[layout.joint_position[k]..];
        match body.joint.kind {
            JointKind::Fixed => {}
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => out[0] = v[0],
            JointKind::Spherical => {
                let turning = Quaternion([q[0], q[1], q[2], q[3]]).rate(Vector([v[0], v[1], v[2]]));
                out[..4].copy_from_slice(&turning.0);
            }
            JointKind::Free => {
                let quaternion = Quaternion([q[3], q[4], q[5], q[6]]);
                let sliding = quaternion.matrix() * Vector([v[3], v[4], v[5]]);
                let turning = quaternion.rate(Vector([v[0], v[1], v[2]]));
                out[..3].copy_from_slice(&sliding.0);
                out[3..7].copy_from_slice(&turning.0);
            }
        }
        let n = body.modes();
        rate[layout.elastic_position[k]..][..n]
            .copy_from_slice(&velocity[layout.elastic_velocity[k]..][..n]);
    }
}

/// Adds what resists a joint to `force`; returns the power lost in dampers and friction.
fn add_resistance(
    system: &System,
    k: usize,
    resistance: &JointResistance,
    position: &[f64],
    velocity: &[f64],
    force: &mut [f64],
) -> f64 {
    let layout = system.layout();
    let q = &position[layout.joint_position[k]..];
    let first = layout.joint_velocity[k];
    let mut lost = 0.0;
    let mut push = |i: usize, law: &crate::model::Resistance, spring: f64| {
        let rate = velocity[first + i];
        let drag = law.drag(rate);
        force[first + i] += drag + spring;
        lost -= drag * rate;
    };
    match resistance {
        JointResistance::Axis(law) => push(0, law, -law.stiffness * (q[0] - law.rest)),
        JointResistance::Ball(law) => {
            let turn = rotation_vector([q[0], q[1], q[2], q[3]]);
            for i in 0..3 {
                push(i, law, -law.stiffness * turn[i]);
            }
        }
        JointResistance::Free { angular, linear } => {
            let quaternion = [q[3], q[4], q[5], q[6]];
            let turn = rotation_vector(quaternion);
            let offset = Quaternion(quaternion)
                .matrix()
                .transpose_mul(Vector([q[0], q[1], q[2]]));
            for i in 0..3 {
                push(i, angular, -angular.stiffness * turn[i]);
                push(i + 3, linear, -linear.stiffness * offset[i]);
            }
        }
    }
    lost
}

/// Energy stored in the springs of a joint.
fn spring_energy(system: &System, k: usize, resistance: &JointResistance, position: &[f64]) -> f64 {
    let q = &position[system.layout().joint_position[k]..];
    let turned = |quaternion: [f64; 4]| {
        let turn = rotation_vector(quaternion);
        turn.dot(turn)
    };
    match resistance {
        JointResistance::Axis(law) => 0.5 * law.stiffness * (q[0] - law.rest) * (q[0] - law.rest),
        JointResistance::Ball(law) => 0.5 * law.stiffness * turned([q[0], q[1], q[2], q[3]]),
        JointResistance::Free { angular, linear } => {
            let offset = Vector([q[0], q[1], q[2]]);
            0.5 * angular.stiffness * turned([q[3], q[4], q[5], q[6]])
                + 0.5 * linear.stiffness * offset.dot(offset)
        }
    }
}

/// Rotation vector of a quaternion of any length.
pub(super) fn rotation_vector(quaternion: [f64; 4]) -> Vector<f64> {
    crate::spatial::rotation_vector_of(&Quaternion(quaternion).matrix())
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
