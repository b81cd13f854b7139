//! Walks a schedule: piece by piece between breakpoints, step by step within, samples as they fall due.
//!
//! A step that has gone beyond a state event is cut there: what it found up to the event is good, since the system was
//! smooth for the whole step, and a new piece begins at the instant of the event.

use super::{Flow, IntegrateError, Observer, Outcome, Schedule, Statistics};

/// Share of a step to which the instant of a state event is found.
const INSTANT: f64 = 1e-10;
/// The secant rule that finds it gains more than a digit in two of these.
const MOST_SECANTS: usize = 60;

/// An interval without a breakpoint inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) start: f64,
    pub(super) end: f64,
    /// Latest time handed to the system: below the end if that is a breakpoint, where an input may jump.
    pub(super) ceiling: f64,
}

/// A method that advances a solution of its own by one step at a time.
pub(super) trait Stepper {
    /// Forgets the past and prepares the first step of a piece from the state as it is.
    fn start(&mut self, piece: &Piece) -> Result<(), IntegrateError>;

    /// Makes one accepted step that ends at or before the end of the piece.
    fn step(&mut self, piece: &Piece) -> Result<(), IntegrateError>;

    /// Lets the system project the state reached by the last step; tells whether to go on.
    fn project(&mut self) -> Result<Flow, IntegrateError> {
        Ok(Flow::Continue)
    }

    /// Positive beyond a state event.
    fn event_function(&mut self, time: f64, state: &[f64]) -> f64;

    /// Puts the solution back to an instant within the last step; a start follows.
    fn rewind(&mut self, time: f64, state: &[f64]);

    /// Where the solution stands.
    fn time(&self) -> f64;

    /// The solution there.
    fn state(&self) -> &[f64];

    /// Writes the solution at an instant within the last step.
    fn interpolate(&mut self, time: f64, state: &mut [f64]) -> Result<(), IntegrateError>;

    fn statistics(&self) -> Statistics;
}

/// Runs `stepper` over `schedule`; `state` receives the last state reached.
pub(super) fn drive(
    stepper: &mut dyn Stepper,
    schedule: &Schedule<'_>,
    state: &mut [f64],
    observer: &mut dyn Observer,
) -> Result<Outcome, IntegrateError> {
    let mut stopped_at = None;
    let result = walk(stepper, schedule, state, observer, &mut stopped_at);
    // a stop at a sample leaves the interpolated state of that instant in place
    if stopped_at.is_none_or(|time| time == stepper.time()) {
        state.copy_from_slice(stepper.state());
    }
    result?;
    Ok(Outcome {
        statistics: stepper.statistics(),
        stopped_at,
    })
}

fn walk(
    stepper: &mut dyn Stepper,
    schedule: &Schedule<'_>,
    state: &mut [f64],
    observer: &mut dyn Observer,
    stopped_at: &mut Option<f64>,
) -> Result<(), IntegrateError> {
    let mut samples = schedule.samples.iter().copied().peekable();
    for mut piece in pieces(schedule) {
        stepper.start(&piece)?;
        if samples.next_if_eq(&piece.start).is_some()
            && observer.sample(piece.start, stepper.state()) == Flow::Stop
        {
            *stopped_at = Some(piece.start);
            return Ok(());
        }
        while stepper.time() < piece.end {
            let before = stepper.time();
            stepper.step(&piece)?;
            let event = locate_event(stepper, before, state)?;
            let mut projected = Flow::Continue;
            if event.is_none() {
                projected = stepper.project()?;
            }
            let time = event.unwrap_or(stepper.time());
            while let Some(sample) = samples.next_if(|&sample| sample < time) {
                stepper.interpolate(sample, state)?;
                if observer.sample(sample, state) == Flow::Stop {
                    *stopped_at = Some(sample);
                    return Ok(());
                }
            }
            if event.is_some() {
                stepper.interpolate(time, state)?;
                stepper.rewind(time, state);
                projected = stepper.project()?;
                piece.start = time;
                if projected == Flow::Continue {
                    stepper.start(&piece)?;
                }
            }
            // the end of a piece is sampled by the next one, which knows what holds behind it
            let sampled = if time < piece.end && samples.next_if_eq(&time).is_some() {
                observer.sample(time, stepper.state())
            } else {
                Flow::Continue
            };
            let stepped = observer.step(time, stepper.state());
            if [projected, sampled, stepped].contains(&Flow::Stop) {
                *stopped_at = Some(time);
                return Ok(());
            }
        }
    }
    if samples.next_if_eq(&schedule.end).is_some()
        && observer.sample(schedule.end, stepper.state()) == Flow::Stop
    {
        *stopped_at = Some(schedule.end);
    }
    Ok(())
}

/// Which end of an interval the last secant kept.
#[derive(PartialEq)]
enum Kept {
    Neither,
    Early,
    Late,
}

/// The instant of a state event within the last step, if there was one; the solution is just beyond it then. `state` is
/// scratch.
fn locate_event(
    stepper: &mut dyn Stepper,
    before: f64,
    state: &mut [f64],
) -> Result<Option<f64>, IntegrateError> {
    let end = stepper.time();
    state.copy_from_slice(stepper.state());
    let mut beyond = stepper.event_function(end, state);
    if beyond.is_nan() || beyond <= 0.0 {
        return Ok(None);
    }
    stepper.interpolate(before, state)?;
    let mut ahead = stepper.event_function(before, state);
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
        let secant = late - (late - early) * (beyond / (beyond - ahead));
        let inside = secant.clamp(early + 0.5 * accuracy, late - 0.5 * accuracy);
        stepper.interpolate(inside, state)?;
        let found = stepper.event_function(inside, state);
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

/// The pieces between breakpoints, at least one.
fn pieces<'a>(schedule: &'a Schedule<'a>) -> impl Iterator<Item = Piece> + 'a {
    let mut start = schedule.start;
    let mut finished = false;
    std::iter::from_fn(move || {
        if finished {
            return None;
        }
        let next = schedule
            .breakpoints
            .iter()
            .copied()
            .find(|&breakpoint| breakpoint > start && breakpoint <= schedule.end);
        let end = next.unwrap_or(schedule.end);
        let piece = Piece {
            start,
            end,
            ceiling: if next.is_some() { end.next_down() } else { end },
        };
        finished = end == schedule.end;
        start = end;
        Some(piece)
    })
}

/// Refuses schedules that run backwards or whose instants are out of order.
pub(super) fn check_schedule(schedule: &Schedule<'_>) -> Result<(), IntegrateError> {
    let &Schedule {
        start,
        end,
        breakpoints,
        samples,
    } = schedule;
    let invalid =
        |quantity, value, remedy| Err(IntegrateError::invalid(quantity, value, remedy, start));
    if !start.is_finite() {
        return invalid("start", start, "it must be finite");
    }
    if !(end.is_finite() && end >= start) {
        return invalid("end", end, "it must be finite and not before the start");
    }
    if let Some(pair) = breakpoints
        .windows(2)
        .find(|pair| pair[0] > pair[1] || pair[1].is_nan())
    {
        return invalid("breakpoint", pair[1], "breakpoints must ascend");
    }
    if let Some(pair) = samples
        .windows(2)
        .find(|pair| pair[0] >= pair[1] || pair[1].is_nan())
    {
        return invalid(
            "sample instant",
            pair[1],
            "sample instants must ascend strictly",
        );
    }
    if let Some(&sample) = samples
        .iter()
        .find(|&sample| !(start..=end).contains(sample))
    {
        return invalid(
            "sample instant",
            sample,
            "it must lie between the start and the end",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_split_at_inner_breakpoints_once() {
        let schedule = Schedule {
            start: 0.0,
            end: 3.0,
            breakpoints: &[-1.0, 0.0, 1.0, 1.0, 2.0, 3.0, 4.0],
            samples: &[],
        };
        let bounds: Vec<_> = pieces(&schedule).map(|p| (p.start, p.end)).collect();
        assert_eq!(bounds, [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]);
        assert!(pieces(&schedule).all(|p| p.ceiling < p.end));
    }

    #[test]
    fn an_empty_interval_is_one_piece() {
        let schedule = Schedule {
            start: 1.0,
            end: 1.0,
            breakpoints: &[1.0],
            samples: &[],
        };
        assert_eq!(pieces(&schedule).count(), 1);
    }

    #[test]
    fn schedules_out_of_order_are_refused() {
        let good = Schedule {
            start: 0.0,
            end: 1.0,
            breakpoints: &[],
            samples: &[],
        };
        assert!(check_schedule(&good).is_ok());
        for bad in [
            Schedule { end: -1.0, ..good },
            Schedule {
                start: f64::NAN,
                ..good
            },
            Schedule {
                breakpoints: &[0.5, 0.25],
                ..good
            },
            Schedule {
                samples: &[0.5, 0.5],
                ..good
            },
            Schedule {
                samples: &[0.5, 1.5],
                ..good
            },
        ] {
            assert!(matches!(
                check_schedule(&bad),
                Err(IntegrateError::Invalid { .. })
            ));
        }
    }
}
