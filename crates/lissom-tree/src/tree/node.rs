//! How a node of a flexible body moves in the body's frame.

use crate::flex::{Component, FlexibleBody, Node};
use lissom_spatial::Scalar;
use lissom_spatial::{Matrix, Motion, Quaternion, RotationVector, Transform, Vector};
use lissom_spec::{ShorteningTerms, Tip};

/// Pose and motion of a frame carried by a node, relative to the body's frame.
///
/// The node's frame has the twist $`N(V + \Pi\dot\eta)`$ with $`N`$ the map to the pose; `pose_rate` is what
/// $`\dot N`$ needs, and it is the derivative of the pose even where $`\Pi`$ is not (tips that are rigid, or
/// turned by a matrix that is no rotation).
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeMotion<T> {
    /// Pose of the node's frame in the body's frame.
    pub(super) pose: Transform<T>,
    /// Time derivative of the pose's rotation matrix and translation.
    pub(super) pose_rate: Transform<T>,
    /// $`\Pi\,\dot\eta`$: its twist, seen at the body's origin.
    pub(super) twist: Motion<T>,
    /// $`\dot\Pi\,\dot\eta`$.
    pub(super) bias: Motion<T>,
    /// $`\Gamma`$: angular velocity from the rate of the small rotation.
    pub(super) rate_matrix: Matrix<T>,
}

impl<T: Scalar> NodeMotion<T> {
    /// $`\dot N V`$: rate of the twist of the node's frame, in its own components, that comes from the
    /// change of the pose alone.
    #[inline(always)]
    pub(super) fn rate_of_carried(&self, motion: Motion<T>) -> Motion<T> {
        let (pose, rate) = (&self.pose, &self.pose_rate);
        let linear = motion.linear + motion.angular.cross(pose.translation);
        Motion::new(
            rate.rotation.transpose_mul(motion.angular),
            rate.rotation.transpose_mul(linear)
                + pose
                    .rotation
                    .transpose_mul(motion.angular.cross(rate.translation)),
        )
    }
}

/// Position of a node and its small rotation, with their rates.
struct SmallMotion<T> {
    position: Vector<T>,
    velocity: Vector<T>,
    acceleration_bias: Vector<T>,
    rotation: Vector<T>,
    rotation_rate: Vector<T>,
    rotation_bias: Vector<T>,
}

/// Motion of a node; writes $`\Pi`$, one motion per elastic coordinate, into `influence`.
///
/// The node sits at $`l = r + \sum \psi_\alpha \eta_\alpha + q`$ with the second-order displacement
/// $`q = \tfrac12\sum H_{\alpha\beta}\eta_\alpha\eta_\beta`$ if it is kept, and is turned as `tip` says; `orientation` is that of an exact
/// tip. A rotation vector holds the second-order rotation too; the other tips are ways of their own to make a rotation
/// of $`\theta`$.
#[expect(
    clippy::too_many_arguments,
    reason = "what is constant, what varies, what is written"
)]
#[inline(always)]
pub(super) fn node_motion<T: Scalar>(
    body: &FlexibleBody,
    node: &Node,
    tip: Tip,
    shortening: ShorteningTerms,
    elastic: &[T],
    elastic_rate: &[T],
    orientation: Option<Quaternion<T>>,
    influence: &mut [Motion<T>],
) -> NodeMotion<T> {
    let small = small_motion(
        body,
        node,
        tip,
        shortening,
        elastic,
        elastic_rate,
        influence,
    );
    let rate = small.rotation_rate;
    let one = Matrix::identity();
    let zero = Vector::zero();
    // rotation R, Γ with ω = Γ θ̇, Γ̇ θ̇, and Ṙ, which is ω^× R for every true rotation
    let (rotation, rate_matrix, angular_bias) = match tip {
        Tip::Rigid => (one, one, zero),
        Tip::Linear => (one + Matrix::skew(small.rotation), one, zero),
        Tip::Euler321 | Tip::Chord => euler([2, 1, 0], small.rotation, rate),
        Tip::Euler123 => euler([0, 1, 2], small.rotation, rate),
        Tip::Exact => {
            let turned = orientation.map_or_else(
                || RotationVector::new(small.rotation).matrix(),
                Quaternion::matrix,
            );
            (turned, one, zero)
        }
        Tip::RotationVector => {
            let turned = RotationVector::new(small.rotation);
            let rate_matrix = turned.rate_matrix();
            (
                turned.matrix(),
                rate_matrix,
                turned.angular_bias(rate) + rate_matrix * small.rotation_bias,
            )
        }
        Tip::RotationVectorPlainRate => (RotationVector::new(small.rotation).matrix(), one, zero),
    };
    let angular = rate_matrix * rate;
    let rotation_rate = match tip {
        Tip::Rigid => Matrix::zero(),
        Tip::Linear => Matrix::skew(rate),
        _ => Matrix::skew(angular) * rotation,
    };
    let position = small.position;
    for motion in influence.iter_mut() {
        let angular = rate_matrix * motion.angular;
        // seen at the body's origin: the node's velocity plus l × angular
        *motion = Motion::new(angular, motion.linear + position.cross(angular));
    }
    let moves = tip != Tip::Rigid;
    let position_rate = if moves { small.velocity } else { zero };
    NodeMotion {
        pose: Transform::new(rotation, position),
        pose_rate: Transform::new(rotation_rate, position_rate),
        twist: Motion::new(angular, small.velocity + position.cross(angular)),
        bias: Motion::new(
            angular_bias,
            small.acceleration_bias + position_rate.cross(angular) + position.cross(angular_bias),
        ),
        rate_matrix,
    }
}

/// Sums over the elastic coordinates; leaves displacement and small rotation per coordinate in `influence`.
#[inline(always)]
fn small_motion<T: Scalar>(
    body: &FlexibleBody,
    node: &Node,
    tip: Tip,
    shortening: ShorteningTerms,
    elastic: &[T],
    elastic_rate: &[T],
    influence: &mut [Motion<T>],
) -> SmallMotion<T> {
    let mut small = SmallMotion {
        position: Vector::constant(node.position),
        velocity: Vector::zero(),
        acceleration_bias: Vector::zero(),
        rotation: Vector::zero(),
        rotation_rate: Vector::zero(),
        rotation_bias: Vector::zero(),
    };
    let moves = tip != Tip::Rigid;
    for alpha in 0..elastic.len() {
        let displacement = Vector::constant(node.displacement[alpha]);
        let rotation = Vector::constant(node.rotation[alpha]);
        if moves {
            small.position += displacement.scale(elastic[alpha]);
        }
        small.velocity += displacement.scale(elastic_rate[alpha]);
        small.rotation += rotation.scale(elastic[alpha]);
        small.rotation_rate += rotation.scale(elastic_rate[alpha]);
        influence[alpha] = Motion::new(rotation, displacement);
    }
    if moves
        && shortening.moves_points()
        && let Some(field) = &body.second_order
    {
        for (block, entries) in field.entries(&node.second_order) {
            if !keeps_second_order(shortening, tip, block.component) {
                continue;
            }
            // ½ηᵀHη, its gradient Hη, its rate and its bias η̇ᵀHη̇; a block aside from the diagonal stands for its
            // mirror image too
            let (value, rate, bias) = match block.component {
                Component::Displacement(i) => (
                    &mut small.position[i],
                    &mut small.velocity[i],
                    &mut small.acceleration_bias[i],
                ),
                Component::Rotation(i) => (
                    &mut small.rotation[i],
                    &mut small.rotation_rate[i],
                    &mut small.rotation_bias[i],
                ),
            };
            let rows = entries.chunks_exact(block.columns.len());
            for (row, alpha) in rows.zip(block.rows.clone()) {
                let (mut slope, mut slope_rate) = (T::zero(), T::zero());
                for (&h, beta) in row.iter().zip(block.columns.clone()) {
                    slope += elastic[beta] * h;
                    slope_rate += elastic_rate[beta] * h;
                    if !block.is_diagonal() {
                        *entry_of(&mut influence[beta], block.component) += elastic[alpha] * h;
                    }
                }
                *entry_of(&mut influence[alpha], block.component) += slope;
                *rate += slope * elastic_rate[alpha];
                if block.is_diagonal() {
                    *value += slope * elastic[alpha] * 0.5;
                    *bias += slope_rate * elastic_rate[alpha];
                } else {
                    *value += slope * elastic[alpha];
                    *rate += slope_rate * elastic[alpha];
                    *bias += slope_rate * elastic_rate[alpha] * 2.0;
                }
            }
        }
    }
    small
}

/// Whether a part of the second-order field moves a node: all that displaces it, and what turns it if it is turned by
/// a rotation vector; of the variant that keeps the kinetic energy to second order the shortening alone.
pub fn keeps_second_order(shortening: ShorteningTerms, tip: Tip, component: Component) -> bool {
    if tip == Tip::Rigid || !shortening.moves_points() {
        return false;
    }
    let whole = shortening == ShorteningTerms::Kinematic;
    match component {
        Component::Displacement(axis) => whole || axis == 0,
        Component::Rotation(_) => whole && tip == Tip::RotationVector,
    }
}

/// A component of a motion.
#[inline(always)]
fn entry_of<T>(motion: &mut Motion<T>, component: Component) -> &mut T {
    match component {
        Component::Displacement(i) => &mut motion.linear[i],
        Component::Rotation(i) => &mut motion.angular[i],
    }
}

/// Rotation matrix of the body-fixed Euler angles `angle` (one about each axis, in the order of `sequence`
/// from the body's frame outwards), $`\Gamma`$ with $`\omega = \Gamma\dot\theta`$ in the body's components, and
/// $`\dot\Gamma\dot\theta`$.
#[inline(always)]
fn euler<T: Scalar>(
    sequence: [usize; 3],
    angle: Vector<T>,
    rate: Vector<T>,
) -> (Matrix<T>, Matrix<T>, Vector<T>) {
    let mut rotation = Matrix::identity();
    let mut rate_matrix = Matrix::zero();
    let (mut omega, mut bias) = (Vector::zero(), Vector::zero());
    for axis in sequence {
        // the axis as the turns before it carry it
        let [x, y, z] = rotation.0;
        let carried = Vector([x[axis], y[axis], z[axis]]);
        for i in 0..3 {
            rate_matrix.0[i][axis] = carried[i];
        }
        bias += omega.cross(carried).scale(rate[axis]);
        omega += carried.scale(rate[axis]);
        rotation = rotation * about(axis, angle[axis]);
    }
    (rotation, rate_matrix, bias)
}

/// Rotation about a coordinate axis.
#[inline(always)]
fn about<T: Scalar>(axis: usize, angle: T) -> Matrix<T> {
    let (sin, cos) = angle.sin_cos();
    let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut rotation = Matrix::identity();
    rotation.0[i][i] = cos;
    rotation.0[i][j] = -sin;
    rotation.0[j][i] = sin;
    rotation.0[j][j] = cos;
    rotation
}
