//! What acts on a mechanism from outside, written once over a scalar: `f64` in evaluations, dual numbers where the
//! equations are linearised.
//!
//! Positions are found in `f64`. The state is then lifted to the scalar, what acts sees it through a [`View`] and pushes
//! there, and the residual is evaluated with these [`Forces`]. Over dual numbers their derivatives come along: a load that
//! turns with a node $`f = R(q)\,f_0`$ has the stiffness $`-D\mathcal F^T\,\partial f/\partial q`$, friction the damping
//! $`-\partial f/\partial\dot q`$.

use lissom_spatial::Vector;
use lissom_spatial::{Real, Scalar};

use super::element::{ElementId, ElementKind, Gradient};
use super::mechanism::{Mechanism, Slot};
use super::node::{Followed, NodeId, NodeState};

/// Forces, moments and efforts on a mechanism, as functions of its state.
pub trait AppliedForces {
    /// Pushes on the mechanism in the state that is seen, loads from outside only in part. What is to be differentiated is
    /// computed in `T`; values of inputs and of feedback are constants.
    fn apply<T: Real>(&self, part: f64, view: &mut View<'_, T>);

    /// Stiffness and elongation of every spring among them: their gradients are part of $`K_0`$.
    fn springs<T: Real>(&self, _view: &mut View<'_, T>, _spring: &mut impl FnMut(f64, T)) {}
}

/// What is read of a mechanism in a state of motion whose accelerations are known.
pub trait Readings {
    /// Appends the readings, always as many.
    fn read<T: Real>(&self, view: &mut View<'_, T>, readings: &mut Vec<T>);
}

/// Forces at points and moments at orientations that keep their directions in space, node by node.
impl AppliedForces for Vec<Vector<f64>> {
    fn apply<T: Real>(&self, part: f64, view: &mut View<'_, T>) {
        for (total, load) in view.forces.loads.iter_mut().zip(self) {
            *total += Vector::constant(load.scale(part).0);
        }
    }
}

/// Sums of what acts on a mechanism in one state.
#[derive(Clone, Debug)]
pub struct Forces<T> {
    /// One effort per degree of freedom.
    pub(super) efforts: Vec<T>,
    /// One force or moment per node, in inertial components.
    pub(super) loads: Vec<Vector<T>>,
    /// Efforts on deformations that follow from others, which `loads` contain as nodal forces.
    pub(super) dependent: Vec<T>,
    /// Efforts on prescribed deformations, which leave less to their drives.
    pub(super) driven: Vec<T>,
}

impl<T: Scalar> Forces<T> {
    /// None yet.
    pub fn new(mechanism: &Mechanism) -> Self {
        Self {
            efforts: vec![T::zero(); mechanism.dof_count()],
            loads: vec![Vector::zero(); mechanism.node_count()],
            dependent: vec![T::zero(); mechanism.deformation_count()],
            driven: vec![T::zero(); mechanism.drive_count()],
        }
    }

    /// Efforts on the degrees of freedom.
    pub fn efforts(&self) -> &[T] {
        &self.efforts
    }

    /// Efforts on prescribed deformations, drive by drive.
    pub fn driven(&self) -> &[T] {
        &self.driven
    }

    /// Forces at points and moments at orientations, node by node.
    pub fn loads(&self) -> &[Vector<T>] {
        &self.loads
    }

    fn clear(&mut self) {
        self.efforts.fill(T::zero());
        self.loads.fill(Vector::zero());
        self.dependent.fill(T::zero());
        self.driven.fill(T::zero());
    }
}

/// A mechanism in a state of motion over a scalar: what forces may depend on, and where they push.
#[derive(Debug)]
pub struct View<'a, T> {
    mechanism: &'a Mechanism,
    nodes: &'a [NodeState<T>],
    value: &'a [T],
    followed: &'a [Followed<T>],
    gradient: &'a [Gradient<T>],
    forces: &'a mut Forces<T>,
    /// Acceleration of free fall, once the nodes have theirs.
    gravity: Option<Vector<f64>>,
}

impl<'a, T: Scalar> View<'a, T> {
    /// Of nodes, and of values, rates and gradients of all deformations; nothing pushes yet.
    pub(super) fn new(
        mechanism: &'a Mechanism,
        nodes: &'a [NodeState<T>],
        value: &'a [T],
        followed: &'a [Followed<T>],
        gradient: &'a [Gradient<T>],
        forces: &'a mut Forces<T>,
    ) -> Self {
        forces.clear();
        Self {
            mechanism,
            nodes,
            value,
            followed,
            gradient,
            forces,
            gravity: None,
        }
    }

    /// The same once accelerations of the nodes are known, where this is free fall.
    #[must_use]
    pub(super) fn accelerated(self, gravity: Vector<f64>) -> Self {
        Self {
            gravity: Some(gravity),
            ..self
        }
    }

    /// Acceleration of a node less that of free fall, of what stands still without one; none where accelerations are not known.
    pub fn specific_force(&self, node: Option<NodeId>) -> Option<Vector<T>> {
        let gravity = Vector::constant(self.gravity?.0);
        let still = Vector::zero();
        Some(node.map_or(still, |node| self.node(node).acceleration) - gravity)
    }

    /// Position, rotation and velocity of a node; its acceleration is not known while forces are applied.
    pub fn node(&self, node: NodeId) -> &NodeState<T> {
        &self.nodes[node.index()]
    }

    /// Value of a deformation parameter.
    pub fn deformation(&self, element: ElementId, index: usize) -> T {
        self.value[self.mechanism.deformation(element, index)]
    }

    /// Rate of a deformation parameter.
    pub fn deformation_rate(&self, element: ElementId, index: usize) -> T {
        self.followed[self.mechanism.deformation(element, index)].rate
    }

    /// Axial strain at a fraction of the length of a beam, at places y and z in its section; none in other elements.
    pub fn strain(&self, element: ElementId, at: f64, offset: [f64; 2]) -> T {
        let first = self.mechanism.first[element.index()];
        let element = &self.mechanism.elements[element.index()];
        let ElementKind::Beam(beam) = &element.kind else {
            return T::zero();
        };
        beam.strain(&self.value[first..][..element.count()], at, offset)
    }

    /// Adds a force at a point or a moment at an orientation, in inertial components.
    pub fn push_node(&mut self, node: NodeId, load: Vector<T>) {
        self.forces.loads[node.index()] += load;
    }

    /// Adds an effort on a degree of freedom.
    pub fn push_dof(&mut self, dof: usize, effort: T) {
        self.forces.efforts[dof] += effort;
    }

    /// Adds an effort on a deformation: on its degree of freedom, or at its nodes along its gradient if it follows from
    /// others. A prescribed deformation moves as it does all the same: its drive does the rest.
    pub fn push_deformation(&mut self, element: ElementId, index: usize, effort: T) {
        let deformation = self.mechanism.deformation(element, index);
        match self.mechanism.conditions[deformation].slot {
            Slot::Dof(dof) => self.push_dof(dof, effort),
            Slot::Drive(drive) => self.forces.driven[drive] += effort,
            Slot::Still | Slot::Unknown(_) => {
                let nodes = &self.mechanism.elements[element.index()].nodes;
                for (&node, slope) in nodes.iter().zip(&self.gradient[deformation]) {
                    self.forces.loads[node] += slope.scale(effort);
                }
                self.forces.dependent[deformation] += effort;
            }
        }
    }
}
