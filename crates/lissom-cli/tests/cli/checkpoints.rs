//! Long runs write what they have, change nothing by that, and can be continued from it.

use std::process::Stdio;
use std::time::Duration;

use lissom::spec::IntegratorSpec;
use lissom::{Ending, Flow, Override, Recording, Run, SimulateOptions, Watch, sample_instants};
use lissom_io::load::{self, Loaded};
use lissom_io::state::StateFile;
use lissom_io::{models, stored};

use crate::Folder;

/// Models of both formulations, with loops, controllers, supports and changing coordinates, under methods of every kind.
const RUNS: [(&str, &[&str], Repeats); 10] = [
    (
        "two-link-arm",
        &["simulation.duration_s=0.3"],
        Repeats::Bits,
    ),
    (
        "two-link-arm",
        &[
            "simulation.duration_s=0.3",
            "simulation.integrator={generalized_alpha={step_s=1e-3}}",
        ],
        Repeats::Bits,
    ),
    (
        "two-link-arm",
        &[
            "simulation.duration_s=0.2",
            "simulation.integrator={adams={}}",
        ],
        Repeats::Bits,
    ),
    (
        "two-link-arm",
        &[
            "simulation.duration_s=0.1",
            "simulation.integrator={radau={rtol=1e-6}}",
        ],
        Repeats::Bits,
    ),
    // changes from an explicit to an implicit method on the way
    (
        "shuttle-arm",
        &[
            "simulation.duration_s=2",
            "simulation.integrator={auto={rtol=1e-3,atol=1e-3}}",
        ],
        Repeats::Bits,
    ),
    ("four-bar", &["simulation.duration_s=0.5"], Repeats::Bits),
    (
        "four-bar",
        &[
            "simulation.duration_s=0.05",
            "formulation={nodal={elements_per_link=1}}",
        ],
        Repeats::Tolerance,
    ),
    (
        // the support passes a node at 0.36 s, behind the checkpoint that is gone on from
        "sliding-boom",
        &["simulation.duration_s=0.42"],
        Repeats::Tolerance,
    ),
    (
        "spatial-two-link",
        &["simulation.duration_s=0.2"],
        Repeats::Tolerance,
    ),
    (
        "spin-up-elements",
        &["simulation.duration_s=0.2"],
        Repeats::Tolerance,
    ),
];

/// How well a run that goes on repeats the rest.
#[derive(Clone, Copy)]
enum Repeats {
    /// To the last bit.
    Bits,
    /// Within the tolerance of the integrator, since nodes are placed by an iteration that begins elsewhere.
    Tolerance,
}

impl Repeats {
    /// The difference allowed, relative to what a channel reaches or to one unit.
    fn within(self, integrator: &IntegratorSpec) -> f64 {
        match (self, integrator) {
            (Self::Bits, _) => 0.0,
            (
                Self::Tolerance,
                IntegratorSpec::Auto(settings)
                | IntegratorSpec::Radau(settings)
                | IntegratorSpec::Dop853(settings),
            ) => settings.rtol,
            (Self::Tolerance, IntegratorSpec::GeneralizedAlpha(settings)) => settings.tolerance,
            _ => panic!("{integrator:?}"),
        }
    }
}

/// Takes a checkpoint every few steps, and keeps the one in the middle as a file would.
struct Keeper<'a> {
    loaded: &'a Loaded,
    steps: usize,
    kept: Vec<(StateFile, Recording)>,
}

impl Watch for Keeper<'_> {
    fn reached(&mut self, _time_s: f64) -> Flow {
        self.steps += 1;
        Flow::Continue
    }

    fn is_checkpoint_due(&mut self) -> bool {
        self.steps.is_multiple_of(7)
    }

    fn checkpoint(&mut self, so_far: &Run) {
        assert!(matches!(so_far.ending, Ending::Stopped { .. }));
        let last = so_far.last.as_ref().unwrap();
        let state = StateFile::of(&self.loaded.mechanism, last).unwrap();
        self.kept.push((state, so_far.recording.clone()));
    }
}

/// Identity: a run with checkpoints is the one without, to the last bit, and one that goes on from any of them is its rest.
#[test]
fn checkpoints_change_nothing_and_runs_go_on_from_them() {
    for (name, changes, repeats) in RUNS {
        let changes: Vec<Override> = changes
            .iter()
            .map(|c| Override::parse(c).unwrap())
            .collect();
        let text = models::find(name).unwrap_or_else(|| panic!("{name}")).text;
        let loaded = load::load_text(name, text, &changes).unwrap();
        let (mechanism, simulation) = (&loaded.mechanism, &loaded.spec.simulation);
        let samples = sample_instants(&loaded.spec, &[]);
        let options = |samples| SimulateOptions {
            samples,
            channels: None,
            most_lengths: f64::INFINITY,
        };
        let start = mechanism.start().unwrap();
        let plain = mechanism.run(&samples);
        assert_eq!(plain.ending, Ending::Completed, "{name}");
        let mut keeper = Keeper {
            loaded: &loaded,
            steps: 0,
            kept: Vec::new(),
        };
        let watched =
            mechanism.simulate_watched(&start, simulation, &options(&samples), &mut keeper);
        assert_eq!(watched.recording, plain.recording, "{name}");
        assert_eq!(watched.audit, plain.audit, "{name}");
        assert_eq!(watched.statistics, plain.statistics, "{name}");
        assert_eq!(watched.last, plain.last, "{name}");

        assert!(keeper.kept.len() > 1, "{name}: {} steps", keeper.steps);
        let (state, so_far) = &keeper.kept[keeper.kept.len() / 2];
        for (channel, whole) in so_far.channels.iter().zip(&plain.recording.channels) {
            assert_eq!(channel.samples, whole.samples[..so_far.len()], "{name}");
        }
        let text = serde_json::to_string(state).unwrap();
        let state: StateFile = serde_json::from_str(&text).unwrap();
        let state = state.state(mechanism).unwrap();
        let left = lissom::sample_instants_from(&loaded.spec, state.time_s, &[]);
        let rest = mechanism.simulate(&state, simulation, &options(&left), &mut |_| Flow::Continue);
        assert_eq!(rest.ending, Ending::Completed, "{name}");
        let within = repeats.within(&simulation.integrator);
        same_rows(&rest.recording, &plain.recording, within, name);
    }
}

/// Keeps the state of a run at an instant.
struct KeeperAt<'a> {
    loaded: &'a Loaded,
    time_s: f64,
    reached_s: f64,
    kept: Option<StateFile>,
}

impl Watch for KeeperAt<'_> {
    fn reached(&mut self, time_s: f64) -> Flow {
        self.reached_s = time_s;
        Flow::Continue
    }

    fn is_checkpoint_due(&mut self) -> bool {
        self.reached_s == self.time_s
    }

    fn checkpoint(&mut self, so_far: &Run) {
        let last = so_far.last.as_ref().unwrap();
        self.kept = Some(StateFile::of(&self.loaded.mechanism, last).unwrap());
    }
}

/// Identity: a run that is kept where a torque jumps goes on as the whole one does, to the last bit.
#[test]
fn runs_go_on_from_where_a_torque_jumps() {
    /// The elbow is driven from here on.
    const JUMP_S: f64 = 0.5;
    for integrator in ["dop853={}", "adams={}", "generalized_alpha={step_s=1e-3}"] {
        let changes = [
            "simulation.duration_s=0.7".to_owned(),
            format!("simulation.integrator={{{integrator}}}"),
        ];
        let changes = changes.map(|change| Override::parse(&change).unwrap());
        let text = models::find("two-link-arm").unwrap().text;
        let loaded = load::load_text("two-link-arm", text, &changes).unwrap();
        let (mechanism, simulation) = (&loaded.mechanism, &loaded.spec.simulation);
        let samples = sample_instants(&loaded.spec, &[]);
        let options = |samples| SimulateOptions {
            samples,
            channels: None,
            most_lengths: f64::INFINITY,
        };
        let mut keeper = KeeperAt {
            loaded: &loaded,
            time_s: JUMP_S,
            reached_s: 0.0,
            kept: None,
        };
        let start = mechanism.start().unwrap();
        let whole = mechanism.simulate_watched(&start, simulation, &options(&samples), &mut keeper);
        let state = keeper.kept.unwrap().state(mechanism).unwrap();
        assert_eq!(state.time_s, JUMP_S, "{integrator}");
        let left = lissom::sample_instants_from(&loaded.spec, state.time_s, &[]);
        let rest = mechanism.simulate(&state, simulation, &options(&left), &mut |_| Flow::Continue);
        same_rows(&rest.recording, &whole.recording, 0.0, integrator);
    }
}

/// Identity: a run that was stopped between two samples goes on with the energy that was lost until then.
#[test]
fn a_run_that_is_stopped_keeps_its_drift() {
    /// Of energies of some joules.
    const ROUNDING_J: f64 = 1e-13;
    const STOP_S: f64 = 0.25;
    let changes = [
        "simulation.duration_s=0.5",
        "output.sample_period_s=0.1",
        "simulation.integrator={dop853={rtol=1e-4,atol=1e-4}}",
    ];
    let changes = changes.map(|change| Override::parse(change).unwrap());
    let text = models::find("two-link-arm").unwrap().text;
    let loaded = load::load_text("two-link-arm", text, &changes).unwrap();
    let (mechanism, simulation) = (&loaded.mechanism, &loaded.spec.simulation);
    let run = |start, samples: &[f64], end_s: f64| {
        let options = SimulateOptions {
            samples,
            channels: None,
            most_lengths: f64::INFINITY,
        };
        let mut watch = |time_s: f64| {
            if time_s > end_s {
                Flow::Stop
            } else {
                Flow::Continue
            }
        };
        mechanism.simulate(start, simulation, &options, &mut watch)
    };
    let start = mechanism.start().unwrap();
    let samples = sample_instants(&loaded.spec, &[]);
    let whole = run(&start, &samples, f64::INFINITY).recording;
    let state = run(&start, &samples, STOP_S).last.unwrap();
    let left = lissom::sample_instants_from(&loaded.spec, state.time_s, &[]);
    let rest = run(&state, &left, f64::INFINITY).recording;
    let drift = |recording: &Recording, time_s: f64| {
        let mut instants = recording.time_s.iter();
        let at = instants.position(|&instant| instant == time_s).unwrap();
        recording.channel("energy.drift").unwrap().samples[at]
    };
    let (before, after, end) = (samples[2], samples[3], samples[5]);
    let stopped_s = state.time_s;
    assert!(before < stopped_s && stopped_s < after, "{stopped_s}");
    for time_s in [after, end] {
        let (found, wanted) = (drift(&rest, time_s), drift(&whole, time_s));
        assert!(
            (found - wanted).abs() < ROUNDING_J,
            "{time_s}: {found} {wanted}"
        );
    }
    // what would be missing
    let change = drift(&whole, after) - drift(&whole, before);
    assert!(change.abs() > 100.0 * ROUNDING_J, "{change}");
}

/// Rows of the same instants are the same. A run that goes on takes the drift of its first state to be that of the sample before:
/// it is off by as much as the drift changes in between, and by rounding.
#[track_caller]
pub(crate) fn same_rows(part: &Recording, whole: &Recording, within: f64, what: &str) {
    let samples = |name: &str| &whole.channel(name).unwrap().samples;
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let energy = largest(&mut samples("energy.total").iter().map(|value| value.abs()));
    let changes = samples("energy.drift").windows(2);
    let change = largest(&mut changes.map(|pair| (pair[1] - pair[0]).abs()));
    let mut compared = 0;
    for (row, time_s) in part.time_s.iter().enumerate() {
        let Some(at) = whole.time_s.iter().position(|instant| instant == time_s) else {
            continue;
        };
        compared += 1;
        for (channel, other) in part.channels.iter().zip(&whole.channels) {
            let (value, expected) = (channel.samples[row], other.samples[at]);
            let reached = largest(&mut other.samples.iter().map(|value| value.abs()));
            let allowed = match channel.name.as_str() {
                "energy.drift" => 1e-13 * energy + change + within * energy,
                _ => within * (1.0 + reached),
            };
            assert!(
                (value - expected).abs() <= allowed,
                "{what}: {} at {time_s} s: {value} instead of {expected}",
                channel.name
            );
        }
    }
    assert!(compared + 1 >= part.len(), "{what}");
}

/// What a killed run leaves is a run so far, which can be shown, and which the same command continues in its folder.
#[cfg(unix)]
#[test]
fn a_run_that_is_killed_is_found_as_far_as_it_came() {
    let folder = Folder::new();
    let asked = |duration: &'static str, more: &[&'static str]| {
        let set = ["--set", duration, "--set", "output.sample_period_s=0.01"];
        let run = ["run", "two-link-arm", "--quiet"];
        [&run[..], &set, more].concat()
    };
    let long = asked("simulation.duration_s=3000", &["--checkpoint-every", "0"]);
    let mut command = folder.command(&long);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let out = folder.path.join("results/two-link-arm");
    while !out.join("manifest.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let found = stored::read(&out).unwrap();
    assert!(!found.manifest.completed);
    assert_eq!(found.manifest.summary["in_progress"], true);
    let reached_s = found.manifest.stopped_at_s.unwrap();
    assert!(reached_s > 0.0);
    folder
        .lissom(&["report", "results/two-link-arm"])
        .says(0, &[]);

    // another model would put rows of two mechanisms into one recording
    let other = asked(
        "simulation.duration_s=3000",
        &[
            "--set",
            "payload.gripper.mass_kg=9",
            "--from",
            "results/two-link-arm",
        ],
    );
    folder.lissom(&other).says(1, &["another model", "--out"]);

    let until = format!("simulation.duration_s={}", reached_s + 0.5);
    let until: &'static str = until.leak();
    let rest = asked(until, &["--from", "results/two-link-arm"]);
    folder.lissom(&rest).says(0, &[]);
    folder
        .lissom(&asked(until, &["--out", "whole"]))
        .says(0, &[]);
    let joined = stored::read(&out).unwrap();
    let whole = stored::read(&folder.path.join("whole")).unwrap();
    assert!(joined.manifest.completed);
    assert_eq!(joined.manifest.summary["continued_at_s"], reached_s);
    assert_eq!(joined.recording.time_s, whole.recording.time_s);
    same_rows(&joined.recording, &whole.recording, 0.0, "joined");
    let names: Vec<_> = std::fs::read_dir(&out).unwrap().collect();
    let names = names.into_iter().map(|entry| entry.unwrap().file_name());
    assert!(
        !names
            .into_iter()
            .any(|name| name.to_string_lossy().starts_with('.'))
    );
}
