//! Sparse Cholesky factorisation by nested dissection of the elements.
//!
//! The elements are split at the median of their centres along their longest extent, and each half again. Unknowns
//! that both halves touch are eliminated after the others, in one dense front that holds them and what is around them: the
//! multifrontal method of Duff and Reid, with an ordering that costs nothing because the mesh lies in space.

use nalgebra::DMatrix;

/// Unknowns of a leaf, counted once per element: enough for dense algebra, few against the separators above.
const LEAF: usize = 600;

/// Columns that are eliminated together.
const PANEL: usize = 48;

/// Rows that are updated together: a tile of a panel stays in the cache.
const TILE: usize = 256;

/// Smallest pivot over the entry it comes from: what is less is rounding.
const PIVOT: f64 = 1e-13;

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
    fronts: Vec<Front>,
}

impl Cholesky {
    /// Factorises the sum of `matrix(element)` over all elements.
    ///
    /// # Errors
    /// With an unknown whose pivot is not positive.
    pub(crate) fn new(
        size: usize,
        unknowns: &[Vec<usize>],
        centres: &[[f64; 3]],
        matrix: impl FnMut(usize) -> DMatrix<f64>,
    ) -> Result<Self, usize> {
        let mut dissection = Dissection {
            unknowns,
            centres,
            matrix,
            taken: vec![false; size],
            touched: vec![[0; 2]; size],
            splits: 0,
            row: vec![0; size],
            fronts: Vec::new(),
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

    /// The solution for a right-hand side.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        debug_assert_eq!(right.len(), self.unknowns);
        let mut x = right.to_vec();
        let mut own: Vec<f64> = Vec::new();
        for front in &self.fronts {
            front.gather(&x, &mut own);
            let size = own.len();
            for (k, column) in front.columns.chunks_exact(size.max(1)).enumerate() {
                own[k] /= column[k];
                let solved = own[k];
                for (value, entry) in own[k + 1..].iter_mut().zip(&column[k + 1..]) {
                    *value -= entry * solved;
                }
            }
            for (&unknown, &value) in front.unknowns.iter().zip(&own) {
                x[unknown] = value;
            }
        }
        for front in self.fronts.iter().rev() {
            front.gather(&x, &mut own);
            let size = own.len();
            for k in (0..front.eliminated).rev() {
                let column = &front.columns[k * size..(k + 1) * size];
                let behind = own[k + 1..].iter().zip(&column[k + 1..]);
                let sum: f64 = behind.map(|(value, entry)| value * entry).sum();
                own[k] = (own[k] - sum) / column[k];
                x[front.unknowns[k]] = own[k];
            }
        }
        x
    }
}

impl Front {
    fn gather(&self, from: &[f64], into: &mut Vec<f64>) {
        into.clear();
        into.extend(self.unknowns.iter().map(|&unknown| from[unknown]));
    }
}

impl<F: FnMut(usize) -> DMatrix<f64>> Dissection<'_, F> {
    /// Eliminates all unknowns that only these elements touch.
    fn factorise(&mut self, elements: &mut [usize]) -> Result<Update, usize> {
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
            let length = update.unknowns.len();
            for (j, &column) in update.unknowns.iter().enumerate() {
                for (i, &row) in update.unknowns.iter().enumerate().skip(j) {
                    let [a, b] = [self.row[row], self.row[column]];
                    dense[b.min(a) * size + a.max(b)] += update.matrix[j * length + i];
                }
            }
        }
        self.eliminate(unknowns, eliminated, dense)
    }

    fn leaf(&mut self, elements: &[usize]) -> Result<Update, usize> {
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
    ) -> Result<Update, usize> {
        let size = unknowns.len();
        partial_cholesky(&mut dense, size, eliminated).map_err(|column| unknowns[column])?;
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

/// Factorises the first `eliminated` columns of a matrix, lower triangle by columns, and subtracts their products from the
/// others. The error is the column without a positive pivot.
fn partial_cholesky(a: &mut [f64], size: usize, eliminated: usize) -> Result<(), usize> {
    let scale: Vec<f64> = (0..eliminated).map(|k| a[k * size + k]).collect();
    let mut start = 0;
    while start < eliminated {
        let end = eliminated.min(start + PANEL);
        for k in start..end {
            let (before, own) = a.split_at_mut(k * size);
            let own = &mut own[..size];
            for p in start..k {
                let column = &before[p * size..(p + 1) * size];
                let factor = column[k];
                for (value, entry) in own[k..].iter_mut().zip(&column[k..]) {
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
        let (panel, others) = a.split_at_mut(end * size);
        let panel = &panel[start * size..];
        let mut top = end;
        while top < size {
            let bottom = size.min(top + TILE);
            for j in end..bottom {
                let first = j.max(top);
                let own = &mut others[(j - end) * size + first..(j - end) * size + bottom];
                subtract_products(own, panel, size, j, first..bottom);
            }
            top = bottom;
        }
        start = end;
    }
    Ok(())
}

/// `own −= Σ_p panel_p[j] panel_p[rows]`, four columns at a time.
fn subtract_products(
    own: &mut [f64],
    panel: &[f64],
    size: usize,
    j: usize,
    rows: std::ops::Range<usize>,
) {
    let mut fours = panel.chunks_exact(4 * size);
    for four in &mut fours {
        let factor = [0, 1, 2, 3].map(|p| four[p * size + j]);
        let [a, b, c, d] = [0, 1, 2, 3].map(|p| &four[p * size + rows.start..p * size + rows.end]);
        let entries = a.iter().zip(b).zip(c).zip(d);
        for (value, (((a, b), c), d)) in own.iter_mut().zip(entries) {
            *value -= factor[0] * a + factor[1] * b + (factor[2] * c + factor[3] * d);
        }
    }
    for column in fours.remainder().chunks_exact(size) {
        let factor = column[j];
        for (value, entry) in own.iter_mut().zip(&column[rows.clone()]) {
            *value -= factor * entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cholesky;
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
        let factor = Cholesky::new(size, &unknowns, &centres, |e| matrices[e].clone()).unwrap();
        let right: Vec<f64> = (0..size).map(|i| (i as f64).sin()).collect();
        let x = factor.solve(&right);
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

    /// Limit: an unknown that nothing holds is named.
    #[test]
    fn an_unknown_without_stiffness_is_named() {
        let unknowns = [vec![0, 1], vec![2]];
        let matrix = |e: usize| match e {
            0 => DMatrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 2.0]),
            _ => DMatrix::from_element(1, 1, 0.0),
        };
        let error = Cholesky::new(3, &unknowns, &[[0.0; 3]; 2], matrix).err();
        assert_eq!(error, Some(2));
    }
}
