//! Whether everything that moves has inertia, in O(N).

use super::{ArticulatedBody, CompositeBody, Kinematics, mass_diagonal};
use crate::System;

/// Part of the inertia of a velocity, all others held, below which nothing but rounding is left of it when those
/// outboard are in balance.
const NO_INERTIA: f64 = 1e-14;

/// The outermost velocity that is free to change and has, with those outboard of it in balance and those inboard of it
/// held, no inertia: where the articulated-body factor of the mass matrix breaks off. The state has to be prepared.
pub fn without_inertia(system: &System, kinematics: &Kinematics<f64>) -> Option<usize> {
    let layout = system.layout();
    let mut held = vec![0.0; system.velocity_count()];
    let mut workspace = CompositeBody::new(system);
    mass_diagonal(system, kinematics, &mut workspace, &mut held);
    // the indirect inverse has no pivots
    let mut articulated = ArticulatedBody::with_indirect_from(system, usize::MAX);
    articulated.factor(system, kinematics);
    // 1/D is kept, on the diagonal; a comparison that also fails for what is not a number
    let is_none = |inverse: f64, at: usize| {
        let has_some = 1.0 / inverse > NO_INERTIA * held[at];
        !has_some
    };
    for (k, body) in system.bodies().iter().enumerate().rev() {
        let (n, first) = (body.modes(), layout.elastic_velocity[k]);
        let factor = &articulated.modal_factor[layout.modal_block[k]..];
        if let Some(alpha) = (0..n).find(|&i| is_none(factor[i * n + i], first + i)) {
            return Some(first + alpha);
        }
        if body.joint.prescribed {
            continue;
        }
        let (n, first) = (body.joint.kind.velocities(), layout.joint_velocity[k]);
        let factor = &articulated.hinge_factor[layout.hinge_block[k]..];
        if let Some(axis) = (0..n).find(|&i| is_none(factor[i * n + i], first + i)) {
            return Some(first + axis);
        }
    }
    None
}
