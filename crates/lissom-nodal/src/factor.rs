//! Factorization of the square matrix of the transfer functions, in storage made once.
//!
//! Conditions and unknowns stand in the order of elements and nodes, so that a chain gives a band. Rows
//! remember their first and last entry that is not zero, and nothing outside is touched: factoring costs
//! the length of the chain, not its cube.

use lissom_spatial::Scalar;

/// Pivots below this part of the largest entry count as zero: rounding in a matrix of this size leaves
/// about 1e-14, a mechanism that can be used a hundred million times as much.
const SINGULAR: f64 = 1e-10;

/// The factors $`P A = L U`$ of a square matrix.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    size: usize,
    entries: Vec<f64>,
    first: Vec<usize>,
    last: Vec<usize>,
    /// Last row that may have an entry in each column or before it.
    bottom: Vec<usize>,
    pivots: Vec<usize>,
}

/// Column without a usable pivot, with the ratio of its pivot to the largest entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingularColumn {
    pub(super) column: usize,
    pub(super) ratio: f64,
}

impl Factor {
    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            entries: vec![0.0; size * size],
            first: vec![size; size],
            last: vec![0; size],
            bottom: vec![0; size],
            pivots: vec![0; size],
        }
    }

    /// Forgets the matrix.
    pub(super) fn clear(&mut self) {
        for row in 0..self.size {
            if self.first[row] <= self.last[row] {
                let start = row * self.size;
                self.entries[start + self.first[row]..=start + self.last[row]].fill(0.0);
            }
        }
        self.first.fill(self.size);
        self.last.fill(0);
    }

    /// Adds to an entry of the matrix to be factored.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.size + column] += value;
        self.first[row] = self.first[row].min(column);
        self.last[row] = self.last[row].max(column);
    }

    /// Factors in place, with row exchanges.
    pub(super) fn factor(&mut self) -> Result<(), SingularColumn> {
        let n = self.size;
        let mut largest = 0.0_f64;
        self.bottom.fill(0);
        for row in 0..n {
            if self.first[row] > self.last[row] {
                continue;
            }
            let entries = &self.entries[row * n + self.first[row]..=row * n + self.last[row]];
            largest = entries.iter().fold(largest, |m, x| m.max(x.abs()));
            self.bottom[self.first[row]] = self.bottom[self.first[row]].max(row);
        }
        for column in 1..n {
            self.bottom[column] = self.bottom[column].max(self.bottom[column - 1]);
        }
        for k in 0..n {
            let mut pivot = k;
            let mut size = if self.first[k] <= k {
                self.entries[k * n + k].abs()
            } else {
                0.0
            };
            let bottom = self.bottom[k].max(k);
            for row in k + 1..=bottom {
                if self.first[row] <= k && self.entries[row * n + k].abs() > size {
                    pivot = row;
                    size = self.entries[row * n + k].abs();
                }
            }
            // also caught: a matrix with entries that are not finite
            let usable = size > SINGULAR * largest && largest.is_finite();
            if !usable {
                return Err(SingularColumn {
                    column: k,
                    ratio: size / largest,
                });
            }
            self.pivots[k] = pivot;
            if pivot != k {
                let (above, below) = self.entries.split_at_mut(pivot * n);
                above[k * n..(k + 1) * n].swap_with_slice(&mut below[..n]);
                self.first.swap(k, pivot);
                self.last.swap(k, pivot);
            }
            let end = self.last[k];
            let (above, below) = self.entries.split_at_mut((k + 1) * n);
            let pivot_row = &above[k * n..];
            for (offset, row) in below.chunks_exact_mut(n).take(bottom - k).enumerate() {
                let index = k + 1 + offset;
                if self.first[index] > k || row[k] == 0.0 {
                    continue;
                }
                let multiplier = row[k] / pivot_row[k];
                row[k] = multiplier;
                for column in k + 1..=end {
                    row[column] -= multiplier * pivot_row[column];
                }
                self.last[index] = self.last[index].max(end);
            }
        }
        Ok(())
    }

    /// Sign of the determinant.
    pub(super) fn sign(&self) -> f64 {
        let flips = |&k: &usize| {
            let is_negative = self.entries[k * self.size + k] < 0.0;
            is_negative != (self.pivots[k] != k)
        };
        if (0..self.size).filter(flips).count().is_multiple_of(2) {
            1.0
        } else {
            -1.0
        }
    }

    /// Replaces `vector` by the solution of $`A x =`$ `vector`.
    pub(super) fn solve<T: Scalar>(&self, vector: &mut [T]) {
        let n = self.size;
        for k in 0..n {
            vector.swap(k, self.pivots[k]);
        }
        for row in 0..n {
            let mut sum = vector[row];
            for column in self.first[row].min(row)..row {
                sum -= vector[column] * self.entries[row * n + column];
            }
            vector[row] = sum;
        }
        for row in (0..n).rev() {
            let mut sum = vector[row];
            for column in row + 1..=self.last[row] {
                sum -= vector[column] * self.entries[row * n + column];
            }
            vector[row] = sum * (1.0 / self.entries[row * n + row]);
        }
    }

    /// Replaces `vector` by the solution of $`A^T x =`$ `vector`.
    pub(super) fn solve_transposed<T: Scalar>(&self, vector: &mut [T]) {
        let n = self.size;
        for row in 0..n {
            let known = vector[row] * (1.0 / self.entries[row * n + row]);
            vector[row] = known;
            for column in row + 1..=self.last[row] {
                vector[column] -= known * self.entries[row * n + column];
            }
        }
        for row in (0..n).rev() {
            let known = vector[row];
            for column in self.first[row].min(row)..row {
                vector[column] -= known * self.entries[row * n + column];
            }
        }
        for k in (0..n).rev() {
            vector.swap(k, self.pivots[k]);
        }
    }
}

/// Lower factor, in place, of a symmetric positive definite matrix by rows, of which the lower triangle
/// is read. The error is the row whose pivot is lost to rounding, with pivot over diagonal.
pub(super) fn cholesky(matrix: &mut [f64], size: usize) -> Result<(), SingularColumn> {
    // what rounding leaves of a pivot that is zero
    let smallest = 8.0 * f64::EPSILON * size as f64;
    // what rounding of the others leaves of a diagonal that is zero
    let largest = (0..size).fold(0.0_f64, |most, row| most.max(matrix[row * size + row]));
    for row in 0..size {
        let diagonal = matrix[row * size + row];
        for column in 0..=row {
            let mut rest = matrix[row * size + column];
            for k in 0..column {
                rest -= matrix[row * size + k] * matrix[column * size + k];
            }
            if column < row {
                matrix[row * size + column] = rest / matrix[column * size + column];
                continue;
            }
            let ratio = rest / diagonal;
            let definite = diagonal > f64::EPSILON * largest && ratio > smallest;
            if !definite {
                return Err(SingularColumn { column: row, ratio });
            }
            matrix[row * size + row] = rest.sqrt();
        }
    }
    Ok(())
}

/// Replaces `vector` by the solution with a factor made by [`cholesky`].
pub(super) fn cholesky_solve(factor: &[f64], vector: &mut [f64]) {
    let size = vector.len();
    for row in 0..size {
        let mut rest = vector[row];
        for k in 0..row {
            rest -= factor[row * size + k] * vector[k];
        }
        vector[row] = rest / factor[row * size + row];
    }
    for row in (0..size).rev() {
        let known = vector[row] / factor[row * size + row];
        vector[row] = known;
        for k in 0..row {
            vector[k] -= factor[row * size + k] * known;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A handful of operations on numbers of order one.
    const ROUNDING: f64 = 1e-14;

    const BAND: [[f64; 4]; 4] = [
        [0.0, 2.0, 0.0, 0.0],
        [1.0, 1.0, 3.0, 0.0],
        [0.0, 4.0, 1.0, 0.25],
        [0.0, 0.0, 2.0, 1.0],
    ];

    fn banded() -> Factor {
        let mut factor = Factor::new(4);
        for (i, row) in BAND.iter().enumerate() {
            for (j, &x) in row.iter().enumerate() {
                if x != 0.0 {
                    factor.add(i, j, x);
                }
            }
        }
        factor.factor().unwrap();
        factor
    }

    /// Closed form: a chosen solution comes back, from the matrix and from its transpose.
    #[test]
    fn solves_bands_that_need_row_exchanges() {
        let factor = banded();
        let solution = [1.0, -2.0, 3.0, 0.5];
        let mut right = [0.0; 4];
        let mut transposed = [0.0; 4];
        for i in 0..4 {
            for j in 0..4 {
                right[i] += BAND[i][j] * solution[j];
                transposed[i] += BAND[j][i] * solution[j];
            }
        }
        factor.solve(&mut right);
        factor.solve_transposed(&mut transposed);
        for i in 0..4 {
            assert!((right[i] - solution[i]).abs() < ROUNDING);
            assert!((transposed[i] - solution[i]).abs() < ROUNDING);
        }
    }

    #[test]
    fn names_the_column_of_a_singular_matrix() {
        let mut factor = Factor::new(2);
        factor.add(0, 0, 1.0);
        factor.add(1, 0, 1.0);
        factor.add(0, 1, 2.0);
        factor.add(1, 1, 2.0);
        assert_eq!(factor.factor().unwrap_err().column, 1);
    }

    /// Closed form: the determinant of the band is -1, and changes its sign with a row.
    #[test]
    fn determinants_have_their_signs() {
        for (sign, expected) in [(1.0, -1.0), (-1.0, 1.0)] {
            let mut factor = Factor::new(4);
            for (row, entries) in BAND.iter().enumerate() {
                for (column, &entry) in entries.iter().enumerate() {
                    let entry = if row == 2 { sign * entry } else { entry };
                    if entry != 0.0 {
                        factor.add(row, column, entry);
                    }
                }
            }
            factor.factor().unwrap();
            assert!(factor.sign() * expected > 0.0);
        }
    }
}
