//! Where small changes of the velocity coordinates lead: positions may be quaternions.

use crate::{JointKind, Place, System};
use lissom_spatial::{Quaternion, Vector};

/// Moves `position` to where constant velocities `increment` lead in unit time.
pub fn displace(system: &System, position: &mut [f64], increment: &[f64]) {
    displace_entries(system, position, increment, Some, Some);
}

/// The same for vectors that hold only some entries of the system's, at the places that `p` and `v` name.
pub fn displace_entries(
    system: &System,
    position: &mut [f64],
    increment: &[f64],
    p: impl Fn(usize) -> Option<usize>,
    v: impl Fn(usize) -> Option<usize>,
) {
    let layout = system.layout();
    for (k, body) in system.bodies().iter().enumerate() {
        let (first_p, first_v) = (layout.joint_position[k], layout.joint_velocity[k]);
        let kind = &body.joint.kind;
        match kind {
            JointKind::Fixed => {}
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
                if let (Some(p), Some(v)) = (p(first_p), v(first_v)) {
                    position[p] += increment[v];
                }
            }
            JointKind::Spherical | JointKind::Free => {
                let (Some(p), Some(v)) = (p(first_p), v(first_v)) else {
                    continue;
                };
                let at = p + kind.positions() - 4;
                let quaternion = Quaternion(std::array::from_fn(|i| position[at + i]));
                let turn = Vector([increment[v], increment[v + 1], increment[v + 2]]);
                position[at..at + 4].copy_from_slice(&quaternion.turned(turn).0);
                if *kind == JointKind::Free {
                    let slide = Vector([increment[v + 3], increment[v + 4], increment[v + 5]]);
                    // along the axes half-way through the turn, which keeps second order
                    let half = quaternion.turned(turn.scale(0.5)).matrix() * slide;
                    for i in 0..3 {
                        position[p + i] += half[i];
                    }
                }
            }
        }
        let increments = |body: usize| {
            let first = v(layout.elastic_velocity[body]).unwrap_or(0);
            &increment[first..]
        };
        if let (Some(at), Some(turn)) = (
            layout.orientation[k].and_then(&p),
            node_rotation(system, k, increments),
        ) {
            let orientation = Quaternion(std::array::from_fn(|i| position[at + i]));
            position[at..at + 4].copy_from_slice(&orientation.turned_in_parent(turn).0);
        }
        for alpha in 0..body.modes() {
            if let (Some(p), Some(v)) = (
                p(layout.elastic_position[k] + alpha),
                v(layout.elastic_velocity[k] + alpha),
            ) {
                position[p] += increment[v];
            }
        }
    }
}

/// $`\sum \theta_\alpha x_\alpha`$ at the node that carries body `k`, for numbers $`x`$ per elastic coordinate of its
/// parent.
pub fn node_rotation<'x>(
    system: &System,
    k: usize,
    of_body: impl Fn(usize) -> &'x [f64],
) -> Option<Vector<f64>> {
    let body = &system.bodies()[k];
    let (Some(p), Place::Node { index, .. }) = (body.parent, &body.outboard) else {
        return None;
    };
    let node = &system.bodies()[p].flexible.as_ref()?.nodes[*index];
    let mut sum = Vector::zero();
    for (rotation, &x) in node.rotation.iter().zip(of_body(p)) {
        sum += Vector(*rotation).scale(x);
    }
    Some(sum)
}
