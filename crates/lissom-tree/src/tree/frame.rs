//! Frames fixed to a place of a body: pose, twist and acceleration bias, and what a wrench on them does.
//!
//! A frame at a place moves like a massless body fixed there: it has the twist $`N(V + \Pi\dot\eta)`$ of its
//! body's twist and elastic rates, and with all accelerations of the coordinates zero the acceleration
//!
//! ```math
//! \dot V = N\,(A + \dot\Pi\dot\eta) + \dot N\,(V + \Pi\dot\eta) ,
//! ```
//!
//! where $`A`$ is the body's own by $`A_k = X A_p + \zeta_k`$. Closures need it twice differentiated, markers do not.

use super::Kinematics;
use super::kinematics::elastic_of;
use super::node::node_motion;
use crate::{Place, System};
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Motion, Transform};

/// A frame at a place.
#[derive(Clone, Copy, Debug)]
pub struct FrameMotion<T> {
    /// Pose in the ground frame.
    pub pose: Transform<T>,
    /// Pose in the frame of its body.
    pub in_body: Transform<T>,
    /// Twist at its origin, in its own components.
    pub twist: Motion<T>,
    /// Component-wise derivative of the twist when no coordinate accelerates and nothing falls.
    pub bias: Motion<T>,
}

impl<T: Scalar> FrameMotion<T> {
    /// A frame of the ground.
    pub fn fixed(pose: &Transform<f64>) -> Self {
        let pose = Transform::constant(pose);
        Self {
            pose,
            in_body: pose,
            twist: Motion::zero(),
            bias: Motion::zero(),
        }
    }
}

/// Accelerations of all bodies in the prepared state when no coordinate accelerates, without gravity.
#[inline(never)]
pub fn bias_accelerations<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    acceleration: &mut [Motion<T>],
) {
    for (k, body) in system.bodies().iter().enumerate() {
        let carried = body.parent.map_or(Motion::zero(), |p| acceleration[p]);
        acceleration[k] = kinematics.parent_from_body[k].motion_to_child(carried)
            + kinematics.velocity_product[k];
    }
}

/// Motion of the frame at a place of body `body`, in the state last given to [`Kinematics::update`] and
/// [`Kinematics::update_poses`]; `accelerations` are those of [`bias_accelerations`]. Writes the influence of
/// the body's elastic coordinates on the frame, at the body's origin in body components, into `influence`.
#[expect(
    clippy::too_many_arguments,
    reason = "what is constant, what varies, what is written"
)]
#[inline(never)]
pub fn frame_motion<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    accelerations: &[Motion<T>],
    body: usize,
    place: &Place,
    position: &[T],
    velocity: &[T],
    influence: &mut [Motion<T>],
) -> FrameMotion<T> {
    let n = system.bodies()[body].modes();
    let fidelity = system.bodies()[body].fidelity;
    let mut carried = kinematics.twist[body];
    let mut in_body = Transform::constant(place.offset());
    let mut bias = accelerations[body];
    let mut turning = Motion::zero();
    influence[..n].fill(Motion::zero());
    if let (Place::Node { index, offset }, Some(flexible)) =
        (place, &system.bodies()[body].flexible)
    {
        let zeros = kinematics.zeros(n);
        let (elastic, elastic_rate) = elastic_of(system, body, position, velocity, zeros);
        let node = node_motion(
            flexible,
            &flexible.nodes[*index],
            fidelity.closure_tip(),
            fidelity.shortening,
            elastic,
            elastic_rate,
            None,
            &mut influence[..n],
        );
        let offset = Transform::constant(offset);
        in_body = node.pose * offset;
        carried += node.twist;
        bias += node.bias;
        turning = offset.motion_to_child(node.rate_of_carried(carried));
    }
    FrameMotion {
        pose: kinematics.ground_from_body[body] * in_body,
        in_body,
        twist: in_body.motion_to_child(carried),
        bias: in_body.motion_to_child(bias) + turning,
    }
}

/// Adds the generalised force of a wrench on a body, at its origin in its own components, to
/// `generalized_force`. `influence` is that of the place it acts on, empty for one that does not bend.
#[inline(never)]
pub fn add_generalized_force<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    body: usize,
    influence: &[Motion<T>],
    force: Force<T>,
    generalized_force: &mut [T],
) {
    add_relative_force(
        system,
        kinematics,
        body,
        None,
        influence,
        force,
        generalized_force,
    );
}

/// The same of a wrench whose opposite acts on something that hangs on `carrier` too: what moves the carrier as a whole moves both, and
/// the two do no work there.
#[inline(never)]
pub(crate) fn add_relative_force<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    body: usize,
    carrier: Option<usize>,
    influence: &[Motion<T>],
    force: Force<T>,
    generalized_force: &mut [T],
) {
    let layout = system.layout();
    let bodies = system.bodies();
    let (mut k, mut influence, mut force) = (body, influence, force);
    loop {
        if carrier == Some(k) {
            for (alpha, motion) in influence.iter().enumerate() {
                generalized_force[layout.elastic_velocity[k] + alpha] += motion.dot(force);
            }
            return;
        }
        let floats = matches!(bodies[k].inboard, Place::Node { .. });
        for alpha in 0..bodies[k].modes() {
            let at = layout.elastic_velocity[k] + alpha;
            if let Some(motion) = influence.get(alpha) {
                generalized_force[at] += motion.dot(force);
            }
            if floats {
                generalized_force[at] += kinematics.floating[layout.elastic[k] + alpha].dot(force);
            }
        }
        let hinge = layout.hinge[k]..layout.hinge[k + 1];
        for (i, axis) in kinematics.subspace[hinge].iter().enumerate() {
            generalized_force[layout.joint_velocity[k] + i] += axis.dot(force);
        }
        let Some(parent) = bodies[k].parent else {
            return;
        };
        force = kinematics.parent_from_body[k].force_to_parent(force);
        influence = kinematics.outboard_influence(system, k);
        k = parent;
    }
}

/// The same of wrenches on all bodies that act on their frames, each carried over every joint once; what each body carries
/// is left in `forces`.
#[inline(never)]
pub(super) fn add_generalized_forces<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    forces: &mut [Force<T>],
    generalized_force: &mut [T],
) {
    let layout = system.layout();
    let bodies = system.bodies();
    for k in (0..bodies.len()).rev() {
        let force = forces[k];
        if matches!(bodies[k].inboard, Place::Node { .. }) {
            for alpha in 0..bodies[k].modes() {
                let motion = kinematics.floating[layout.elastic[k] + alpha];
                generalized_force[layout.elastic_velocity[k] + alpha] += motion.dot(force);
            }
        }
        let hinge = layout.hinge[k]..layout.hinge[k + 1];
        for (i, axis) in kinematics.subspace[hinge].iter().enumerate() {
            generalized_force[layout.joint_velocity[k] + i] += axis.dot(force);
        }
        let Some(parent) = bodies[k].parent else {
            continue;
        };
        let carried = kinematics.parent_from_body[k].force_to_parent(force);
        let influence = kinematics.outboard_influence(system, k).iter();
        for (alpha, motion) in influence.enumerate() {
            generalized_force[layout.elastic_velocity[parent] + alpha] += motion.dot(carried);
        }
        forces[parent] += carried;
    }
}

impl<T: Scalar> Kinematics<T> {
    /// Influence of the parent's elastic coordinates on the joint that carries body `k`, empty where they do
    /// not move it.
    pub(super) fn outboard_influence(&self, system: &System, k: usize) -> &[Motion<T>] {
        let layout = system.layout();
        &self.influence[layout.influence[k]..layout.influence[k + 1]]
    }
}
