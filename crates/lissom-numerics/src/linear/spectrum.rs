//! All eigenvalues and eigenvectors of $`\bar K x = \omega^2 M x`$ for any real stiffness: the squares may be negative or come in
//! conjugate pairs, and equal ones have as many shapes as they are.
//!
//! In the shapes of the symmetric part ([`Symmetric`]) the stiffness is diagonal but for its skew part. If that is more than rounding, the
//! eigenvalues are those of this matrix, by its real Schur form.

use nalgebra::{Complex, DMatrix, DVector};

use super::balance::balance;
use super::error::{GoOn, LinearError};
use super::schur::RealSchur;
use super::symmetric::Symmetric;

/// Coupling of two modes by the skew part of the stiffness, as a share of the larger square of their frequencies, that is
/// rounding: matrices of mechanisms with loops are good to 2e-9.
const SYMMETRIC: f64 = 1e-8;
/// Eigenvalues with a smaller imaginary share are a pair of equal real ones: rounding moves equal eigenvalues that share a
/// shape by its square root.
const REAL: f64 = 1.5e-8;

/// What an iteration gives that does not end.
pub(super) const NOT_CONVERGED: LinearError = LinearError::NoModes {
    reason: "the eigenvalue iteration does not converge",
};

/// Squares of frequencies with their shapes, by rising frequency, growing ones first.
#[derive(Clone, Debug)]
pub(super) struct Spectrum {
    /// $`\omega^2`$; of conjugates the one with positive imaginary part first.
    pub(super) squares: Vec<Complex<f64>>,
    /// One column per mode with $`x^HMx = 1`$: real for real squares, conjugate for conjugate ones.
    pub(super) shapes: DMatrix<Complex<f64>>,
}

/// One mode, or a pair of conjugate ones, in the coordinates of the symmetric modes.
struct Found {
    square: Complex<f64>,
    shape: DVector<Complex<f64>>,
}

impl Found {
    fn real(square: f64, shape: &DVector<f64>) -> Self {
        Self {
            square: Complex::new(square, 0.0),
            shape: shape.map(|x| Complex::new(x, 0.0)),
        }
    }

    fn key(&self) -> f64 {
        if self.square.im == 0.0 {
            self.square.re
        } else {
            self.square.sqrt().re.powi(2)
        }
    }
}

impl Spectrum {
    /// Of a mass and a stiffness matrix.
    ///
    /// # Errors
    /// When the mass matrix is not definite, no eigenvalues are found, or the search is stopped.
    pub(super) fn new(
        mass: &DMatrix<f64>,
        stiffness: &DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Self, LinearError> {
        let symmetric = Symmetric::new(mass, stiffness, go_on)?;
        match skew_part(&symmetric, stiffness) {
            None => Ok(Self::of_symmetric(&symmetric)),
            Some(skew) => Self::general(&symmetric, skew, go_on),
        }
    }

    /// Of the modes of symmetric matrices.
    pub(super) fn of_symmetric(symmetric: &Symmetric) -> Self {
        let squares = symmetric.squares.iter();
        Self {
            squares: squares.map(|&square| Complex::new(square, 0.0)).collect(),
            shapes: symmetric.shapes.map(|x| Complex::new(x, 0.0)),
        }
    }

    /// With a skew part in the coordinates of the symmetric modes.
    pub(super) fn general(
        symmetric: &Symmetric,
        skew: DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Self, LinearError> {
        let mut matrix = skew;
        for (i, square) in symmetric.squares.iter().enumerate() {
            matrix[(i, i)] += square;
        }
        let scales = balance(&mut matrix);
        let schur = RealSchur::new(matrix, go_on)?;
        let values = schur.eigenvalues();
        let shape = |at: usize| {
            let [right, _] = schur.eigenvectors(at);
            right.zip_map(&scales, |x, scale| x * scale)
        };
        let mut found = Vec::with_capacity(values.len());
        for (at, &square) in values.iter().enumerate() {
            if square.im == 0.0 {
                found.push(Found::real(square.re, &turned_real(&shape(at))[0]));
            } else if square.im > 0.0 && square.im <= REAL * square.norm() {
                // equal ones: the parts of one shape are two shapes
                let [re, im] = turned_real(&shape(at));
                found.extend([Found::real(square.re, &re), Found::real(square.re, &im)]);
            } else if square.im > 0.0 {
                let shape = shape(at);
                found.push(Found { square, shape });
            }
        }
        found.sort_by(|a, b| a.key().total_cmp(&b.key()));
        let mut squares = Vec::with_capacity(values.len());
        let mut shapes = DMatrix::zeros(values.len(), values.len());
        for Found { square, shape } in found {
            // the shapes of the symmetric part have unit modal mass
            let shape = &shape / Complex::new(shape.norm(), 0.0);
            shapes.set_column(squares.len(), &shape);
            squares.push(square);
            if square.im != 0.0 {
                shapes.set_column(squares.len(), &shape.conjugate());
                squares.push(square.conj());
            }
        }
        let [re, im] = [shapes.map(|x| x.re), shapes.map(|x| x.im)];
        let [re, im] = [re, im].map(|part| &symmetric.shapes * part);
        Ok(Self {
            squares,
            shapes: re.zip_map(&im, Complex::new),
        })
    }
}

/// Skew part of a stiffness in the coordinates of the symmetric modes; none if it is rounding.
pub(super) fn skew_part(symmetric: &Symmetric, stiffness: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let skew = (stiffness - stiffness.transpose()) * 0.5;
    if skew.iter().all(|&x| x == 0.0) {
        return None;
    }
    let skew = symmetric.project(&skew);
    let rounding = skew_rounding(symmetric);
    let size = symmetric.squares.len();
    let any = (0..size).any(|j| (0..j).any(|i| skew[(i, j)].abs() > rounding(i, j)));
    any.then_some(skew)
}

/// What rounding may make of the skew part of a stiffness between two symmetric modes. Of motions without frequency, that is rounding
/// of the stiffness of the others.
pub(super) fn skew_rounding(symmetric: &Symmetric) -> impl Fn(usize, usize) -> f64 {
    let squares = &symmetric.squares;
    let least = squares.len() as f64 * f64::EPSILON * symmetric.highest_square();
    move |i, j| (SYMMETRIC * squares[i].abs().max(squares[j].abs())).max(least)
}

/// Real and imaginary part of a vector whose largest entry has been made real.
fn turned_real(vector: &DVector<Complex<f64>>) -> [DVector<f64>; 2] {
    let largest = vector[vector.icamax()];
    let phase = largest.conj() / largest.norm();
    let turned = vector * phase;
    [turned.map(|x| x.re), turned.map(|x| x.im)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::error::unwatched;

    /// Property: what cannot move has no modes, and no panic.
    #[test]
    fn nothing_has_no_modes() {
        let nothing = DMatrix::zeros(0, 0);
        assert!(
            Spectrum::new(&nothing, &nothing, &mut unwatched)
                .unwrap()
                .squares
                .is_empty()
        );
    }

    /// Property: every pair satisfies its equation, for a stiffness with real, negative and conjugate squares, and for one
    /// with equal ones.
    #[test]
    fn pairs_satisfy_their_equation() {
        // rounding of the inverse, times its condition, which is below a thousand here
        const RESIDUAL: f64 = 1e-12;
        let mass = DMatrix::from_row_slice(
            4,
            4,
            &[
                2.0, 0.3, 0.0, 0.1, 0.3, 1.0, 0.2, 0.0, 0.0, 0.2, 3.0, 0.4, 0.1, 0.0, 0.4, 1.5,
            ],
        );
        let mixed = DMatrix::from_row_slice(
            4,
            4,
            &[
                4.0, 3.0, 0.0, 1.0, -3.0, 4.0, 0.5, 0.0, 0.2, 0.0, -2.0, 0.0, 0.0, 1.0, 0.0, 9.0,
            ],
        );
        let mut equal = &mass * 2.0;
        equal += mass.column(0) * DMatrix::from_row_slice(1, 4, &[1.0, 1.0, 2.0, 3.0]);
        for (stiffness, complex) in [(mixed, 2), (equal, 0)] {
            let spectrum = Spectrum::new(&mass, &stiffness, &mut unwatched).unwrap();
            let count = spectrum.squares.iter().filter(|x| x.im != 0.0).count();
            assert_eq!(count, complex, "{:?}", spectrum.squares);
            let [m, k] = [&mass, &stiffness].map(|a| a.map(|x| Complex::new(x, 0.0)));
            for (square, shape) in spectrum.squares.iter().zip(spectrum.shapes.column_iter()) {
                let residual = (&k * shape - &m * shape * *square).norm();
                assert!(
                    residual < RESIDUAL * stiffness.norm(),
                    "{square} {residual}"
                );
            }
            assert!(spectrum.shapes.clone().lu().determinant().norm() > 1e-3);
        }
    }
}
