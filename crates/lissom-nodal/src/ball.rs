//! Joints that turn in any way, and such that slide in any way too.
//!
//! Between orientations $`p`$ and $`q`$ with joint axes $`A^p = R^p F^p`$ and $`A^q = R^q F^q`$, and points with the offset
//! $`d = x^q - x^p`$, the joint stands at
//!
//! ```math
//! Q = A^{pT} A^q , \qquad s = A^{pT} d ,
//! ```
//!
//! positions that are a unit quaternion and three numbers. Their rates are quasi-velocities in the axes of $`q`$,
//!
//! ```math
//! w = A^{qT}(\omega^q - \omega^p), \qquad u = A^{qT}(\dot d - \omega^p\times d) ,
//! ```
//!
//! which are what this element has for rates of deformations: rotation first. Deformations themselves it has none; what is
//! missing between $`Q, s`$ and the wanted place is found by [`Ball::missing`].

use lissom_spatial::{Matrix, Quaternion, Scalar, Vector, rotation_vector_of};

use super::element::Gradient;
use super::node::{Followed, NodeState};

/// A spherical or free joint with its axes in the components of either node.
#[derive(Clone, Debug)]
pub(super) struct Ball {
    /// Whether it slides in any way too.
    pub(super) translates: bool,
    frames: [Matrix<f64>; 2],
}

/// Orientations p and q; points p and q where the joint slides.
type Sites<'a, T> = ([&'a NodeState<T>; 2], Option<[&'a NodeState<T>; 2]>);

impl Ball {
    pub(super) fn new(translates: bool, frames: [Matrix<f64>; 2]) -> Self {
        Self { translates, frames }
    }

    /// The states of its nodes: orientations, then points.
    #[inline(always)]
    pub(super) fn sites<'a, T>(&self, nodes: &'a [NodeState<T>], sites: &[usize]) -> Sites<'a, T> {
        let turning = [&nodes[sites[0]], &nodes[sites[1]]];
        let sliding = self
            .translates
            .then(|| [&nodes[sites[2]], &nodes[sites[3]]]);
        (turning, sliding)
    }

    /// Axes of the joint on the side of $`q`$.
    #[inline(always)]
    pub(super) fn axes<T: Scalar>(&self, q: &NodeState<T>) -> [Vector<T>; 3] {
        let axes = q.rotation * Matrix::constant(self.frames[1].0);
        axes.transpose().0.map(Vector)
    }

    /// Where the joint stands: a quaternion, and an offset in the axes on the side of $`p`$.
    pub(super) fn place(&self, ([p, q], points): Sites<'_, f64>) -> (Quaternion<f64>, Vector<f64>) {
        let carrier = p.rotation * self.frames[0];
        let turned = carrier.transpose() * (q.rotation * self.frames[1]);
        let offset = points.map_or(Vector::zero(), |[p, q]| q.position - p.position);
        (
            Quaternion::of_matrix(&turned),
            carrier.transpose_mul(offset),
        )
    }

    /// What brings the joint to a wanted place, in the axes of $`q`$: a rotation vector and a displacement.
    pub(super) fn missing(
        &self,
        sites: Sites<'_, f64>,
        wanted: (Quaternion<f64>, Vector<f64>),
    ) -> [f64; 6] {
        let (turned, offset) = self.place(sites);
        let turned = turned.matrix();
        let turn = rotation_vector_of(&(turned.transpose() * wanted.0.matrix()));
        let slide = turned.transpose_mul(wanted.1 - offset);
        [turn[0], turn[1], turn[2], slide[0], slide[1], slide[2]]
    }

    #[inline(always)]
    pub(super) fn gradient<T: Scalar>(
        &self,
        ([_, q], points): Sites<'_, T>,
        value: &mut [T],
        gradient: &mut [Gradient<T>],
    ) {
        let zero = Vector::zero();
        value.fill(T::zero());
        for (i, axis) in self.axes(q).into_iter().enumerate() {
            gradient[i] = [-axis, axis, zero, zero];
            if let Some([p, q]) = points {
                let lever = axis.cross(q.position - p.position);
                gradient[3 + i] = [lever, zero, -axis, axis];
            }
        }
    }

    #[inline(always)]
    pub(super) fn follow<T: Scalar>(
        &self,
        ([p, q], points): Sites<'_, T>,
        followed: &mut [Followed<T>],
    ) {
        let turning = q.velocity - p.velocity;
        let [carrier, carried] = [p.velocity, q.velocity];
        for (i, axis) in self.axes(q).into_iter().enumerate() {
            let axis_rate = carried.cross(axis);
            followed[i] = Followed {
                value: T::zero(),
                rate: axis.dot(turning),
                bias: axis_rate.dot(turning),
            };
            if let Some([p, q]) = points {
                let (offset, apart) = (q.position - p.position, q.velocity - p.velocity);
                let sliding = apart - carrier.cross(offset);
                followed[3 + i] = Followed {
                    value: T::zero(),
                    rate: axis.dot(sliding),
                    bias: axis_rate.dot(sliding) - axis.dot(carrier.cross(apart)),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lissom_spatial::{Dual, RotationVector};

    type Time = Dual<f64, 1>;

    /// Some ten operations on numbers of order one.
    const ROUNDING: f64 = 1e-14;

    /// Nodes that move at constant velocity and angular velocity.
    fn nodes<T: Scalar>(time: T) -> Vec<NodeState<T>> {
        let velocities = [
            [0.3, -0.5, 0.2],
            [0.7, 0.4, -0.6],
            [-0.2, 0.1, 0.5],
            [0.4, 0.8, 0.3],
        ];
        (velocities.iter().enumerate())
            .map(|(i, velocity)| {
                let velocity: Vector<T> = Vector::constant(*velocity);
                let start: Vector<T> = Vector::constant([0.2 * i as f64, 0.3, -0.1 * i as f64]);
                let turned = RotationVector::new(velocity.scale(time)).matrix();
                NodeState {
                    position: start + velocity.scale(time),
                    rotation: turned * RotationVector::new(start).matrix(),
                    velocity,
                    acceleration: Vector::zero(),
                }
            })
            .collect()
    }

    fn ball() -> Ball {
        let turned = |x, y, z| RotationVector::new(Vector([x, y, z])).matrix();
        Ball::new(true, [turned(0.2, -0.1, 0.3), turned(0.1, 0.1, 0.2)])
    }

    /// Identity: rates are gradients along the velocities, and biases are rates of the rates where no node accelerates.
    #[test]
    fn rates_and_biases() {
        let (ball, sites) = (ball(), [0, 1, 2, 3]);
        let time = Time {
            value: 0.0,
            tangent: [1.0],
        };
        let moving = nodes(time);
        let mut gradient = [[Vector::zero(); 4]; 6];
        let mut followed = [Followed::zero(); 6];
        ball.gradient(ball.sites(&moving, &sites), &mut [time; 6], &mut gradient);
        ball.follow(ball.sites(&moving, &sites), &mut followed);
        for (slopes, followed) in gradient.iter().zip(&followed) {
            let along = slopes.iter().zip(&moving);
            let rate = along.fold(0.0, |sum, (slope, node)| {
                sum + slope.dot(node.velocity).value
            });
            assert!((rate - followed.rate.value).abs() < ROUNDING);
            assert!((followed.rate.tangent[0] - followed.bias.value).abs() < ROUNDING);
        }
    }

    /// Identity: the place is where the rates lead, which what is missing after a short time shows.
    #[test]
    fn places_move_with_the_rates() {
        const SHORT: f64 = 1e-6;
        let (ball, sites) = (ball(), [0, 1, 2, 3]);
        let [before, after] = [-SHORT, SHORT].map(nodes::<f64>);
        let wanted = ball.place(ball.sites(&after, &sites));
        let missing = ball.missing(ball.sites(&before, &sites), wanted);
        let mut followed = [Followed::zero(); 6];
        ball.follow(ball.sites(&nodes(0.0), &sites), &mut followed);
        for (missing, followed) in missing.iter().zip(&followed) {
            // the axes of q turn by SHORT between before and now
            assert!((missing / (2.0 * SHORT) - followed.rate).abs() < 10.0 * SHORT);
        }
    }
}
