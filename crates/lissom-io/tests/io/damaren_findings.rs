//! What Damaren & Sharf 1995 find on the spin-up beam and on the Shuttle arm's fast manoeuvre, on the shipped models:
//! qualitative findings of a paper whose curves are lost, and where ours contradict them, what ours are.
//! `validation/damaren_1995/findings.md` lists them all.

use std::sync::LazyLock;

use lissom::{Ending, Recording, Run, sample_instants};

use super::loaded;

/// Angles that a reader tells apart in a figure whose axis spans about 3 rad: a sixtieth of it.
const READING_RAD: f64 = 0.05;

/// The run of a shipped model with changes, which reaches its end.
fn completed(model: &str, changes: &[&str]) -> Run {
    let loaded = loaded(model, changes);
    let samples = sample_instants(&loaded.spec, &[]);
    let done = loaded.mechanism.run(&samples);
    assert_eq!(done.ending, Ending::Completed, "{model} {changes:?}");
    done
}

fn samples<'a>(recording: &'a Recording, name: &str) -> &'a [f64] {
    &recording.channel(name).expect("a recorded channel").samples
}

fn least(recording: &Recording, name: &str) -> f64 {
    let values = samples(recording, name).iter().copied();
    values.fold(f64::INFINITY, f64::min)
}

fn largest(recording: &Recording, name: &str) -> f64 {
    let values = samples(recording, name).iter();
    values.fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// Largest difference of a joint angle between two runs up to an instant.
fn apart(a: &Run, b: &Run, until_s: f64) -> f64 {
    let joints = [
        "shoulder_yaw",
        "shoulder_pitch",
        "elbow_pitch",
        "wrist_pitch_joint",
        "wrist_yaw_joint",
        "wrist_roll_joint",
    ];
    let times = &a.recording.time_s;
    assert_eq!(*times, b.recording.time_s);
    let until = times.partition_point(|&t| t <= until_s);
    let mut most: f64 = 0.0;
    for joint in joints {
        let name = format!("{joint}.angle");
        let both = samples(&a.recording, &name)
            .iter()
            .zip(samples(&b.recording, &name));
        most = both
            .take(until)
            .fold(most, |most, (x, y)| most.max((x - y).abs()));
    }
    most
}

/// Section 4.1: "the inconsistent model levels off prematurely … an extension of the plot reveals a steady-state
/// bending displacement of 9 m". And: "one could not have predicted such a discrepancy from the energy drift".
#[test]
fn the_inconsistent_beam_levels_off_and_bends_to_nine_metres() {
    let run = completed(
        "spin-up-pinned-beam-element",
        &["fidelity.preset=inconsistent", "simulation.duration_s=60"],
    );
    let recording = &run.recording;
    let late = recording.time_s.partition_point(|&t| t < 20.0);
    for &rate in &samples(recording, "pin.angle.rate")[late..] {
        // "prematurely": far below the 6 rad/s that the torque would give a rigid beam
        assert!((3.5..4.0).contains(&rate), "{rate}");
    }
    for &lag in &samples(recording, "tip.deflection.y")[late..] {
        // the paper says 9 m to one digit
        assert!((8.5..9.5).contains(&-lag), "{lag}");
    }
    assert!(run.audit.energy.max_drift_percent < 1e-6);
    // the audit says that this is no longer bending
    assert!(run.audit.bodies.iter().any(|body| !body.small));
}

/// Section 4.1: "when the CL model is used, the beam does not foreshorten", "the exact modeling predicts an
/// intermediate compression of the beam"; in modes and in one element. That EE bends less than RL and CL is membrane
/// locking, which the locking table of the validation shows.
#[test]
fn only_the_exact_beam_foreshortens() {
    // of the strain that comes with a tip drawn back by a millimetre, this is rounding
    const NONE_M: f64 = 1e-9;
    for model in ["spin-up-pinned-beam", "spin-up-pinned-beam-element"] {
        let tip = |fidelity: &str| {
            let run = completed(model, &[&format!("fidelity.preset={fidelity}")]);
            let lag = least(&run.recording, "tip.deflection.y");
            (least(&run.recording, "tip.deflection.x"), lag)
        };
        let (consistent, consistent_lag) = tip("consistent");
        let (ruthless, ruthless_lag) = tip("ruthless");
        let (exact, exact_lag) = tip("exact");
        assert!(consistent > -NONE_M, "{model}: {consistent}");
        assert!(ruthless > -NONE_M, "{model}: {ruthless}");
        // drawn back by no less than a straight line to the tip: v²/(2L)
        assert!(
            exact < -0.5 * exact_lag * exact_lag / 10.0 * 0.5,
            "{model}: {exact} with {exact_lag}"
        );
        assert!(exact_lag > 0.5 * consistent_lag && exact_lag > 0.5 * ruthless_lag);
    }
}

const I_F_END_S: f64 = 20.0;

/// I(1) and EEE in I-f, which two tests look at.
static LINEAR: LazyLock<Run> = LazyLock::new(|| fast("inconsistent", "linear"));
static STIFF: LazyLock<Run> = LazyLock::new(|| fast("exact", "exact"));

fn fast(preset: &str, tip: &str) -> Run {
    let preset = format!("fidelity.preset={preset}");
    let tip = format!("fidelity.tip={tip}");
    completed("shuttle-arm", &[&preset, &tip])
}

/// Section 4.2 with Figs 4 to 6: the exact and the inconsistent model part although both keep their energy; only the
/// exact one foreshortens, and the inconsistent one bends more. (It is right about it: the default fidelity, which
/// shortens without locking, bends as much and draws back by more.) The tips break down into two groups with the
/// inconsistent model, and hardly matter with the exact one. The groups are {exact, 1-2-3} and {linear, 3-2-1}; the
/// paper has {exact, 3-2-1} and {linear, 1-2-3}, the two sequences exchanged.
#[test]
fn tips_and_stiffening_in_the_fast_manoeuvre() {
    let linear: &Run = &LINEAR;
    let [sequence_321, sequence_123, exact] =
        ["euler_321", "euler_123", "exact"].map(|tip| fast("inconsistent", tip));
    let inside = [(linear, &sequence_321), (&exact, &sequence_123)]
        .map(|(a, b)| apart(a, b, I_F_END_S))
        .into_iter()
        .fold(0.0, f64::max);
    let pairs = [
        (linear, &exact),
        (linear, &sequence_123),
        (&sequence_321, &exact),
        (&sequence_321, &sequence_123),
    ];
    let between = pairs.map(|(a, b)| apart(a, b, I_F_END_S));
    // distinct groups: what is inside one is a small part of what is between them
    for distance in between {
        assert!(3.0 * inside < distance, "{inside} {distance}");
    }

    let stiff: &Run = &STIFF;
    let [stiff_linear, stiff_123] = ["linear", "euler_123"].map(|tip| fast("exact", tip));
    for (a, b) in [
        (&stiff_linear, stiff),
        (&stiff_123, stiff),
        (&stiff_linear, &stiff_123),
    ] {
        let distance = apart(a, b, I_F_END_S);
        assert!(distance < READING_RAD, "{distance}");
    }
    // "discernible differences in the last 5 seconds"
    assert!(apart(&stiff_linear, stiff, I_F_END_S) > 2.0 * apart(&stiff_linear, stiff, 15.0));

    let parted = apart(&exact, stiff, I_F_END_S);
    assert!(parted > 2.0 * READING_RAD, "{parted}");
    for run in [&exact, stiff] {
        assert!(run.audit.energy.rms_drift_percent < 1e-6);
    }
    let unlocked = fast("default", "rotation_vector");
    for boom in ["upper_tip", "lower_tip"] {
        let along = format!("{boom}.deflection.x");
        let (soft_back, stiff_back) = (
            least(&exact.recording, &along),
            least(&stiff.recording, &along),
        );
        assert!(
            20.0 * soft_back.abs() < stiff_back.abs(),
            "{soft_back} {stiff_back}"
        );
        let free_back = least(&unlocked.recording, &along);
        assert!(free_back < 10.0 * stiff_back, "{free_back} {stiff_back}");
        for axis in ["y", "z"] {
            let across = format!("{boom}.deflection.{axis}");
            let bent = largest(&exact.recording, &across);
            assert!(bent > 2.0 * largest(&stiff.recording, &across));
            // two hundredths: the arm has moved a little differently until then
            let unlocked = largest(&unlocked.recording, &across);
            assert!((bent / unlocked - 1.0).abs() < 0.02, "{bent} {unlocked}");
        }
    }
}

/// Fig. 7: without torsion two elements per boom and three bending and two stretch modes are "in good agreement",
/// and have "a strong resemblance to the I(1) curves". Here they agree within reading accuracy for 15 s; in the last
/// five, in which the open-loop motion runs apart, by less than a tenth of a turn.
#[test]
fn elements_and_modes_without_torsion() {
    let with_basis = |basis: &str| {
        let booms = ["upper_boom", "lower_boom"];
        let changes = booms.map(|boom| format!("body.{boom}.beam.basis={basis}"));
        completed("shuttle-arm", &[&changes[0], &changes[1]])
    };
    let elements = with_basis("{ elements = { count = 2, stretch = true } }");
    let modes = with_basis("{ clamped_free = { bending_y = 3, bending_z = 3, stretch = 2 } }");
    let (early, whole) = (
        apart(&elements, &modes, 15.0),
        apart(&elements, &modes, I_F_END_S),
    );
    assert!(early < READING_RAD, "{early}");
    assert!(whole < 0.1 * std::f64::consts::TAU, "{whole}");

    for run in [&elements, &modes] {
        let (near, far) = (
            apart(run, &LINEAR, I_F_END_S),
            apart(run, &STIFF, I_F_END_S),
        );
        assert!(2.0 * near < far, "{near} {far}");
    }
}
