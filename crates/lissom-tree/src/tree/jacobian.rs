//! Markers: where they are, how fast they move, what a force on them does.

use super::node::node_motion;
use super::{InverseDynamics, Kinematics};
use crate::flex::Node;
use crate::{Place, System};
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Motion, Transform, Vector};

/// Pose and twist of a marker in the ground frame.
#[derive(Clone, Copy, Debug)]
pub struct MarkerMotion<T> {
    /// Pose in the ground frame.
    pub pose: Transform<T>,
    /// Angular velocity, and velocity of the marker's own point, in ground components.
    pub twist: Motion<T>,
    /// Displacement of the marker from its undeformed place, in the components of the body's frame, or of its root where it is
    /// [held](crate::flex::FlexibleBody::held) there.
    pub deflection: Vector<T>,
    /// Its rate in these components.
    pub deflection_rate: Vector<T>,
}

/// Motion of a place on body `body`, in the state last given to [`Kinematics::update`] and
/// [`Kinematics::update_poses`]. Writes the influence of the body's elastic coordinates on the place, at
/// the body's origin in body components, into `influence`.
#[inline(never)]
pub fn marker_motion<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    body: usize,
    place: &Place,
    position: &[T],
    velocity: &[T],
    influence: &mut [Motion<T>],
) -> MarkerMotion<T> {
    let layout = system.layout();
    let ground_from_body = kinematics.ground_from_body[body];
    let n = system.bodies()[body].modes();
    let fidelity = system.bodies()[body].fidelity;
    let elastic = &position[layout.elastic_position[body]..][..n];
    let elastic_rate = &velocity[layout.elastic_velocity[body]..][..n];
    let mut relative = Motion::zero();
    let [mut deflection, mut deflection_rate] = [Vector::zero(); 2];
    let mut in_body = Transform::constant(place.offset());
    influence[..n].fill(Motion::zero());
    if let (Place::Node { index, offset }, Some(flexible)) =
        (place, &system.bodies()[body].flexible)
    {
        let node = &flexible.nodes[*index];
        let at = |node: &Node, elastic: &[T], rate: &[T], influence: &mut [Motion<T>]| {
            let (tip, shortening) = (fidelity.marker_tip(), fidelity.shortening);
            node_motion(
                flexible, node, tip, shortening, elastic, rate, None, influence,
            )
        };
        let held = flexible
            .held
            .as_ref()
            .map(|held| at(held, elastic, elastic_rate, &mut influence[..n]));
        let bent = at(node, elastic, elastic_rate, &mut influence[..n]);
        let (mut place, mut rate) = (bent.pose.translation, bent.twist.linear);
        rate += bent.twist.angular.cross(place);
        if let Some(held) = held {
            rate = held
                .pose
                .rotation
                .transpose_mul(rate - held.twist.angular.cross(place));
            place = held.pose.rotation.transpose_mul(place);
        }
        deflection = place - Vector::constant(node.position);
        deflection_rate = rate;
        let motion = if fidelity.frozen {
            let zeros = kinematics.zeros(n);
            at(node, zeros, zeros, &mut influence[..n])
        } else {
            bent
        };
        relative = motion.twist;
        in_body = motion.pose * Transform::constant(offset);
    }
    let at_body = kinematics.twist[body] + relative;
    let pose = ground_from_body * in_body;
    let linear = at_body.linear + at_body.angular.cross(in_body.translation);
    MarkerMotion {
        pose,
        twist: Motion::new(
            ground_from_body.rotation * at_body.angular,
            ground_from_body.rotation * linear,
        ),
        deflection,
        deflection_rate,
    }
}

/// Acceleration of a marker's own point less that of free fall, in ground components: in the state last given to
/// [`Kinematics::update`] and [`Kinematics::update_poses`], for the accelerations of the last
/// [`inverse_dynamics`](super::inverse_dynamics()), which holds those of the bodies.
pub fn specific_force<T: Scalar>(
    system: &System,
    (kinematics, inverse): (&Kinematics<T>, &InverseDynamics<T>),
    body: usize,
    place: &Place,
    [position, velocity, acceleration]: [&[T]; 3],
    influence: &mut [Motion<T>],
) -> Vector<T> {
    let layout = system.layout();
    let n = system.bodies()[body].modes();
    let fidelity = system.bodies()[body].fidelity;
    let mut carried = kinematics.twist[body];
    let mut total = inverse.acceleration[body];
    let mut turning = Motion::zero();
    let mut in_body = Transform::constant(place.offset());
    if let (Place::Node { index, offset }, Some(flexible)) =
        (place, &system.bodies()[body].flexible)
    {
        let offset = Transform::constant(offset);
        let zeros = kinematics.zeros(n);
        let [elastic, rate, second] = if fidelity.frozen {
            [zeros; 3]
        } else {
            [
                &position[layout.elastic_position[body]..][..n],
                &velocity[layout.elastic_velocity[body]..][..n],
                &acceleration[layout.elastic_velocity[body]..][..n],
            ]
        };
        let node = node_motion(
            flexible,
            &flexible.nodes[*index],
            fidelity.marker_tip(),
            fidelity.shortening,
            elastic,
            rate,
            None,
            &mut influence[..n],
        );
        in_body = node.pose * offset;
        carried += node.twist;
        total += node.bias;
        for (motion, &second) in influence[..n].iter().zip(second) {
            total += motion.scale(second);
        }
        turning = offset.motion_to_child(node.rate_of_carried(carried));
    }
    let twist = in_body.motion_to_child(carried);
    let rate = in_body.motion_to_child(total) + turning;
    let own = rate.linear + twist.angular.cross(twist.linear);
    kinematics.ground_from_body[body].rotation * (in_body.rotation * own)
}

/// Jacobian of a marker's twist, 6 × n by rows, angular first, in ground components.
///
/// `point` is the marker's position and `influence` what [`marker_motion`] wrote.
#[inline(never)]
pub fn marker_jacobian<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    body: usize,
    point: Vector<T>,
    influence: &[Motion<T>],
    jacobian: &mut [T],
) {
    let layout = system.layout();
    let bodies = system.bodies();
    let size = layout.velocities;
    jacobian.fill(T::zero());
    let mut write = |k: usize, motion: Motion<T>, column: usize| {
        let pose = &kinematics.ground_from_body[k];
        let angular = pose.rotation * motion.angular;
        let linear = pose.rotation * motion.linear + angular.cross(point - pose.translation);
        for i in 0..3 {
            jacobian[i * size + column] += angular[i];
            jacobian[(i + 3) * size + column] += linear[i];
        }
    };
    let mut k = body;
    let mut influence = influence;
    loop {
        for alpha in 0..bodies[k].modes() {
            let mut motion = influence.get(alpha).map_or(Motion::zero(), |m| *m);
            if matches!(bodies[k].inboard, Place::Node { .. }) {
                motion += kinematics.floating[layout.elastic[k] + alpha];
            }
            write(k, motion, layout.elastic_velocity[k] + alpha);
        }
        let hinge = layout.hinge[k]..layout.hinge[k + 1];
        for (i, axis) in kinematics.subspace[hinge].iter().enumerate() {
            write(k, *axis, layout.joint_velocity[k] + i);
        }
        let Some(parent) = bodies[k].parent else {
            break;
        };
        influence = kinematics.outboard_influence(system, k);
        k = parent;
    }
}

/// Applies a force and moment, in ground components at `point`, to a marker of body `body` until the next
/// [`Kinematics::update`].
#[inline(never)]
pub fn apply_wrench<T: Scalar>(
    system: &System,
    kinematics: &mut Kinematics<T>,
    body: usize,
    point: Vector<T>,
    influence: &[Motion<T>],
    wrench: Force<T>,
) {
    let pose = kinematics.ground_from_body[body];
    let moment = wrench.moment + (point - pose.translation).cross(wrench.force);
    let force = Force::new(
        pose.rotation.transpose_mul(moment),
        pose.rotation.transpose_mul(wrench.force),
    );
    kinematics.external[body] += force;
    let first = system.layout().elastic[body];
    for alpha in 0..system.bodies()[body].modes() {
        kinematics.modal_external[first + alpha] += influence[alpha].dot(force);
    }
}
