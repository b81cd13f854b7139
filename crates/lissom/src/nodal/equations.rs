//! Equations of motion in the degrees of freedom of a [`Mechanism`]: Jonker & Aarts (8)–(16).

use crate::spatial::{Quaternion, Vector};

use super::element::{ElementId, ElementKind};
use super::error::NodalError;
use super::factor::{Factor, SingularColumn, cholesky, cholesky_solve};
use super::mechanism::{Mechanism, Place, Slot};
use super::node::{NodeId, NodeKind, NodeState, Placement};
use super::pass::Pass;
use super::role::Drive;

/// Newton's iterations for one placement.
const MOST_ITERATIONS: usize = 25;
/// Newton's iteration squares its error: after a correction below this, rounding is what is left.
const LAST_CORRECTION: f64 = 1e-8;
/// Largest turn in one iteration, in radians: beyond it the conditions are not nearly linear.
const LARGEST_TURN: f64 = 0.7;
/// Smallest part of the way that continuation tries.
const SMALLEST_PART: f64 = 1.0 / 4096.0;

/// Energy of a mechanism.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Strain energy of all deformations.
    pub strain: f64,
    /// Energy in the field of gravity, zero at the origin.
    pub gravity: f64,
}

impl Energy {
    /// Sum of all parts.
    pub fn total(&self) -> f64 {
        self.kinetic + self.strain + self.gravity
    }
}

/// A mechanism in motion, with all storage its equations need.
///
/// [`Equations::place`] solves the transfer function of order zero, [`Equations::set_velocity`] that of
/// first order; forces, energy and linearisation refer to the place and velocity set last.
#[derive(Clone, Debug)]
pub struct Equations<'a> {
    pub(super) mechanism: &'a Mechanism,
    pub(super) placements: Vec<Placement>,
    saved_placements: Vec<Placement>,
    /// Whether deformations, gradients and factors are those of the placements.
    evaluated: bool,
    /// Last angle of each hinge, zero for other elements.
    pub(super) references: Vec<f64>,
    saved_references: Vec<f64>,
    pub(super) factor: Factor,
    pub(super) pass: Pass<f64>,
    correction: Vec<f64>,
    reached_position: Vec<f64>,
    reached_drives: Vec<f64>,
    start_position: Vec<f64>,
    start_drives: Vec<f64>,
    part_position: Vec<f64>,
    part_drives: Vec<f64>,
    wanted_drives: Vec<f64>,
    /// First-order transfer function: node by node, one vector per degree of freedom.
    pub(super) transfer: Vec<Vector<f64>>,
    unit: Vec<f64>,
    no_drives: Vec<Drive>,
    no_efforts: Vec<f64>,
    no_loads: Vec<Vector<f64>>,
    mass: Vec<f64>,
    pub(super) gravity: Vector<f64>,
}

impl<'a> Equations<'a> {
    /// The mechanism where it was assembled.
    ///
    /// # Errors
    ///
    /// When that is a singular configuration.
    pub fn new(mechanism: &'a Mechanism) -> Result<Self, NodalError> {
        let dofs = mechanism.dof_count();
        let nodes = mechanism.node_count();
        let placements: Vec<Placement> = mechanism.nodes.iter().map(|n| n.placement).collect();
        let drives = mechanism.assembled_drives();
        let position = mechanism.assembled_position();
        let drive_values: Vec<f64> = drives.iter().map(|drive| drive.value).collect();
        let mut this = Self {
            mechanism,
            saved_placements: placements.clone(),
            placements,
            evaluated: false,
            references: mechanism.references.clone(),
            saved_references: mechanism.references.clone(),
            factor: Factor::new(mechanism.rows.len()),
            pass: Pass::new(mechanism, 1),
            correction: vec![0.0; mechanism.rows.len()],
            reached_position: position.clone(),
            reached_drives: drive_values.clone(),
            start_position: position.clone(),
            start_drives: drive_values.clone(),
            part_position: position.clone(),
            part_drives: drive_values.clone(),
            wanted_drives: drive_values,
            transfer: vec![Vector([0.0; 3]); dofs * nodes],
            unit: vec![0.0; dofs],
            no_drives: vec![Drive::default(); drives.len()],
            no_efforts: vec![0.0; dofs],
            no_loads: vec![Vector([0.0; 3]); nodes],
            mass: vec![0.0; dofs * dofs],
            gravity: mechanism.gravity,
        };
        this.place(&position, &drives)?;
        Ok(this)
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &'a Mechanism {
        self.mechanism
    }

    /// Finds the configuration for these positions and drives, eq (8): Newton's iteration from the
    /// configuration before, in parts of the way if it is far.
    ///
    /// # Errors
    ///
    /// At a singular configuration, or when none is found; the configuration is then the last one found.
    pub fn place(&mut self, position: &[f64], drives: &[Drive]) -> Result<(), NodalError> {
        for (wanted, drive) in self.wanted_drives.iter_mut().zip(drives) {
            *wanted = drive.value;
        }
        let wanted = std::mem::take(&mut self.wanted_drives);
        let outcome = self.travel(position, &wanted);
        self.wanted_drives = wanted;
        outcome
    }

    fn travel(&mut self, position: &[f64], drives: &[f64]) -> Result<(), NodalError> {
        self.save();
        if self.iterate(position, drives).is_ok() {
            self.reached_position.copy_from_slice(position);
            self.reached_drives.copy_from_slice(drives);
            return Ok(());
        }
        self.restore();
        self.start_position.copy_from_slice(&self.reached_position);
        self.start_drives.copy_from_slice(&self.reached_drives);
        let (mut done, mut part) = (0.0_f64, 0.5_f64);
        while done < 1.0 {
            let goal = (done + part).min(1.0);
            self.blend(position, drives, goal);
            let (part_position, part_drives) = (
                std::mem::take(&mut self.part_position),
                std::mem::take(&mut self.part_drives),
            );
            let outcome = self.iterate(&part_position, &part_drives);
            if outcome.is_ok() {
                self.reached_position.copy_from_slice(&part_position);
                self.reached_drives.copy_from_slice(&part_drives);
                self.save();
                done = goal;
                part *= 2.0;
            } else {
                self.restore();
                part *= 0.5;
            }
            self.part_position = part_position;
            self.part_drives = part_drives;
            if part < SMALLEST_PART {
                // leave the matrices of the configuration that was reached
                let reached = std::mem::take(&mut self.reached_position);
                let reached_drives = std::mem::take(&mut self.reached_drives);
                let _ = self.iterate(&reached, &reached_drives);
                self.reached_position = reached;
                self.reached_drives = reached_drives;
                return outcome;
            }
        }
        Ok(())
    }

    fn save(&mut self) {
        self.saved_placements.copy_from_slice(&self.placements);
        self.saved_references.copy_from_slice(&self.references);
    }

    fn restore(&mut self) {
        self.placements.copy_from_slice(&self.saved_placements);
        self.evaluated = false;
        self.references.copy_from_slice(&self.saved_references);
    }

    /// Positions and drives at a part of the way.
    fn blend(&mut self, position: &[f64], drives: &[f64], part: f64) {
        for (i, x) in self.part_drives.iter_mut().enumerate() {
            *x = self.start_drives[i] + part * (drives[i] - self.start_drives[i]);
        }
        for (i, x) in self.part_position.iter_mut().enumerate() {
            *x = self.start_position[i] + part * (position[i] - self.start_position[i]);
        }
        for dof in &self.mechanism.dofs {
            let Place::Coordinate(node, 0) = dof.place else {
                continue;
            };
            if self.mechanism.nodes[node].kind != NodeKind::Orientation {
                continue;
            }
            let range = dof.position..dof.position + 4;
            let (from, to) = (
                &self.start_position[range.clone()],
                &position[range.clone()],
            );
            let same: f64 = from.iter().zip(to).map(|(a, b)| a * b).sum();
            // a quaternion and its negative are one attitude: take the shorter way
            let sign = if same < 0.0 { -1.0 } else { 1.0 };
            for (i, x) in self.part_position[range].iter_mut().enumerate() {
                *x = from[i] + part * (sign * to[i] - from[i]);
            }
        }
    }

    /// Places the nodal coordinates that are given.
    fn set_given(&mut self, position: &[f64], drives: &[f64]) {
        for (index, slots) in self.mechanism.slots.iter().enumerate() {
            let kind = self.mechanism.nodes[index].kind;
            for component in 0..3 {
                let value = match slots[component] {
                    Slot::Dof(dof) => {
                        let first = self.mechanism.dofs[dof].position;
                        if kind == NodeKind::Orientation {
                            let q = Quaternion(std::array::from_fn(|i| position[first + i]));
                            let length = q.0.iter().map(|x| x * x).sum::<f64>().sqrt();
                            let attitude = Quaternion(q.0.map(|x| x / length));
                            if self.placements[index].attitude != attitude {
                                self.placements[index].attitude = attitude;
                                self.evaluated = false;
                            }
                            continue;
                        }
                        position[first]
                    }
                    Slot::Drive(drive) => drives[drive],
                    Slot::Still | Slot::Unknown(_) => continue,
                };
                let placement = &mut self.placements[index];
                if kind == NodeKind::PlanarAngle {
                    if placement.angle != value {
                        *placement = Placement::at_angle(value);
                        self.evaluated = false;
                    }
                } else if placement.position[component] != value {
                    placement.position[component] = value;
                    self.evaluated = false;
                }
            }
        }
    }

    fn iterate(&mut self, position: &[f64], drives: &[f64]) -> Result<(), NodalError> {
        self.set_given(position, drives);
        let mut settled = false;
        for _ in 0..MOST_ITERATIONS {
            if !self.evaluated {
                self.evaluate()?;
                self.evaluated = true;
            }
            if settled {
                return self.refuse_folded();
            }
            for (row, &deformation) in self.mechanism.rows.iter().enumerate() {
                let wanted = match self.mechanism.conditions[deformation].slot {
                    Slot::Dof(dof) => position[self.mechanism.dofs[dof].position],
                    Slot::Drive(drive) => drives[drive],
                    Slot::Still | Slot::Unknown(_) => self.mechanism.assembled[deformation],
                };
                self.correction[row] = wanted - self.pass.value[deformation];
            }
            self.factor.solve(&mut self.correction);
            settled = self.correct()?;
        }
        let (mut worst, mut miss) = (0, 0.0);
        for (row, &deformation) in self.mechanism.rows.iter().enumerate() {
            if self.correction[row].abs() > miss {
                (worst, miss) = (deformation, self.correction[row].abs());
            }
        }
        Err(NodalError::Unreachable {
            condition: self.mechanism.place_name(Place::Deformation(worst)),
            miss,
            iterations: MOST_ITERATIONS,
        })
    }

    /// A beam whose chord points against its ends meets its conditions as well as one that does not: such a
    /// configuration is the wrong one of two.
    fn refuse_folded(&self) -> Result<(), NodalError> {
        for element in &self.mechanism.elements {
            if let ElementKind::Beam(beam) = &element.kind
                && beam.is_folded(std::array::from_fn(|i| &self.pass.nodes[element.nodes[i]]))
            {
                return Err(NodalError::Folded {
                    element: element.name.clone(),
                });
            }
        }
        Ok(())
    }

    /// Moves the unknown coordinates by the correction; whether it was the last one needed.
    fn correct(&mut self) -> Result<bool, NodalError> {
        let mut largest = 0.0_f64;
        let mut turn = 0.0_f64;
        for (&(node, _), correction) in self.mechanism.unknowns.iter().zip(&self.correction) {
            if !correction.is_finite() {
                return Err(NodalError::Unreachable {
                    condition: self.mechanism.nodes[node].name.clone(),
                    miss: f64::NAN,
                    iterations: MOST_ITERATIONS,
                });
            }
            largest = largest.max(correction.abs());
            if self.mechanism.nodes[node].kind.turns() {
                turn = turn.max(correction.abs());
            }
        }
        let share = if turn > LARGEST_TURN {
            LARGEST_TURN / turn
        } else {
            1.0
        };
        self.evaluated = false;
        for (index, slots) in self.mechanism.slots.iter().enumerate() {
            let mut increment = Vector([0.0; 3]);
            for component in 0..3 {
                if let Slot::Unknown(unknown) = slots[component] {
                    increment[component] = share * self.correction[unknown];
                }
            }
            if increment.0 != [0.0; 3] {
                self.placements[index].displace(self.mechanism.nodes[index].kind, increment);
            }
        }
        Ok(largest < LAST_CORRECTION)
    }

    /// Deformations and gradients where the nodes stand, and the factors of their matrix.
    fn evaluate(&mut self) -> Result<(), NodalError> {
        let mechanism = self.mechanism;
        for (node, placement) in self.pass.nodes.iter_mut().zip(&self.placements) {
            node.position = placement.position;
            node.rotation = placement.attitude.matrix();
        }
        for (index, element) in mechanism.elements.iter().enumerate() {
            if let ElementKind::Hinge(hinge) = &element.kind {
                let nodes = [element.nodes[0], element.nodes[1]].map(|i| &self.pass.nodes[i]);
                self.references[index] = hinge.angle(nodes, self.references[index]);
            }
        }
        self.pass.shape(mechanism, &self.references);
        self.factor.clear();
        for (row, &deformation) in mechanism.rows.iter().enumerate() {
            let element = &mechanism.elements[mechanism.element_of[deformation]];
            for (site, &node) in element.nodes.iter().enumerate() {
                for component in 0..3 {
                    if let Slot::Unknown(unknown) = mechanism.slots[node][component] {
                        let slope = self.pass.gradient[deformation][site][component];
                        self.factor.add(row, unknown, slope);
                    }
                }
            }
        }
        self.factor
            .factor()
            .map_err(|SingularColumn { column, ratio }| {
                let (node, component) = mechanism.unknowns[column];
                NodalError::SingularConfiguration {
                    coordinate: mechanism.place_name(Place::Coordinate(node, component)),
                    condition: mechanism.place_name(Place::Deformation(mechanism.rows[column])),
                    ratio,
                }
            })
    }

    /// Nodal velocities for these velocities of the degrees of freedom, eq (11), and what the
    /// accelerations need of them.
    pub fn set_velocity(&mut self, velocity: &[f64], drives: &[Drive]) {
        self.pass
            .velocities(self.mechanism, &self.factor, velocity, drives);
        self.pass.follow(self.mechanism, &self.references);
    }

    /// Nodal accelerations for these accelerations of the degrees of freedom, eq (12).
    pub fn set_acceleration(&mut self, acceleration: &[f64], drives: &[Drive]) {
        self.pass
            .accelerations(self.mechanism, &self.factor, acceleration, drives);
    }

    /// What each degree of freedom lacks at the accelerations set last: eq (16), left side less
    /// `efforts`. `loads` are forces at points and moments at orientations, node by node.
    pub fn residual(&mut self, efforts: &[f64], loads: &[Vector<f64>], residual: &mut [f64]) {
        let mechanism = self.mechanism;
        self.pass.inertial_forces(mechanism, self.gravity, loads);
        self.pass.elastic_stresses(mechanism);
        self.pass.reduce(mechanism, &self.factor, efforts, residual);
    }

    /// First-order transfer function: `mechanism().node_count()` blocks of one vector per degree of
    /// freedom. Leaves the nodal velocities unset.
    pub fn first_order_transfer(&mut self) -> &[Vector<f64>] {
        let dofs = self.mechanism.dof_count();
        for dof in 0..dofs {
            self.unit[dof] = 1.0;
            self.pass
                .velocities(self.mechanism, &self.factor, &self.unit, &self.no_drives);
            self.unit[dof] = 0.0;
            for (index, node) in self.pass.nodes.iter().enumerate() {
                self.transfer[index * dofs + dof] = node.velocity;
            }
        }
        &self.transfer
    }

    /// Reduced mass matrix, eq (14), by rows. Leaves nodal velocities and accelerations unset.
    pub fn mass_matrix(&mut self, mass: &mut [f64]) {
        self.first_order_transfer();
        let dofs = self.mechanism.dof_count();
        let nodes = self.mechanism.node_count();
        for node in &mut self.pass.nodes {
            node.velocity = Vector([0.0; 3]);
        }
        for followed in &mut self.pass.followed {
            (followed.rate, followed.bias) = (0.0, 0.0);
        }
        for dof in 0..dofs {
            for index in 0..nodes {
                self.pass.nodes[index].acceleration = self.transfer[index * dofs + dof];
            }
            self.pass.elastic.fill(0.0);
            self.pass.add_rotors(self.mechanism);
            self.pass
                .inertial_forces(self.mechanism, Vector([0.0; 3]), &self.no_loads);
            // a symmetric matrix: its rows are its columns
            self.pass.reduce(
                self.mechanism,
                &self.factor,
                &self.no_efforts,
                &mut mass[dof * dofs..(dof + 1) * dofs],
            );
        }
    }

    /// Accelerations of the degrees of freedom at a velocity, under `efforts` and `loads`.
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
        let mut mass = std::mem::take(&mut self.mass);
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

    /// Nodal forces weighed against the conditions: what they are worth to each degree of freedom.
    pub(super) fn project(&mut self, forces: impl Iterator<Item = Vector<f64>>, worth: &mut [f64]) {
        for (force, given) in self.pass.force.iter_mut().zip(forces) {
            *force = given;
        }
        self.pass.elastic.fill(0.0);
        self.pass
            .reduce(self.mechanism, &self.factor, &self.no_efforts, worth);
    }

    /// Energy at the place and velocity set last.
    pub fn energy(&self) -> Energy {
        let mut energy = Energy::default();
        let gravity = self.gravity;
        for (index, element) in self.mechanism.elements.iter().enumerate() {
            let first = self.mechanism.first[index];
            let strain = |i: usize| self.pass.value[first + i] - element.rest[i];
            for i in 0..element.count() {
                for j in 0..element.count() {
                    energy.strain += 0.5 * element.stiffness[i][j] * strain(i) * strain(j);
                }
            }
            let rate = self.pass.followed[first].rate;
            energy.kinetic += 0.5 * element.rotor * rate * rate;
            if let ElementKind::Beam(beam) = &element.kind {
                let nodes = std::array::from_fn(|i| &self.pass.nodes[element.nodes[i]]);
                let (kinetic, potential) = beam.energy(nodes, gravity);
                energy.kinetic += kinetic;
                energy.gravity += potential;
            }
        }
        for lump in &self.mechanism.lumps {
            let (kinetic, potential) = lump.energy(&self.pass.nodes, gravity);
            energy.kinetic += kinetic;
            energy.gravity += potential;
        }
        energy
    }

    /// Power that dampers of the material take at the place and velocity set last.
    pub fn dissipation(&self) -> f64 {
        let mut power = 0.0;
        for (index, element) in self.mechanism.elements.iter().enumerate() {
            let first = self.mechanism.first[index];
            let rate = |i: usize| self.pass.followed[first + i].rate;
            for i in 0..element.count() {
                for j in 0..element.count() {
                    power += element.damping_time * element.stiffness[i][j] * rate(i) * rate(j);
                }
            }
        }
        for damping in &self.mechanism.dampings {
            let rate = |i: usize| self.pass.followed[damping.deformations[i]].rate;
            let count = damping.deformations.len();
            for (at, stress_per_rate) in damping.matrix.iter().enumerate() {
                power += stress_per_rate * rate(at / count) * rate(at % count);
            }
        }
        power
    }

    /// Adds the forces and moments at nodes that an effort on a deformation is, to what they have.
    pub fn exert(&self, element: ElementId, index: usize, effort: f64, loads: &mut [Vector<f64>]) {
        let gradient = &self.pass.gradient[self.mechanism.deformation(element, index)];
        let nodes = &self.mechanism.elements[element.index()].nodes;
        for (&node, slope) in nodes.iter().zip(gradient) {
            loads[node] += slope.scale(effort);
        }
    }

    /// Linear and angular momentum about the origin at the place and velocity set last, rotors left out.
    pub fn momentum(&self) -> [Vector<f64>; 2] {
        let mut sum = [Vector([0.0; 3]); 2];
        let mut add = |[linear, angular]: [Vector<f64>; 2]| {
            sum[0] += linear;
            sum[1] += angular;
        };
        for element in &self.mechanism.elements {
            if let ElementKind::Beam(beam) = &element.kind {
                add(beam.momentum(std::array::from_fn(|i| &self.pass.nodes[element.nodes[i]])));
            }
        }
        for lump in &self.mechanism.lumps {
            add(lump.momentum(&self.pass.nodes));
        }
        sum
    }

    /// Effort that keeps a prescribed coordinate or deformation on its course, after
    /// [`Equations::residual`].
    pub fn drive_effort(&self, drive: usize) -> f64 {
        match self.mechanism.drives[drive] {
            Place::Coordinate(node, component) => self.pass.remaining(node)[component],
            Place::Deformation(deformation) => {
                let row = self.mechanism.conditions[deformation].row;
                self.pass.elastic[deformation] - row.map_or(0.0, |row| self.pass.stress[row])
            }
        }
    }

    /// Rate of a deformation parameter.
    pub fn deformation_rate(&self, element: ElementId, index: usize) -> f64 {
        self.pass.followed[self.mechanism.deformation(element, index)].rate
    }

    /// Where a node is and how it moves.
    pub fn node(&self, node: NodeId) -> &NodeState<f64> {
        &self.pass.nodes[node.0]
    }

    /// Angle of a planar orientation, counted through full turns.
    pub fn angle(&self, node: NodeId) -> f64 {
        self.placements[node.0].angle
    }

    /// Value of a deformation parameter.
    pub fn deformation(&self, element: ElementId, index: usize) -> f64 {
        self.pass.value[self.mechanism.deformation(element, index)]
    }

    /// Values of all deformation parameters, element by element.
    pub fn deformations(&self) -> &[f64] {
        &self.pass.value
    }

    /// Stress resultant of a deformation parameter after [`Equations::residual`]: what holds a fixed
    /// or prescribed deformation, what an elastic one carries.
    pub fn stress(&self, element: ElementId, index: usize) -> f64 {
        let deformation = self.mechanism.deformation(element, index);
        match self.mechanism.conditions[deformation].row {
            Some(row) => self.pass.stress[row],
            None => self.pass.elastic[deformation],
        }
    }

    /// Force or moment that supports and drives exert on a node after [`Equations::residual`].
    pub fn reaction(&self, node: NodeId) -> Vector<f64> {
        self.pass.remaining(node.0)
    }

    /// Where a constant velocity `increment` leads from `position` in unit time.
    pub fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        for (dof, entry) in self.mechanism.dofs.iter().enumerate() {
            let first = entry.position;
            match self.orientation_dof(entry.place) {
                None => displaced[first] = position[first] + increment[dof],
                Some(0) => {
                    let q = Quaternion(std::array::from_fn(|i| position[first + i]));
                    let turn = Vector(std::array::from_fn(|i| increment[dof + i]));
                    displaced[first..first + 4].copy_from_slice(&q.turned_in_parent(turn).0);
                }
                Some(_) => {}
            }
        }
    }

    /// Rates of the positions at a velocity.
    pub fn position_rate(&self, position: &[f64], velocity: &[f64], rate: &mut [f64]) {
        for (dof, entry) in self.mechanism.dofs.iter().enumerate() {
            let first = entry.position;
            match self.orientation_dof(entry.place) {
                None => rate[first] = velocity[dof],
                Some(0) => {
                    let q = Quaternion(std::array::from_fn(|i| position[first + i]));
                    let angular = Vector(std::array::from_fn(|i| velocity[dof + i]));
                    rate[first..first + 4].copy_from_slice(&q.rate_from_parent(angular).0);
                }
                Some(_) => {}
            }
        }
    }

    /// Component of an orientation that a degree of freedom is.
    fn orientation_dof(&self, place: Place) -> Option<usize> {
        match place {
            Place::Coordinate(node, component)
                if self.mechanism.nodes[node].kind == NodeKind::Orientation =>
            {
                Some(component)
            }
            _ => None,
        }
    }
}
