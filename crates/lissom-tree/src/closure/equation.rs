//! One scalar equation of a closure: what it measures of the motion of one end as seen from the other, its rate and its bias. The table
//! is in `constraint.rs`.

use super::sliding::Plane;
use crate::ClosureKind;
use crate::tree::FrameMotion;
use lissom_spatial::{Matrix, Scalar, Vector};

/// One scalar equation.
#[derive(Clone, Debug)]
pub(super) enum Equation {
    /// Pairs of a direction fixed to `from` and one fixed to `to`, whose scalar products sum to zero.
    Rotation(Vec<(Vector<f64>, Vector<f64>)>),
    Offset(Vector<f64>),
    Distance(f64),
    OnBeam(Plane),
    AlongBeam(Plane),
    TwistOfBeam,
}

/// What `to` does as seen from `from`, in the axes of `from`.
pub(super) struct Relative<T> {
    pub(super) orientation: Matrix<T>,
    pub(super) offset: Vector<T>,
    pub(super) angular: Vector<T>,
    pub(super) linear: Vector<T>,
    pub(super) angular_bias: Vector<T>,
    pub(super) linear_bias: Vector<T>,
}

/// Two unit vectors orthogonal to a unit vector and to each other, right-handed with it last.
fn orthogonal_to(axis: Vector<f64>) -> (Vector<f64>, Vector<f64>) {
    let mut largest = 0;
    for i in 1..3 {
        if axis[i].abs() > axis[largest].abs() {
            largest = i;
        }
    }
    let mut first = Vector::zero();
    first[(largest + 1) % 3] = 1.0;
    first = first - axis.scale(first.dot(axis));
    first = first.scale(1.0 / first.dot(first).sqrt());
    (first, axis.cross(first))
}

/// The scalar equations of a closure: offsets first.
pub(super) fn equations(kind: &ClosureKind) -> Vec<Equation> {
    let at_point = || (0..3).map(|i| Equation::Offset(Vector::axis(i)));
    // ω along every axis
    let parallel = || {
        (0..3).map(|i| {
            let (y, z) = (Vector::axis((i + 1) % 3), Vector::axis((i + 2) % 3));
            Equation::Rotation(vec![(z.scale(0.5), y), (y.scale(-0.5), z)])
        })
    };
    let beside = |axis| {
        let (first, second) = orthogonal_to(axis);
        [Equation::Offset(first), Equation::Offset(second)]
    };
    match *kind {
        ClosureKind::Fixed => at_point().chain(parallel()).collect(),
        ClosureKind::Revolute { axis } => {
            let (first, second) = orthogonal_to(axis);
            at_point()
                .chain([
                    Equation::Rotation(vec![(-second, axis)]),
                    Equation::Rotation(vec![(first, axis)]),
                ])
                .collect()
        }
        ClosureKind::Prismatic { axis } => beside(axis).into_iter().chain(parallel()).collect(),
        ClosureKind::Universal { first, second } => at_point()
            .chain([Equation::Rotation(vec![(first, second)])])
            .collect(),
        ClosureKind::Spherical => at_point().collect(),
        ClosureKind::PointOnLine { direction } => beside(direction).into(),
        ClosureKind::Distance { length } => vec![Equation::Distance(length)],
        ClosureKind::OnBeam { planes } => Plane::of(planes).map(Equation::OnBeam).collect(),
        ClosureKind::AlongBeam { planes } => Plane::of(planes).map(Equation::AlongBeam).collect(),
        ClosureKind::TwistOfBeam => vec![Equation::TwistOfBeam],
    }
}

/// An equation at a state.
pub(super) struct Value<T> {
    pub(super) residual: T,
    /// Its rate is `moment · angular + force · linear + own_rate`, the power of a wrench.
    pub(super) moment: Vector<T>,
    pub(super) force: Vector<T>,
    /// What the deformation of a beam does where the closure touches it.
    pub(super) own_rate: T,
    pub(super) bias: T,
}

impl<T: Scalar> Value<T> {
    fn zero() -> Self {
        Self {
            residual: T::zero(),
            moment: Vector::zero(),
            force: Vector::zero(),
            own_rate: T::zero(),
            bias: T::zero(),
        }
    }

    /// Of directions fixed to either side, whose scalar products are to sum to zero.
    fn rotation(pairs: &[(Vector<f64>, Vector<f64>)], r: &Relative<T>) -> Self {
        let mut value = Self::zero();
        for (u, w) in pairs {
            let u = Vector::constant(u.0);
            let w = r.orientation * Vector::constant(w.0);
            let rate = r.angular.cross(w);
            value.residual += u.dot(w);
            value.moment += w.cross(u);
            value.bias += u.dot(r.angular_bias.cross(w) + r.angular.cross(rate));
        }
        value
    }

    /// Of the offset along a direction of `from`.
    fn offset(u: Vector<f64>, r: &Relative<T>) -> Self {
        let u = Vector::constant(u.0);
        Self {
            residual: u.dot(r.offset),
            force: u,
            bias: u.dot(r.linear_bias),
            ..Self::zero()
        }
    }

    fn distance(length: f64, r: &Relative<T>) -> Self {
        let scale = T::constant(1.0 / length);
        let square = r.offset.dot(r.offset) - T::constant(length * length);
        Self {
            residual: square * scale * 0.5,
            force: r.offset.scale(scale),
            bias: (r.offset.dot(r.linear_bias) + r.linear.dot(r.linear)) * scale,
            ..Self::zero()
        }
    }
}

impl Equation {
    pub(super) fn at<T: Scalar>(&self, relative: &Relative<T>) -> Value<T> {
        let axis = Vector::axis;
        match self {
            Self::Rotation(pairs) => Value::rotation(pairs, relative),
            Self::Offset(u) => Value::offset(*u, relative),
            Self::Distance(length) => Value::distance(*length, relative),
            // a body without an axis that bends is straight
            Self::OnBeam(plane) => Value::offset(axis(plane.axis()), relative),
            Self::AlongBeam(plane) => Value::rotation(&[(axis(plane.axis()), axis(0))], relative),
            Self::TwistOfBeam => Value::rotation(&[(axis(2), axis(1))], relative),
        }
    }
}

impl<T: Scalar> Relative<T> {
    pub(super) fn new(from: &FrameMotion<T>, to: &FrameMotion<T>) -> Self {
        let axes = from.pose.rotation;
        let orientation = axes.transpose() * to.pose.rotation;
        let offset = axes.transpose_mul(to.pose.translation - from.pose.translation);
        let (own, own_bias) = (from.twist, from.bias);
        let to_angular = orientation * to.twist.angular;
        let to_linear = orientation * to.twist.linear;
        let angular = to_angular - own.angular;
        let linear = to_linear - own.linear - own.angular.cross(offset);
        Self {
            orientation,
            offset,
            angular,
            linear,
            angular_bias: orientation * to.bias.angular + angular.cross(to_angular)
                - own_bias.angular,
            linear_bias: orientation * to.bias.linear + angular.cross(to_linear)
                - own_bias.linear
                - own_bias.angular.cross(offset)
                - own.angular.cross(linear),
        }
    }
}
