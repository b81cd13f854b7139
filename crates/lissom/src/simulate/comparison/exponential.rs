//! One step of $`\dot x = J x + a`$ by the matrix exponential.
//!
//! Exact for any step length, so that vibrations much faster than the samples neither blow up nor die out.

use nalgebra::{DMatrix, DVector};

/// Sweeps of the balancing; two are enough for matrices of this kind.
const SWEEPS: usize = 3;

/// Advances `x` over `step` with a matrix and a forcing that are constant.
pub(super) fn advance(
    jacobian: &DMatrix<f64>,
    forcing: &DVector<f64>,
    step: f64,
    x: &mut DVector<f64>,
) {
    let n = x.len();
    let mut scaled = jacobian * step;
    let scales = balance(&mut scaled);
    // d/dτ (x, 1) = [hJ ha; 0 0] (x, 1) with τ = t/h
    let mut augmented = DMatrix::zeros(n + 1, n + 1);
    augmented.view_mut((0, 0), (n, n)).copy_from(&scaled);
    let mut extended = DVector::from_element(n + 1, 1.0);
    for i in 0..n {
        augmented[(i, n)] = step * forcing[i] / scales[i];
        extended[i] = x[i] / scales[i];
    }
    let reached = augmented.exp() * extended;
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

    /// Closed form: an oscillator under a constant load, $`\ddot x = -\omega^2 x + c`$ from rest, in one step of
    /// many periods.
    #[test]
    fn an_oscillator_under_a_load() {
        let (omega, load, step): (f64, f64, f64) = (2900.0, 7.0, 0.1);
        let jacobian = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -omega * omega, 0.0]);
        let mut x = DVector::zeros(2);
        let forcing = DVector::from_vec(vec![0.0, load]);
        advance(&jacobian, &forcing, step, &mut x);
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
}
