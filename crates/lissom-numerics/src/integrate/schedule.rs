//! How far an integration goes, what no step crosses, and where the solution is wanted.

use super::IntegrateError;

/// The interval of an integration, the instants where the system may be discontinuous and those where
/// the solution is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Schedule<'a> {
    /// First instant.
    pub start: f64,
    /// Last instant, not before the first.
    pub end: f64,
    /// Instants that no step crosses, in ascending order; those outside the interval do nothing.
    pub breakpoints: &'a [f64],
    /// Instants at which [`Observer::sample`](super::Observer::sample) is called, strictly ascending, within the interval.
    pub samples: &'a [f64],
}

/// How far one call brings an integration.
///
/// | the caller | writes |
/// |---|---|
/// | knows all inputs up to an end and looks in on the way | `time` before `horizon`: no step is made to end at `time`, the solution there is that of the interpolant, and the steps are those of one call to the end |
/// | does not know inputs beyond `time` yet (co-simulation), and they are smooth | [`Target::landing`]: the last step ends at `time`, the next one goes on with all that the method remembers |
/// | changes inputs at `time` (a sampled controller) | the same, and `time` among the breakpoints, or [`Integration::restart`](super::Integration::restart) before the next call |
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Instant to which the solution is brought, not before the present one.
    pub time: f64,
    /// Instant beyond which no step goes, not before `time`.
    pub horizon: f64,
    /// Instants that no step crosses and behind which the method starts afresh, in ascending order. Those behind the present
    /// instant and those beyond the horizon do nothing.
    pub breakpoints: &'a [f64],
    /// Instants at which [`Observer::sample`](super::Observer::sample) is called, strictly ascending. Those behind the present
    /// instant, those beyond `time` and those that were sampled by an earlier call do nothing.
    pub samples: &'a [f64],
}

impl Target<'static> {
    /// A last step that ends at `time`, without breakpoints and samples.
    pub fn landing(time: f64) -> Self {
        Self {
            time,
            horizon: time,
            breakpoints: &[],
            samples: &[],
        }
    }
}

impl<'a> Target<'a> {
    /// The whole of a schedule.
    pub(super) fn end_of(schedule: &Schedule<'a>) -> Self {
        Self {
            time: schedule.end,
            horizon: schedule.end,
            breakpoints: schedule.breakpoints,
            samples: schedule.samples,
        }
    }

    /// The interval without a breakpoint inside that began at `start` and holds `time`.
    pub(super) fn piece(&self, start: f64, time: f64) -> Piece {
        let behind = self
            .breakpoints
            .partition_point(|&breakpoint| breakpoint <= start || breakpoint < time);
        let next = self.breakpoints[behind..].first().copied();
        match next.filter(|&breakpoint| breakpoint <= self.horizon) {
            Some(end) => Piece {
                start,
                end,
                ceiling: end.next_down(),
                breaks: true,
            },
            None => Piece {
                start,
                end: self.horizon,
                ceiling: self.horizon,
                breaks: false,
            },
        }
    }

    /// The samples of this call, for an integration that stands at `time` and has taken a sample last at `sampled`.
    pub(super) fn samples_ahead(&self, time: f64, sampled: Option<f64>) -> &'a [f64] {
        let first = self
            .samples
            .partition_point(|&sample| sample < time || sampled.is_some_and(|last| sample <= last));
        let rest = &self.samples[first..];
        &rest[..rest.partition_point(|&sample| sample <= self.time)]
    }

    /// Refuses targets that lie behind `time`, and instants of this call that are out of order.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(&self, time: f64, sampled: Option<f64>) -> Result<(), IntegrateError> {
        let invalid =
            |quantity, value, remedy| Err(IntegrateError::invalid(quantity, value, remedy, time));
        if !(self.time.is_finite() && self.time >= time) {
            return invalid(
                "target",
                self.time,
                "it must be finite and not before the instant that has been reached",
            );
        }
        if !(self.horizon.is_finite() && self.horizon >= self.time) {
            return invalid(
                "horizon",
                self.horizon,
                "it must be finite and not before the target",
            );
        }
        // of long lists only what this call walks is looked at
        let first = self.breakpoints.partition_point(|&at| at < time);
        let rest = &self.breakpoints[first..];
        let last = rest.partition_point(|&at| at <= self.time);
        check_breakpoints(&rest[..rest.len().min(last + 1)], time)?;
        check_samples(self.samples_ahead(time, sampled), time)
    }
}

/// An interval without a breakpoint inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) start: f64,
    pub(super) end: f64,
    /// Latest time handed to the system: below the end if that is a breakpoint, where an input may jump.
    pub(super) ceiling: f64,
    /// Whether it ends at a breakpoint.
    pub(super) breaks: bool,
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
    check_breakpoints(breakpoints, start)?;
    check_samples(samples, start)?;
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

fn check_breakpoints(breakpoints: &[f64], time: f64) -> Result<(), IntegrateError> {
    match breakpoints
        .windows(2)
        .find(|pair| pair[0] > pair[1] || pair[1].is_nan())
    {
        Some(pair) => Err(IntegrateError::invalid(
            "breakpoint",
            pair[1],
            "breakpoints must ascend",
            time,
        )),
        None => Ok(()),
    }
}

fn check_samples(samples: &[f64], time: f64) -> Result<(), IntegrateError> {
    match samples
        .windows(2)
        .find(|pair| pair[0] >= pair[1] || pair[1].is_nan())
    {
        Some(pair) => Err(IntegrateError::invalid(
            "sample instant",
            pair[1],
            "sample instants must ascend strictly",
            time,
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of a schedule, one after the other.
    fn pieces(schedule: &Schedule<'_>) -> Vec<Piece> {
        let target = Target::end_of(schedule);
        let mut pieces = vec![target.piece(schedule.start, schedule.start)];
        while let Some(last) = pieces.last()
            && last.end < schedule.end
        {
            pieces.push(target.piece(last.end, last.end));
        }
        pieces
    }

    #[test]
    fn pieces_split_at_inner_breakpoints_once() {
        let schedule = Schedule {
            start: 0.0,
            end: 3.0,
            breakpoints: &[-1.0, 0.0, 1.0, 1.0, 2.0, 3.0, 4.0],
            samples: &[],
        };
        let bounds: Vec<_> = pieces(&schedule).iter().map(|p| (p.start, p.end)).collect();
        assert_eq!(bounds, [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]);
        assert!(
            pieces(&schedule)
                .iter()
                .all(|p| p.breaks && p.ceiling < p.end)
        );
    }

    #[test]
    fn an_empty_interval_is_one_piece() {
        let schedule = Schedule {
            start: 1.0,
            end: 1.0,
            breakpoints: &[1.0],
            samples: &[],
        };
        assert_eq!(pieces(&schedule).len(), 1);
    }

    #[test]
    fn a_breakpoint_at_the_present_instant_counts_unless_the_piece_began_there() {
        let target = Target {
            breakpoints: &[1.0, 2.0],
            ..Target::landing(3.0)
        };
        assert_eq!(target.piece(0.0, 1.0).end, 1.0);
        assert_eq!(target.piece(1.0, 1.0).end, 2.0);
        assert_eq!(target.piece(0.0, 1.5).end, 2.0);
        assert_eq!(target.piece(0.0, 2.5).end, 3.0);
    }

    #[test]
    fn samples_behind_and_beyond_are_left_out() {
        let target = Target {
            samples: &[0.0, 1.0, 2.0, 3.0, 4.0],
            ..Target::landing(3.0)
        };
        assert_eq!(target.samples_ahead(1.0, None), [1.0, 2.0, 3.0]);
        assert_eq!(target.samples_ahead(1.0, Some(1.0)), [2.0, 3.0]);
        assert_eq!(target.samples_ahead(3.5, Some(1.0)), [0.0; 0]);
    }

    #[test]
    fn targets_that_cannot_be_met_are_refused() {
        let good = Target::landing(2.0);
        assert!(good.check(2.0, None).is_ok());
        for bad in [
            Target::landing(0.5),
            Target::landing(f64::INFINITY),
            Target {
                horizon: 1.5,
                ..good
            },
            Target {
                breakpoints: &[1.5, 1.25],
                ..good
            },
            Target {
                samples: &[1.5, 1.5],
                ..good
            },
        ] {
            assert!(matches!(
                bad.check(1.0, None),
                Err(IntegrateError::Invalid { .. })
            ));
        }
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
