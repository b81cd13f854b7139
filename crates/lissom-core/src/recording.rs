//! [`Recording`]: what a run leaves behind, as named channels with their units over one time axis.
//!
//! Channel names are dotted paths from the part to the quantity: `shoulder.angle`,
//! `boom.bending_y_1`, `tip.position.x`. Units are written as products with a space and at most one
//! slash: `rad`, `m`, `N m`, `kg m/s`; a pure number has the unit `1`. All values are SI.

mod section_extremes;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use section_extremes::{LoadPeak, SectionExtremes};

/// Samples nearer to each other than this share of the interval that a cubic is for do not both take part in it: their difference is
/// rounding. Such are the instant at which a run went on and that of the next sample, when they are the same but for rounding.
const CLOSE: f64 = 1e-3;

/// One quantity over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// Dotted path from the part to the quantity, for example `tip.position.x`.
    pub name: String,
    /// SI unit of the samples, `1` when they have none.
    pub unit: String,
    /// One value per instant of [`Recording::time_s`].
    pub samples: Vec<f64>,
}

/// Channels sampled at the same instants.
///
/// The instants are strictly increasing and every channel has as many samples as there are instants;
/// [`Recording::push`] keeps it so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Instants of the samples in seconds.
    pub time_s: Vec<f64>,
    /// The channels, in the order they were declared.
    pub channels: Vec<Channel>,
}

/// A value and the instant it was recorded at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Value in the unit of its channel.
    pub value: f64,
    /// Instant in seconds.
    pub time_s: f64,
}

/// Where a channel ended and how far it went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extremes {
    /// Name of the channel.
    pub name: String,
    /// Unit of the channel.
    pub unit: String,
    /// The last sample.
    #[serde(rename = "final")]
    pub last: Sample,
    /// The smallest sample, the earliest one when several are equal.
    pub minimum: Sample,
    /// The largest sample, the earliest one when several are equal.
    pub maximum: Sample,
}

impl Recording {
    /// An empty recording of channels given as (name, unit), with room for `rows` samples of each.
    pub fn with_capacity<N: Into<String>, U: Into<String>>(
        channels: impl IntoIterator<Item = (N, U)>,
        rows: usize,
    ) -> Self {
        let channel = |(name, unit): (N, U)| Channel {
            name: name.into(),
            unit: unit.into(),
            samples: Vec::with_capacity(rows),
        };
        Self {
            time_s: Vec::with_capacity(rows),
            channels: channels.into_iter().map(channel).collect(),
        }
    }

    /// Appends one sample of every channel, in the order of [`Recording::channels`].
    ///
    /// Allocates nothing as long as the rows fit the capacity the recording was made with; beyond it
    /// every channel grows by doubling.
    ///
    /// # Panics
    ///
    /// If `row` has not one value per channel, or `time_s` does not come after the last instant.
    pub fn push(&mut self, time_s: f64, row: &[f64]) {
        assert_eq!(
            row.len(),
            self.channels.len(),
            "a row holds one value per channel"
        );
        assert!(
            self.time_s.last().is_none_or(|&last| time_s > last),
            "instants increase: {time_s} s follows {:?} s",
            self.time_s.last()
        );
        self.time_s.push(time_s);
        for (channel, &value) in self.channels.iter_mut().zip(row) {
            channel.samples.push(value);
        }
    }

    /// Number of instants.
    pub fn len(&self) -> usize {
        self.time_s.len()
    }

    /// Whether nothing was recorded yet.
    pub fn is_empty(&self) -> bool {
        self.time_s.is_empty()
    }

    /// The channel of that name.
    pub fn channel(&self, name: &str) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.name == name)
    }

    /// All channels by their names, for whoever asks for many of them.
    pub fn by_name(&self) -> BTreeMap<&str, &Channel> {
        let named = self.channels.iter();
        named
            .map(|channel| (channel.name.as_str(), channel))
            .collect()
    }

    /// Final, smallest and largest sample of every channel; empty when nothing was recorded.
    ///
    /// Values are compared in the total order of IEEE 754, in which a NaN lies beyond the infinities:
    /// a bad number shows up as an extreme instead of being passed over.
    pub fn extremes(&self) -> Vec<Extremes> {
        let extremes_of = |channel: &Channel| {
            let sample = |(&value, &time_s): (&f64, &f64)| Sample { value, time_s };
            let mut samples = channel.samples.iter().zip(&self.time_s).map(sample);
            let first = samples.next()?;
            let (mut minimum, mut maximum, mut last) = (first, first, first);
            for sample in samples {
                if sample.value.total_cmp(&minimum.value).is_lt() {
                    minimum = sample;
                }
                if sample.value.total_cmp(&maximum.value).is_gt() {
                    maximum = sample;
                }
                last = sample;
            }
            Some(Extremes {
                name: channel.name.clone(),
                unit: channel.unit.clone(),
                last,
                minimum,
                maximum,
            })
        };
        self.channels.iter().filter_map(extremes_of).collect()
    }

    /// Value of a channel of this recording at an instant; `None` outside the recorded span.
    ///
    /// Exact at the sampled instants and linear between them. A run that is asked for values at given
    /// instants samples there, by the dense output of its integrator, so that none is interpolated here.
    pub fn value_at(&self, channel: &Channel, time_s: f64) -> Option<f64> {
        let after = self.time_s.partition_point(|&instant| instant <= time_s);
        let before = after.checked_sub(1)?;
        let (from_s, from) = (self.time_s[before], channel.samples[before]);
        if time_s == from_s {
            return Some(from);
        }
        let (&until_s, &until) = (self.time_s.get(after)?, channel.samples.get(after)?);
        Some(from + (until - from) * ((time_s - from_s) / (until_s - from_s)))
    }

    /// Value of a channel at an instant, by a cubic through the four samples about it; as recorded at a sample. `None`
    /// outside the recording.
    pub fn smooth_value_at(&self, channel: &Channel, time_s: f64) -> Option<f64> {
        let after = self.time_s.partition_point(|&instant| instant <= time_s);
        let before = after.checked_sub(1)?;
        if time_s == self.time_s[before] {
            return Some(channel.samples[before]);
        }
        let apart = CLOSE * (self.time_s.get(after)? - self.time_s[before]);
        let earlier = self.spaced((0..before).rev(), before, apart);
        let later = self.spaced(after + 1..self.len(), after, apart);
        // one on either side, or two where the other side has none
        let [from_earlier, from_later] =
            [&later, &earlier].map(|other| if other.is_empty() { 2 } else { 1 });
        let earlier = earlier.into_iter().take(from_earlier).rev();
        let later = later.into_iter().take(from_later);
        let near: Vec<usize> = earlier.chain([before, after]).chain(later).collect();
        let lagrange = near.iter().map(|&i| {
            let others = near.iter().filter(|&&j| j != i);
            let weight: f64 = others
                .map(|&j| (time_s - self.time_s[j]) / (self.time_s[i] - self.time_s[j]))
                .product();
            weight * channel.samples[i]
        });
        Some(lagrange.sum())
    }

    /// Up to two of some samples, each so far from the one before, beginning at one that is not among them.
    fn spaced(
        &self,
        samples: impl Iterator<Item = usize>,
        mut from: usize,
        apart: f64,
    ) -> Vec<usize> {
        let is_far = |&at: &usize| {
            let is_far = (self.time_s[at] - self.time_s[from]).abs() >= apart;
            if is_far {
                from = at;
            }
            is_far
        };
        samples.filter(is_far).take(2).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swing() -> Recording {
        let mut recording =
            Recording::with_capacity([("shoulder.angle", "rad"), ("tip.position.x", "m")], 4);
        recording.push(0.0, &[0.5, 1.0]);
        recording.push(0.1, &[-0.5, 3.0]);
        recording.push(0.3, &[0.7, 3.0]);
        recording.push(0.4, &[0.2, 2.0]);
        recording
    }

    /// Closed form: the samples are known.
    #[test]
    fn extremes_name_value_and_earliest_instant() {
        let extremes = swing().extremes();
        assert_eq!(extremes[0].name, "shoulder.angle");
        assert_eq!(extremes[0].unit, "rad");
        assert_eq!(
            extremes[0].last,
            Sample {
                value: 0.2,
                time_s: 0.4
            }
        );
        assert_eq!(
            extremes[0].minimum,
            Sample {
                value: -0.5,
                time_s: 0.1
            }
        );
        assert_eq!(
            extremes[0].maximum,
            Sample {
                value: 0.7,
                time_s: 0.3
            }
        );
        assert_eq!(
            extremes[1].maximum,
            Sample {
                value: 3.0,
                time_s: 0.1
            }
        );
    }

    #[test]
    fn extremes_of_nothing_are_none() {
        assert_eq!(Recording::with_capacity([("a", "1")], 0).extremes(), []);
    }

    #[test]
    fn a_nan_is_an_extreme() {
        let mut recording = Recording::with_capacity([("a", "1")], 3);
        for (time_s, value) in [(0.0, 1.0), (1.0, f64::NAN), (2.0, f64::INFINITY)] {
            recording.push(time_s, &[value]);
        }
        let maximum = recording.extremes()[0].maximum;
        assert!(maximum.value.is_nan());
        assert_eq!(maximum.time_s, 1.0);
    }

    /// Closed form: a straight line between two samples.
    #[test]
    fn value_is_exact_at_samples_and_linear_between() {
        let recording = swing();
        let angle = recording.channel("shoulder.angle").unwrap();
        for (&time_s, &value) in recording.time_s.iter().zip(&angle.samples) {
            assert_eq!(recording.value_at(angle, time_s), Some(value));
        }
        let x = recording.channel("tip.position.x").unwrap();
        assert_eq!(recording.value_at(x, 0.05), Some(2.0));
        for outside_s in [-1e-9, 0.4 + 1e-9, f64::NAN] {
            assert_eq!(recording.value_at(x, outside_s), None);
        }
        assert!(recording.channel("elbow.angle").is_none());
    }

    /// Closed form: a cubic is met between samples of any spacing, at both ends, and where two samples differ by rounding.
    #[test]
    fn cubics_are_met_between_samples() {
        // rounding of a few numbers near one
        const ROUNDING: f64 = 1e-14;
        let cubic = |t: f64| 1.0 - t + 2.0 * t * t - t * t * t;
        let noise = |i: usize| {
            if i.is_multiple_of(2) {
                f64::EPSILON
            } else {
                0.0
            }
        };
        for instants in [
            &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5][..],
            &[0.0, 0.05, 0.2, 0.21, 0.5],
            &[0.3, 0.1 + 0.2, 0.4, 0.5, 0.6],
            &[0.0, 0.1, 0.2, 0.3, 0.1 + 0.2],
        ] {
            let mut recording = Recording::with_capacity([("a", "1")], instants.len());
            for (i, &time_s) in instants.iter().enumerate() {
                recording.push(time_s, &[cubic(time_s) + noise(i)]);
            }
            let channel = &recording.channels[0];
            for pair in instants.windows(2) {
                let time_s = 0.5 * (pair[0] + pair[1]);
                let found = recording.smooth_value_at(channel, time_s).unwrap();
                let error = found - cubic(time_s);
                assert!(
                    error.abs() < ROUNDING,
                    "{instants:?} at {time_s}: {error:e}"
                );
            }
        }
    }

    #[test]
    fn rows_within_the_capacity_do_not_move_the_samples() {
        let mut recording = Recording::with_capacity([("a", "1")], 100);
        let place = recording.channels[0].samples.as_ptr();
        for i in 0..100 {
            recording.push(f64::from(i), &[0.0]);
        }
        assert_eq!(recording.len(), 100);
        assert_eq!(recording.channels[0].samples.as_ptr(), place);
    }

    #[test]
    #[should_panic(expected = "instants increase")]
    fn time_does_not_stand_still() {
        let mut recording = Recording::with_capacity([("a", "1")], 2);
        recording.push(1.0, &[0.0]);
        recording.push(1.0, &[0.0]);
    }

    #[test]
    fn json_says_final() {
        let json = serde_json::to_value(&swing().extremes()[0]).unwrap();
        assert_eq!(json["final"]["value"], 0.2);
        assert_eq!(json["minimum"]["time_s"], 0.1);
    }
}
