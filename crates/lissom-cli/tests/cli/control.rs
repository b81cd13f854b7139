//! The servo of the guide: limits, states and closed loop as its commands tell them.

use lissom_io::arrays::{Arrays, NamedArray};
use lissom_io::npz;

use crate::{Folder, number};

/// The model that the guide writes out.
fn servo() -> String {
    block(1)
}

/// A part of a model that the guide writes out.
fn block(number: usize) -> String {
    let guide = include_str!("../../../../docs/guide/control.md");
    let model = guide.split("```toml\n").nth(number).unwrap();
    model.split("```").next().unwrap().to_owned()
}

/// The sensors of the guide are channels of a run, and those of them that need no accelerations outputs of a linear model.
#[test]
fn sensors_are_channels_and_outputs() {
    let folder = Folder::new();
    folder.write("sensed.toml", servo() + &block(2));
    let short = ["--set", "simulation.duration_s=0.02"];
    let run = folder.json(&[&["run", "sensed.toml", "--json"][..], &short].concat());
    for channel in ["encoder", "root_strain", "imu.y"] {
        assert!(
            number(&run["channels"][channel]["final"]).abs() > 0.0,
            "{channel}"
        );
    }
    let response = ["response", "sensed.toml", "--json", "--outputs"];
    let answer = folder.json(&[&response[..], &["root_strain"]].concat());
    assert!(answer.to_string().contains("root_strain"));
    let linearize = ["linearize", "sensed.toml", "--about", "start", "--out"];
    let written = folder.lissom(&[&linearize[..], &["linear.json"]].concat());
    written.says(0, &[]);
    let linear = folder.read_json("linear.json");
    let count = |key: &str| linear[key].as_array().unwrap().len();
    assert_eq!(count("y0"), count("output_names"));
    for output in ["encoder", "root_strain", "imu.y"] {
        let mut names = linear["output_names"].as_array().unwrap().iter();
        assert!(names.any(|name| name == output), "{output}");
    }
}

/// Identity: a run goes on with the integral and the torque that another has left in its `state.json`; adaptive steps are cut at its end,
/// so that the difference is their tolerance's.
#[test]
fn states_of_controllers_are_in_the_state_file() {
    const TOLERANCE: f64 = 1e-5;
    let folder = Folder::new();
    folder.write("servo.toml", servo());
    let run = |out: &str, duration: &str, more: &[&str]| {
        let duration = format!("simulation.duration_s={duration}");
        let own = [
            "run",
            "servo.toml",
            "--json",
            "--out",
            out,
            "--set",
            &duration,
        ];
        folder.json(&[&own[..], more].concat())
    };
    for law in [
        &[][..],
        &["--set", "controller.servo.sampled.period_s=1e-3"],
    ] {
        let whole = run("whole", "0.2", law);
        run("half", "0.1", law);
        let rest = run("rest", "0.2", &[&["--from", "half"], law].concat());
        let state = folder.read_json("half/state.json");
        let control = state["control"].as_object().unwrap();
        assert!(control["servo.shoulder.integral"].as_f64().unwrap().abs() > 1e-3);
        assert!(control.contains_key("shoulder_motor.torque"));
        for channel in ["hand.position.y", "servo.shoulder.integral"] {
            let [one, other] =
                [&whole, &rest].map(|run| number(&run["channels"][channel]["final"]));
            assert!(
                (one - other).abs() < TOLERANCE,
                "{channel} {law:?}: {one} {other}"
            );
        }
    }
}

/// The closed loop of the guide has the poles of integral, filter and motor beside those of the arm; a motor at its limit is told.
#[test]
fn responses_tell_motors_at_their_limits() {
    let folder = Folder::new();
    folder.write("servo.toml", servo());
    let closed = ["response", "servo.toml", "--closed-loop", "--json"];
    let answer = folder.json(&closed);
    assert_eq!(answer["saturated_actuators"].as_array().unwrap().len(), 0);
    let poles = answer["poles_per_s"].as_array().unwrap();
    let count: usize = (poles.iter())
        .map(|pole| if number(&pole[1]) > 0.0 { 2 } else { 1 })
        .sum();
    // joint and two functions with their rates, integral, filter and motor
    assert_eq!(count, 9);
    let weak = ["--set", "actuator.shoulder_motor.max_torque_n_m=0.5"];
    let answer = folder.json(&[&closed[..], &weak].concat());
    assert_eq!(answer["saturated_actuators"][0], "shoulder_motor");
}

/// The arm of the guide falls onto its stop, which linear models tell where it presses.
#[test]
fn stops_are_recorded_and_told() {
    let folder = Folder::new();
    folder.write("stops.toml", block(4));
    let run = folder.json(&["run", "stops.toml", "--json"]);
    assert!(number(&run["channels"]["shoulder.stop_torque"]["maximum"]["value"]) > 10.0);
    assert_eq!(
        run["audit"]["limit_violations"].as_array().unwrap().len(),
        0
    );
    let beyond = ["--set", "joint.shoulder.revolute.initial_angle_rad=-0.51"];
    let linearize = ["linearize", "stops.toml", "--about", "start"];
    let told = folder.lissom(&[&linearize[..], &beyond].concat());
    told.says(0, &["The stop of shoulder presses there"]);
    folder.write("servo.toml", servo());
    let stopped = [
        "--set",
        "joint.shoulder.revolute.limits.min_rad=0.1",
        "--set",
        "joint.shoulder.revolute.stops.stiffness_n_m_per_rad=2000",
    ];
    let response = ["response", "servo.toml", "--json"];
    let answer = folder.json(&[&response[..], &stopped].concat());
    assert_eq!(answer["pressed_stops"][0], "shoulder");
}

/// Identity: a linear system in a file is the same as one in the model; a file that holds none is told of.
#[test]
fn linear_systems_are_read_from_files() {
    let folder = Folder::new();
    let model = servo() + &block(2) + &block(3);
    folder.write("damped.toml", &model);
    folder
        .lissom(&["check", "damped.toml"])
        .says(1, &["damper.npz"]);
    folder.write("damper.npz", "no archive");
    folder
        .lissom(&["check", "damped.toml"])
        .says(1, &["holds no linear system", "numpy.savez"]);
    let array = |name: &str, shape: [usize; 2], values: &[f64]| NamedArray {
        name: name.to_owned(),
        shape: shape.to_vec(),
        values: values.to_vec(),
    };
    let arrays = Arrays {
        numbers: vec![
            array("A", [1, 1], &[0.98]),
            array("B", [1, 2], &[0.0, 0.02]),
            array("C", [1, 1], &[-2000.0]),
            array("D", [1, 2], &[0.0, 2000.0]),
        ],
        texts: Vec::new(),
    };
    let mut bytes = Vec::new();
    npz::write_arrays(&arrays, &mut bytes).unwrap();
    folder.write("damper.npz", bytes);
    let inline =
        "state_space = { a = [[0.98]], b = [[0.0, 0.02]], c = [[-2000.0]], d = [[0.0, 2000.0]] }";
    let own = model.replace("state_space = { file = \"damper.npz\" }", inline);
    assert_ne!(own, model);
    folder.write("inline.toml", own);
    let finals = ["damped.toml", "inline.toml"].map(|model| {
        let short = ["--json", "--set", "simulation.duration_s=0.05"];
        let run = folder.json(&[&["run", model][..], &short].concat());
        let channels = &run["channels"];
        ["shoulder.angle", "damper.state_1", "damper.shoulder.torque"]
            .map(|channel| number(&channels[channel]["final"]))
    });
    assert_eq!(finals[0], finals[1]);
    assert!(finals[0][2].abs() > 0.0);
}

/// A run ends with how far joints are off their nominal motion. The zero at the origin that an integral makes is no reason for an output to go
/// the wrong way first; those of the bending arm are.
#[test]
fn runs_say_whether_joints_follow_and_responses_which_zeros_matter() {
    let folder = Folder::new();
    folder.write("servo.toml", servo());
    let run = ["run", "servo.toml", "--set", "simulation.duration_s=0.1"];
    let words = ["off the nominal motion", "shoulder.angle_error"];
    folder.lissom(&run).says(0, &words);
    let response = ["response", "servo.toml", "--closed-loop", "--outputs"];
    let told = folder.lissom(&[&response[..], &["hand.position.y"]].concat());
    told.says(0, &["zeros in the right half-plane at 29"]);
}
