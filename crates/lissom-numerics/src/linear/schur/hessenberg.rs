//! Reduction to Hessenberg form by Householder's reflections, a panel of columns at a time.
//!
//! The reflections of a panel are together $`1 - VSV^T`$ with a triangular $`S`$ (Schreiber & Van Loan 1989). With $`Y = AVS`$ the rest of the
//! matrix is changed by products of matrices, $`(1 - VSV^T)^T(A - YV^T)`$; only one product with a vector per column remains.

use nalgebra::{DMatrix, DVector};

use crate::linear::error::{GoOn, LinearError};

/// Columns of a panel.
const PANEL: usize = 32;

/// Hessenberg form and the orthogonal matrix that leads to it.
///
/// # Errors
/// When it is stopped.
pub(in crate::linear) fn hessenberg(
    mut matrix: DMatrix<f64>,
    go_on: &mut GoOn<'_>,
) -> Result<(DMatrix<f64>, DMatrix<f64>), LinearError> {
    let size = matrix.nrows();
    let mut panels = Vec::new();
    let mut start = 0;
    while start + 2 < size {
        let count = PANEL.min(size - 2 - start);
        panels.push(reduce_panel(&mut matrix, start, count));
        start += count;
        go_on()?;
    }
    let mut vectors = DMatrix::identity(size, size);
    for panel in panels.iter().rev() {
        panel.reflect_rows(&mut vectors, panel.first, false);
    }
    for column in 0..size {
        for row in column + 2..size {
            matrix[(row, column)] = 0.0;
        }
    }
    Ok((matrix, vectors))
}

/// Reflections of the rows from `first` on.
struct Panel {
    first: usize,
    /// $`V`$, one column per reflection.
    reflections: DMatrix<f64>,
    /// $`S`$.
    factor: DMatrix<f64>,
}

impl Panel {
    /// Multiplies columns of a matrix from `column` on by $`1 - VSV^T`$, or its transpose, from the left.
    fn reflect_rows(&self, matrix: &mut DMatrix<f64>, column: usize, transposed: bool) {
        let rows = matrix.nrows() - self.first;
        let columns = matrix.ncols() - column;
        let mut part = matrix.view_mut((self.first, column), (rows, columns));
        let inner = self.reflections.transpose() * &part;
        let inner = if transposed {
            self.factor.transpose() * inner
        } else {
            &self.factor * inner
        };
        part.gemm(-1.0, &self.reflections, &inner, 1.0);
    }
}

/// Reduces columns from `start` on.
fn reduce_panel(matrix: &mut DMatrix<f64>, start: usize, count: usize) -> Panel {
    let size = matrix.nrows();
    let first = start + 1;
    let rows = size - first;
    let mut panel = Panel {
        first,
        reflections: DMatrix::zeros(rows, count),
        factor: DMatrix::zeros(count, count),
    };
    // Y of all rows
    let mut product = DMatrix::zeros(size, count);
    for j in 0..count {
        let column = start + j;
        let mut own: DVector<f64> = matrix.column(column).into_owned();
        if j > 0 {
            // what the reflections before do to this column, which is row j − 1 of V from the right
            let right = panel.reflections.row(j - 1).columns(0, j).transpose();
            own.gemv(-1.0, &product.columns(0, j), &right, 1.0);
            let before = panel.reflections.columns(0, j);
            let mut lower = own.rows_mut(first, rows);
            let inner =
                panel.factor.view((0, 0), (j, j)).transpose() * (before.transpose() * &lower);
            lower.gemv(-1.0, &before, &inner, 1.0);
        }
        // the reflection that leaves nothing below the entry under the diagonal
        let (tau, length) = reflection(&mut own, column + 1);
        for row in column + 1..size {
            panel.reflections[(row - first, j)] = own[row];
            own[row] = 0.0;
        }
        own[column + 1] = length;
        matrix.set_column(column, &own);
        let vector = panel.reflections.column(j).into_owned();
        let tail = vector.rows(j, rows - j).into_owned();
        let mut image = matrix.columns(column + 1, size - column - 1) * tail;
        let mut inner = panel.reflections.columns(0, j).transpose() * &vector;
        if j > 0 {
            image.gemv(-1.0, &product.columns(0, j), &inner, 1.0);
            inner = panel.factor.view((0, 0), (j, j)) * inner;
        }
        product.set_column(j, &(image * tau));
        panel.factor[(j, j)] = tau;
        for i in 0..j {
            panel.factor[(i, j)] = -tau * inner[i];
        }
    }
    // the columns behind the panel
    let behind = start + count;
    let across = panel.reflections.rows(count - 1, size - behind).transpose();
    matrix
        .columns_mut(behind, size - behind)
        .gemm(-1.0, &product, &across, 1.0);
    panel.reflect_rows(matrix, behind, true);
    panel
}

/// Overwrites the entries of a vector from `at` on with a reflection of them, whose first is one; its factor and the length.
fn reflection(vector: &mut DVector<f64>, at: usize) -> (f64, f64) {
    let count = vector.len() - at;
    let largest = vector.rows(at + 1, count - 1).amax();
    let first = vector[at];
    if largest == 0.0 {
        vector.rows_mut(at, count).fill(0.0);
        vector[at] = 1.0;
        return (0.0, first);
    }
    let scale = largest.max(first.abs());
    let mut part = vector.rows_mut(at, count);
    part /= scale;
    let length = part.norm();
    let beta = -length.copysign(part[0]);
    let tau = (beta - part[0]) / beta;
    let below = part[0] - beta;
    part /= below;
    part[0] = 1.0;
    (tau, beta * scale)
}
