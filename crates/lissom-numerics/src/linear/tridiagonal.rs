//! All eigenvalues and eigenvectors of a symmetric matrix.
//!
//! Small matrices are left to nalgebra. Large ones take their time, in which somebody may want to stop: they are brought to tridiagonal form a
//! panel of columns at a time (`schur/hessenberg.rs`, which of a symmetric matrix leaves two diagonals beside rounding), and that to a diagonal by
//! implicit QL sweeps with Wilkinson's shifts (Golub & Van Loan, *Matrix Computations*, 8.3).

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::error::{GoOn, LinearError};
use super::schur::{SMALL, hessenberg};
use super::spectrum::NOT_CONVERGED;

/// Sweeps allowed for each eigenvalue; two or three are usual.
const SWEEPS_PER_VALUE: usize = 100;

/// Eigenvalues in no order, and their vectors: one column each, of unit length. Of `matrix`, which is finite, the lower half counts. `go_on` is asked
/// after every panel and every sweep.
///
/// # Errors
/// When the iteration does not converge, or is stopped.
pub(super) fn eigen(
    mut matrix: DMatrix<f64>,
    go_on: &mut GoOn<'_>,
) -> Result<(DVector<f64>, DMatrix<f64>), LinearError> {
    let size = matrix.nrows();
    if size <= SMALL {
        let sweeps = SWEEPS_PER_VALUE * (size + 1);
        let found = SymmetricEigen::try_new(matrix, f64::EPSILON, sweeps).ok_or(NOT_CONVERGED)?;
        return Ok((found.eigenvalues, found.eigenvectors));
    }
    matrix.fill_upper_triangle_with_lower_triangle();
    // squares of numbers far from one would overflow
    let scale = matrix.amax();
    if scale > 0.0 {
        matrix /= scale;
    }
    let (form, mut vectors) = hessenberg(matrix, go_on)?;
    let mut values = form.diagonal();
    let mut beside = DVector::from_fn(size, |at, _| {
        if at + 1 < size {
            form[(at + 1, at)]
        } else {
            0.0
        }
    });
    for at in 0..size {
        let mut sweeps = 0;
        loop {
            let is_last = |&i: &usize| {
                let both = values[i].abs() + values[i + 1].abs();
                beside[i].abs() <= f64::EPSILON * both
            };
            let end = (at..size - 1).find(is_last).unwrap_or(size - 1);
            if end == at {
                break;
            }
            if sweeps == SWEEPS_PER_VALUE {
                return Err(NOT_CONVERGED);
            }
            sweeps += 1;
            go_on()?;
            sweep(&mut values, &mut beside, &mut vectors, at, end);
        }
    }
    Ok((values * scale, vectors))
}

/// A sweep of the block between two places, from its end to its beginning, where the eigenvalue nearest to the shift comes out.
fn sweep(
    values: &mut DVector<f64>,
    beside: &mut DVector<f64>,
    vectors: &mut DMatrix<f64>,
    at: usize,
    end: usize,
) {
    let size = vectors.nrows();
    let half = (values[at + 1] - values[at]) / (2.0 * beside[at]);
    let root = half.hypot(1.0).copysign(half);
    let mut bulge = values[end] - values[at] + beside[at] / (half + root);
    let (mut cosine, mut sine, mut moved) = (1.0, 1.0, 0.0);
    for i in (at..end).rev() {
        let (out, along) = (sine * beside[i], cosine * beside[i]);
        let length = out.hypot(bulge);
        beside[i + 1] = length;
        if length == 0.0 {
            // the block falls apart here
            values[i + 1] -= moved;
            beside[end] = 0.0;
            return;
        }
        (sine, cosine) = (out / length, bulge / length);
        let own = values[i + 1] - moved;
        let change = (values[i] - own) * sine + 2.0 * cosine * along;
        moved = sine * change;
        values[i + 1] = own + moved;
        bulge = cosine * change - along;
        let both = &mut vectors.as_mut_slice()[i * size..(i + 2) * size];
        let (left, right) = both.split_at_mut(size);
        for (x, y) in left.iter_mut().zip(right) {
            (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
        }
    }
    values[at] -= moved;
    beside[at] = bulge;
    beside[end] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::error::unwatched;

    /// Closed form: a matrix of known eigenvalues, equal and nearly equal ones, zeros and those of seven decades among them, small and large;
    /// one made of blocks, and one of huge numbers.
    #[test]
    fn values_and_vectors_are_those_the_matrix_was_made_of() {
        // rounding of so many rotations
        const ROUNDING: f64 = 1e-13;
        for size in [1, 5, SMALL, SMALL + 1, 230] {
            let value = |i: usize| match i % 5 {
                0 => 2.0,
                1 => 2.0 + 1e-9 * i as f64,
                2 => 0.0,
                3 => -(i as f64),
                _ => 10.0_f64.powf(i as f64 * 7.0 / size as f64 - 5.0),
            };
            let known = DMatrix::from_diagonal(&DVector::from_fn(size, |i, _| value(i)));
            let turn = crate::linear::tests::mixed(size);
            let mixed = &turn * &known * turn.transpose();
            let mut blocks = known.clone();
            let half = size / 2;
            let inner = crate::linear::tests::mixed(half);
            let part = &inner * known.view((0, 0), (half, half)) * inner.transpose();
            blocks.view_mut((0, 0), (half, half)).copy_from(&part);
            for matrix in [blocks, &mixed * 1e250, mixed] {
                let (values, vectors) = eigen(matrix.clone(), &mut unwatched).unwrap();
                let norm = matrix.amax();
                let unit = matrix / norm;
                let wanted = &vectors * DMatrix::from_diagonal(&(values / norm));
                assert!((unit * &vectors - wanted).amax() < ROUNDING, "{size}");
                let products = vectors.tr_mul(&vectors);
                let missed = (products - DMatrix::identity(size, size)).amax();
                assert!(missed < ROUNDING, "{size} {missed}");
            }
        }
    }

    /// Property: the search ends at the first question answered with no, wherever it is.
    #[test]
    fn it_ends_when_somebody_says_so() {
        let matrix = crate::linear::tests::mixed(150);
        let matrix = &matrix + matrix.transpose();
        let mut questions = 0;
        eigen(matrix.clone(), &mut || {
            questions += 1;
            Ok(())
        })
        .unwrap();
        assert!(questions > 150, "{questions}");
        for last in [1, questions / 2, questions] {
            let mut asked = 0;
            let stopped = LinearError::Stopped { at_s: 0.0 };
            let ended = eigen(matrix.clone(), &mut || {
                asked += 1;
                if asked == last {
                    Err(stopped.clone())
                } else {
                    Ok(())
                }
            });
            assert_eq!((ended.map(|_| ()), asked), (Err(stopped), last));
        }
    }
}
