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
    let asked: [&[&str]; 8] = [
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
    ];
    for asked in asked {
        let child = folder.spawn(asked);
        std::thread::sleep(Duration::from_millis(400));
        answered(child, asked).says(130, &["interrupted"]);
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
