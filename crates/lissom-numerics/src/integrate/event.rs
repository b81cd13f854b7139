//! Finds the instant of a state event within a step.

use super::IntegrateError;
use super::driver::Stepper;
use super::equations::{Equations, System};

/// Share of a step to which the instant of a state event is found.
const INSTANT: f64 = 1e-10;
/// The secant rule that finds it gains more than a digit in two of these.
const MOST_SECANTS: usize = 60;

/// Parts of a step between which an event function is looked at that may have been positive on the way.
const PARTS: usize = 8;

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
    let (mut late, mut beyond) = (end, equations.event_function(end, state));
    if beyond.is_nan() || beyond <= 0.0 {
        if !equations.may_have_passed(end, state, end - before) {
            return Ok(None);
        }
        match passed(stepper, equations, [before, end], beyond, state)? {
            Some(inside) => (late, beyond) = inside,
            None => return Ok(None),
        }
    }
    stepper.interpolate(equations, before, state)?;
    let mut ahead = equations.event_function(before, state);
    if ahead.is_nan() || ahead > 0.0 {
        // it began beyond: there is nothing to go back to
        return Ok(Some(end));
    }
    let accuracy = INSTANT * (end - before);
    let mut early = before;
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

/// An instant within the last step at which the event function is positive, with its value there; it is `last` at the end. What is highest between the
/// instants looked at is where a parabola through three of them has its peak.
fn passed<S: System + ?Sized>(
    stepper: &mut dyn Stepper<S>,
    equations: &mut Equations<'_, S>,
    [before, end]: [f64; 2],
    last: f64,
    state: &mut [f64],
) -> Result<Option<(f64, f64)>, IntegrateError> {
    let mut look = |at: f64| {
        stepper.interpolate(equations, at, state)?;
        Ok::<f64, IntegrateError>(equations.event_function(at, state))
    };
    let part = (end - before) / PARTS as f64;
    let mut values = [last; PARTS + 1];
    let mut highest = 1;
    for (index, value) in values[..PARTS].iter_mut().enumerate() {
        let at = before + part * index as f64;
        *value = look(at)?;
        if *value > 0.0 && index > 0 {
            return Ok(Some((at, *value)));
        }
    }
    for index in 1..PARTS {
        if values[index] > values[highest] {
            highest = index;
        }
    }
    let [left, middle, right] = [highest - 1, highest, highest + 1].map(|index| values[index]);
    let bend = left - 2.0 * middle + right;
    let away = 0.5 * (left - right) / bend;
    if bend < 0.0 && away.abs() < 1.0 {
        let at = before + part * (highest as f64 + away);
        let value = look(at)?;
        if value > 0.0 {
            return Ok(Some((at, value)));
        }
    }
    Ok(None)
}
