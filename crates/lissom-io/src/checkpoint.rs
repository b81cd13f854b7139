//! [`Checkpoints`]: a long run is written as far as it has come, now and then.

use std::time::{Duration, Instant};

use lissom::Run;

use crate::IoError;

/// Clock time before the first checkpoint, and between two at least.
const SHORTEST: Duration = Duration::from_secs(10);
/// Clock time between two checkpoints, in times that one takes: writing takes half a per cent of a run.
const SPACING: u32 = 200;

/// Longest clock time between two checkpoints that can be asked for, in seconds: thirty years, which clocks can count.
const LONGEST_S: f64 = 1e9;

/// Writes a run as far as it has come.
type Writer<'a> = Box<dyn FnMut(&Run) -> Result<(), IoError> + Send + 'a>;

/// Writes what a run has so far, as often as was asked for, or as seldom as the cost of writing asks for.
pub struct Checkpoints<'a> {
    write: Writer<'a>,
    every: Option<Duration>,
    next: Instant,
}

impl<'a> Checkpoints<'a> {
    /// Checkpoints of a run that begins now, every so many seconds if that is said.
    pub fn new(
        every_s: Option<f64>,
        write: impl FnMut(&Run) -> Result<(), IoError> + Send + 'a,
    ) -> Self {
        let counted = |every_s: f64| Duration::try_from_secs_f64(every_s.min(LONGEST_S));
        let every = every_s.map(|every_s| counted(every_s).unwrap_or_default());
        Self {
            write: Box::new(write),
            every,
            next: Instant::now() + every.unwrap_or(SHORTEST),
        }
    }

    /// Whether it is time for the next.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Writes a checkpoint. The run goes on whether or not it could be written.
    ///
    /// # Errors
    /// With what kept it from being written; what was written before still stands.
    pub fn take(&mut self, so_far: &Run) -> Result<(), IoError> {
        let began = Instant::now();
        let written = (self.write)(so_far);
        self.next = began + began.elapsed() + spacing(began.elapsed(), self.every);
        written
    }
}

/// Clock time from one checkpoint, which took `cost`, to the next.
fn spacing(cost: Duration, every: Option<Duration>) -> Duration {
    every.unwrap_or_else(|| SHORTEST.max(cost.saturating_mul(SPACING)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: writing takes less than a per cent of the time, however long it takes.
    #[test]
    fn checkpoints_are_as_seldom_as_they_are_costly() {
        for milliseconds in [1, 40, 3000] {
            let cost = Duration::from_millis(milliseconds);
            let spacing = spacing(cost, None);
            assert!(cost.as_secs_f64() < 0.01 * spacing.as_secs_f64());
            assert!(spacing >= SHORTEST);
        }
        // periods that no clock can count never come
        for every_s in [1e10, 1e300, f64::INFINITY] {
            assert!(!Checkpoints::new(Some(every_s), |_| Ok(())).is_due());
        }
        let asked = Duration::from_millis(5);
        assert_eq!(spacing(Duration::from_secs(1), Some(asked)), asked);
    }
}
