//! How a node of a flexible body moves in the body's frame.

use crate::flex::{FlexibleBody, Node};
use crate::model::{Fidelity, NodeRotation, ShorteningTerms};
use crate::scalar::Scalar;
use crate::spatial::{Matrix, Motion, RotationVector, Transform, Vector};

/// Pose and motion of a frame carried by a node, relative to the body's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeMotion<T> {
    /// Pose of the node's frame in the body's frame.
    pub(super) pose: Transform<T>,
    /// $`\Pi\,\dot\eta`$: its twist, seen at the body's origin.
    pub(super) twist: Motion<T>,
    /// $`\dot\Pi\,\dot\eta`$.
    pub(super) bias: Motion<T>,
    /// Turns the rate of the small rotation into angular velocity.
    pub(super) turn: Matrix<T>,
}

/// Pose, twist and bias of a node; writes $`\Pi`$, one motion per elastic coordinate, into `influence`.
///
/// The node sits at $`l = r + \sum \psi_\alpha \eta_\alpha + a\,e_x`$ with the shortening
/// $`a = -\tfrac12 \eta^T S \eta`$, and is turned by $`\mathrm{Exp}(\sum \theta_\alpha \eta_\alpha)`$.
#[inline(always)]
pub(super) fn node_motion<T: Scalar>(
    body: &FlexibleBody,
    node: &Node,
    fidelity: Fidelity,
    elastic: &[T],
    elastic_rate: &[T],
    influence: &mut [Motion<T>],
) -> NodeMotion<T> {
    let n = elastic.len();
    let mut position = Vector::constant(node.position);
    let mut velocity = Vector::zero();
    let mut small_rotation = Vector::zero();
    let mut small_rotation_rate = Vector::zero();
    for alpha in 0..n {
        let displacement = Vector::constant(node.displacement[alpha]);
        let rotation = Vector::constant(node.rotation[alpha]);
        position += displacement.scale(elastic[alpha]);
        velocity += displacement.scale(elastic_rate[alpha]);
        small_rotation += rotation.scale(elastic[alpha]);
        small_rotation_rate += rotation.scale(elastic_rate[alpha]);
        influence[alpha].linear = displacement;
    }

    let mut acceleration_bias = Vector::zero();
    if fidelity.shortening == ShorteningTerms::Kinematic
        && let Some(shortening) = &body.shortening
    {
        // a = −½ ηᵀSη, so its rate per elastic rate is −Sη and its second-order bias is −η̇ᵀSη̇
        let mut block = 0;
        for plane in &shortening.planes {
            let m = plane.len();
            for (row, alpha) in plane.clone().enumerate() {
                let s = &node.shortening[block + row * m..block + (row + 1) * m];
                let mut slope = T::zero();
                let mut slope_rate = T::zero();
                for (&s, beta) in s.iter().zip(plane.clone()) {
                    slope += elastic[beta] * s;
                    slope_rate += elastic_rate[beta] * s;
                }
                influence[alpha].linear[0] -= slope;
                position[0] -= slope * elastic[alpha] * 0.5;
                velocity[0] -= slope * elastic_rate[alpha];
                acceleration_bias[0] -= slope_rate * elastic_rate[alpha];
            }
            block += m * m;
        }
    }

    let turn = RotationVector::new(small_rotation);
    let (rates, angular_bias) = match fidelity.node_rotation {
        NodeRotation::Exponential => (turn.rate_matrix(), turn.angular_bias(small_rotation_rate)),
        NodeRotation::ExponentialWithPlainRate => (Matrix::identity(), Vector::zero()),
    };
    let angular_velocity = rates * small_rotation_rate;
    for alpha in 0..n {
        let angular = rates * Vector::constant(node.rotation[alpha]);
        // seen at the body's origin: the node's velocity plus l × angular
        influence[alpha] = Motion::new(angular, influence[alpha].linear + position.cross(angular));
    }
    NodeMotion {
        pose: Transform::new(turn.matrix(), position),
        twist: Motion::new(
            angular_velocity,
            velocity + position.cross(angular_velocity),
        ),
        bias: Motion::new(
            angular_bias,
            acceleration_bias + velocity.cross(angular_velocity) + position.cross(angular_bias),
        ),
        turn: rates,
    }
}
