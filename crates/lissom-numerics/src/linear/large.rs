//! Large linearised equations in the space of their lowest modes, where only these are asked for.

use nalgebra::{DMatrix, DVector};

use super::blocked::BlockedCholesky;
use super::error::{GoOn, LinearError};
use super::frozen::Pencil;
use super::lowest::{Lowest, Products};

/// Coordinates from which on the lowest modes are sought instead of all.
const LARGE: usize = 256;
/// Share of all modes that may be asked for, to be found faster than all of them.
const FEW: usize = 8;

/// Whether few of the modes of so many coordinates are asked for.
pub fn asks_for_few(coordinates: usize, count: usize) -> bool {
    coordinates >= LARGE && FEW * count <= coordinates
}

impl Pencil {
    /// The equations in a space that contains the `count` lowest modes, of motions without momentum along those of the coordinates `rigid`; none if they are
    /// not found.
    ///
    /// # Errors
    /// When numbers are not finite, or the search is stopped.
    pub(super) fn lowest(
        &self,
        rigid: &[usize],
        count: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<Self>, LinearError> {
        let mut damping = |motions: &DMatrix<f64>| &self.damping * motions;
        let matrices = (&self.mass, &self.stiffness);
        let found = Lowest::of_matrices(matrices, &mut damping, rigid, count, go_on)?;
        Ok(found.map(|lowest| Self {
            mass: DMatrix::identity(lowest.basis.ncols(), lowest.basis.ncols()),
            damping: lowest.damping,
            stiffness: lowest.stiffness,
            basis: &self.basis * lowest.basis,
            loops: None,
            gross: Some(lowest.gross),
        }))
    }
}

impl Lowest {
    /// Of equations given by matrices of mass and stiffness, and by products with that of the velocity terms; see [`Lowest::new`].
    ///
    /// # Errors
    /// When numbers are not finite, or the search is stopped.
    pub fn of_matrices(
        (mass, stiffness): (&DMatrix<f64>, &DMatrix<f64>),
        damping: &mut dyn FnMut(&DMatrix<f64>) -> DMatrix<f64>,
        rigid: &[usize],
        count: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<Self>, LinearError> {
        let mut dense = Dense {
            mass,
            stiffness,
            damping,
            factor: None,
        };
        Self::new(&mut dense, rigid, count, go_on)
    }
}

/// Equations given by their matrices.
struct Dense<'p> {
    mass: &'p DMatrix<f64>,
    stiffness: &'p DMatrix<f64>,
    damping: &'p mut dyn FnMut(&DMatrix<f64>) -> DMatrix<f64>,
    factor: Option<BlockedCholesky>,
}

impl Products for Dense<'_> {
    fn size(&self) -> usize {
        self.mass.nrows()
    }

    fn mass(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64> {
        self.mass * motions
    }

    fn damping(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64> {
        (self.damping)(motions)
    }

    fn stiffness(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64> {
        self.stiffness * motions
    }

    fn shift(
        &mut self,
        shift: f64,
        lifting: &DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<bool, LinearError> {
        let (mass, stiffness) = (self.mass, self.stiffness);
        let size = mass.nrows();
        let mut shifted = DMatrix::from_fn(size, size, |i, j| {
            0.5 * (stiffness[(i, j)] + stiffness[(j, i)]) + shift * mass[(i, j)]
        });
        shifted.gemm(1.0, lifting, &lifting.transpose(), 1.0);
        self.factor = BlockedCholesky::new(shifted, go_on)?;
        Ok(self.factor.is_some())
    }

    fn solve(
        &mut self,
        mut forces: DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<DMatrix<f64>, LinearError> {
        if let Some(factor) = &self.factor {
            factor.solve(&mut forces, go_on)?;
        }
        Ok(forces)
    }

    fn gross_work(&mut self, motion: &DVector<f64>) -> f64 {
        let columns = self.stiffness.column_iter().zip(motion.iter());
        columns.fold(0.0, |work, (column, x)| {
            let pushed = column.iter().zip(motion.iter());
            work + x.abs() * pushed.fold(0.0, |sum, (k, y)| sum + (k * y).abs())
        })
    }
}
