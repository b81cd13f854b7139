//! Factorization of small dense matrices, real or complex, with row exchanges, in storage made once.

use nalgebra::ComplexField;

/// The factors $`P A = L U`$ of a square matrix.
#[derive(Clone, Debug)]
pub struct Lu<T> {
    size: usize,
    /// L below the diagonal (its own diagonal is one), U on and above, by rows.
    factors: Vec<T>,
    /// Row exchanged with row k at stage k.
    pivots: Vec<usize>,
}

/// Column whose pivots are all zero or not finite.
#[derive(Clone, Copy, Debug)]
pub struct SingularColumn(pub usize);

impl<T: ComplexField<RealField = f64> + Copy> Lu<T> {
    /// Room for a matrix of this size.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            factors: vec![T::zero(); size * size],
            pivots: vec![0; size],
        }
    }

    /// Factors the matrix with these entries by row and column.
    ///
    /// # Errors
    ///
    /// When a column has no pivot.
    pub fn factor(&mut self, entry: impl Fn(usize, usize) -> T) -> Result<(), SingularColumn> {
        let n = self.size;
        for row in 0..n {
            for column in 0..n {
                self.factors[row * n + column] = entry(row, column);
            }
        }
        for k in 0..n {
            let mut pivot = k;
            for row in k + 1..n {
                if self.factors[row * n + k].norm1() > self.factors[pivot * n + k].norm1() {
                    pivot = row;
                }
            }
            let size = self.factors[pivot * n + k].norm1();
            if size == 0.0 || !size.is_finite() {
                return Err(SingularColumn(k));
            }
            self.pivots[k] = pivot;
            if pivot != k {
                for column in 0..n {
                    self.factors.swap(k * n + column, pivot * n + column);
                }
            }
            let (above, below) = self.factors.split_at_mut((k + 1) * n);
            let pivot_row = &above[k * n..];
            for row in below.chunks_exact_mut(n) {
                let multiplier = row[k] / pivot_row[k];
                row[k] = multiplier;
                if multiplier != T::zero() {
                    for column in k + 1..n {
                        row[column] -= multiplier * pivot_row[column];
                    }
                }
            }
        }
        Ok(())
    }

    /// Replaces `vector` by the solution of A x = `vector`.
    pub fn solve(&self, vector: &mut [T]) {
        let n = self.size;
        for k in 0..n {
            vector.swap(k, self.pivots[k]);
        }
        for row in 0..n {
            for column in 0..row {
                let known = vector[column];
                vector[row] -= self.factors[row * n + column] * known;
            }
        }
        for row in (0..n).rev() {
            for column in row + 1..n {
                let known = vector[column];
                vector[row] -= self.factors[row * n + column] * known;
            }
            vector[row] /= self.factors[row * n + row];
        }
    }
}

impl Lu<f64> {
    /// Sign of the determinant.
    pub fn determinant_sign(&self) -> f64 {
        let n = self.size;
        (0..n).fold(1.0, |sign, k| {
            let exchanged = if self.pivots[k] == k { sign } else { -sign };
            exchanged * self.factors[k * n + k].signum()
        })
    }

    /// Largest pivot over the smallest.
    pub fn pivot_ratio(&self) -> f64 {
        let n = self.size;
        let (mut largest, mut smallest) = (0.0_f64, f64::INFINITY);
        for k in 0..n {
            let size = self.factors[k * n + k].abs();
            (largest, smallest) = (largest.max(size), smallest.min(size));
        }
        if n == 0 { 1.0 } else { largest / smallest }
    }

    /// Replaces `vector` by the solution of Aᵀ x = `vector`.
    pub fn solve_transposed(&self, vector: &mut [f64]) {
        let n = self.size;
        for row in 0..n {
            for column in 0..row {
                vector[row] -= self.factors[column * n + row] * vector[column];
            }
            vector[row] /= self.factors[row * n + row];
        }
        for row in (0..n).rev() {
            for column in row + 1..n {
                vector[row] -= self.factors[column * n + row] * vector[column];
            }
        }
        for k in (0..n).rev() {
            vector.swap(k, self.pivots[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Complex;

    /// A handful of operations on numbers of order one.
    const ROUNDING: f64 = 1e-14;

    #[test]
    fn solves_systems_that_need_row_exchanges() {
        let matrix = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, 1.0]];
        let solution = [1.0, -2.0, 3.0];
        let mut lu = Lu::new(3);
        lu.factor(|i, j| matrix[i][j]).unwrap();
        let mut vector: Vec<f64> = matrix
            .iter()
            .map(|row| row.iter().zip(&solution).map(|(a, x)| a * x).sum())
            .collect();
        lu.solve(&mut vector);
        for (found, wanted) in vector.iter().zip(&solution) {
            assert!((found - wanted).abs() < ROUNDING);
        }
        // -1, by its first column
        assert_eq!(lu.determinant_sign(), -1.0);
        let mut transposed: Vec<f64> = (0..3)
            .map(|j| (0..3).map(|i| matrix[i][j] * solution[i]).sum())
            .collect();
        lu.solve_transposed(&mut transposed);
        for (found, wanted) in transposed.iter().zip(&solution) {
            assert!((found - wanted).abs() < ROUNDING);
        }
    }

    #[test]
    fn solves_complex_systems() {
        let imaginary = Complex::new(0.0, 1.0);
        let one = Complex::new(1.0, 0.0);
        let matrix = [[imaginary, one], [one, imaginary * 2.0]];
        let solution = [one + imaginary, one * 2.0 - imaginary];
        let mut lu = Lu::new(2);
        lu.factor(|i, j| matrix[i][j]).unwrap();
        let mut vector: Vec<_> = matrix
            .iter()
            .map(|row| row[0] * solution[0] + row[1] * solution[1])
            .collect();
        lu.solve(&mut vector);
        for (found, wanted) in vector.iter().zip(&solution) {
            assert!((found - wanted).norm() < ROUNDING);
        }
    }

    #[test]
    fn names_the_column_of_a_singular_matrix() {
        let mut lu = Lu::new(2);
        let singular = lu.factor(|_, column| if column == 0 { 1.0 } else { 2.0 });
        assert!(matches!(singular, Err(SingularColumn(1))));
    }
}
