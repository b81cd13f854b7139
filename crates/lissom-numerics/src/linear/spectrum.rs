//! All eigenvalues and eigenvectors of $`\bar K x = \omega^2 M x`$ for any real stiffness: the squares may be negative or come in
//! conjugate pairs, and equal ones have as many shapes as they are.
//!
//! With $`M = LL^T`$ the eigenproblem is that of $`L^T(\bar K + sM)^{-1}L`$, whose largest eigenvalues $`1/(\omega^2 + s)`$ belong to the lowest modes and
//! come out best. It is symmetric if the stiffness is; otherwise its real Schur form is made triangular by rotations of its
//! two-by-two blocks (Golub & Van Loan, *Matrix Computations*, 7.4 and 7.6.4), and shapes follow by back-substitution.

use nalgebra::{Cholesky, Complex, DMatrix, DVector, Dyn, Schur, SymmetricEigen};

use super::error::LinearError;

/// Iterations allowed for each eigenvalue; two or three are usual.
const ITERATIONS_PER_MODE: usize = 100;
/// Stiffness matrices with a skew part below this share are symmetric but for rounding.
const SYMMETRIC: f64 = 1e-11;
/// Eigenvalues with a smaller imaginary share are a pair of equal real ones: rounding moves equal eigenvalues that share a
/// shape by its square root.
const REAL: f64 = 1.5e-8;

const NOT_CONVERGED: LinearError = LinearError::NoModes {
    reason: "the eigenvalue iteration does not converge",
};
const MASSLESS: LinearError = LinearError::NoModes {
    reason: "mass matrix is not positive definite; give every motion inertia",
};
const SINGULAR: LinearError = LinearError::NoModes {
    reason: "stiffness matrix is singular to rounding",
};

/// Squares of frequencies with their shapes, by rising frequency, growing ones first.
#[derive(Clone, Debug)]
pub(super) struct Spectrum {
    /// $`\omega^2`$; of conjugates the one with positive imaginary part first.
    pub(super) squares: Vec<Complex<f64>>,
    /// One column per mode with $`x^HMx = 1`$: real for real squares, conjugate for conjugate ones.
    pub(super) shapes: DMatrix<Complex<f64>>,
}

/// One mode, or a pair of conjugate ones.
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
    /// When the mass matrix is not definite, or no eigenvalues are found.
    pub(super) fn new(mass: &DMatrix<f64>, stiffness: &DMatrix<f64>) -> Result<Self, LinearError> {
        let size = mass.nrows();
        if stiffness.iter().chain(mass).any(|x| !x.is_finite()) {
            return Err(LinearError::NoModes {
                reason: "mass or stiffness is not finite",
            });
        }
        // the eigenvalue iteration knows no matrix without entries
        if size == 0 {
            return Ok(Self {
                squares: Vec::new(),
                shapes: DMatrix::zeros(0, 0),
            });
        }
        let inertia = Cholesky::new(mass.clone());
        let skew = (stiffness - stiffness.transpose()).norm();
        let symmetric = (stiffness + stiffness.transpose()) * 0.5;
        let shift = shift(mass, &symmetric, inertia.as_ref());
        let mut found = if skew <= SYMMETRIC * stiffness.norm() {
            symmetric_modes(mass, &symmetric, shift)?
        } else {
            general_modes(mass, stiffness, shift, &inertia.ok_or(MASSLESS)?)?
        };
        found.sort_by(|a, b| a.key().total_cmp(&b.key()));
        let mut squares = Vec::with_capacity(size);
        let mut shapes = DMatrix::zeros(size, size);
        let complex_mass = mass.map(|x| Complex::new(x, 0.0));
        for Found { square, mut shape } in found {
            let norm = shape.dotc(&(&complex_mass * &shape)).re.sqrt();
            shape /= Complex::new(norm, 0.0);
            let pair = square.im != 0.0;
            for conjugate in [false, true].into_iter().take(1 + usize::from(pair)) {
                let column = squares.len();
                if conjugate {
                    squares.push(square.conj());
                    shapes.set_column(column, &shape.conjugate());
                } else {
                    squares.push(square);
                    shapes.set_column(column, &shape);
                }
            }
        }
        Ok(Self { squares, shapes })
    }
}

/// A shift that makes the symmetric part definite: none if it is, else beyond its lowest eigenvalue, below which no real part
/// lies.
fn shift(
    mass: &DMatrix<f64>,
    symmetric: &DMatrix<f64>,
    inertia: Option<&Cholesky<f64, Dyn>>,
) -> f64 {
    if symmetric.clone().cholesky().is_some() {
        return 0.0;
    }
    let Some(inertia) = inertia else {
        return 0.0;
    };
    let factor = inertia.l();
    let reduced = factor.solve_lower_triangular(symmetric);
    let reduced = reduced.and_then(|half| factor.solve_lower_triangular(&half.transpose()));
    // the iteration does not end on what is not a number
    let reduced = reduced.filter(|matrix| matrix.iter().all(|x| x.is_finite()));
    let lowest = reduced.map_or(0.0, |matrix| SymmetricEigen::new(matrix).eigenvalues.min());
    // a little beyond the lowest eigenvalue, and beyond rounding of a zero one
    2.0 * lowest.abs() + f64::EPSILON.sqrt() * symmetric.norm() / mass.norm()
}

fn symmetric_modes(
    mass: &DMatrix<f64>,
    symmetric: &DMatrix<f64>,
    shift: f64,
) -> Result<Vec<Found>, LinearError> {
    let size = mass.nrows();
    let factor = (symmetric + mass * shift).cholesky().ok_or(MASSLESS)?.l();
    let solve = |right: &DMatrix<f64>| factor.solve_lower_triangular(right).ok_or(SINGULAR);
    let reduced = solve(&solve(mass)?.transpose())?;
    let reduced = (&reduced + reduced.transpose()) * 0.5;
    let eigen = SymmetricEigen::try_new(reduced, f64::EPSILON, ITERATIONS_PER_MODE * (size + 1))
        .ok_or(NOT_CONVERGED)?;
    let mode = |(index, &inverse): (usize, &f64)| {
        // an eigenvalue that is not positive belongs to a motion without mass
        let square = if inverse > 0.0 {
            1.0 / inverse - shift
        } else {
            f64::INFINITY
        };
        let vector = eigen.eigenvectors.column(index).into_owned();
        let shape = factor.tr_solve_lower_triangular(&vector).unwrap_or(vector);
        Found::real(square, &shape)
    };
    Ok(eigen.eigenvalues.iter().enumerate().map(mode).collect())
}

fn general_modes(
    mass: &DMatrix<f64>,
    stiffness: &DMatrix<f64>,
    shift: f64,
    inertia: &Cholesky<f64, Dyn>,
) -> Result<Vec<Found>, LinearError> {
    let size = mass.nrows();
    let factor = inertia.l();
    let solved = (stiffness + mass * shift).lu().solve(&factor);
    let reduced = factor.transpose() * solved.ok_or(SINGULAR)?;
    let schur = Schur::try_new(
        reduced,
        f64::EPSILON,
        ITERATIONS_PER_MODE * (size + 1) * (size + 1),
    )
    .ok_or(NOT_CONVERGED)?;
    let (rotation, blocks) = schur.unpack();
    let Triangular { matrix, rotation } = Triangular::new(&blocks, &rotation);
    let shape = |column: usize| {
        let vector = &rotation * null_vector(&matrix, column);
        let [re, im] = [vector.map(|x| x.re), vector.map(|x| x.im)]
            .map(|part| factor.tr_solve_lower_triangular(&part).unwrap_or(part));
        re.zip_map(&im, Complex::new)
    };
    let square = |inverse: Complex<f64>| inverse.inv() - shift;
    let mut found = Vec::with_capacity(size);
    let mut at = 0;
    while at < size {
        let single = at + 1 == size || blocks[(at + 1, at)] == 0.0;
        let inverse = matrix[(at, at)];
        let first = shape(at);
        if single {
            found.push(Found::real(square(inverse).re, &turned_real(&first)[0]));
            at += 1;
            continue;
        }
        if inverse.im.abs() <= REAL * inverse.norm() {
            // equal ones: the parts of one shape are two shapes
            let [re, im] = turned_real(&first);
            let other = matrix[(at + 1, at + 1)];
            found.push(Found::real(square(inverse).re, &re));
            found.push(Found::real(square(other).re, &im));
        } else {
            // the inverse with negative imaginary part belongs to the square with a positive one
            let up = if inverse.im < 0.0 { at } else { at + 1 };
            found.push(Found {
                square: square(matrix[(up, up)]),
                shape: shape(up),
            });
        }
        at += 2;
    }
    Ok(found)
}

/// Real and imaginary part of a vector whose largest entry has been made real.
fn turned_real(vector: &DVector<Complex<f64>>) -> [DVector<f64>; 2] {
    let largest = vector[vector.icamax()];
    let phase = largest.conj() / largest.norm();
    let turned = vector * phase;
    [turned.map(|x| x.re), turned.map(|x| x.im)]
}

/// A complex triangular matrix that is similar to a real one.
struct Triangular {
    matrix: DMatrix<Complex<f64>>,
    rotation: DMatrix<Complex<f64>>,
}

impl Triangular {
    /// Of a real Schur form, each of whose two-by-two blocks is turned until it is triangular.
    fn new(blocks: &DMatrix<f64>, rotation: &DMatrix<f64>) -> Self {
        let size = blocks.nrows();
        let mut matrix = blocks.map(|x| Complex::new(x, 0.0));
        let mut rotation = rotation.map(|x| Complex::new(x, 0.0));
        for low in (1..size).rev() {
            let high = low - 1;
            let below = matrix[(low, high)];
            if below.norm() == 0.0 {
                continue;
            }
            let half = (matrix[(high, high)] - matrix[(low, low)]) * 0.5;
            let root = (half * half + matrix[(high, low)] * below).sqrt();
            // an eigenvalue of the block less its last entry
            let value = half + root;
            let length = (value.norm_sqr() + below.norm_sqr()).sqrt();
            let (cos, sin) = (value / length, below / length);
            for column in high..size {
                let (a, b) = (matrix[(high, column)], matrix[(low, column)]);
                matrix[(high, column)] = cos.conj() * a + sin.conj() * b;
                matrix[(low, column)] = cos * b - sin * a;
            }
            let turn = |target: &mut DMatrix<Complex<f64>>, rows: usize| {
                for row in 0..rows {
                    let (a, b) = (target[(row, high)], target[(row, low)]);
                    target[(row, high)] = a * cos + b * sin;
                    target[(row, low)] = b * cos.conj() - a * sin.conj();
                }
            };
            turn(&mut matrix, low + 1);
            turn(&mut rotation, size);
            matrix[(low, high)] = Complex::new(0.0, 0.0);
        }
        Self { matrix, rotation }
    }
}

/// Eigenvector of a triangular matrix for one entry of its diagonal.
fn null_vector(matrix: &DMatrix<Complex<f64>>, column: usize) -> DVector<Complex<f64>> {
    let mut vector = DVector::zeros(matrix.nrows());
    let value = matrix[(column, column)];
    // equal eigenvalues are kept apart by rounding, so that their vectors exist
    let least = f64::EPSILON * matrix.norm();
    vector[column] = Complex::new(1.0, 0.0);
    for row in (0..column).rev() {
        let mut sum = Complex::new(0.0, 0.0);
        for k in row + 1..=column {
            sum += matrix[(row, k)] * vector[k];
        }
        let mut gap = matrix[(row, row)] - value;
        if gap.norm() < least {
            gap = Complex::new(least, 0.0);
        }
        vector[row] = -sum / gap;
    }
    let length = vector.norm();
    vector / Complex::new(length, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: what cannot move has no modes, and no panic.
    #[test]
    fn nothing_has_no_modes() {
        let nothing = DMatrix::zeros(0, 0);
        assert!(
            Spectrum::new(&nothing, &nothing)
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
            let spectrum = Spectrum::new(&mass, &stiffness).unwrap();
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
