//! Symmetric matrices as files hold them: with rounded numbers, so that mirrored entries may differ a little.

use nalgebra::DMatrix;

use super::error::FlexError;

/// Largest difference of mirrored entries of a symmetric matrix, relative to its largest entry: files
/// hold rounded numbers.
const ASYMMETRY: f64 = 1e-6;

/// The mean of a matrix and its transpose.
///
/// # Errors
/// If they differ by more than rounded numbers do.
pub(super) fn symmetrised(
    matrix: &DMatrix<f64>,
    quantity: impl FnOnce() -> String,
) -> Result<DMatrix<f64>, FlexError> {
    let largest = matrix.amax();
    let difference = (matrix - matrix.transpose()).amax() / largest;
    if largest > 0.0 && difference > ASYMMETRY {
        return Err(FlexError::NotSymmetric {
            quantity: quantity(),
            difference,
        });
    }
    Ok((matrix + matrix.transpose()) * 0.5)
}

/// The same for a square matrix by rows in place, whose entries stand one every `stride` numbers.
pub(super) fn symmetrise(
    size: usize,
    entries: &mut [f64],
    stride: usize,
    quantity: impl FnOnce() -> String,
) -> Result<(), FlexError> {
    let at = |row: usize, column: usize| (row * size + column) * stride;
    let matrix = DMatrix::from_fn(size, size, |row, column| entries[at(row, column)]);
    let matrix = symmetrised(&matrix, quantity)?;
    for row in 0..size {
        for column in 0..size {
            entries[at(row, column)] = matrix[(row, column)];
        }
    }
    Ok(())
}
