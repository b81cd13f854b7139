//! Linear equations of an equilibrium or of a steady deviation, of one unit and in the sense of least squares where they are singular.

use nalgebra::linalg::{LU, SVD};
use nalgebra::{DMatrix, DVector, Dyn};

/// Singular values below this fraction of the largest are zero: what differences leave of a zero.
const SINGULAR: f64 = 1e-11;
/// Smallest pivot, as a fraction of the largest, of a matrix that is surely regular. Pivots are no singular values;
/// below this they are looked at.
const REGULAR: f64 = 1e-8;

/// Force per large change of a coordinate, as a fraction of the forces at work, that differences leave of a zero.
const NOISE: f64 = 1e-9;
/// Sweeps of the equilibration: each takes the root of what is left of the spread, thirty decades to less than one.
const SWEEPS: usize = 8;

/// A matrix in units of work: rows and columns of coordinates times their scales, those of closures times one factor
/// that makes them as large.
pub(crate) struct Scaled {
    pub(super) matrix: DMatrix<f64>,
    /// Factor of each row and column.
    pub(super) factors: Vec<f64>,
    /// Number of coordinates, which come first.
    pub(super) coordinates: usize,
}

impl Scaled {
    pub(crate) fn new(mut matrix: DMatrix<f64>, scales: &[f64]) -> Self {
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

    pub(crate) fn is_finite(&self) -> bool {
        self.matrix.iter().all(|entry| entry.is_finite())
    }

    /// The factors of the matrix. A spread of its pivots may be that of stiff and soft parts: where it is large it is taken
    /// out first. `at_work` is the largest force at work.
    pub(crate) fn factored(self, at_work: f64) -> Factored {
        let regular = |matrix: &DMatrix<f64>| {
            let lu = matrix.clone().lu();
            let pivots = lu.u().diagonal().abs();
            (matrix.is_empty() || pivots.min() > REGULAR * pivots.max()).then_some(lu)
        };
        let (solver, scaled) = if let Some(lu) = regular(&self.matrix) {
            (Solver::Regular(lu), self)
        } else {
            let scaled = self.equilibrated(at_work);
            let solver = match regular(&scaled.matrix) {
                Some(lu) => Solver::Equilibrated(lu),
                None => Solver::Singular(scaled.matrix.clone().svd(true, true)),
            };
            (solver, scaled)
        };
        Factored {
            solver,
            factors: scaled.factors,
        }
    }

    /// The same with the largest entry of every row and column of coordinates about one, whatever the stiffness of the part
    /// that it belongs to \[Ruiz 2001\]. A row of nothing but noise stays small.
    pub(super) fn equilibrated(mut self, at_work: f64) -> Self {
        let n = self.coordinates;
        let largest = |matrix: &DMatrix<f64>, row: usize| matrix.row(row).columns(0, n).amax();
        let held: Vec<usize> = (0..n)
            .filter(|&row| largest(&self.matrix, row) > NOISE * at_work * self.factors[row])
            .collect();
        for _ in 0..SWEEPS {
            let shrunk: Vec<f64> = (held.iter())
                .map(|&row| largest(&self.matrix, row).sqrt().recip())
                .collect();
            for (&row, shrunk) in held.iter().zip(shrunk) {
                self.factors[row] *= shrunk;
                self.matrix.row_mut(row).scale_mut(shrunk);
                self.matrix.column_mut(row).scale_mut(shrunk);
            }
        }
        // closures are made as large, all by one factor, so that redundant ones share their load as before
        let closures = n..self.factors.len();
        let closing = (closures.clone())
            .map(|row| largest(&self.matrix, row))
            .fold(0.0, f64::max);
        if closing > 0.0 {
            for row in closures {
                self.factors[row] /= closing;
                self.matrix.row_mut(row).scale_mut(closing.recip());
                self.matrix.column_mut(row).scale_mut(closing.recip());
            }
        }
        self
    }
}

/// A factored matrix.
pub(crate) struct Factored {
    solver: Solver,
    factors: Vec<f64>,
}

enum Solver {
    Regular(LU<f64, Dyn, Dyn>),
    /// Regular once stiff and soft parts have been made alike.
    Equilibrated(LU<f64, Dyn, Dyn>),
    Singular(SVD<f64, Dyn, Dyn>),
}

impl Factored {
    /// The change that takes away what the equations lack, as far as anything can.
    pub(crate) fn correction(&self, residual: &DVector<f64>) -> DVector<f64> {
        let weigh = |vector: &mut DVector<f64>| {
            for (x, factor) in vector.iter_mut().zip(&self.factors) {
                *x *= factor;
            }
        };
        let mut right = -residual;
        weigh(&mut right);
        let mut change = match &self.solver {
            Solver::Regular(lu) | Solver::Equilibrated(lu) => lu.solve(&right).unwrap_or(right),
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
            // as near to a place without stiffness, rounding may be what decides
            Solver::Equilibrated(_) | Solver::Singular(_) => None,
        }
    }

    /// Whether some direction has no stiffness at all.
    pub(crate) fn is_singular(&self) -> bool {
        match &self.solver {
            Solver::Regular(_) | Solver::Equilibrated(_) => false,
            Solver::Singular(svd) => {
                svd.singular_values.min() <= SINGULAR * svd.singular_values.max()
            }
        }
    }
}
