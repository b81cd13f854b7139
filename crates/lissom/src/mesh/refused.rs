//! What a model may contain that the nodal formulation does not know, found in one pass.

use super::MeshError;
use crate::model::spec::{BodyKind, DampingSpec, GROUND, JointKind, ModelSpec};
use crate::model::{Path, spanning_tree};

const TREE: &str = "leave it out or use the tree formulation";

struct Refused {
    errors: Vec<MeshError>,
}

impl Refused {
    fn add(&mut self, at: Path, name: &str, what: &'static str, remedy: &'static str) {
        self.errors.push(MeshError::Unknown {
            at,
            name: name.to_owned(),
            what,
            remedy,
        });
    }
}

/// Everything that is not known, in the order of the format.
pub(super) fn refused(spec: &ModelSpec) -> Vec<MeshError> {
    let mut found = Refused { errors: Vec::new() };
    let root = Path::root();
    for (index, body) in spec.body.iter().enumerate() {
        let at = root.key("body").index(index);
        match body.kind() {
            Some(BodyKind::Rigid(_) | BodyKind::Beam(_)) => {}
            _ => found.add(at.clone(), &body.name, "a body given by its modes", TREE),
        }
        if body.initial.is_some() {
            let what = "a deformation at the start";
            found.add(at.key("initial"), &body.name, what, TREE);
        }
        if matches!(&body.damping, Some(DampingSpec::ModalRatios(ratios)) if ratios.len() > 1) {
            found.add(
                at.key("damping"),
                &body.name,
                "damping ratios of single modes",
                "use one modal_ratio for all modes, or rayleigh damping",
            );
        }
    }
    joints(spec, &mut found);
    for (index, support) in spec.support.iter().enumerate() {
        let at = root.key("support").index(index);
        found.add(
            at,
            &support.name,
            "a support that a beam slides through",
            TREE,
        );
    }
    found.errors
}

fn joints(spec: &ModelSpec, found: &mut Refused) {
    let root = Path::root().key("joint");
    let tree = spanning_tree(spec);
    for joint in tree.joints {
        let (index, joint_spec) = (joint.joint, &spec.joint[joint.joint]);
        let (at, name) = (root.index(index), joint_spec.name.as_str());
        match joint_spec.kind() {
            Some(JointKind::Spherical(spherical)) => {
                motor(found, &at.key("spherical"), name, spherical.motor.is_some());
            }
            Some(JointKind::Free(free)) => {
                if joint_spec.parent.body != GROUND {
                    let what = "a free joint on a body that moves";
                    found.add(at.key("parent"), name, what, TREE);
                }
                motor(found, &at.key("free"), name, free.motor.is_some());
            }
            _ => {}
        }
    }
}

fn motor(found: &mut Refused, at: &Path, name: &str, given: bool) {
    if given {
        let what = "a motor of a joint with several degrees of freedom";
        found.add(at.key("motor"), name, what, TREE);
    }
}
