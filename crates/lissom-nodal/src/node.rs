//! Nodes: points and orientations that elements share, and how they move.

use lissom_spatial::Scalar;
use lissom_spatial::{Matrix, Quaternion, Vector};

use super::role::Role;

/// Names a node of an [`super::Assembly`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub(super) usize);

impl NodeId {
    /// Position in the order in which nodes were added.
    pub fn index(self) -> usize {
        self.0
    }
}

/// What a node has coordinates for.
///
/// Points and orientations are nodes of their own, so that a hinge is two orientations at one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A point that stays in the plane z = 0: x, y.
    PlanarPoint,
    /// An orientation that turns about z only: one angle.
    PlanarAngle,
    /// A point in space: x, y, z.
    Point,
    /// An orientation in space: a unit quaternion with angular velocity in inertial components.
    Orientation,
}

impl NodeKind {
    /// Which of the three components of velocity the node has.
    pub(super) fn components(self) -> &'static [usize] {
        match self {
            Self::PlanarPoint => &[0, 1],
            Self::PlanarAngle => &[2],
            Self::Point | Self::Orientation => &[0, 1, 2],
        }
    }

    /// Whether it is an orientation and not a point.
    pub(super) fn turns(self) -> bool {
        matches!(self, Self::PlanarAngle | Self::Orientation)
    }

    /// Unit of a coordinate.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::PlanarAngle => "rad",
            Self::Orientation => "1",
            Self::PlanarPoint | Self::Point => "m",
        }
    }

    /// Name of a component, for messages and channels.
    pub(super) fn label(self, component: usize) -> &'static str {
        match (self, component) {
            (Self::PlanarAngle, _) => "angle",
            (Self::Orientation, 0) => "turn_x",
            (Self::Orientation, 1) => "turn_y",
            (Self::Orientation, _) => "turn_z",
            (_, 0) => "x",
            (_, 1) => "y",
            (_, _) => "z",
        }
    }
}

/// A node as it was added: name, kind, roles and where it stands at first.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) kind: NodeKind,
    pub(super) roles: [Role; 3],
    pub(super) placement: Placement,
}

impl Node {
    /// How many of its coordinates follow from others.
    pub(super) fn free_count(&self) -> usize {
        let components = self.kind.components().iter();
        components
            .filter(|&&component| self.roles[component] == Role::Free)
            .count()
    }
}

/// Where a node is: position of a point, orientation of an orientation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    pub(super) position: Vector<f64>,
    pub(super) orientation: Quaternion<f64>,
    /// Angle of a planar orientation, counted through full turns.
    pub(super) angle: f64,
}

impl Placement {
    pub(super) fn at(position: [f64; 3]) -> Self {
        Self {
            position: Vector(position),
            orientation: Quaternion([1.0, 0.0, 0.0, 0.0]),
            angle: 0.0,
        }
    }

    pub(super) fn turned(orientation: Quaternion<f64>) -> Self {
        Self {
            orientation,
            ..Self::at([0.0; 3])
        }
    }

    pub(super) fn at_angle(angle: f64) -> Self {
        Self {
            orientation: Quaternion::of_rotation_vector(Vector([0.0, 0.0, angle])),
            angle,
            ..Self::at([0.0; 3])
        }
    }

    /// Moves a node of this kind along a small displacement or turn.
    pub(super) fn displace(&mut self, kind: NodeKind, increment: Vector<f64>) {
        match kind {
            NodeKind::PlanarPoint | NodeKind::Point => self.position += increment,
            NodeKind::PlanarAngle => *self = Self::at_angle(self.angle + increment[2]),
            NodeKind::Orientation => {
                self.orientation = self.orientation.rotated_in_parent(increment);
            }
        }
    }

    /// Rounds coordinates of a node of this kind to a grid; orientations as a whole, to length one.
    pub(super) fn snap(&mut self, kind: NodeKind, components: impl Iterator<Item = usize>) {
        match kind {
            NodeKind::PlanarPoint | NodeKind::Point => {
                for component in components {
                    self.position[component] = on_grid(self.position[component]);
                }
            }
            NodeKind::PlanarAngle => *self = Self::at_angle(on_grid(self.angle)),
            NodeKind::Orientation => {
                let near = self.orientation.0.map(on_grid);
                let length = near.iter().map(|x| x * x).sum::<f64>().sqrt();
                self.orientation = Quaternion(near.map(|x| x / length));
            }
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        self.position.0.iter().all(|x| x.is_finite())
            && self.orientation.0.iter().all(|x| x.is_finite())
    }
}

/// The nearest multiple of $`2^{-33}`$, about 1e-10: far above rounding, and so small that one step of Newton's method makes up for it.
fn on_grid(x: f64) -> f64 {
    const PER_UNIT: f64 = (1_u64 << 33) as f64;
    // a sum, so that there is one zero
    (x * PER_UNIT).round() / PER_UNIT + 0.0
}

/// Position, velocity and acceleration of a node over a [`Scalar`].
///
/// Points use `position`, orientations `rotation` (node to inertial components); velocity and
/// acceleration are linear for points and angular for orientations, both in inertial components.
#[derive(Clone, Copy, Debug)]
pub struct NodeState<T> {
    /// Position of a point.
    pub position: Vector<T>,
    /// Rotation matrix of an orientation, from node to inertial components.
    pub rotation: Matrix<T>,
    /// Velocity of a point, angular velocity of an orientation.
    pub velocity: Vector<T>,
    /// Acceleration of a point, angular acceleration of an orientation.
    pub acceleration: Vector<T>,
}

impl<T: Scalar> NodeState<T> {
    /// At rest at the origin, unturned.
    pub fn resting() -> Self {
        Self {
            position: Vector::zero(),
            rotation: Matrix::identity(),
            velocity: Vector::zero(),
            acceleration: Vector::zero(),
        }
    }

    /// A vector fixed in the node, in inertial components, with its derivatives at constant angular
    /// velocity.
    #[inline(always)]
    pub(super) fn carried(&self, vector: Vector<f64>) -> Tracked<T> {
        let value = self.rotation * Vector::constant(vector.0);
        let rate = self.velocity.cross(value);
        Tracked {
            value,
            rate,
            bias: self.velocity.cross(rate),
        }
    }

    /// The same vector without derivatives.
    #[inline(always)]
    pub(super) fn direction(&self, vector: Vector<f64>) -> Vector<T> {
        self.rotation * Vector::constant(vector.0)
    }
}

/// A vector with its first derivative and what is left of the second when no node accelerates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tracked<T> {
    pub(super) value: Vector<T>,
    pub(super) rate: Vector<T>,
    pub(super) bias: Vector<T>,
}

impl<T: Scalar> Tracked<T> {
    /// From one point to another.
    #[inline(always)]
    pub(super) fn between(from: &NodeState<T>, to: &NodeState<T>) -> Self {
        Self {
            value: to.position - from.position,
            rate: to.velocity - from.velocity,
            bias: Vector::zero(),
        }
    }

    /// Scalar product with its derivatives.
    #[inline(always)]
    pub(super) fn dot(&self, other: &Self) -> Followed<T> {
        Followed {
            value: self.value.dot(other.value),
            rate: self.rate.dot(other.value) + self.value.dot(other.rate),
            bias: self.bias.dot(other.value)
                + self.rate.dot(other.rate) * 2.0
                + self.value.dot(other.bias),
        }
    }
}

/// A number with its first derivative and what is left of the second when no node accelerates.
#[derive(Clone, Copy, Debug)]
pub struct Followed<T> {
    /// Value.
    pub value: T,
    /// First derivative by time.
    pub rate: T,
    /// Second derivative by time at zero nodal accelerations.
    pub bias: T,
}

impl<T: Scalar> Followed<T> {
    pub(super) fn zero() -> Self {
        Self {
            value: T::zero(),
            rate: T::zero(),
            bias: T::zero(),
        }
    }

    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            rate: self.rate + other.rate,
            bias: self.bias + other.bias,
        }
    }

    #[inline(always)]
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            rate: self.rate * factor,
            bias: self.bias * factor,
        }
    }

    /// Product with its derivatives.
    #[inline(always)]
    pub(super) fn product(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            rate: self.rate * other.value + self.value * other.rate,
            bias: self.bias * other.value + self.rate * other.rate * 2.0 + self.value * other.bias,
        }
    }
}
