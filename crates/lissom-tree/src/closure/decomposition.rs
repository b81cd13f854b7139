//! Singular values of the Jacobian of closures, of every set of loops that has no joints in common with others by itself: the least
//! changes that close loops, the changes that leave them closed, and the forces that closures cannot balance.

use nalgebra::{DMatrix, DVector};

use super::rank::{Block, SparseRow, blocks, closure_rows};
use crate::Linkage;

/// Singular value, relative to the largest, below which a direction is not used: redundant equations leave
/// rounding there.
const NO_DIRECTION: f64 = 1e-9;

/// The part of a generalised force that no forces of the closures balance at a position vector. Where it is zero, a mechanism at
/// rest stays there.
pub fn unbalanced(linkage: &Linkage, position: &[f64], force: &[f64]) -> Vec<f64> {
    let (_, rows) = closure_rows(linkage, position);
    let decomposition = Decomposition::new(&rows, force.len());
    let left = decomposition.within(&DVector::from_column_slice(force));
    left.as_slice().to_vec()
}

/// Singular values of a matrix, loop by loop.
pub(super) struct Decomposition {
    parts: Vec<Part>,
    columns: usize,
    /// Largest singular value.
    most: f64,
}

/// Those of rows and columns that have no entries with any others.
struct Part {
    block: Block,
    u: DMatrix<f64>,
    v_t: DMatrix<f64>,
    values: DVector<f64>,
}

impl Decomposition {
    pub(super) fn new(matrix: &[SparseRow], columns: usize) -> Self {
        let rows = matrix.len();
        // where derivatives are no numbers nothing is known to help, and the residual is reported as it is
        let known = matrix.iter().flatten().all(|(_, x)| x.is_finite());
        let mut blocks = if known {
            blocks(matrix, columns)
        } else {
            Vec::new()
        };
        if let [only] = &mut blocks[..] {
            // nothing is gained by leaving out what no equation moves
            (only.rows, only.columns) = ((0..rows).collect(), (0..columns).collect());
        }
        let mut parts: Vec<Part> = blocks
            .into_iter()
            .map(|block| {
                let (rows, columns) = (&block.rows, &block.columns);
                let entries = rows.iter().flat_map(|&row| block.entries(&matrix[row]));
                let own = DMatrix::from_row_iterator(rows.len(), columns.len(), entries);
                let svd = own.svd(true, true);
                Part {
                    u: svd.u.unwrap_or_else(|| DMatrix::zeros(rows.len(), 0)),
                    v_t: (svd.v_t).unwrap_or_else(|| DMatrix::zeros(0, columns.len())),
                    values: svd.singular_values,
                    block,
                }
            })
            .collect();
        let values = parts.iter().flat_map(|part| part.values.iter());
        let most = values.fold(0.0, |most: f64, value| most.max(*value));
        for part in &mut parts {
            let kept: Vec<usize> = (0..part.values.len())
                .filter(|&i| part.values[i] > NO_DIRECTION * most)
                .collect();
            part.u = part.u.select_columns(&kept);
            part.v_t = part.v_t.select_rows(&kept);
            part.values = part.values.select_rows(&kept);
        }
        Self {
            parts,
            columns,
            most,
        }
    }

    /// The least step that takes off `residual`, damped.
    pub(super) fn least(&self, residual: &[f64], damping: f64) -> DVector<f64> {
        let most = self.most;
        let mut step = DVector::zeros(self.columns);
        for part in &self.parts {
            let mut along = part.u.tr_mul(&picked(residual, &part.block.rows));
            for (x, s) in along.iter_mut().zip(part.values.iter()) {
                *x *= -s / (s * s + damping * most * most);
            }
            let own = part.v_t.tr_mul(&along);
            for (&column, x) in part.block.columns.iter().zip(own.iter()) {
                step[column] = *x;
            }
        }
        step
    }

    /// The part of a step that leaves the residual as it is.
    pub(super) fn within(&self, step: &DVector<f64>) -> DVector<f64> {
        let mut within = step.clone();
        for part in &self.parts {
            let own = picked(step.as_slice(), &part.block.columns);
            let changing = part.v_t.tr_mul(&(&part.v_t * own));
            for (&column, x) in part.block.columns.iter().zip(changing.iter()) {
                within[column] -= x;
            }
        }
        within
    }

    /// Size of the part of a residual that no step changes.
    pub(super) fn beyond(&self, residual: &[f64]) -> f64 {
        let mut beyond = residual.to_vec();
        for part in &self.parts {
            let own = picked(residual, &part.block.rows);
            let reached = &part.u * part.u.tr_mul(&own);
            for (&row, x) in part.block.rows.iter().zip(reached.iter()) {
                beyond[row] -= x;
            }
        }
        norm(&beyond)
    }
}

fn picked(vector: &[f64], entries: &[usize]) -> DVector<f64> {
    DVector::from_iterator(entries.len(), entries.iter().map(|&at| vector[at]))
}

pub(super) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: derivatives that are not numbers give no step, instead of a panic or an endless search.
    #[test]
    fn unknown_derivatives_move_nothing() {
        for entry in [f64::NAN, f64::INFINITY] {
            let matrix = [vec![(0, entry), (1, 1.0)], vec![(1, 1.0)]];
            let step = Decomposition::new(&matrix, 2).least(&[1.0, 1.0], 0.0);
            assert_eq!(step.as_slice(), [0.0, 0.0]);
        }
    }
}
