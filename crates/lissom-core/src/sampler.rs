//! Rows of a recording: the signals of a mechanism, its energy and its momentum.

use std::collections::BTreeSet;

use crate::audit::Balance;
use crate::dynamics::Dynamics;
use crate::recording::Recording;
use crate::signal::{Kind, Signal, Stage};

/// Reads rows of channel values off evaluated equations.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// Which of the possible channels are kept.
    kept: Vec<usize>,
    row: Vec<f64>,
    kept_row: Vec<f64>,
}

/// The signals that every marker has.
pub fn marker_signals(marker: &str) -> impl Iterator<Item = Signal> {
    let along = [
        ("position", "m", Stage::Position),
        ("velocity", "m/s", Stage::Velocity),
        ("deflection", "m", Stage::Position),
    ];
    let along = along
        .into_iter()
        .flat_map(|(what, unit, stage)| ["x", "y", "z"].map(|axis| (what, axis, unit, stage)));
    let turned = ["w", "x", "y", "z"].map(|part| ("quaternion", part, "1", Stage::Position));
    along.chain(turned).map(move |(what, axis, unit, stage)| {
        Signal::new(format!("{marker}.{what}.{axis}"), unit, Kind::Output, stage)
    })
}

/// Everything that can be recorded.
fn all_signals(dynamics: &dyn Dynamics) -> Vec<Signal> {
    let mut signals = dynamics.signals();
    for part in [
        "kinetic", "strain", "gravity", "total", "work", "lost", "drift",
    ] {
        let name = format!("energy.{part}");
        signals.push(Signal::new(name, "J", Kind::Audit, Stage::Velocity));
    }
    for (what, unit) in [("linear", "kg m/s"), ("angular", "kg m^2/s")] {
        for axis in ["x", "y", "z"] {
            let name = format!("momentum.{what}.{axis}");
            signals.push(Signal::new(name, unit, Kind::Audit, Stage::Velocity));
        }
    }
    make_unique(&mut signals);
    signals
}

/// Two inputs on one joint would share a name: all but the first are numbered.
fn make_unique(signals: &mut [Signal]) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for signal in signals {
        let mut count = 1;
        while taken.contains(&signal.name) {
            count += 1;
            let base = signal
                .name
                .trim_end_matches(|c: char| c.is_ascii_digit() || c == '#');
            signal.name = format!("{base}#{count}");
        }
        taken.insert(signal.name.clone());
    }
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

impl Sampler {
    /// Channels whose names begin with one of `prefixes`, or all.
    pub fn new(dynamics: &dyn Dynamics, prefixes: Option<&[String]>) -> (Self, Vec<Signal>) {
        let signals = all_signals(dynamics);
        let kept: Vec<usize> = (0..signals.len())
            .filter(|&i| {
                prefixes
                    .is_none_or(|prefixes| prefixes.iter().any(|p| signals[i].name.starts_with(p)))
            })
            .collect();
        let recorded = kept.iter().map(|&i| signals[i].clone()).collect();
        let sampler = Self {
            row: Vec::with_capacity(signals.len()),
            kept_row: vec![0.0; kept.len()],
            kept,
        };
        (sampler, recorded)
    }

    /// Values of the kept signals in the evaluated state of which nothing is known but itself.
    pub fn values(&mut self, dynamics: &mut dyn Dynamics) -> &[f64] {
        self.row(dynamics, 0.0, 0.0, |total| total).0
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
        let row = &mut self.row;
        row.clear();
        dynamics.read(row);
        let total = stored.kinetic + stored.strain + stored.gravity;
        let balance = Balance {
            stored: stored.kinetic + stored.strain,
            drift: total - initial_energy(total) - work + dissipated,
            total,
            momentum: stored.momentum,
        };
        row.extend_from_slice(&[
            stored.kinetic,
            stored.strain,
            stored.gravity,
            total,
            work,
            dissipated,
            balance.drift,
        ]);
        row.extend_from_slice(&stored.momentum.force.0);
        row.extend_from_slice(&stored.momentum.moment.0);
        for (kept, &i) in self.kept_row.iter_mut().zip(&self.kept) {
            *kept = row[i];
        }
        (&self.kept_row, balance)
    }
}
