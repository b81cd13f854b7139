//! One step of $`\dot x = J(t)\,x + a(t)`$ by the matrix exponential.
//!
//! With $`A`$ the matrix that maps $`(x, 1)`$ to $`(\dot x, 0)`$, taken at the two points of Gauss of the step, it is
//! Magnus' method of fourth order \[Iserles & Nørsett 1999\],
//!
//! ```math
//! \Omega = \tfrac{h}{2}(A_1 + A_2) + \tfrac{\sqrt3}{12} h^2 (A_2 A_1 - A_1 A_2), \qquad (x, 1) \leftarrow e^\Omega (x, 1).
//! ```
//!
//! For constant matrices it is exact for any step length, so that vibrations much faster than the steps neither blow up
//! nor die out.

use nalgebra::{DMatrix, DVector};

/// Sweeps of the balancing; two are enough for matrices of this kind.
const SWEEPS: usize = 3;

/// Advances `x` over `step` with the matrices at its points of Gauss.
pub(super) fn advance(matrices: [&DMatrix<f64>; 2], step: f64, x: &mut DVector<f64>) {
    let n = x.len();
    let [first, second] = matrices;
    let commutator = second * first - first * second;
    let mut exponent =
        (first + second) * (0.5 * step) + commutator * (3.0_f64.sqrt() / 12.0 * step * step);
    let scales = balance(&mut exponent);
    let mut extended = DVector::from_element(n + 1, 1.0);
    for i in 0..n {
        extended[i] = x[i];
    }
    extended.component_div_assign(&scales);
    let reached = exponent.exp() * extended;
    for i in 0..n {
        x[i] = reached[i] * scales[i];
    }
}

/// Makes rows and columns of a matrix equally large by $`D^{-1} A D`$ with powers of two; returns D.
fn balance(matrix: &mut DMatrix<f64>) -> DVector<f64> {
    let n = matrix.nrows();
    let mut scales = DVector::from_element(n, 1.0);
    for _ in 0..SWEEPS {
        for i in 0..n {
            let column = matrix.column(i).lp_norm(1) - matrix[(i, i)].abs();
            let row = matrix.row(i).lp_norm(1) - matrix[(i, i)].abs();
            if column <= 0.0 || row <= 0.0 {
                continue;
            }
            let factor = (0.5 * (row / column).log2()).round().exp2();
            matrix.row_mut(i).scale_mut(1.0 / factor);
            matrix.column_mut(i).scale_mut(factor);
            scales[i] *= factor;
        }
    }
    scales
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding of some twenty squarings.
    const ROUNDING: f64 = 1e-9;

    /// $`\ddot x = -k x + c`$.
    fn oscillator(stiffness: f64, load: f64) -> DMatrix<f64> {
        DMatrix::from_row_slice(3, 3, &[0.0, 1.0, 0.0, -stiffness, 0.0, load, 0.0, 0.0, 0.0])
    }

    /// Closed form: an oscillator under a constant load from rest, in one step of many periods.
    #[test]
    fn an_oscillator_under_a_load() {
        let (omega, load, step): (f64, f64, f64) = (2900.0, 7.0, 0.1);
        let matrix = oscillator(omega * omega, load);
        let mut x = DVector::zeros(2);
        advance([&matrix, &matrix], step, &mut x);
        let rest = load / (omega * omega);
        let place = rest * (1.0 - (omega * step).cos());
        let rate = rest * omega * (omega * step).sin();
        assert!((x[0] - place).abs() < ROUNDING * rest, "{} {place}", x[0]);
        assert!(
            (x[1] - rate).abs() < ROUNDING * rest * omega,
            "{} {rate}",
            x[1]
        );
    }

    /// Order of convergence: of an oscillator whose stiffness and load swing with it, half the step has a sixteenth of
    /// the error.
    #[test]
    fn the_order_is_four() {
        let at = |time: f64| oscillator(1.0 + 0.3 * (2.0 * time).sin(), time.cos());
        let end = |steps: u32| {
            let step = 6.0 / f64::from(steps);
            let offset = 3.0_f64.sqrt() / 6.0;
            let mut x = DVector::zeros(2);
            for k in 0..steps {
                let middle = f64::from(k) + 0.5;
                let (first, second) = (at((middle - offset) * step), at((middle + offset) * step));
                advance([&first, &second], step, &mut x);
            }
            x
        };
        let exact = end(4096);
        let error = |steps: u32| (end(steps) - &exact).norm();
        let ratio = error(32) / error(64);
        assert!((14.0..18.0).contains(&ratio), "{ratio}");
    }
}
