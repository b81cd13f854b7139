//! One element: its nodes, its deformation parameters and their derivatives, its inertia.

use crate::scalar::Scalar;
use crate::spatial::Vector;

use super::beam::Beam;
use super::joints::{Hinge, Slider, Truss};
use super::node::{Followed, NodeState};
use super::role::Role;

/// Names an element of an [`super::Assembly`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ElementId(pub(super) usize);

impl ElementId {
    /// Position in the order in which elements were added.
    pub fn index(self) -> usize {
        self.0
    }
}

/// Largest number of deformation parameters of an element.
pub(super) const MOST_DEFORMATIONS: usize = 6;

/// Derivative of one deformation parameter by the displacement or turn of each of its nodes.
pub(super) type Gradient<T> = [Vector<T>; 4];

#[derive(Clone, Debug)]
pub(super) enum ElementKind {
    /// Nodes: point p, orientation p, point q, orientation q.
    Beam(Beam),
    /// Nodes: orientation p, orientation q.
    Hinge(Hinge),
    /// Nodes: point p, point q.
    Truss(Truss),
    /// Nodes: point p, orientation, point q.
    Slider(Slider),
}

/// An element in a mechanism.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) kind: ElementKind,
    /// Indices of its nodes, as many as the kind has.
    pub(super) nodes: Vec<usize>,
    /// Role of each deformation parameter.
    pub(super) roles: Vec<Role>,
    /// Stress resultants per deformation.
    pub(super) stiffness: [[f64; MOST_DEFORMATIONS]; MOST_DEFORMATIONS],
    /// Ratio of damping to stiffness.
    pub(super) damping_time: f64,
}

impl ElementKind {
    /// Names of the deformation parameters.
    pub(super) fn labels(&self) -> &'static [&'static str] {
        match self {
            Self::Beam(beam) if beam.planar => &["elongation", "bending_p", "bending_q"],
            Self::Beam(_) => &[
                "elongation",
                "torsion",
                "bending_z_p",
                "bending_z_q",
                "bending_y_p",
                "bending_y_q",
            ],
            Self::Hinge(hinge) if hinge.planar => &["rotation"],
            Self::Hinge(_) => &["rotation", "tilt_y", "tilt_z"],
            Self::Truss(_) => &["elongation"],
            Self::Slider(slider) if slider.planar => &["travel", "offset_y"],
            Self::Slider(_) => &["travel", "offset_y", "offset_z"],
        }
    }
}

/// The state of one node of an element.
#[inline(always)]
fn pick<'a, T, const N: usize>(
    nodes: &'a [NodeState<T>],
    sites: &[usize],
) -> [&'a NodeState<T>; N] {
    std::array::from_fn(|i| &nodes[sites[i]])
}

impl Element {
    /// Number of deformation parameters.
    pub(super) fn count(&self) -> usize {
        self.roles.len()
    }

    /// Values and gradients of the deformation parameters; `reference` is a hinge's last angle.
    #[inline(always)]
    pub(super) fn gradient<T: Scalar>(
        &self,
        nodes: &[NodeState<T>],
        reference: f64,
        value: &mut [T],
        gradient: &mut [Gradient<T>],
    ) {
        match &self.kind {
            ElementKind::Beam(beam) => beam.gradient(pick(nodes, &self.nodes), value, gradient),
            ElementKind::Hinge(hinge) => {
                hinge.gradient(pick(nodes, &self.nodes), reference, value, gradient);
            }
            ElementKind::Truss(truss) => truss.gradient(pick(nodes, &self.nodes), value, gradient),
            ElementKind::Slider(slider) => {
                slider.gradient(pick(nodes, &self.nodes), value, gradient);
            }
        }
    }

    /// Values, rates and biases of the deformation parameters.
    #[inline(always)]
    pub(super) fn follow<T: Scalar>(
        &self,
        nodes: &[NodeState<T>],
        reference: f64,
        followed: &mut [Followed<T>],
    ) {
        match &self.kind {
            ElementKind::Beam(beam) => beam.follow(pick(nodes, &self.nodes), followed),
            ElementKind::Hinge(hinge) => {
                hinge.follow(pick(nodes, &self.nodes), reference, followed);
            }
            ElementKind::Truss(truss) => truss.follow(pick(nodes, &self.nodes), followed),
            ElementKind::Slider(slider) => slider.follow(pick(nodes, &self.nodes), followed),
        }
    }
}
