//! [`Measure`]: what a study of convergence looks at, and how far two recordings are apart in it.

use lissom_core::Recording;
use serde::Serialize;

/// One channel, or the components of a vector together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// Name of the channel, or of the vector: `hand.position`.
    pub quantity: String,
    /// Unit.
    pub unit: String,
    /// The channels it consists of.
    pub channels: Vec<String>,
}

impl Measure {
    /// The channels of a recording, those that differ in `.x`, `.y` and `.z` together.
    pub(super) fn of(recording: &Recording, channels: &[String]) -> Vec<Self> {
        let mut measures: Vec<Self> = Vec::new();
        for name in channels {
            let Some(channel) = recording.channel(name) else {
                continue;
            };
            let stem = ["x", "y", "z"]
                .iter()
                .find_map(|axis| name.strip_suffix(axis)?.strip_suffix('.'));
            let quantity = stem.unwrap_or(name);
            let known = measures
                .iter_mut()
                .find(|m| m.quantity == quantity && m.unit == channel.unit);
            match known {
                Some(measure) => measure.channels.push(name.clone()),
                None => measures.push(Self {
                    quantity: quantity.to_owned(),
                    unit: channel.unit.clone(),
                    channels: vec![name.clone()],
                }),
            }
        }
        measures
    }

    /// Largest distance of two recordings at their samples; `None` if either lacks a channel.
    pub(super) fn distance(&self, one: &Recording, other: &Recording) -> Option<f64> {
        let pairs = self.channels.iter().map(|name| {
            let (one, other) = (one.channel(name)?, other.channel(name)?);
            Some((one.samples.as_slice(), other.samples.as_slice()))
        });
        let pairs = pairs.collect::<Option<Vec<_>>>()?;
        let squared = |k: usize| {
            let difference = |(one, other): &(&[f64], &[f64])| (one[k] - other[k]).powi(2);
            pairs.iter().map(difference).sum::<f64>()
        };
        let samples = one.len().min(other.len());
        let largest = (0..samples).map(squared).max_by(f64::total_cmp)?;
        Some(largest.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: components of a vector are one quantity, whose distance is that of points.
    #[test]
    fn vectors_are_measured_as_such() {
        let names = ["a.position.x", "a.position.y", "b.angle"];
        let units = ["m", "m", "rad"];
        let mut one = Recording::with_capacity(names.into_iter().zip(units), 2);
        let mut other = one.clone();
        one.push(0.0, &[0.0, 0.0, 1.0]);
        other.push(0.0, &[3.0, 4.0, 1.5]);
        one.push(1.0, &[1.0, 1.0, 1.0]);
        other.push(1.0, &[1.0, 1.0, 1.0]);
        let measures = Measure::of(&one, &names.map(str::to_owned));
        let found: Vec<_> = measures.iter().map(|m| m.quantity.as_str()).collect();
        assert_eq!(found, ["a.position", "b.angle"]);
        assert_eq!(measures[0].distance(&one, &other), Some(5.0));
        assert_eq!(measures[1].distance(&one, &other), Some(0.5));
        assert_eq!(measures[0].distance(&one, &Recording::default()), None);
    }
}
