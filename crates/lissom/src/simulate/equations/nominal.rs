//! The feed-forward input of the papers' manoeuvres: what would move the joints along a nominal motion if
//! every body were rigid.

use super::resistance::add_resistance;
use crate::model::spec::LoadProfile;
use crate::model::{JointResistance, LoadTarget, Model, System};
use crate::simulate::profile::MotionCurve;
use crate::tree::{InverseDynamics, Kinematics, inverse_dynamics};

/// Rigid inverse dynamics of a nominal motion, as an input.
#[derive(Clone, Debug)]
pub(super) struct Nominal {
    system: System,
    /// Instant of the last update.
    time: Option<f64>,
    /// Nominal curve of every joint with one degree of freedom, with its entries in the rigid position and
    /// velocity vectors.
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
    /// `None` when no load asks for it.
    pub(super) fn new(model: &Model) -> Option<Self> {
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
            time: None,
            system,
        })
    }

    /// The curves it follows.
    pub(super) fn curves(&self) -> impl Iterator<Item = &MotionCurve> {
        self.curves.iter().map(|(curve, ..)| curve)
    }

    /// Force at an entry of the flexible model's velocity vector, as of the last [`update`](Self::update).
    pub(super) fn force(&self, velocity: usize) -> f64 {
        self.rigid_velocity[velocity].map_or(0.0, |at| self.force[at])
    }

    /// Rigid inverse dynamics at `time`, unless it is what was last asked for: stages and iterations of an
    /// integrator share instants.
    pub(super) fn update(&mut self, time: f64) {
        if self.time == Some(time) {
            return;
        }
        self.time = Some(time);
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
