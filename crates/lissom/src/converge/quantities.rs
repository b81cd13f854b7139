//! [`Measure`]: what a study of convergence looks at, and how far two recordings are apart in it.

use lissom_core::{Quantity, Recording, Signal, Signals};
use serde::Serialize;

/// Whether two signals are components of one vector. Energies, which belong to the mechanism all, are none.
fn is_one_vector(one: &Signal, other: &Signal) -> bool {
    let of = |signal: &Signal| (signal.source, signal.quantity, signal.stage, signal.unit);
    of(one) == of(other) && one.quantity != Quantity::Energy
}

/// What the names of components begin with, for example `hand.position`; a name by itself.
fn common_beginning(names: &[String]) -> String {
    let Some((first, others)) = names.split_first().filter(|(_, others)| !others.is_empty()) else {
        return names.concat();
    };
    let common = |other: &String| {
        let mut pairs = first.char_indices().zip(other.chars());
        let differs = pairs.find(|((_, a), b)| a != b);
        differs.map_or(first.len().min(other.len()), |((at, _), _)| at)
    };
    let shared = others.iter().map(common).min().unwrap_or(0);
    first[..shared].trim_end_matches('.').to_owned()
}

/// One channel, or the components of a vector together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Measure {
    /// Name of the channel, or of the vector: `hand.position`.
    pub quantity: String,
    /// Unit.
    pub unit: String,
    /// The channels it consists of.
    pub channels: Vec<String>,
}

impl Measure {
    /// The channels of a recording, components of one vector by the signals of the mechanism together.
    pub(super) fn of(
        recording: &Recording,
        signals: Option<&Signals>,
        channels: &[String],
    ) -> Vec<Self> {
        let mut measures: Vec<(Option<&Signal>, Self)> = Vec::new();
        for name in channels {
            let Some(channel) = recording.channel(name) else {
                continue;
            };
            let signal = signals.and_then(|signals| Some(&signals[signals.find(name)?]));
            let known = signal.and_then(|signal| {
                let mut known = measures.iter_mut();
                known.find(|(first, _)| first.is_some_and(|first| is_one_vector(first, signal)))
            });
            match known {
                Some((_, measure)) => measure.channels.push(name.clone()),
                None => measures.push((
                    signal,
                    Self {
                        quantity: name.clone(),
                        unit: channel.unit.clone(),
                        channels: vec![name.clone()],
                    },
                )),
            }
        }
        let named = |(_, measure): (Option<&Signal>, Self)| Self {
            quantity: common_beginning(&measure.channels),
            ..measure
        };
        measures.into_iter().map(named).collect()
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

    /// By hand: the distance of vectors is that of points.
    #[test]
    fn vectors_are_measured_as_such() {
        let names = ["hand.position.x", "hand.position.y", "elbow.angle"];
        let mut one = Recording::with_capacity(names.into_iter().zip(["m", "m", "rad"]), 2);
        let mut other = one.clone();
        one.push(0.0, &[0.0, 0.0, 1.0]);
        other.push(0.0, &[3.0, 4.0, 1.5]);
        one.push(1.0, &[1.0; 3]);
        other.push(1.0, &[1.0; 3]);
        let measure = |channels: &[&str]| Measure {
            quantity: String::new(),
            unit: String::new(),
            channels: channels.iter().map(|&name| name.to_owned()).collect(),
        };
        let position = measure(&names[..2]);
        assert_eq!(position.distance(&one, &other), Some(5.0));
        assert_eq!(measure(&names[2..]).distance(&one, &other), Some(0.5));
        assert_eq!(position.distance(&one, &Recording::default()), None);
    }
}
