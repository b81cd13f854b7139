//! Nonlinear least squares: parameters for which residuals are smallest, and what the residuals say about them.
//!
//! Steps are those of Levenberg and Marquardt, with columns of the Jacobian scaled to unit length and the damping of Nielsen (1999). Derivatives are
//! central differences over [`STEP`] of a parameter's scale: residuals come from whole runs of a model that is built anew for every value, through which no
//! dual number passes. A value for which there are no residuals, because no model has it, ends a step and nothing else.
//!
//! Parameters stay within bounds. Every step is the best one of the linear residuals within them (`step.rs`); where a parameter ends at one that it
//! would pass, it is taken for known there, and the covariance is that of the others. Beside a bound derivatives are one-sided differences of second order.

mod knowledge;
mod step;
#[cfg(test)]
mod tests;

use nalgebra::{DMatrix, DVector};

use knowledge::Knowledge;
use step::{Room, damped_step};

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
/// Part of the way to a bound that a step goes at most: many a model is hard to run at its edge, and few are sought there.
const TOWARDS_BOUND: f64 = 0.9;
/// A bound within this part of a parameter's scale is reached by a step.
const NEAR_BOUND: f64 = 1e-2;

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

/// A parameter that is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unknown {
    /// Where the search begins, within the bounds.
    pub start: f64,
    /// A size of it, which is not zero.
    pub scale: f64,
    /// Its least value, or minus infinity.
    pub least: f64,
    /// Its largest value, or infinity.
    pub most: f64,
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
    /// Whether steps would gain more, and lead where there are no residuals.
    pub is_blocked: bool,
    /// Those of the parameters that would pass a bound, at which they are.
    pub held: Vec<Option<Held>>,
    /// Standard deviation of a residual, by what is left.
    pub deviation: f64,
    /// Covariance of the parameters, by rows; infinite for those of which the residuals say nothing, zero for those that are held.
    pub covariance: Vec<Vec<f64>>,
    /// Combinations of the parameters that are not held, in units of their scales, from the one that is known best.
    pub combinations: Vec<Combination>,
}

/// A parameter at a bound that it would pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// Where it would be without bounds, if the residuals were linear.
    pub wanted: f64,
    /// The standard deviation of that.
    pub deviation: f64,
}

/// A direction in the space of the parameters, orthogonal to the others in units of their scales.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Its standard deviation, in units of the scales; infinite where the residuals say nothing of it.
    pub deviation: f64,
    /// Its parts, of unit length together; the largest is positive.
    pub parts: Vec<f64>,
}

/// Searches for them.
///
/// # Errors
/// Why there is no solution.
pub fn least_squares(
    unknowns: &[Unknown],
    evaluate: &mut Evaluate<'_>,
) -> Result<LeastSquares, LeastSquaresError> {
    let mut search = Search { unknowns, evaluate };
    let start: Vec<f64> = unknowns.iter().map(|one| one.start).collect();
    let first = search.at(&start)?.ok_or(LeastSquaresError::Start)?;
    if first.len() <= start.len() {
        return Err(LeastSquaresError::TooFew {
            residuals: first.len(),
            parameters: start.len(),
        });
    }
    let point = search.point(start, first)?;
    let (point, ending) = search.descended(point)?;
    let Knowledge {
        held,
        deviation,
        covariance,
        combinations,
    } = Knowledge::of(unknowns, &point);
    Ok(LeastSquares {
        parameters: point.at,
        residuals: point.residuals.as_slice().to_vec(),
        steps: ending.steps,
        converged: ending.converged && !ending.is_blocked,
        is_blocked: ending.is_blocked,
        held,
        deviation,
        covariance,
        combinations,
    })
}

/// Residuals and their derivatives at a point.
struct Point {
    at: Vec<f64>,
    residuals: DVector<f64>,
    /// By the parameters in units of their scales.
    jacobian: DMatrix<f64>,
}

impl Point {
    /// What a step must gain to be one.
    fn least_gain(&self) -> f64 {
        let freedom = (self.residuals.len() - self.at.len()) as f64;
        SMALLEST_GAIN * self.residuals.norm_squared() / freedom
    }

    fn step(&self, damping: f64, room: &[Room]) -> Option<(DVector<f64>, f64)> {
        damped_step(&self.jacobian, &self.residuals, damping, room)
    }
}

/// How a search has ended.
struct Ending {
    steps: usize,
    converged: bool,
    is_blocked: bool,
}

/// On which sides of a point a derivative looks at residuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Both,
    Above,
    Below,
}

impl Side {
    /// At which distances, in parts of a scale.
    fn distances(self) -> [f64; 2] {
        match self {
            Self::Both => [STEP, -STEP],
            Self::Above => [STEP, 2.0 * STEP],
            Self::Below => [-STEP, -2.0 * STEP],
        }
    }

    /// The side on which to look where one of both gives nothing.
    fn other(self, found: &[Option<DVector<f64>>]) -> Result<Self, LeastSquaresError> {
        match (self, found) {
            (Self::Both, [Some(_), None]) => Ok(Self::Above),
            (Self::Both, [None, Some(_)]) => Ok(Self::Below),
            _ => Err(LeastSquaresError::Derivative),
        }
    }
}

struct Search<'a, 'e> {
    unknowns: &'a [Unknown],
    evaluate: &'a mut Evaluate<'e>,
}

impl Search<'_, '_> {
    /// Goes down from a point until nothing is gained any more.
    fn descended(&mut self, mut point: Point) -> Result<(Point, Ending), LeastSquaresError> {
        let (mut damping, mut growth) = (FIRST_DAMPING, 2.0);
        let (mut steps, mut converged, mut refused) = (0, false, false);
        for _ in 0..MOST_STEPS {
            let room = self.room(&point.at);
            let Some((step, gain)) = point.step(damping, &room) else {
                // nothing depends on anything
                converged = true;
                break;
            };
            let is_small = step.amax() <= SMALLEST_STEP || gain <= point.least_gain();
            let next = self.moved(&point.at, &step);
            let there = self.at(&next)?;
            refused |= there.is_none();
            let cost = point.residuals.norm_squared();
            let gained = there.as_ref().map(|there| cost - there.norm_squared());
            match (there, gained) {
                (Some(there), Some(gained)) if gained > 0.0 => {
                    point = self.point(next, there)?;
                    steps += 1;
                    let share: f64 = 2.0 * gained / gain - 1.0;
                    damping *= (1.0 - share.powi(3)).clamp(1.0 / 3.0, 2.0);
                    growth = 2.0;
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
        // a damping that only grew because a step had no residuals makes any step small
        let promised = point.step(FIRST_DAMPING, &self.room(&point.at));
        let promises = promised.is_some_and(|(_, gain)| gain > point.least_gain());
        let ending = Ending {
            steps,
            converged,
            is_blocked: refused && promises,
        };
        Ok((point, ending))
    }

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

    /// How far a step may move every parameter, in units of the scales.
    fn room(&self, at: &[f64]) -> Vec<Room> {
        let towards = |way: f64| {
            if way.abs() <= NEAR_BOUND {
                way
            } else {
                TOWARDS_BOUND * way
            }
        };
        let room = |(one, at): (&Unknown, &f64)| {
            [one.least, one.most].map(|bound| towards((bound - at) / one.scale))
        };
        self.unknowns.iter().zip(at).map(room).collect()
    }

    /// Where a step leads; one to a bound ends there whatever rounding says.
    fn moved(&self, at: &[f64], step: &DVector<f64>) -> Vec<f64> {
        let moved = |((one, at), step): ((&Unknown, &f64), &f64)| {
            let next = (at + one.scale * step).clamp(one.least, one.most);
            let is_there = |bound: &f64| (next - bound).abs() <= SMALLEST_STEP * one.scale;
            let mut bounds = [one.least, one.most].into_iter();
            bounds.find(is_there).unwrap_or(next)
        };
        let pairs = self.unknowns.iter().zip(at);
        pairs.zip(step.iter()).map(moved).collect()
    }

    fn point(&mut self, at: Vec<f64>, residuals: DVector<f64>) -> Result<Point, LeastSquaresError> {
        Ok(Point {
            jacobian: self.jacobian(&at, &residuals)?,
            at,
            residuals,
        })
    }

    /// Derivatives of the residuals by the parameters, in units of their scales.
    fn jacobian(
        &mut self,
        at: &[f64],
        here: &DVector<f64>,
    ) -> Result<DMatrix<f64>, LeastSquaresError> {
        let mut sides: Vec<Side> = (0..at.len()).map(|j| self.side(j, at[j])).collect();
        let mut columns: Vec<Option<DVector<f64>>> = vec![None; at.len()];
        while columns.iter().any(Option::is_none) {
            let missing: Vec<usize> = (0..at.len()).filter(|&j| columns[j].is_none()).collect();
            let looked_at = |&j: &usize| {
                sides[j].distances().map(|distance| {
                    let mut point = at.to_vec();
                    point[j] += distance * self.unknowns[j].scale;
                    point
                })
            };
            let points: Vec<Vec<f64>> = missing.iter().flat_map(looked_at).collect();
            let found = self.all(&points)?;
            let pairs = points.chunks_exact(2).zip(found.chunks_exact(2));
            for (j, (points, found)) in missing.into_iter().zip(pairs) {
                let [Some(first), Some(second)] = found else {
                    sides[j] = sides[j].other(found)?;
                    continue;
                };
                // what was really moved by, after rounding
                let scale = self.unknowns[j].scale;
                let moved = |k: usize| (points[k][j] - at[j]) / scale;
                columns[j] = Some(match sides[j] {
                    Side::Both => (first - second) / ((points[0][j] - points[1][j]) / scale),
                    // of the parabola through all three
                    Side::Above | Side::Below => {
                        let (near, far) = (moved(0), moved(1));
                        ((first - here) * (far / near) - (second - here) * (near / far))
                            / (far - near)
                    }
                });
            }
        }
        let columns: Vec<DVector<f64>> = columns.into_iter().flatten().collect();
        Ok(DMatrix::from_columns(&columns))
    }

    /// The side on which there is room for a difference.
    fn side(&self, j: usize, at: f64) -> Side {
        let Unknown {
            scale, least, most, ..
        } = self.unknowns[j];
        if at - STEP * scale < least {
            Side::Above
        } else if at + STEP * scale > most {
            Side::Below
        } else {
            Side::Both
        }
    }
}
