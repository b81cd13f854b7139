//! The rigid configuration of a tree from which deformation is exaggerated.

use lissom_spatial::Transform;
use lissom_tree::JointKind;
use lissom_tree::closure::close_nearby;

use super::tree::Poses;
use crate::model::Model;

/// The undeformed tree with the joint coordinates of the deformed one; where these would open its loops, with the nearest
/// that close them.
pub(super) struct RigidConfiguration<'m> {
    model: &'m Model,
    /// Entries of the velocity vector that stay as they are while loops close: what is prescribed, the base, deformations.
    held: Vec<usize>,
    position: Vec<f64>,
    poses: Poses,
}

impl<'m> RigidConfiguration<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let system = &model.linkage.system;
        let layout = system.layout();
        let mut held = model.linkage.prescribed.clone();
        for (k, body) in system.bodies().iter().enumerate() {
            let first = layout.joint_velocity[k];
            if body.parent.is_none() && body.joint.kind == JointKind::Free {
                held.extend(first..first + body.joint.kind.velocities());
            }
            // also where they move the body as a whole
            let elastic = layout.elastic_velocity[k];
            held.extend(elastic..elastic + body.modes());
        }
        Self {
            held,
            position: vec![0.0; system.position_count()],
            poses: Poses::new(system),
            model,
        }
    }

    /// Goes to where the deformed tree is.
    pub(super) fn place(&mut self, deformed: &[f64]) {
        let linkage = &self.model.linkage;
        let layout = linkage.system.layout();
        self.position.copy_from_slice(deformed);
        for (k, body) in linkage.system.bodies().iter().enumerate() {
            let first = layout.elastic_position[k];
            self.position[first..first + body.modes()].fill(0.0);
            if let Some(at) = layout.orientation[k] {
                self.position[at..at + 4].copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
            }
        }
        // where no closed configuration is near, the joints as they are come closest
        if !linkage.closures.is_empty()
            && let Some(closed) = close_nearby(linkage, &self.position, self.held.clone())
        {
            self.position = closed;
        }
        self.poses.place(&linkage.system, &self.position);
    }

    pub(super) fn pose(&self, body: usize) -> Transform<f64> {
        self.poses.of(body)
    }
}
