//! Motions: `inverse`, and the commands of the guide on motions without vibration.

use serde_json::Value;

use crate::{Folder, number};

/// The guide on motions without vibration.
const GUIDE: &str = include_str!("../../../../docs/guide/point-to-point.md");

/// Fences of a language in the guide.
fn fences(language: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut rest = GUIDE;
    while let Some((_, after)) = rest.split_once(&format!("```{language}\n")) {
        let (block, left) = after.split_once("```").unwrap();
        found.push(block);
        rest = left;
    }
    found
}

/// How far a channel of a recording goes after an instant.
fn left(folder: &Folder, recording: &str, channel: &str, from_s: f64) -> f64 {
    let text = String::from_utf8(folder.read(&format!("{recording}/recording.csv"))).unwrap();
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = heads
        .iter()
        .position(|head| head.starts_with(channel))
        .unwrap();
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for line in lines {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        if cells[0] >= from_s {
            least = least.min(cells[column]);
            most = most.max(cells[column]);
        }
    }
    most - least
}

/// The guide as it is written: its commands work, the frequencies that it names are those that its command finds, and of the vibration less than a tenth is left.
#[test]
fn point_to_point_without_vibration() {
    let folder = Folder::new();
    folder.write("reach.toml", fences("toml")[0]);
    let mut told = String::new();
    // what is shown of other arms is run with the rest of the guide
    let commands = fences("sh").into_iter().flat_map(|block| block.lines());
    for command in commands.filter(|command| command.contains("reach")) {
        let words: Vec<String> = (command.split(' ').skip(1))
            .map(|word| word.trim_matches('"').to_owned())
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = folder.lissom(&words);
        answer.says(0, &[]);
        if words[0] == "modes" {
            let mut json = words.clone();
            json.push("--json");
            told = folder.lissom(&json).stdout;
        }
    }
    let told: Value = serde_json::from_str(&told).unwrap();
    let found: Vec<[f64; 2]> = (told["shaping"]["zvd"].as_array().unwrap().iter())
        .map(|mode| ["frequency_rad_per_s", "damping_ratio"].map(|key| number(&mode[key])))
        .collect();
    let (_, written) = GUIDE.split_once("shaping.zvd=[").unwrap();
    let (written, _) = written.split_once("]\"").unwrap();
    let numbers = |key: &str| -> Vec<f64> {
        let parts = written.split(key).skip(1);
        let number = |part: &str| {
            let end = part.find([',', '}']).unwrap();
            part[1..end].parse().unwrap()
        };
        parts.map(number).collect()
    };
    let pairs = numbers("frequency_rad_per_s")
        .into_iter()
        .zip(numbers("damping_ratio"));
    for (frequency, damping) in pairs {
        let is_near = |mode: &[f64; 2]| {
            (mode[0] - frequency).abs() < 0.005 * frequency && (mode[1] - damping).abs() < 0.006
        };
        assert!(
            found.iter().any(is_near),
            "{frequency} {damping}: {found:?}"
        );
    }
    for axis in ["x", "y"] {
        let channel = format!("hand.position.{axis}");
        // 0.4 s and a period of each mode later the shaped motion has ended
        let [with, without] = ["results/shaped", "results/reach"]
            .map(|recording| left(&folder, recording, &channel, 0.9));
        assert!(with < 0.1 * without, "{channel}: {with} of {without}");
    }
}

/// Existence: a recording with torques, a plot, and peaks for people and programs.
#[test]
fn inverse_writes_torques() {
    let folder = Folder::new();
    let call = ["inverse", "planar-3rrr", "--plot", "torques.svg"];
    folder.lissom(&call).says(
        0,
        &[
            "3 drives",
            "degrees of freedom: 3",
            "results/planar-3rrr-inverse",
        ],
    );
    for file in ["recording.csv", "manifest.json"] {
        assert!(
            !folder
                .read(&format!("results/planar-3rrr-inverse/{file}"))
                .is_empty()
        );
    }
    assert!(folder.read("torques.svg").starts_with(b"<svg"));
    let mut json = call.to_vec();
    json.push("--json");
    let told: Value = serde_json::from_str(&folder.lissom(&json).stdout).unwrap();
    assert_eq!(told["drives"].as_array().unwrap().len(), 3);
    folder
        .lissom(&["inverse", "two-link-arm"])
        .says(1, &["rigid_inverse_dynamics"]);
}

/// Closed form: joints that are driven keep to their limits too, also behind an elastic gear with an actuator.
#[test]
fn driven_joints_are_placed_within_their_limits() {
    let folder = Folder::new();
    folder.write(
        "arm.toml",
        r#"
format = 1
[[body]]
name = "arm"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.5, 0.0, 0.0], inertia_kg_m2 = [0.02, 0.1, 0.1] }
[[joint]]
name = "hinge"
parent = "ground"
child = "arm"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
motor = { inertia_kg_m2 = 1e-4, gear_ratio = 10.0, stiffness_n_m_per_rad = 100.0 }
limits = { min_rad = -0.3, max_rad = 0.3 }
[[marker]]
name = "hand"
body = "arm"
position_m = [1.0, 0.0, 0.0]
[[input]]
joint = "hinge"
torque_constant.value_n_m = 1.0
[[actuator]]
name = "drive"
joint = "hinge"
max_torque_n_m = 5.0
"#,
    );
    let placed = |angle: f64| {
        let state = format!(
            "{{\"markers\": {{\"hand\": {{\"y\": {:?}}}}}}}",
            angle.sin()
        );
        folder.write("state.json", state);
        folder.lissom(&["eval", "arm.toml", "--state", "state.json"])
    };
    placed(0.25).says(0, &["0.25"]);
    placed(0.8).says(1, &["limits"]);
}

/// A beam that vibrates in six modes.
const SIX_MODES: &str = r#"
format = 1
[[body]]
name = "arm"
beam = { length_m = 1.0, mass_per_length_kg_per_m = 1.0, bending_stiffness_y_n_m2 = 20.0, basis.clamped_free = { bending_y = 6 } }
[[joint]]
name = "hub"
parent = "ground"
child = "arm"
revolute = { axis = [0.0, 0.0, 1.0] }
[[motion]]
joint = "hub"
quintic = { final_angle_rad = 0.2, duration_s = 0.3 }
[simulation]
duration_s = 1.0
"#;

/// Closed loop: what `--shaper` prints is a table that a model takes, the lowest modes of it, and the rest is told.
#[test]
fn a_shaper_is_one_that_a_model_takes() {
    const ROUNDING: f64 = 1e-9;
    let folder = Folder::new();
    folder.write("arm.toml", SIX_MODES);
    let answer = folder.lissom(&["modes", "arm.toml", "--shaper", "zv"]);
    answer.says(0, &["[shaping]"]);
    assert!(
        answer.stderr.contains("6 of these modes vibrate"),
        "{}",
        answer.stderr
    );
    let (_, table) = answer.stdout.split_once("[shaping]").unwrap();
    folder.write("shaped.toml", format!("{SIX_MODES}[shaping]{table}"));
    folder.lissom(&["check", "shaped.toml"]).says(0, &[]);
    let told = folder.json(&["modes", "arm.toml", "--shaper", "zv", "--json"]);
    let shaped = told["shaping"]["zv"].as_array().unwrap();
    assert_eq!(shaped.len(), 5);
    for (mode, shaped) in told["modes"].as_array().unwrap().iter().zip(shaped) {
        let [own, shaped] = [
            &mode["frequency_rad_per_s"][0],
            &shaped["frequency_rad_per_s"],
        ]
        .map(number);
        assert!((own / shaped - 1.0).abs() < ROUNDING, "{own} {shaped}");
    }
}
