//! Jacobians of first-order systems by finite differences.

use super::equations::{FirstOrderEquations, NonFiniteComponent};

/// Writes $`\partial f/\partial y`$, n × n by rows, at a state whose derivative is `rate`; the last two vectors are scratch.
pub(super) fn difference_jacobian(
    equations: &mut FirstOrderEquations<'_, '_>,
    time: f64,
    state: &[f64],
    rate: &[f64],
    jacobian: &mut [f64],
    [moved, moved_rate]: [&mut [f64]; 2],
) -> Result<(), NonFiniteComponent> {
    let n = state.len();
    moved.copy_from_slice(state);
    for column in 0..n {
        let value = state[column];
        let increment = (f64::EPSILON * value.abs().max(1e-5)).sqrt();
        moved[column] = value + increment;
        let mut evaluated = equations.derivative(time, moved, moved_rate);
        if evaluated.is_err() {
            // at the edge of where the system is defined the other side may do
            moved[column] = value - increment;
            evaluated = equations.derivative(time, moved, moved_rate);
        }
        evaluated?;
        let difference = moved[column] - value;
        for row in 0..n {
            jacobian[row * n + column] = (moved_rate[row] - rate[row]) / difference;
        }
        moved[column] = value;
    }
    equations.statistics.jacobians += 1;
    Ok(())
}
