//! Rows of a recording: the signals of a mechanism, its energy and its momentum.

use lissom_spec::nearest;

use crate::audit::Balance;
use crate::dynamics::Dynamics;
use crate::recording::Recording;
use crate::signal::{Signal, Signals, read_whole};
use crate::state::StateError;
use crate::study::Stepping;

/// Reads rows of channel values off evaluated equations.
#[derive(Clone, Debug)]
pub struct Sampler {
    signals: Signals,
    /// Which of the signals are kept, in ascending order.
    kept: Vec<usize>,
    row: Vec<f64>,
    kept_row: Vec<f64>,
}

/// Every channel at one state.
pub fn snapshot(
    dynamics: &mut dyn Dynamics,
    time: f64,
    positions: &[f64],
    velocities: &[f64],
) -> Recording {
    let (mut sampler, signals) = Sampler::new(dynamics, None);
    let names = signals.into_iter().map(|signal| (signal.name, signal.unit));
    dynamics.evaluate(time, positions, velocities);
    let mut recording = Recording::with_capacity(names, 1);
    let (row, _) = sampler.row(dynamics, 0.0, 0.0, |total| total);
    recording.push(time, row);
    recording
}

/// Signals that are read again and again, in the order that somebody asks for them.
#[derive(Clone, Debug)]
pub struct Selection {
    sampler: Sampler,
    /// Where each stands among the signals that are kept.
    places: Vec<usize>,
    values: Vec<f64>,
}

impl Selection {
    /// The signals of these names.
    ///
    /// # Errors
    /// When there is no signal of a name.
    pub fn new(dynamics: &dyn Dynamics, names: &[impl AsRef<str>]) -> Result<Self, StateError> {
        let signals = Signals::of(dynamics);
        let find = |name: &str| {
            let found = signals.find(name).map(|id| id.0);
            found.ok_or_else(|| {
                let names = signals.iter().map(|signal| signal.name.as_str());
                StateError::Unknown {
                    name: name.to_owned(),
                    nearest: nearest(name, names).map(str::to_owned),
                }
            })
        };
        let wanted = names.iter().map(|name| find(name.as_ref()));
        let wanted = wanted.collect::<Result<Vec<usize>, _>>()?;
        let mut kept = wanted.clone();
        kept.sort_unstable();
        kept.dedup();
        let place = |signal: &usize| kept.binary_search(signal).unwrap_or(0);
        Ok(Self {
            places: wanted.iter().map(place).collect(),
            values: vec![0.0; wanted.len()],
            sampler: Sampler {
                row: Vec::with_capacity(signals.len()),
                kept_row: vec![0.0; kept.len()],
                kept,
                signals,
            },
        })
    }

    /// Their values where an integration under way stands; `dynamics` are those that look at it.
    pub fn read(&mut self, dynamics: &mut dyn Dynamics, stepping: &Stepping) -> &[f64] {
        let ([positions, velocities], [work, dissipated]) = stepping.motion();
        dynamics.evaluate(stepping.time_s(), positions, velocities);
        let initial = |_| stepping.reference_j();
        let (row, _) = self.sampler.row(dynamics, work, dissipated, initial);
        for (value, &place) in self.values.iter_mut().zip(&self.places) {
            *value = row[place];
        }
        &self.values
    }
}

impl Sampler {
    /// Channels whose names begin with one of `prefixes`, or all.
    pub fn new(dynamics: &dyn Dynamics, prefixes: Option<&[String]>) -> (Self, Vec<Signal>) {
        let signals = Signals::of(dynamics);
        let wanted = |signal: &Signal| {
            prefixes.is_none_or(|prefixes| prefixes.iter().any(|p| signal.name.starts_with(p)))
        };
        let kept = signals.iter().enumerate();
        let (kept, recorded): (Vec<usize>, Vec<Signal>) = kept
            .filter(|(_, signal)| wanted(signal))
            .map(|(at, signal)| (at, signal.clone()))
            .unzip();
        let sampler = Self {
            row: Vec::with_capacity(signals.len()),
            kept_row: vec![0.0; kept.len()],
            kept,
            signals,
        };
        (sampler, recorded)
    }

    /// The row of the evaluated state, and its energy balance against the energy of the start, by the total now.
    pub(crate) fn row(
        &mut self,
        dynamics: &mut dyn Dynamics,
        work: f64,
        dissipated: f64,
        initial_energy: impl FnOnce(f64) -> f64,
    ) -> (&[f64], Balance) {
        let stored = dynamics.energy_and_momentum();
        let (row, kept) = (&mut self.row, &self.kept);
        self.signals
            .read(dynamics, |at| kept.binary_search(&at).is_ok(), row);
        let total = stored.total();
        let balance = Balance {
            stored: stored.kinetic + stored.strain,
            drift: total - initial_energy(total) - work + dissipated,
            total,
            momentum: stored.momentum,
        };
        read_whole(&stored, [work, dissipated, balance.drift], row);
        for (kept, &i) in self.kept_row.iter_mut().zip(&self.kept) {
            *kept = row[i];
        }
        (&self.kept_row, balance)
    }
}
