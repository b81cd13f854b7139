//! Which balances of a tree close: what acts from outside, and terms that follow from no energy.

use crate::model::Model;
use lissom_core::{JointId, Load, LoadTarget};
use lissom_spatial::Vector;
use lissom_spec::{Elasticity, Inertia, ShorteningTerms, Tip};
use lissom_tree::{Closure, JointKind, Place};

/// Whether nothing outside acts on the mechanism: no gravity, no load at a marker, and every body that
/// stands on the ground does so by a free joint without motor, resistance or input, and no closure ends there.
pub(super) fn conserves_momentum(model: &Model) -> bool {
    let loaded = |joint: JointId| {
        let on = |load: &Load| matches!(load.target, LoadTarget::Component(at, _) if at == joint);
        model.actions.loads.iter().any(on)
    };
    let roots = model
        .linkage
        .system
        .bodies()
        .iter()
        .enumerate()
        .filter(|(_, b)| b.parent.is_none());
    let free_roots = roots.clone().all(|(k, body)| {
        body.joint.kind == JointKind::Free
            && body.joint.armature == [0.0; 6]
            && (model.ball_joint(k)).is_none_or(|joint| !model.resists(joint) && !loaded(joint))
    });
    let at_markers = |load: &Load| matches!(load.target, LoadTarget::Marker(..));
    let grounded = |closure: &Closure| closure.from.body.is_none() || closure.to.body.is_none();
    free_roots
        && !model.linkage.closures.iter().any(grounded)
        && model.linkage.system.gravity() == Vector([0.0; 3])
        && !model.actions.loads.iter().any(at_markers)
}

/// What of the fidelity keeps the energy balance from closing, a sentence each.
pub(super) fn non_conservative(model: &Model) -> Vec<String> {
    let system = &model.linkage.system;
    let falls = system.gravity() != Vector([0.0; 3]);
    let mut reasons = Vec::new();
    for (k, body) in system.bodies().iter().enumerate() {
        let Some(flexible) = &body.flexible else {
            continue;
        };
        let (name, fidelity) = (&body.name, body.fidelity);
        let carries = || {
            system.bodies().iter().any(|other| {
                other.parent == Some(k) && matches!(other.outboard, Place::Node { .. })
            })
        };
        if fidelity.inertia != Inertia::Full {
            reasons.push(format!(
                "the inertia of body {name} leaves out what its deformation changes"
            ));
        }
        if fidelity.elasticity == Elasticity::ConstantAxialLoad && flexible.strain.is_some() {
            reasons.push(format!(
                "the axial load of body {name} stiffens its bending, and the bending does not act back"
            ));
        }
        if fidelity.shortening == ShorteningTerms::GeometricStiffness
            && flexible.second_order.is_some()
        {
            reasons.push(format!(
                "the geometric stiffness of body {name} is that of no energy"
            ));
        }
        let displaced = matches!(
            fidelity.tip,
            Tip::Rigid | Tip::Linear | Tip::RotationVectorPlainRate
        );
        if displaced && falls && carries() {
            reasons.push(format!(
                "what the tip of body {name} carries is not where its velocity takes it, and gravity pulls there"
            ));
        }
    }
    reasons
}
