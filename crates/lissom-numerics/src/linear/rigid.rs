//! Motions that nothing resists: a floating mechanism as a whole, free joints without gravity.
//!
//! Such motions $`R`$ have $`KR = K^TR = 0`$ and $`CR = C^TR = 0`$. Each is a pair of eigenvalues zero with one vector, which rounding
//! splits by its root: into something that seems to oscillate or to grow. They are therefore taken out first. What is left are the motions
//! without momentum, $`R^TMx = 0`$.

use nalgebra::{DMatrix, DVector};

use super::error::{GoOn, LinearError};
use super::frozen::Pencil;
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

/// Motions that nothing resists, one per column, with $`R^TMR = 1`$; no columns if there are none.
///
/// # Errors
/// When the mass matrix is not definite, no modes are found, or the search is stopped.
pub(super) fn free_motions(
    pencil: &Pencil,
    go_on: &mut GoOn<'_>,
) -> Result<DMatrix<f64>, LinearError> {
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
        let size = self.mass.nrows();
        let others: Vec<usize> = (0..size).filter(|i| !pivots.contains(i)).collect();
        let momenta = motions.transpose() * &self.mass;
        let inertia = (&momenta * motions)
            .cholesky()
            .ok_or(super::symmetric::MASSLESS)?;
        let change = DMatrix::identity(size, size) - motions * inertia.solve(&momenta);
        let change = change.select_columns(&others);
        let project = |matrix: &DMatrix<f64>| change.transpose() * matrix * &change;
        Ok(Self {
            mass: project(&self.mass),
            damping: project(&self.damping),
            stiffness: project(&self.stiffness),
            basis: &self.basis * &change,
            loops: (self.loops.as_ref()).map(|loops| loops.projected(&change, &change)),
            gross: None,
        })
    }
}
