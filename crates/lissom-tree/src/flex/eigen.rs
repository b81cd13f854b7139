//! The symmetric eigenproblem $`K \phi = \omega^2 M \phi`$ of one body.
//!
//! It is reduced with the Cholesky factor of $`K + s M`$, $`s \ge 0`$, never of $`M`$: with
//! $`K + s M = L L^T`$ the largest eigenvalues of $`L^{-1} M L^{-T}`$ are
//! $`1/(\omega^2 + s)`$ of the lowest modes, which therefore come out with the smallest errors.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::error::FlexError;

/// Iterations allowed for each eigenvalue before giving up; two or three are usual.
const ITERATIONS_PER_MODE: usize = 100;

/// Modes by rising frequency.
pub(super) struct Modes {
    /// $`\omega^2`$.
    pub(super) squares: Vec<f64>,
    /// One column per mode, with $`\phi^T M \phi = 1`$.
    pub(super) vectors: DMatrix<f64>,
}

/// All modes of `stiffness` against `mass`; `shift` times the mass makes the stiffness definite.
pub(super) fn modes(
    stiffness: &DMatrix<f64>,
    mass: &DMatrix<f64>,
    shift: f64,
) -> Result<Modes, FlexError> {
    let size = stiffness.nrows();
    let factor = scaled_cholesky(
        &(stiffness + mass * shift),
        "stiffness matrix",
        "remove coordinates that store no strain energy",
    )?;
    let reduced = solve_lower(&factor, &solve_lower(&factor, mass).transpose());
    let reduced = (&reduced + reduced.transpose()) * 0.5;
    if let Some(&value) = reduced.iter().find(|value| !value.is_finite()) {
        return Err(FlexError::NotFinite {
            quantity: "mass matrix over stiffness matrix".to_owned(),
            value,
        });
    }
    let eigen = SymmetricEigen::try_new(reduced, f64::EPSILON, ITERATIONS_PER_MODE * (size + 1))
        .ok_or(FlexError::NoConvergence { size })?;

    // lowest frequency first; an eigenvalue that is not positive belongs to a motion without mass
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let mut squares = Vec::with_capacity(size);
    let mut vectors = DMatrix::zeros(size, size);
    for (rank, &index) in order.iter().enumerate() {
        let inverse_square = eigen.eigenvalues[index];
        if inverse_square <= 0.0 {
            squares.push(f64::INFINITY);
            continue;
        }
        squares.push(1.0 / inverse_square - shift);
        let vector =
            solve_lower_transposed(&factor, &eigen.eigenvectors.column(index).into_owned());
        vectors.set_column(rank, &(vector / inverse_square.sqrt()));
    }
    Ok(Modes { squares, vectors })
}

/// The solution of `matrix x = right` for a positive definite stiffness.
pub(super) fn solve(
    matrix: &DMatrix<f64>,
    right: &DMatrix<f64>,
) -> Result<DMatrix<f64>, FlexError> {
    let remedy = "remove coordinates that store no strain energy";
    let factor = scaled_cholesky(matrix, "stiffness matrix", remedy)?;
    let mut solution = solve_lower(&factor, right);
    for column in 0..solution.ncols() {
        let solved = solve_lower_transposed(&factor, &solution.column(column).into_owned());
        solution.set_column(column, &solved);
    }
    Ok(solution)
}

/// Lower factor `L` of a positive definite `matrix = L Lᵀ`.
///
/// The pivots are judged after scaling the diagonal to one, so that units do not matter.
pub(super) fn scaled_cholesky(
    matrix: &DMatrix<f64>,
    quantity: &'static str,
    remedy: &'static str,
) -> Result<DMatrix<f64>, FlexError> {
    let size = matrix.nrows();
    // the smallest pivot that rounding cannot have made out of zero
    let smallest = 4.0 * f64::EPSILON * size as f64;
    let mut factor = DMatrix::zeros(size, size);
    for row in 0..size {
        for column in 0..=row {
            let known: f64 = (0..column)
                .map(|k| factor[(row, k)] * factor[(column, k)])
                .sum();
            let rest = matrix[(row, column)] - known;
            if row > column {
                factor[(row, column)] = rest / factor[(column, column)];
                continue;
            }
            let pivot = rest / matrix[(row, row)];
            let definite = matrix[(row, row)] > 0.0 && pivot > smallest;
            if !definite {
                return Err(FlexError::NotPositiveDefinite {
                    quantity,
                    row: row + 1,
                    pivot,
                    remedy,
                });
            }
            factor[(row, row)] = rest.sqrt();
        }
    }
    Ok(factor)
}

/// Groups of coordinates, in rising order, that neither matrix couples to any other group.
pub(super) fn uncoupled_groups(stiffness: &DMatrix<f64>, mass: &DMatrix<f64>) -> Vec<Vec<usize>> {
    let size = stiffness.nrows();
    let mut group_of: Vec<Option<usize>> = vec![None; size];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for seed in 0..size {
        if group_of[seed].is_some() {
            continue;
        }
        let mut members = vec![seed];
        group_of[seed] = Some(groups.len());
        let mut next = 0;
        while next < members.len() {
            let member = members[next];
            next += 1;
            for other in 0..size {
                let coupled = stiffness[(member, other)] != 0.0 || mass[(member, other)] != 0.0;
                if coupled && group_of[other].is_none() {
                    group_of[other] = Some(groups.len());
                    members.push(other);
                }
            }
        }
        members.sort_unstable();
        groups.push(members);
    }
    groups
}

/// The rows and columns of `matrix` that belong to `members`.
pub(super) fn submatrix(matrix: &DMatrix<f64>, members: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(members.len(), members.len(), |i, j| {
        matrix[(members[i], members[j])]
    })
}

fn solve_lower(factor: &DMatrix<f64>, right: &DMatrix<f64>) -> DMatrix<f64> {
    let mut solution = right.clone();
    for mut column in solution.column_iter_mut() {
        for row in 0..factor.nrows() {
            let known: f64 = (0..row).map(|k| factor[(row, k)] * column[k]).sum();
            column[row] = (column[row] - known) / factor[(row, row)];
        }
    }
    solution
}

fn solve_lower_transposed(factor: &DMatrix<f64>, right: &DVector<f64>) -> DVector<f64> {
    let mut solution = right.clone();
    for row in (0..factor.nrows()).rev() {
        let known: f64 = (row + 1..factor.nrows())
            .map(|k| factor[(k, row)] * solution[k])
            .sum();
        solution[row] = (solution[row] - known) / factor[(row, row)];
    }
    solution
}
