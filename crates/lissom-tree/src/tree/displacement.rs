//! Where changes of the velocity coordinates lead, and which lead from one place to another: positions may be quaternions.

use crate::{JointKind, Place, System};
use lissom_spatial::{Quaternion, Vector, rotation_vector_of};

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
                position[at..at + 4].copy_from_slice(&quaternion.rotated(turn).0);
                if *kind == JointKind::Free {
                    let slide = Vector([increment[v + 3], increment[v + 4], increment[v + 5]]);
                    // along the axes half-way through the turn, which keeps second order
                    let half = quaternion.rotated(turn.scale(0.5)).matrix() * slide;
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
            position[at..at + 4].copy_from_slice(&orientation.rotated_in_parent(turn).0);
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

/// The increment by which [`displace`] leads from one position vector to another. Orientations of exact tips follow from the
/// elastic coordinates.
pub fn difference(system: &System, from: &[f64], to: &[f64]) -> Vec<f64> {
    let layout = system.layout();
    let mut change = vec![0.0; system.velocity_count()];
    for (k, body) in system.bodies().iter().enumerate() {
        let (p, v) = (layout.joint_position[k], layout.joint_velocity[k]);
        let kind = &body.joint.kind;
        match kind {
            JointKind::Fixed => {}
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => change[v] = to[p] - from[p],
            JointKind::Spherical | JointKind::Free => {
                let at = p + kind.positions() - 4;
                let [own, other] =
                    [from, to].map(|x| Quaternion(std::array::from_fn(|i| x[at + i])));
                let turn = rotation_vector_of(&(own.matrix().transpose() * other.matrix()));
                change[v..v + 3].copy_from_slice(&turn.0);
                if *kind == JointKind::Free {
                    let slide = Vector(std::array::from_fn(|i| to[p + i] - from[p + i]));
                    let half = own.rotated(turn.scale(0.5)).matrix();
                    change[v + 3..v + 6].copy_from_slice(&half.transpose_mul(slide).0);
                }
            }
        }
        let (p, v) = (layout.elastic_position[k], layout.elastic_velocity[k]);
        for alpha in 0..body.modes() {
            change[v + alpha] = to[p + alpha] - from[p + alpha];
        }
    }
    change
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Joint};
    use lissom_spatial::{Matrix, RigidInertia, Transform};
    use lissom_spec::Fidelity;

    /// A free body and one on a ball joint, as far apart as rotation vectors reach.
    fn system() -> System {
        let body = |kind: JointKind| Body {
            name: format!("{kind:?}"),
            parent: None,
            joint: Joint {
                name: format!("{kind:?}.joint"),
                kind,
                armature: [0.0; 6],
                prescribed: false,
            },
            outboard: Place::Fixed(Transform::identity()),
            inboard: Place::Fixed(Transform::identity()),
            rigid: RigidInertia::from_moments(1.0, Vector::zero(), Matrix::identity()),
            flexible: None,
            fidelity: Fidelity::DEFAULT,
        };
        let bodies = [JointKind::Free, JointKind::Spherical].map(body);
        System::new(bodies.into(), Vector::zero())
    }

    /// Identity: what leads from one place to another leads there.
    #[test]
    fn differences_are_displacements_undone() {
        const ROUNDING: f64 = 1e-14;
        let system = system();
        let from = [0.3, -0.2, 1.1, 0.5, 0.5, -0.5, 0.5, 0.6, 0.0, 0.8, 0.0];
        let increment = [1.4, -0.7, 0.9, 0.8, -1.3, 0.4, -0.2, 2.1, 0.6];
        let mut to = from;
        displace(&system, &mut to, &increment);
        let found = difference(&system, &from, &to);
        for (found, wanted) in found.iter().zip(increment) {
            assert!((found - wanted).abs() < ROUNDING, "{found} {wanted}");
        }
    }
}
