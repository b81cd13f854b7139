//! Processes that are killed or asked to end: a folder of results is always that of one run.

#![cfg(unix)]

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lissom_io::checksum::Checksum;
use lissom_io::stored;

use crate::{Answer, Folder, send};

const OUT: &str = "results/arm";

/// A short run of the template arm, which can be told by its payload.
fn arguments(mass_kg: &str) -> Vec<String> {
    let set = [
        "simulation.duration_s=0.2",
        "output.sample_period_s=0.0002",
        &format!("payload.gripper.mass_kg={mass_kg}"),
    ];
    let set = set.iter().flat_map(|change| ["--set", change]);
    let asked = ["run", "two-link-arm", "--quiet", "--out", OUT];
    asked.into_iter().chain(set).map(str::to_owned).collect()
}

fn spawned(folder: &Folder, mass_kg: &str) -> Child {
    let arguments = arguments(mass_kg);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = folder.command(&arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Of runs that are killed at moments all over their duration each leaves the old results or the new ones, whole.
#[test]
fn a_run_that_is_killed_leaves_the_old_results_or_the_new_ones() {
    let folder = Folder::new();
    let began = Instant::now();
    assert!(spawned(&folder, "0.1").wait().unwrap().success());
    let whole = began.elapsed();
    let mut masses = ["0.2", "0.3"].into_iter().cycle();
    let mut current = "0.1".to_owned();
    const KILLS: u32 = 24;
    for kill in 0..KILLS {
        let mass = masses.next().unwrap();
        let mut child = spawned(&folder, mass);
        // the last quarter of a run is where files are written
        let share = 0.6 + 0.6 * f64::from(kill) / f64::from(KILLS);
        std::thread::sleep(whole.mul_f64(share));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = stored::read(&folder.path.join(OUT));
        let found = found.unwrap_or_else(|error| panic!("after kill {kill}: {error}"));
        assert!(found.manifest.completed);
        let says = |mass: &str| {
            let changes = found.manifest.options["set"].to_string();
            changes.contains(&format!("mass_kg={mass}\""))
        };
        assert!(says(&current) || says(mass), "after kill {kill}");
        if says(mass) {
            current = mass.to_owned();
        }
        // what others read beside the manifest is that of the same run
        let csv = lissom_io::csv::read(&folder.read(&format!("{OUT}/recording.csv")));
        if !has_stage(&folder) {
            assert_eq!(csv.unwrap(), found.recording, "after kill {kill}");
        }
    }
    // the next run finds whatever was left, and leaves nothing of it
    assert!(spawned(&folder, "0.4").wait().unwrap().success());
    assert!(!has_stage(&folder));
    stored::read(&folder.path.join(OUT)).unwrap();
}

/// Whether a batch of files is on its way in the folder.
fn has_stage(folder: &Folder) -> bool {
    let entries = std::fs::read_dir(folder.path.join(OUT)).unwrap();
    let mut names = entries.map(|entry| entry.unwrap().file_name());
    names.any(|name| name.to_string_lossy().starts_with(".lissom-"))
}

/// Batch systems and closed terminals ask by other signals than Ctrl-C; what was computed is kept all the same.
#[test]
fn a_run_that_is_asked_to_end_keeps_what_it_has() {
    // what nohup starts ignores SIGHUP, these tests and all that they start too
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find(|line| line.starts_with("SigIgn:"));
    let hangs_up =
        !ignored.is_some_and(|mask| mask.ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']));
    for signal in ["-TERM", "-HUP"]
        .into_iter()
        .filter(|signal| *signal == "-TERM" || hangs_up)
    {
        let folder = Folder::new();
        let asked = [
            "run",
            "two-link-arm",
            "--json",
            "--set",
            "simulation.duration_s=3000",
        ];
        let child = folder.spawn(&asked);
        // the handler is in place when the folder is
        let out = folder.path.join("results/two-link-arm");
        while !out.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(300));
        send(signal, &child);
        let answer = Answer::of(child, &asked);
        answer.says(130, &["interrupted at"]);
        let found = stored::read(&out).unwrap();
        assert!(!found.manifest.completed && found.recording.len() > 1);
    }
}

/// Whoever starts a long run by `nohup` wants it to outlive the terminal; other signals are heard all the same.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let folder = Folder::new();
    let asked = [
        "run",
        "two-link-arm",
        "--json",
        "--set",
        "simulation.duration_s=3000",
        // steps of a fixed length, since those of others grow once the arm has come to rest
        "--set",
        "simulation.integrator={generalized_alpha={step_s=1e-4}}",
        "--set",
        "output.sample_period_s=1",
    ];
    let lissom = folder.command(&asked);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(lissom.get_program())
        .args(lissom.get_args())
        .current_dir(&folder.path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let out = folder.path.join("results/two-link-arm");
    while !out.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    send("-HUP", &child);
    // longer than a command takes that hears it
    std::thread::sleep(Duration::from_secs(2));
    assert!(child.try_wait().unwrap().is_none(), "it ended");
    send("-TERM", &child);
    Answer::of(child, &asked).says(130, &["interrupted at"]);
}

/// Parts of two runs are not taken for one, and it is said which part is another's.
#[test]
fn a_recording_with_parts_of_two_runs_is_refused() {
    let folder = Folder::new();
    for mass in ["0.1", "0.2"] {
        assert!(spawned(&folder, mass).wait().unwrap().success());
        let npz = folder.read(&format!("{OUT}/recording.npz"));
        folder.write(&format!("{mass}.npz"), npz);
    }
    folder.write(&format!("{OUT}/recording.npz"), folder.read("0.1.npz"));
    let refused = folder.lissom(&["report", OUT]);
    refused.says(1, &["recording.npz", "another run"]);
    folder.write(&format!("{OUT}/state.json"), "{}");
    let refused = folder.lissom(&["run", "two-link-arm", "--from", OUT]);
    refused.says(1, &["state.json", "another run"]);
}

/// A pipe in the place of a file would be waited for; a link would be replaced.
#[test]
fn pipes_and_links_are_neither_read_nor_replaced() {
    let folder = Folder::new();
    assert!(spawned(&folder, "0.1").wait().unwrap().success());
    let manifest = folder.path.join(OUT).join("manifest.json");
    std::fs::remove_file(&manifest).unwrap();
    let made = Command::new("mkfifo").arg(&manifest).status().unwrap();
    assert!(made.success());
    let refused = folder.lissom(&["report", OUT]);
    refused.says(1, &["manifest.json", "not a file"]);
    let refused = folder.lissom(&["run", "two-link-arm", "--out", OUT]);
    refused.says(1, &["manifest.json", "a pipe"]);
    let pipe = manifest.to_str().unwrap();
    let refused = folder.lissom(&["eval", "two-link-arm", "--state", pipe]);
    refused.says(1, &["manifest.json", "not a file"]);
    // nor is one that stands where the folder should
    for from in [
        format!("{pipe}/state.json"),
        format!("{pipe}/manifest.json"),
    ] {
        let refused = folder.lissom(&["run", "two-link-arm", "--from", &from]);
        refused.says(1, &["cannot read"]);
    }
    std::fs::remove_file(&manifest).unwrap();
    std::os::unix::fs::symlink("/dev/null", &manifest).unwrap();
    let refused = folder.lissom(&["run", "two-link-arm", "--out", OUT]);
    refused.says(1, &["manifest.json is a link"]);
    for (verb, option) in [("equilibrium", "--out"), ("modes", "--csv")] {
        let refused = folder.lissom(&[verb, "two-link-arm", option, "/dev/null"]);
        refused.says(1, &["/dev/null is a device"]);
    }
}

/// A socket is no file either, and a folder that cannot be had is found before the run: this one would take minutes.
#[test]
fn what_cannot_be_written_is_found_before_the_run() {
    let folder = Folder::new();
    let out = folder.path.join("socket");
    std::fs::create_dir_all(&out).unwrap();
    // paths of sockets are short, and that of the folder may not be
    let made = Command::new("python3")
        .args([
            "-c",
            "import socket; socket.socket(socket.AF_UNIX).bind('state.json')",
        ])
        .current_dir(&out)
        .status();
    let long = "simulation.duration_s=30000";
    if made.is_ok_and(|made| made.success()) {
        let refused = folder.lissom(&["run", "two-link-arm", "--set", long, "--out", "socket"]);
        refused.says(1, &["state.json is a device, a pipe or a socket"]);
    }
    folder.write("file", "");
    for verb in ["run", "compare", "converge", "perturb"] {
        let refused = folder.lissom(&[verb, "two-link-arm", "--set", long, "--out", "file/below"]);
        refused.says(1, &["file/below"]);
        let refused = folder.lissom(&[verb, "two-link-arm", "--set", long, "--plot", "file/x.png"]);
        refused.says(1, &["file/x.png"]);
    }
    // said before the model is read, which is none
    for (verb, option) in [
        ("equilibrium", "--out"),
        ("linearize", "--out"),
        ("response", "--out"),
        ("modes", "--csv"),
        ("body", "--out"),
    ] {
        let model = if verb == "body" { "file:x" } else { "file" };
        let refused = folder.lissom(&[verb, model, option, "file/x.json"]);
        refused.says(1, &["cannot write file/x.json"]);
    }
}

/// A comparison that is interrupted leaves nothing of the one before beside what it has, and files in the places of its folders are found
/// before its runs.
#[test]
fn an_interrupted_comparison_is_one_comparison() {
    let folder = Folder::new();
    let asked = |duration_s: &'static str| {
        let set = [
            "--set",
            duration_s,
            "--set",
            "output.sample_period_s=0.01",
            "--out",
            "compared",
        ];
        [
            &["compare", "two-link-arm", "--with", "default,rigid"][..],
            &set,
        ]
        .concat()
    };
    let short = asked("simulation.duration_s=0.1");
    folder.lissom(&short).says(0, &[]);
    assert!(folder.path.join("compared/rigid/manifest.json").exists());
    let long = asked("simulation.duration_s=3000");
    let child = folder.spawn(&long);
    std::thread::sleep(Duration::from_secs(1));
    send("-INT", &child);
    Answer::of(child, &long).says(130, &["interrupted at"]);
    let told = folder.read_json("compared/comparison.json");
    assert_eq!(told["runs"].as_array().unwrap().len(), 1);
    assert!(!folder.path.join("compared/rigid").exists());

    folder.write("file/rigid", "");
    let mut in_the_way = long.clone();
    *in_the_way.last_mut().unwrap() = "file";
    let refused = folder.lissom(&in_the_way);
    refused.says(1, &["cannot write file/rigid"]);
}

/// A comparison replaces all files of the runs that it makes anew, those too that it does not write this time.
#[test]
fn a_comparison_leaves_no_files_of_the_one_before() {
    let folder = Folder::new();
    for (formats, has_mat) in [("[\"csv\", \"mat\"]", true), ("[\"csv\"]", false)] {
        let formats = format!("output.formats={formats}");
        let asked = [
            "compare",
            "two-link-arm",
            "--quiet",
            "--with",
            "default,rigid",
            "--set",
            "simulation.duration_s=0.01",
            "--set",
            &formats,
        ];
        folder.lissom(&asked).says(0, &[]);
        let mat = "results/two-link-arm-compare/default/recording.mat";
        assert_eq!(folder.path.join(mat).exists(), has_mat);
    }
}

/// A doctored manifest cannot have files read that do not lie beside it.
#[test]
fn a_recording_reads_nothing_outside_its_folder() {
    let folder = Folder::new();
    assert!(spawned(&folder, "0.1").wait().unwrap().success());
    folder.write("secret.json", "{}");
    let name = format!("{OUT}/manifest.json");
    let mut manifest = folder.read_json(&name);
    let model = manifest["model"].as_str().unwrap();
    let model = format!(
        "{model}\n[[body]]\nname = \"x\"\nnodal_file = \"secret.json\"\n[[joint]]\nname = \"y\"\nparent = \"ground\"\nchild = \"x\"\nfixed = {{}}\n"
    );
    manifest["model"] = model.into();
    folder.write(&name, manifest.to_string());
    let refused = folder.lissom(&["report", OUT]);
    assert!(!refused.stderr.contains("write an object"), "it was read");
    refused.says(1, &["secret.json", "the manifest tells of no such file"]);
}

/// Results that a killed process had complete count, wherever the folder is named from.
#[test]
fn complete_results_are_read_from_inside_their_folder_too() {
    let folder = Folder::new();
    for (out, duration) in [("old/default", "0.01"), ("new/default", "0.02")] {
        let duration = format!("simulation.duration_s={duration}");
        let asked = ["run", "two-link-arm", "--out", out, "--set", &duration];
        folder.lissom(&asked).says(0, &[]);
    }
    let evaluated = |within: &str, from: &str| {
        let mut command = folder.command(&["eval", "two-link-arm", "--json", "--from", from]);
        command.current_dir(folder.path.join(within));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{from} within {within}");
        output.stdout
    };
    let new = evaluated("new/default", "manifest.json");
    assert_ne!(evaluated("old/default", "manifest.json"), new);
    // as a run and as a comparison leave them
    for (stage, within) in [("old/default", ""), ("old", "default")] {
        let done = folder.path.join(stage).join(".lissom-0-0.done");
        let complete = done.join(within);
        std::fs::create_dir_all(&complete).unwrap();
        for name in ["manifest.json", "state.json", "recording.npz"] {
            let from = folder.path.join("new/default").join(name);
            std::fs::copy(from, complete.join(name)).unwrap();
        }
        for (within, from) in [
            ("old/default", "."),
            ("old/default", "manifest.json"),
            ("old/default", "state.json"),
            ("old", "default"),
            ("old", "default/state.json"),
            (".", "old/default"),
        ] {
            assert_eq!(evaluated(within, from), new, "{from} within {within}");
        }
        std::fs::remove_dir_all(done).unwrap();
    }
}

/// A recording that was changed, its manifest with it, is not gone on with.
#[test]
fn recordings_with_other_channels_are_not_continued() {
    let folder = Folder::new();
    let run = |duration: &str, further: &[&str]| {
        let duration = format!("simulation.duration_s={duration}");
        let formats = "output.formats=[\"csv\"]";
        let asked = [
            "run",
            "two-link-arm",
            "--out",
            "arm",
            "--set",
            &duration,
            "--set",
            formats,
        ];
        folder.lissom(&[&asked[..], further].concat())
    };
    run("0.01", &[]).says(0, &[]);
    let csv = String::from_utf8(folder.read("arm/recording.csv")).unwrap();
    let with = |line: (usize, &str)| match line {
        (0, names) => format!("{names},extra [m]\n"),
        (_, numbers) => format!("{numbers},1.0\n"),
    };
    let csv: String = csv.lines().enumerate().map(with).collect();
    let mut manifest = folder.read_json("arm/manifest.json");
    let channels = manifest["channels"].as_array_mut().unwrap();
    channels.push(serde_json::json!({ "name": "extra", "unit": "m" }));
    let files = manifest["files"].as_array_mut().unwrap();
    let entry = files
        .iter_mut()
        .find(|file| file["name"] == "recording.csv");
    let entry = entry.unwrap();
    let mut checksum = Checksum::of(std::io::sink());
    checksum.write_all(csv.as_bytes()).unwrap();
    let (_, bytes, crc32) = checksum.finish();
    entry["bytes"] = bytes.into();
    entry["crc32"] = crc32.into();
    folder.write("arm/recording.csv", csv);
    folder.write("arm/manifest.json", manifest.to_string());
    run("0.02", &["--from", "arm"]).says(1, &["other channels", "--out"]);
}

/// What does not fit on the disk, here by a limit of the shell, leaves nothing.
#[test]
fn a_new_model_that_cannot_be_written_whole_is_not_left() {
    let folder = Folder::new();
    let lissom = env!("CARGO_BIN_EXE_lissom");
    let script = format!("trap '' XFSZ; ulimit -f 1; exec '{lissom}' new arm.toml");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(&folder.path);
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    Answer::of(shell.spawn().unwrap(), &["new"]).says(1, &["cannot write arm.toml"]);
    assert!(!folder.path.join("arm.toml").exists());
}
