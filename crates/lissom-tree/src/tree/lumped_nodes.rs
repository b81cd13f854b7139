//! Inertia of a flexible body made of small rigid nodes, as \[Jain & Rodriguez 1992, section II\] have it.
//!
//! Node $`j`$ moves with $`V_s(j) = \phi^*(k,j)V(k) + \Pi^j\dot\eta`$ and has the spatial inertia $`M_s(j)`$ whose
//! components are constant in the body's frame; only its position $`l(k,j)`$ carries deformation. The modal
//! mass matrix is eq. (23), and the velocity-dependent parts are, with $`w = \omega + \delta\omega`$,
//!
//! ```math
//! a(j) = \begin{bmatrix}\omega\times\delta\omega\\ \omega\times(\omega\times l) + 2\,\omega\times\delta v\end{bmatrix},
//! \qquad
//! b(j) = \begin{bmatrix}w\times J w\\ m\,w\times(w\times p)\end{bmatrix} .
//! ```
//!
//! It conserves energy only in the plane, and serves the validation of the recursions.

use super::body_inertia::BodyInertia;
use crate::flex::FlexibleBody;
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Matrix, Motion, RigidInertia, Transform, Vector};

/// Fills `out` for a body moving with `twist` in its own frame.
pub(super) fn evaluate<T: Scalar>(
    body: &FlexibleBody,
    twist: Motion<T>,
    elastic: &[T],
    elastic_rate: &[T],
    out: &mut BodyInertia<'_, T>,
) {
    let n = elastic.len();
    *out.rigid = RigidInertia::zero();
    *out.bias = Force::zero();
    out.coupling.fill(Force::zero());
    out.modal_mass.fill(T::zero());
    out.modal_bias.fill(T::zero());
    let omega = twist.angular;
    let origin = omega.cross(twist.linear);

    for lump in &body.mass_nodes {
        let node = &lump.node;
        let mut position = Vector::constant(node.position);
        let (mut velocity, mut delta_omega) = (Vector::zero(), Vector::zero());
        for alpha in 0..n {
            let displacement = Vector::constant(node.displacement[alpha]);
            position += displacement.scale(elastic[alpha]);
            velocity += displacement.scale(elastic_rate[alpha]);
            delta_omega += Vector::constant(node.rotation[alpha]).scale(elastic_rate[alpha]);
        }
        let inertia = RigidInertia::from_moments(
            T::constant(lump.mass),
            Vector::constant(lump.centre).scale(T::constant(lump.mass)),
            Matrix::constant(lump.second_moment),
        );

        // mass matrix: the node's inertia felt through its influences
        let at_node = Transform::new(Matrix::identity(), position);
        *out.rigid = *out.rigid + inertia.to_parent(&at_node);
        let influence = |alpha: usize| {
            Motion::new(
                Vector::constant(node.rotation[alpha]),
                Vector::constant(node.displacement[alpha]),
            )
        };
        for alpha in 0..n {
            let force = inertia.times(influence(alpha));
            out.coupling[alpha] += at_node.force_to_parent(force);
            for beta in 0..n {
                out.modal_mass[alpha * n + beta] += influence(beta).dot(force);
            }
        }

        // forces left at zero acceleration
        let total = omega + delta_omega;
        let acceleration = Motion::new(
            omega.cross(delta_omega),
            origin
                + omega.cross(omega.cross(position))
                + omega.cross(velocity).scale(T::constant(2.0)),
        );
        let force = inertia.times(acceleration)
            + Force::new(
                total.cross(inertia.rotational * total),
                total.cross(total.cross(inertia.first_moment)),
            );
        *out.bias += at_node.force_to_parent(force);
        for alpha in 0..n {
            out.modal_bias[alpha] += influence(alpha).dot(force);
        }
    }
}
