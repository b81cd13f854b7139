//! What a model may contain that the nodal formulation does not know, found in one pass.

use super::MeshError;
use crate::model::spec::{BodyKind, DampingSpec, GROUND, JointKind, ModelSpec, RevoluteSpec};
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
        match &body.damping {
            None => {}
            Some(DampingSpec::Rayleigh(rayleigh)) if rayleigh.mass_per_s == 0.0 => {}
            Some(_) => found.add(
                at.key("damping"),
                &body.name,
                "damping that is not proportional to stiffness",
                "use rayleigh damping with stiffness_s only",
            ),
        }
    }
    joints(spec, &mut found);
    for (index, closure) in spec.loops.iter().enumerate() {
        let at = root.key("loop").index(index);
        found.add(at, &closure.name, "a loop", TREE);
    }
    for (index, support) in spec.support.iter().enumerate() {
        let at = root.key("support").index(index);
        found.add(
            at,
            &support.name,
            "a support that a beam slides through",
            TREE,
        );
    }
    for (index, input) in spec.input.iter().enumerate() {
        let at = root.key("input").index(index);
        let name = input.joint.as_deref().or(input.marker.as_deref());
        let name = name.unwrap_or_default();
        let turns_freely = (input.joint.as_ref())
            .and_then(|joint| spec.find_joint(joint)?.kind())
            .is_some_and(|kind| matches!(kind, JointKind::Spherical(_) | JointKind::Free(_)));
        if turns_freely && input.rigid_inverse_dynamics.is_some() {
            let what = "rigid inverse dynamics of a joint with several degrees of freedom";
            found.add(at.key("rigid_inverse_dynamics"), name, what, TREE);
        } else if turns_freely && input.nominal_motion {
            let what = "a nominal motion of a joint with several degrees of freedom";
            found.add(at.key("nominal_motion"), name, what, TREE);
        }
    }
    let turning = (spec.joint.iter()).find(|joint| {
        let kind = joint.kind();
        matches!(kind, Some(JointKind::Spherical(_) | JointKind::Free(_)))
    });
    if let (Some(_), Some(joint)) = (&spec.nominal_motion, turning) {
        let what = "the path of a marker together with a joint of several degrees of freedom";
        found.add(root.key("nominal_motion"), &joint.name, what, TREE);
    }
    found.errors
}

fn joints(spec: &ModelSpec, found: &mut Refused) {
    let root = Path::root().key("joint");
    let tree = spanning_tree(spec);
    for &cut in &tree.cuts {
        let what = "a joint that closes a loop";
        found.add(root.index(cut), &spec.joint[cut].name, what, TREE);
    }
    for joint in tree.joints {
        let (index, joint_spec) = (joint.joint, &spec.joint[joint.joint]);
        let (at, name) = (root.index(index), joint_spec.name.as_str());
        if joint.reversed {
            let what = "a joint that is carried by its child";
            found.add(at.clone(), name, what, "exchange parent and child");
        }
        let child = &joint_spec.child;
        let root_of_beam = spec.find_body(&child.body).is_some_and(|body| {
            let at_root = body.position(child.place(), true) == Some([0.0; 3]);
            !matches!(body.kind(), Some(BodyKind::Beam(_))) || at_root
        });
        if !root_of_beam {
            let what = "a beam that is not carried at its root";
            found.add(at.key("child"), name, what, "carry it at its root");
        }
        match joint_spec.kind() {
            Some(JointKind::Revolute(revolute)) => axis(revolute, &at.key("revolute"), name, found),
            Some(JointKind::Universal(universal)) => {
                let at = at.key("universal");
                axis(&universal.first, &at.key("first"), name, found);
                axis(&universal.second, &at.key("second"), name, found);
            }
            Some(JointKind::Prismatic(prismatic)) => {
                let gear = prismatic.motor.and_then(|motor| motor.stiffness_n_per_m);
                if gear.is_some() {
                    let at = at.key("prismatic").key("motor");
                    found.add(at, name, "an elastic gear", TREE);
                }
            }
            Some(JointKind::Spherical(spherical)) => {
                let at = at.key("spherical");
                for (key, given) in [
                    ("motor", spherical.motor.is_some()),
                    ("spring", spherical.spring.is_some()),
                    ("friction", spherical.friction.is_some()),
                    ("limits", spherical.limits.is_some()),
                ] {
                    resisting(found, &at, key, name, given);
                }
            }
            Some(JointKind::Free(free)) => {
                if joint_spec.parent.body != GROUND {
                    let what = "a free joint on a body that moves";
                    found.add(at.key("parent"), name, what, TREE);
                }
                let at = at.key("free");
                for (key, given) in [
                    ("motor", free.motor.is_some()),
                    ("spring", free.spring.is_some()),
                    ("friction", free.friction.is_some()),
                    ("limits", free.limits.is_some()),
                ] {
                    resisting(found, &at, key, name, given);
                }
            }
            Some(JointKind::Fixed) | None => {}
        }
    }
}

fn axis(revolute: &RevoluteSpec, at: &Path, name: &str, found: &mut Refused) {
    let gear = revolute.motor.and_then(|motor| motor.stiffness_n_m_per_rad);
    if gear.is_some() {
        found.add(at.key("motor"), name, "an elastic gear", TREE);
    }
}

fn resisting(found: &mut Refused, at: &Path, key: &str, name: &str, given: bool) {
    if given {
        let what = "a motor, spring, friction or limit of a joint with several degrees of freedom";
        found.add(at.key(key), name, what, TREE);
    }
}
