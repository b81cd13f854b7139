//! `lissom compare`: fidelities side by side, runs that diverge, the advice at the end.

use std::time::Duration;

use serde_json::Value;

use crate::{Answer, Folder, number};

/// The run of a fidelity.
#[track_caller]
fn run<'a>(comparison: &'a Value, fidelity: &str) -> &'a Value {
    let mut runs = comparison["runs"].as_array().unwrap().iter();
    runs.find(|run| run["fidelity"] == fidelity).unwrap()
}

/// What is said of a fidelity.
#[track_caller]
fn verdict<'a>(comparison: &'a Value, fidelity: &str) -> &'a Value {
    let verdicts = comparison["advice"]["fidelities"].as_array().unwrap();
    let mut found = verdicts.iter().filter(|v| v["fidelity"] == fidelity);
    found.next().unwrap()
}

/// What is said of the run without terms, by their switch.
#[track_caller]
fn term<'a>(comparison: &'a Value, switch: &str) -> &'a Value {
    let terms = comparison["advice"]["terms"].as_array().unwrap();
    let mut found = terms.iter().filter(|term| term["without"] == switch);
    found.next().unwrap()
}

/// Qualitative finding of Damaren & Sharf 1995, section 4.1, and closed form: without shortening a beam that
/// turns faster than its lowest frequency has no stiffness left, and shortening is what gives it some.
#[test]
fn a_fast_spin_up_needs_its_terms() {
    let folder = Folder::new();
    let comparison = folder.json(&["compare", "spin-up-beam", "--json"]);
    assert_eq!(comparison["reference"], "default");
    for fidelity in ["default", "ruthless"] {
        assert_eq!(run(&comparison, fidelity)["sound"], true);
    }
    for fidelity in ["inconsistent", "consistent", "exact"] {
        let diverged = &run(&comparison, fidelity)["diverged"];
        assert_eq!(diverged["coordinate"], "beam.bending_y_1");
        // the beam turns at its lowest frequency, 3.8 rad/s, after 9 s
        let time_s = number(&diverged["time_s"]);
        assert!((9.0..12.0).contains(&time_s), "{time_s}");
        assert_eq!(run(&comparison, fidelity)["sound"], false);
        // and is given up there
        assert!(number(&diverged["lengths"]) < 20.0, "{diverged}");
        let manifest = format!("results/spin-up-beam-compare/{fidelity}/manifest.json");
        let failure = &folder.read_json(&manifest)["summary"]["failure"];
        assert_eq!(failure["time_s"], diverged["time_s"]);
        for difference in run(&comparison, fidelity)["differences"]
            .as_array()
            .unwrap()
        {
            assert!(number(&difference["largest"]["time_s"]) <= time_s);
        }
    }
    assert_eq!(verdict(&comparison, "ruthless")["within"], false);
    let diverged = verdict(&comparison, "inconsistent");
    assert_eq!(diverged["ended"]["how"], "diverged");
    assert_eq!(
        (diverged.get("difference"), diverged.get("within")),
        (None, None)
    );
    assert_eq!(
        term(&comparison, "shortening=none")["ended"]["how"],
        "diverged"
    );
    assert_eq!(comparison["advice"]["would_have_done"].to_string(), "[]");
    assert_eq!(comparison["not_run"].to_string(), "[]");
    assert!(number(&comparison["advice"]["rates"]["ratio"]) > 1.0);

    let notes = run(&comparison, "exact")["notes"].to_string();
    assert!(notes.contains("no effect"), "{notes}");
    for fidelity in ["default", "ruthless", "inconsistent", "consistent", "exact"] {
        let manifest = format!("results/spin-up-beam-compare/{fidelity}/manifest.json");
        let switches = &run(&comparison, fidelity)["switches"];
        let manifest = folder.read_json(&manifest);
        assert_eq!(&manifest["fidelity"], switches);
        // a report that overlays recordings finds the name of each
        assert_eq!(manifest["options"]["fidelity"], fidelity);
    }
    let written = folder.read_json("results/spin-up-beam-compare/comparison.json");
    assert_eq!(written["runs"], comparison["runs"]);
}

/// The same beam at a tenth of the rate does not need them.
#[test]
fn a_slow_spin_up_does_not() {
    let folder = Folder::new();
    let rate = "motion.0.cycloidal_rate.final_rate_rad_per_s=0.6";
    let comparison = folder.json(&["compare", "spin-up-beam", "--set", rate, "--json"]);
    for fidelity in ["ruthless", "inconsistent", "consistent"] {
        assert_eq!(run(&comparison, fidelity)["sound"], true);
        assert_eq!(verdict(&comparison, fidelity)["within"], true);
    }
    assert_eq!(comparison["advice"]["would_have_done"][0], "ruthless");
    assert_eq!(term(&comparison, "shortening=none")["within"], true);
    assert!(number(&comparison["advice"]["rates"]["ratio"]) < 0.2);
}

/// The beginning of the slow manoeuvre of the Shuttle arm (I-s), in space, with free joints and a heavy payload.
#[test]
fn a_slow_manoeuvre_of_the_shuttle_arm() {
    let folder = Folder::new();
    let comparison = folder.json(&[
        "compare",
        "shuttle-arm-slow",
        "--json",
        "--with",
        "default,inconsistent",
        "--set",
        "simulation.duration_s=3",
    ]);
    assert_eq!(comparison["advice"]["would_have_done"][0], "inconsistent");
    // what else the advice tells
    assert!(number(&comparison["advice"]["rates"]["ratio"]) < 0.01);
    for body in comparison["advice"]["bodies"].as_array().unwrap() {
        assert!(number(&body["slope"]["value"]) < 0.1, "{body}");
    }
    for name in ["ruthless", "consistent", "exact"] {
        assert!(comparison["not_run"].to_string().contains(name));
    }
}

/// Of fidelities that were not run nothing is said but that.
#[test]
fn what_was_not_run_is_not_known() {
    let folder = Folder::new();
    let short = "simulation.duration_s=0.2";
    let with = "default,inconsistent/exact,exact";
    let arguments = ["compare", "shuttle-arm", "--with", with, "--set", short];
    let answer = folder.lissom(&arguments);
    answer.says(
        0,
        &[
            "inconsistent/exact: differs by",
            "ruthless, inconsistent, consistent: not known; run with --with",
        ],
    );
    let comparison = folder.read_json("results/shuttle-arm-compare/comparison.json");
    let notes = run(&comparison, "exact")["notes"].to_string();
    assert!(notes.contains("membrane locking"), "{notes}");
}

/// `--within` is about metres and radians: where nothing in these is compared, nothing is judged. Channels that are not
/// there are refused.
#[test]
fn nothing_is_judged_without_positions_and_angles() {
    let folder = Folder::new();
    let set = "simulation.duration_s=0.1";
    let with = ["--with", "default,ruthless", "--set", set, "--channels"];
    let mut arguments = vec!["compare", "two-link-arm"];
    arguments.extend(with);
    let answer = folder.lissom(&[&arguments[..], &["energy.kinetic"]].concat());
    answer.says(0, &["Which would have done is not known"]);
    assert!(!answer.stdout.contains("it mattered"), "{}", answer.stdout);
    let comparison = folder.read_json("results/two-link-arm-compare/comparison.json");
    assert_eq!(verdict(&comparison, "ruthless").get("within"), None);
    assert_eq!(comparison["advice"]["would_have_done"].to_string(), "[]");
    let answer = folder.lissom(&[&arguments[..], &["hand.positon"]].concat());
    answer.says(
        2,
        &["no channel of two-link-arm begins with `hand.positon`"],
    );
}

#[test]
fn what_is_compared_can_be_chosen() {
    let folder = Folder::new();
    let arguments = [
        "compare",
        "two-link-arm",
        "--with",
        "ruthless,inconsistent/euler-123",
        "--channels",
        "shoulder.angle",
        "--set",
        "simulation.duration_s=0.2",
        "--out",
        "both",
    ];
    let answer = folder.lissom(&arguments);
    answer.says(
        0,
        &[
            "inconsistent/euler_123",
            "Differences from ruthless",
            "shoulder.angle",
        ],
    );
    let comparison = folder.read_json("both/comparison.json");
    let channels: Vec<String> = serde_json::from_value(comparison["channels"].clone()).unwrap();
    assert!(
        channels
            .iter()
            .all(|name| name.starts_with("shoulder.angle"))
    );
    assert_eq!(
        run(&comparison, "inconsistent/euler_123")["switches"]["tip"],
        "euler_123"
    );
    assert!(
        !folder
            .read("both/inconsistent-euler_123/recording.csv")
            .is_empty()
    );
}

/// Identity: the recording of a run in a comparison is that of the run alone.
#[test]
fn recordings_are_those_of_single_runs() {
    let folder = Folder::new();
    let short = ["--set", "simulation.duration_s=0.5"];
    let mut arguments = vec![
        "compare",
        "space-arm",
        "--with",
        "exact",
        "--quiet",
        "--out",
        "all",
    ];
    arguments.extend(short);
    folder.lissom(&arguments).says(0, &[]);
    let mut arguments = vec![
        "run",
        "space-arm",
        "--fidelity",
        "exact",
        "--quiet",
        "--out",
        "one",
    ];
    arguments.extend(short);
    folder.lissom(&arguments).says(0, &[]);
    assert!(folder.read("all/exact/recording.csv") == folder.read("one/recording.csv"));
}

#[test]
fn an_unknown_fidelity_is_refused() {
    let folder = Folder::new();
    let answer = folder.lissom(&["compare", "spin-up-beam", "--with", "precise"]);
    answer.says(2, &["unknown fidelity", "ruthless"]);
}

/// Ctrl-C in the second run keeps the first, and what the second has.
#[cfg(unix)]
#[test]
fn interruption_keeps_what_is_done() {
    let folder = Folder::new();
    // steps short enough that a run takes seconds
    let arguments = [
        "compare",
        "two-link-arm",
        "--with",
        "ruthless,default",
        "--out",
        "both",
        "--json",
        "--set",
        "simulation.integrator.dop853.max_step_s=1e-5",
    ];
    let child = folder.spawn(&arguments);
    // written when the first run has ended, beside where it will stand
    let is_written = || {
        let entries = std::fs::read_dir(folder.path.join("both"))
            .into_iter()
            .flatten();
        let mut stages = entries.map(|entry| entry.unwrap().path());
        stages.any(|stage| stage.join("ruthless/manifest.json").exists())
    };
    while !is_written() {
        std::thread::sleep(Duration::from_millis(5));
    }
    crate::send("-INT", &child);
    let answer = Answer::of(child, &arguments);
    answer.says(130, &["interrupted at", "default"]);
    let comparison = folder.read_json("both/comparison.json");
    assert_eq!(comparison["reference"], "ruthless");
    assert!(number(&run(&comparison, "default")["stopped_at_s"]) < 3.0);
    assert_eq!(run(&comparison, "default")["sound"], false);
}

/// Property: loops are closed before they are compared.
#[test]
fn mechanisms_with_loops_are_compared() {
    let folder = Folder::new();
    let set = "simulation.duration_s=0.05";
    let comparison = folder.json(&[
        "compare",
        "four-bar",
        "--with",
        "default,exact",
        "--set",
        set,
        "--json",
    ]);
    for fidelity in ["default", "exact"] {
        assert_eq!(run(&comparison, fidelity)["sound"], true, "{comparison}");
    }
}

/// Property: `--from` lets every run begin at a state, and the run of the model's own fidelity is the one that `lissom run --from`
/// makes; fidelities without elastic coordinates, or with tips of their own, take what they have of it.
#[test]
fn comparisons_begin_at_a_state() {
    let folder = Folder::new();
    let short = ["--set", "simulation.duration_s=0.4"];
    folder.json(
        &[
            &["run", "two-link-arm", "--json", "--out", "first"],
            &short[..],
        ]
        .concat(),
    );
    let from = ["--from", "first@0.2"];
    let arguments = [
        "compare",
        "two-link-arm",
        "--with",
        "default,exact,rigid",
        "--json",
    ];
    let comparison = folder.json(&[&arguments[..], &short, &from].concat());
    for fidelity in ["default", "exact", "rigid"] {
        let run = run(&comparison, fidelity);
        assert_eq!(run["sound"], true, "{run}");
        let manifest = format!("results/two-link-arm-compare/{fidelity}/manifest.json");
        assert_eq!(folder.read_json(&manifest)["options"]["from"], "first@0.2");
    }
    let arguments = ["run", "two-link-arm", "--json", "--out", "second"];
    folder.json(&[&arguments[..], &short, &from].concat());
    let [compared, alone] = ["results/two-link-arm-compare/default", "second"]
        .map(|run| String::from_utf8(folder.read(&format!("{run}/recording.csv"))).unwrap());
    assert_eq!(compared, alone);
    assert!(alone.lines().nth(1).unwrap().starts_with("0.2,"));
}
