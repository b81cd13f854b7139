//! `lissom sweep`: the same table whatever the number of threads and however often it was stopped; errors as rows; words.

use std::time::Duration;

use crate::{Answer, Folder, number};

const SHORT: [&str; 4] = [
    "sweep",
    "two-link-arm",
    "--set",
    "simulation.duration_s=0.02",
];
const MASSES: [&str; 2] = ["--vary", "payload.gripper.mass_kg=0.1:0.9:5"];

fn table(folder: &Folder, out: &str) -> String {
    String::from_utf8(folder.read(&format!("{out}/sweep.csv"))).unwrap()
}

fn call(folder: &Folder, more: &[&str]) -> Answer {
    folder.lissom(&[&SHORT[..], more].concat())
}

/// Identity: a row is what a run of its own gives, and the number of threads changes no byte.
#[test]
fn rows_are_those_of_single_runs_on_any_number_of_threads() {
    let folder = Folder::new();
    let vary = [
        &MASSES[..],
        &["--vary", "body.*.damping.modal_ratio=0.01,0.03"],
        &[
            "--measure",
            "last:hand.position,peak:elbow.angle,frequencies:2",
        ],
    ]
    .concat();
    for threads in ["1", "2", "7"] {
        let answer = call(
            &folder,
            &[&vary[..], &["--threads", threads, "--out", threads]].concat(),
        );
        answer.says(0, &["10 runs", "hand.position.x.last [m]", "sweep.csv"]);
    }
    let found = table(&folder, "1");
    assert_eq!(found, table(&folder, "2"));
    assert_eq!(found, table(&folder, "7"));
    let mut lines = found.lines();
    assert_eq!(
        lines.next().unwrap(),
        "run,payload.gripper.mass_kg,body.*.damping.modal_ratio,hand.position.x.last [m],hand.position.y.last [m],\
         hand.position.z.last [m],elbow.angle.peak [rad],frequency.1 [rad/s],frequency.2 [rad/s],energy_drift [%],passed_limits [1],error"
    );
    let cells: Vec<&str> = lines.nth(5).unwrap().split(',').collect();
    assert_eq!(cells[..3], ["6", "0.5", "0.03"]);
    let set = [
        "--set",
        "payload.gripper.mass_kg=0.5",
        "--set",
        "body.*.damping.modal_ratio=0.03",
    ];
    let alone = [&["run"], &SHORT[1..], &set, &["--json", "--out", "run"]].concat();
    let alone = folder.json(&alone);
    let last = number(&alone["channels"]["hand.position.x"]["final"]);
    assert_eq!(cells[3].parse::<f64>().unwrap(), last);
    let modes = folder.json(&[&["modes"], &SHORT[1..], &set, &["--json"]].concat());
    let frequency = number(&modes["modes"][0]["frequency_rad_per_s"][0]);
    assert_eq!(cells[7].parse::<f64>().unwrap(), frequency);
}

/// Property: what is in the folder is not run again, cut-off lines are, and another sweep is refused.
#[test]
fn a_sweep_goes_on_in_its_folder() {
    let folder = Folder::new();
    let sweep = [&MASSES[..], &["--out", "out", "--json"]].concat();
    call(&folder, &sweep).says(0, &["\"done_before\":0"]);
    let whole = table(&folder, "out");
    let rows = String::from_utf8(folder.read("out/rows.txt")).unwrap();
    assert_eq!(rows.lines().count(), 5);
    // two rows, of which the second was being written when the machine stopped
    let first = rows.find('\n').unwrap() + 1;
    folder.write("out/rows.txt", &rows[..first + 9]);
    call(&folder, &sweep).says(0, &["\"done_before\":1", "\"done\":5"]);
    assert_eq!(table(&folder, "out"), whole);
    call(&folder, &sweep).says(0, &["\"done_before\":5"]);
    let other = [&sweep[..], &["--set", "simulation.duration_s=0.01"]].concat();
    call(&folder, &other).says(1, &["another sweep", "--restart"]);
    call(&folder, &[&other[..], &["--restart"]].concat()).says(0, &["\"done_before\":0"]);
    assert_ne!(table(&folder, "out"), whole);
    folder.write("out/rows.txt", "no row\n");
    call(&folder, &other).says(1, &["line 1 of", "is no row"]);
}

/// By construction: a model that is refused and a run that fails are rows with their errors.
#[test]
fn failures_are_rows() {
    let folder = Folder::new();
    folder.write(
        "values.csv",
        "payload.gripper.mass_kg,simulation.integrator\n-1,{dop853={}}\n0.5,{dop853={}}\n0.5,{dop853={max_steps=2}}\n",
    );
    let answer = call(&folder, &["--table", "values.csv", "--out", "out"]);
    answer.says(0, &["3 runs, of which 2 failed", "run 1 failed", "mass_kg"]);
    let found = table(&folder, "out");
    let rows: Vec<&str> = found.lines().skip(1).collect();
    assert!(rows[0].starts_with("1,-1,{dop853={}},,") && rows[0].contains("mass_kg"));
    assert!(rows[1].ends_with(','), "{}", rows[1]);
    assert!(rows[2].contains("steps"), "{}", rows[2]);
    let columns = found.lines().next().unwrap().split(',').count();
    assert_eq!(rows[1].split(',').count(), columns);
    let answer = call(
        &folder,
        &["--vary", "payload.gripper.mass_kg=-1,-2", "--out", "none"],
    );
    answer.says(1, &["every run failed"]);
}

/// Property: the same seed draws the same values, another one others.
#[test]
fn what_is_drawn_is_the_seeds() {
    let folder = Folder::new();
    let drawn = |out: &str, more: &[&str]| {
        let vary = [
            "--vary",
            "payload.gripper.mass_kg=normal(0.5,0.1)",
            "--runs",
            "4",
            "--out",
            out,
        ];
        call(&folder, &[&vary[..], more].concat()).says(0, &["4 runs"]);
        table(&folder, out)
    };
    let found = drawn("a", &[]);
    assert_eq!(found, drawn("b", &["--seed", "0"]));
    assert_ne!(found, drawn("c", &["--seed", "1"]));
    assert_ne!(found, drawn("d", &["--drawing", "latin_hypercube"]));
}

#[test]
fn wrong_usage_is_told() {
    let folder = Folder::new();
    for (more, says) in [
        (&["--vary", "payload.gripper.mass_kg"][..], "has no `=`"),
        (&["--vary", "a=uniform(0,1)"], "--runs 1000"),
        (&["--vary", "a=1,2", "--runs", "3"], "lists make a grid"),
        (
            &["--vary", "a=1,2", "--vary", "b=uniform(0,1)", "--runs", "3"],
            "has a list",
        ),
        (
            &["--vary", "a=1", "--measure", "last:hand.positon"],
            "did you mean `hand.position",
        ),
        (
            &["--vary", "a=1", "--measure", "most:hand"],
            "is no measure",
        ),
        (&[], "--vary"),
    ] {
        call(&folder, more).says(2, &[says]);
    }
    call(&folder, &["--table", "missing.csv"]).says(1, &["missing.csv"]);
    assert!(!folder.path.join("results").exists());
}

/// Ctrl-C ends with what is done, and the same command does the rest.
#[cfg(unix)]
#[test]
fn interruption_keeps_the_rows() {
    let folder = Folder::new();
    // the first run is short, the second would take hours
    folder.write(
        "values.csv",
        "simulation.duration_s,output.sample_period_s\n0.01,0.01\n1e6,1e3\n",
    );
    let arguments = [
        "sweep",
        "two-link-arm",
        "--table",
        "values.csv",
        "--out",
        "out",
        "--threads",
        "2",
    ];
    let child = folder.spawn(&arguments);
    let is_there =
        || std::fs::read(folder.path.join("out/rows.txt")).is_ok_and(|rows| !rows.is_empty());
    while !is_there() {
        std::thread::sleep(Duration::from_millis(5));
    }
    crate::send("-INT", &child);
    let answer = Answer::of(child, &arguments);
    answer.says(130, &["interrupted after 1 of 2 runs", "goes on"]);
    assert!(answer.stdout.contains("1 run"), "{}", answer.stdout);
    assert_eq!(table(&folder, "out").lines().count(), 2);
}

/// By construction: pipes are neither waited for nor read, and a table that cannot be written is found before the runs.
#[cfg(unix)]
#[test]
fn pipes_and_links_are_refused_before_the_runs() {
    let folder = Folder::new();
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo")
            .arg(folder.path.join(name))
            .status();
        assert!(made.unwrap().success());
    };
    pipe("values.csv");
    call(&folder, &["--table", "values.csv"]).says(1, &["values.csv is not a file"]);
    for out in ["piped", "linked"] {
        std::fs::create_dir(folder.path.join(out)).unwrap();
    }
    pipe("piped/sweep.json");
    let varied = |out: &'static str| call(&folder, &[&MASSES[..], &["--out", out]].concat());
    varied("piped").says(1, &["sweep.json is a device, a pipe or a socket"]);
    folder.write("kept.csv", "kept");
    let link = folder.path.join("linked/sweep.csv");
    std::os::unix::fs::symlink(folder.path.join("kept.csv"), link).unwrap();
    varied("linked").says(1, &["sweep.csv is a link"]);
    assert!(!folder.path.join("linked/rows.txt").exists());
    assert_eq!(folder.read("kept.csv"), b"kept");
}
