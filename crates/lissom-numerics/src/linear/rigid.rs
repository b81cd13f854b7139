//! Motions that nothing resists: a floating mechanism as a whole, free joints without gravity.
//!
//! Such motions $`R`$ have $`KR = 0`$ and $`CR = 0`$. Each is a pair of eigenvalues zero with one vector, which rounding
//! splits by its root: into something that seems to oscillate or to grow. They are therefore taken out first. What is left are the motions
//! without momentum, $`R^TMx = 0`$.
//!
//! At rest $`K^TR = 0`$ and $`C^TR = 0`$ as well, and the symmetric part of the stiffness tells such motions, whatever their directions. Where a
//! floating structure accelerates, its deformation changes the momentum that it accelerates with, $`K^TR \ne 0`$: there single coordinates tell
//! them, such as displacements of the whole, of which nothing depends.

use nalgebra::{DMatrix, DVector};

use super::error::{GoOn, LinearError};
use super::frozen::Pencil;
use super::lowest::alone;
use super::spectrum::skew_rounding;
use super::symmetric::Symmetric;

/// Work of the stiffness on a motion, as a share of that of its entries without their signs, that is rounding: matrices of
/// mechanisms with loops are good to 2e-9, but motions of their joints meet entries of zero.
const NOTHING: f64 = 1e-10;
/// How unlike the forces of a motion on the others may be those of the others on it, as a share of both. Forces that balance have a potential; what rounding of
/// accelerations has made of none at all has not.
const LOPSIDED: f64 = 0.1;
/// Pivots of a stiffness of unit diagonal above which nothing moves freely.
const HELD: f64 = 1e-6;

/// Motions that nothing resists, one per column; no columns if there are none.
///
/// # Errors
/// When the mass matrix is not definite, no modes are found, or the search is stopped.
pub(super) fn free_motions(
    pencil: &Pencil,
    go_on: &mut GoOn<'_>,
) -> Result<DMatrix<f64>, LinearError> {
    let size = pencil.mass.nrows();
    let unfelt = unfelt(pencil);
    if unfelt.is_empty() {
        return by_symmetric_part(pencil, go_on);
    }
    let motions = alone(size, &unfelt);
    let change = pencil.without_momentum(&motions, &unfelt)?;
    let others = by_symmetric_part(&pencil.projected(&change), go_on)?;
    let all: Vec<DVector<f64>> = (motions.column_iter().map(DVector::from))
        .chain((change * others).column_iter().map(DVector::from))
        .collect();
    Ok(DMatrix::from_columns(&all))
}

/// Coordinates that nothing depends on: a displacement or a rate of theirs makes no force but rounding of what others make.
fn unfelt(pencil: &Pencil) -> Vec<usize> {
    let size = pencil.mass.nrows();
    // lowest modes of a larger pencil are no coordinates of it
    if pencil.gross.is_some() {
        return Vec::new();
    }
    let unit = pencil.mass.diagonal().map(|own| own.sqrt().recip());
    let rounding = size as f64 * f64::EPSILON;
    let felt = |matrix: &DMatrix<f64>| -> Vec<bool> {
        let sizes = DMatrix::from_fn(size, size, |i, j| matrix[(i, j)].abs() * unit[j]);
        let most: Vec<f64> = sizes.row_iter().map(|row| row.max()).collect();
        let is_felt = |column: usize| {
            let entries = sizes.column(column);
            // what is not a number is felt, too
            !(entries.iter().zip(&most)).all(|(entry, most)| *entry <= rounding * most)
        };
        (0..size).map(is_felt).collect()
    };
    let (by_place, by_rate) = (felt(&pencil.stiffness), felt(&pencil.damping));
    let by_states = |at: usize| {
        let column = |matrix: &DMatrix<f64>| matrix.column(at).amax() > 0.0;
        (pencil.loops.as_ref()).is_some_and(|own| column(&own.position) || column(&own.rate))
    };
    (0..size)
        .filter(|&at| !by_place[at] && !by_rate[at] && !by_states(at))
        .collect()
}

/// Motions in any direction that neither resist others nor are resisted by them.
fn by_symmetric_part(pencil: &Pencil, go_on: &mut GoOn<'_>) -> Result<DMatrix<f64>, LinearError> {
    let size = pencil.mass.nrows();
    let none = DMatrix::zeros(size, 0);
    let finite = pencil.damping.iter().all(|x| x.is_finite());
    if size == 0 || !finite || is_held(&pencil.stiffness) {
        return Ok(none);
    }
    let symmetric = Symmetric::new(&pencil.mass, &pencil.stiffness, go_on)?;
    let absolute = pencil.stiffness.abs();
    let [on, by] = [pencil.stiffness.clone(), pencil.stiffness.transpose()]
        .map(|stiffness| symmetric.project(&stiffness));
    let least = size as f64 * f64::EPSILON * symmetric.highest_square();
    let free: Vec<usize> = (0..size)
        .filter(|&mode| {
            let shape = symmetric.shapes.column(mode).abs();
            let work = match &pencil.gross {
                Some(gross) => shape.component_mul(&shape).dot(gross),
                None => shape.dot(&(&absolute * &shape)),
            };
            let square = symmetric.squares[mode].abs();
            let [on, by] = [&on, &by].map(|forces| forces.column(mode));
            let is_lopsided = || (on - by).norm() > LOPSIDED * (on + by).norm();
            square <= NOTHING * work || (square <= least && is_lopsided())
        })
        .collect();
    if free.is_empty() {
        return Ok(none);
    }
    let shapes = symmetric.shapes.select_columns(&free);
    // of these, what neither velocity terms, a skew part of the stiffness nor states of controllers feel, each as a share of what is more than rounding
    let project = |matrix: &DMatrix<f64>| symmetric.shapes.transpose() * (matrix * &shapes);
    let mut felt = DMatrix::zeros(3 * size, free.len());
    let least = size as f64 * f64::EPSILON * symmetric.highest_square().sqrt();
    for (part, matrix) in [&pencil.damping, &pencil.damping.transpose()]
        .into_iter()
        .enumerate()
    {
        let all = if pencil.gross.is_some() {
            // in modes, what is felt by none of them has no entries but rounding
            symmetric.project(matrix).amax()
        } else {
            (symmetric.shapes.abs().transpose() * (matrix.abs() * shapes.abs())).amax()
        };
        let rounding = (NOTHING * all).max(least);
        if rounding > 0.0 {
            let forces = project(matrix) / rounding;
            felt.rows_mut(part * size, size).copy_from(&forces);
        }
    }
    let rounding = skew_rounding(&symmetric);
    let skew = project(&((&pencil.stiffness - pencil.stiffness.transpose()) * 0.5));
    for (j, &motion) in free.iter().enumerate() {
        for i in 0..size {
            if skew[(i, j)] != 0.0 {
                felt[(2 * size + i, j)] = skew[(i, j)] / rounding(i, motion);
            }
        }
    }
    if let Some(loops) = &pencil.loops {
        let by_states = loops.felt(&shapes, NOTHING);
        let rows = felt.nrows();
        felt = felt.resize_vertically(rows + by_states.nrows(), 0.0);
        felt.rows_mut(rows, by_states.nrows()).copy_from(&by_states);
    }
    let svd = felt.svd(false, true);
    let Some(directions) = svd.v_t else {
        return Ok(none);
    };
    let columns: Vec<DVector<f64>> = (0..free.len())
        .filter(|&i| svd.singular_values[i] <= 1.0)
        .map(|i| &shapes * directions.row(i).transpose())
        .collect();
    Ok(if columns.is_empty() {
        none
    } else {
        DMatrix::from_columns(&columns)
    })
}

/// Whether a stiffness is definite beyond doubt.
fn is_held(stiffness: &DMatrix<f64>) -> bool {
    let diagonal = stiffness.diagonal();
    if diagonal.iter().any(|&x| !x.is_finite() || x <= 0.0) {
        return false;
    }
    let scale = diagonal.map(|x| 1.0 / x.sqrt());
    let unit = DMatrix::from_fn(stiffness.nrows(), stiffness.nrows(), |i, j| {
        let symmetric = 0.5 * (stiffness[(i, j)] + stiffness[(j, i)]);
        symmetric * scale[i] * scale[j]
    });
    unit.cholesky()
        .is_some_and(|factor| factor.l_dirty().diagonal().iter().all(|x| x * x > HELD))
}

/// Coordinates that say how a mechanism moves along free motions: as many, and none that a combination of the motions leaves alone.
pub(super) fn pivots(motions: &DMatrix<f64>, scales: &DVector<f64>) -> Vec<usize> {
    let mut rest = DMatrix::from_fn(motions.nrows(), motions.ncols(), |i, j| {
        motions[(i, j)] * scales[i]
    });
    let mut found = Vec::with_capacity(rest.ncols());
    for step in 0..rest.ncols() {
        let size = |row: usize| rest.row(row).columns(step, rest.ncols() - step).norm();
        let rows = (0..rest.nrows()).filter(|row| !found.contains(row));
        let Some(row) = rows.max_by(|&a, &b| size(a).total_cmp(&size(b)).then(b.cmp(&a))) else {
            break;
        };
        found.push(row);
        // turn the remaining columns until only one of them moves it
        let own = rest.row(row).columns(step, rest.ncols() - step).transpose();
        let length = own.norm();
        if length == 0.0 {
            break;
        }
        let mut normal = own;
        normal[0] += length.copysign(normal[0]);
        let factor = 2.0 / normal.norm_squared();
        let mut part = rest.columns_mut(step, motions.ncols() - step);
        let moved = &part * &normal * factor;
        part -= moved * normal.transpose();
    }
    found.sort_unstable();
    found
}

impl Pencil {
    /// Motions without momentum along `motions`, in the coordinates other than `pivots`.
    pub(super) fn without(
        &self,
        motions: &DMatrix<f64>,
        pivots: &[usize],
    ) -> Result<Self, LinearError> {
        Ok(self.projected(&self.without_momentum(motions, pivots)?))
    }

    /// What all coordinates do when one other than `pivots` moves without momentum along `motions`: one column each.
    fn without_momentum(
        &self,
        motions: &DMatrix<f64>,
        pivots: &[usize],
    ) -> Result<DMatrix<f64>, LinearError> {
        let size = self.mass.nrows();
        let others: Vec<usize> = (0..size).filter(|i| !pivots.contains(i)).collect();
        let momenta = motions.transpose() * &self.mass;
        let inertia = (&momenta * motions)
            .cholesky()
            .ok_or(super::symmetric::MASSLESS)?;
        let change = DMatrix::identity(size, size) - motions * inertia.solve(&momenta);
        Ok(change.select_columns(&others))
    }

    fn projected(&self, change: &DMatrix<f64>) -> Self {
        let project = |matrix: &DMatrix<f64>| change.transpose() * matrix * change;
        Self {
            mass: project(&self.mass),
            damping: project(&self.damping),
            stiffness: project(&self.stiffness),
            basis: &self.basis * change,
            loops: (self.loops.as_ref()).map(|loops| loops.projected(change, change)),
            gross: None,
        }
    }
}
