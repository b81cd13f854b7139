//! [`JointRotor`]: rotors of motors on all components of a joint between two ends.
//!
//! They turn with the components of the relative angular velocity $`u = R_c^T(\omega_c - \omega_p)`$ in the axes of the child, all alike, and
//! with those of the relative velocity. Each needs its inertia times the rate of its component,
//!
//! ```math
//! R_c\,\dot u = \dot\omega_c - \dot\omega_p + \omega_c\times\omega_p ,
//! ```
//!
//! on the child, and the opposite on the parent.

use lissom_spatial::{Matrix, Scalar, Vector};

use super::assembly::End;
use super::node::{NodeId, NodeState};

/// Rotors on all components of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointRotor {
    /// What carries the joint.
    pub(super) parent: End,
    /// What it carries.
    pub(super) child: End,
    /// Inertia that rotation feels, and translation.
    pub(super) inertia: [f64; 2],
}

impl JointRotor {
    /// Adds what turns the rotors to the forces of the nodes.
    #[inline(always)]
    pub(super) fn add_forces<T: Scalar>(&self, nodes: &[NodeState<T>], force: &mut [Vector<T>]) {
        let [angular, linear] = self.inertia;
        let [p, c] = [self.parent, self.child].map(|end| end.orientation.index());
        let (parent, child) = (&nodes[p], &nodes[c]);
        let rate = child.acceleration - parent.acceleration + child.velocity.cross(parent.velocity);
        let moment = rate.scale(T::constant(angular));
        force[c] += moment;
        force[p] += -moment;
        if linear != 0.0 {
            let [from, to] = [self.parent, self.child].map(|end| end.point.index());
            let offset = nodes[to].position - nodes[from].position;
            let apart = nodes[to].velocity - nodes[from].velocity;
            let relative = apart - parent.velocity.cross(offset);
            let rate = nodes[to].acceleration
                - nodes[from].acceleration
                - parent.acceleration.cross(offset)
                - parent.velocity.cross(apart)
                - child.velocity.cross(relative);
            let push = rate.scale(T::constant(linear));
            force[to] += push;
            force[from] += -push;
            force[p] += -offset.cross(push);
        }
    }

    /// Nodes that it acts on: orientations of parent and child, points of parent and child.
    pub(super) fn sites(&self) -> [usize; 4] {
        let [p, c] = [self.parent, self.child];
        [p.orientation, c.orientation, p.point, c.point].map(NodeId::index)
    }

    /// How the relative velocities of rotation and of translation follow from those of [its nodes](Self::sites), with the inertia of each.
    pub(super) fn slopes(&self, nodes: &[NodeState<f64>]) -> [([Matrix<f64>; 4], f64); 2] {
        let [_, _, from, to] = self.sites();
        let offset = nodes[to].position - nodes[from].position;
        let (one, none) = (Matrix::identity(), Matrix::zero());
        let opposite = Matrix::diagonal(-1.0);
        [
            ([opposite, one, none, none], self.inertia[0]),
            ([Matrix::skew(offset), none, opposite, one], self.inertia[1]),
        ]
    }

    /// Kinetic energy.
    pub(super) fn energy(&self, nodes: &[NodeState<f64>]) -> f64 {
        let [angular, linear] = self.inertia;
        let [parent, child] = [self.parent, self.child].map(|end| &nodes[end.orientation.index()]);
        let [from, to] = [self.parent, self.child].map(|end| &nodes[end.point.index()]);
        let turning = child.velocity - parent.velocity;
        let offset = to.position - from.position;
        let sliding = to.velocity - from.velocity - parent.velocity.cross(offset);
        0.5 * angular * turning.dot(turning) + 0.5 * linear * sliding.dot(sliding)
    }
}
