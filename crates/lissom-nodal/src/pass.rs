//! One evaluation of all elements over a [`Scalar`]: deformations, motions, forces.
//!
//! The transfer functions of first and second order and the reduction of nodal forces are solutions
//! with one matrix, $`J = \partial e/\partial x`$ of the conditions by the unknown coordinates:
//!
//! ```math
//! J\,\dot x = \dot e - \ldots,\qquad J\,\ddot x = \ddot e - (D^2\mathcal D\,\dot x)\,\dot x - \ldots,\qquad
//! J^T s = -(M\ddot x - f).
//! ```
//!
//! Only its values are factored. Over dual numbers each solution is refined with the residual of the
//! same equations, which makes another order of derivatives exact each time.

use lissom_spatial::Scalar;
use lissom_spatial::Vector;

use super::element::{ElementKind, Gradient, MOST_DEFORMATIONS};
use super::factor::Factor;
use super::forces::{Forces, View};
use super::mechanism::{Mechanism, Place, Slot};
use super::node::{Followed, NodeState};
use super::role::Drive;

/// Buffers of one evaluation.
#[derive(Clone, Debug)]
pub(super) struct Pass<T> {
    pub(super) nodes: Vec<NodeState<T>>,
    /// Values of all deformations.
    pub(super) value: Vec<T>,
    /// Rates and biases of all deformations.
    pub(super) followed: Vec<Followed<T>>,
    pub(super) gradient: Vec<Gradient<T>>,
    /// Inertial forces less loads, at every node.
    pub(super) force: Vec<Vector<T>>,
    /// Forces that remain to be balanced while conditions are weighed.
    rest: Vec<Vector<T>>,
    /// Stress resultants of elasticity and damping, of all deformations.
    pub(super) elastic: Vec<T>,
    /// Stress resultants that the conditions need, by row.
    pub(super) stress: Vec<T>,
    right: Vec<T>,
    solution: Vec<T>,
    /// How often a solution is refined: one more than the nesting of dual numbers.
    refinements: usize,
}

impl<T: Scalar> Pass<T> {
    pub(super) fn new(mechanism: &Mechanism, refinements: usize) -> Self {
        let deformations = mechanism.deformation_count();
        let nodes = mechanism.node_count();
        let rows = mechanism.rows.len();
        Self {
            nodes: vec![NodeState::resting(); nodes],
            value: vec![T::zero(); deformations],
            followed: vec![Followed::zero(); deformations],
            gradient: vec![[Vector::zero(); 4]; deformations],
            force: vec![Vector::zero(); nodes],
            rest: vec![Vector::zero(); nodes],
            elastic: vec![T::zero(); deformations],
            stress: vec![T::zero(); rows],
            right: vec![T::zero(); rows],
            solution: vec![T::zero(); rows],
            refinements,
        }
    }

    /// Values and gradients of all deformations.
    pub(super) fn shape(&mut self, mechanism: &Mechanism, references: &[f64]) {
        for (index, element) in mechanism.elements.iter().enumerate() {
            let range = mechanism.first[index]..mechanism.first[index + 1];
            element.gradient(
                &self.nodes,
                references[index],
                &mut self.value[range.clone()],
                &mut self.gradient[range],
            );
        }
    }

    /// Rate that the nodal velocities give a deformation.
    #[inline(always)]
    pub(super) fn along(
        &self,
        mechanism: &Mechanism,
        deformation: usize,
        of: impl Fn(&NodeState<T>) -> Vector<T>,
    ) -> T {
        let element = &mechanism.elements[mechanism.element_of[deformation]];
        let mut sum = T::zero();
        for (site, &node) in element.nodes.iter().enumerate() {
            sum += self.gradient[deformation][site].dot(of(&self.nodes[node]));
        }
        sum
    }

    /// Nodal velocities: those given, and the unknown ones that meet the conditions.
    pub(super) fn velocities(
        &mut self,
        mechanism: &Mechanism,
        factor: &Factor,
        velocity: &[T],
        drives: &[Drive],
    ) {
        for (node, slots) in self.nodes.iter_mut().zip(&mechanism.slots) {
            for component in 0..3 {
                node.velocity[component] = match slots[component] {
                    Slot::Dof(dof) => velocity[dof],
                    Slot::Drive(drive) => T::constant(drives[drive].rate),
                    Slot::Still | Slot::Unknown(_) => T::zero(),
                };
            }
        }
        for _ in 0..self.refinements {
            for (row, &deformation) in mechanism.rows.iter().enumerate() {
                let wanted = match mechanism.conditions[deformation].slot {
                    Slot::Dof(dof) => velocity[dof],
                    Slot::Drive(drive) => T::constant(drives[drive].rate),
                    Slot::Still | Slot::Unknown(_) => T::zero(),
                };
                self.right[row] = wanted - self.along(mechanism, deformation, |node| node.velocity);
            }
            factor.solve(&mut self.right, &mut self.solution);
            for (&(node, component), &correction) in mechanism.unknowns.iter().zip(&self.right) {
                self.nodes[node].velocity[component] += correction;
            }
        }
    }

    /// Rates and biases of all deformations at the nodal velocities.
    pub(super) fn follow(&mut self, mechanism: &Mechanism, references: &[f64]) {
        for (index, element) in mechanism.elements.iter().enumerate() {
            let range = mechanism.first[index]..mechanism.first[index + 1];
            element.follow(&self.nodes, references[index], &mut self.followed[range]);
        }
    }

    /// Nodal accelerations that are given; zero for those that follow from them.
    pub(super) fn given_accelerations(
        &mut self,
        mechanism: &Mechanism,
        of_dof: impl Fn(usize) -> T,
        drives: &[Drive],
    ) {
        for (node, slots) in self.nodes.iter_mut().zip(&mechanism.slots) {
            for component in 0..3 {
                node.acceleration[component] = match slots[component] {
                    Slot::Dof(dof) => of_dof(dof),
                    Slot::Drive(drive) => T::constant(drives[drive].acceleration),
                    Slot::Still | Slot::Unknown(_) => T::zero(),
                };
            }
        }
    }

    /// Nodal accelerations: those given, and the unknown ones that meet the conditions.
    pub(super) fn accelerations(
        &mut self,
        mechanism: &Mechanism,
        factor: &Factor,
        acceleration: &[T],
        drives: &[Drive],
    ) {
        self.given_accelerations(mechanism, |dof| acceleration[dof], drives);
        for _ in 0..self.refinements {
            for (row, &deformation) in mechanism.rows.iter().enumerate() {
                let wanted = match mechanism.conditions[deformation].slot {
                    Slot::Dof(dof) => acceleration[dof],
                    Slot::Drive(drive) => T::constant(drives[drive].acceleration),
                    Slot::Still | Slot::Unknown(_) => T::zero(),
                };
                self.right[row] = wanted
                    - self.followed[deformation].bias
                    - self.along(mechanism, deformation, |node| node.acceleration);
            }
            factor.solve(&mut self.right, &mut self.solution);
            for (&(node, component), &correction) in mechanism.unknowns.iter().zip(&self.right) {
                self.nodes[node].acceleration[component] += correction;
            }
        }
    }

    /// The state for what acts on the mechanism, once velocities and rates of deformation are known.
    pub(super) fn view<'a>(
        &'a self,
        mechanism: &'a Mechanism,
        forces: &'a mut Forces<T>,
    ) -> View<'a, T> {
        View::new(
            mechanism,
            &self.nodes,
            &self.value,
            &self.followed,
            &self.gradient,
            forces,
        )
    }

    /// Inertial forces less weight and `loads` at all nodes.
    pub(super) fn inertial_forces(
        &mut self,
        mechanism: &Mechanism,
        gravity: Vector<f64>,
        loads: &[Vector<T>],
    ) {
        for (force, &load) in self.force.iter_mut().zip(loads) {
            *force = -load;
        }
        for element in &mechanism.elements {
            let ElementKind::Beam(beam) = &element.kind else {
                continue;
            };
            let sites: [usize; 4] = std::array::from_fn(|i| element.nodes[i]);
            let forces = beam.inertial_forces(sites.map(|i| &self.nodes[i]), gravity);
            for (site, force) in sites.into_iter().zip(forces) {
                self.force[site] += force;
            }
        }
        for lump in &mechanism.lumps {
            let force = lump.inertial_force(&self.nodes, gravity);
            self.force[lump.node()] += force;
        }
    }

    /// Stress resultants of elasticity, damping and rotors.
    pub(super) fn elastic_stresses(&mut self, mechanism: &Mechanism) {
        self.stresses(mechanism, |value, rest, rate| {
            value - T::constant(rest) + rate
        });
    }

    /// Stress resultants of damping and rotors alone.
    pub(super) fn inelastic_stresses(&mut self, mechanism: &Mechanism) {
        self.stresses(mechanism, |_, _, rate| rate);
    }

    /// Stress resultants, with the strain made of the value of a deformation, that at which it is slack, and its rate
    /// times the ratio of damping to stiffness.
    #[inline(always)]
    fn stresses(&mut self, mechanism: &Mechanism, of: impl Fn(T, f64, T) -> T) {
        for (index, element) in mechanism.elements.iter().enumerate() {
            let first = mechanism.first[index];
            let mut strain = [T::zero(); MOST_DEFORMATIONS];
            for i in 0..element.count() {
                let rate = self.followed[first + i].rate * element.damping_time;
                strain[i] = of(self.value[first + i], element.rest[i], rate);
            }
            for i in 0..element.count() {
                let mut sum = T::zero();
                for j in 0..element.count() {
                    sum += strain[j] * element.stiffness[i][j];
                }
                self.elastic[first + i] = sum;
            }
        }
        for damping in &mechanism.dampings {
            let count = damping.deformations.len();
            for (row, &deformation) in damping.deformations.iter().enumerate() {
                let rates = damping.deformations.iter();
                for (&other, &factor) in rates.zip(&damping.matrix[row * count..]) {
                    let stress = self.followed[other].rate * factor;
                    self.elastic[deformation] += stress;
                }
            }
        }
        self.add_rotors(mechanism);
    }

    /// Counts efforts on dependent deformations as stresses and no longer as nodal forces.
    pub(super) fn count_as_stresses(&mut self, mechanism: &Mechanism, efforts: &[T]) {
        for (deformation, &effort) in efforts.iter().enumerate() {
            if mechanism.conditions[deformation].row.is_none() {
                let element = &mechanism.elements[mechanism.element_of[deformation]];
                for (site, &node) in element.nodes.iter().enumerate() {
                    self.force[node] += self.gradient[deformation][site].scale(effort);
                }
                self.elastic[deformation] -= effort;
            }
        }
    }

    /// Adds what turns the rotors at the nodal accelerations.
    pub(super) fn add_rotors(&mut self, mechanism: &Mechanism) {
        for (index, element) in mechanism.elements.iter().enumerate() {
            for (local, inertia) in element.rotors() {
                let deformation = mechanism.first[index] + local;
                let acceleration = self.followed[deformation].bias
                    + self.along(mechanism, deformation, |node| node.acceleration);
                self.elastic[deformation] += acceleration * inertia;
            }
        }
    }

    /// Weighs nodal forces and stresses against the conditions and writes what each degree of freedom
    /// lacks, less the `efforts` on it: eq (16) with everything on the left.
    pub(super) fn reduce(
        &mut self,
        mechanism: &Mechanism,
        factor: &Factor,
        efforts: &[T],
        residual: &mut [T],
    ) {
        self.rest.copy_from_slice(&self.force);
        self.stress.fill(T::zero());
        for (deformation, condition) in mechanism.conditions.iter().enumerate() {
            if condition.row.is_none() {
                let stress = self.elastic[deformation];
                self.add_stress(mechanism, deformation, stress);
            }
        }
        for _ in 0..self.refinements {
            for (right, &(node, component)) in self.right.iter_mut().zip(&mechanism.unknowns) {
                *right = -self.rest[node][component];
            }
            factor.solve_transposed(&mut self.right, &mut self.solution);
            for row in 0..mechanism.rows.len() {
                let correction = self.right[row];
                self.stress[row] += correction;
                self.add_stress(mechanism, mechanism.rows[row], correction);
            }
        }
        for (dof, residual) in residual.iter_mut().enumerate() {
            let lack = match mechanism.dofs[dof].place {
                Place::Coordinate(node, component) => self.rest[node][component],
                Place::Deformation(deformation) => {
                    let row = mechanism.conditions[deformation].row.unwrap_or_default();
                    self.elastic[deformation] - self.stress[row]
                }
            };
            *residual = lack - efforts[dof];
        }
    }

    /// Forces of the nodes with those of stresses, which `of` tells for every deformation that pushes its nodes.
    pub(super) fn balance(
        &mut self,
        mechanism: &Mechanism,
        of: impl Fn(&Self, usize) -> Option<T>,
    ) {
        self.rest.copy_from_slice(&self.force);
        for deformation in 0..mechanism.deformation_count() {
            if let Some(stress) = of(self, deformation) {
                self.add_stress(mechanism, deformation, stress);
            }
        }
    }

    /// Adds the nodal forces of a stress resultant to what remains.
    #[inline(always)]
    fn add_stress(&mut self, mechanism: &Mechanism, deformation: usize, stress: T) {
        let element = &mechanism.elements[mechanism.element_of[deformation]];
        for (site, &node) in element.nodes.iter().enumerate() {
            self.rest[node] += self.gradient[deformation][site].scale(stress);
        }
    }

    /// What remains at a node after [`Pass::reduce`]: the reaction of its support or drive.
    pub(super) fn remaining(&self, node: usize) -> Vector<T> {
        self.rest[node]
    }
}
