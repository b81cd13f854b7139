//! Rows of a recording: the channels of a formulation, its energy and its momentum.

use crate::simulate::audit::Balance;
use crate::simulate::formulation::Formulation;
use crate::simulate::recording::Recording;

/// Reads rows of channel values off evaluated equations.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    /// Which of the possible channels are kept.
    kept: Vec<usize>,
    row: Vec<f64>,
    kept_row: Vec<f64>,
}

/// Name and unit of the channels that every marker has.
pub(crate) fn marker_channels(marker: &str) -> impl Iterator<Item = (String, String)> {
    let along = [("position", "m"), ("velocity", "m/s"), ("deflection", "m")]
        .into_iter()
        .flat_map(|(what, unit)| ["x", "y", "z"].map(|axis| (what, axis, unit)));
    let turned = ["w", "x", "y", "z"].map(|axis| ("quaternion", axis, "1"));
    along
        .chain(turned)
        .map(move |(what, axis, unit)| (format!("{marker}.{what}.{axis}"), unit.to_owned()))
}

/// Name and unit of every channel that can be recorded.
fn all_channels(formulation: &impl Formulation) -> Vec<(String, String)> {
    let mut channels = formulation.channels();
    for part in [
        "kinetic", "strain", "gravity", "total", "work", "lost", "drift",
    ] {
        channels.push((format!("energy.{part}"), "J".to_owned()));
    }
    for (what, unit) in [("linear", "kg m/s"), ("angular", "kg m^2/s")] {
        for axis in ["x", "y", "z"] {
            channels.push((format!("momentum.{what}.{axis}"), unit.to_owned()));
        }
    }
    unique_names(&mut channels);
    channels
}

/// Two inputs on one joint would share a name: number all but the first.
fn unique_names(channels: &mut [(String, String)]) {
    for i in 1..channels.len() {
        let mut count = 1;
        while channels[..i].iter().any(|(name, _)| *name == channels[i].0) {
            count += 1;
            let base = channels[i]
                .0
                .trim_end_matches(|c: char| c.is_ascii_digit() || c == '#');
            channels[i].0 = format!("{base}#{count}");
        }
    }
}

/// Every channel at one state.
pub(crate) fn snapshot(
    formulation: &mut impl Formulation,
    time: f64,
    positions: &[f64],
    velocities: &[f64],
) -> Recording {
    let (mut sampler, names) = Sampler::new(formulation, None);
    formulation.evaluate(time, positions, velocities);
    let mut recording = Recording::with_capacity(names, 1);
    let (row, _) = sampler.row(formulation, 0.0, 0.0, None);
    recording.push(time, row);
    recording
}

impl Sampler {
    /// Channels whose names begin with one of `prefixes`, or all.
    pub(super) fn new(
        formulation: &impl Formulation,
        prefixes: Option<&[String]>,
    ) -> (Self, Vec<(String, String)>) {
        let channels = all_channels(formulation);
        let kept: Vec<usize> = (0..channels.len())
            .filter(|&i| {
                prefixes
                    .is_none_or(|prefixes| prefixes.iter().any(|p| channels[i].0.starts_with(p)))
            })
            .collect();
        let names = kept.iter().map(|&i| channels[i].clone()).collect();
        let sampler = Self {
            row: Vec::with_capacity(channels.len()),
            kept_row: vec![0.0; kept.len()],
            kept,
        };
        (sampler, names)
    }

    /// The row of the evaluated state, and its energy balance.
    pub(super) fn row(
        &mut self,
        formulation: &mut impl Formulation,
        work: f64,
        lost: f64,
        initial_energy: Option<f64>,
    ) -> (&[f64], Balance) {
        let held = formulation.holdings();
        let row = &mut self.row;
        row.clear();
        formulation.read(row);
        let total = held.kinetic + held.strain + held.gravity;
        let balance = Balance {
            stored: held.kinetic + held.strain,
            drift: total - initial_energy.unwrap_or(total) - work + lost,
            total,
            momentum: held.momentum,
        };
        row.extend_from_slice(&[
            held.kinetic,
            held.strain,
            held.gravity,
            total,
            work,
            lost,
            balance.drift,
        ]);
        row.extend_from_slice(&held.momentum.force.0);
        row.extend_from_slice(&held.momentum.moment.0);
        for (kept, &i) in self.kept_row.iter_mut().zip(&self.kept) {
            *kept = row[i];
        }
        (&self.kept_row, balance)
    }
}
