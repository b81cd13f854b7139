//! Equations of motion in the degrees of freedom of a [`Mechanism`]: Jonker & Aarts (8)–(16).

mod accelerate;
mod carry;
mod energy;
mod memory;
mod place;
mod reaction;

use lissom_spatial::{Quaternion, Vector};

use super::element::ElementId;
use super::error::NodalError;
use super::factor::Factor;
use super::forces::{Forces, View};
use super::fronts::{Order, RowGroup};
use super::mechanism::{Mechanism, Place, Slot};
use super::node::{NodeId, NodeState, Placement};
use super::pass::Pass;
use super::role::Drive;
use super::saddle::Saddle;
use carry::Turned;

pub use energy::Energy;

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
    pub(super) evaluated: bool,
    /// Last angle of each hinge, zero for other elements.
    pub(super) references: Vec<f64>,
    saved_references: Vec<f64>,
    /// By how much nodes were turned that were carried.
    turned: Vec<Turned>,
    start_placements: Vec<Placement>,
    start_references: Vec<f64>,
    pub(super) factor: Factor,
    /// Where the entries of the matrix of the conditions are stored: three per node of every condition, in the order of the rows.
    slots: Vec<usize>,
    /// The mass matrix in nodal coordinates, where that is cheaper than the reduced one.
    saddle: Option<Saddle>,
    pub(super) pass: Pass<f64>,
    correction: Vec<f64>,
    solution: Vec<f64>,
    /// Newton's iterations so far, of all placements.
    iterations: usize,
    reached_position: Vec<f64>,
    reached_drives: Vec<f64>,
    start_position: Vec<f64>,
    start_drives: Vec<f64>,
    part_position: Vec<f64>,
    part_drives: Vec<f64>,
    wanted_drives: Vec<f64>,
    /// First-order transfer function: node by node, one vector per degree of freedom.
    pub(super) transfer: Vec<Vector<f64>>,
    pub(super) unit: Vec<f64>,
    pub(super) no_drives: Vec<Drive>,
    pub(super) no_efforts: Vec<f64>,
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
        let mut this = Self::unplaced(mechanism);
        let (position, drives) = (this.reached_position.clone(), mechanism.assembled_drives());
        this.place(&position, &drives)?;
        Ok(this)
    }

    /// The mechanism where it was assembled, which may be a singular configuration: it is to be placed elsewhere, or to
    /// [recall](Self::recall) where it is.
    pub fn unplaced(mechanism: &'a Mechanism) -> Self {
        let dofs = mechanism.dof_count();
        let nodes = mechanism.node_count();
        let placements: Vec<Placement> = mechanism.nodes.iter().map(|n| n.placement).collect();
        let drives = mechanism.assembled_drives();
        let position = mechanism.assembled_position();
        let drive_values: Vec<f64> = drives.iter().map(|drive| drive.value).collect();
        let (factor, slots) = condition_factor(mechanism);
        let saddle = Self::cheaper_saddle(mechanism, factor.fronts().entries);
        Self {
            mechanism,
            saved_placements: placements.clone(),
            start_placements: placements.clone(),
            placements,
            evaluated: false,
            references: mechanism.references.clone(),
            saved_references: mechanism.references.clone(),
            turned: vec![Turned::NOT; nodes],
            start_references: mechanism.references.clone(),
            factor,
            slots,
            saddle,
            pass: Pass::new(mechanism, 1),
            correction: vec![0.0; mechanism.rows.len()],
            solution: vec![0.0; mechanism.rows.len()],
            iterations: 0,
            reached_position: position.clone(),
            reached_drives: drive_values.clone(),
            start_position: position.clone(),
            start_drives: drive_values.clone(),
            part_position: position,
            part_drives: drive_values.clone(),
            wanted_drives: drive_values,
            transfer: Vec::new(),
            unit: vec![0.0; dofs],
            no_drives: vec![Drive::default(); drives.len()],
            no_efforts: vec![0.0; dofs],
            no_loads: vec![Vector([0.0; 3]); nodes],
            mass: Vec::new(),
            gravity: mechanism.gravity,
        }
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &'a Mechanism {
        self.mechanism
    }

    /// Multiplications of the factorizations that one evaluation of accelerations makes, about.
    pub fn operations(&self) -> usize {
        let saddle = self.saddle.as_ref().map_or(0, Saddle::operations);
        self.factor.fronts().operations() + saddle
    }

    /// Newton's iterations that placements have taken so far.
    pub fn iterations(&self) -> usize {
        self.iterations
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
        let count = dofs * self.mechanism.node_count();
        self.transfer.resize(count, Vector([0.0; 3]));
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

    /// First-order transfer function of a deformation parameter, after [`Equations::first_order_transfer`]: its rate by a
    /// degree of freedom.
    pub fn deformation_transfer(&self, element: ElementId, index: usize, dof: usize) -> f64 {
        let dofs = self.mechanism.dof_count();
        let deformation = self.mechanism.deformation(element, index);
        let nodes = &self.mechanism.elements[element.index()].nodes;
        let gradient = nodes.iter().zip(&self.pass.gradient[deformation]);
        gradient.fold(0.0, |sum, (&node, slope)| {
            sum + slope.dot(self.transfer[node * dofs + dof])
        })
    }

    /// First-order transfer function of a node, after [`Equations::first_order_transfer`]: its velocity by a degree of
    /// freedom.
    pub fn node_transfer(&self, node: NodeId, dof: usize) -> Vector<f64> {
        self.transfer[node.0 * self.mechanism.dof_count() + dof]
    }

    /// Generalised force of what acts along a degree of freedom, after [`Equations::first_order_transfer`].
    pub fn generalized_force(&self, forces: &Forces<f64>, dof: usize) -> f64 {
        let dofs = self.mechanism.dof_count();
        let at_nodes = forces.loads.iter().enumerate();
        at_nodes.fold(forces.efforts[dof], |sum, (node, load)| {
            sum + load.dot(self.transfer[node * dofs + dof])
        })
    }

    /// Reduced mass matrix, eq (14), by rows. Leaves nodal velocities and accelerations unset.
    pub fn mass_matrix(&mut self, mass: &mut [f64]) {
        self.first_order_transfer();
        let dofs = self.mechanism.dof_count();
        let nodes = self.mechanism.node_count();
        self.stand_still();
        for dof in 0..dofs {
            for index in 0..nodes {
                self.pass.nodes[index].acceleration = self.transfer[index * dofs + dof];
            }
            // a symmetric matrix: its rows are its columns
            self.inertia_of_nodes(&mut mass[dof * dofs..(dof + 1) * dofs]);
        }
    }

    /// The reduced mass matrix times a motion of the degrees of freedom. Leaves nodal velocities and accelerations unset.
    pub(super) fn times_mass(&mut self, motion: &[f64], momentum: &mut [f64]) {
        (self.pass).velocities(self.mechanism, &self.factor, motion, &self.no_drives);
        for node in &mut self.pass.nodes {
            node.acceleration = node.velocity;
        }
        self.stand_still();
        self.inertia_of_nodes(momentum);
    }

    /// Takes all velocities, and what they accelerate deformations by, away.
    fn stand_still(&mut self) {
        for node in &mut self.pass.nodes {
            node.velocity = Vector([0.0; 3]);
        }
        for followed in &mut self.pass.followed {
            (followed.rate, followed.bias) = (0.0, 0.0);
        }
    }

    /// What the accelerations of the nodes take on the degrees of freedom.
    fn inertia_of_nodes(&mut self, taken: &mut [f64]) {
        let mechanism = self.mechanism;
        self.pass.elastic.fill(0.0);
        self.pass.add_rotors(mechanism);
        (self.pass).inertial_forces(mechanism, Vector([0.0; 3]), &self.no_loads);
        (self.pass).reduce(mechanism, &self.factor, &self.no_efforts, taken);
    }

    /// Nodal forces, and stresses of deformations that are no conditions, weighed against the conditions: what they are
    /// worth to each degree of freedom.
    pub(super) fn project(
        &mut self,
        forces: impl Iterator<Item = Vector<f64>>,
        stresses: impl Iterator<Item = f64>,
        worth: &mut [f64],
    ) {
        for (force, given) in self.pass.force.iter_mut().zip(forces) {
            *force = given;
        }
        let stresses = stresses.zip(&self.mechanism.conditions);
        for (stress, (given, condition)) in self.pass.elastic.iter_mut().zip(stresses) {
            *stress = if condition.row.is_none() { given } else { 0.0 };
        }
        self.pass
            .reduce(self.mechanism, &self.factor, &self.no_efforts, worth);
    }

    /// The state set last for what acts on the mechanism; `forces` are set to zero.
    pub fn view<'v>(&'v self, forces: &'v mut Forces<f64>) -> View<'v, f64> {
        self.pass.view(self.mechanism, forces)
    }

    /// The same where accelerations were set too.
    pub fn accelerated_view<'v>(&'v self, forces: &'v mut Forces<f64>) -> View<'v, f64> {
        self.view(forces).accelerated(self.gravity)
    }

    /// Effort that keeps a prescribed coordinate or deformation as prescribed, after
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

    /// What the velocities of single nodes add to the rate of a deformation parameter, summed without regard to sign: much more than the
    /// rate where nodes move together.
    pub fn gross_rate(&self, element: ElementId, index: usize) -> f64 {
        let gradient = &self.pass.gradient[self.mechanism.deformation(element, index)];
        let nodes = self.mechanism.elements[element.index()].nodes.iter();
        nodes.zip(gradient).fold(0.0, |sum, (&node, slope)| {
            sum + slope.dot(self.pass.nodes[node].velocity).abs()
        })
    }

    /// Second derivative of a deformation parameter at the accelerations set last.
    pub fn deformation_acceleration(&self, element: ElementId, index: usize) -> f64 {
        self.deformation_acceleration_of(self.mechanism.deformation(element, index))
    }

    /// The same of a deformation counted through all elements.
    fn deformation_acceleration_of(&self, deformation: usize) -> f64 {
        let along = |node: &NodeState<f64>| node.acceleration;
        self.pass.followed[deformation].bias + self.pass.along(self.mechanism, deformation, along)
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
            let three = |from: usize| Vector(std::array::from_fn(|i| increment[from + i]));
            let q = || Quaternion(std::array::from_fn(|i| position[first + i]));
            let turned = &mut displaced[first..];
            match self.freedom(entry.place) {
                Freedom::Single => turned[0] = position[first] + increment[dof],
                Freedom::InSpace => {
                    turned[..4].copy_from_slice(&q().rotated_in_parent(three(dof)).0);
                }
                Freedom::OfChild { slides } => {
                    turned[..4].copy_from_slice(&q().rotated(three(dof)).0);
                    if slides {
                        // along the axes half-way through the turn, which keeps second order
                        let axes = q().rotated(three(dof).scale(0.5)).matrix();
                        let slide = axes * three(dof + 3);
                        for i in 0..3 {
                            displaced[first - 3 + i] = position[first - 3 + i] + slide[i];
                        }
                    }
                }
                Freedom::Counted => {}
            }
        }
    }

    /// Rates of the positions at a velocity.
    pub fn position_rate(&self, position: &[f64], velocity: &[f64], rate: &mut [f64]) {
        for (dof, entry) in self.mechanism.dofs.iter().enumerate() {
            let first = entry.position;
            let three = |from: usize| Vector(std::array::from_fn(|i| velocity[from + i]));
            let q = || Quaternion(std::array::from_fn(|i| position[first + i]));
            let turning = &mut rate[first..];
            match self.freedom(entry.place) {
                Freedom::Single => turning[0] = velocity[dof],
                Freedom::InSpace => {
                    turning[..4].copy_from_slice(&q().rate_from_parent(three(dof)).0);
                }
                Freedom::OfChild { slides } => {
                    turning[..4].copy_from_slice(&q().rate(three(dof)).0);
                    if slides {
                        let slide = q().matrix() * three(dof + 3);
                        rate[first - 3..first].copy_from_slice(&slide.0);
                    }
                }
                Freedom::Counted => {}
            }
        }
    }

    /// How positions follow from a degree of freedom.
    fn freedom(&self, place: Place) -> Freedom {
        match (place, self.mechanism.rotation_of(place)) {
            (Place::Coordinate(..), Some(0)) => Freedom::InSpace,
            (Place::Deformation(deformation), Some(0)) => Freedom::OfChild {
                slides: (self.mechanism.ball_of(deformation))
                    .is_some_and(|(ball, ..)| ball.translates),
            },
            (_, Some(_)) => Freedom::Counted,
            (Place::Deformation(deformation), None)
                if self.mechanism.ball_of(deformation).is_some() =>
            {
                Freedom::Counted
            }
            (_, None) => Freedom::Single,
        }
    }
}

/// Storage for the matrix of the conditions by the unknown coordinates: unknowns in groups by nodes, conditions by elements.
fn condition_factor(mechanism: &Mechanism) -> (Factor, Vec<usize>) {
    let mut columns = vec![Vec::new(); mechanism.node_count()];
    for (unknown, &(node, _)) in mechanism.unknowns.iter().enumerate() {
        columns[node].push(unknown);
    }
    let elements = mechanism.elements.iter();
    let mut rows: Vec<RowGroup> = elements
        .map(|element| RowGroup {
            rows: Vec::new(),
            groups: element.nodes.clone(),
        })
        .collect();
    for (row, &deformation) in mechanism.rows.iter().enumerate() {
        rows[mechanism.element_of[deformation]].rows.push(row);
    }
    // nodes follow each other as the elements do that place them
    let factor = Factor::new(&columns, &rows, Order::Given);
    let mut slots = Vec::new();
    for (row, &deformation) in mechanism.rows.iter().enumerate() {
        let nodes = &mechanism.elements[mechanism.element_of[deformation]].nodes;
        slots.extend(
            nodes
                .iter()
                .flat_map(|&node| mechanism.slots[node])
                .map(|slot| match slot {
                    Slot::Unknown(unknown) => factor.fronts().slot(row, unknown),
                    _ => usize::MAX,
                }),
        );
    }
    (factor, slots)
}

/// What the positions of a degree of freedom are.
enum Freedom {
    /// A number.
    Single,
    /// A quaternion, of which it is the first of three rotations about axes of the ground.
    InSpace,
    /// A quaternion, of which it is the first of three rotations about axes of the child, behind the child's offset if it
    /// slides.
    OfChild { slides: bool },
    /// Counted with the first of its quaternion.
    Counted,
}
