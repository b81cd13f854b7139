//! Linearised equations between inputs and outputs: frequency response and transmission zeros.
//!
//! ```math
//! M\ddot q + C\dot q + \bar K q = B u, \quad y = C_q q + C_v \dot q + D u, \qquad
//! G(s) = (C_q + s\,C_v)\,(s^2 M + s\,C + \bar K)^{-1} B + D
//! ```
//!
//! A response is one solve of as many equations as there are coordinates; with states $`z`$ of controllers and actuators in the loop
//! ([`LoopStates`]), of those too, which outputs may contain:
//!
//! ```math
//! \begin{pmatrix} s^2 M + s\,C + \bar K & -T\\ -Z_q - s\,Z_v & s - Z \end{pmatrix}
//! \begin{pmatrix} q\\ z \end{pmatrix} = \begin{pmatrix} B u\\ 0 \end{pmatrix}
//! ```
//!
//! Zeros come from the first-order form (`transfer/zeros.rs`),
//! poles from [`quadratic`](super::quadratic) equations, or with such states from the first-order form too (`transfer/frequencies.rs`).

mod frequencies;
#[cfg(test)]
mod tests;
mod zeros;

use nalgebra::{Complex, DMatrix};

use super::error::LinearError;
use super::loops::LoopStates;
use super::state_space::StateSpace;
use super::trajectory::{LinearizedTrajectory, Point};

/// Deviations under unit forces, against those that the stiffest motion has, beyond which something moves that nothing holds: rounding of a
/// singular stiffness gives some 1e16.
const FREE: f64 = 1e14;

/// Linearised equations between inputs and outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// $`M`$.
    pub mass: DMatrix<f64>,
    /// $`C`$.
    pub damping: DMatrix<f64>,
    /// $`\bar K`$.
    pub stiffness: DMatrix<f64>,
    /// $`B`$: one column per input.
    pub input: DMatrix<f64>,
    /// $`(C_q, C_v)`$ and what outputs take of the states of controllers and actuators in the loop: one row per output.
    pub output: DMatrix<f64>,
    /// $`D`$.
    pub feedthrough: DMatrix<f64>,
    /// States of controllers and actuators in the loop.
    pub loops: Option<LoopStates>,
}

impl Transfer {
    /// At one point of a motion, with the inputs and outputs of its [`StateSpace`].
    ///
    /// # Errors
    /// When the mass matrix is singular.
    pub fn new(trajectory: &LinearizedTrajectory, point: &Point) -> Result<Self, LinearError> {
        let space = StateSpace::new(trajectory, point)?;
        Ok(Self {
            mass: point.linear.mass.clone(),
            damping: point.linear.damping.clone(),
            stiffness: point.linear.stiffness(),
            input: point.linear.input.clone(),
            output: space.output,
            feedthrough: space.feedthrough,
            loops: point.linear.loops.clone(),
        })
    }

    /// With the states of controllers and actuators that the matrix $`A`$ of its first-order form has behind coordinates and rates, if any.
    #[must_use]
    pub fn with_loops_of(mut self, state: &DMatrix<f64>) -> Self {
        let size = self.mass.nrows();
        let own = state.nrows().saturating_sub(2 * size);
        let part = |row: usize, column: usize, shape: (usize, usize)| {
            state.view((row, column), shape).into_owned()
        };
        self.loops = (own > 0).then(|| LoopStates {
            own: part(2 * size, 2 * size, (own, own)),
            position: part(2 * size, 0, (own, size)),
            rate: part(2 * size, size, (own, size)),
            force: &self.mass * part(size, 2 * size, (size, own)),
        });
        self
    }

    /// The same between some of the inputs and outputs, by their numbers.
    #[must_use]
    pub fn between(&self, inputs: &[usize], outputs: &[usize]) -> Self {
        Self {
            input: self.input.select_columns(inputs),
            output: self.output.select_rows(outputs),
            feedthrough: self.feedthrough.select_rows(outputs).select_columns(inputs),
            ..self.clone()
        }
    }

    /// $`G(i\omega)`$ at an angular frequency, one row per output; not a number where an undamped resonance has no value.
    pub fn response(&self, frequency: f64) -> DMatrix<Complex<f64>> {
        self.at(Complex::new(0.0, frequency))
    }

    /// $`G(s)`$.
    fn at(&self, s: Complex<f64>) -> DMatrix<Complex<f64>> {
        let complex = |x: f64| Complex::new(x, 0.0);
        let size = self.mass.nrows();
        let own = self.loop_state_count();
        let matrix = DMatrix::from_fn(size + own, size + own, |i, j| {
            match (&self.loops, i < size) {
                (_, true) if j < size => {
                    s * s * self.mass[(i, j)] + s * self.damping[(i, j)] + self.stiffness[(i, j)]
                }
                (Some(loops), true) => complex(-loops.force[(i, j - size)]),
                (Some(loops), false) if j < size => {
                    -(s * loops.rate[(i - size, j)] + loops.position[(i - size, j)])
                }
                (Some(loops), false) => {
                    let unit = if i == j { s } else { complex(0.0) };
                    unit - loops.own[(i - size, j - size)]
                }
                (None, _) => complex(0.0),
            }
        });
        let forces = self
            .input
            .map(complex)
            .resize_vertically(size + own, complex(0.0));
        let Some(moved) = matrix.lu().solve(&forces) else {
            let (outputs, inputs) = (self.output.nrows(), self.input.ncols());
            return DMatrix::from_element(outputs, inputs, complex(f64::NAN));
        };
        let output = DMatrix::from_fn(self.output.nrows(), size + own, |i, j| {
            if j < size {
                self.output[(i, j)] + s * self.output[(i, size + j)]
            } else {
                complex(self.output[(i, size + j)])
            }
        });
        output * moved + self.feedthrough.map(complex)
    }

    fn loop_state_count(&self) -> usize {
        self.loops.as_ref().map_or(0, |loops| loops.own.nrows())
    }

    /// $`G(0)`$, what outputs come to under constant inputs; none where something moves that nothing holds.
    pub fn static_gain(&self) -> Option<DMatrix<f64>> {
        if self.loops.is_some() {
            let gain = self.at(Complex::new(0.0, 0.0)).map(|value| value.re);
            return gain.iter().all(|x| x.is_finite()).then_some(gain);
        }
        let size = self.mass.nrows();
        // in units in which every coordinate has unit mass
        let scale = self.mass.diagonal().map(|mass| 1.0 / mass.sqrt());
        let stiffness = DMatrix::from_fn(size, size, |i, j| {
            scale[i] * self.stiffness[(i, j)] * scale[j]
        });
        let forces = DMatrix::from_fn(size, self.input.ncols(), |i, j| {
            scale[i] * self.input[(i, j)]
        });
        let stiffest = stiffness.norm();
        let moved = stiffness.lu().solve(&forces)?;
        let held = moved.norm() * stiffest <= FREE * forces.norm();
        let moved = DMatrix::from_fn(size, self.input.ncols(), |i, j| scale[i] * moved[(i, j)]);
        held.then(|| self.output.columns(0, size) * moved + &self.feedthrough)
    }
}
