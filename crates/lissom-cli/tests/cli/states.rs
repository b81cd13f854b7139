//! Runs that start at a state: one that a run has left, an instant of a recording, one by hand.

use serde_json::Value;

use crate::{Folder, number};

/// Largest difference between the last values of channels that begin with one of these, of two runs.
fn apart(one: &Value, other: &Value, beginnings: &[&str]) -> f64 {
    let mut most = 0.0_f64;
    let mut compared = 0;
    for (name, channel) in one["channels"].as_object().unwrap() {
        if beginnings
            .iter()
            .any(|beginning| name.starts_with(beginning))
        {
            let last = |channel: &Value| number(&channel["final"]);
            let other = last(&other["channels"][name]);
            most = most.max((last(channel) - other).abs());
            compared += 1;
        }
    }
    assert!(compared > 0, "nothing begins with {beginnings:?}");
    most
}

/// A run of a model over a duration, in one go or from somewhere.
fn run(folder: &Folder, model: &str, out: &str, duration: &str, more: &[&str]) -> Value {
    let duration = format!("simulation.duration_s={duration}");
    let mut arguments = vec!["run", model, "--json", "--out", out, "--set", &duration];
    arguments.extend_from_slice(more);
    folder.json(&arguments)
}

/// Identity: a run that goes on where another one ended arrives where one run over the whole span does, in both
/// formulations, with loops, gears, floating bases and supports that slide over nodes. Adaptive integrators cut their
/// last step at the end of the first run, so that the difference is their tolerance's.
#[test]
fn a_run_goes_on_where_another_ended() {
    /// The shipped tolerances are 1e-8 and looser; errors of the first half grow in the second.
    const TOLERANCE: f64 = 1e-5;
    let folder = Folder::new();
    let nodal: &[&str] = &["--formulation", "nodal"];
    let cases: [(&str, [&str; 2], &[&str], &str); 7] = [
        ("two-link-arm", ["0.2", "0.4"], &[], "hand."),
        ("two-link-arm", ["0.2", "0.4"], &[], "energy.work"),
        ("two-link-arm", ["0.05", "0.1"], nodal, "hand."),
        ("flexible-joint", ["0.2", "0.4"], &[], "tip."),
        ("four-bar", ["0.2", "0.4"], &[], "coupler_middle.position"),
        ("space-arm", ["0.2", "0.4"], &[], "float."),
        ("sliding-beam", ["0.1", "0.2"], &[], "rear.position"),
    ];
    for (model, [half, whole], more, channels) in cases {
        let uninterrupted = run(&folder, model, "whole", whole, more);
        run(&folder, model, "half", half, more);
        let from = [&["--from", "half"], more].concat();
        let continued = run(&folder, model, "rest", whole, &from);
        let most = apart(&uninterrupted, &continued, &[channels]);
        assert!(most < TOLERANCE, "{model} {more:?}: {most}");
        let start = folder.read_json("half/state.json");
        assert_eq!(number(&start["time_s"]), half.parse::<f64>().unwrap());
    }
}

/// Identity: with fixed steps, at the end of one (a binary fraction, so that instants are exact), it does so to the last
/// bit: under both schemes, in loops under
/// several closures, over supports, in the nodal formulation and along a nominal motion.
#[test]
fn fixed_steps_go_on_to_the_last_bit() {
    const ALPHA: &str = "simulation.integrator={generalized_alpha={step_s=9.765625e-4}}";
    const NEWMARK: &str = "simulation.integrator={newmark={step_s=9.765625e-4}}";
    let folder = Folder::new();
    let cases: [(&str, &[&str]); 8] = [
        ("two-link-arm", &["--set", ALPHA]),
        ("two-link-arm", &["--set", NEWMARK]),
        ("two-link-arm", &["--set", ALPHA, "--formulation", "nodal"]),
        ("four-bar", &["--set", ALPHA]),
        ("four-bar", &["--set", NEWMARK, "--closure", "projected"]),
        ("four-bar", &["--set", ALPHA, "--formulation", "nodal"]),
        ("sliding-beam", &["--set", NEWMARK]),
        ("shuttle-arm", &["--set", ALPHA]),
    ];
    let mut off = Vec::new();
    for (model, more) in cases {
        let whole = run(&folder, model, "whole", "0.0390625", more);
        run(&folder, model, "half", "0.01953125", more);
        let from = [&["--from", "half"], more].concat();
        let rest = run(&folder, model, "rest", "0.0390625", &from);
        let moved = |summary: &Value| {
            let mut channels = summary["channels"].as_object().unwrap().values();
            channels.any(|channel| channel["minimum"]["value"] != channel["maximum"]["value"])
        };
        assert!(
            moved(&whole) && moved(&rest),
            "{model} {more:?} stands still"
        );
        let last = |out: &str| {
            let csv = String::from_utf8(folder.read(&format!("{out}/recording.csv"))).unwrap();
            let mut lines = csv.lines();
            let header: Vec<&str> = lines.next().unwrap().split(',').collect();
            // the drift is a difference of energies whose rounding is not repeated
            let last = lines.last().unwrap().split(',').zip(header);
            let told = last.filter(|(_, column)| !column.starts_with("energy.drift"));
            told.map(|(value, _)| value.to_owned()).collect::<Vec<_>>()
        };
        if last("whole") != last("rest") {
            off.push(format!("{model} {more:?}: {}", apart(&whole, &rest, &[""])));
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}

/// Identity: so does a run from an instant inside a recording, between its samples too, which cubics are good for.
#[test]
fn a_run_starts_at_any_instant_of_a_recording() {
    let folder = Folder::new();
    let recorded = ["--set", "output.sample_period_s=0.002"];
    for formulation in ["tree", "nodal"] {
        let more = [&recorded[..], &["--formulation", formulation]].concat();
        let whole = run(&folder, "two-link-arm", "whole", "0.1", &more);
        // (instant, tolerance): a sample is as exact as the run, between samples the cubic's error shows
        for (instant, tolerance) in [("whole@0.05", 1e-6), ("whole@0.0513", 1e-4)] {
            let mut from = vec!["--from", instant];
            from.extend_from_slice(&more);
            let rest = run(&folder, "two-link-arm", "rest", "0.1", &from);
            let most = apart(&whole, &rest, &["hand.position", "hand.velocity"]);
            assert!(most < tolerance, "{formulation} {instant}: {most}");
        }
    }
}

/// By hand: a state names what is other than in the model.
#[test]
fn a_state_by_hand_is_where_the_run_starts() {
    let folder = Folder::new();
    folder.write(
        "start.json",
        r#"{ "position": { "shoulder.angle": 0.7 }, "velocity": { "elbow.angle.rate": -0.5 } }"#,
    );
    run(
        &folder,
        "two-link-arm",
        "out",
        "0.01",
        &["--from", "start.json"],
    );
    let csv = String::from_utf8(folder.read("out/recording.csv")).unwrap();
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let first: Vec<f64> = (lines.next().unwrap().split(','))
        .map(|value| value.parse().unwrap())
        .collect();
    let value = |name: &str| {
        let column = header.iter().position(|column| column.starts_with(name));
        first[column.unwrap()]
    };
    assert_eq!(value("shoulder.angle ["), 0.7);
    assert_eq!(value("elbow.angle.rate ["), -0.5);
}

/// Refusals: each names what is wrong and what to do.
#[test]
fn states_that_are_none_are_refused() {
    let folder = Folder::new();
    run(&folder, "two-link-arm", "done", "0.05", &[]);
    folder.write("typo.json", r#"{ "position": { "sholder.angle": 0.7 } }"#);
    folder.write("odd.json", r#"{ "places": {} }"#);
    for (from, code, words) in [
        (
            "typo.json",
            1,
            &["sholder.angle", "did you mean", "shoulder.angle"][..],
        ),
        ("odd.json", 1, &["odd.json", "places"]),
        ("nowhere.json", 1, &["nowhere.json"]),
        ("done@9", 1, &["outside the recording"]),
        ("done@soon", 1, &["soon", "seconds"]),
        ("done", 2, &["simulation.duration_s"]),
    ] {
        let arguments = [
            "run",
            "two-link-arm",
            "--set",
            "simulation.duration_s=0.05",
            "--from",
            from,
        ];
        folder.lissom(&arguments).says(code, words);
    }
}
