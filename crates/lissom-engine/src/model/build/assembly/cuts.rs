//! Joints that are cut and acted on: each keeps its coordinates and carries a stub, which a closure welds to the joint's child.
//! What acts on the joint, drives it or watches it then finds a joint like any other.
//!
//! Coordinates need inertia. The stub takes a share of its child's, and a counterpart fixed to the child has that share with the
//! opposite sign: while the weld holds, both move alike, and together they are nothing.

use super::Assembly;
use crate::model::places::Stub;
use lissom_spatial::{RigidInertia, Symmetric, Transform};
use lissom_spec::is_acted_on;
use lissom_tree::flex::Node;
use lissom_tree::{Body, ClosureEnd, Place};

impl<'a> Assembly<'a> {
    /// Appends the stub of a cut joint and its counterpart, if anything acts on the joint.
    pub(super) fn add_stub(&mut self, cut: usize) {
        let joint = &self.spec.joint[cut];
        let Some(kind) = joint.kind() else { return };
        if !is_acted_on(self.spec, joint) {
            return;
        }
        let welded = self.side(&joint.child, true);
        let share = self.share(&joint.child.body, &welded);
        let mut stub = Body {
            name: format!("{}.stub", joint.name),
            parent: self.index.get(joint.parent.body.as_str()).copied(),
            outboard: self.side(&joint.parent, false),
            rigid: share,
            ..self.fixed_body(joint.name.clone())
        };
        self.give_freedoms(&mut stub, joint, kind, false);
        let stub_index = self.push(stub);
        let counterpart = self.push(Body {
            name: format!("{}.counterpart", joint.name),
            parent: self.index.get(joint.child.body.as_str()).copied(),
            outboard: welded,
            rigid: times(&share, -1.0),
            ..self.fixed_body(format!("{}.weld", joint.name))
        });
        self.stubs.insert(cut, stub_index);
        self.model.places.stubs.push(Stub {
            body: stub_index,
            counterpart,
        });
    }

    /// The end of a stub that is welded.
    pub(super) fn stub_end(&self, cut: usize) -> Option<ClosureEnd> {
        let stub = self.stubs.get(&cut)?;
        Some(ClosureEnd {
            body: Some(*stub),
            place: Place::Fixed(Transform::identity()),
        })
    }

    /// What a stub takes of a body, at the frame that it is welded to: as much as each other stub on it, and as the body keeps.
    fn share(&self, body: &'a str, welded: &Place) -> RigidInertia<f64> {
        let cuts = self.tree.cuts.iter().map(|&cut| &self.spec.joint[cut]);
        let stubs = cuts.filter(|joint| joint.child.body == body && is_acted_on(self.spec, joint));
        let part = 1.0 / (stubs.count() + 1) as f64;
        let Some(host) = self.reduced.get(body) else {
            return RigidInertia::zero();
        };
        let offset = *welded.offset();
        let own = match &host.flexible {
            None => host.rigid.to_parent(&offset.inverse()),
            Some(flexible) => {
                let still = vec![[0.0; 3]; flexible.coordinates.len()];
                let node = match welded {
                    Place::Node { index, .. } => flexible.nodes[*index].clone(),
                    Place::Fixed(pose) => Node {
                        position: pose.translation.0,
                        displacement: still.clone(),
                        rotation: still,
                        second_order: Vec::new(),
                    },
                };
                let taken = flexible.inertia_at(&node);
                RigidInertia {
                    rotational: taken.rotational.rotate(offset.rotation.transpose()),
                    ..taken
                }
            }
        };
        times(&own, part)
    }
}

fn times(inertia: &RigidInertia<f64>, factor: f64) -> RigidInertia<f64> {
    RigidInertia {
        mass: factor * inertia.mass,
        first_moment: inertia.first_moment.scale(factor),
        rotational: Symmetric(inertia.rotational.0.map(|x| factor * x)),
    }
}
