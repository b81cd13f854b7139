//! What a model may contain that the nodal formulation does not know, found in one pass.

use super::MeshError;
use crate::model::spec::{
    BodyKind, DampingSpec, GROUND, JointKind, JointSpec, ModelSpec, RevoluteSpec,
};
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
    for (index, input) in spec.input.iter().enumerate() {
        let at = root.key("input").index(index);
        let name = input.joint.as_deref().or(input.marker.as_deref());
        let name = name.unwrap_or_default();
        let kind = (input.joint.as_ref()).and_then(|joint| spec.find_joint(joint)?.kind());
        let turns_freely =
            kind.is_some_and(|kind| matches!(kind, JointKind::Spherical(_) | JointKind::Free(_)));
        let geared = kind.is_some_and(|kind| has_elastic_gear(kind, input.component));
        if turns_freely && input.rigid_inverse_dynamics.is_some() {
            let what = "rigid inverse dynamics of a joint with several degrees of freedom";
            found.add(at.key("rigid_inverse_dynamics"), name, what, TREE);
        } else if turns_freely && input.nominal_motion {
            let what = "a nominal motion of a joint with several degrees of freedom";
            found.add(at.key("nominal_motion"), name, what, TREE);
        } else if geared && input.rigid_inverse_dynamics.is_some() {
            let what = "rigid inverse dynamics of a motor behind an elastic gear";
            found.add(at.key("rigid_inverse_dynamics"), name, what, TREE);
        } else if geared && input.nominal_motion {
            let what = "a nominal motion of a motor behind an elastic gear";
            found.add(at.key("nominal_motion"), name, what, TREE);
        }
    }
    for (index, controller) in spec.controller.iter().enumerate() {
        let joints = controller.joints.iter().enumerate();
        for (place, joint) in joints {
            let kind = spec.find_joint(joint).and_then(JointSpec::kind);
            if kind.is_some_and(|kind| has_elastic_gear(kind, 1)) {
                let at = root.key("controller").index(index);
                let at = at.key("joints").index(place);
                found.add(
                    at,
                    joint,
                    "feedback of a motor behind an elastic gear",
                    TREE,
                );
            }
        }
    }
    if spec.nominal_motion.is_some()
        && !(spec.loops.is_empty() && spanning_tree(spec).cuts.is_empty())
    {
        let what = "the path of a marker of a model with loops";
        found.add(root.key("nominal_motion"), "nominal_motion", what, TREE);
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
    for joint in tree.joints {
        let (index, joint_spec) = (joint.joint, &spec.joint[joint.joint]);
        let (at, name) = (root.index(index), joint_spec.name.as_str());
        match joint_spec.kind() {
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
            _ => {}
        }
    }
}

/// Whether a component of a joint, counted from 1, has an elastic gear.
fn has_elastic_gear(kind: JointKind<'_>, component: usize) -> bool {
    let gear = |revolute: &RevoluteSpec| {
        let motor = revolute.motor;
        motor.is_some_and(|motor| motor.stiffness_n_m_per_rad.is_some())
    };
    match kind {
        JointKind::Revolute(revolute) => gear(revolute),
        JointKind::Universal(universal) if component == 1 => gear(&universal.first),
        JointKind::Universal(universal) => gear(&universal.second),
        JointKind::Prismatic(prismatic) => {
            let motor = prismatic.motor;
            motor.is_some_and(|motor| motor.stiffness_n_per_m.is_some())
        }
        _ => false,
    }
}

fn resisting(found: &mut Refused, at: &Path, key: &str, name: &str, given: bool) {
    if given {
        let what = "a motor, spring, friction or limit of a joint with several degrees of freedom";
        found.add(at.key(key), name, what, TREE);
    }
}
