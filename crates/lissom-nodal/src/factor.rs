//! Factorization of sparse square matrices with row exchanges, in storage made once.
//!
//! The [fronts](super::fronts) say where the entries are and in which order unknowns are eliminated. They depend on the structure of the
//! matrix alone, and pivots on its values alone: the same matrix has the same factors, to the last bit, whatever was
//! factored before.

use lissom_spatial::Scalar;

use super::fronts::{Front, Fronts, Order, RowGroup};

/// Pivots below this part of the largest entry count as zero: rounding in a matrix of this size leaves
/// about 1e-14, a mechanism that can be used a hundred million times as much.
const SINGULAR: f64 = 1e-10;

/// The factors $`P A Q = L U`$ of a sparse square matrix.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    fronts: Fronts,
    /// Entries of all fronts: of the matrix, then of its factors.
    entries: Vec<f64>,
    /// Rows of all fronts as they were exchanged.
    rows: Vec<usize>,
    /// Row whose pivot stands in each column.
    pivot_row: Vec<usize>,
    /// Sign of the determinant.
    sign: f64,
}

/// Column without a usable pivot, with the ratio of its pivot to the largest entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingularColumn {
    pub(super) column: usize,
    pub(super) ratio: f64,
}

impl Factor {
    /// For matrices with these groups of columns and of rows.
    pub(super) fn new(columns: &[Vec<usize>], rows: &[RowGroup], order: Order) -> Self {
        let fronts = Fronts::new(columns, rows, order);
        Self {
            entries: vec![0.0; fronts.entries],
            rows: fronts.rows.clone(),
            pivot_row: vec![0; fronts.size],
            sign: 1.0,
            fronts,
        }
    }

    /// Where entries are, and how many operations a factorization takes.
    pub(super) fn fronts(&self) -> &Fronts {
        &self.fronts
    }

    /// Forgets the matrix.
    pub(super) fn clear(&mut self) {
        self.entries.fill(0.0);
        self.rows.copy_from_slice(&self.fronts.rows);
    }

    /// Adds to an entry of the matrix to be factored, which is stored in this slot.
    #[inline(always)]
    pub(super) fn add(&mut self, slot: usize, value: f64) {
        self.entries[slot] += value;
    }

    /// Multiplies every row by the power of two that brings its largest entry between one and two, and tells the largest entry that every
    /// column has then.
    pub(super) fn equilibrate(&mut self, scales: &mut [f64], sizes: &mut [f64]) {
        sizes.fill(0.0);
        for front in &self.fronts.blocks {
            let columns = &self.fronts.columns[front.first_column..][..front.columns];
            for at in 0..front.rows {
                let row = self.fronts.rows[front.first_row + at];
                if row == usize::MAX {
                    continue;
                }
                let entries = &mut self.entries[front.first_entry + at * front.columns..];
                let entries = &mut entries[..front.columns];
                let largest = entries.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                scales[row] = to_size_one(largest);
                for (entry, &column) in entries.iter_mut().zip(columns) {
                    *entry *= scales[row];
                    sizes[column] = sizes[column].max(entry.abs());
                }
            }
        }
    }

    /// Factors in place. A pivot is refused that is lost beside the largest entry of the matrix.
    pub(super) fn factor(&mut self) -> Result<(), SingularColumn> {
        let largest = (self.entries.iter()).fold(0.0_f64, |most, x| most.max(x.abs()));
        // `max` passes over what is not a number
        let sound = largest.is_finite() && !self.entries.iter().any(|x| x.is_nan());
        let largest = if sound { largest } else { f64::NAN };
        self.factor_above(|_| largest, SINGULAR)
    }

    /// Factors in place. A pivot is refused that is not above this part of the size of its column.
    pub(super) fn factor_above(
        &mut self,
        size_of: impl Fn(usize) -> f64,
        part: f64,
    ) -> Result<(), SingularColumn> {
        for index in 0..self.fronts.blocks.len() {
            let front = self.fronts.blocks[index];
            self.eliminate(&front, &size_of, part)?;
            self.pass_on(&front);
        }
        self.sign = self.find_sign();
        Ok(())
    }

    /// Eliminates the pivots of a front from all its rows.
    #[inline(always)]
    fn eliminate(
        &mut self,
        front: &Front,
        size_of: &impl Fn(usize) -> f64,
        part: f64,
    ) -> Result<(), SingularColumn> {
        let width = front.columns;
        let entries = &mut self.entries[front.first_entry..front.first_entry + front.rows * width];
        let ids = &mut self.rows[front.first_row..front.first_row + front.rows];
        for k in 0..front.pivots {
            let mut pivot = k;
            let mut size = 0.0_f64;
            for row in k..front.rows {
                let entry = entries[row * width + k].abs();
                if entry > size {
                    (pivot, size) = (row, entry);
                }
            }
            let column = self.fronts.columns[front.first_column + k];
            let whole = size_of(column);
            // also caught: sizes that are not finite
            let usable = size > part * whole && size.is_finite();
            if !usable {
                let ratio = size / whole;
                return Err(SingularColumn { column, ratio });
            }
            let (above, below) = entries.split_at_mut((k + 1) * width);
            let pivot_row = &mut above[k * width..];
            if pivot != k {
                let at = (pivot - k - 1) * width;
                pivot_row.swap_with_slice(&mut below[at..at + width]);
                ids.swap(k, pivot);
            }
            for row in below.chunks_exact_mut(width) {
                if row[k] == 0.0 {
                    continue;
                }
                // a quotient, so that equal rows cancel: what does not move stays where it is, to the last bit
                let multiplier = row[k] / pivot_row[k];
                row[k] = multiplier;
                for (entry, above) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                    *entry -= multiplier * above;
                }
            }
        }
        Ok(())
    }

    /// Copies the rows that are left to the front that goes on with them.
    #[inline(always)]
    fn pass_on(&mut self, front: &Front) {
        let Some((parent, first)) = front.parent else {
            return;
        };
        let parent = self.fronts.blocks[parent];
        // parents stand behind their children
        let (own, others) = self.entries.split_at_mut(parent.first_entry);
        let boundary = front.first_column + front.pivots..front.first_column + front.columns;
        let places = &self.fronts.places[boundary];
        for (offset, row) in (front.pivots..front.rows).enumerate() {
            let from = front.first_entry + row * front.columns;
            let left = &own[from + front.pivots..from + front.columns];
            let to = (first + offset) * parent.columns;
            let target = &mut others[to..to + parent.columns];
            for (&entry, &place) in left.iter().zip(places) {
                target[place] = entry;
            }
            self.rows[parent.first_row + first + offset] = self.rows[front.first_row + row];
        }
    }

    /// Rows, columns and entries of a front that was factored.
    #[inline(always)]
    fn part(&self, front: &Front) -> (&[usize], &[usize], &[f64]) {
        let end = front.first_entry + front.rows * front.columns;
        (
            &self.rows[front.first_row..front.first_row + front.rows],
            &self.fronts.columns[front.first_column..front.first_column + front.columns],
            &self.entries[front.first_entry..end],
        )
    }

    fn find_sign(&mut self) -> f64 {
        let mut flips = self.fronts.size;
        for front in &self.fronts.blocks {
            for k in 0..front.pivots {
                let column = self.fronts.columns[front.first_column + k];
                self.pivot_row[column] = self.rows[front.first_row + k];
                let pivot = self.entries[front.first_entry + k * front.columns + k];
                flips += usize::from(pivot < 0.0);
            }
        }
        // a permutation is odd if its size less the number of its cycles is
        for start in 0..self.fronts.size {
            let mut at = start;
            let mut is_cycle = false;
            while self.pivot_row[at] != usize::MAX {
                at = std::mem::replace(&mut self.pivot_row[at], usize::MAX);
                is_cycle = true;
            }
            flips += usize::from(is_cycle);
        }
        if flips.is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    /// Sign of the determinant.
    pub(super) fn sign(&self) -> f64 {
        self.sign
    }

    /// Replaces `vector` by the solution of $`A x =`$ `vector`; `solution` is scratch.
    pub(super) fn solve<T: Scalar>(&self, vector: &mut [T], solution: &mut [T]) {
        for front in &self.fronts.blocks {
            let (rows, _, entries) = self.part(front);
            for k in 0..front.pivots {
                let known = vector[rows[k]];
                for (&row, line) in rows
                    .iter()
                    .zip(entries.chunks_exact(front.columns))
                    .skip(k + 1)
                {
                    vector[row] -= known * line[k];
                }
            }
        }
        for front in self.fronts.blocks.iter().rev() {
            let (rows, columns, entries) = self.part(front);
            for k in (0..front.pivots).rev() {
                let line = &entries[k * front.columns..(k + 1) * front.columns];
                let mut sum = vector[rows[k]];
                for (&column, &entry) in columns.iter().zip(line).skip(k + 1) {
                    sum -= solution[column] * entry;
                }
                solution[columns[k]] = sum * (1.0 / line[k]);
            }
        }
        vector.copy_from_slice(solution);
    }

    /// Replaces `vector` by the solution of $`A^T x =`$ `vector`; `solution` is scratch.
    pub(super) fn solve_transposed<T: Scalar>(&self, vector: &mut [T], solution: &mut [T]) {
        for front in &self.fronts.blocks {
            let (rows, columns, entries) = self.part(front);
            for k in 0..front.pivots {
                let line = &entries[k * front.columns..(k + 1) * front.columns];
                let known = vector[columns[k]] * (1.0 / line[k]);
                solution[rows[k]] = known;
                for (&column, &entry) in columns.iter().zip(line).skip(k + 1) {
                    vector[column] -= known * entry;
                }
            }
        }
        for front in self.fronts.blocks.iter().rev() {
            let (rows, _, entries) = self.part(front);
            for k in (0..front.pivots).rev() {
                let mut sum = solution[rows[k]];
                for (&row, line) in rows
                    .iter()
                    .zip(entries.chunks_exact(front.columns))
                    .skip(k + 1)
                {
                    sum -= solution[row] * line[k];
                }
                solution[rows[k]] = sum;
            }
        }
        vector.copy_from_slice(solution);
    }
}

/// The power of two that brings a number between one and two; one for zero and for what is not finite.
fn to_size_one(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff;
    let exponent = (x.to_bits() >> 52) & EXPONENT;
    match exponent {
        0 | EXPONENT => 1.0,
        // twice the bias is 2046
        exponent => f64::from_bits((2046 - exponent).max(1) << 52),
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

    /// A matrix by rows, each column a group of its own.
    fn assembled(matrix: &[Vec<f64>]) -> Factor {
        let size = matrix.len();
        let columns: Vec<Vec<usize>> = (0..size).map(|column| vec![column]).collect();
        let rows: Vec<RowGroup> = (matrix.iter().enumerate())
            .map(|(row, entries)| RowGroup {
                rows: vec![row],
                groups: (0..size).filter(|&column| entries[column] != 0.0).collect(),
            })
            .collect();
        let mut factor = Factor::new(&columns, &rows, Order::FewestColumns);
        factor.clear();
        for (i, row) in matrix.iter().enumerate() {
            for (j, &x) in row.iter().enumerate() {
                if x != 0.0 {
                    factor.add(factor.fronts().slot(i, j), x);
                }
            }
        }
        factor
    }

    fn banded() -> Vec<Vec<f64>> {
        BAND.iter().map(|row| row.to_vec()).collect()
    }

    /// Closed form: a chosen solution comes back, from the matrix and from its transpose.
    fn assert_solves(matrix: &[Vec<f64>]) {
        let size = matrix.len();
        let mut factor = assembled(matrix);
        factor.factor().unwrap();
        let solution: Vec<f64> = (0..size).map(|i| 1.0 - 0.75 * i as f64).collect();
        let (mut right, mut transposed) = (vec![0.0; size], vec![0.0; size]);
        for i in 0..size {
            for j in 0..size {
                right[i] += matrix[i][j] * solution[j];
                transposed[i] += matrix[j][i] * solution[j];
            }
        }
        let mut scratch = vec![0.0; size];
        factor.solve(&mut right, &mut scratch);
        factor.solve_transposed(&mut transposed, &mut scratch);
        for i in 0..size {
            let near = ROUNDING * size as f64;
            assert!((right[i] - solution[i]).abs() < near * size as f64);
            assert!((transposed[i] - solution[i]).abs() < near * size as f64);
        }
    }

    #[test]
    fn solves_bands_that_need_row_exchanges() {
        assert_solves(&banded());
    }

    /// Saddle points of chains with branches, whose zeros on the diagonal ask for pivots elsewhere.
    #[test]
    fn solves_saddle_points_of_branches() {
        // a star of three chains: entry (i, j) for neighbours, and a condition between two ends
        let size = 11;
        let mut matrix = vec![vec![0.0; size]; size];
        for (i, j) in [
            (0, 1),
            (1, 2),
            (2, 3),
            (0, 4),
            (4, 5),
            (5, 6),
            (0, 7),
            (7, 8),
            (8, 9),
        ] {
            (matrix[i][j], matrix[j][i]) = (-1.0, -1.25);
            matrix[i][i] += 2.5;
            matrix[j][j] += 0.5;
        }
        for (end, slope) in [(3, 1.0), (6, -2.0)] {
            (matrix[10][end], matrix[end][10]) = (slope, slope);
        }
        assert_solves(&matrix);
    }

    #[test]
    fn names_the_column_of_a_singular_matrix() {
        let mut factor = assembled(&[vec![1.0, 2.0], vec![1.0, 2.0]]);
        assert_eq!(factor.factor().unwrap_err().column, 1);
    }

    /// Closed form: the determinant of the band is -1, and changes its sign with a row.
    #[test]
    fn determinants_have_their_signs() {
        for (sign, expected) in [(1.0, -1.0), (-1.0, 1.0)] {
            let mut matrix = banded();
            for entry in &mut matrix[2] {
                *entry *= sign;
            }
            let mut factor = assembled(&matrix);
            factor.factor().unwrap();
            assert!(factor.sign() * expected > 0.0);
        }
    }

    /// Growth: of a star, and of a tree of which every node carries two, twice as many arms take twice the operations and the storage,
    /// whatever the numbers of the nodes.
    #[test]
    fn operations_grow_with_the_size_of_a_tree() {
        let cost = |arms: usize, carrier: fn(usize) -> usize| {
            let columns: Vec<Vec<usize>> = (0..=arms)
                .map(|node| (3 * node..3 * node + 3).collect())
                .collect();
            let rows: Vec<RowGroup> = (0..=arms)
                .map(|node| RowGroup {
                    rows: columns[node].clone(),
                    groups: vec![node, carrier(node)],
                })
                .collect();
            let fronts = Fronts::new(&columns, &rows, Order::Given);
            (fronts.operations(), fronts.entries)
        };
        let star: fn(usize) -> usize = |_| 0;
        let tree: fn(usize) -> usize = |node| node.saturating_sub(1) / 2;
        for carrier in [star, tree] {
            let [few, middle, many] = [200, 400, 600].map(|arms| cost(arms, carrier));
            assert_eq!(many.0 - middle.0, middle.0 - few.0);
            assert_eq!(many.1 - middle.1, middle.1 - few.1);
        }
    }

    /// Growth: a chain of blocks twice as long takes twice the operations, to the last one.
    #[test]
    fn operations_grow_with_the_length_of_a_chain() {
        let operations = |nodes: usize| {
            let columns: Vec<Vec<usize>> = (0..nodes)
                .map(|node| (6 * node..6 * node + 6).collect())
                .collect();
            let rows: Vec<RowGroup> = (0..nodes)
                .map(|node| RowGroup {
                    rows: columns[node].clone(),
                    groups: (node.saturating_sub(1)..(node + 2).min(nodes)).collect(),
                })
                .collect();
            Fronts::new(&columns, &rows, Order::FewestColumns).operations()
        };
        let [short, middle, long] = [100, 200, 300].map(operations);
        assert_eq!(long - middle, middle - short);
    }
}
