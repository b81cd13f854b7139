//! Nonlinear least squares: parameters for which residuals are smallest, and what the residuals say about them.
//!
//! Steps are those of Levenberg and Marquardt, with columns of the Jacobian scaled to unit length and the damping of Nielsen (1999). Derivatives are
//! central differences over [`STEP`] of a parameter's scale: residuals come from whole runs of a model that is built anew for every value, through which no
//! dual number passes. A value for which there are no residuals, because no model has it, ends a step and nothing else.

use nalgebra::{DMatrix, DVector};

/// Half the span of a difference, as a part of a parameter's scale. With smooth residuals a derivative is off by about the square of it.
const STEP: f64 = 1e-4;
/// Steps that are tried, those that are not taken among them.
const MOST_STEPS: usize = 100;
/// A step of this part of the scales is none.
const SMALLEST_STEP: f64 = 1e-9;
/// What a step could still gain, in variances of a residual: it moves no parameter by more than a thousandth of its standard deviation.
const SMALLEST_GAIN: f64 = 1e-6;
/// Singular values below this part of the largest are errors of differences, which are some 1e-7 of what runs with a tolerance of 1e-9 give.
const RANK: f64 = 1e-6;
/// Damping of the first step.
const FIRST_DAMPING: f64 = 1e-4;

/// Residuals at several values of the parameters, each list by itself; none where there are none.
type Evaluate<'a> = dyn FnMut(&[Vec<f64>]) -> Option<Vec<Option<Vec<f64>>>> + 'a;

/// Why there is no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeastSquaresError {
    /// There are no residuals where the search begins.
    #[error("the first values of the parameters give no result")]
    Start,
    /// There are none close to a point that has some.
    #[error("values of the parameters close to others that give a result give none")]
    Derivative,
    /// Not more residuals than parameters.
    #[error(
        "there are {residuals} residuals for {parameters} parameters; there must be more of them than of these"
    )]
    TooFew {
        /// Residuals.
        residuals: usize,
        /// Parameters.
        parameters: usize,
    },
    /// Whoever evaluates has stopped.
    #[error("stopped")]
    Stopped,
    /// A residual is not finite.
    #[error("a residual is not finite")]
    NotFinite,
}

/// Parameters for which the sum of the squares of residuals is smallest.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastSquares {
    /// The parameters.
    pub parameters: Vec<f64>,
    /// Residuals there.
    pub residuals: Vec<f64>,
    /// Steps that were taken.
    pub steps: usize,
    /// Whether no step gains anything more.
    pub converged: bool,
    /// Standard deviation of a residual, by what is left.
    pub deviation: f64,
    /// Covariance of the parameters, by rows; infinite for those of which the residuals say nothing.
    pub covariance: Vec<Vec<f64>>,
    /// Combinations of the parameters, in units of their scales, from the one that is known best.
    pub combinations: Vec<Combination>,
}

/// A direction in the space of the parameters, orthogonal to the others in units of their scales.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Its standard deviation, in units of the scales; infinite where the residuals say nothing of it.
    pub deviation: f64,
    /// Its parts, of unit length together; the largest is positive.
    pub parts: Vec<f64>,
}

/// Searches for them, from `start`. `scale` is a size of every parameter, which is not zero.
///
/// # Errors
/// Why there is no solution.
pub fn least_squares(
    start: &[f64],
    scale: &[f64],
    evaluate: &mut Evaluate<'_>,
) -> Result<LeastSquares, LeastSquaresError> {
    let mut search = Search { scale, evaluate };
    let mut at = start.to_vec();
    let first = search.at(&at)?.ok_or(LeastSquaresError::Start)?;
    let (count, unknowns) = (first.len(), start.len());
    if count <= unknowns {
        return Err(LeastSquaresError::TooFew {
            residuals: count,
            parameters: unknowns,
        });
    }
    let freedom = (count - unknowns) as f64;
    let mut residuals = first;
    let mut jacobian = search.jacobian(&at)?;
    let (mut damping, mut growth) = (FIRST_DAMPING, 2.0);
    let (mut steps, mut converged) = (0, false);
    for _ in 0..MOST_STEPS {
        let cost = residuals.norm_squared();
        let Some((step, gain)) = damped_step(&jacobian, &residuals, damping) else {
            // nothing depends on anything
            converged = true;
            break;
        };
        let is_small = step.amax() <= SMALLEST_STEP || gain <= SMALLEST_GAIN * cost / freedom;
        let next: Vec<f64> = (0..unknowns).map(|j| at[j] + scale[j] * step[j]).collect();
        let there = search.at(&next)?;
        let gained = there.as_ref().map(|there| cost - there.norm_squared());
        match (there, gained) {
            (Some(there), Some(gained)) if gained > 0.0 => {
                (at, residuals) = (next, there);
                steps += 1;
                let share: f64 = 2.0 * gained / gain - 1.0;
                damping *= (1.0 - share.powi(3)).clamp(1.0 / 3.0, 2.0);
                growth = 2.0;
                jacobian = search.jacobian(&at)?;
            }
            _ if is_small => {}
            _ => {
                damping *= growth;
                growth *= 2.0;
            }
        }
        if is_small {
            converged = true;
            break;
        }
    }
    let deviation = (residuals.norm_squared() / freedom).sqrt();
    let combinations = combinations(&jacobian, deviation);
    Ok(LeastSquares {
        covariance: covariance(&combinations, scale),
        parameters: at,
        residuals: residuals.as_slice().to_vec(),
        steps,
        converged,
        deviation,
        combinations,
    })
}

struct Search<'a, 'e> {
    scale: &'a [f64],
    evaluate: &'a mut Evaluate<'e>,
}

impl Search<'_, '_> {
    fn all(&mut self, points: &[Vec<f64>]) -> Result<Vec<Option<DVector<f64>>>, LeastSquaresError> {
        let found = (self.evaluate)(points).ok_or(LeastSquaresError::Stopped)?;
        let vector = |found: Option<Vec<f64>>| match found.map(DVector::from_vec) {
            Some(found) if found.iter().any(|value| !value.is_finite()) => {
                Err(LeastSquaresError::NotFinite)
            }
            found => Ok(found),
        };
        found.into_iter().map(vector).collect()
    }

    fn at(&mut self, point: &[f64]) -> Result<Option<DVector<f64>>, LeastSquaresError> {
        Ok(self.all(&[point.to_vec()])?.pop().flatten())
    }

    /// Derivatives of the residuals by the parameters, in units of their scales.
    fn jacobian(&mut self, at: &[f64]) -> Result<DMatrix<f64>, LeastSquaresError> {
        let moved = |j: usize, by: f64| {
            let mut point = at.to_vec();
            point[j] += by * self.scale[j];
            point
        };
        let points: Vec<Vec<f64>> = (0..at.len())
            .flat_map(|j| [moved(j, STEP), moved(j, -STEP)])
            .collect();
        let found = self.all(&points)?;
        let column = |j: usize| match (&found[2 * j], &found[2 * j + 1]) {
            (Some(after), Some(before)) => {
                // what was really moved by, after rounding
                let span = (points[2 * j][j] - points[2 * j + 1][j]) / self.scale[j];
                Ok((after - before) / span)
            }
            _ => Err(LeastSquaresError::Derivative),
        };
        let columns = (0..at.len()).map(column).collect::<Result<Vec<_>, _>>()?;
        Ok(DMatrix::from_columns(&columns))
    }
}

/// The step of a damping, in units of the scales, and what it would gain if the residuals were linear; none where all derivatives vanish.
fn damped_step(
    jacobian: &DMatrix<f64>,
    residuals: &DVector<f64>,
    damping: f64,
) -> Option<(DVector<f64>, f64)> {
    let lengths: Vec<f64> = jacobian.column_iter().map(|column| column.norm()).collect();
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    if longest == 0.0 {
        return None;
    }
    // what has no influence stays where it is
    let length = |j: usize| {
        if lengths[j] > RANK * longest {
            lengths[j]
        } else {
            longest
        }
    };
    let mut scaled = jacobian.clone();
    for (j, mut column) in scaled.column_iter_mut().enumerate() {
        column /= length(j);
    }
    let descent = -(scaled.transpose() * residuals);
    let mut matrix = scaled.transpose() * &scaled;
    for j in 0..matrix.nrows() {
        matrix[(j, j)] += damping;
    }
    let step = matrix.cholesky()?.solve(&descent);
    // cost now less cost at the end of the step, of the linear residuals
    let gain = step.dot(&descent) + damping * step.norm_squared();
    let step = DVector::from_fn(step.len(), |j, _| step[j] / length(j));
    Some((step, gain))
}

/// Combinations by singular values: a direction is known as well as the residuals change along it.
fn combinations(jacobian: &DMatrix<f64>, deviation: f64) -> Vec<Combination> {
    let svd = jacobian.clone().svd(false, true);
    let largest = svd.singular_values.max();
    let Some(directions) = svd.v_t else {
        return Vec::new();
    };
    let mut found: Vec<Combination> =
        (0..svd.singular_values.len())
            .map(|k| {
                let value = svd.singular_values[k];
                let parts: Vec<f64> = directions.row(k).iter().copied().collect();
                let most = parts.iter().copied().fold(0.0, |most: f64, part| {
                    if part.abs() > most.abs() { part } else { most }
                });
                Combination {
                    deviation: if value > RANK * largest {
                        deviation / value
                    } else {
                        f64::INFINITY
                    },
                    parts: parts.iter().map(|part| part * most.signum()).collect(),
                }
            })
            .collect();
    found.sort_by(|one, other| one.deviation.total_cmp(&other.deviation));
    found
}

fn covariance(combinations: &[Combination], scale: &[f64]) -> Vec<Vec<f64>> {
    /// Parts of a direction below this are rounding.
    const NO_PART: f64 = 1e-6;
    let entry = |i: usize, j: usize| {
        let of = |one: &Combination| {
            let parts = one.parts[i] * one.parts[j];
            if one.deviation.is_finite() {
                scale[i] * scale[j] * parts * one.deviation * one.deviation
            } else if one.parts[i].abs() > NO_PART && one.parts[j].abs() > NO_PART {
                f64::INFINITY * parts.signum()
            } else {
                0.0
            }
        };
        combinations.iter().map(of).sum::<f64>()
    };
    let row = |i: usize| (0..scale.len()).map(|j| entry(i, j)).collect();
    (0..scale.len()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(
        start: &[f64],
        residuals: impl Fn(&[f64]) -> Option<Vec<f64>>,
    ) -> Result<LeastSquares, LeastSquaresError> {
        let scale: Vec<f64> = start.iter().map(|value: &f64| value.abs()).collect();
        let mut evaluate =
            |points: &[Vec<f64>]| Some(points.iter().map(|point| residuals(point)).collect());
        least_squares(start, &scale, &mut evaluate)
    }

    /// Closed form: a straight line through points, with the covariance of linear regression.
    #[test]
    fn a_line_is_that_of_regression() {
        const ROUNDING: f64 = 1e-9;
        let (x, y) = ([0.0, 1.0, 2.0, 3.0], [1.1, 2.9, 5.2, 6.8]);
        let line = |p: &[f64]| Some((0..4).map(|k| p[0] + p[1] * x[k] - y[k]).collect());
        let found = solved(&[1.0, 1.0], line).unwrap();
        // sums by hand: Sx = 6, Sxx = 14, Sy = 16, Sxy = 33.7
        let slope = (4.0 * 33.7 - 6.0 * 16.0) / (4.0 * 14.0 - 36.0);
        let offset = (16.0 - slope * 6.0) / 4.0;
        assert!(found.converged);
        assert!((found.parameters[0] - offset).abs() < ROUNDING);
        assert!((found.parameters[1] - slope).abs() < ROUNDING);
        let left: f64 = (0..4).map(|k| (offset + slope * x[k] - y[k]).powi(2)).sum();
        let variance = left / 2.0;
        let expected = [[14.0, -6.0], [-6.0, 4.0]].map(|row| row.map(|n| variance * n / 20.0));
        for (found, expected) in found
            .covariance
            .iter()
            .flatten()
            .zip(expected.iter().flatten())
        {
            assert!((found - expected).abs() < ROUNDING, "{found} {expected}");
        }
    }

    /// Known solution of a problem that is far from linear: Rosenbrock's valley, from its usual start.
    #[test]
    fn a_curved_valley_is_followed() {
        let valley = |p: &[f64]| Some(vec![10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0], 0.0]);
        let found = solved(&[-1.2, 1.0], valley).unwrap();
        assert!(found.converged, "{found:?}");
        assert!((found.parameters[0] - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found.parameters[1] - 1.0).abs() < 1e-6, "{found:?}");
    }

    /// By construction: only a sum matters, and a parameter that must not be negative is not.
    #[test]
    fn what_cannot_be_told_is_said() {
        let sum = |p: &[f64]| {
            (p[0] > 0.0).then(|| {
                (1..6)
                    .map(|k| f64::from(k) * (p[0] + p[1] - 3.0) + 0.1)
                    .collect()
            })
        };
        let found = solved(&[1.0, 1.0], sum).unwrap();
        assert!(found.combinations[1].deviation.is_infinite());
        let difference = &found.combinations[1].parts;
        assert!(
            (difference[0] + difference[1]).abs() < 1e-6,
            "{difference:?}"
        );
        assert!(found.covariance[0][0].is_infinite());
        let free = |p: &[f64]| (p[0] > 0.0).then(|| vec![p[0].ln() + 5.0, 0.01, -0.01]);
        let found = solved(&[1.0], free).unwrap();
        assert!(
            (found.parameters[0] - (-5.0_f64).exp()).abs() < 1e-8,
            "{found:?}"
        );
        assert_eq!(solved(&[1.0], |_| None), Err(LeastSquaresError::Start));
        let few = solved(&[1.0], |p| Some(vec![p[0]]));
        assert!(matches!(few, Err(LeastSquaresError::TooFew { .. })));
        let nothing = solved(&[1.0], |_| Some(vec![1.0, 2.0])).unwrap();
        assert!(nothing.converged && nothing.covariance[0][0].is_infinite());
    }
}
