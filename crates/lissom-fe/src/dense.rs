//! Partial Cholesky factorisation of a dense symmetric matrix, in tiles that stay in registers.

use std::ops::Range;

use lissom_spatial::simd::{Kernel, run_simd};

use crate::FeError;
use crate::stop::Stop;

/// Columns that are eliminated together: enough that reading the tiles costs little against working on them.
const PANEL: usize = 64;

/// Columns of a tile, which has twice as many rows: its sums fill half of the registers.
const SIDE: usize = 4;

/// Rows that are gone through together: their part of the panel stays in the cache.
const CHUNK: usize = 192;

/// Smallest pivot over its scale: what is less is rounding.
const PIVOT: f64 = 1e-13;

/// Why a factorisation has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The pivot of a column, or of an unknown, is not positive.
    Pivot(usize),
    /// Somebody ended it.
    Stopped,
}

impl Fault {
    /// As whoever reduces a body is told, with the place of an unknown.
    pub(crate) fn told(self, place: impl FnOnce(usize) -> [f64; 3]) -> FeError {
        match self {
            Self::Pivot(unknown) => FeError::NotHeld { at: place(unknown) },
            Self::Stopped => FeError::Stopped,
        }
    }
}

/// Factorises the first columns of a matrix, lower triangle by columns, as many as have a `scale`, and subtracts their products from the
/// others. A pivot is compared with its scale, the entry of the diagonal before anything was subtracted from it. What stands above the
/// diagonal is overwritten.
pub(crate) fn partial_cholesky(
    matrix: &mut [f64],
    size: usize,
    scale: &[f64],
    stop: Stop<'_>,
) -> Result<(), Fault> {
    let mut outcome = Ok(());
    run_simd(Elimination {
        matrix,
        size,
        scale,
        stop,
        outcome: &mut outcome,
    });
    outcome
}

struct Elimination<'m> {
    matrix: &'m mut [f64],
    size: usize,
    scale: &'m [f64],
    stop: Stop<'m>,
    outcome: &'m mut Result<(), Fault>,
}

impl Kernel for Elimination<'_> {
    #[inline(always)]
    fn run(self) {
        let (a, size) = (self.matrix, self.size);
        let eliminated = self.scale.len();
        let mut packed = Vec::new();
        let mut start = 0;
        while start < eliminated {
            let end = eliminated.min(start + PANEL);
            if let Err(column) = panel(a, size, start..end, self.scale) {
                *self.outcome = Err(Fault::Pivot(column));
                return;
            }
            if (self.stop)() {
                *self.outcome = Err(Fault::Stopped);
                return;
            }
            pack(&a[start * size..end * size], size, end, &mut packed);
            subtract_products(&mut a[end * size..], size, end, end - start, &packed);
            start = end;
        }
    }
}

/// Factorises some columns by themselves.
#[inline(always)]
fn panel(a: &mut [f64], size: usize, columns: Range<usize>, scale: &[f64]) -> Result<(), usize> {
    for k in columns.clone() {
        let (before, own) = a.split_at_mut(k * size);
        let own = &mut own[..size];
        let mut p = columns.start;
        // four at a time, so that the column is read and written a quarter as often
        while p + 4 <= k {
            let [a, b, c, d] =
                [0, 1, 2, 3].map(|i| &before[(p + i) * size + k..(p + i + 1) * size]);
            let factor = [a[0], b[0], c[0], d[0]];
            let entries = a.iter().zip(b).zip(c).zip(d);
            for (value, (((a, b), c), d)) in own[k..].iter_mut().zip(entries) {
                *value -= factor[0] * a + factor[1] * b + (factor[2] * c + factor[3] * d);
            }
            p += 4;
        }
        for p in p..k {
            let column = &before[p * size + k..(p + 1) * size];
            let factor = column[0];
            for (value, entry) in own[k..].iter_mut().zip(column) {
                *value -= factor * entry;
            }
        }
        let pivot = own[k];
        if pivot.is_nan() || pivot <= PIVOT * scale[k] {
            return Err(k);
        }
        let root = pivot.sqrt();
        for value in &mut own[k..] {
            *value /= root;
        }
    }
    Ok(())
}

/// Puts the rows of a panel from one on into blocks of [`SIDE`], column by column, an even number of them, filled up with zeros.
#[inline(always)]
fn pack(panel: &[f64], size: usize, from: usize, packed: &mut Vec<[f64; SIDE]>) {
    packed.clear();
    for first in (from..size.next_multiple_of(2 * SIDE) + from).step_by(SIDE) {
        let [first, last] = [first, first + SIDE].map(|row| row.min(size));
        for column in panel.chunks_exact(size) {
            let mut block = [0.0; SIDE];
            block[..last - first].copy_from_slice(&column[first..last]);
            packed.push(block);
        }
    }
}

/// Subtracts the products of the rows of a packed panel of `depth` columns from the columns of a matrix, of which the first is the diagonal's
/// at row `from`.
#[inline(always)]
fn subtract_products(
    columns: &mut [f64],
    size: usize,
    from: usize,
    depth: usize,
    packed: &[[f64; SIDE]],
) {
    let left = size - from;
    let block = |row: usize| &packed[row / SIDE * depth..][..depth];
    for chunk in (0..left).step_by(CHUNK) {
        let chunk_end = left.min(chunk + CHUNK);
        for j in (0..chunk_end).step_by(SIDE) {
            let width = SIDE.min(left - j);
            // from the tile on the diagonal downwards
            let first = chunk.max(j / (2 * SIDE) * (2 * SIDE));
            for i in (first..chunk_end).step_by(2 * SIDE) {
                let tile = product(block(i), block(i + SIDE), block(j));
                let height = (2 * SIDE).min(left - i);
                for (c, tile) in tile.iter().enumerate().take(width) {
                    let own = &mut columns[(j + c) * size + from + i..][..height];
                    for (value, product) in own.iter_mut().zip(tile.as_flattened()) {
                        *value -= product;
                    }
                }
            }
        }
    }
}

/// $`\sum_p d_p a_p^T`$ of two blocks of rows, by the columns of a third.
#[inline(always)]
fn product(
    upper: &[[f64; SIDE]],
    lower: &[[f64; SIDE]],
    across: &[[f64; SIDE]],
) -> [[[f64; SIDE]; 2]; SIDE] {
    let mut tile = [[[0.0; SIDE]; 2]; SIDE];
    for ((upper, lower), across) in upper.iter().zip(lower).zip(across) {
        for (tile, &factor) in tile.iter_mut().zip(across) {
            tile[0] = plus(tile[0], upper, factor);
            tile[1] = plus(tile[1], lower, factor);
        }
    }
    tile
}

#[inline(always)]
fn plus(sum: [f64; SIDE], own: &[f64; SIDE], factor: f64) -> [f64; SIDE] {
    let [a, b, c, d] = *own;
    let [sum_a, sum_b, sum_c, sum_d] = sum;
    [
        sum_a + a * factor,
        sum_b + b * factor,
        sum_c + c * factor,
        sum_d + d * factor,
    ]
}

#[cfg(test)]
mod tests {
    use super::{Fault, partial_cholesky};
    use crate::stop::NEVER;

    /// Sums of some hundred products of the order of one, relative to a diagonal of their number.
    const ROUNDING: f64 = 1e-13;

    /// Second formulation: what was eliminated and what is left multiply to the matrix, whatever the sizes are against panels and tiles.
    #[test]
    fn factors_and_rest_multiply_to_the_matrix() {
        for (size, eliminated) in [(1, 1), (7, 3), (64, 64), (131, 65), (259, 130), (402, 402)] {
            let entry = |i: usize, j: usize| {
                if i == j {
                    size as f64
                } else {
                    (i.min(j) as f64 * 0.7 + i.max(j) as f64).sin()
                }
            };
            let mut a: Vec<f64> = (0..size * size)
                .map(|at| entry(at % size, at / size))
                .collect();
            partial_cholesky(&mut a, size, &vec![size as f64; eliminated], NEVER).unwrap();
            for j in 0..size {
                for i in j..size {
                    let factors: f64 = (0..eliminated.min(j + 1))
                        .map(|k| a[k * size + i] * a[k * size + j])
                        .sum();
                    let rest = if j < eliminated { 0.0 } else { a[j * size + i] };
                    let error = factors + rest - entry(i, j);
                    assert!(
                        error.abs() < ROUNDING * size as f64,
                        "{size} {i} {j}: {error}"
                    );
                }
            }
        }
    }

    /// Limit: the first column whose pivot is lost is named, in the first panel and behind it.
    #[test]
    fn a_singular_column_is_named() {
        for lost in [3, 100] {
            let size = 120;
            let mut a = vec![0.0; size * size];
            for k in 0..size {
                a[k * size + k] = 2.0;
            }
            // the same as the column before it
            a[(lost - 1) * size + lost] = 2.0;
            let found = partial_cholesky(&mut a, size, &vec![2.0; size], NEVER);
            assert_eq!(found, Err(Fault::Pivot(lost)));
        }
    }
}
