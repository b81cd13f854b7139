//! Sparse Cholesky factorisation by nested dissection of the elements.
//!
//! The elements are split at the median of their centres along their longest extent, and each half again. Unknowns
//! that both halves touch are eliminated after the others, in one dense front that holds them and what is around them: the
//! multifrontal method of Duff and Reid, with an ordering that costs nothing because the mesh lies in space.

use lissom_spatial::simd::{Kernel, run_simd};
use nalgebra::DMatrix;

use crate::dense::{Fault, partial_cholesky};
use crate::stop::Stop;

/// Unknowns of a leaf, counted once per element: enough for dense algebra, few against the separators above.
const LEAF: usize = 600;

/// Right-hand sides that are solved side by side: the factor is read once for all of them.
const SIDES: usize = 4;

/// A symmetric positive definite matrix, factorised.
pub(crate) struct Cholesky {
    unknowns: usize,
    fronts: Vec<Front>,
}

/// Unknowns that are eliminated together, with those they touch.
struct Front {
    /// The eliminated ones first.
    unknowns: Vec<usize>,
    eliminated: usize,
    /// The columns of the eliminated unknowns, from the first row on.
    columns: Vec<f64>,
}

/// What a front leaves behind: a symmetric matrix, its lower triangle by columns.
struct Update {
    unknowns: Vec<usize>,
    matrix: Vec<f64>,
}

/// The factorisation under way.
struct Dissection<'e, F> {
    /// Unknowns of every element.
    unknowns: &'e [Vec<usize>],
    centres: &'e [[f64; 3]],
    matrix: F,
    /// Whether an unknown belongs to a separator around the elements at hand.
    taken: Vec<bool>,
    /// Which half touched an unknown last, and in which split.
    touched: Vec<[usize; 2]>,
    splits: usize,
    /// Row of every unknown in the front at hand.
    row: Vec<usize>,
    /// Diagonal of the whole matrix, as far as elements were added up.
    diagonal: Vec<f64>,
    fronts: Vec<Front>,
    stop: Stop<'e>,
}

impl Cholesky {
    /// Factorises the sum of `matrix(element)` over all elements.
    ///
    /// # Errors
    /// With an unknown whose pivot is not positive, or when it is stopped.
    pub(crate) fn new(
        size: usize,
        unknowns: &[Vec<usize>],
        centres: &[[f64; 3]],
        matrix: impl FnMut(usize) -> DMatrix<f64>,
        stop: Stop<'_>,
    ) -> Result<Self, Fault> {
        let mut dissection = Dissection {
            unknowns,
            centres,
            matrix,
            taken: vec![false; size],
            touched: vec![[0; 2]; size],
            splits: 0,
            row: vec![0; size],
            diagonal: vec![0.0; size],
            fronts: Vec::new(),
            stop,
        };
        let mut elements: Vec<usize> = (0..unknowns.len()).collect();
        dissection.factorise(&mut elements)?;
        Ok(Self {
            unknowns: size,
            fronts: dissection.fronts,
        })
    }

    /// Numbers that the factor holds.
    pub(crate) fn entries(&self) -> usize {
        self.fronts.iter().map(|front| front.columns.len()).sum()
    }

    /// The solution for every right-hand side.
    pub(crate) fn solve(&self, rights: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut solved = Vec::with_capacity(rights.len());
        for rights in rights.chunks(SIDES) {
            debug_assert!(rights.iter().all(|right| right.len() == self.unknowns));
            let side = |k: usize, unknown: usize| rights.get(k).map_or(0.0, |right| right[unknown]);
            let mut x: Vec<[f64; SIDES]> = (0..self.unknowns)
                .map(|unknown| std::array::from_fn(|k| side(k, unknown)))
                .collect();
            run_simd(Substitution {
                fronts: &self.fronts,
                x: &mut x,
            });
            let side = |k: usize| x.iter().map(|own| own[k]).collect();
            solved.extend((0..rights.len()).map(side));
        }
        solved
    }
}

/// Solves for right-hand sides side by side, in place.
struct Substitution<'f> {
    fronts: &'f [Front],
    x: &'f mut [[f64; SIDES]],
}

impl Kernel for Substitution<'_> {
    #[inline(always)]
    fn run(self) {
        let x = self.x;
        let mut own: Vec<[f64; SIDES]> = Vec::new();
        for front in self.fronts {
            front.gather(x, &mut own);
            let size = own.len();
            for (k, column) in front.columns.chunks_exact(size.max(1)).enumerate() {
                let (before, behind) = own.split_at_mut(k + 1);
                let solved = &mut before[k];
                for value in solved.iter_mut() {
                    *value /= column[k];
                }
                for (values, entry) in behind.iter_mut().zip(&column[k + 1..]) {
                    for side in 0..SIDES {
                        values[side] -= entry * solved[side];
                    }
                }
            }
            for (&unknown, &values) in front.unknowns.iter().zip(&own) {
                x[unknown] = values;
            }
        }
        for front in self.fronts.iter().rev() {
            front.gather(x, &mut own);
            let size = own.len();
            for k in (0..front.eliminated).rev() {
                let column = &front.columns[k * size..(k + 1) * size];
                let mut sum = [0.0; SIDES];
                for (values, entry) in own[k + 1..].iter().zip(&column[k + 1..]) {
                    for side in 0..SIDES {
                        sum[side] += entry * values[side];
                    }
                }
                for side in 0..SIDES {
                    own[k][side] = (own[k][side] - sum[side]) / column[k];
                }
                x[front.unknowns[k]] = own[k];
            }
        }
    }
}

impl Front {
    #[inline(always)]
    fn gather(&self, from: &[[f64; SIDES]], into: &mut Vec<[f64; SIDES]>) {
        into.clear();
        into.extend(self.unknowns.iter().map(|&unknown| from[unknown]));
    }
}

impl<F: FnMut(usize) -> DMatrix<f64>> Dissection<'_, F> {
    /// Eliminates all unknowns that only these elements touch.
    fn factorise(&mut self, elements: &mut [usize]) -> Result<Update, Fault> {
        let total: usize = elements.iter().map(|&e| self.unknowns[e].len()).sum();
        if total <= LEAF || elements.len() == 1 {
            return self.leaf(elements);
        }
        let axis = self.longest_extent(elements);
        let centres = self.centres;
        let middle = elements.len() / 2;
        elements.select_nth_unstable_by(middle, |&a, &b| {
            centres[a][axis]
                .total_cmp(&centres[b][axis])
                .then(a.cmp(&b))
        });
        let (left, right) = elements.split_at_mut(middle);
        let separator = self.shared(left, right);
        for &unknown in &separator {
            self.taken[unknown] = true;
        }
        let updates = [self.factorise(left)?, self.factorise(right)?];
        for &unknown in &separator {
            self.taken[unknown] = false;
        }
        let touched = updates
            .iter()
            .flat_map(|update| update.unknowns.iter().copied());
        let (unknowns, eliminated) = self.ordered(separator, touched);
        let size = unknowns.len();
        let mut dense = vec![0.0; size * size];
        for (row, &unknown) in unknowns.iter().enumerate() {
            self.row[unknown] = row;
        }
        for update in updates {
            let rows: Vec<usize> = update.unknowns.iter().map(|&u| self.row[u]).collect();
            let columns = update.matrix.chunks_exact(rows.len().max(1));
            for ((j, &b), column) in rows.iter().enumerate().zip(columns) {
                for (&a, entry) in rows[j..].iter().zip(&column[j..]) {
                    dense[a.min(b) * size + a.max(b)] += entry;
                }
            }
        }
        self.eliminate(unknowns, eliminated, dense)
    }

    fn leaf(&mut self, elements: &[usize]) -> Result<Update, Fault> {
        let all: Vec<usize> = {
            let mut all: Vec<usize> = (elements.iter())
                .flat_map(|&element| self.unknowns[element].iter().copied())
                .collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let own = all
            .iter()
            .copied()
            .filter(|&unknown| !self.taken[unknown])
            .collect();
        let (unknowns, eliminated) = self.ordered(own, all.into_iter());
        let size = unknowns.len();
        for (row, &unknown) in unknowns.iter().enumerate() {
            self.row[unknown] = row;
        }
        let mut dense = vec![0.0; size * size];
        for &element in elements {
            let matrix = (self.matrix)(element);
            for (j, &column) in self.unknowns[element].iter().enumerate() {
                self.diagonal[column] += matrix[(j, j)];
                for (i, &row) in self.unknowns[element].iter().enumerate() {
                    let [a, b] = [self.row[row], self.row[column]];
                    if a >= b {
                        dense[b * size + a] += matrix[(i, j)];
                    }
                }
            }
        }
        self.eliminate(unknowns, eliminated, dense)
    }

    /// `own` unknowns, then those of `touched` that are not among them, both rising.
    fn ordered(
        &mut self,
        own: Vec<usize>,
        touched: impl Iterator<Item = usize>,
    ) -> (Vec<usize>, usize) {
        self.splits += 1;
        let mark = self.splits;
        let eliminated = own.len();
        let mut unknowns = own;
        for &unknown in &unknowns {
            self.touched[unknown] = [mark, 0];
        }
        for unknown in touched {
            if self.touched[unknown] != [mark, 0] {
                self.touched[unknown] = [mark, 0];
                unknowns.push(unknown);
            }
        }
        unknowns[eliminated..].sort_unstable();
        (unknowns, eliminated)
    }

    /// Unknowns that both halves touch and that no separator around them has.
    fn shared(&mut self, left: &[usize], right: &[usize]) -> Vec<usize> {
        self.splits += 1;
        let mark = self.splits;
        for &element in left {
            for &unknown in &self.unknowns[element] {
                self.touched[unknown] = [mark, 1];
            }
        }
        let mut shared = Vec::new();
        for &element in right {
            for &unknown in &self.unknowns[element] {
                if self.touched[unknown] == [mark, 1] {
                    self.touched[unknown] = [mark, 2];
                    if !self.taken[unknown] {
                        shared.push(unknown);
                    }
                }
            }
        }
        shared.sort_unstable();
        shared
    }

    fn longest_extent(&self, elements: &[usize]) -> usize {
        let extent = |axis: usize| {
            let along = elements.iter().map(|&element| self.centres[element][axis]);
            let (least, most) = along
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| {
                    (least.min(x), most.max(x))
                });
            most - least
        };
        let extents = [extent(0), extent(1), extent(2)];
        (0..3).fold(0, |best, axis| {
            if extents[axis] > extents[best] {
                axis
            } else {
                best
            }
        })
    }

    fn eliminate(
        &mut self,
        unknowns: Vec<usize>,
        eliminated: usize,
        mut dense: Vec<f64>,
    ) -> Result<Update, Fault> {
        let size = unknowns.len();
        // not what a front begins with: that is what others before it have left, and may be rounding already
        let scale: Vec<f64> = (unknowns[..eliminated].iter())
            .map(|&unknown| self.diagonal[unknown])
            .collect();
        let found = partial_cholesky(&mut dense, size, &scale, self.stop);
        found.map_err(|fault| match fault {
            Fault::Pivot(column) => Fault::Pivot(unknowns[column]),
            Fault::Stopped => Fault::Stopped,
        })?;
        let left = size - eliminated;
        let mut matrix = Vec::with_capacity(left * left);
        for column in eliminated..size {
            matrix.extend_from_slice(&dense[column * size + eliminated..(column + 1) * size]);
        }
        dense.truncate(eliminated * size);
        dense.shrink_to_fit();
        let update = Update {
            unknowns: unknowns[eliminated..].to_vec(),
            matrix,
        };
        self.fronts.push(Front {
            unknowns,
            eliminated,
            columns: dense,
        });
        Ok(update)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cholesky, Fault};
    use crate::stop::NEVER;
    use nalgebra::DMatrix;

    /// Condition of the chain below times rounding.
    const ROUNDING: f64 = 1e-10;

    /// Second formulation: a grid of springs, 12 × 9 × 7 unknowns on springs to the ground and to neighbours, solved sparsely
    /// and checked against the product with the matrix; far more than one leaf.
    #[test]
    fn a_grid_of_springs_is_solved() {
        let [nx, ny, nz] = [12, 9, 7];
        let at = |i: usize, j: usize, k: usize| (i * ny + j) * nz + k;
        let (mut unknowns, mut centres, mut matrices) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..nx {
            for j in 0..ny {
                for k in 0..nz {
                    let place = [i as f64, j as f64, k as f64];
                    unknowns.push(vec![at(i, j, k)]);
                    centres.push(place);
                    matrices.push(DMatrix::from_element(1, 1, 1e-3));
                    for [a, b, c] in [[1, 0, 0], [0, 1, 0], [0, 0, 1]] {
                        if i + a < nx && j + b < ny && k + c < nz {
                            unknowns.push(vec![at(i, j, k), at(i + a, j + b, k + c)]);
                            centres.push(place);
                            let stiffness = 1.0 + 0.1 * (i + 2 * j + 3 * k) as f64;
                            matrices.push(
                                DMatrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 1.0]) * stiffness,
                            );
                        }
                    }
                }
            }
        }
        let size = nx * ny * nz;
        let factor = Cholesky::new(size, &unknowns, &centres, |e| matrices[e].clone(), NEVER);
        let factor = factor.unwrap();
        let right: Vec<f64> = (0..size).map(|i| (i as f64).sin()).collect();
        let turned: Vec<f64> = right.iter().rev().copied().collect();
        let others = [
            right.clone(),
            turned.clone(),
            right.clone(),
            turned.clone(),
            right.clone(),
        ];
        let solved = factor.solve(&others);
        let [x, alone] = [&solved[4], &factor.solve(std::slice::from_ref(&turned))[0]];
        // the same bits whatever stands beside it
        assert_eq!([&solved[0], &solved[1]], [x, alone]);
        let mut product = vec![0.0; size];
        for (own, matrix) in unknowns.iter().zip(&matrices) {
            for (i, &row) in own.iter().enumerate() {
                for (j, &column) in own.iter().enumerate() {
                    product[row] += matrix[(i, j)] * x[column];
                }
            }
        }
        for (product, right) in product.iter().zip(&right) {
            assert!((product - right).abs() < ROUNDING, "{product} {right}");
        }
        assert!(factor.fronts.len() > 3, "it was dissected");
        assert!(factor.entries() < size * size / 2, "it is sparse");
    }

    /// Limit: a chain of springs with a gap is singular wherever the gap is, also where fronts of one unknown begin with what others have left of its
    /// stiffness, which is rounding.
    #[test]
    fn what_rounding_leaves_is_no_stiffness() {
        let springs = 2500_usize;
        let unknowns: Vec<Vec<usize>> = (0..springs).map(|i| vec![i, i + 1]).collect();
        let centres: Vec<[f64; 3]> = (0..springs).map(|i| [i as f64, 0.0, 0.0]).collect();
        let spring = DMatrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 1.0]);
        for gap in (1..springs).step_by(131) {
            let matrix = |i: usize| {
                let stiffness = 1.0 + 0.9 * (i as f64).sin();
                let held = if i == 0 { 1.0 } else { 0.0 };
                let open = if i == gap { 0.0 } else { stiffness };
                &spring * open + DMatrix::from_partial_diagonal(2, 2, &[held])
            };
            let factor = Cholesky::new(springs + 1, &unknowns, &centres, matrix, NEVER);
            assert!(matches!(factor, Err(Fault::Pivot(_))), "{gap}");
        }
    }

    /// Limit: an unknown that nothing holds is named.
    #[test]
    fn an_unknown_without_stiffness_is_named() {
        let unknowns = [vec![0, 1], vec![2]];
        let matrix = |e: usize| match e {
            0 => DMatrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 2.0]),
            _ => DMatrix::from_element(1, 1, 0.0),
        };
        let error = Cholesky::new(3, &unknowns, &[[0.0; 3]; 2], matrix, NEVER).err();
        assert_eq!(error, Some(Fault::Pivot(2)));
    }
}
