//! The step of damped linear least squares within bounds.

use nalgebra::{DMatrix, DVector};

use super::RANK;

/// How far a parameter may be moved down and up, in units of its scale.
pub(super) type Room = [f64; 2];

/// Room for a parameter without bounds.
pub(super) const ANYWHERE: Room = [f64::NEG_INFINITY, f64::INFINITY];

/// The step of a damping that stays within the room, in units of the scales, and what it would gain if the residuals were linear; none where all derivatives
/// vanish.
///
/// Parameters that would leave their room are put to its edge, those that would come back from there are released, one at a time: the method of active sets.
pub(super) fn damped_step(
    jacobian: &DMatrix<f64>,
    residuals: &DVector<f64>,
    damping: f64,
    room: &[Room],
) -> Option<(DVector<f64>, f64)> {
    let lengths = lengths(jacobian)?;
    let mut scaled = jacobian.clone();
    for (mut column, length) in scaled.column_iter_mut().zip(&lengths) {
        column /= *length;
    }
    let descent = -(scaled.transpose() * residuals);
    let mut matrix = scaled.transpose() * &scaled;
    for j in 0..matrix.nrows() {
        matrix[(j, j)] += damping;
    }
    let within = |j: usize| room[j].map(|way| way * lengths[j]);
    let mut at_edge: Vec<Option<f64>> = vec![None; lengths.len()];
    let mut step = with_fixed(&matrix, &descent, &at_edge)?;
    // every set of parameters at edges is better than the one before, so that there are not many; rounding could go round in circles
    for _ in 0..4 * lengths.len() {
        let next = leaving(&step, &within, &at_edge).or_else(|| {
            let pull = &descent - &matrix * &step;
            returning(&pull, &within, &at_edge).map(|j| (j, None))
        });
        let Some((j, edge)) = next else { break };
        at_edge[j] = edge;
        step = with_fixed(&matrix, &descent, &at_edge)?;
    }
    for (j, step) in step.iter_mut().enumerate() {
        let [low, high] = within(j);
        *step = step.clamp(low, high);
    }
    // cost now less cost at the end of the step, of the linear residuals
    let change = &scaled * &step;
    let gain = -(2.0 * residuals + &change).dot(&change);
    let step = DVector::from_fn(step.len(), |j, _| step[j] / lengths[j]);
    Some((step, gain))
}

/// Lengths of the columns; what has no influence counts as the longest, so that it stays where it is. None where nothing has any.
fn lengths(jacobian: &DMatrix<f64>) -> Option<Vec<f64>> {
    let own: Vec<f64> = jacobian.column_iter().map(|column| column.norm()).collect();
    let longest = own.iter().copied().fold(0.0, f64::max);
    let length = |own: f64| {
        if own > RANK * longest { own } else { longest }
    };
    (longest > 0.0).then(|| own.into_iter().map(length).collect())
}

/// The step where some of its parts are known.
fn with_fixed(
    matrix: &DMatrix<f64>,
    descent: &DVector<f64>,
    fixed: &[Option<f64>],
) -> Option<DVector<f64>> {
    let free: Vec<usize> = (0..fixed.len()).filter(|&j| fixed[j].is_none()).collect();
    let mut step = DVector::from_fn(fixed.len(), |j, _| fixed[j].unwrap_or(0.0));
    if !free.is_empty() {
        let right = (descent - matrix * &step).select_rows(&free);
        let own = matrix.select_rows(&free).select_columns(&free);
        let solved = own.cholesky()?.solve(&right);
        for (&j, value) in free.iter().zip(solved.iter()) {
            step[j] = *value;
        }
    }
    Some(step)
}

/// The part of a step that leaves its room most, beside what it may, with the edge that it passes.
fn leaving(
    step: &DVector<f64>,
    within: &impl Fn(usize) -> Room,
    at_edge: &[Option<f64>],
) -> Option<(usize, Option<f64>)> {
    let free = (0..step.len()).filter(|&j| at_edge[j].is_none());
    let beyond = free.filter_map(|j| {
        let [low, high] = within(j);
        let edge = if step[j] < 0.0 { low } else { high };
        let by = (step[j] - edge).abs() / step[j].abs();
        (step[j].abs() > edge.abs()).then_some((j, edge, by))
    });
    let most = beyond.max_by(|one, other| one.2.total_cmp(&other.2));
    most.map(|(j, edge, _)| (j, Some(edge)))
}

/// A part of a step at an edge of its room that is pulled back from there.
fn returning(
    pull: &DVector<f64>,
    within: &impl Fn(usize) -> Room,
    at_edge: &[Option<f64>],
) -> Option<usize> {
    (0..pull.len()).find(|&j| {
        let [low, high] = within(j);
        let is_at = |edge: f64| low < high && at_edge[j] == Some(edge);
        (is_at(low) && pull[j] > 0.0) || (is_at(high) && pull[j] < 0.0)
    })
}
