//! `lissom report`, and the pictures of `run` and `compare`.

use serde_json::Value;

use super::Folder;

/// A quick run of the template.
const SHORT: [&str; 4] = ["run", "two-link-arm", "--set", "simulation.duration_s=0.2"];

fn run(folder: &Folder, more: &[&str]) {
    let answer = folder.lissom(&[&SHORT[..], &["--quiet"], more].concat());
    assert_eq!(answer.code, 0, "{}", answer.stderr);
}

/// The JSON object that a page carries.
fn carried(page: &[u8]) -> Value {
    let page = std::str::from_utf8(page).unwrap();
    let (_, rest) = page.split_once("<script id=\"lissom-json\"").unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

/// Identity: the page of a run is the page of its recording read back, from either format.
#[test]
fn a_recording_is_read_back() {
    let folder = Folder::new();
    run(&folder, &["--report", "--out", "npz/two-link-arm"]);
    let page = folder.read("npz/two-link-arm/report.html");
    for path in [
        "npz/two-link-arm",
        "npz/two-link-arm/recording.npz",
        "npz/two-link-arm/manifest.json",
    ] {
        let answer = folder.lissom(&["report", path, "--out", "again.html"]);
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        assert!(answer.stdout.contains("again.html"), "{}", answer.stdout);
        assert!(folder.read("again.html") == page, "{path}");
    }
    run(
        &folder,
        &[
            "--set",
            "output.formats=[\"csv\"]",
            "--report",
            "--out",
            "csv/two-link-arm",
        ],
    );
    let from_csv = folder.read("csv/two-link-arm/report.html");
    let answer = folder.lissom(&[
        "report",
        "csv/two-link-arm",
        "--out",
        "again.html",
        "--json",
    ]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let said: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(said["files"][0], "again.html");
    assert!(folder.read("again.html") == from_csv);
}

/// Property: what the page carries is complete, and no text of a model can end the script it stands in.
#[test]
fn the_page_carries_the_run() {
    let folder = Folder::new();
    let name = "name=\"</script><b>& arm\"";
    run(&folder, &["--report", "--out", "out", "--set", name]);
    let page = folder.read("out/report.html");
    let report = carried(&page);
    assert_eq!(report["title"], "</script><b>& arm");
    let recording = &report["recordings"][0];
    let manifest = folder.read_json("out/manifest.json");
    let names = |list: &Value| -> Vec<Value> {
        let list = list.as_array().unwrap().iter();
        list.map(|channel| channel["name"].clone()).collect()
    };
    // what was recorded, then the natural frequencies of its motion
    let (shown, recorded) = (names(&recording["channels"]), names(&manifest["channels"]));
    assert_eq!(shown[..recorded.len()], recorded);
    let modes: Vec<String> = (1..=6)
        .map(|mode| format!("frequency.mode_{mode}"))
        .collect();
    assert_eq!(shown[recorded.len()..], modes);
    let panels = report["panels"].as_array().unwrap();
    assert_eq!(*panels.last().unwrap(), serde_json::json!(modes));
    assert_eq!(recording["model_text"], manifest["model"]);
    assert_eq!(recording["fidelity"], manifest["fidelity"]);
    assert_eq!(recording["verdicts"][0]["words"], "completed 0.2 s");
    assert_eq!(
        recording["model_summary"]["bodies"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert!(recording["scene"]["bodies"].as_array().unwrap().len() >= 2);
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("<title>&lt;/script>&lt;b>&amp; arm</title>"));
}

/// Several recordings have names that tell them apart, and a comparison is such a report.
#[test]
fn several_recordings() {
    let folder = Folder::new();
    run(&folder, &["--out", "light/arm"]);
    run(
        &folder,
        &["--out", "heavy/arm", "--set", "payload.gripper.mass_kg=0.6"],
    );
    let answer = folder.lissom(&[
        "report",
        "light/arm",
        "heavy/arm",
        "--out",
        "both.html",
        "--quiet",
    ]);
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
    let report = carried(&folder.read("both.html"));
    let labels: Vec<&str> = (report["recordings"].as_array().unwrap().iter())
        .map(|recording| recording["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["light/arm", "heavy/arm"]);

    let answer = folder.lissom(&[
        "compare",
        "two-link-arm",
        "--with",
        "default,ruthless",
        "--set",
        "simulation.duration_s=0.2",
        "--report",
        "--plot",
        "compared.png",
        "--out",
        "compared",
    ]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let report = carried(&folder.read("compared/report.html"));
    assert_eq!(report["recordings"][1]["label"], "ruthless");
    assert!(folder.read("compared.png").starts_with(b"\x89PNG"));
    assert!(answer.stdout.contains("report.html"), "{}", answer.stdout);
}

/// A recording without coordinates has a page that says so; what cannot be read is named.
#[test]
fn what_is_missing_is_said() {
    let folder = Folder::new();
    run(
        &folder,
        &[
            "--set",
            "output.channels=[\"energy\"]",
            "--report",
            "--out",
            "out",
        ],
    );
    let report = carried(&folder.read("out/report.html"));
    let reason = report["recordings"][0]["no_animation"].as_str().unwrap();
    assert!(reason.contains("output.channels"), "{reason}");

    run(
        &folder,
        &["--set", "output.formats=[\"mat\"]", "--out", "mat"],
    );
    for (path, says) in [
        ("nowhere", "nowhere"),
        ("mat", "output.formats"),
        ("out/nothing.npz", "nothing.npz"),
    ] {
        let answer = folder.lissom(&["report", path]);
        assert_eq!(answer.code, 1);
        assert!(answer.stderr.contains(says), "{}", answer.stderr);
    }
    folder.write("out/recording.npz", b"PK");
    let answer = folder.lissom(&["report", "out"]);
    assert_eq!(answer.code, 1);
    assert!(answer.stderr.contains("recording.npz"), "{}", answer.stderr);
    folder.write("out/manifest.json", b"{\"format\": 99}");
    let answer = folder.lissom(&["report", "out"]);
    assert!(answer.stderr.contains("format 99"), "{}", answer.stderr);

    run(&folder, &["--out", "out"]);
    let answer = folder.lissom(&["report", "out", "--plot", "p.png", "--channels", "nothing"]);
    assert_eq!(answer.code, 1);
    assert!(answer.stderr.contains("--channels"), "{}", answer.stderr);
}

/// Property: runs of finite elements are drawn, from nodes and from bodies, by a run and from its recording.
#[test]
fn finite_elements_are_drawn() {
    let folder = Folder::new();
    for (model, changes) in [
        ("flying-spaghetti", &["simulation.duration_s=0.2"][..]),
        (
            "spin-up-beam",
            &[
                "formulation.nodal.elements_per_link=2",
                "simulation.duration_s=0.2",
                "simulation.integrator={generalized_alpha={step_s=0.02}}",
            ],
        ),
    ] {
        let mut words = vec!["run", model, "--quiet", "--report", "--out", model];
        words.extend(changes.iter().flat_map(|change| ["--set", change]));
        let picture = format!("{model}.png");
        words.extend(["--plot", &picture]);
        let answer = folder.lissom(&words);
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        assert!(!folder.read(&picture).is_empty());
        let page = folder.read(&format!("{model}/report.html"));
        let shown = &carried(&page)["recordings"][0];
        assert_eq!(shown["scene"]["bodies"][0]["name"], "beam");
        assert!(shown["animation"].is_object(), "{}", shown["no_animation"]);
        let answer = folder.lissom(&["report", model, "--out", "again.html"]);
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        assert!(folder.read("again.html") == page);
    }
}

/// Measured data come first, in SI and as often as they are named; responses, modes and maps are what their files say; what is none of these
/// is refused with what was expected.
#[test]
fn measured_data_and_analyses_stand_beside_a_run() {
    let folder = Folder::new();
    run(&folder, &["--out", "arm"]);
    folder.write(
        "experiment.csv",
        "time_s,hand.position.x [mm],shoulder.angle [deg]\n0,1,90\n0.1,2,\n0.15,3,0\n",
    );
    let response = ["response", "two-link-arm", "--inputs", "shoulder.torque"];
    let response = [&response[..], &["--out", "response.json", "--quiet"]].concat();
    folder.lissom(&response).says(0, &[]);
    let modes = folder.lissom(&["modes", "two-link-arm", "--json"]);
    folder.write("modes.json", &modes.stdout);
    let map = ["map", "two-link-arm", "--over", "shoulder.angle=0:1:3"];
    let map = [
        &map[..],
        &["--over", "elbow.angle=1:2:2", "--out", "map.csv"],
    ]
    .concat();
    folder.lissom(&map).says(0, &[]);
    let report = [
        "report",
        "arm",
        "--out",
        "page.html",
        "--measured",
        "experiment.csv",
    ];
    let analyses = ["response.json", "modes.json", "map.csv"].map(|file| ["--analysis", file]);
    let asked = [&report[..], &analyses.concat()].concat();
    folder.lissom(&asked).says(0, &["page.html"]);
    let page = carried(&folder.read("page.html"));
    assert_eq!(page["measured"][0]["label"], "experiment.csv");
    let channel = &page["measured"][0]["channels"][0];
    assert_eq!(
        (&channel["name"], &channel["unit"]),
        (&"hand.position.x".into(), &"m".into())
    );
    assert_eq!(channel["samples"]["count"], 3);
    let panels = page["panels"].as_array().unwrap();
    let firsts: Vec<&Value> = panels[..2]
        .iter()
        .flat_map(|panel| panel.as_array().unwrap())
        .collect();
    for name in ["hand.position.x", "shoulder.angle"] {
        assert!(firsts.iter().any(|own| **own == name), "{panels:?}");
        let everywhere = panels.iter().flat_map(|panel| panel.as_array().unwrap());
        assert_eq!(everywhere.filter(|own| **own == name).count(), 1, "{name}");
    }
    let kinds = page["analyses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["kind"].clone());
    assert_eq!(kinds.collect::<Vec<_>>(), ["response", "modes", "map"]);
    assert_eq!(page["analyses"][2]["values"][1][1], 2.0);

    folder.write("volts.csv", "time_s,volts\n0,1\n1,2\n");
    let refused = [
        (["--measured", "volts.csv"], "only volts"),
        (["--measured", "nothing.csv"], "nothing.csv"),
        (
            ["--analysis", "volts.csv"],
            "no column of a map; expected what lissom response",
        ),
        (
            ["--analysis", "arm/manifest.json"],
            "expected what lissom response",
        ),
    ];
    for (option, words) in refused {
        let asked = [&["report", "arm", "--out", "no.html"][..], &option].concat();
        folder.lissom(&asked).says(1, &[words]);
        assert!(!folder.path.join("no.html").exists());
    }
}
