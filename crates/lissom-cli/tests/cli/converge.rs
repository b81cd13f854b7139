//! `lissom converge`: stated errors in words and as JSON, what is not known, interruption.

use std::time::Duration;

use crate::{Answer, Folder, number};

const SHORT: [&str; 2] = ["--set", "simulation.duration_s=0.1"];

/// Words and file say the same.
#[test]
fn a_run_is_said_to_be_as_accurate_as_it_is() {
    let folder = Folder::new();
    let arguments = [&["converge", "two-link-arm", "--out", "out"], &SHORT[..]].concat();
    let answer = folder.lissom(&arguments);
    let found = folder.read_json("out/convergence.json");
    let hand = &found["accuracy"][1];
    assert_eq!(hand["quantity"], "hand.position");
    let line = answer
        .stdout
        .lines()
        .find(|line| line.starts_with("  hand.position: "));
    let line = line.unwrap_or_else(|| panic!("{}", answer.stdout));
    let told: f64 = line["  hand.position: within ".len()..]
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    // two digits
    assert!(
        (told / number(&hand["error"]) - 1.0).abs() < 0.06,
        "{line} {hand}"
    );
    let parts = number(&hand["time"]) + number(&hand["bodies"]);
    assert!((number(&hand["error"]) / parts - 1.0).abs() < 1e-12);
    answer.says(
        0,
        &[
            "bending_y 4 changes",
            "The run with bending_y 3 is within 0.01 m and 0.01 rad",
            "formulation: not checked",
        ],
    );
    // the model as it is, and two levels each
    assert_eq!(found["runs"].as_array().unwrap().len(), 5);
    assert_eq!(found["bodies"]["levels"].as_array().unwrap().len(), 3);
}

/// Nothing is judged but metres and radians, and what is not there is refused.
#[test]
fn what_is_looked_at_can_be_chosen() {
    let folder = Folder::new();
    let model = [&["converge", "two-link-arm"], &SHORT[..]].concat();
    let chosen = ["--channels", "energy.kinetic", "--plot", "errors.svg"];
    let answer = folder.lissom(&[&model[..], &chosen].concat());
    answer.says(
        0,
        &[
            "energy.kinetic: within",
            "Whether that is enough is not known",
            "errors.svg",
        ],
    );
    let plot = String::from_utf8(folder.read("errors.svg")).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains("<path"), "{plot}");
    let answer = folder.lissom(&[&model[..], &["--channels", "energy.kinetics"]].concat());
    answer.says(2, &["no channel of two-link-arm begins with"]);
    let answer = folder.lissom(&[&model[..], &["--within", "1e-9"]].concat());
    answer.says(0, &["is not within 1.000e-9 m and 1.000e-9 rad"]);
}

/// Property: what its plot has no room for is told, in words and in JSON, and a panel has no more curves than can be told apart.
#[test]
fn what_the_plot_leaves_out_is_told() {
    let folder = Folder::new();
    let model = [&["converge", "two-link-arm"], &SHORT[..]].concat();
    let many = "energy,momentum,hand,shoulder,elbow,upper_arm,forearm";
    let chosen = ["--channels", many, "--plot", "errors.svg"];
    let large = ["--plot-font-pt", "24", "--json"];
    let answer = folder.lissom(&[&model[..], &chosen, &large].concat());
    answer.says(0, &[]);
    assert!(answer.stderr.starts_with("The plot has no room for"));
    let found: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    let left_out: Vec<String> = serde_json::from_value(found["plot"]["left_out"].clone()).unwrap();
    let plot = String::from_utf8(folder.read("errors.svg")).unwrap();
    let is_drawn = |name: &str| plot.contains(&format!("aria-label=\"{name}\""));
    assert!(!left_out.is_empty() && left_out.iter().all(|name| !is_drawn(name)));
    // every quantity of known error is either drawn or named
    for accuracy in found["accuracy"].as_array().unwrap() {
        let name = accuracy["quantity"].as_str().unwrap();
        let is_known = !accuracy["bodies"].is_null();
        let is_told = is_drawn(name) || left_out.iter().any(|left| left == name);
        assert!(is_told || !is_known, "{name}");
    }
}

/// Words: what has no other formulation says so, and time steps that are too coarse are told as that.
#[test]
fn what_stands_against_it_is_said() {
    let folder = Folder::new();
    let short = ["--set", "simulation.duration_s=0.02"];
    let nodes = ["converge", "rotating-beam", "--cross-check"];
    let answer = folder.lissom(&[&nodes[..], &short].concat());
    answer.says(
        0,
        &["formulation: a model of nodes and elements has no other"],
    );
    let rigid = [
        "converge",
        "two-link-arm",
        "--cross-check",
        "--fidelity",
        "rigid",
    ];
    let answer = folder.lissom(&[&rigid[..], &short].concat());
    answer.says(0, &["formulation: nothing deforms"]);
    let coarse = "simulation.integrator={generalized_alpha={step_s=2e-2}}";
    let coarse = [
        "converge",
        "two-link-arm",
        "--within",
        "1e-5",
        "--set",
        coarse,
    ];
    let answer = folder.lissom(&[&coarse[..], &SHORT].concat());
    answer.says(
        0,
        &["its time steps alone are not; tighten the tolerance or the step"],
    );
}

/// A model that cannot run has no accuracy.
#[test]
fn a_run_that_fails_is_said_to() {
    let folder = Folder::new();
    let few = "simulation.integrator.dop853.max_steps=5";
    let answer = folder.lissom(&["converge", "two-link-arm", "--set", few]);
    answer.says(
        1,
        &["the run of the model as it is failed", "nothing is known"],
    );
}

/// Ctrl-C keeps what is known.
#[cfg(unix)]
#[test]
fn interruption_keeps_what_is_known() {
    let folder = Folder::new();
    // steps short enough that a run takes seconds
    let slow = "simulation.integrator.dop853.max_step_s=2e-5";
    let arguments = ["converge", "two-link-arm", "--out", "out", "--set", slow];
    let mut child = folder.spawn(&arguments);
    // the folder is made when the first run is about to begin
    while !folder.path.join("out").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    assert!(
        child.try_wait().unwrap().is_none(),
        "too fast to be stopped"
    );
    crate::send("-INT", &child);
    let answer = Answer::of(child, &arguments);
    answer.says(130, &["interrupted; what is known"]);
    assert!(answer.stdout.contains("not known"), "{}", answer.stdout);
    assert_eq!(
        folder.read_json("out/convergence.json")["interrupted"],
        true
    );
}
