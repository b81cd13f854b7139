//! A tree evaluated at many states, every joint free.

use super::Equations;
use crate::evaluate::MarkerPose;
use crate::evaluator::AtStates;
use lissom_core::{EnergyAndMomentum, MarkerId, View as _};
use lissom_tree::tree::{inverse_dynamics, marker_jacobian, mass_matrix};

impl Equations<'_> {
    /// Puts the kinematics where positions are, at rest.
    fn rest_at(&mut self, position: &[f64]) {
        self.position.copy_from_slice(position);
        self.velocity.fill(0.0);
        let system = &self.model.linkage.system;
        self.kinematics
            .update(system, &self.position, &self.velocity);
    }
}

impl AtStates for Equations<'_> {
    fn mass_matrix(&mut self, _: f64, position: &[f64], mass: &mut [f64]) {
        self.rest_at(position);
        let system = &self.model.linkage.system;
        mass_matrix(system, &self.kinematics, &mut self.composite, mass);
    }

    fn inverse_dynamics(
        &mut self,
        _: f64,
        [position, velocity]: [&[f64]; 2],
        acceleration: &[f64],
        force: &mut [f64],
    ) {
        self.prepare_bare(position, velocity);
        inverse_dynamics(
            &self.model.linkage.system,
            &self.kinematics,
            acceleration,
            &mut self.inverse,
            force,
        );
        for (force, resistance) in force.iter_mut().zip(&self.force) {
            *force -= resistance;
        }
    }

    fn forward_dynamics(
        &mut self,
        _: f64,
        [position, velocity]: [&[f64]; 2],
        force: &[f64],
        acceleration: &mut [f64],
    ) {
        self.prepare_bare(position, velocity);
        for (sum, force) in self.force.iter_mut().zip(force) {
            *sum += force;
        }
        self.accelerate();
        acceleration.copy_from_slice(&self.acceleration);
    }

    fn energy_and_momentum(
        &mut self,
        _: f64,
        [position, velocity]: [&[f64]; 2],
    ) -> EnergyAndMomentum {
        self.prepare_bare(position, velocity);
        lissom_core::Dynamics::energy_and_momentum(self)
    }

    fn markers(&self) -> Vec<String> {
        let markers = self.model.linkage.markers.iter();
        markers.map(|marker| marker.name.clone()).collect()
    }

    fn marker(
        &mut self,
        _: f64,
        [position, velocity]: [&[f64]; 2],
        marker: usize,
    ) -> Option<MarkerPose> {
        self.prepare_bare(position, velocity);
        let motion = self.view().marker(MarkerId(marker));
        Some(MarkerPose {
            name: self.model.linkage.markers[marker].name.clone(),
            pose: motion.pose,
            twist: motion.twist,
        })
    }

    fn jacobian(&mut self, _: f64, position: &[f64], marker: usize, jacobian: &mut [f64]) {
        self.rest_at(position);
        let motion = self.view().marker(MarkerId(marker));
        let linkage = &self.model.linkage;
        match linkage.markers[marker].body {
            Some(body) => marker_jacobian(
                &linkage.system,
                &self.kinematics,
                body,
                motion.pose.translation,
                &self.influence,
                jacobian,
            ),
            // a marker on the ground stays
            None => jacobian.fill(0.0),
        }
    }
}
