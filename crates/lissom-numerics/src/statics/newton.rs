//! Newton's iteration under one load, with steps shortened as far as the natural monotonicity test asks.
//!
//! Between a place and the equilibrium that a growing load leads to from there, the stiffness does not change the sign of its
//! determinant: steps over a place without stiffness lead to another branch, as of an arch that has snapped through.

use nalgebra::DVector;

use super::Balance;
use super::solve::Scaled;

/// Iterations for one load: the digits double, after a few shortened steps.
const MOST_ITERATIONS: usize = 40;
/// Iterations that count as few, so that the next part of the load may be larger.
const FEW_ITERATIONS: usize = 8;
/// Newton's iteration squares its error: after a correction below this, of the scale of the unknown, rounding is what is
/// left.
const LAST_CORRECTION: f64 = 1e-8;
/// A correction that still does not fall but is below this is rounding of stiff directions.
const ROUNDED_CORRECTION: f64 = 1e-6;
/// Largest change at once, of the scale of the unknown.
const LARGEST_CHANGE: f64 = 0.5;
/// Smallest share of a step that is tried.
const SMALLEST_SHARE: f64 = 1.0 / 4096.0;
/// Of a share $`s`$ of a step the next correction must fall by $`s/4`$ at least \[Deuflhard 2004, eq (3.46)\].
const EXPECTED_FALL: f64 = 0.25;
/// Unbalanced force, as a fraction of the forces at work, that is left to rounding and differences.
const BALANCED: f64 = 1e-7;
/// Rounding of coordinates, of their scales, as differences of places a thousand times as far away have it: times the
/// stiffness, a force that cannot be balanced.
const ROUNDING: f64 = 1e-13;
/// Share of the rounding of the stiffest part that reaches equations of others, through sums of forces.
const SPILT: f64 = 1e-3;
/// Change, of the scale of the unknown, that may lead over a place without stiffness: such steps are looked at half-way.
const LONG_STEP: f64 = 0.05;

/// Balance under one load.
pub(super) struct Balanced<P> {
    pub(super) place: P,
    pub(super) iterations: usize,
    /// Whether it took few iterations.
    pub(super) quick: bool,
}

/// How the iteration failed.
pub(super) enum Diverged<E> {
    /// With these equations furthest from balance.
    Unbalanced {
        worst: usize,
        residual: f64,
        /// It converged, but for a force in a direction without stiffness.
        unheld: bool,
    },
    Placement(E),
}

/// Brings the forces into balance under a load, on the branch of the start unless it may be left. Counts `evaluations`.
pub(super) fn balanced<B: Balance>(
    balance: &mut B,
    start: &B::Place,
    load: f64,
    may_leave: bool,
    evaluations: &mut usize,
) -> Result<Balanced<B::Place>, Diverged<B::Error>> {
    let scales = balance.scales().to_vec();
    let mut place = start.clone();
    let mut residual = DVector::zeros(scales.len());
    let mut next_residual = residual.clone();
    // one at the start and one at the end
    *evaluations += 2;
    // what the forces left are to be small beside
    let mut at_work =
        (balance.evaluate(&place, load, &mut residual)).map_err(Diverged::Placement)?;
    let mut of_rounding = vec![0.0_f64; scales.len()];
    let mut converged = false;
    let mut singular = false;
    let mut iterations = 0;
    let mut branch = None;
    while iterations < MOST_ITERATIONS && !converged {
        iterations += 1;
        let matrix = (balance.stiffness(&place, load)).map_err(Diverged::Placement)?;
        let matrix = Scaled::new(matrix, &scales);
        if !matrix.is_finite() || residual.iter().any(|x| !x.is_finite()) {
            break;
        }
        for (most, now) in of_rounding.iter_mut().zip(rounding(&matrix)) {
            *most = most.max(now);
        }
        let factored = matrix.factored(at_work);
        singular = factored.is_singular();
        let side = factored.sign();
        if !may_leave && branch.is_some() && side != branch {
            break;
        }
        branch = side;
        let change = factored.correction(&residual);
        let [largest, size] = norms(&change, &scales);
        let mut share = (LARGEST_CHANGE / largest.max(LARGEST_CHANGE)).min(1.0);
        loop {
            let next = balance.displaced(&place, &change, share);
            *evaluations += 1;
            let outcome = balance.evaluate(&next, load, &mut next_residual);
            let last = share == 1.0 && largest <= LAST_CORRECTION;
            if let Ok(forces) = outcome {
                let [_, remaining] = norms(&factored.correction(&next_residual), &scales);
                let falls = last || remaining <= (1.0 - EXPECTED_FALL * share) * size;
                let mut stays = || {
                    if may_leave || branch.is_none() || share * largest <= LONG_STEP {
                        return true;
                    }
                    let half_way = balance.displaced(&place, &change, 0.5 * share);
                    let matrix = balance.stiffness(&half_way, load);
                    let side = matrix.map(|matrix| Scaled::new(matrix, &scales));
                    side.is_ok_and(|side| {
                        side.is_finite() && side.factored(at_work).sign() == branch
                    })
                };
                if falls && stays() {
                    place = next;
                    std::mem::swap(&mut residual, &mut next_residual);
                    at_work = at_work.max(forces);
                    converged = last;
                    break;
                }
            }
            share *= 0.5;
            if share < SMALLEST_SHARE {
                break;
            }
        }
        if share < SMALLEST_SHARE {
            converged = largest <= ROUNDED_CORRECTION;
            if !converged {
                break;
            }
        }
    }
    // a trial may have been the last evaluation
    let outcome = balance.evaluate(&place, load, &mut residual);
    at_work = at_work.max(outcome.map_err(Diverged::Placement)?);
    let limit = |unknown: usize| {
        if scales[unknown].is_finite() {
            BALANCED * at_work.max(of_rounding[unknown])
        } else {
            LAST_CORRECTION
        }
    };
    let excess = |unknown: usize| residual[unknown].abs() / limit(unknown).max(f64::MIN_POSITIVE);
    let worst = (0..scales.len()).max_by(|&a, &b| excess(a).total_cmp(&excess(b)));
    match worst {
        Some(worst) if !converged || excess(worst) > 1.0 => Err(Diverged::Unbalanced {
            worst,
            residual: residual[worst].abs(),
            unheld: converged && singular && scales[worst].is_finite(),
        }),
        _ => Ok(Balanced {
            place,
            iterations,
            quick: iterations <= FEW_ITERATIONS,
        }),
    }
}

/// The forces that rounding of coordinates makes in the equations, as forces at work.
fn rounding(matrix: &Scaled) -> Vec<f64> {
    let largest = |row: usize| {
        let entries = matrix.matrix.row(row);
        entries.columns(0, matrix.coordinates).amax() / matrix.factors[row]
    };
    let largest: Vec<f64> = (0..matrix.factors.len()).map(largest).collect();
    let of_coordinates = &largest[..matrix.coordinates];
    let stiffest = of_coordinates.iter().copied().fold(0.0, f64::max);
    let felt = |own: f64| own.max(SPILT * stiffest) * ROUNDING / BALANCED;
    largest.into_iter().map(felt).collect()
}

/// Largest change and root of the sum of squares, in scales.
pub(super) fn norms(change: &DVector<f64>, scales: &[f64]) -> [f64; 2] {
    let mut largest = 0.0_f64;
    let mut squares = 0.0;
    for (x, scale) in change.iter().zip(scales) {
        let x = (x / scale).abs();
        // not `max`, which would lose what is not a number
        if x > largest || x.is_nan() {
            largest = x;
        }
        squares += x * x;
    }
    [largest, squares.sqrt()]
}
