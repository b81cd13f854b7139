//! [`NodalView`]: a nodal mechanism in a state of motion, as actions see it.

use lissom_core::{AxisId, GaugeId, JointId, JointMotion, MarkerId, MarkerMotion, View};
use lissom_nodal::{End, Mechanism, NodeId, NodeState};
use lissom_spatial::{Force, Matrix, Motion, Real, Transform, Vector};

use super::{NodalAxis, NodalBall, NodalGauge, NodalModel, Station};

/// A nodal mechanism in a state of motion.
pub(super) struct NodalView<'a, 'v, T> {
    pub(super) nodal: &'a NodalModel,
    pub(super) nodes: &'a mut lissom_nodal::View<'v, T>,
}

impl NodalBall {
    /// Degrees of freedom of the joint in a mechanism, those that follow from others left out: rotation first.
    pub(super) fn dofs(&self, mechanism: &Mechanism) -> Vec<usize> {
        let all = 0..mechanism.deformations_of(self.element);
        all.filter_map(|i| mechanism.deformation_dof(self.element, i))
            .collect()
    }

    /// Axes of the joint on the side of its child, whose orientation is given.
    pub(super) fn child_axes<T: Real>(&self, child: &NodeState<T>) -> Matrix<T> {
        child.rotation * Matrix::constant(self.frame.0)
    }

    /// How the joint moves; `node` tells how a node does.
    pub(super) fn motion<'n, T: Real>(
        &self,
        node: impl Fn(NodeId) -> &'n NodeState<T>,
    ) -> JointMotion<T> {
        let [parent, child] = node_pair(self, |end| end.orientation).map(&node);
        let [from, to] = node_pair(self, |end| end.point).map(&node);
        let (carrier, axes) = (self.child_axes(parent), self.child_axes(child));
        let offset = to.position - from.position;
        let velocity = to.velocity - from.velocity - parent.velocity.cross(offset);
        JointMotion {
            rotation: carrier.transpose() * axes,
            position: carrier.transpose_mul(offset),
            angular_velocity: axes.transpose_mul(child.velocity - parent.velocity),
            velocity: axes.transpose_mul(velocity),
        }
    }
}

/// Nodes of a joint on both of its sides.
pub(super) fn node_pair(ball: &NodalBall, of: impl Fn(&End) -> NodeId) -> [NodeId; 2] {
    [of(&ball.parent), of(&ball.child)]
}

impl<T: Real> View<T> for NodalView<'_, '_, T> {
    fn axis(&self, AxisId(axis): AxisId) -> [T; 2] {
        let NodalAxis {
            element,
            deformation,
            ..
        } = self.nodal.axes[axis];
        [
            self.nodes.deformation(element, deformation),
            self.nodes.deformation_rate(element, deformation),
        ]
    }

    fn push_axis(&mut self, AxisId(axis): AxisId, effort: T) {
        let NodalAxis {
            element,
            deformation,
            ..
        } = self.nodal.axes[axis];
        self.nodes.push_deformation(element, deformation, effort);
    }

    fn joint(&self, JointId(joint): JointId) -> JointMotion<T> {
        self.nodal.balls[joint].motion(|node| self.nodes.node(node))
    }

    fn push_joint(&mut self, JointId(joint): JointId, wrench: Force<T>) {
        let ball = &self.nodal.balls[joint];
        // rates of its deformations are the velocities of the joint in the axes of its child
        for (index, moment) in wrench.moment.0.into_iter().enumerate() {
            self.nodes.push_deformation(ball.element, index, moment);
        }
        if ball.translates {
            for (index, force) in (3..).zip(wrench.force.0) {
                self.nodes.push_deformation(ball.element, index, force);
            }
        }
    }

    fn strain(&self, GaugeId(gauge): GaugeId) -> T {
        let gauge = self.nodal.gauges[gauge].as_ref();
        gauge.map_or(T::zero(), |gauge| {
            let NodalGauge {
                element,
                at,
                offset,
            } = *gauge;
            self.nodes.strain(element, at, offset)
        })
    }

    fn marker(&mut self, MarkerId(marker): MarkerId) -> MarkerMotion<T> {
        let Station {
            point,
            orientation,
            root,
            ..
        } = &self.nodal.stations[marker];
        let node = |id| *self.nodes.node(id);
        let (point, turned) = (point.map(node), orientation.map(|(id, _)| node(id)));
        let orientation = orientation.map(|(_, orientation)| Matrix::constant(orientation.0));
        let rotation = match (turned, orientation) {
            (Some(node), Some(orientation)) => node.rotation * orientation,
            _ => Matrix::identity(),
        };
        let position = point.map_or(Vector::zero(), |node| node.position);
        let velocity = point.map_or(Vector::zero(), |node| node.velocity);
        let [deflection, deflection_rate] = match (root, orientation) {
            (Some((end, offset)), Some(orientation)) => {
                let (carrier, origin) = (node(end.orientation), node(end.point));
                let axes = carrier.rotation * orientation;
                let arm = position - origin.position;
                let rate = velocity - origin.velocity - carrier.velocity.cross(arm);
                [
                    axes.transpose_mul(arm) - Vector::constant(offset.0),
                    axes.transpose_mul(rate),
                ]
            }
            _ => [Vector::zero(); 2],
        };
        MarkerMotion {
            pose: Transform::new(rotation, position),
            twist: Motion {
                angular: turned.map_or(Vector::zero(), |node| node.velocity),
                linear: velocity,
            },
            deflection,
            deflection_rate,
        }
    }

    fn specific_force(&mut self, MarkerId(marker): MarkerId) -> Option<Vector<T>> {
        (self.nodes).specific_force(self.nodal.stations[marker].point)
    }

    fn push_marker(&mut self, MarkerId(marker): MarkerId, wrench: Force<T>) {
        let Station {
            point, orientation, ..
        } = self.nodal.stations[marker];
        if let Some(point) = point {
            self.nodes.push_node(point, wrench.force);
        }
        if let Some((orientation, _)) = orientation {
            self.nodes.push_node(orientation, wrench.moment);
        }
    }
}
