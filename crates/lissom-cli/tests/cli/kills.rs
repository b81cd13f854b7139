//! Commands that are killed at random moments: what they leave is the old or the new, whole, and can be gone on with.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use lissom_io::stored::{self, Stored};
use serde_json::Value;

use crate::Folder;
use crate::checkpoints::same_rows;
use crate::interrupted::temporaries;

const MASSES: [&str; 3] = ["0.1", "0.2", "0.3"];

/// Numbers from 0 to 1 that are the same in every run of the test.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        // Knuth's multiplier; the upper bits are the good ones
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of so many.
    fn choice(&mut self, count: u32) -> usize {
        let share = self.next();
        (1..count)
            .filter(|&i| share * f64::from(count) >= f64::from(i))
            .count()
    }
}

/// A run of the template arm, which can be told by its payload, with checkpoints all the time.
fn run(mass: &str, out: &str) -> Vec<String> {
    let set = [
        "simulation.duration_s=1".to_owned(),
        "output.sample_period_s=0.001".to_owned(),
        format!("payload.gripper.mass_kg={mass}"),
    ];
    let asked = [
        "run",
        "two-link-arm",
        "--quiet",
        "--checkpoint-every",
        "0.01",
        "--out",
        out,
    ];
    let set = set
        .into_iter()
        .flat_map(|change| ["--set".to_owned(), change]);
    asked.into_iter().map(str::to_owned).chain(set).collect()
}

fn compare(mass: &str) -> Vec<String> {
    let mass = format!("payload.gripper.mass_kg={mass}");
    let asked = [
        "compare",
        "two-link-arm",
        "--quiet",
        "--with",
        "default,rigid",
        "--out",
        "compared",
        "--set",
        "simulation.duration_s=0.1",
        "--set",
        &mass,
    ];
    asked.map(str::to_owned).to_vec()
}

fn report() -> Vec<String> {
    let asked = [
        "report",
        "run",
        "--out",
        "run/report.html",
        "--plot",
        "run/plot.svg",
        "--channels",
        "hand.position",
    ];
    asked.map(str::to_owned).to_vec()
}

fn sweep(out: &str) -> Vec<String> {
    let asked = [
        "sweep",
        "two-link-arm",
        "--quiet",
        "--set",
        "simulation.duration_s=0.02",
        "--vary",
        "payload.gripper.mass_kg=0.1:0.8:8",
        "--out",
        out,
    ];
    asked.map(str::to_owned).to_vec()
}

struct Trial {
    folder: Folder,
    /// Runs that nobody disturbed, by their masses.
    whole: BTreeMap<&'static str, Stored>,
    seconds: BTreeMap<String, f64>,
    unfinished: usize,
}

impl Trial {
    fn new() -> Self {
        let folder = Folder::new();
        let mut seconds = BTreeMap::new();
        let mut whole = BTreeMap::new();
        for mass in MASSES {
            let out = format!("whole-{mass}");
            finish(&folder, &run(mass, &out));
            whole.insert(mass, stored::read(&folder.path.join(out)).unwrap());
        }
        let all = [
            run("0.1", "run"),
            compare("0.1"),
            report(),
            sweep("whole-sweep"),
        ];
        for asked in all {
            let began = Instant::now();
            finish(&folder, &asked);
            seconds.insert(asked[0].clone(), began.elapsed().as_secs_f64());
        }
        Self {
            folder,
            whole,
            seconds,
            unfinished: 0,
        }
    }

    /// Kills a command at some moment of its life.
    fn kill(&self, asked: &[String], moment: f64) {
        let words: Vec<&str> = asked.iter().map(String::as_str).collect();
        let mut command = self.folder.command(&words);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(
            1.2 * moment * self.seconds[&asked[0]],
        ));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// The run in its folder is one run, and one that is not at its end comes there.
    fn look_at_run(&mut self) {
        let found = stored::read(&self.folder.path.join("run")).unwrap();
        let mass = mass_of(&found.manifest.options).to_owned();
        let mass = MASSES.into_iter().find(|&known| known == mass).unwrap();
        let whole = &self.whole[mass].recording;
        same_rows(&found.recording, whole, 0.0, mass);
        if found.manifest.completed {
            return;
        }
        self.unfinished += 1;
        assert_eq!(found.manifest.summary["in_progress"], true);
        let rest = [
            run(mass, "run"),
            vec!["--from".to_owned(), "run".to_owned()],
        ]
        .concat();
        finish(&self.folder, &rest);
        let joined = stored::read(&self.folder.path.join("run")).unwrap();
        assert!(joined.manifest.completed);
        assert_eq!(joined.recording.time_s, whole.time_s);
        same_rows(&joined.recording, whole, 0.0, mass);
    }

    /// The runs of a comparison are those that it tells of.
    fn look_at_comparison(&self) {
        let folder = self.folder.path.join("compared");
        let masses = ["default", "rigid"].map(|fidelity| {
            let found = stored::read(&folder.join(fidelity)).unwrap();
            mass_of(&found.manifest.options).to_owned()
        });
        assert_eq!(masses[0], masses[1]);
        let _: Value = self.folder.read_json("compared/comparison.json");
    }

    /// A sweep that is killed comes to the table of one that nobody disturbed.
    fn look_at_sweep(&self) {
        finish(&self.folder, &sweep("sweep"));
        let [found, whole] =
            ["sweep", "whole-sweep"].map(|folder| self.folder.read(&format!("{folder}/sweep.csv")));
        assert_eq!(found, whole);
        std::fs::remove_dir_all(self.folder.path.join("sweep")).unwrap();
    }

    /// Pictures are whole.
    fn look_at_pictures(&self) {
        for (name, end) in [("run/report.html", "</html>"), ("run/plot.svg", "</svg>")] {
            let text = String::from_utf8(self.folder.read(name)).unwrap();
            assert!(text.trim_end().ends_with(end), "{name}");
        }
    }
}

/// The payload that a manifest tells of.
fn mass_of(options: &Value) -> &str {
    let changes = options["set"].as_array().unwrap();
    let mut changes = changes.iter().filter_map(Value::as_str);
    let mass = changes.find_map(|change| change.strip_prefix("payload.gripper.mass_kg="));
    mass.unwrap()
}

fn finish(folder: &Folder, asked: &[String]) {
    let words: Vec<&str> = asked.iter().map(String::as_str).collect();
    folder.lissom(&words).says(0, &[]);
}

/// Kills so many commands, chosen and timed by chance.
fn kill(count: usize, seed: u64) {
    let mut trial = Trial::new();
    let mut chance = Chance(seed);
    for _ in 0..count {
        let mass = MASSES[chance.choice(3)];
        let asked = match chance.choice(5) {
            0 => compare(mass),
            1 => report(),
            2 => sweep("sweep"),
            _ => run(mass, "run"),
        };
        trial.kill(&asked, chance.next());
        if asked[0] == "sweep" {
            trial.look_at_sweep();
        }
        trial.look_at_run();
        trial.look_at_comparison();
        trial.look_at_pictures();
    }
    for asked in [run("0.2", "run"), compare("0.2"), report()] {
        finish(&trial.folder, &asked);
    }
    trial.look_at_comparison();
    assert_eq!(temporaries(&trial.folder.path), [""; 0]);
    // of so many some are killed on their way
    assert!(count < 50 || trial.unfinished > 0);
}

/// A hundred of them, which takes minutes, where `LISSOM_THOROUGH` is set.
#[test]
fn commands_that_are_killed_leave_the_old_or_the_new() {
    let thorough = std::env::var_os("LISSOM_THOROUGH").is_some();
    kill(if thorough { 100 } else { 8 }, 1);
}
