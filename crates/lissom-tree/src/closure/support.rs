//! Which bodies, and which entries of the velocity vector, move the ends of a closure against each other.

use crate::{Closure, ClosureKind, System};

/// Entries of the velocity vector that move the ends of a closure against each other, ascending: those of the bodies between the ends
/// and their carrier, and the deformations of the carrier itself.
pub(super) fn support(system: &System, closure: &Closure, carrier: Option<usize>) -> Vec<usize> {
    let (bodies, layout) = (system.bodies(), system.layout());
    let mut entries = Vec::new();
    for end in [&closure.from, &closure.to] {
        let mut next = end.body;
        while let Some(k) = next {
            let elastic = layout.elastic_velocity[k];
            entries.extend(elastic..elastic + bodies[k].modes());
            if carrier == Some(k) {
                break;
            }
            let joint = layout.joint_velocity[k];
            entries.extend(joint..joint + bodies[k].joint.kind.velocities());
            next = bodies[k].parent;
        }
    }
    entries.sort_unstable();
    entries.dedup();
    entries
}

/// The body that both ends of a closure hang on and nothing further out does. Closures that slide are counted down to the ground: few of
/// them hang on long chains.
pub(super) fn common_carrier(system: &System, closure: &Closure) -> Option<usize> {
    if let ClosureKind::OnBeam { .. } | ClosureKind::AlongBeam { .. } | ClosureKind::TwistOfBeam =
        closure.kind
    {
        return None;
    }
    let (mut from, mut to) = (closure.from.body?, closure.to.body?);
    while from != to {
        // bodies stand behind their parents
        let further = if from > to { &mut from } else { &mut to };
        *further = system.bodies()[*further].parent?;
    }
    Some(from)
}
