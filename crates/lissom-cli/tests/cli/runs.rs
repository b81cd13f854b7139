//! Runs that end, fail, are stopped, and are done again.

use serde_json::Value;

use crate::{Folder, number};

/// Identity: the same input gives the same bytes, but for the clock.
#[test]
fn same_input_same_bytes() {
    let folder = Folder::new();
    for out in ["a", "b"] {
        folder
            .lissom(&["run", "branched-tree", "--out", out, "--quiet"])
            .says(0, &[]);
    }
    for file in ["recording.csv", "recording.npz", "recording.mat"] {
        assert!(
            folder.read(&format!("a/{file}")) == folder.read(&format!("b/{file}")),
            "{file}"
        );
    }
    let manifest = |out: &str| {
        let mut manifest = folder.read_json(&format!("{out}/manifest.json"));
        manifest["summary"]["cost"]["wall_s"] = Value::Null;
        manifest["summary"]["files"] = Value::Null;
        manifest
    };
    assert_eq!(manifest("a"), manifest("b"));
}

/// Property: a folder called like a shipped model, as runs leave them, is not taken for the model.
#[test]
fn a_folder_does_not_hide_a_shipped_model() {
    let folder = Folder::new();
    for _ in 0..2 {
        folder
            .lissom(&["run", "branched-tree", "--out", "branched-tree", "--quiet"])
            .says(0, &[]);
    }
}

/// Identity: the model in the manifest is the model as run.
#[test]
fn the_manifest_can_be_run_again() {
    let folder = Folder::new();
    for model in [
        "two-link-arm",
        "space-arm",
        "branched-tree",
        "spin-up-beam",
        "flexible-joint",
    ] {
        let changes = [
            "--set",
            "simulation.duration_s=0.5",
            "--fidelity",
            "jain-rodriguez",
        ];
        let mut arguments = vec!["run", model, "--out", "first", "--quiet"];
        arguments.extend(changes);
        folder.lissom(&arguments).says(0, &[]);
        let manifest = folder.read_json("first/manifest.json");
        assert_eq!(manifest["fidelity"]["inertia"], "lumped_nodes");
        assert_eq!(manifest["completed"], true);
        folder.write("again.toml", manifest["model"].as_str().unwrap());
        folder
            .lissom(&["run", "again.toml", "--out", "second", "--quiet"])
            .says(0, &[]);
        assert!(
            folder.read("first/recording.csv") == folder.read("second/recording.csv"),
            "{model}"
        );
    }
}

/// By construction: a preset of the command line stands in the place of the model's fidelity, switches included, and a tip in that of its tip.
#[test]
fn a_preset_takes_the_place_of_switches() {
    let folder = Folder::new();
    let text = lissom::TEMPLATE;
    let preset = "[fidelity]\npreset = \"default\"";
    assert!(text.contains(preset));
    let switches = "[fidelity]\ninertia = \"rigid\"\nshortening = \"none\"\ntip = \"linear\"";
    folder.write("arm.toml", text.replace(preset, switches));
    for (options, inertia, tip) in [
        (&[][..], "rigid", "linear"),
        (&["--tip", "euler_321"], "rigid", "euler_321"),
        (&["--fidelity", "default"], "full", "rotation_vector"),
        (
            &["--fidelity", "default", "--tip", "euler_321"],
            "full",
            "euler_321",
        ),
        (
            &["--fidelity", "default", "--set", "fidelity.tip=exact"],
            "full",
            "exact",
        ),
    ] {
        let short = ["--set", "simulation.duration_s=0.01", "--quiet"];
        let call = [&["run", "arm.toml"], &short[..], options].concat();
        folder.lissom(&call).says(0, &[]);
        let manifest = folder.read_json("results/arm/manifest.json");
        assert_eq!(manifest["fidelity"]["inertia"], inertia, "{options:?}");
        assert_eq!(manifest["fidelity"]["tip"], tip, "{options:?}");
    }
}

/// A first model, with every property of a beam given, runs as it is.
#[test]
fn a_boom_under_a_step_torque_runs() {
    const BOOM: &str = r#"format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]

[[body]]
name = "boom"
[body.beam]
length_m = 1.2
mass_per_length_kg_per_m = 0.4
bending_stiffness_y_n_m2 = 40.0
bending_stiffness_z_n_m2 = 25.0
axial_stiffness_n = 2.0e5
torsional_stiffness_n_m2 = 15.0
[body.beam.basis.clamped_free]
bending_y = 2
bending_z = 2
[body.damping]
modal_ratio = 0.01

[[joint]]
name = "shoulder"
parent = "ground"
child = "boom"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 0.0

[[input]]
joint = "shoulder"
[input.torque_step]
value_n_m = 2.0
from_s = 0.0
until_s = 0.5

[[marker]]
name = "tip"
body = "boom"
at = "tip"

[fidelity]
preset = "default"

[simulation]
duration_s = 2.0
[simulation.integrator.dop853]
rtol = 1e-9

[output]
sample_period_s = 0.005
"#;
    let folder = Folder::new();
    folder.write("boom.toml", BOOM);
    let json = folder.json(&["run", "boom.toml", "--json"]);
    assert!(number(&json["audit"]["energy"]["max_drift_percent"]) < 1e-6);
    assert!(
        number(&json["channels"]["shoulder.angle"]["final"]) < 0.0,
        "it falls"
    );
}

/// What `auto` used stands in the words and in the JSON, for a stiff model and one that is not; nothing of it where the model names a method.
#[test]
fn the_choice_of_an_integrator_is_said() {
    const SCARA: &str = include_str!("../../../../docs/notebooks/scara.toml");
    let folder = Folder::new();
    folder.write("scara.toml", SCARA);
    let stiff = [
        "run",
        "scara.toml",
        "--set",
        "simulation.integrator={auto={rtol=1e-5,atol=1e-5}}",
        "--set",
        "joint.0.revolute.motor.damping_n_m_s_per_rad=400.0",
        "--set",
        "input.0.torque_constant.value_n_m=4.0",
    ];
    folder.lissom(&stiff).says(
        0,
        &[
            "auto used esdirk for",
            "modes faster than the motion kept explicit steps short",
        ],
    );
    let json = folder.json(&[&stiff[..], &["--json"]].concat());
    let used = &json["integrator"];
    let all: u64 = (used["by"].as_object().unwrap().values())
        .map(|steps| steps.as_u64().unwrap())
        .sum();
    assert_eq!(json["cost"]["steps"].as_u64(), Some(all));
    assert!(used["by"]["esdirk"].as_u64() > Some(0), "{used}");
    let soft = [
        "run",
        "two-link-arm",
        "--set",
        "simulation.duration_s=0.1",
        "--set",
        "simulation.integrator={auto={}}",
    ];
    folder
        .lissom(&soft)
        .says(0, &["auto used dop853 for all", "no mode faster"]);
    let dop853 = "simulation.integrator={dop853={}}";
    let named = folder.json(&["run", "two-link-arm", "--json", "--set", dop853]);
    assert!(named.get("integrator").is_none());
}

#[test]
fn only_what_the_model_asks_for_is_written() {
    let folder = Folder::new();
    let changes = [
        "--set",
        "output.formats=[\"npz\"]",
        "--set",
        "output.channels=[\"hand.\"]",
    ];
    let mut arguments = vec!["run", "two-link-arm", "--json"];
    arguments.extend(changes);
    let json = folder.json(&arguments);
    // five vectors and a quaternion
    assert_eq!(json["channels"].as_object().unwrap().len(), 19);
    let written = std::fs::read_dir(folder.path.join("results/two-link-arm")).unwrap();
    let mut names: Vec<_> = written.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["manifest.json", "recording.npz", "state.json"]);
    let wrong = "output.channels=[\"hand.\", \"foot.\"]";
    let answer = folder.lissom(&["run", "two-link-arm", "--set", wrong]);
    answer.says(0, &["no channel begins with \"foot.\""]);
    assert!(!answer.stdout.contains("begins with \"hand.\""));
}

#[test]
fn a_run_that_fails_says_where_and_keeps_what_it_has() {
    let folder = Folder::new();
    let limit = "simulation.integrator.dop853.max_steps=100";
    let arguments = ["run", "two-link-arm", "--set", limit, "--json"];
    let answer = folder.lissom(&arguments);
    answer.says(
        1,
        &[
            "the run failed at",
            "100 steps reach only",
            "the coordinate in trouble is",
        ],
    );
    let json: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(json["completed"], false);
    let failure = &json["failure"];
    let time_s = number(&failure["time_s"]);
    assert!(time_s > 0.0 && time_s < 3.0);
    let coordinate = failure["coordinate"].as_str().unwrap();
    assert!(
        json["channels"].get(coordinate).is_some(),
        "{coordinate} is a channel"
    );
    let manifest = folder.read_json("results/two-link-arm/manifest.json");
    assert_eq!(manifest["completed"], false);
    assert_eq!(number(&manifest["stopped_at_s"]), time_s);
    let rows = String::from_utf8(folder.read("results/two-link-arm/recording.csv")).unwrap();
    assert!(rows.lines().count() > 2, "the beginning is there");
}

/// Ctrl-C ends a run of hours within a step, and what was computed is there.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_what_was_computed() {
    use std::time::Duration;

    use crate::{Answer, send};

    let folder = Folder::new();
    let arguments = [
        "run",
        "two-link-arm",
        "--json",
        "--set",
        "simulation.duration_s=1e6",
        "--set",
        "output.sample_period_s=0.1",
        // few enough channels for so many samples
        "--set",
        "output.channels=[\"shoulder.\"]",
    ];
    let child = folder.spawn(&arguments);
    // the folder is made just before the run begins
    while !folder.path.join("results/two-link-arm").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    send("-INT", &child);
    let answer = Answer::of(child, &arguments);
    answer.says(130, &["interrupted at"]);
    let json: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(json["completed"], false);
    let manifest = folder.read_json("results/two-link-arm/manifest.json");
    assert_eq!(manifest["completed"], false);
    assert_eq!(manifest["stopped_at_s"], json["stopped_at_s"]);
    for file in manifest["files"].as_array().unwrap() {
        let path = format!("results/two-link-arm/{}", file["name"].as_str().unwrap());
        assert_eq!(folder.read(&path).len() as u64, file["bytes"], "{path}");
    }
}

/// The summary for people tells every channel at the instants asked for, as the one in JSON does.
#[test]
fn instants_asked_for_are_told_to_people_too() {
    let folder = Folder::new();
    folder
        .lissom(&["run", "two-link-arm", "--at", "0.5,1"])
        .says(
            0,
            &["at 0.5 s", "at 1 s", "shoulder.angle  ", "energy.total  "],
        );
}

/// Two formulations through one command: the spinning beam as elements has the channels of the tree that mean the
/// same, and bends alike.
#[test]
fn a_model_runs_as_finite_elements() {
    // a hundredth of the deflection after a second: four elements and steps of 5 ms
    const ALIKE: f64 = 0.01;
    let folder = Folder::new();
    let step = "simulation.integrator.generalized_alpha.step_s=0.005";
    let base = [
        "run",
        "spin-up-beam",
        "--set",
        "simulation.duration_s=1",
        "--json",
    ];
    let tree = folder.json(&[&base[..], &["--out", "tree"]].concat());
    let nodal = ["--formulation", "nodal", "--set", step, "--out", "nodal"];
    let nodes = folder.json(&[&base[..], &nodal].concat());
    let bent = |summary: &Value| number(&summary["channels"]["tip.deflection.y"]["final"]);
    assert!((bent(&tree) - bent(&nodes)).abs() < ALIKE * bent(&tree).abs());
    let channels = nodes["channels"].as_object().unwrap();
    for name in [
        "hub.angle",
        "hub.angle.rate",
        "hub.driving_torque",
        "beam.8.bending_y_q",
    ] {
        assert!(channels.contains_key(name), "{name}");
    }
    // the manifest runs again, and a picture can be made of it
    folder.lissom(&["report", "nodal", "--quiet"]).says(0, &[]);
    let refused = ["check", "sliding-beam", "--formulation", "nodal"];
    folder.lissom(&refused).says(
        1,
        &["a support that a beam slides through is not known to the nodal formulation"],
    );
}

/// Closed form: frames may be written with turns of any number, and joints may turn as often, in both formulations.
#[test]
fn whole_turns_count_for_nothing() {
    const FRAME: f64 = 20.0;
    const TURNED: f64 = 60.0;
    // of an angle of eighty radians, in a metre
    const ROUNDING: f64 = 1e-12;
    let folder = Folder::new();
    let model = format!(
        r#"format = 1
[[body]]
name = "link"
rigid = {{ mass_kg = 1.0, center_of_mass_m = [0.5, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.1, 0.1] }}
[[joint]]
name = "hub"
parent = {{ body = "ground", rotation_vector_rad = [0.0, 0.0, {FRAME}] }}
child = "link"
revolute = {{ axis = [0.0, 0.0, 1.0] }}
[[input]]
joint = "hub"
rigid_inverse_dynamics.cycloid = {{ final_angle_rad = {TURNED}, duration_s = 1.0 }}
[[marker]]
name = "tip"
body = "link"
position_m = [1.0, 0.0, 0.0]
[simulation]
duration_s = 1.0
"#
    );
    folder.write("turns.toml", &model);
    for formulation in ["tree", "nodal"] {
        let options = ["turns.toml", "--formulation", formulation];
        let perturbed =
            folder.json(&[&["perturb", "--json", "--points", "2"], &options[..]].concat());
        for (axis, wanted) in [("x", (FRAME + TURNED).cos()), ("y", (FRAME + TURNED).sin())] {
            let found = number(&perturbed["channels"][format!("tip.position.{axis}")]["final"]);
            assert!(
                (found - wanted).abs() < ROUNDING,
                "{formulation}: {found} {wanted}"
            );
        }
    }
}

/// Identity: the peaks of loads are those of the table and of the recording, and the next run without them leaves no table behind.
#[test]
fn loads_along_beams_are_told_and_written() {
    let folder = Folder::new();
    let short = ["--set", "simulation.duration_s=0.05", "--out", "out"];
    let mut asked = vec!["run", "two-link-arm", "--set", "output.load_sections=3"];
    asked.extend(short);
    folder.lissom(&asked).says(
        0,
        &[
            "largest loads along upper_arm",
            "bending_moment.z",
            "from the root",
        ],
    );
    asked.push("--json");
    let summary = folder.json(&asked);
    let loads = summary["loads"].as_array().unwrap();
    // two beams, six loads each: their sections are not named
    assert_eq!(loads.len(), 12);
    let table = String::from_utf8(folder.read("out/loads.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 1 + 12 * 3);
    let column = |name: &str| rows[0].iter().position(|own| *own == name).unwrap();
    for load in loads {
        let (beam, quantity) = (load["beam"].as_str().unwrap(), load["quantity"].as_str());
        let value = number(&load["value"]);
        let own = rows
            .iter()
            .filter(|row| row[0] == beam && Some(row[1]) == quantity);
        let values = own.flat_map(|row| {
            ["minimum", "maximum"].map(|of| row[column(of)].parse::<f64>().unwrap())
        });
        let largest = values.fold(0.0, |most: f64, x| most.max(x.abs()));
        assert_eq!(value.abs(), largest, "{load}");
        let section = format!("{beam}.section_{}.{}", load["section"], quantity.unwrap());
        let channel = &summary["channels"][&section];
        let recorded = number(&channel["minimum"]["value"])
            .abs()
            .max(number(&channel["maximum"]["value"]).abs());
        assert_eq!(recorded, largest, "{section}");
    }
    let mut without = vec!["run", "two-link-arm", "--quiet"];
    without.extend(short);
    folder.lissom(&without).says(0, &[]);
    assert!(!folder.path.join("out/loads.csv").exists());
    // a model without beams has no sections
    folder
        .lissom(&["check", "flexible-joint", "--set", "output.load_sections=3"])
        .says(1, &["load_sections", "no body is a `beam`"]);
}

#[test]
fn runs_whose_energy_does_not_balance_are_warned_of() {
    let folder = Folder::new();
    let warning = "do not use these numbers";
    let tolerance =
        |rtol: &str| format!("simulation.integrator={{dopri5={{rtol={rtol},atol={rtol}}}}}");
    let run = |rtol: &str| folder.lissom(&["run", "two-link-arm", "--set", &tolerance(rtol)]);
    run("1e-2").says(0, &["drift at most", warning]);
    let fine = run("1e-6");
    fine.says(0, &["drift at most"]);
    assert!(!fine.stdout.contains(warning));
}
