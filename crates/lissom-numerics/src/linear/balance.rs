//! Balancing: a diagonal similarity by powers of two that makes rows and columns of a matrix about equally large (Parlett & Reinsch,
//! *Numer. Math.* 13 (1969) 293), so that rounding is measured against what stands there.

use nalgebra::{DMatrix, DVector};

/// A change of scale has to make the sum of both norms smaller by this factor.
const WORTH: f64 = 0.95;
/// Rounds over all rows; two or three are usual.
const ROUNDS: usize = 20;

/// Balances a matrix, $`D^{-1}AD`$; the diagonal of $`D`$, by which right eigenvectors are multiplied to be those of $`A`$.
pub(super) fn balance(matrix: &mut DMatrix<f64>) -> DVector<f64> {
    let size = matrix.nrows();
    let mut scales = DVector::repeat(size, 1.0);
    for _ in 0..ROUNDS {
        let mut changed = false;
        for i in 0..size {
            // the diagonal stays as it is; taken off a sum of squares it would leave rounding
            let but_own = |k: &usize| *k != i;
            let squares = |of: &dyn Fn(usize) -> f64| {
                (0..size)
                    .filter(but_own)
                    .map(|k| of(k).powi(2))
                    .sum::<f64>()
            };
            let column = squares(&|k| matrix[(k, i)]).sqrt();
            let row = squares(&|k| matrix[(i, k)]).sqrt();
            if column == 0.0 || row == 0.0 || !(column + row).is_finite() {
                continue;
            }
            let scale = (row / column).sqrt().log2().round().exp2();
            if column * scale + row / scale < WORTH * (column + row) {
                changed = true;
                scales[i] *= scale;
                matrix.column_mut(i).scale_mut(scale);
                matrix.row_mut(i).scale_mut(1.0 / scale);
            }
        }
        if !changed {
            break;
        }
    }
    scales
}
