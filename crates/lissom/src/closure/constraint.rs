//! The equations of closures at a state: residual $`\Phi(q)`$, Jacobian $`J`$ with $`\dot\Phi = J v`$, and bias
//! $`\gamma`$ with $`\ddot\Phi = J\dot v + \gamma`$.
//!
//! With $`R`$ the attitude of `to` and $`d`$ its origin, both seen in the frame of `from`, an equation is one of
//!
//! | equation | residual | rate |
//! |---|---|---|
//! | turn | $`\sum u\cdot R\,w`$ over fixed directions $`u`$ of `from` and $`w`$ of `to` | $`\omega\cdot\sum (Rw\times u)`$ |
//! | offset | $`u\cdot d`$ | $`u\cdot\dot d`$ |
//! | distance | $`(d\cdot d - L^2)/2L`$ | $`d\cdot\dot d/L`$ |
//!
//! with the relative angular velocity $`\omega`$ in axes of `from`. Every rate is the power of a unit wrench on
//! `to` and its opposite on `from`; carried inward over the tree, the wrench gives the row of $`J`$, so that a
//! multiplier is the size of a force or moment. Directions are scaled so that, closed, the rate of a turn is
//! a component of $`\omega`$.

use crate::model::{Closure, ClosureEnd, ClosureKind, System};
use crate::scalar::Scalar;
use crate::spatial::{Force, Matrix, Motion, Vector};
use crate::tree::{
    FrameMotion, Kinematics, add_generalized_force, bias_accelerations, frame_motion,
};

/// All equations of the closures of a model, at one state. Build it once, [`update`](Self::update) it for
/// every state.
#[derive(Clone, Debug)]
pub struct Constraints<T> {
    rows: Vec<Row>,
    ends: Vec<[End<T>; 2]>,
    velocities: usize,
    /// Accelerations of the bodies when no coordinate accelerates.
    accelerations: Vec<Motion<T>>,
    residual: Vec<T>,
    rate: Vec<T>,
    bias: Vec<T>,
    jacobian: Vec<T>,
    /// Wrench on `from` and on `to` of a unit multiplier of every equation, in the frames of the ends.
    wrench: Vec<[Force<T>; 2]>,
}

/// One scalar equation.
#[derive(Clone, Debug)]
struct Row {
    closure: usize,
    equation: Equation,
}

#[derive(Clone, Debug)]
enum Equation {
    /// Pairs of a direction fixed to `from` and one fixed to `to`, whose scalar products sum to zero.
    Turn(Vec<(Vector<f64>, Vector<f64>)>),
    Offset(Vector<f64>),
    Distance(f64),
}

/// One side of a closure at a state.
#[derive(Clone, Debug)]
struct End<T> {
    body: Option<usize>,
    motion: FrameMotion<T>,
    /// Of the body's elastic coordinates on the place.
    influence: Vec<Motion<T>>,
}

/// What `to` does as seen from `from`, in the axes of `from`.
struct Relative<T> {
    attitude: Matrix<T>,
    offset: Vector<T>,
    angular: Vector<T>,
    linear: Vector<T>,
    angular_bias: Vector<T>,
    linear_bias: Vector<T>,
}

impl<T: Scalar> Constraints<T> {
    /// The equations of `closures` over `system`, in the order of the closures.
    pub fn new(system: &System, closures: &[Closure]) -> Self {
        let rows: Vec<Row> = closures
            .iter()
            .enumerate()
            .flat_map(|(closure, c)| {
                let row = move |equation| Row { closure, equation };
                equations(&c.kind).into_iter().map(row)
            })
            .collect();
        let n = system.velocity_count();
        let end = |end: &ClosureEnd| End {
            body: end.body,
            motion: FrameMotion::fixed(end.place.offset()),
            influence: vec![Motion::zero(); end.body.map_or(0, |k| system.bodies()[k].modes())],
        };
        Self {
            ends: closures
                .iter()
                .map(|c| [end(&c.from), end(&c.to)])
                .collect(),
            velocities: n,
            accelerations: vec![Motion::zero(); system.bodies().len()],
            residual: vec![T::zero(); rows.len()],
            rate: vec![T::zero(); rows.len()],
            bias: vec![T::zero(); rows.len()],
            jacobian: vec![T::zero(); rows.len() * n],
            wrench: vec![[Force::zero(); 2]; rows.len()],
            rows,
        }
    }

    /// Number of scalar equations.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Evaluates all equations at the state last given to [`Kinematics::update`]. Allocates nothing.
    pub fn update(
        &mut self,
        system: &System,
        closures: &[Closure],
        kinematics: &mut Kinematics<T>,
        position: &[T],
        velocity: &[T],
    ) {
        kinematics.update_poses(system);
        bias_accelerations(system, kinematics, &mut self.accelerations);
        for (ends, closure) in self.ends.iter_mut().zip(closures) {
            for (end, given) in ends.iter_mut().zip([&closure.from, &closure.to]) {
                let Some(body) = end.body else { continue };
                end.motion = frame_motion(
                    system,
                    kinematics,
                    &self.accelerations,
                    body,
                    &given.place,
                    position,
                    velocity,
                    &mut end.influence,
                );
            }
        }
        self.jacobian.fill(T::zero());
        let n = self.velocities;
        for (i, row) in self.rows.iter().enumerate() {
            let ends = &self.ends[row.closure];
            let relative = Relative::new(&ends[0].motion, &ends[1].motion);
            let value = row.equation.at(&relative);
            self.residual[i] = value.residual;
            self.rate[i] = value.turning.dot(relative.angular) + value.pushing.dot(relative.linear);
            self.bias[i] = value.bias;
            let lever = relative.offset.cross(value.pushing);
            let on_from = Force::new(-(value.turning + lever), -value.pushing);
            let on_to = Force::new(
                relative.attitude.transpose_mul(value.turning),
                relative.attitude.transpose_mul(value.pushing),
            );
            self.wrench[i] = [on_from, on_to];
            let jacobian = &mut self.jacobian[i * n..(i + 1) * n];
            for (end, wrench) in ends.iter().zip([on_from, on_to]) {
                let Some(body) = end.body else { continue };
                let force = end.motion.in_body.force_to_parent(wrench);
                add_generalized_force(system, kinematics, body, &end.influence, force, jacobian);
            }
        }
    }

    /// $`\Phi`$: by how much every equation is violated, in metres or radians.
    pub fn residual(&self) -> &[T] {
        &self.residual
    }

    /// $`J v`$: by how much its rate is.
    pub fn rate(&self) -> &[T] {
        &self.rate
    }

    /// $`\gamma = \dot J v`$.
    pub fn bias(&self) -> &[T] {
        &self.bias
    }

    /// $`J`$, by rows.
    pub fn jacobian(&self) -> &[T] {
        &self.jacobian
    }

    /// Row `equation` of $`J`$.
    pub fn row(&self, equation: usize) -> &[T] {
        &self.jacobian[equation * self.velocities..(equation + 1) * self.velocities]
    }

    /// Index of the closure that makes an equation.
    pub fn closure_of(&self, equation: usize) -> usize {
        self.rows[equation].closure
    }

    /// Wrench on `to` of a unit multiplier of an equation, at the frame of `to` in its axes.
    pub fn wrench_on_to(&self, equation: usize) -> Force<T> {
        self.wrench[equation][1]
    }

    /// Every end that equation `equation` pushes on: the body, the wrench of a unit multiplier at the body's
    /// origin in its components, and the influence of the body's elastic coordinates on the place.
    pub fn pushes(&self, equation: usize) -> impl Iterator<Item = (usize, Force<T>, &[Motion<T>])> {
        let ends = &self.ends[self.rows[equation].closure];
        ends.iter()
            .zip(self.wrench[equation])
            .filter_map(|(end, wrench)| {
                let force = end.motion.in_body.force_to_parent(wrench);
                Some((end.body?, force, &end.influence[..]))
            })
    }

    /// What an equation is called: its closure and the relative motion that it forbids.
    pub fn name(&self, closures: &[Closure], equation: usize) -> String {
        let row = &self.rows[equation];
        let closure = &closures[row.closure];
        let what = match &row.equation {
            Equation::Turn(pairs) => match (&closure.kind, &pairs[..]) {
                (ClosureKind::Universal { .. }, _) => "angle between the axes".to_owned(),
                (_, [(u, w), ..]) => {
                    let about = w.cross(*u);
                    let length = about.dot(about).sqrt();
                    format!("turn about {}", direction(about.scale(1.0 / length)))
                }
                (_, []) => "turn".to_owned(),
            },
            Equation::Offset(u) => format!("offset along {}", direction(*u)),
            Equation::Distance(_) => "distance".to_owned(),
        };
        format!("{} ({what})", closure.name)
    }
}

/// A unit vector in words.
fn direction(u: Vector<f64>) -> String {
    // axes as they come out of square frames
    const ALIGNED: f64 = 1.0 - 1e-9;
    for (i, name) in ["x", "y", "z"].into_iter().enumerate() {
        if u[i].abs() > ALIGNED {
            return name.to_owned();
        }
    }
    format!("({:.3}, {:.3}, {:.3})", u[0], u[1], u[2])
}

/// Two unit vectors square to a unit vector and to each other, right-handed with it last.
fn square_to(axis: Vector<f64>) -> (Vector<f64>, Vector<f64>) {
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

fn unit(i: usize) -> Vector<f64> {
    Vector(std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }))
}

/// The scalar equations of a closure: offsets first.
fn equations(kind: &ClosureKind) -> Vec<Equation> {
    let at_point = || (0..3).map(|i| Equation::Offset(unit(i)));
    // ω along every axis
    let parallel = || {
        (0..3).map(|i| {
            let (y, z) = (unit((i + 1) % 3), unit((i + 2) % 3));
            Equation::Turn(vec![(z.scale(0.5), y), (y.scale(-0.5), z)])
        })
    };
    let beside = |axis| {
        let (first, second) = square_to(axis);
        [Equation::Offset(first), Equation::Offset(second)]
    };
    match *kind {
        ClosureKind::Fixed => at_point().chain(parallel()).collect(),
        ClosureKind::Revolute { axis } => {
            let (first, second) = square_to(axis);
            at_point()
                .chain([
                    Equation::Turn(vec![(-second, axis)]),
                    Equation::Turn(vec![(first, axis)]),
                ])
                .collect()
        }
        ClosureKind::Prismatic { axis } => beside(axis).into_iter().chain(parallel()).collect(),
        ClosureKind::Universal { first, second } => at_point()
            .chain([Equation::Turn(vec![(first, second)])])
            .collect(),
        ClosureKind::Spherical => at_point().collect(),
        ClosureKind::PointOnLine { direction } => beside(direction).into(),
        ClosureKind::Distance { length } => vec![Equation::Distance(length)],
    }
}

/// An equation at a state.
struct Value<T> {
    residual: T,
    /// Its rate is `turning · angular + pushing · linear`.
    turning: Vector<T>,
    pushing: Vector<T>,
    bias: T,
}

impl Equation {
    fn at<T: Scalar>(&self, relative: &Relative<T>) -> Value<T> {
        let r = relative;
        let mut value = Value {
            residual: T::zero(),
            turning: Vector::zero(),
            pushing: Vector::zero(),
            bias: T::zero(),
        };
        match self {
            Self::Turn(pairs) => {
                for (u, w) in pairs {
                    let u = Vector::constant(u.0);
                    let w = r.attitude * Vector::constant(w.0);
                    let rate = r.angular.cross(w);
                    value.residual += u.dot(w);
                    value.turning += w.cross(u);
                    value.bias += u.dot(r.angular_bias.cross(w) + r.angular.cross(rate));
                }
            }
            Self::Offset(u) => {
                let u = Vector::constant(u.0);
                value.residual = u.dot(r.offset);
                value.pushing = u;
                value.bias = u.dot(r.linear_bias);
            }
            Self::Distance(length) => {
                let scale = T::constant(1.0 / length);
                let square = r.offset.dot(r.offset) - T::constant(length * length);
                value.residual = square * scale * 0.5;
                value.pushing = r.offset.scale(scale);
                value.bias = (r.offset.dot(r.linear_bias) + r.linear.dot(r.linear)) * scale;
            }
        }
        value
    }
}

impl<T: Scalar> Relative<T> {
    fn new(from: &FrameMotion<T>, to: &FrameMotion<T>) -> Self {
        let axes = from.pose.rotation;
        let attitude = axes.transpose() * to.pose.rotation;
        let offset = axes.transpose_mul(to.pose.translation - from.pose.translation);
        let (own, own_bias) = (from.twist, from.bias);
        let to_angular = attitude * to.twist.angular;
        let to_linear = attitude * to.twist.linear;
        let angular = to_angular - own.angular;
        let linear = to_linear - own.linear - own.angular.cross(offset);
        Self {
            attitude,
            offset,
            angular,
            linear,
            angular_bias: attitude * to.bias.angular + angular.cross(to_angular) - own_bias.angular,
            linear_bias: attitude * to.bias.linear + angular.cross(to_linear)
                - own_bias.linear
                - own_bias.angular.cross(offset)
                - own.angular.cross(linear),
        }
    }
}
