//! A tree evaluated at many states, every joint free.

use super::Equations;
use super::side_by_side::SideBySide;
use crate::evaluate::MarkerPose;
use crate::evaluator::{AtStates, RowQuantity, StateRows};
use crate::simulate::linearize::{Linearizer, MotionState};
use lissom_core::{EnergyAndMomentum, MarkerId, View as _};
use lissom_numerics::integrate::{Flow, SecondOrder};
use lissom_tree::tree::{difference, inverse_dynamics, marker_jacobian, mass_matrix};
use nalgebra::DMatrix;

impl Equations<'_> {
    /// Puts the kinematics where positions are, at rest.
    fn rest_at(&mut self, position: &[f64]) {
        self.position.copy_from_slice(position);
        self.velocity.fill(0.0);
        let system = &self.model.linkage.system;
        self.kinematics
            .update(system, &self.position, &self.velocity);
    }

    /// Derivatives of the accelerations found last, of a tree without loops: $`M\dot v + h = f`$ holds along the way, so that
    /// $`M\,\delta\dot v = -(M\dot v + h)_q\,\delta q - h_v\,\delta v + \delta f`$.
    fn open_derivatives(
        &mut self,
        [by_position, by_velocity]: [DMatrix<f64>; 2],
    ) -> [DMatrix<f64>; 3] {
        let n = self.velocity.len();
        let system = &self.model.linkage.system;
        [-by_position, -by_velocity, DMatrix::identity(n, n)].map(|mut forces| {
            let mut change = vec![0.0; n];
            for mut column in forces.column_iter_mut() {
                let force = column.as_slice();
                (self.articulated).solve(system, &self.kinematics, force, &mut change);
                column.copy_from_slice(&change);
            }
            forces
        })
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

    fn forward_derivatives(
        &mut self,
        time_s: f64,
        motion: [&[f64]; 2],
        force: &[f64],
    ) -> Option<[DMatrix<f64>; 3]> {
        let n = self.velocity.len();
        let mut acceleration = vec![0.0; n];
        AtStates::forward_dynamics(self, time_s, motion, force, &mut acceleration);
        if !acceleration.iter().all(|a| a.is_finite()) {
            return None;
        }
        let mut linearizer = match self.linearizer.take() {
            Some(linearizer) => linearizer,
            None => Box::new(Linearizer::new(self.model)),
        };
        let state = MotionState {
            time_s,
            position: motion[0].to_vec(),
            velocity: motion[1].to_vec(),
            acceleration,
            motors: Vec::new(),
            control: Vec::new(),
            undeformed: false,
        };
        let watch = &mut |_| Flow::Continue;
        let found = if self.model.linkage.closures.is_empty() {
            let found = linearizer.force_derivatives(&state, watch).ok();
            found.map(|found| self.open_derivatives(found))
        } else {
            let found = linearizer.closed_derivatives(&state, force, watch);
            found.ok().flatten()
        };
        self.linearizer = Some(linearizer);
        found
    }

    fn is_independent(&self) -> bool {
        true
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        SecondOrder::displace(self, position, increment, displaced);
    }

    fn difference(&self, from: &[f64], to: &[f64], change: &mut [f64]) {
        change.copy_from_slice(&difference(&self.model.linkage.system, from, to));
    }

    fn evaluate_side_by_side(
        &mut self,
        quantity: RowQuantity,
        rows: &StateRows<'_>,
        found: &mut [f64],
    ) -> bool {
        // accelerations of loops are found one state at a time
        if quantity == RowQuantity::ForwardDynamics && !self.model.linkage.closures.is_empty() {
            return false;
        }
        let mut lanes = match self.side_by_side.take() {
            Some(lanes) => lanes,
            None => Box::new(SideBySide::new(self.model)),
        };
        let done = lanes.evaluate(self, quantity, rows, found);
        self.side_by_side = Some(lanes);
        done
    }
}
