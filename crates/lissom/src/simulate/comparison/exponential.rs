//! One step of $`\dot x = J x + a + b\,t/h`$ by the matrix exponential.
//!
//! Exact for any step length, so that vibrations much faster than the samples neither blow up nor die out.

use nalgebra::{DMatrix, DVector};

/// Sweeps of the balancing; two are enough for matrices of this kind.
const SWEEPS: usize = 3;

/// Advances `x` over `step` with a matrix that is constant and a forcing that goes from `first` to `last` in a
/// straight line.
pub(super) fn advance(
    jacobian: &DMatrix<f64>,
    first: &DVector<f64>,
    last: &DVector<f64>,
    step: f64,
    x: &mut DVector<f64>,
) {
    let n = x.len();
    let mut scaled = jacobian * step;
    let scales = balance(&mut scaled);
    // with τ = t/h: d/dτ (x, τ, 1) = [hJ hb ha; 0 0 1; 0 0 0] (x, τ, 1)
    let mut augmented = DMatrix::zeros(n + 2, n + 2);
    augmented.view_mut((0, 0), (n, n)).copy_from(&scaled);
    for i in 0..n {
        augmented[(i, n)] = step * (last[i] - first[i]) / scales[i];
        augmented[(i, n + 1)] = step * first[i] / scales[i];
    }
    augmented[(n, n + 1)] = 1.0;
    let mut extended = DVector::zeros(n + 2);
    for i in 0..n {
        extended[i] = x[i] / scales[i];
    }
    extended[n + 1] = 1.0;
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

    /// Closed form: an oscillator under a ramp, $`\ddot x = -\omega^2 x + c\,t`$ from rest, in one step of many
    /// periods.
    #[test]
    fn an_oscillator_under_a_ramp() {
        let (omega, slope, step): (f64, f64, f64) = (2900.0, 7.0, 0.1);
        let jacobian = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -omega * omega, 0.0]);
        let mut x = DVector::zeros(2);
        let last = DVector::from_vec(vec![0.0, slope * step]);
        advance(&jacobian, &DVector::zeros(2), &last, step, &mut x);
        let square = omega * omega;
        let place = slope / square * (step - (omega * step).sin() / omega);
        let rate = slope / square * (1.0 - (omega * step).cos());
        assert!(
            (x[0] - place).abs() < ROUNDING * place.abs(),
            "{} {place}",
            x[0]
        );
        assert!(
            (x[1] - rate).abs() < ROUNDING * slope / omega,
            "{} {rate}",
            x[1]
        );
    }
}
