//! A Cholesky factor of a large dense matrix, formed and solved with by blocks: most of the work is products of matrices.

use nalgebra::{Cholesky, DMatrix};

use super::error::{GoOn, LinearError};

/// Columns that are eliminated at once.
const BLOCK: usize = 64;

/// $`A = LL^T`$.
#[derive(Clone, Debug)]
pub(super) struct BlockedCholesky {
    /// $`L`$ below and on the diagonal; what is above is left over.
    lower: DMatrix<f64>,
}

impl BlockedCholesky {
    /// Of a symmetric matrix, of which the lower half is read; none if it is not positive definite. `go_on` is asked after every block of
    /// columns, here and in what is solved for.
    ///
    /// # Errors
    /// When it is stopped.
    pub(super) fn new(
        mut matrix: DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<Self>, LinearError> {
        let size = matrix.nrows();
        for first in (0..size).step_by(BLOCK) {
            go_on()?;
            let width = BLOCK.min(size - first);
            let below = first + width;
            let own = matrix.view((first, first), (width, width)).into_owned();
            let Some(own) = Cholesky::new(own) else {
                return Ok(None);
            };
            let own = own.unpack();
            matrix
                .view_mut((first, first), (width, width))
                .copy_from(&own);
            if below == size {
                break;
            }
            let panel = matrix.view((below, first), (size - below, width));
            let Some(panel) = own.solve_lower_triangular(&panel.transpose()) else {
                return Ok(None);
            };
            let panel = panel.transpose();
            matrix
                .view_mut((below, first), (size - below, width))
                .copy_from(&panel);
            for column in (below..size).step_by(BLOCK) {
                let width = BLOCK.min(size - column);
                let left = panel.rows_range(column - below..);
                let right = left.rows(0, width).transpose();
                let mut rest = matrix.view_mut((column, column), (size - column, width));
                rest.gemm(-1.0, &left, &right, 1.0);
            }
        }
        Ok(Some(Self { lower: matrix }))
    }

    /// Replaces right sides, one per column, by the solutions.
    ///
    /// # Errors
    /// When it is stopped.
    pub(super) fn solve(
        &self,
        right: &mut DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), LinearError> {
        self.solve_lower(right, go_on)?;
        self.solve_upper(right, go_on)
    }

    /// Replaces right sides by $`L^{-1}`$ times them.
    ///
    /// # Errors
    /// When it is stopped.
    pub(super) fn solve_lower(
        &self,
        right: &mut DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), LinearError> {
        let size = self.lower.nrows();
        for first in (0..size).step_by(BLOCK) {
            go_on()?;
            let width = BLOCK.min(size - first);
            let below = first + width;
            let own = self.lower.view((first, first), (width, width));
            let mut part = right.rows(first, width).into_owned();
            own.solve_lower_triangular_mut(&mut part);
            right.rows_mut(first, width).copy_from(&part);
            let panel = self.lower.view((below, first), (size - below, width));
            (right.rows_range_mut(below..)).gemm(-1.0, &panel, &part, 1.0);
        }
        Ok(())
    }

    /// Replaces right sides by $`L^{-T}`$ times them.
    ///
    /// # Errors
    /// When it is stopped.
    pub(super) fn solve_upper(
        &self,
        right: &mut DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), LinearError> {
        let size = self.lower.nrows();
        for first in (0..size).step_by(BLOCK).rev() {
            go_on()?;
            let width = BLOCK.min(size - first);
            let below = first + width;
            let own = self.lower.view((first, first), (width, width));
            let panel = self.lower.view((below, first), (size - below, width));
            let mut part = right.rows(first, width).into_owned();
            part.gemm_tr(-1.0, &panel, &right.rows_range(below..), 1.0);
            own.tr_solve_lower_triangular_mut(&mut part);
            right.rows_mut(first, width).copy_from(&part);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::error::unwatched;

    /// Property: with sizes below, at and above those of blocks, what is solved for satisfies its equations; an indefinite
    /// matrix has no factor.
    #[test]
    fn solutions_satisfy_their_equations() {
        // rounding times the condition of the matrices, which is below ten
        const RESIDUAL: f64 = 1e-12;
        for size in [1, 63, 64, 65, 200] {
            let entry = |i: usize, j: usize| ((i * 7 + j * 13 + i * j) % 11) as f64 / 11.0;
            let half = DMatrix::from_fn(size, size, entry) / size as f64;
            let matrix = &half * half.transpose() + DMatrix::identity(size, size);
            let right = DMatrix::from_fn(size, 3, |i, j| (i + j) as f64);
            let mut solution = right.clone();
            let factor = BlockedCholesky::new(matrix.clone(), &mut unwatched).unwrap();
            (factor.unwrap().solve(&mut solution, &mut unwatched)).unwrap();
            let missed = (&matrix * solution - &right).amax();
            assert!(
                missed <= RESIDUAL * right.amax().max(1.0),
                "{size} {missed}"
            );
            let indefinite = matrix - DMatrix::identity(size, size) * 3.0;
            let none = BlockedCholesky::new(indefinite, &mut unwatched).unwrap();
            assert!(none.is_none(), "{size}");
        }
    }
}
