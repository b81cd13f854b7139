//! Joints that are cut and acted on: each keeps its coordinates and carries a stub without inertia, which a closure welds to the
//! joint's child. What acts on the joint, drives it or watches it then finds a joint like any other.

use super::Assembly;
use lissom_spatial::{RigidInertia, Transform};
use lissom_spec::is_acted_on;
use lissom_tree::{Body, ClosureEnd, Joint, JointKind, Place};

impl Assembly<'_> {
    /// Appends the stub of a cut joint, if anything acts on the joint.
    pub(super) fn add_stub(&mut self, cut: usize) {
        let joint = &self.spec.joint[cut];
        let Some(kind) = joint.kind() else { return };
        if !is_acted_on(self.spec, joint) {
            return;
        }
        let mut stub = Body {
            name: format!("{}.stub", joint.name),
            parent: self.index.get(joint.parent.body.as_str()).copied(),
            joint: Joint {
                name: joint.name.clone(),
                kind: JointKind::Fixed,
                armature: [0.0; 6],
                prescribed: false,
            },
            outboard: self.side(&joint.parent, false),
            inboard: Place::Fixed(Transform::identity()),
            rigid: RigidInertia::zero(),
            flexible: None,
            fidelity: self.fidelity,
        };
        self.give_freedoms(&mut stub, joint, kind, false);
        self.elastic_positions.push(self.model.positions.len());
        self.add_attitude(&stub);
        self.stubs.insert(cut, self.bodies.len());
        self.bodies.push(stub);
    }

    /// The end of a stub that is welded.
    pub(super) fn stub_end(&self, cut: usize) -> Option<ClosureEnd> {
        let stub = self.stubs.get(&cut)?;
        Some(ClosureEnd {
            body: Some(*stub),
            place: Place::Fixed(Transform::identity()),
        })
    }
}
