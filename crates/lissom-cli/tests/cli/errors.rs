//! Whatever is wrong is explained: where, what, and what to do. Nothing panics.

use crate::{Answer, Folder};

const FIVE_SLIPS: &str = r#"format = 1
gravity = [0, 0, -9.81]

[[body]]
name = "a"
[body.beam]
lenght_m = 1.0
mass_per_length_kg_per_m = -0.8
bending_stiffness_y_n_m2 = 120.0
[body.beam.basis.clamped_free]
bending_y = 2

[[joint]]
name = "j"
parent = "grund"
child = "a"
[joint.revolute]
axis = [0.0, 0.0, 0.0]
"#;

#[test]
fn a_file_named_without_its_ending_is_pointed_out() {
    let folder = Folder::new();
    folder.write("arm.toml", FIVE_SLIPS);
    folder.write("robot.urdf", "<robot/>");
    let told = [
        ("arm", "did you mean `arm.toml`?"),
        ("robot", "`robot.urdf`?"),
    ];
    for (name, remedy) in told {
        folder.lissom(&["run", name]).says(1, &[remedy]);
    }
}

#[test]
fn items_without_names_are_said_to_go_by_number() {
    let change = "motion.slide.cycloid.duration_s=2";
    Folder::new()
        .lissom(&["check", "sliding-boom", "--set", change])
        .says(
            1,
            &["called `slide`: these items have no names and go by number, 0 to 1"],
        );
}

#[test]
fn all_slips_of_a_model_are_shown_with_line_and_remedy() {
    let folder = Folder::new();
    folder.write("arm.toml", FIVE_SLIPS);
    for verb in ["check", "run"] {
        let answer = folder.lissom(&[verb, "arm.toml"]);
        answer.says(
            1,
            &[
                "arm.toml:2:1",
                "write `gravity_m_per_s2`",
                "arm.toml:7:1",
                "did you mean `length_m`?",
                "arm.toml:8:28",
                "^^^^",
                "arm.toml:15:10",
                "did you mean \"ground\"?",
                "arm.toml:18:8",
                "5 problems found in arm.toml",
            ],
        );
        assert_eq!(answer.stdout, "");
    }
    assert!(!folder.path.join("results").exists(), "nothing is written");
}

#[test]
fn wrong_usage_exits_with_two() {
    let folder = Folder::new();
    for arguments in [
        &[][..],
        &["rnu"],
        &["check"],
        &["run", "two-link-arm", "--at", "soon"],
        &["run", "two-link-arm", "--at", "nan"],
        &["run", "two-link-arm", "--at", "4"],
        &["run", "two-link-arm", "--set", "duration"],
        &["run", "two-link-arm", "--fidelity", "best"],
        &["eval", "two-link-arm"],
    ] {
        let answer = folder.lissom(arguments);
        assert_eq!(answer.code, 2, "{arguments:?}: {}", answer.stderr);
        assert!(!answer.stderr.is_empty());
    }
    let answer = folder.lissom(&["run"]);
    answer.says(2, &["two-link-arm", "spin-up-beam", "which model?"]);
}

#[test]
fn what_is_no_model_is_explained() {
    let folder = Folder::new();
    folder.write("binary.toml", [0x66, 0xff, 0x00, 0x80]);
    folder.write("empty.toml", "");
    folder.write("unclosed.toml", "format = 1\nname = \"arm");
    folder.write("zero.toml", "format = 1\u{0}\n");
    std::fs::create_dir(folder.path.join("folder.toml")).unwrap();
    for (model, words) in [
        ("missing.toml", "cannot read missing.toml"),
        ("space_arm", "did you mean `space-arm`?"),
        ("folder.toml", "is not a file"),
        ("binary.toml", "not UTF-8 at byte 1"),
        ("empty.toml", "`format` is missing"),
        ("unclosed.toml", "unclosed.toml:2:"),
        ("zero.toml", "zero.toml:1:"),
    ] {
        folder.lissom(&["check", model]).says(1, &[words]);
    }
}

#[test]
fn overrides_that_break_the_model_are_named() {
    let folder = Folder::new();
    let length = "body.forearm.beam.length_m=-1";
    folder
        .lissom(&["run", "two-link-arm", "--set", length])
        .says(1, &[length, "above zero"]);
    let unknown = "joint.elbo.revolute.axis=[1,0,0]";
    folder
        .lissom(&["run", "two-link-arm", "--set", unknown])
        .says(1, &["did you mean `elbow`?"]);
}

#[test]
fn states_that_make_no_sense_are_explained() {
    let folder = Folder::new();
    for (state, words) in [
        (
            r#"{"velocity": {"elbow.angl.rate": 1}}"#,
            "did you mean `elbow.angle.rate`?",
        ),
        (r#"{"velocities": []}"#, "did you mean `velocity`?"),
        (
            r#"{"force": [1, 2]}"#,
            "has 2 numbers, expected 17: float.angular_velocity.x",
        ),
        (
            r#"{"position": {"elbow.angle": null}}"#,
            "is null, expected a finite number",
        ),
        (r#"{"position": "zero"}"#, "expected a list of 18 numbers"),
        (
            r#"{"position": {"float.quaternion.w": 2}}"#,
            "has length 2, expected 1",
        ),
        (
            r#"{"velocity": {"elbow.angle.rate": 1e999}}"#,
            "out of range",
        ),
        (r#"{"velocity": NaN}"#, "not JSON"),
        ("[1, 2]", "holds no object"),
        ("", "not JSON"),
    ] {
        folder.write("state.json", state);
        let arguments = ["eval", "space-arm", "--state", "state.json", "--json"];
        let answer = folder.lissom(&arguments);
        answer.says(1, &[words, "state.json"]);
        assert_eq!(answer.stdout, "");
    }
    let many: Vec<String> = (0..1000).map(|i| format!("\"k{i}\": 1.0")).collect();
    folder.write(
        "many.json",
        format!("{{\"position\": {{{}}}}}", many.join(",")),
    );
    let answer = folder.lissom(&["eval", "space-arm", "--state", "many.json"]);
    answer.says(1, &["1000 problems found", "the first 50 are shown"]);
    assert!(answer.stderr.lines().count() < 60);
    folder
        .lissom(&["eval", "space-arm", "--state", "."])
        .says(1, &[". is not a file"]);
    folder
        .lissom(&["eval", "space-arm", "--state", "none"])
        .says(1, &["cannot read none"]);
}

/// A state too large for the equations is told, and no NaN passes for an answer.
#[test]
fn a_state_beyond_all_bounds_is_no_answer() {
    let folder = Folder::new();
    folder.write(
        "fast.json",
        r#"{"velocity": {"shoulder.angle.rate": 1e200}}"#,
    );
    for json in [&["--json"][..], &[]] {
        let arguments = [&["eval", "two-link-arm", "--state", "fast.json"], json].concat();
        folder
            .lissom(&arguments)
            .says(1, &["no finite number for shoulder.angle.rate", "smaller"]);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_told_before_the_run() {
    let folder = Folder::new();
    folder.write("file", "");
    let endless = [
        "--set",
        "simulation.duration_s=1e6",
        "--set",
        "output.sample_period_s=1e5",
    ];
    let mut arguments = vec!["run", "two-link-arm", "--out", "file/below"];
    arguments.extend(endless);
    folder
        .lissom(&arguments)
        .says(1, &["cannot make the folder file/below"]);
}

#[test]
fn a_recording_beyond_memory_is_refused() {
    let changes = [
        "--set",
        "simulation.duration_s=1e8",
        "--set",
        "output.sample_period_s=1",
    ];
    // few channels of so many samples are too many too
    for more in [&[][..], &["--set", "output.channels=[\"shoulder.\"]"]] {
        let arguments = [&["run", "two-link-arm"][..], &changes, more].concat();
        Folder::new()
            .lissom(&arguments)
            .says(1, &["GiB", "output.sample_period_s"]);
    }
}

#[test]
fn a_reader_who_leaves_early_is_no_error() {
    let folder = Folder::new();
    for arguments in [
        &["schema"][..],
        &["run", "--help"],
        &["check", "two-link-arm"],
        &["check", "two-link-arm", "--json"],
    ] {
        let mut child = folder.spawn(arguments);
        drop(child.stdout.take());
        Answer::of(child, arguments).says(0, &[]);
    }
}

/// Robustness: cut and mangled models are refused or run, and nothing panics.
#[test]
fn mangled_models_do_not_panic() {
    const CUTS: usize = 25;
    let folder = Folder::new();
    let text = lissom::TEMPLATE.as_bytes();
    for cut in 0..CUTS {
        let at = text.len() * cut / CUTS + 7 * cut % 31;
        folder.write("cut.toml", &text[..at.min(text.len())]);
        let mut mangled = text.to_vec();
        mangled[at % text.len()] = b"[]\"=.-9\n\xe2"[cut % 9];
        folder.write("mangled.toml", mangled);
        for model in ["cut.toml", "mangled.toml"] {
            let answer = folder.lissom(&["check", model]);
            assert!((0..=1).contains(&answer.code), "{at}: {}", answer.stderr);
        }
    }
}

/// Names in a model can hold anything; a terminal obeys none of it.
#[test]
fn escapes_in_names_are_shown_harmlessly() {
    let obeyed = |c: char| {
        let turns = ('\u{202A}'..='\u{202E}').contains(&c);
        turns || c.is_control() && c != '\n' && c != '\t'
    };
    let folder = Folder::new();
    let name = "name=\"a\\u001B[2Jb\\u009B31m\\u202E\"";
    for words in [&["check", "two-link-arm"][..], &["modes", "two-link-arm"]] {
        let answer = folder.lissom(&[words, &["--set", name]].concat());
        answer.says(0, &["a\\u{1b}[2Jb\\u{9b}31m\\u{202e}"]);
        assert!(!answer.stdout.contains(obeyed), "{:?}", answer.stdout);
    }
    folder.write(
        "hostile.toml",
        "format = 1\n[[body]]\nname = \"a\\u001B[2Jb\\u009B31m\"\nrigid = { mass_kg = -1.0 }\n# \u{1b}]0;title\u{7}\u{202E}\n",
    );
    for arguments in [
        ["check", "hostile.toml"],
        ["run", "hostile.toml"],
        ["check", "no\u{1b}[2Jfile\u{202D}"],
    ] {
        let answer = folder.lissom(&arguments);
        assert_eq!(answer.code, 1);
        assert!(!answer.stderr.contains(obeyed), "{:?}", answer.stderr);
    }
    // a pattern of the shell may stand for such names
    for words in [
        ["check", "--\u{1b}[2Jx"],
        ["sweep", "--vary=\u{1b}]0;x\u{7}"],
        ["\u{202E}run", "x"],
    ] {
        let answer = folder.lissom(&words);
        assert_eq!(answer.code, 2);
        assert!(!answer.stderr.contains(obeyed), "{:?}", answer.stderr);
    }
}
