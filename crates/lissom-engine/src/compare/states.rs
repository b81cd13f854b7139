//! The states of a run, read off its recording.

use lissom_core::{Dynamics, Recording};

/// Positions and velocities of a run in the order of some model's state, without the two works at its end.
pub(super) struct States<'r> {
    /// Instants.
    pub(super) time_s: &'r [f64],
    columns: Vec<&'r [f64]>,
    positions: usize,
}

impl<'r> States<'r> {
    /// `None` if the recording lacks a coordinate of the state.
    pub(super) fn of(dynamics: &dyn Dynamics, recording: &'r Recording) -> Option<Self> {
        let layout = dynamics.state_layout();
        let count = dynamics.position_count() + dynamics.velocity_count();
        let columns = layout[..count]
            .iter()
            .map(|coordinate| Some(recording.channel(&coordinate.name)?.samples.as_slice()));
        Some(Self {
            time_s: &recording.time_s,
            columns: columns.collect::<Option<_>>()?,
            positions: dynamics.position_count(),
        })
    }

    /// Number of coordinates.
    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Writes sample `index` over the front of `state`.
    pub(super) fn read(&self, index: usize, state: &mut [f64]) {
        for (x, column) in state.iter_mut().zip(&self.columns) {
            *x = column[index];
        }
    }

    /// Writes the mean of two samples over the front of `state`.
    pub(super) fn read_mean(&self, first: usize, second: usize, state: &mut [f64]) {
        for (x, column) in state.iter_mut().zip(&self.columns) {
            *x = 0.5 * (column[first] + column[second]);
        }
    }

    /// Mean accelerations between two samples.
    pub(super) fn acceleration_between(
        &self,
        before: usize,
        after: usize,
        acceleration: &mut [f64],
    ) {
        let span = self.time_s[after] - self.time_s[before];
        for (a, column) in acceleration.iter_mut().zip(&self.columns[self.positions..]) {
            let change = column[after] - column[before];
            *a = if span > 0.0 { change / span } else { 0.0 };
        }
    }

    /// Mean accelerations about an instant: over `window` seconds, or between the nearest samples if that is more.
    ///
    /// Vibrations cancel in the mean, as they do in their effect on slow motion; in the accelerations of the
    /// equations at a sample they would come in at some phase or other.
    pub(super) fn mean_acceleration(&self, time: f64, window: f64, acceleration: &mut [f64]) {
        let (first, last) = (self.time_s[0], self.time_s[self.time_s.len() - 1]);
        let (start, end) = (
            (time - 0.5 * window).max(first),
            (time + 0.5 * window).min(last),
        );
        let before = self
            .time_s
            .partition_point(|&t| t <= start)
            .saturating_sub(1);
        let after = self.time_s.partition_point(|&t| t < end);
        let after = after.max(before + 1).min(self.time_s.len() - 1);
        self.acceleration_between(before, after, acceleration);
    }

    /// Largest magnitude of every coordinate.
    pub(super) fn scales(&self) -> Vec<f64> {
        let largest = |column: &&[f64]| column.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        self.columns.iter().map(largest).collect()
    }
}
