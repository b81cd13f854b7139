//! [`BeamSections`]: where the sections of a beam are, and what the mass between them needs to move as it does.
//!
//! The mass is that of points ([`MaterialPoints`](super::MaterialPoints)), so that what all of them need is what the recursions find
//! for the whole body.

use super::kinematics::elastic_of;
use super::material_points::BodyPoints;
use super::node::node_motion;
use super::{InverseDynamics, Kinematics};
use crate::System;
use crate::flex::{CutBeam, Node};
use lissom_spatial::{Force, Motion, Transform};

/// The sections of one beam of a tree.
#[derive(Clone, Debug)]
pub struct BeamSections {
    body: usize,
    sections: Vec<Node>,
    /// The mass from each section to the next.
    beyond: Vec<BodyPoints>,
}

impl BeamSections {
    /// The sections of body `body` of `system`, a beam that was cut at them.
    pub fn new(system: &System, body: usize, cut: CutBeam) -> Self {
        let own = &system.bodies()[body];
        let beyond = cut.beyond.into_iter();
        Self {
            body,
            sections: cut.sections,
            beyond: beyond.map(|mass| BodyPoints::of_part(own, mass)).collect(),
        }
    }

    /// The body that the beam is.
    pub fn body(&self) -> usize {
        self.body
    }

    /// Pose of a section in the ground frame, in the state last given to [`Kinematics::update`] and
    /// [`Kinematics::update_poses`].
    pub fn pose(
        &self,
        section: usize,
        system: &System,
        kinematics: &Kinematics<f64>,
        [position, velocity]: [&[f64]; 2],
        influence: &mut [Motion<f64>],
    ) -> Transform<f64> {
        let body = &system.bodies()[self.body];
        let zeros = kinematics.zeros(body.modes());
        let (elastic, rates) = elastic_of(system, self.body, position, velocity, zeros);
        let Some(flexible) = &body.flexible else {
            return *kinematics.ground_from_body(self.body);
        };
        let moved = node_motion(
            flexible,
            &self.sections[section],
            body.fidelity.marker_tip(),
            body.fidelity.shortening,
            elastic,
            rates,
            None,
            &mut influence[..body.modes()],
        );
        *kinematics.ground_from_body(self.body) * moved.pose
    }

    /// What the mass between a section and the next needs beyond its weight, in ground components about the ground's origin;
    /// `inverse` and `acceleration` are those of the last [`inverse_dynamics`](super::inverse_dynamics()).
    pub fn needed_beyond(
        &self,
        section: usize,
        system: &System,
        (kinematics, inverse): (&Kinematics<f64>, &InverseDynamics<f64>),
        [position, velocity, acceleration]: [&[f64]; 3],
    ) -> Force<f64> {
        let modes = system.bodies()[self.body].modes();
        let zeros = kinematics.zeros(modes);
        let (elastic, rates) = elastic_of(system, self.body, position, velocity, zeros);
        let first = system.layout().elastic_velocity[self.body];
        let accelerations = &acceleration[first..][..modes];
        let needed = self.beyond[section].needed(
            kinematics.twist(self.body),
            inverse.acceleration[self.body],
            [elastic, rates, accelerations],
        );
        (kinematics.ground_from_body(self.body)).force_to_parent(needed)
    }
}
