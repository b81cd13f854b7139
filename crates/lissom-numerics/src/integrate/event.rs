//! Finds the instant of a state event within a step.

use super::IntegrateError;
use super::driver::Stepper;
use super::equations::{Equations, System};

/// Share of a step to which the instant of a state event is found.
const INSTANT: f64 = 1e-10;
/// The secant rule that finds it gains more than a digit in two of these.
const MOST_SECANTS: usize = 60;

/// Which end of an interval the last secant kept.
#[derive(PartialEq)]
enum Kept {
    Neither,
    Early,
    Late,
}

/// The instant of a state event within the last step, which began at `before`, if there was one; the solution is just
/// beyond it then. `state` is scratch.
pub(super) fn locate_event<S: System + ?Sized>(
    stepper: &mut dyn Stepper<S>,
    equations: &mut Equations<'_, S>,
    before: f64,
    state: &mut [f64],
) -> Result<Option<f64>, IntegrateError> {
    let end = stepper.time();
    state.copy_from_slice(stepper.state());
    let mut beyond = equations.event_function(end, state);
    if beyond.is_nan() || beyond <= 0.0 {
        return Ok(None);
    }
    stepper.interpolate(equations, before, state)?;
    let mut ahead = equations.event_function(before, state);
    if ahead.is_nan() || ahead > 0.0 {
        // it began beyond: there is nothing to go back to
        return Ok(Some(end));
    }
    let accuracy = INSTANT * (end - before);
    let (mut early, mut late) = (before, end);
    let mut kept = Kept::Neither;
    for _ in 0..MOST_SECANTS {
        if late - early <= accuracy {
            break;
        }
        // a function that is infinite, or cannot be evaluated, at an end has no secant
        let share = if (beyond - ahead).is_finite() {
            beyond / (beyond - ahead)
        } else {
            0.5
        };
        let secant = late - (late - early) * share;
        let inside = secant.clamp(early + 0.5 * accuracy, late - 0.5 * accuracy);
        stepper.interpolate(equations, inside, state)?;
        let found = equations.event_function(inside, state);
        if found > 0.0 {
            (late, beyond) = (inside, found);
            // an end that is kept twice counts half (the Illinois rule)
            if kept == Kept::Early {
                ahead *= 0.5;
            }
            kept = Kept::Early;
        } else {
            (early, ahead) = (inside, found);
            if kept == Kept::Late {
                beyond *= 0.5;
            }
            kept = Kept::Late;
        }
    }
    // a rest of nothing is not worth a step
    Ok(Some(if end - late <= accuracy { end } else { late }))
}
