//! The estimates behind the advice of `lissom compare` do not hang on how finely they are made.

use lissom::compare::{Resolution, SAFETY, dense_instants, predict_deviation};
use lissom::spec::FidelityPreset;
use lissom::{Ending, Recording};
use lissom_io::compare::{Choice, with_fidelity};
use lissom_io::load::Loaded;

use super::loaded;

/// What an error is stated from: two models, and the run of each with the samples of a comparison.
struct Pair {
    reference: (Loaded, Recording),
    other: (Loaded, Recording),
    channels: Vec<String>,
}

fn pair(model: &str, changes: &[&str], other: FidelityPreset, channels: &[&str]) -> Pair {
    let loaded = loaded(model, changes);
    let of = |preset: FidelityPreset| {
        let choice = Choice { preset, tip: None };
        let loaded = with_fidelity(&loaded, choice).expect("a sound fidelity");
        let instants = dense_instants(&loaded.mechanism);
        let done = loaded.mechanism.run(&instants);
        assert_eq!(done.ending, Ending::Completed);
        (loaded, done.recording)
    };
    Pair {
        reference: of(FidelityPreset::Default),
        other: of(other),
        channels: channels.iter().map(|&name| name.to_owned()).collect(),
    }
}

/// Every `nth` sample.
fn thinned(recording: &Recording, nth: usize) -> Recording {
    let mut thin = recording.clone();
    thin.time_s = thin.time_s.iter().copied().step_by(nth).collect();
    for channel in &mut thin.channels {
        channel.samples = channel.samples.iter().copied().step_by(nth).collect();
    }
    thin
}

impl Pair {
    /// Stated over measured error, the largest over the channels each, with steps and windows so many times the usual
    /// length and every `nth` sample.
    fn ratio(&self, steps: f64, windows: f64, nth: usize) -> f64 {
        let (model, other) = (&self.reference.0.mechanism, &self.other.0.mechanism);
        let recording = thinned(&self.reference.1, nth);
        let usual = Resolution::of(model);
        let resolution = Resolution {
            step_s: steps * usual.step_s,
            window_s: windows * usual.window_s,
        };
        let deviations = predict_deviation(model, other, &recording, &self.channels, resolution)
            .expect("the same coordinates");
        let largest = |samples: &mut dyn Iterator<Item = f64>| {
            samples.fold(0.0, |most: f64, x| most.max(x.abs()))
        };
        let (mut estimated, mut measured) = (0.0_f64, 0.0_f64);
        for name in &self.channels {
            let of = |recording: &Recording| {
                let channel = recording.channel(name).expect("a recorded channel");
                channel.samples.clone()
            };
            estimated = estimated.max(largest(&mut of(&deviations).into_iter()));
            let (mine, theirs) = (of(&self.reference.1), of(&self.other.1));
            let apart = mine.iter().zip(&theirs).map(|(a, b)| a - b);
            measured = measured.max(largest(&mut apart.into_iter()));
        }
        assert!(measured > 0.0);
        SAFETY * estimated / measured
    }

    /// A stated error is no less than the measured one and not so much more that it is of no use, also with twice and
    /// half the steps, twice and half the window, and half the samples.
    #[track_caller]
    fn assert_robust(&self) {
        for (steps, windows, nth) in [
            (1.0, 1.0, 1),
            (0.5, 1.0, 1),
            (2.0, 1.0, 1),
            (1.0, 0.5, 1),
            (1.0, 2.0, 1),
            (1.0, 1.0, 2),
        ] {
            let ratio = self.ratio(steps, windows, nth);
            assert!(
                (1.0..=10.0).contains(&ratio),
                "{ratio} with {steps}, {windows}, {nth}"
            );
        }
    }
}

const TIP: [&str; 2] = ["tip.position.x", "tip.position.y"];

#[test]
fn a_beam_that_spins_up_fast() {
    pair("spin-up-beam", &[], FidelityPreset::Ruthless, &TIP).assert_robust();
}

#[test]
fn a_beam_that_spins_up_slowly() {
    let rate = "motion.0.cycloidal_rate.final_rate_rad_per_s=0.6";
    pair("spin-up-beam", &[rate], FidelityPreset::Inconsistent, &TIP).assert_robust();
}

/// The first fifth of I-s.
#[test]
fn the_shuttle_arm() {
    let hand = ["hand.position.x", "hand.position.y", "hand.position.z"];
    let short = ["simulation.duration_s=12"];
    pair(
        "shuttle-arm-slow",
        &short,
        FidelityPreset::Inconsistent,
        &hand,
    )
    .assert_robust();
}

/// Vibrations that many samples are needed for: errors of some hundredths of a millimetre beside a motion of metres.
#[test]
fn a_free_floating_arm() {
    let loaded = loaded("space-arm", &[]);
    let markers = loaded.spec.marker.iter();
    let hand: Vec<String> = markers
        .flat_map(|marker| ["x", "y", "z"].map(|axis| format!("{}.position.{axis}", marker.name)))
        .collect();
    let names: Vec<&str> = hand.iter().map(String::as_str).collect();
    for fidelity in [
        FidelityPreset::Ruthless,
        FidelityPreset::Inconsistent,
        FidelityPreset::Consistent,
    ] {
        let ratio = pair("space-arm", &[], fidelity, &names).ratio(1.0, 1.0, 1);
        assert!((1.0..=10.0).contains(&ratio), "{fidelity:?}: {ratio}");
    }
}
