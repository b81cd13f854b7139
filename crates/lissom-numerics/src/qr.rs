//! Householder factors of a rectangular matrix with pivoted columns, $`A P = Q R`$.

/// Part of the largest pivot below which what remains of a column is rounding, as for the rank of closures.
const RANK_TOLERANCE: f64 = 1e-9;

/// The factors, in memory that is used again.
#[derive(Clone, Debug)]
pub struct PivotedQr {
    rows: usize,
    columns: usize,
    /// By columns: R on and above the diagonal, below it the reflections, whose first entry is one.
    factors: Vec<f64>,
    /// Size of every reflection.
    scale: Vec<f64>,
    /// Which column of the matrix stands where.
    order: Vec<usize>,
    rank: usize,
    scratch: Vec<f64>,
}

impl PivotedQr {
    /// Room for a matrix of this size.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            factors: vec![0.0; rows * columns],
            scale: vec![0.0; columns],
            order: (0..columns).collect(),
            rank: 0,
            scratch: vec![0.0; rows.max(columns)],
        }
    }

    /// Number of independent columns.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Factors the matrix with these entries by row and column.
    pub fn factor(&mut self, entry: impl Fn(usize, usize) -> f64) {
        let (m, n) = (self.rows, self.columns);
        for j in 0..n {
            self.order[j] = j;
            for i in 0..m {
                self.factors[j * m + i] = entry(i, j);
            }
        }
        self.rank = 0;
        let mut largest = 0.0_f64;
        for k in 0..m.min(n) {
            let rest = |factors: &[f64], j: usize| {
                let column = &factors[j * m + k..(j + 1) * m];
                column.iter().map(|x| x * x).sum::<f64>().sqrt()
            };
            let mut best = (k, rest(&self.factors, k));
            for j in k + 1..n {
                let size = rest(&self.factors, j);
                if size > best.1 {
                    best = (j, size);
                }
            }
            let (pivot, size) = best;
            largest = largest.max(size);
            // a size that is not a number ends it too
            if size.is_nan() || size <= RANK_TOLERANCE * largest {
                return;
            }
            if pivot != k {
                self.order.swap(k, pivot);
                for i in 0..m {
                    self.factors.swap(k * m + i, pivot * m + i);
                }
            }
            let first = self.factors[k * m + k];
            let diagonal = if first > 0.0 { -size } else { size };
            self.scale[k] = (diagonal - first) / diagonal;
            for x in &mut self.factors[k * m + k + 1..(k + 1) * m] {
                *x /= first - diagonal;
            }
            self.factors[k * m + k] = diagonal;
            self.rank += 1;
            let (done, open) = self.factors.split_at_mut((k + 1) * m);
            for column in open.chunks_exact_mut(m) {
                reflect(&done[k * m..], k, self.scale[k], column);
            }
        }
    }

    /// Replaces `vector` by $`Q^T`$ times it.
    fn reduce(&self, vector: &mut [f64]) {
        for k in 0..self.rank {
            reflect(&self.factors[k * self.rows..], k, self.scale[k], vector);
        }
    }

    /// Replaces `vector` by $`Q`$ times it. The last entries, as many as the rank leaves, span what no column
    /// reaches.
    pub fn expand(&self, vector: &mut [f64]) {
        for k in (0..self.rank).rev() {
            reflect(&self.factors[k * self.rows..], k, self.scale[k], vector);
        }
    }

    /// The solution of $`A x = b`$ with the least residual, for a matrix whose columns are independent.
    pub fn solve(&mut self, right: &[f64], solution: &mut [f64]) {
        let (m, n) = (self.rows, self.columns);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch[..m].copy_from_slice(right);
        self.reduce(&mut scratch[..m]);
        for k in (0..n).rev() {
            let mut x = scratch[k];
            for j in k + 1..n {
                x -= self.factors[j * m + k] * solution[self.order[j]];
            }
            solution[self.order[k]] = x / self.factors[k * m + k];
        }
        self.scratch = scratch;
    }

    /// The shortest solution of $`A^T y = b`$, for a matrix whose columns are independent.
    pub fn solve_transposed(&self, right: &[f64], solution: &mut [f64]) {
        let (m, n) = (self.rows, self.columns);
        solution.fill(0.0);
        for k in 0..n {
            let mut y = right[self.order[k]];
            for (i, earlier) in solution[..k].iter().enumerate() {
                y -= self.factors[k * m + i] * earlier;
            }
            solution[k] = y / self.factors[k * m + k];
        }
        self.expand(solution);
    }
}

/// Applies the reflection kept below entry `k` of `column`.
fn reflect(column: &[f64], k: usize, scale: f64, vector: &mut [f64]) {
    let m = vector.len();
    let reflection = &column[k + 1..m];
    let mut along = vector[k];
    for (v, x) in reflection.iter().zip(&vector[k + 1..]) {
        along += v * x;
    }
    along *= scale;
    vector[k] -= along;
    for (x, v) in vector[k + 1..].iter_mut().zip(reflection) {
        *x -= along * v;
    }
}

#[cfg(test)]
mod tests {
    use super::PivotedQr;

    const MATRIX: [[f64; 3]; 4] = [
        [1.0, 2.0, -1.0],
        [0.5, -1.0, 3.0],
        [2.0, 0.0, 1.0],
        [-1.0, 4.0, 0.3],
    ];
    /// A few dozen products of numbers near one.
    const ROUNDING: f64 = 1e-14;

    /// Identity: an exact solution is found, of rows that exceed the columns and of its transpose.
    #[test]
    fn solves_both_ways() {
        let mut qr = PivotedQr::new(4, 3);
        qr.factor(|i, j| MATRIX[i][j]);
        assert_eq!(qr.rank(), 3);
        let x = [0.3, -2.0, 1.1];
        let right: Vec<f64> = MATRIX
            .iter()
            .map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
            .collect();
        let mut found = [0.0; 3];
        qr.solve(&right, &mut found);
        for (found, x) in found.iter().zip(x) {
            assert!((found - x).abs() < ROUNDING, "{found} {x}");
        }
        let mut shortest = [0.0; 4];
        qr.solve_transposed(&x, &mut shortest);
        for (j, x) in x.iter().enumerate() {
            let sum: f64 = (0..4).map(|i| MATRIX[i][j] * shortest[i]).sum();
            assert!((sum - x).abs() < ROUNDING, "{sum} {x}");
        }
        // nothing of it lies where the transpose sees nothing
        let mut unseen = [0.0, 0.0, 0.0, 1.0];
        qr.expand(&mut unseen);
        let product: f64 = unseen.iter().zip(shortest).map(|(a, b)| a * b).sum();
        assert!(product.abs() < ROUNDING, "{product}");
    }

    #[test]
    fn dependent_columns_do_not_count() {
        let mut qr = PivotedQr::new(4, 3);
        qr.factor(|i, j| {
            if j == 2 {
                MATRIX[i][0] - 2.0 * MATRIX[i][1]
            } else {
                MATRIX[i][j]
            }
        });
        assert_eq!(qr.rank(), 2);
        qr.factor(|_, _| 0.0);
        assert_eq!(qr.rank(), 0);
    }
}
