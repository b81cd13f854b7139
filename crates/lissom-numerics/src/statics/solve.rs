//! Linear equations of an equilibrium, of one unit and in the sense of least squares where they are singular.

use nalgebra::linalg::{LU, SVD};
use nalgebra::{DMatrix, DVector, Dyn};

/// Singular values below this fraction of the largest are zero: what differences leave of a zero.
const SINGULAR: f64 = 1e-11;
/// Smallest pivot, as a fraction of the largest, of a matrix that is surely regular. Pivots are no singular values;
/// below this they are looked at.
const REGULAR: f64 = 1e-8;

/// A matrix in units of work: rows and columns of coordinates times their scales, those of closures times one factor
/// that makes them as large.
pub(super) struct Scaled {
    pub(super) matrix: DMatrix<f64>,
    /// Factor of each row and column.
    pub(super) factors: Vec<f64>,
    /// Number of coordinates, which come first.
    pub(super) coordinates: usize,
}

impl Scaled {
    pub(super) fn new(mut matrix: DMatrix<f64>, scales: &[f64]) -> Self {
        let coordinates = scales.iter().filter(|scale| scale.is_finite()).count();
        let conditions = scales.len() - coordinates;
        let mut factors: Vec<f64> = scales[..coordinates].to_vec();
        let largest = |rows: std::ops::Range<usize>| {
            let mut most = 0.0_f64;
            for row in rows {
                for (column, scale) in scales[..coordinates].iter().enumerate() {
                    let weight = scales[row];
                    let row_scale = if weight.is_finite() { weight } else { 1.0 };
                    most = most.max((matrix[(row, column)] * scale * row_scale).abs());
                }
            }
            most
        };
        let (stiff, closing) = (largest(0..coordinates), largest(coordinates..scales.len()));
        let ratio = if stiff > 0.0 && closing > 0.0 {
            stiff / closing
        } else {
            1.0
        };
        factors.extend(std::iter::repeat_n(ratio, conditions));
        for (row, r) in factors.iter().enumerate() {
            for (column, c) in factors.iter().enumerate() {
                matrix[(row, column)] *= r * c;
            }
        }
        Self {
            matrix,
            factors,
            coordinates,
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        self.matrix.iter().all(|entry| entry.is_finite())
    }

    pub(super) fn factored(self) -> Factored {
        let lu = self.matrix.clone().lu();
        let pivots = lu.u().diagonal().abs();
        let solver = if self.matrix.is_empty() || pivots.min() > REGULAR * pivots.max() {
            Solver::Regular(lu)
        } else {
            Solver::Singular(self.matrix.svd(true, true))
        };
        Factored {
            solver,
            factors: self.factors,
        }
    }
}

/// A factored matrix.
pub(super) struct Factored {
    solver: Solver,
    factors: Vec<f64>,
}

enum Solver {
    Regular(LU<f64, Dyn, Dyn>),
    Singular(SVD<f64, Dyn, Dyn>),
}

impl Factored {
    /// The change that takes away what the equations lack, as far as anything can.
    pub(super) fn correction(&self, residual: &DVector<f64>) -> DVector<f64> {
        let weigh = |vector: &mut DVector<f64>| {
            for (x, factor) in vector.iter_mut().zip(&self.factors) {
                *x *= factor;
            }
        };
        let mut right = -residual;
        weigh(&mut right);
        let mut change = match &self.solver {
            Solver::Regular(lu) => lu.solve(&right).unwrap_or(right),
            Solver::Singular(svd) => {
                let smallest = SINGULAR * svd.singular_values.max();
                svd.solve(&right, smallest).unwrap_or(right)
            }
        };
        weigh(&mut change);
        change
    }

    /// Sign of the determinant of a regular matrix: where it changes, some stiffness has vanished on the way.
    pub(super) fn sign(&self) -> Option<f64> {
        match &self.solver {
            Solver::Regular(lu) => {
                let pivots = lu.u().diagonal();
                let permutation: f64 = lu.p().determinant();
                Some(
                    pivots
                        .iter()
                        .fold(permutation, |sign, pivot| sign * pivot.signum()),
                )
            }
            Solver::Singular(_) => None,
        }
    }

    /// Whether some direction has no stiffness at all.
    pub(super) fn is_singular(&self) -> bool {
        match &self.solver {
            Solver::Regular(_) => false,
            Solver::Singular(svd) => {
                svd.singular_values.min() <= SINGULAR * svd.singular_values.max()
            }
        }
    }
}
