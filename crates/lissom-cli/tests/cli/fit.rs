//! `lissom fit`: values, files, words and what is refused.

use crate::{Folder, number};

/// An arm on a spring, with a comment that stays.
const MODEL: &str = r#"
format = 1
[[body]]
name = "arm"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.25, 0.0, 0.0], inertia_kg_m2 = [0.02, 0.02, 0.02] }
[[joint]]
name = "hinge"
parent = "ground"
child = "arm"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
[joint.revolute.spring]
stiffness_n_m_per_rad = 5.0 # from the drawing
[joint.revolute.friction]
viscous_n_m_s_per_rad = 0.1
[[input]]
joint = "hinge"
[input.torque_constant]
value_n_m = 1.0
[simulation]
duration_s = 1.0
[output]
sample_period_s = 0.02
formats = ["csv"]
channels = ["hinge.angle"]
"#;
const SPRING: &str = "joint.hinge.revolute.spring.stiffness_n_m_per_rad";
const DAMPER: &str = "joint.hinge.revolute.friction.viscous_n_m_s_per_rad";

fn with_data() -> Folder {
    let folder = Folder::new();
    folder.write("arm.toml", MODEL);
    let truth = [&format!("{SPRING}=4.0"), &format!("{DAMPER}=0.15")];
    let run = [
        "run", "arm.toml", "--out", "true", "--set", truth[0], "--set", truth[1],
    ];
    folder.lissom(&run).says(0, &[]);
    folder
}

/// Closed loop: what made the data is found, and the model that is written has it.
#[test]
fn values_are_found_and_written() {
    // the data are a recording of the model itself
    const FOUND: f64 = 1e-6;
    let folder = with_data();
    let both = format!("{SPRING},{DAMPER}");
    let fit = [
        "fit",
        "arm.toml",
        "true/recording.csv",
        "--parameters",
        &both,
    ];
    let answer = folder.lissom(&[&fit[..], &["--out", "out", "--plot", "fit.svg"]].concat());
    answer.says(
        0,
        &[
            "95 % interval",
            SPRING,
            "left over of hinge.angle",
            "fitted.toml",
            "fit.svg",
        ],
    );
    let found = folder.read_json("out/fit.json");
    for (parameter, truth) in found["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .zip([4.0, 0.15])
    {
        assert!(
            (number(&parameter["value"]) / truth - 1.0).abs() < FOUND,
            "{parameter}"
        );
    }
    assert_eq!(found["covariance"].as_array().unwrap().len(), 2);
    let text = String::from_utf8(folder.read("out/fitted.toml")).unwrap();
    let spring = number(&found["parameters"][0]["value"]);
    assert!(
        text.contains(&format!("{spring:?} # from the drawing")),
        "{text}"
    );
    folder.lissom(&["check", "out/fitted.toml"]).says(0, &[]);
    let table = String::from_utf8(folder.read("out/fitted.csv")).unwrap();
    assert!(table.starts_with("time_s,hinge.angle.measured [rad],hinge.angle.fitted [rad],"));
    // the number of threads changes no bit
    let one = folder.json(&[&fit[..], &["--out", "one", "--threads", "1", "--json"]].concat());
    assert_eq!(one["parameters"], found["parameters"]);
}

/// One number in several places, or one for each of them.
#[test]
fn stars_are_one_number_unless_each_is_said() {
    let folder = with_data();
    let fit = [
        "fit",
        "arm.toml",
        "true/recording.csv",
        "--json",
        "--parameters",
    ];
    let friction = "joint.*.revolute.friction.viscous_n_m_s_per_rad";
    let set = ["--set", &format!("{SPRING}=4.0"), "--out", "out"];
    let found = folder.json(&[&fit[..], &[friction], &set].concat());
    assert_eq!(found["parameters"][0]["path"], friction);
    assert!((number(&found["parameters"][0]["value"]) - 0.15).abs() < 1e-6);
    let found = folder.json(&[&fit[..], &[friction, "--each"], &set].concat());
    assert_eq!(found["parameters"][0]["path"], DAMPER);
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = with_data();
    folder.write("other.csv", "t,hinge.angel [rad]\n0,0\n1,0.1\n2,0.2\n");
    folder.write("unit.csv", "t,hinge.angle [m]\n0,0\n1,0.1\n2,0.2\n");
    folder.write("early.csv", "t,hinge.angle [deg]\n-1,0\n1,0.1\n2,0.2\n");
    folder.write("broken.csv", "t,hinge.angle\n0,zero\n");
    for (data, path, code, says) in [
        ("other.csv", SPRING, 1, "no channel hinge.angel"),
        ("unit.csv", SPRING, 1, "measured in m, and in rad"),
        ("early.csv", SPRING, 1, "the simulation begins at 0 s"),
        (
            "broken.csv",
            SPRING,
            1,
            "broken.csv:2: 'zero' is not a number",
        ),
        ("missing.csv", SPRING, 1, "missing.csv"),
        (
            "true/recording.csv",
            "joint.hinge.revolute.spring.rest_angle_rad",
            2,
            "nothing that the model writes",
        ),
        ("true/recording.csv", "joint.hinge.name", 2, "a number"),
        (
            "true/recording.csv",
            "joint.hinge.revolute.spring.stiffness_n_m_per_rad,joint.0.revolute.spring.stiffness_n_m_per_rad",
            2,
            "another path leads to the same number",
        ),
    ] {
        let fit = ["fit", "arm.toml", data, "--parameters", path];
        folder.lissom(&fit).says(code, &[says]);
    }
    folder
        .lissom(&["fit", "arm.toml", "--parameters", SPRING])
        .says(2, &["which data?"]);
    let negative = format!("{SPRING}=-1");
    let fit = [
        "fit",
        "arm.toml",
        "true/recording.csv",
        "--parameters",
        DAMPER,
        "--set",
        &negative,
    ];
    folder.lissom(&fit).says(1, &["stiffness"]);
}

/// By construction: a pipe is not waited for, and a device not read without end.
#[cfg(unix)]
#[test]
fn data_are_read_from_files_alone() {
    let folder = Folder::new();
    folder.write("arm.toml", MODEL);
    let pipe = folder.path.join("data.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for data in ["data.csv", "/dev/zero"] {
        let fit = ["fit", "arm.toml", data, "--parameters", SPRING];
        folder
            .lissom(&fit)
            .says(1, &[&format!("{data} is not a file")]);
    }
}
