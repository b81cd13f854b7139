//! Joints: which relative motion they leave free, and the pose that follows from their position.

use lissom_spatial::Scalar;
use lissom_spatial::{Matrix, Motion, Quaternion, Transform, Vector};

/// A joint: which relative motion it leaves free.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Name, unique in the system.
    pub name: String,
    /// Which relative motion it leaves free.
    pub kind: JointKind,
    /// Rotor inertia felt at the joint, for every degree of freedom it has.
    pub armature: [f64; 6],
    /// Whether the motion is given as a function of time.
    pub prescribed: bool,
}

/// The kinds of joints the recursions know. A universal joint is two revolute ones.
#[derive(Clone, Debug, PartialEq)]
pub enum JointKind {
    /// Turns about an axis of the joint frame.
    Revolute {
        /// Unit vector.
        axis: Vector<f64>,
    },
    /// Slides along an axis of the joint frame.
    Prismatic {
        /// Unit vector.
        axis: Vector<f64>,
    },
    /// Does not move.
    Fixed,
    /// Turns about a point; position is a quaternion, velocity the angular velocity in child components.
    Spherical,
    /// Moves freely; position is `[x, y, z]` and a quaternion, velocity the twist in child components.
    Free,
}

impl JointKind {
    /// How many numbers describe its position.
    pub fn positions(&self) -> usize {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::Fixed => 0,
            Self::Spherical => 4,
            Self::Free => 7,
        }
    }

    /// How many degrees of freedom it leaves.
    pub fn velocities(&self) -> usize {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::Fixed => 0,
            Self::Spherical => 3,
            Self::Free => 6,
        }
    }

    /// Motion of the child's place for a unit of each joint velocity, in the components of the frame that
    /// `inboard` is given in: the columns of $`H^*`$.
    pub(crate) fn motions(&self, inboard: &Transform<f64>) -> Vec<Motion<f64>> {
        let zero = Vector::zero();
        let in_joint_frame = match *self {
            Self::Revolute { axis } => vec![Motion::new(axis, zero)],
            Self::Prismatic { axis } => vec![Motion::new(zero, axis)],
            Self::Fixed => vec![],
            Self::Spherical => (0..3).map(|i| Motion::new(Vector::axis(i), zero)).collect(),
            Self::Free => (0..6)
                .map(|i| match i {
                    0..3 => Motion::new(Vector::axis(i), zero),
                    _ => Motion::new(zero, Vector::axis(i - 3)),
                })
                .collect(),
        };
        in_joint_frame
            .into_iter()
            .map(|motion| inboard.motion_to_parent(motion))
            .collect()
    }
}

/// Pose of the child's place frame in the parent's place frame as a function of the joint position, with
/// the constant offsets on both sides folded in when the system is built.
#[derive(Clone, Debug)]
pub(crate) enum JointGeometry {
    /// Rotation `constant + sine sin q + cosine cos q`.
    Revolute {
        constant: Matrix<f64>,
        sine: Matrix<f64>,
        cosine: Matrix<f64>,
        outboard: Vector<f64>,
        inboard: Vector<f64>,
    },
    /// A pose that slides along `direction`.
    Prismatic {
        pose: Transform<f64>,
        direction: Vector<f64>,
    },
    Fixed(Transform<f64>),
    Spherical {
        outboard: Transform<f64>,
        from_inboard: Transform<f64>,
    },
    Free {
        outboard: Transform<f64>,
        from_inboard: Transform<f64>,
    },
}

impl JointGeometry {
    pub(crate) fn new(
        kind: &JointKind,
        outboard: &Transform<f64>,
        inboard: &Transform<f64>,
    ) -> Self {
        let from_inboard = inboard.inverse();
        match *kind {
            JointKind::Revolute { axis } => {
                let sandwich = |m: Matrix<f64>| outboard.rotation * m * from_inboard.rotation;
                let along = axis.outer(axis);
                Self::Revolute {
                    constant: sandwich(along),
                    sine: sandwich(Matrix::skew(axis)),
                    cosine: sandwich(Matrix::identity() - along),
                    outboard: outboard.translation,
                    inboard: inboard.translation,
                }
            }
            JointKind::Prismatic { axis } => Self::Prismatic {
                pose: *outboard * from_inboard,
                direction: outboard.rotation * axis,
            },
            JointKind::Fixed => Self::Fixed(*outboard * from_inboard),
            JointKind::Spherical => Self::Spherical {
                outboard: *outboard,
                from_inboard,
            },
            JointKind::Free => Self::Free {
                outboard: *outboard,
                from_inboard,
            },
        }
    }

    /// The pose at joint position `q`.
    #[inline(always)]
    pub(crate) fn pose<T: Scalar>(&self, q: &[T]) -> Transform<T> {
        match self {
            Self::Revolute {
                constant,
                sine,
                cosine,
                outboard,
                inboard,
            } => {
                let (sin, cos) = q[0].sin_cos();
                let entry = |i: usize, j: usize| {
                    sin * sine.0[i][j] + cos * cosine.0[i][j] + T::constant(constant.0[i][j])
                };
                let row = |i: usize| [entry(i, 0), entry(i, 1), entry(i, 2)];
                let rotation = Matrix([row(0), row(1), row(2)]);
                let translation =
                    Vector::constant(outboard.0) - rotation * Vector::constant(inboard.0);
                Transform::new(rotation, translation)
            }
            Self::Prismatic { pose, direction } => {
                let mut moved = Transform::constant(pose);
                moved.translation += Vector::constant(direction.0).scale(q[0]);
                moved
            }
            Self::Fixed(pose) => Transform::constant(pose),
            Self::Spherical {
                outboard,
                from_inboard,
            } => {
                let turned = Transform::new(
                    Quaternion([q[0], q[1], q[2], q[3]]).matrix(),
                    Vector::zero(),
                );
                Transform::constant(outboard) * turned * Transform::constant(from_inboard)
            }
            Self::Free {
                outboard,
                from_inboard,
            } => {
                let moved = Transform::new(
                    Quaternion([q[3], q[4], q[5], q[6]]).matrix(),
                    Vector([q[0], q[1], q[2]]),
                );
                Transform::constant(outboard) * moved * Transform::constant(from_inboard)
            }
        }
    }
}
