//! [`TooLarge`]: recordings, responses and maps that would not fit into memory, or into their files, refused before the work.

use lissom::spec::OutputFormat;
use lissom::{Mechanism, ModelSpec, Signals};

use crate::npz;

/// Largest recording that is kept in memory, in bytes.
const MOST_BYTES: f64 = 4.0 * GIB;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// A recording that would not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "{samples} samples of {channels} channels would take {:.0} GiB; lengthen output.sample_period_s, or name the channels to \
     keep, or fewer, in output.channels",
    bytes / GIB
)]
pub struct TooLarge {
    samples: f64,
    channels: usize,
    bytes: f64,
}

/// A recording that an NPZ file cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "{samples} samples of {channels} channels are more than a file in npz holds, which are 65531 channels and 4 GiB; name the \
     channels to keep, or fewer, in output.channels, or leave \"npz\" out of output.formats"
)]
pub struct TooLargeForNpz {
    samples: f64,
    channels: usize,
}

/// Frequency responses that would not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "{count} frequencies of {pairs} pairs of inputs and outputs would take {:.0} GiB; choose fewer with --inputs, --outputs and --count",
    bytes / GIB
)]
pub struct TooLargeResponse {
    pairs: usize,
    count: usize,
    bytes: f64,
}

/// States over a grid that would not fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "{places} places of {coordinates} coordinates would take {:.0} GiB; take fewer values",
    bytes / GIB
)]
pub struct TooLargeMap {
    places: usize,
    coordinates: usize,
    bytes: f64,
}

/// Refuses a map of so many places of a mechanism with so many coordinates.
///
/// # Errors
///
/// [`TooLargeMap`], with what to do about it.
pub fn refuse_large_map(places: usize, coordinates: usize) -> Result<(), TooLargeMap> {
    // position and velocity of every coordinate, and its six entries of the Jacobian
    let bytes = places as f64 * coordinates as f64 * 64.0;
    if bytes > MOST_BYTES {
        return Err(TooLargeMap {
            places,
            coordinates,
            bytes,
        });
    }
    Ok(())
}

/// Refuses the responses of some pairs of inputs and outputs at so many frequencies.
///
/// # Errors
///
/// [`TooLargeResponse`], with what to do about it.
pub fn refuse_large_response(pairs: usize, count: usize) -> Result<(), TooLargeResponse> {
    // a complex number is held twice: as it is computed, and pair by pair
    let bytes = pairs as f64 * count as f64 * 32.0;
    if bytes > MOST_BYTES {
        return Err(TooLargeResponse {
            pairs,
            count,
            bytes,
        });
    }
    Ok(())
}

/// Refuses a run of a mechanism over the time of `spec`, with the channels that begin with one of `channels`, all if absent.
///
/// # Errors
///
/// [`TooLarge`], with what to do about it.
pub fn refuse_too_large(
    mechanism: &Mechanism,
    spec: &ModelSpec,
    channels: Option<&[String]>,
) -> Result<(), TooLarge> {
    let (samples, channels) = (samples(spec), kept(mechanism, channels));
    // the instants are kept too, and the drift of every sample
    let bytes = samples * (channels + 2) as f64 * 8.0;
    if bytes > MOST_BYTES {
        return Err(TooLarge {
            samples,
            channels,
            bytes,
        });
    }
    Ok(())
}

/// Refuses a run whose recording, as `spec` asks for it, could not be written in the end.
///
/// # Errors
///
/// [`TooLargeForNpz`], with what to do about it.
pub fn refuse_unwritable(mechanism: &Mechanism, spec: &ModelSpec) -> Result<(), TooLargeForNpz> {
    if !spec.output.formats.contains(&OutputFormat::Npz) {
        return Ok(());
    }
    let samples = samples(spec);
    let channels = kept(mechanism, spec.output.channels.as_deref());
    if npz::holds(channels, samples) {
        Ok(())
    } else {
        Err(TooLargeForNpz { samples, channels })
    }
}

fn samples(spec: &ModelSpec) -> f64 {
    (spec.simulation.duration_s / spec.sample_period_s()).ceil() + 1.0
}

/// How many channels begin with one of `beginnings`; all if absent.
fn kept(mechanism: &Mechanism, beginnings: Option<&[String]>) -> usize {
    let Some(beginnings) = beginnings else {
        return mechanism.channel_count();
    };
    // a mechanism that cannot be placed says so when it runs
    let signals = mechanism.signals();
    let names = signals.iter().flat_map(Signals::iter);
    let is_kept = |name: &str| beginnings.iter().any(|kept| name.starts_with(kept));
    names.filter(|signal| is_kept(&signal.name)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 64 bytes per place and coordinate.
    #[test]
    fn maps_that_fill_the_memory_are_refused() {
        assert_eq!(refuse_large_map(100_000, 600), Ok(()));
        let refused = refuse_large_map(100_000, 2000).unwrap_err();
        assert!(refused.to_string().contains("12 GiB"), "{refused}");
    }

    /// By hand: 32 bytes per frequency and pair.
    #[test]
    fn responses_that_fill_the_memory_are_refused() {
        assert_eq!(refuse_large_response(1000, 100_000), Ok(()));
        let refused = refuse_large_response(1_000_000, 400).unwrap_err();
        let words = refused.to_string();
        assert!(
            words.contains("12 GiB") && words.contains("--count"),
            "{words}"
        );
    }
}
