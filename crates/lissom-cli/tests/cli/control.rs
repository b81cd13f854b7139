//! The servo of the guide: limits, states and closed loop as its commands tell them.

use crate::{Folder, number};

/// The model that the guide writes out.
fn servo() -> String {
    let guide = include_str!("../../../../docs/guide/control.md");
    let model = guide.split("```toml\n").nth(1).unwrap();
    model.split("```").next().unwrap().to_owned()
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
