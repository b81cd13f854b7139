//! Files that a model names: read below its folder and nowhere else, and explained when wrong.

use crate::{Folder, number};

/// A pendulum driven by what `input` says.
fn driven(input: &str) -> String {
    format!(
        r#"format = 1
[[body]]
name = "bar"
rigid = {{ mass_kg = 1.0, center_of_mass_m = [0.5, 0, 0], inertia_kg_m2 = [0.1, 0.1, 0.1] }}
[[joint]]
name = "hinge"
parent = "ground"
child = "bar"
revolute = {{ axis = [0, 0, 1] }}
{input}
[simulation]
duration_s = 1.0
"#
    )
}

/// Identity: a table in a file is the same as the table in the model.
#[test]
fn tables_from_files_equal_inline_ones() {
    let folder = Folder::new();
    folder.write("drive/torque.csv", "time_s,torque\n0,0\n0.5,2\n1,-1\n");
    folder.write("drive/angle.csv", "0 0\n0.5 0.2\n1 0.1\n");
    let cases = [
        (
            "[[input]]\njoint = \"hinge\"\ntorque_table = { file = \"drive/torque.csv\" }",
            "[[input]]\njoint = \"hinge\"\ntorque_table = { time_s = [0, 0.5, 1], value_n_m = [0, 2, -1] }",
        ),
        (
            "[[motion]]\njoint = \"hinge\"\ntable = { file = \"drive/angle.csv\" }",
            "[[motion]]\njoint = \"hinge\"\ntable = { time_s = [0, 0.5, 1], angle_rad = [0, 0.2, 0.1] }",
        ),
        (
            "[[input]]\njoint = \"hinge\"\nrigid_inverse_dynamics = { table = { file = \"drive/angle.csv\" } }",
            "[[input]]\njoint = \"hinge\"\nrigid_inverse_dynamics = { table = { time_s = [0, 0.5, 1], angle_rad = [0, 0.2, 0.1] } }",
        ),
    ];
    for (from_file, inline) in cases {
        folder.write("file.toml", driven(from_file));
        folder.write("inline.toml", driven(inline));
        for name in ["file", "inline"] {
            let answer = folder.lissom(&["run", &format!("{name}.toml"), "--quiet"]);
            assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
        }
        let recording = |name| folder.read(&format!("results/{name}/recording.csv"));
        assert_eq!(recording("file"), recording("inline"));
        let moved = String::from_utf8(recording("file")).unwrap();
        let last = moved
            .lines()
            .last()
            .unwrap()
            .split(',')
            .nth(1)
            .unwrap()
            .to_owned();
        assert_ne!(
            last.parse::<f64>().unwrap(),
            0.0,
            "the table drives the joint"
        );
    }
}

#[test]
fn files_outside_the_folder_are_not_read() {
    let folder = Folder::new();
    folder.write("secret.csv", "0,1\n1,2\n");
    let absolute = folder.path.join("secret.csv");
    let mut names = vec!["../secret.csv".to_owned(), absolute.display().to_string()];
    folder.write("model/note", "");
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink(&absolute, folder.path.join("model/link.csv")).unwrap();
        names.push("link.csv".to_owned());
    }
    for name in names {
        let input = format!("[[input]]\njoint = \"hinge\"\ntorque_table = {{ file = {name:?} }}");
        folder.write("model/arm.toml", driven(&input));
        let answer = folder.lissom(&["check", "model/arm.toml"]);
        answer.says(
            1,
            &["does not lie below the folder", "model/arm.toml:12:25"],
        );
    }
}

#[test]
fn tables_that_are_none_are_explained() {
    let folder = Folder::new();
    let input = "[[input]]\njoint = \"hinge\"\ntorque_table = { file = \"drive.csv\" }";
    folder.write("arm.toml", driven(input));
    folder
        .lissom(&["check", "arm.toml"])
        .says(1, &["cannot read ./drive.csv", "arm.toml:12:25"]);
    folder.write("drive.csv", "0,1\n1,two\n");
    let words = "drive.csv, line 2: \"two\" is not a finite number";
    folder
        .lissom(&["check", "arm.toml"])
        .says(1, &[words, "arm.toml:12:25"]);
}

const NODAL: &str = r#"{
  "nodes": [
    { "name": "root", "position_m": [0, 0, 0] },
    { "name": "tip", "position_m": [1, 0, 0], "mass_kg": 2.0,
      "influence": [[0], [0], [0], [0], [1], [0]] }
  ],
  "stiffness": [[50.0]]
}"#;

const NODAL_MODEL: &str = r#"format = 1
[[body]]
name = "wing"
nodal_file = "wing.json"
[[joint]]
name = "weld"
parent = "ground"
child = { body = "wing", at = "root" }
fixed = {}
[[marker]]
name = "tip"
body = "wing"
at = "tip"
"#;

/// Closed form: one mass on one spring, ω = √(50 / 2).
#[test]
fn nodal_bodies_come_from_json() {
    let folder = Folder::new();
    folder.write("wing.toml", NODAL_MODEL);
    folder.write("wing.json", NODAL);
    let json = folder.json(&["check", "wing.toml", "--json"]);
    let frequency = number(&json["bodies"][0]["frequencies_rad_per_s"][0]);
    assert!((frequency - 5.0).abs() < 1e-12, "{frequency}");
}

#[test]
fn slips_in_nodal_files_name_file_line_and_key() {
    let folder = Folder::new();
    folder.write("wing.toml", NODAL_MODEL);
    for (old, new, words) in [
        (
            "\"mass_kg\": 2.0",
            "\"mass_kg\": \"2\"",
            "wing.json, line 4, column",
        ),
        ("\"mass_kg\"", "\"mass_g\"", "unknown field `mass_g`"),
        ("]\n}", "]", "wing.json, line 7, column"),
        ("50.0", "-50.0", "wing.json: `stiffness`"),
        ("\"tip\"", "\"top\"", "no place called \"tip\""),
    ] {
        folder.write("wing.json", NODAL.replace(old, new));
        folder
            .lissom(&["check", "wing.toml"])
            .says(1, &[words, "wing.toml"]);
    }
}
