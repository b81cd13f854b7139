//! Generalised forces of a motion: outward for accelerations, inward for forces.
//!
//! \[Jain & Rodriguez 1992, eqs (44), (45)\], the recursive Newton–Euler algorithm for flexible bodies.

use super::Kinematics;
use super::simd::{Kernel, run_simd};
use crate::{Place, System};
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Motion, Vector};

/// Scratch memory of [`inverse_dynamics`].
#[derive(Clone, Debug)]
pub struct InverseDynamics<T> {
    ground: Motion<T>,
    pub(super) acceleration: Vec<Motion<T>>,
    /// What each body needs by itself, and its elastic coordinates.
    own: Vec<Force<T>>,
    own_modal: Vec<T>,
    /// What every joint carries, at the origin of its body.
    pub(super) force: Vec<Force<T>>,
}

impl<T: Scalar> InverseDynamics<T> {
    /// Buffers for `system`.
    pub fn new(system: &System) -> Self {
        let bodies = system.bodies().len();
        Self {
            ground: ground_acceleration(system.gravity()),
            acceleration: vec![Motion::zero(); bodies],
            own: vec![Force::zero(); bodies],
            own_modal: vec![T::zero(); system.velocity_count()],
            force: vec![Force::zero(); bodies],
        }
    }

    /// What a body needs by itself, beyond weight and what is applied to it, as of the last call: at its origin, in its axes.
    pub fn own_force(&self, body: usize) -> Force<T> {
        self.own[body]
    }

    /// Lets things fall otherwise than in the system.
    pub fn set_gravity(&mut self, gravity: Vector<f64>) {
        self.ground = ground_acceleration(gravity);
    }
}

/// Upward acceleration of the ground that stands for gravity.
#[inline(always)]
pub(super) fn ground_acceleration<T: Scalar>(gravity: Vector<f64>) -> Motion<T> {
    Motion::new(Vector::zero(), -Vector::constant(gravity.0))
}

/// The generalised force that makes the prepared state accelerate by `acceleration`, with gravity,
/// elastic and damping forces and forces applied from outside taken into account. Allocates nothing.
pub fn inverse_dynamics<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    acceleration: &[T],
    workspace: &mut InverseDynamics<T>,
    generalized_force: &mut [T],
) {
    inverse_dynamics_from(
        system,
        0,
        kinematics,
        acceleration,
        workspace,
        generalized_force,
    );
}

/// [`inverse_dynamics`] when nothing has changed on the bodies before `first` since the last call.
#[inline(never)]
pub fn inverse_dynamics_from<T: Scalar>(
    system: &System,
    first: usize,
    kinematics: &Kinematics<T>,
    acceleration: &[T],
    workspace: &mut InverseDynamics<T>,
    generalized_force: &mut [T],
) {
    run_simd(NewtonEuler {
        system,
        first,
        kinematics,
        acceleration,
        workspace,
        generalized_force,
    });
}

/// A call of [`inverse_dynamics`].
struct NewtonEuler<'a, T> {
    system: &'a System,
    first: usize,
    kinematics: &'a Kinematics<T>,
    acceleration: &'a [T],
    workspace: &'a mut InverseDynamics<T>,
    generalized_force: &'a mut [T],
}

impl<T: Scalar> Kernel for NewtonEuler<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self {
            system,
            first,
            kinematics,
            acceleration,
            workspace: w,
            generalized_force,
        } = self;
        let layout = system.layout();

        // outward pass: accelerations, and the force each body needs by itself
        for (k, body) in system.bodies().iter().enumerate().skip(first) {
            let n = body.modes();
            let modes = layout.elastic[k]..layout.elastic[k] + n;
            let elastic_acceleration = &acceleration[layout.elastic_velocity[k]..][..n];
            let mut carried = body.parent.map_or_else(|| w.ground, |p| w.acceleration[p]);
            if let (Place::Node { .. }, Some(p)) = (&body.outboard, body.parent) {
                let influence = &kinematics.influence[layout.influence[k]..];
                let parent_modes = system.bodies()[p].modes();
                let parent_acceleration =
                    &acceleration[layout.elastic_velocity[p]..][..parent_modes];
                for (motion, &a) in influence.iter().zip(parent_acceleration) {
                    carried += motion.scale(a);
                }
            }
            let mut total = kinematics.parent_from_body[k].motion_to_child(carried)
                + kinematics.velocity_product[k];
            let hinge = layout.hinge[k]..layout.hinge[k + 1];
            let joint_acceleration = &acceleration[layout.joint_velocity[k]..];
            for (axis, &a) in kinematics.subspace[hinge].iter().zip(joint_acceleration) {
                total += axis.scale(a);
            }
            if matches!(body.inboard, Place::Node { .. }) {
                for (motion, &a) in kinematics.floating[modes.clone()]
                    .iter()
                    .zip(elastic_acceleration)
                {
                    total += motion.scale(a);
                }
            }
            w.acceleration[k] = total;

            let mut force =
                kinematics.inertia[k].times(total) + kinematics.bias[k] - kinematics.external[k];
            let coupling = &kinematics.coupling[modes.clone()];
            let modal_mass = &kinematics.modal_mass[layout.modal_block[k]..];
            for alpha in 0..n {
                force += coupling[alpha].scale(elastic_acceleration[alpha]);
                let mut modal = total.dot(coupling[alpha])
                    + kinematics.modal_bias[modes.start + alpha]
                    - kinematics.modal_external[modes.start + alpha];
                for beta in 0..n {
                    modal += modal_mass[alpha * n + beta] * elastic_acceleration[beta];
                }
                w.own_modal[layout.elastic_velocity[k] + alpha] = modal;
            }
            w.own[k] = force;
        }

        // inward pass: each joint carries what hangs on it
        w.force.copy_from_slice(&w.own);
        generalized_force[..w.own_modal.len()].copy_from_slice(&w.own_modal);
        for (k, body) in system.bodies().iter().enumerate().rev() {
            let force = w.force[k];
            if matches!(body.inboard, Place::Node { .. }) {
                for alpha in 0..body.modes() {
                    let motion = kinematics.floating[layout.elastic[k] + alpha];
                    generalized_force[layout.elastic_velocity[k] + alpha] += motion.dot(force);
                }
            }
            for (i, axis) in kinematics.subspace[layout.hinge[k]..layout.hinge[k + 1]]
                .iter()
                .enumerate()
            {
                let at = layout.joint_velocity[k] + i;
                generalized_force[at] = axis.dot(force) + acceleration[at] * body.joint.armature[i];
            }
            let Some(p) = body.parent else { continue };
            let carried = kinematics.parent_from_body[k].force_to_parent(force);
            w.force[p] += carried;
            if let Place::Node { .. } = body.outboard {
                for alpha in 0..system.bodies()[p].modes() {
                    let motion = kinematics.influence[layout.influence[k] + alpha];
                    generalized_force[layout.elastic_velocity[p] + alpha] += motion.dot(carried);
                }
            }
        }
    }
}
