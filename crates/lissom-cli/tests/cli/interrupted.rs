//! Whoever asks the command to end is heard in every verb, however long a step takes.

#![cfg(unix)]

use std::process::Child;
use std::time::{Duration, Instant};

use crate::{Answer, Folder, send};

/// So long it is waited for a command that is asked to end, before it counts as one that does not hear.
const PATIENCE: Duration = Duration::from_mins(1);

/// A cantilever of so many elements that every factorisation takes its time.
fn fine_beam(folder: &Folder) {
    let text = lissom_io::models::find("spin-up-elements").unwrap().text;
    let lines = text.lines().map(|line| {
        if line.starts_with("divisions") {
            "divisions = 400"
        } else {
            line
        }
    });
    folder.write("fine.toml", lines.collect::<Vec<_>>().join("\n"));
}

fn answered(mut child: Child, asked: &[&str]) -> Answer {
    send("-INT", &child);
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("{asked:?} does not hear");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Answer::of(child, asked)
}

#[test]
fn ctrl_c_ends_every_verb() {
    let folder = Folder::new();
    fine_beam(&folder);
    folder.write("long.csv", "time_s,shoulder.angle [rad]\n0,0\n3000,0.1\n");
    let refused = "-1\n".repeat(8);
    folder.write(
        "values.csv",
        format!("simulation.duration_s\n{refused}0.0001\n"),
    );
    let asked: [&[&str]; 13] = [
        &["run", "fine.toml"],
        // all of them: the lowest few are found too soon to be interrupted
        &["modes", "fine.toml", "--count", "1200"],
        &["linearize", "fine.toml", "--out", "fine.npz"],
        &["response", "fine.toml", "--inputs", "all"],
        &[
            "equilibrium",
            "fine.toml",
            "--set",
            "gravity_m_per_s2=[0,0,-9.81]",
        ],
        &["converge", "fine.toml"],
        &["perturb", "fine.toml"],
        &[
            "compare",
            "shuttle-arm",
            "--set",
            "simulation.duration_s=2000",
        ],
        // the thread that hears has nothing left to do
        &[
            "sweep",
            "fine.toml",
            "--table",
            "values.csv",
            "--measure",
            "frequencies:1000",
            "--threads",
            "4",
        ],
        &[
            "fit",
            "two-link-arm",
            "long.csv",
            "--parameters",
            "payload.gripper.mass_kg",
        ],
        &[
            "map",
            "two-link-arm",
            "--over",
            "shoulder.angle=-1:1:300",
            "--over",
            "elbow.angle=-1:1:300",
        ],
        &[
            "inverse",
            "planar-3rrr",
            "--set",
            "output.sample_period_s=1e-6",
        ],
        &["validate"],
    ];
    for asked in asked {
        let child = folder.spawn(asked);
        std::thread::sleep(Duration::from_millis(400));
        let answer = answered(child, asked);
        answer.says(130, &[]);
        let is_told = |word: &str| answer.stderr.contains(word);
        assert!(
            ["interrupted", "stopped"].into_iter().any(is_told),
            "{asked:?}"
        );
        assert_eq!(temporaries(&folder.path), [""; 0], "{asked:?}");
    }
}

/// A pager may have stopped reading in the midst of what is said.
#[test]
fn ctrl_c_is_heard_while_nobody_reads() {
    let folder = Folder::new();
    // three bytes each, more than a pipe holds
    let name = "\u{5B57}".repeat(1000);
    let marker = |i: u32| format!("[[marker]]\nname = \"m{i}\"\nbody = \"{name}\"\n");
    let markers: String = (0..60).map(marker).collect();
    folder.write("long.toml", format!("format = 1\n{markers}"));
    let asked = ["check", "long.toml"];
    let child = folder.spawn(&asked);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(answered(child, &asked).code, 130);
}

/// Everything is on the disk, and the answer is longer than a pipe holds.
#[test]
fn ctrl_c_is_heard_while_nobody_reads_the_answer() {
    let folder = Folder::new();
    let asked = [
        "sweep",
        "two-link-arm",
        "--vary",
        "simulation.duration_s=0.001,0.002",
        "--measure",
        "frequencies:1000",
        "--out",
        "out",
    ];
    let child = folder.spawn(&asked);
    while !folder.path.join("out/sweep.csv").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(400));
    let answer = answered(child, &asked);
    answer.says(130, &["interrupted"]);
    assert!(answer.stdout.len() > 60_000);
}

/// Files and folders of batches and of single files that were never put in their places.
pub(crate) fn temporaries(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(".lissom-") || name.contains(".tmp") {
            found.push(name);
        } else if entry.path().is_dir() {
            found.extend(temporaries(&entry.path()));
        }
    }
    found
}
