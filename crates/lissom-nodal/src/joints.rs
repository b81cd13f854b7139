//! Elements without shape: hinge, truss and slider.
//!
//! - **Hinge** between two orientations: the angle that $`q`$ is turned from $`p`$ about the hinge axis
//!   $`x`$, $`e_1 = \mathrm{atan2}\bigl((z^p,y^q) - (y^p,z^q),\ (y^p,y^q) + (z^p,z^q)\bigr)`$, which is the twist of
//!   the relative rotation, and the tilts $`e_2 = (y^p, x^q)`$, $`e_3 = (z^p, x^q)`$ of the axis. In the plane
//!   the axis is z and there is only $`e_1 = \phi^q - \phi^p`$ (Jonker & Aarts (5)).
//! - **Truss** between two points: $`e_1 = |l| - l_0`$; active when it is prescribed or actuated.
//! - **Slider** between two points, along axes carried by an orientation:
//!   $`e = \bigl((x, l), (y, l), (z, l)\bigr)`$, travel first.
//!
//! Angles are counted through full turns: a hinge is evaluated beside the angle it had last.

use lissom_spatial::Scalar;
use lissom_spatial::{Matrix, Vector};

use super::element::Gradient;
use super::node::{Followed, NodeState, Tracked};

/// A hinge with its axes in the components of either node.
#[derive(Clone, Debug)]
pub(super) struct Hinge {
    pub(super) planar: bool,
    axes: [[Vector<f64>; 3]; 2],
}

impl Hinge {
    pub(super) fn new(planar: bool, frames: [Matrix<f64>; 2]) -> Self {
        Self {
            planar,
            axes: frames.map(|frame| frame.transpose().0.map(Vector)),
        }
    }

    /// The axis in the components of the first node.
    pub(super) fn axis(&self) -> Vector<f64> {
        self.axes[0][0]
    }

    /// The angle nearest to `reference`, for any distance from it.
    pub(super) fn angle(&self, [p, q]: [&NodeState<f64>; 2], reference: f64) -> f64 {
        let [_, y_p, z_p] = self.axes[0].map(|axis| p.direction(axis));
        let [_, y_q, z_q] = self.axes[1].map(|axis| q.direction(axis));
        let sine = z_p.dot(y_q) - y_p.dot(z_q);
        let cosine = y_p.dot(y_q) + z_p.dot(z_q);
        let (sin, cos) = reference.sin_cos();
        reference + (sine * cos - cosine * sin).atan2(cosine * cos + sine * sin)
    }

    #[inline(always)]
    pub(super) fn gradient<T: Scalar>(
        &self,
        [p, q]: [&NodeState<T>; 2],
        reference: f64,
        value: &mut [T],
        gradient: &mut [Gradient<T>],
    ) {
        let [_, y_p, z_p] = self.axes[0].map(|axis| p.direction(axis));
        let [x_q, y_q, z_q] = self.axes[1].map(|axis| q.direction(axis));
        let sine = z_p.dot(y_q) - y_p.dot(z_q);
        let cosine = y_p.dot(y_q) + z_p.dot(z_q);
        let squared = sine * sine + cosine * cosine;
        value[0] = beside(reference, sine, cosine, squared);
        let sine_turn = z_p.cross(y_q) - y_p.cross(z_q);
        let cosine_turn = y_p.cross(y_q) + z_p.cross(z_q);
        let turn =
            (sine_turn.scale(cosine) - cosine_turn.scale(sine)).scale(T::constant(1.0) / squared);
        let zero = Vector::zero();
        gradient[0] = [turn, -turn, zero, zero];
        if !self.planar {
            for (i, axis) in [y_p, z_p].into_iter().enumerate() {
                value[1 + i] = axis.dot(x_q);
                let turn = axis.cross(x_q);
                gradient[1 + i] = [turn, -turn, zero, zero];
            }
        }
    }

    #[inline(always)]
    pub(super) fn follow<T: Scalar>(
        &self,
        [p, q]: [&NodeState<T>; 2],
        reference: f64,
        followed: &mut [Followed<T>],
    ) {
        let [_, y_p, z_p] = self.axes[0].map(|axis| p.carried(axis));
        let [x_q, y_q, z_q] = self.axes[1].map(|axis| q.carried(axis));
        let sine = z_p.dot(&y_q).plus(y_p.dot(&z_q).times(-1.0));
        let cosine = y_p.dot(&y_q).plus(z_p.dot(&z_q));
        let squared = sine.value * sine.value + cosine.value * cosine.value;
        let inverse = T::constant(1.0) / squared;
        let rate = (cosine.value * sine.rate - sine.value * cosine.rate) * inverse;
        let squared_rate = (sine.value * sine.rate + cosine.value * cosine.rate) * 2.0;
        followed[0] = Followed {
            value: beside(reference, sine.value, cosine.value, squared),
            rate,
            bias: (cosine.value * sine.bias - sine.value * cosine.bias - squared_rate * rate)
                * inverse,
        };
        if !self.planar {
            followed[1] = y_p.dot(&x_q);
            followed[2] = z_p.dot(&x_q);
        }
    }
}

/// The angle of `sine` and `cosine`, which is `reference` but for infinitesimal parts.
///
/// The sine of the difference is enough: its value is zero and terms beyond the third power vanish in
/// derivatives up to the fourth.
#[inline(always)]
fn beside<T: Scalar>(reference: f64, sine: T, cosine: T, squared: T) -> T {
    let (sin, cos) = reference.sin_cos();
    let difference = (sine * cos - cosine * sin) / squared.sqrt();
    T::constant(reference) + difference + difference * difference * difference * (1.0 / 6.0)
}

/// A truss of given length.
#[derive(Clone, Debug)]
pub(super) struct Truss {
    pub(super) length: f64,
    pub(super) stiffness: f64,
}

impl Truss {
    #[inline(always)]
    pub(super) fn gradient<T: Scalar>(
        &self,
        [p, q]: [&NodeState<T>; 2],
        value: &mut [T],
        gradient: &mut [Gradient<T>],
    ) {
        let chord = q.position - p.position;
        let length = chord.dot(chord).sqrt();
        let unit = chord.scale(T::constant(1.0) / length);
        value[0] = length - T::constant(self.length);
        gradient[0] = [-unit, unit, Vector::zero(), Vector::zero()];
    }

    #[inline(always)]
    pub(super) fn follow<T: Scalar>(
        &self,
        [p, q]: [&NodeState<T>; 2],
        followed: &mut [Followed<T>],
    ) {
        let chord = Tracked::between(p, q);
        let length = chord.value.dot(chord.value).sqrt();
        let inverse = T::constant(1.0) / length;
        let rate = chord.value.dot(chord.rate) * inverse;
        followed[0] = Followed {
            value: length - T::constant(self.length),
            rate,
            bias: (chord.rate.dot(chord.rate) - rate * rate) * inverse,
        };
    }
}

/// A slider with its axes in the components of the orientation that carries them.
#[derive(Clone, Debug)]
pub(super) struct Slider {
    pub(super) planar: bool,
    axes: [Vector<f64>; 3],
}

impl Slider {
    pub(super) fn new(planar: bool, frame: Matrix<f64>) -> Self {
        Self {
            planar,
            axes: frame.transpose().0.map(Vector),
        }
    }

    /// The axis in the components of the orientation.
    pub(super) fn axis(&self) -> Vector<f64> {
        self.axes[0]
    }

    fn count(&self) -> usize {
        if self.planar { 2 } else { 3 }
    }

    #[inline(always)]
    pub(super) fn gradient<T: Scalar>(
        &self,
        [point_p, carrier, point_q]: [&NodeState<T>; 3],
        value: &mut [T],
        gradient: &mut [Gradient<T>],
    ) {
        let chord = point_q.position - point_p.position;
        for i in 0..self.count() {
            let axis = carrier.direction(self.axes[i]);
            value[i] = axis.dot(chord);
            gradient[i] = [-axis, axis.cross(chord), axis, Vector::zero()];
        }
    }

    #[inline(always)]
    pub(super) fn follow<T: Scalar>(
        &self,
        [point_p, carrier, point_q]: [&NodeState<T>; 3],
        followed: &mut [Followed<T>],
    ) {
        let chord = Tracked::between(point_p, point_q);
        for i in 0..self.count() {
            followed[i] = carrier.carried(self.axes[i]).dot(&chord);
        }
    }
}
