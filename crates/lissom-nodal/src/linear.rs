//! Equations of motion linearised about any state: Jonker & Aarts (20)–(22).
//!
//! The residual $`r = D\mathcal F^T(q)\,[M\ddot x - f](q, \dot q, \ddot q) + \ldots`$ is evaluated over dual
//! numbers, what acts from outside included, so that its derivatives are exact; the printed (22) is not used, since it
//! lacks terms. Its derivative by $`q`$ is split by material points $`r`$, which makes the parts independent of how
//! orientations are described:
//!
//! ```math
//! G_0 = \sum \frac{\partial^2 r}{\partial q^2}\cdot(\ddot r\,dm - df), \qquad
//! N_0 = \sum \frac{\partial r}{\partial q}\cdot\frac{\partial(\ddot r\,dm - df)}{\partial q} .
//! ```
//!
//! The rotary inertia of sections, which no points stand for, is split by nodes. $`G_0`$ is symmetric. Deformations that
//! follow from the degrees of freedom count like points: their stresses and the efforts on them, held, are part of
//! $`G_0`$; what damping, rotors and friction change of them is part of $`N_0`$. A load that turns with a node changes:
//! that is part of $`N_0`$. A moment that keeps its direction in space is not conservative: its skew part belongs to
//! $`N_0`$.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use lissom_numerics::linear::{GoOn, LinearError, Linearization, SensorRows, unwatched};
use lissom_spatial::Dual;
use lissom_spatial::{Matrix, Vector};

use super::element::{ElementId, ElementKind};
use super::equations::Equations;
use super::error::NodalError;
use super::forces::{AppliedForces, Forces, Readings};
use super::mechanism::Mechanism;
use super::pass::Pass;
use super::role::Drive;

/// Directions differentiated at once.
pub(super) const DIRECTIONS: usize = 4;

pub(super) type Tangent = Dual<f64, DIRECTIONS>;

/// A state of motion to linearise about.
#[derive(Debug)]
pub struct State<'a, F> {
    /// Positions of the degrees of freedom.
    pub position: &'a [f64],
    /// Velocities of the degrees of freedom.
    pub velocity: &'a [f64],
    /// Accelerations of the degrees of freedom.
    pub acceleration: &'a [f64],
    /// What is prescribed.
    pub drives: &'a [Drive],
    /// What acts: differentiated with everything else.
    pub loads: &'a F,
}

impl Equations<'_> {
    /// Linearises the equations of motion about a state. `go_on` is asked again and again.
    ///
    /// # Errors
    ///
    /// When there is no such configuration, or it is stopped.
    pub fn linearize<F: AppliedForces>(
        &mut self,
        state: &State<'_, F>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Linearization, NodalError> {
        let dofs = self.mechanism.dof_count();
        self.place(state.position, state.drives)?;
        let mut rows = vec![0.0; dofs * dofs];
        self.mass_matrix(&mut rows);
        let mass = DMatrix::from_row_slice(dofs, dofs, &rows);
        let mut parts = Parts::new(dofs);
        self.differentiate_by_position(state, Some(&mut parts), go_on)?;
        let springs = parts.spring_stiffness();
        let structural = self.structural_stiffness(go_on)? + &springs;
        let damping = self.differentiate_by_velocity(state, go_on)?;
        let actuated = self.mechanism.actuated_dofs();
        let mut input = DMatrix::zeros(dofs, actuated.len());
        for (column, &dof) in actuated.iter().enumerate() {
            input[(dof, column)] = 1.0;
        }
        let levers = self.lever_stiffness(state);
        let material = &parts.geometric + &levers;
        let geometric = (&material + material.transpose()) * 0.5;
        let dynamic = parts.dynamic - levers - springs + (material - &geometric);
        Ok(Linearization {
            mass,
            damping,
            structural,
            dynamic,
            geometric,
            input,
            loops: None,
        })
    }

    /// Derivative of the whole residual by the positions, about a state.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn tangent_stiffness<F: AppliedForces>(
        &mut self,
        state: &State<'_, F>,
    ) -> Result<DMatrix<f64>, NodalError> {
        self.place(state.position, state.drives)?;
        self.first_order_transfer();
        Ok(self.differentiate_by_position(state, None, &mut unwatched)?)
    }

    /// Derivatives of the whole residual about a state: by displacements of the positions, by velocities.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn force_derivatives<F: AppliedForces>(
        &mut self,
        state: &State<'_, F>,
    ) -> Result<[DMatrix<f64>; 2], NodalError> {
        let by_position = self.tangent_stiffness(state)?;
        let by_velocity = self.differentiate_by_velocity(state, &mut unwatched)?;
        Ok([by_position, by_velocity])
    }

    /// Strain energy's second derivative with gradients held: $`K_0`$. Uses the transfer function.
    fn structural_stiffness(&self, go_on: &mut GoOn<'_>) -> Result<DMatrix<f64>, LinearError> {
        let mechanism = self.mechanism;
        let dofs = mechanism.dof_count();
        let mut stiffness = DMatrix::zeros(dofs, dofs);
        for (index, element) in mechanism.elements.iter().enumerate() {
            go_on()?;
            let count = element.count();
            let mut slope = DMatrix::<f64>::zeros(count, dofs);
            for local in 0..count {
                let gradient = &self.pass.gradient[mechanism.first[index] + local];
                for (site, &node) in element.nodes.iter().enumerate() {
                    for dof in 0..dofs {
                        slope[(local, dof)] += gradient[site].dot(self.transfer[node * dofs + dof]);
                    }
                }
            }
            let material = DMatrix::from_fn(count, count, |i, j| element.stiffness[i][j]);
            stiffness += slope.transpose() * material * slope;
        }
        Ok(stiffness)
    }

    /// Whole derivative by positions, and its parts if wanted. Uses the transfer function.
    fn differentiate_by_position<F: AppliedForces>(
        &mut self,
        state: &State<'_, F>,
        mut parts: Option<&mut Parts>,
        go_on: &mut GoOn<'_>,
    ) -> Result<DMatrix<f64>, LinearError> {
        let dofs = self.mechanism.dof_count();
        let mut whole = DMatrix::zeros(dofs, dofs);
        let mut lifted = Lifted::new(self.mechanism, state);
        for first in (0..dofs).step_by(DIRECTIONS) {
            go_on()?;
            let directions = DIRECTIONS.min(dofs - first);
            self.lift_nodes(directions, self.along_dofs(first), &mut lifted.pass);
            lifted.evaluate(self, state);
            for direction in 0..directions {
                for dof in 0..dofs {
                    whole[(dof, first + direction)] = lifted.residual[dof].tangent[direction];
                }
            }
            if let Some(parts) = parts.as_deref_mut() {
                self.split(first, directions, &mut lifted, parts);
                lifted.stretch_springs(self.mechanism, state, first..first + directions, parts);
            }
        }
        Ok(whole)
    }

    /// How nodes move along degrees of freedom from one on. Uses the transfer function.
    fn along_dofs(&self, first: usize) -> impl Fn(usize, usize) -> Vector<f64> {
        let dofs = self.mechanism.dof_count();
        move |node, direction| self.transfer[node * dofs + first + direction]
    }

    /// Nodes that move in a few directions, with their deformations.
    pub(super) fn lift_nodes(
        &self,
        directions: usize,
        along: impl Fn(usize, usize) -> Vector<f64>,
        pass: &mut Pass<Tangent>,
    ) {
        for (index, node) in pass.nodes.iter_mut().enumerate() {
            let base = &self.pass.nodes[index];
            node.position = Vector(base.position.0.map(constant));
            node.rotation = Matrix::constant(base.rotation.0);
            for direction in 0..directions {
                let along = along(index, direction);
                let turn = Matrix::skew(along) * base.rotation;
                for i in 0..3 {
                    node.position[i].tangent[direction] = along[i];
                    for j in 0..3 {
                        node.rotation.0[i][j].tangent[direction] = turn.0[i][j];
                    }
                }
            }
        }
        pass.shape(self.mechanism, &self.references);
    }

    /// Columns of the parts of the stiffness, after the residual was evaluated.
    fn split(&mut self, first: usize, directions: usize, lifted: &mut Lifted, parts: &mut Parts) {
        let (mechanism, dofs) = (self.mechanism, self.mechanism.dof_count());
        let Lifted {
            pass,
            forces,
            residual,
            ..
        } = lifted;
        pass.count_as_stresses(mechanism, &forces.dependent);
        let held: Vec<Tangent> = (pass.elastic.iter())
            .map(|stress| constant(stress.value))
            .collect();
        pass.inelastic_stresses(mechanism);
        let mut worth = vec![0.0; dofs];
        for direction in 0..directions {
            let nodal =
                (pass.force.iter()).map(|force| Vector(force.0.map(|x| x.tangent[direction])));
            let stresses = (pass.elastic.iter().zip(&forces.dependent))
                .map(|(&stress, &effort)| (stress - effort).tangent[direction]);
            self.project(nodal, stresses, &mut worth);
            for (dof, worth) in worth.iter().enumerate() {
                let effort = forces.efforts[dof].tangent[direction];
                parts.dynamic[(dof, first + direction)] = worth - effort;
            }
        }
        // forces, stresses and efforts held while the mechanism moves
        for force in &mut pass.force {
            *force = Vector(force.0.map(|x| constant(x.value)));
        }
        pass.elastic.copy_from_slice(&held);
        forces.efforts.fill(constant(0.0));
        pass.reduce(mechanism, &self.factor, &forces.efforts, residual);
        for direction in 0..directions {
            for dof in 0..dofs {
                parts.geometric[(dof, first + direction)] = residual[dof].tangent[direction];
            }
        }
    }

    /// Part of the derivative that comes from turning the arms of inertial forces at orientations.
    fn lever_stiffness<F>(&mut self, state: &State<'_, F>) -> DMatrix<f64> {
        let mechanism = self.mechanism;
        let dofs = mechanism.dof_count();
        self.set_velocity(state.velocity, state.drives);
        self.set_acceleration(state.acceleration, state.drives);
        let mut levers = vec![Matrix::zero(); mechanism.node_count()];
        for element in &mechanism.elements {
            if let ElementKind::Beam(beam) = &element.kind {
                let nodes = std::array::from_fn(|i| &self.pass.nodes[element.nodes[i]]);
                let [p, q] = beam.lever_stiffness(nodes, self.gravity);
                levers[element.nodes[1]] += p;
                levers[element.nodes[3]] += q;
            }
        }
        for lump in &mechanism.lumps {
            levers[lump.node()] += lump.lever_stiffness(&self.pass.nodes);
        }
        let mut stiffness = DMatrix::zeros(dofs, dofs);
        for (index, lever) in levers.iter().enumerate() {
            if lever.0 == [[0.0; 3]; 3] {
                continue;
            }
            let transfer = &self.transfer[index * dofs..(index + 1) * dofs];
            for j in 0..dofs {
                let moment = *lever * transfer[j];
                for i in 0..dofs {
                    stiffness[(i, j)] += transfer[i].dot(moment);
                }
            }
        }
        stiffness
    }

    fn differentiate_by_velocity<F: AppliedForces>(
        &mut self,
        state: &State<'_, F>,
        go_on: &mut GoOn<'_>,
    ) -> Result<DMatrix<f64>, LinearError> {
        let dofs = self.mechanism.dof_count();
        let mut derivative = DMatrix::zeros(dofs, dofs);
        let mut lifted = Lifted::new(self.mechanism, state);
        self.lift_nodes(0, |_, _| Vector([0.0; 3]), &mut lifted.pass);
        for first in (0..dofs).step_by(DIRECTIONS) {
            go_on()?;
            let directions = DIRECTIONS.min(dofs - first);
            for direction in 0..directions {
                lifted.velocity[first + direction].tangent[direction] = 1.0;
            }
            lifted.evaluate(self, state);
            for direction in 0..directions {
                lifted.velocity[first + direction].tangent[direction] = 0.0;
                for dof in 0..dofs {
                    derivative[(dof, first + direction)] = lifted.residual[dof].tangent[direction];
                }
            }
        }
        Ok(derivative)
    }

    /// What is read at a state, with its derivatives.
    ///
    /// # Errors
    ///
    /// When there is no such configuration, or it is stopped.
    pub fn differentiate_readings<F>(
        &mut self,
        state: &State<'_, F>,
        of: &impl Readings,
        go_on: &mut GoOn<'_>,
    ) -> Result<SensorRows, NodalError> {
        let (mechanism, dofs) = (self.mechanism, self.mechanism.dof_count());
        self.place(state.position, state.drives)?;
        self.set_velocity(state.velocity, state.drives);
        self.set_acceleration(state.acceleration, state.drives);
        let mut readings = Vec::new();
        let mut unused = Forces::new(mechanism);
        of.read(&mut self.accelerated_view(&mut unused), &mut readings);
        let mut rows = SensorRows::constant(readings, dofs);
        if rows.reading.is_empty() {
            return Ok(rows);
        }
        self.first_order_transfer();
        let mut lifted = Lifted::new(mechanism, state);
        for first in (0..dofs).step_by(DIRECTIONS) {
            go_on()?;
            let columns = first..dofs.min(first + DIRECTIONS);
            let along = self.along_dofs(first);
            self.lift_nodes(columns.len(), along, &mut lifted.pass);
            let found = lifted.read(self, state.drives, of);
            SensorRows::put_columns(&mut rows.position, columns, &found);
        }
        self.lift_nodes(0, |_, _| Vector([0.0; 3]), &mut lifted.pass);
        for first in (0..dofs).step_by(DIRECTIONS) {
            go_on()?;
            let columns = first..dofs.min(first + DIRECTIONS);
            for (slot, dof) in columns.clone().enumerate() {
                lifted.velocity[dof].tangent[slot] = 1.0;
            }
            let found = lifted.read(self, state.drives, of);
            SensorRows::put_columns(&mut rows.rate, columns.clone(), &found);
            for (slot, dof) in columns.clone().enumerate() {
                lifted.velocity[dof].tangent[slot] = 0.0;
                lifted.acceleration[dof].tangent[slot] = 1.0;
            }
            let found = lifted.read(self, state.drives, of);
            SensorRows::put_columns(&mut rows.acceleration, columns.clone(), &found);
            for (slot, dof) in columns.enumerate() {
                lifted.acceleration[dof].tangent[slot] = 0.0;
            }
        }
        Ok(rows)
    }

    /// How deformations that follow from the degrees of freedom deviate about a state: derivatives of their values and of their
    /// rates by the positions, one row each.
    ///
    /// # Errors
    ///
    /// When there is no such configuration, or it is stopped.
    pub fn dependence<F>(
        &mut self,
        state: &State<'_, F>,
        deformations: &[(ElementId, usize)],
        go_on: &mut GoOn<'_>,
    ) -> Result<[DMatrix<f64>; 2], NodalError> {
        let dofs = self.mechanism.dof_count();
        self.place(state.position, state.drives)?;
        self.first_order_transfer();
        let mut slopes = [(); 2].map(|()| DMatrix::zeros(deformations.len(), dofs));
        let mut lifted = Lifted::new(self.mechanism, state);
        for first in (0..dofs).step_by(DIRECTIONS) {
            go_on()?;
            let directions = DIRECTIONS.min(dofs - first);
            self.lift_nodes(directions, self.along_dofs(first), &mut lifted.pass);
            lifted.follow(self, state.drives);
            for (row, &(element, index)) in deformations.iter().enumerate() {
                let found = lifted.deformation(self.mechanism.deformation(element, index));
                for (slopes, number) in slopes.iter_mut().zip(found) {
                    for direction in 0..directions {
                        slopes[(row, first + direction)] = number.tangent[direction];
                    }
                }
            }
        }
        Ok(slopes)
    }

    /// Values and rates of deformations at a state, and how they deviate to first order where positions and velocities deviate.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn deviated_deformations<F>(
        &mut self,
        state: &State<'_, F>,
        [deviation, rate]: [&[f64]; 2],
        deformations: &[(ElementId, usize)],
    ) -> Result<Vec<[f64; 2]>, NodalError> {
        self.place(state.position, state.drives)?;
        let (mechanism, factor) = (self.mechanism, &self.factor);
        (self.pass).velocities(mechanism, factor, deviation, &self.no_drives);
        let mut lifted = Lifted::new(mechanism, state);
        for (velocity, &rate) in lifted.velocity.iter_mut().zip(rate) {
            velocity.tangent[0] = rate;
        }
        let along = |node: usize, _: usize| self.pass.nodes[node].velocity;
        self.lift_nodes(1, along, &mut lifted.pass);
        lifted.follow(self, state.drives);
        let moved = |&(element, index): &(ElementId, usize)| {
            let found = lifted.deformation(mechanism.deformation(element, index));
            found.map(|number| number.value + number.tangent[0])
        };
        Ok(deformations.iter().map(moved).collect())
    }

    /// Second-order transfer function along two directions of the degrees of freedom,
    /// $`(D^2\mathcal F\cdot a)\cdot b`$: one vector per node. Leaves velocities and accelerations unset.
    pub fn second_order_transfer(&mut self, a: &[f64], b: &[f64], second: &mut [Vector<f64>]) {
        let dofs = self.mechanism.dof_count();
        let zeros = vec![0.0; dofs];
        let still = vec![Drive::default(); self.mechanism.drive_count()];
        second.fill(Vector([0.0; 3]));
        // a bilinear form from its squares: 4ab = (a + b)² − (a − b)²
        for sign in [1.0, -1.0] {
            let along: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + sign * b).collect();
            self.set_velocity(&along, &still);
            self.set_acceleration(&zeros, &still);
            for (sum, node) in second.iter_mut().zip(&self.pass.nodes) {
                *sum += node.acceleration.scale(0.25 * sign);
            }
        }
    }
}

/// A state over dual numbers, with what its evaluation needs and leaves.
pub(super) struct Lifted {
    pub(super) pass: Pass<Tangent>,
    forces: Forces<Tangent>,
    pub(super) velocity: Vec<Tangent>,
    acceleration: Vec<Tangent>,
    pub(super) residual: Vec<Tangent>,
}

impl Lifted {
    /// Velocities and accelerations of a state; its nodes are not lifted yet.
    pub(super) fn new<F>(mechanism: &Mechanism, state: &State<'_, F>) -> Self {
        let lift = |x: &[f64]| x.iter().map(|&x| constant(x)).collect();
        Self {
            pass: Pass::new(mechanism, 2),
            forces: Forces::new(mechanism),
            velocity: lift(state.velocity),
            acceleration: lift(state.acceleration),
            residual: vec![constant(0.0); mechanism.dof_count()],
        }
    }

    /// Moves the nodes, and the deformations with them.
    fn follow(&mut self, equations: &Equations<'_>, drives: &[Drive]) {
        let (mechanism, factor) = (equations.mechanism, &equations.factor);
        (self.pass).velocities(mechanism, factor, &self.velocity, drives);
        self.pass.follow(mechanism, &equations.references);
    }

    /// Moves the nodes and reads what there is to be read.
    fn read(
        &mut self,
        equations: &Equations<'_>,
        drives: &[Drive],
        of: &impl Readings,
    ) -> Vec<Tangent> {
        self.follow(equations, drives);
        let (mechanism, factor) = (equations.mechanism, &equations.factor);
        (self.pass).accelerations(mechanism, factor, &self.acceleration, drives);
        let mut readings = Vec::new();
        let view = self.pass.view(mechanism, &mut self.forces);
        of.read(&mut view.accelerated(equations.gravity), &mut readings);
        readings
    }

    /// Value and rate of a deformation, by its place among all.
    fn deformation(&self, deformation: usize) -> [Tangent; 2] {
        let pass = &self.pass;
        [pass.value[deformation], pass.followed[deformation].rate]
    }

    /// Moves the nodes, applies what acts on them there, and evaluates the residual.
    pub(super) fn evaluate<F: AppliedForces>(
        &mut self,
        equations: &Equations<'_>,
        state: &State<'_, F>,
    ) {
        self.follow(equations, state.drives);
        let (mechanism, factor) = (equations.mechanism, &equations.factor);
        let (pass, forces) = (&mut self.pass, &mut self.forces);
        state.loads.apply(1.0, &mut pass.view(mechanism, forces));
        pass.accelerations(mechanism, factor, &self.acceleration, state.drives);
        pass.inertial_forces(mechanism, equations.gravity, &forces.loads);
        pass.elastic_stresses(mechanism);
        pass.reduce(mechanism, factor, &forces.efforts, &mut self.residual);
    }

    /// Slopes of the elongation of springs along a few degrees of freedom.
    fn stretch_springs<F: AppliedForces>(
        &mut self,
        mechanism: &Mechanism,
        state: &State<'_, F>,
        dofs: Range<usize>,
        parts: &mut Parts,
    ) {
        let (springs, count) = (&mut parts.springs, parts.dynamic.nrows());
        let mut index = 0;
        let mut view = self.pass.view(mechanism, &mut self.forces);
        state
            .loads
            .springs(&mut view, &mut |stiffness, stretch: Tangent| {
                if springs.len() == index {
                    springs.push((stiffness, DVector::zeros(count)));
                }
                for (dof, slope) in dofs.clone().zip(stretch.tangent) {
                    springs[index].1[dof] = slope;
                }
                index += 1;
            });
    }
}

/// Parts of the derivative by positions.
struct Parts {
    dynamic: DMatrix<f64>,
    geometric: DMatrix<f64>,
    /// Stiffness of every spring that acts, and the slopes of its elongation by the degrees of freedom.
    springs: Vec<(f64, DVector<f64>)>,
}

impl Parts {
    fn new(dofs: usize) -> Self {
        Self {
            dynamic: DMatrix::zeros(dofs, dofs),
            geometric: DMatrix::zeros(dofs, dofs),
            springs: Vec::new(),
        }
    }

    /// Their part of $`K_0`$.
    fn spring_stiffness(&self) -> DMatrix<f64> {
        let mut sum = DMatrix::zeros(self.dynamic.nrows(), self.dynamic.nrows());
        for (stiffness, slope) in &self.springs {
            sum.ger(*stiffness, slope, slope, 1.0);
        }
        sum
    }
}

fn constant(x: f64) -> Tangent {
    Tangent {
        value: x,
        tangent: [0.0; DIRECTIONS],
    }
}
