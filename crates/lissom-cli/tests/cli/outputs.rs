//! What every verb writes: never in the place of what is no file, and whole where the disk is full.

#![cfg(unix)]

use std::process::{Command, Stdio};

use crate::{Answer, Folder};

/// A verb with all that it needs but one option that names a file.
const FILES: [(&[&str], &str); 17] = [
    (&["run", "two-link-arm", "--out", "run"], "--plot x.svg"),
    (
        &["compare", "two-link-arm", "--out", "compare"],
        "--plot x.svg",
    ),
    (
        &["converge", "two-link-arm", "--out", "converge"],
        "--plot x.svg",
    ),
    (
        &["perturb", "two-link-arm", "--out", "perturb"],
        "--plot x.svg",
    ),
    (
        &["inverse", "planar-3rrr", "--out", "inverse"],
        "--plot x.svg",
    ),
    (
        &[
            "fit",
            "two-link-arm",
            "measured.csv",
            "--parameters",
            "payload.gripper.mass_kg",
            "--out",
            "fit",
        ],
        "--plot x.svg",
    ),
    (&MAP, "--plot x.svg"),
    (&MAP, "--out x.csv"),
    (&["equilibrium", "two-link-arm"], "--out x.json"),
    (&["modes", "two-link-arm"], "--csv x.csv"),
    (&["linearize", "two-link-arm"], "--out x.npz"),
    (&["response", "two-link-arm"], "--out x.npz"),
    (&["response", "two-link-arm"], "--plot x.svg"),
    (&["body", "two-link-arm:upper"], "--out x.json"),
    (&["body", "two-link-arm:upper"], "--page x.html"),
    (&["validate", "--quick"], "--report x.md"),
    (&["validate", "--quick"], "--html x.html"),
];
const MAP: [&str; 6] = [
    "map",
    "two-link-arm",
    "--over",
    "shoulder.angle=-1:1:3",
    "--over",
    "elbow.angle=0:2:3",
];

/// A verb with the folder that it fills, and a file that it writes there.
const FOLDERS: [(&[&str], &str); 7] = [
    (&["run", "two-link-arm"], "state.json"),
    (&["compare", "two-link-arm"], "comparison.json"),
    (&["converge", "two-link-arm"], "convergence.json"),
    (&["perturb", "two-link-arm"], "manifest.json"),
    (&["inverse", "planar-3rrr"], "recording.csv"),
    (
        &[
            "fit",
            "two-link-arm",
            "measured.csv",
            "--parameters",
            "payload.gripper.mass_kg",
        ],
        "fitted.toml",
    ),
    (
        &[
            "sweep",
            "two-link-arm",
            "--vary",
            "payload.gripper.mass_kg=1,2",
        ],
        "rows.txt",
    ),
];

/// A folder with data to fit.
fn with_data() -> Folder {
    let folder = Folder::new();
    folder.write("measured.csv", "time_s,shoulder.angle [rad]\n0,0\n1,0.1\n");
    folder
}

/// Puts a pipe and a link in a place, one after the other, and has them refused.
fn refuses(folder: &Folder, place: &str, asked: &[&str]) {
    let path = folder.path.join(place);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    folder.lissom(asked).says(1, &[place, "a pipe"]);
    std::fs::remove_file(&path).unwrap();
    let kept = folder.path.join("kept");
    folder.write("kept", "kept");
    std::os::unix::fs::symlink(&kept, &path).unwrap();
    folder.lissom(asked).says(1, &[place, "a link"]);
    assert_eq!(folder.read("kept"), b"kept");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn no_verb_replaces_what_is_no_file() {
    let folder = with_data();
    for (asked, option) in FILES {
        let (option, name) = option.split_once(' ').unwrap();
        let place = format!("out/{name}");
        let asked = [asked, &[option, &place]].concat();
        refuses(&folder, &place, &asked);
    }
    for (asked, name) in FOLDERS {
        let asked = [asked, &["--out", "results"]].concat();
        refuses(&folder, &format!("results/{name}"), &asked);
        std::fs::remove_dir_all(folder.path.join("results")).unwrap();
    }
}

/// What a report writes unless told otherwise is looked at too.
#[test]
fn the_page_beside_a_recording_replaces_no_link() {
    let folder = Folder::new();
    let run = ["run", "two-link-arm", "--set", "simulation.duration_s=0.01"];
    folder.lissom(&run).says(0, &[]);
    refuses(
        &folder,
        "results/two-link-arm/report.html",
        &["report", "results/two-link-arm"],
    );
}

/// By construction: the disk is full, here by a limit of the shell, in the midst of a row. What was written before stays, and the same command
/// comes to the table of one that nobody disturbed.
#[test]
fn a_sweep_goes_on_after_a_full_disk() {
    const ASKED: [&str; 6] = [
        "sweep",
        "two-link-arm",
        "--set",
        "simulation.duration_s=0.01",
        "--vary",
        "payload.gripper.mass_kg=0.1:0.9:120",
    ];
    let folder = Folder::new();
    let asked = |out| [&ASKED[..], &["--out", out]].concat();
    folder.lissom(&asked("whole")).says(0, &[]);
    // more than the identity takes, less than the rows
    let identity = folder.read("whole/sweep.json").len();
    let rows = folder.read("whole/rows.txt").len();
    let blocks = identity.div_ceil(512);
    // some shells have blocks of 1024 bytes
    assert!(rows > 1024 * blocks, "{rows} bytes, {blocks} blocks");
    for threads in ["1", "2"] {
        let mut shell = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        shell.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_lissom")]);
        shell
            .args(asked(threads))
            .args(["--threads", threads])
            .current_dir(&folder.path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let full = Answer::of(shell.spawn().unwrap(), &ASKED);
        full.says(1, &["cannot write", "rows.txt"]);
        let kept = folder.read(&format!("{threads}/rows.txt"));
        assert!(kept.len() > 1 && kept.ends_with(b"\n"));
        folder.lissom(&asked(threads)).says(0, &[]);
        for file in ["sweep.csv", "sweep.json"] {
            let [found, expected] =
                [threads, "whole"].map(|out| folder.read(&format!("{out}/{file}")));
            assert_eq!(found, expected, "{file}");
        }
    }
}

/// A table of the sweep before would stand beside rows that are none of its.
#[test]
fn a_sweep_that_begins_anew_takes_the_old_table_away() {
    let folder = Folder::new();
    let sweep = |values: &str, more: &[&str]| {
        let vary = format!("payload.gripper.mass_kg={values}");
        let asked = [
            "sweep",
            "two-link-arm",
            "--set",
            "simulation.duration_s=0.01",
            "--vary",
            &vary,
            "--out",
            "out",
        ];
        folder.lissom(&[&asked[..], more].concat())
    };
    sweep("0.1,0.2", &[]).says(0, &[]);
    assert!(folder.path.join("out/sweep.csv").exists());
    // it would take hours, and is killed
    let long = ["--restart", "--set", "simulation.duration_s=1e6"];
    let long = [&long[..], &["--set", "output.sample_period_s=1e3"]].concat();
    let vary = ["--vary", "payload.gripper.mass_kg=0.3", "--out", "out"];
    let asked = [&["sweep", "two-link-arm"], &long[..], &vary].concat();
    let mut child = folder.spawn(&asked);
    let identity = || String::from_utf8(folder.read("out/sweep.json")).unwrap();
    while !identity().contains("\"0.3\"") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!folder.path.join("out/sweep.csv").exists());
}

/// Runs whose samples would fill the memory are rows with that error.
#[test]
fn runs_of_a_sweep_beyond_memory_are_refused() {
    let folder = Folder::new();
    let answer = folder.lissom(&[
        "sweep",
        "two-link-arm",
        "--set",
        "output.sample_period_s=1e-6",
        "--vary",
        "simulation.duration_s=100,0.001",
        "--measure",
        "max:shoulder,max:elbow,max:hand",
        "--out",
        "out",
    ]);
    answer.says(0, &["run 1 failed", "GiB"]);
    let table = String::from_utf8(folder.read("out/sweep.csv")).unwrap();
    assert!(table.lines().nth(2).unwrap().ends_with(','), "{table}");
}
