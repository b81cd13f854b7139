//! Frames that follow a nominal motion, with two derivatives in time.

use std::f64::consts::FRAC_PI_6;

use nalgebra::{Matrix3, Vector3};

/// A function of time up to its second derivative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jet(pub(crate) [f64; 3]);

impl Jet {
    pub(crate) fn constant(x: f64) -> Self {
        Self([x, 0.0, 0.0])
    }

    /// `f` of it, by its value and derivatives.
    pub(crate) fn of(self, f: [f64; 3]) -> Self {
        let [_, x1, x2] = self.0;
        Self([f[0], f[1] * x1, f[2] * x1 * x1 + f[1] * x2])
    }

    pub(crate) fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.0[0].sin_cos();
        (self.of([s, c, -s]), self.of([c, -s, -c]))
    }
}

impl std::ops::Add for Jet {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + o.0[i]))
    }
}

impl std::ops::Neg for Jet {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.map(|x| -x))
    }
}

impl std::ops::Mul for Jet {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let ([a, a1, a2], [b, b1, b2]) = (self.0, o.0);
        Self([a * b, a1 * b + a * b1, a2 * b + 2.0 * a1 * b1 + a * b2])
    }
}

/// Origin and axes of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    origin: [Jet; 3],
    axes: [[Jet; 3]; 3],
}

impl Frame {
    pub(crate) fn ground() -> Self {
        let entry = |i: usize, j: usize| Jet::constant(f64::from(u8::from(i == j)));
        Self {
            origin: [Jet::constant(0.0); 3],
            axes: std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))),
        }
    }

    /// Turned about one of its own axes.
    pub(crate) fn turned(self, axis: usize, angle: Jet) -> Self {
        let (s, c) = angle.sin_cos();
        let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut axes = self.axes;
        for (row, old) in axes.iter_mut().zip(&self.axes) {
            row[j] = old[j] * c + old[k] * s;
            row[k] = old[k] * c + -(old[j] * s);
        }
        Self { axes, ..self }
    }

    /// Moved along its own x axis.
    pub(crate) fn moved(self, by: Jet) -> Self {
        let origin = std::array::from_fn(|i| self.origin[i] + self.axes[i][0] * by);
        Self { origin, ..self }
    }

    /// Origin and axes, of the given derivative.
    pub(crate) fn derivative(&self, order: usize) -> (Vector3<f64>, Matrix3<f64>) {
        (
            Vector3::from_fn(|i, _| self.origin[i].0[order]),
            Matrix3::from_fn(|i, j| self.axes[i][j].0[order]),
        )
    }
}

/// The frame of the first link, in the plane; in space it turns about y and stands at 30° to that.
pub(crate) fn swung(spatial: bool, angle: Jet) -> Frame {
    let ground = Frame::ground();
    if spatial {
        ground.turned(1, angle).turned(2, Jet::constant(FRAC_PI_6))
    } else {
        ground.turned(2, angle)
    }
}

/// A cycloid from one position to another within a time, held behind it.
pub(crate) fn cycloid(from: f64, to: f64, duration: f64) -> impl Fn(f64) -> [f64; 3] {
    move |t| {
        let s = (t / duration).min(1.0);
        let turn = std::f64::consts::TAU;
        let rise = to - from;
        [
            from + rise * (s - (turn * s).sin() / turn),
            rise / duration * (1.0 - (turn * s).cos()),
            rise / (duration * duration) * turn * (turn * s).sin(),
        ]
    }
}
