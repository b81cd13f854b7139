//! Optimal assignment: each row a column of its own, so that the sum is as large as it can be (Kuhn 1955, Munkres 1957; with
//! shortest augmenting paths).

use nalgebra::DMatrix;

/// Column of every row. There are at least as many columns as rows.
pub(super) fn assign(gain: &DMatrix<f64>) -> Vec<usize> {
    let (rows, columns) = gain.shape();
    // prices of rows and columns; number zero of each is where a path begins
    let mut row_price = vec![0.0; rows + 1];
    let mut column_price = vec![0.0; columns + 1];
    let mut row_of = vec![0; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut before = vec![0; columns + 1];
        let mut seen = vec![false; columns + 1];
        let mut column = 0;
        while row_of[column] != 0 {
            seen[column] = true;
            let from = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for j in (1..=columns).filter(|&j| !seen[j]) {
                let cost = -gain[(from - 1, j - 1)] - row_price[from] - column_price[j];
                if cost < least[j] {
                    least[j] = cost;
                    before[j] = column;
                }
                if least[j] < step || next == 0 {
                    step = least[j];
                    next = j;
                }
            }
            for j in 0..=columns {
                if seen[j] {
                    row_price[row_of[j]] += step;
                    column_price[j] -= step;
                } else {
                    least[j] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    let mut column_of = vec![0; rows];
    for (column, &row) in row_of.iter().enumerate().skip(1) {
        if row != 0 {
            column_of[row - 1] = column - 1;
        }
    }
    column_of
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Second way: all permutations of small matrices; taking the largest first would fail on the first of them.
    #[test]
    fn no_other_assignment_is_better() {
        let mut matrices = vec![DMatrix::from_row_slice(
            2,
            3,
            &[0.9, 0.8, 0.0, 0.8, 0.1, 0.0],
        )];
        let mut number = 1_u32;
        for _ in 0..20 {
            matrices.push(DMatrix::from_fn(4, 5, |_, _| {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(number >> 8)
            }));
        }
        for gain in matrices {
            let found = assign(&gain);
            let sum: f64 = found.iter().enumerate().map(|(i, &j)| gain[(i, j)]).sum();
            assert!((sum - best(&gain, 0, &mut Vec::new())).abs() <= 1e-12 * sum);
        }
    }

    fn best(gain: &DMatrix<f64>, row: usize, taken: &mut Vec<usize>) -> f64 {
        if row == gain.nrows() {
            return 0.0;
        }
        let mut most = f64::NEG_INFINITY;
        for column in 0..gain.ncols() {
            if !taken.contains(&column) {
                taken.push(column);
                most = most.max(gain[(row, column)] + best(gain, row + 1, taken));
                taken.pop();
            }
        }
        most
    }
}
