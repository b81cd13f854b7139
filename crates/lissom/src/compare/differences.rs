//! Differences of two recordings, channel by channel.

use lissom_core::Recording;
use lissom_core::recording::Sample;
use serde::Serialize;

/// How far one channel of a run is from that of the reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Name of the channel.
    pub channel: String,
    /// Its unit.
    pub unit: String,
    /// The difference of largest magnitude, with its sign.
    pub largest: Sample,
    /// The last one.
    #[serde(rename = "final")]
    pub last: Sample,
}

/// Largest differences by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Worst {
    /// Over all channels in metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_m: Option<f64>,
    /// Over all channels in radians.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angle_rad: Option<f64>,
}

/// Differences of `run` from `reference` in the named channels, at the instants that both have.
pub(super) fn between(reference: &Recording, run: &Recording, names: &[String]) -> Vec<Difference> {
    let difference = |name: &String| {
        let (kept, other) = (reference.channel(name)?, run.channel(name)?);
        let mut known = reference.time_s.iter().zip(&kept.samples).peekable();
        let of_run = run.time_s.iter().zip(&other.samples);
        let both = of_run.filter_map(|(&time_s, value)| {
            while known.next_if(|(at, _)| **at < time_s).is_some() {}
            let (_, kept) = known.next_if(|(at, _)| **at <= time_s)?;
            Some((time_s, value - kept))
        });
        of_samples(name, &kept.unit, both)
    };
    names.iter().filter_map(difference).collect()
}

fn of_samples(
    name: &str,
    unit: &str,
    samples: impl Iterator<Item = (f64, f64)>,
) -> Option<Difference> {
    let mut samples = samples.map(|(time_s, value)| Sample { value, time_s });
    let first = samples.next()?;
    let (mut largest, mut last) = (first, first);
    for sample in samples {
        // in the total order a NaN is largest and is not passed over
        if sample.value.abs().total_cmp(&largest.value.abs()).is_gt() {
            largest = sample;
        }
        last = sample;
    }
    Some(Difference {
        channel: name.to_owned(),
        unit: unit.to_owned(),
        largest,
        last,
    })
}

/// The largest magnitudes among differences.
pub fn worst(differences: &[Difference]) -> Worst {
    let most = |unit: &str| {
        let magnitudes = differences.iter().filter(|d| d.unit == unit);
        magnitudes
            .map(|d| d.largest.value.abs())
            .max_by(f64::total_cmp)
    };
    Worst {
        position_m: most("m"),
        angle_rad: most("rad"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand.
    #[test]
    fn the_largest_keeps_its_sign_and_its_instant() {
        let mut reference = Recording::with_capacity([("a", "m"), ("b", "rad")], 3);
        let mut run = reference.clone();
        for (time_s, a) in [(0.0, 0.0), (1.0, -2.0), (2.0, 1.0)] {
            reference.push(time_s, &[1.0, 0.0]);
            run.push(time_s, &[1.0 + a, 0.0]);
        }
        let found = between(&reference, &run, &["a".to_owned(), "c".to_owned()]);
        assert_eq!(found.len(), 1);
        // a run with more instants, as of a mechanism that vibrates, is compared where both are
        let mut dense = Recording::with_capacity([("a", "m"), ("b", "rad")], 5);
        for (time_s, a) in [(0.0, 0.0), (0.5, 7.0), (1.0, -2.0), (1.5, 7.0), (2.0, 1.0)] {
            dense.push(time_s, &[1.0 + a, 0.0]);
        }
        assert_eq!(between(&reference, &dense, &["a".to_owned()]), found);
        let backwards = between(&dense, &reference, &["a".to_owned()]);
        assert_eq!(
            (backwards[0].largest.value, backwards[0].largest.time_s),
            (2.0, 1.0)
        );
        assert_eq!(
            (found[0].largest.value, found[0].largest.time_s),
            (-2.0, 1.0)
        );
        assert_eq!(found[0].last.value, 1.0);
        let Worst {
            position_m,
            angle_rad,
        } = worst(&found);
        assert_eq!((position_m, angle_rad), (Some(2.0), None));
    }
}
