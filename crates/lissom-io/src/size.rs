//! [`TooLarge`]: recordings that would not fit into memory, refused before the run.

use lissom::{Mechanism, ModelSpec, Signals};

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
    let channels = match channels {
        None => mechanism.channel_count(),
        Some(beginnings) => {
            // a mechanism that cannot be placed says so when it runs
            let signals = mechanism.signals();
            let names = signals.iter().flat_map(Signals::iter);
            let is_kept = |name: &str| beginnings.iter().any(|kept| name.starts_with(kept));
            names.filter(|signal| is_kept(&signal.name)).count()
        }
    };
    let samples = (spec.simulation.duration_s / spec.sample_period_s()).ceil() + 1.0;
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
