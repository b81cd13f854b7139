//! Accelerations of the degrees of freedom: in nodal coordinates, or by the reduced mass matrix where that is small.

use lissom_spatial::Vector;

use super::Equations;
use crate::error::NodalError;
use crate::factor::{SingularColumn, cholesky, cholesky_solve};
use crate::mechanism::{Mechanism, Place, Slot};
use crate::role::Drive;
use crate::saddle::Saddle;

/// Operations per beam, about, of its inertial forces and their reduction: what a column of the reduced mass matrix takes.
const OPERATIONS_PER_BEAM: usize = 300;

impl Equations<'_> {
    /// The matrix in nodal coordinates, if it takes fewer operations than the reduced mass matrix does.
    pub(super) fn cheaper_saddle(mechanism: &Mechanism, solution: usize) -> Option<Saddle> {
        let saddle = Saddle::of_inertia(mechanism);
        let dofs = mechanism.dof_count();
        let column = 2 * solution + OPERATIONS_PER_BEAM * mechanism.element_count();
        let reduced = dofs * column + dofs * dofs * dofs / 6;
        (saddle.operations() < reduced).then_some(saddle)
    }

    /// Accelerations of the degrees of freedom at a velocity, under `efforts` and `loads`. They are a function of these and of
    /// where the nodes stand, and of nothing else.
    ///
    /// # Errors
    ///
    /// When the mass matrix is singular.
    pub fn accelerate(
        &mut self,
        velocity: &[f64],
        drives: &[Drive],
        efforts: &[f64],
        loads: &[Vector<f64>],
        acceleration: &mut [f64],
    ) -> Result<(), NodalError> {
        self.set_velocity(velocity, drives);
        self.accelerate_moving(velocity, drives, efforts, loads, acceleration)
    }

    /// The same at the velocity set last, which is this one.
    pub(crate) fn accelerate_moving(
        &mut self,
        velocity: &[f64],
        drives: &[Drive],
        efforts: &[f64],
        loads: &[Vector<f64>],
        acceleration: &mut [f64],
    ) -> Result<(), NodalError> {
        if let Some(mut saddle) = self.saddle.take() {
            saddle.set_inertia(self.mechanism, &self.pass.nodes, &self.pass.gradient);
            let factored = saddle.factor();
            if factored.is_ok() {
                self.accelerate_nodes(&mut saddle, drives, efforts, loads, acceleration);
            }
            self.saddle = Some(saddle);
            if factored.is_ok() {
                return Ok(());
            }
            // the reduced mass matrix has the last word, and knows which degree of freedom has no inertia
        }
        self.accelerate_reduced(velocity, drives, efforts, loads, acceleration)
    }

    fn accelerate_nodes(
        &mut self,
        saddle: &mut Saddle,
        drives: &[Drive],
        efforts: &[f64],
        loads: &[Vector<f64>],
        acceleration: &mut [f64],
    ) {
        let mechanism = self.mechanism;
        self.pass.given_accelerations(mechanism, |_| 0.0, drives);
        self.pass.inertial_forces(mechanism, self.gravity, loads);
        self.pass.elastic_stresses(mechanism);
        self.pass.balance(mechanism, |pass, deformation| {
            let stress = pass.elastic[deformation];
            match mechanism.conditions[deformation].slot {
                Slot::Dof(dof) => Some(stress - efforts[dof]),
                _ => (!saddle.holds(deformation)).then_some(stress),
            }
        });
        for (node, slots) in mechanism.slots.iter().enumerate() {
            let mut force = -self.pass.remaining(node);
            for component in 0..3 {
                if let Slot::Dof(dof) = slots[component] {
                    force[component] += efforts[dof];
                }
            }
            saddle.set_force(node, force);
        }
        for &deformation in &mechanism.rows {
            if saddle.holds(deformation) {
                let wanted = match mechanism.conditions[deformation].slot {
                    Slot::Drive(drive) => drives[drive].acceleration,
                    _ => 0.0,
                };
                let given = self.deformation_acceleration_of(deformation);
                saddle.set_held(deformation, wanted - given);
            }
        }
        saddle.solve();
        for (node, state) in self.pass.nodes.iter_mut().enumerate() {
            state.acceleration += saddle.motion(node);
        }
        for (dof, entry) in mechanism.dofs.iter().enumerate() {
            acceleration[dof] = match entry.place {
                Place::Coordinate(node, component) => self.pass.nodes[node].acceleration[component],
                Place::Deformation(deformation) => self.deformation_acceleration_of(deformation),
            };
        }
    }

    /// The same by the reduced mass matrix.
    fn accelerate_reduced(
        &mut self,
        velocity: &[f64],
        drives: &[Drive],
        efforts: &[f64],
        loads: &[Vector<f64>],
        acceleration: &mut [f64],
    ) -> Result<(), NodalError> {
        let mut mass = std::mem::take(&mut self.mass);
        mass.resize(acceleration.len() * acceleration.len(), 0.0);
        self.mass_matrix(&mut mass);
        self.set_velocity(velocity, drives);
        acceleration.fill(0.0);
        let zeros = std::mem::take(&mut self.unit);
        self.set_acceleration(&zeros, drives);
        self.unit = zeros;
        self.residual(efforts, loads, acceleration);
        let outcome = cholesky(&mut mass, acceleration.len());
        if outcome.is_ok() {
            cholesky_solve(&mass, acceleration);
            for x in acceleration.iter_mut() {
                *x = -*x;
            }
        }
        self.mass = mass;
        outcome.map_err(
            |SingularColumn { column, ratio }| NodalError::SingularMass {
                dof: self.mechanism.dof_name(column),
                ratio,
            },
        )
    }
}
