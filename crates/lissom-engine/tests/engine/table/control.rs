//! Rows of controllers with states, actuators, shaped motions and sensors.

use super::rows::{CRANK, ELBOW, GEARED, HINGE, PIVOT, STIFF_PIVOT, four_bar, pendulum};

const CYCLOID: &str =
    "rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.5, duration_s = 0.4 }";

fn driven(joint: &str, keys: &str) -> String {
    format!("[[input]]\njoint = \"{joint}\"\n{keys}\n")
}

fn controller(keys: &str) -> String {
    format!("[[controller]]\nname = \"servo\"\n{keys}\n")
}

fn actuator(joint: &str, keys: &str) -> String {
    format!("[[actuator]]\nname = \"drive\"\njoint = \"{joint}\"\n{keys}\n")
}

/// Every kind of sensor but the strain gauge, which takes a beam.
const SENSORS: &str = r#"
[[sensor]]
name = "encoder"
encoder = { joint = "second" }
bias = [0.1]
[[sensor]]
name = "gyro"
gyroscope = { marker = "hand" }
[[sensor]]
name = "imu"
accelerometer = { marker = "hand" }
[[sensor]]
name = "wrist"
force_torque = { joint = "second" }
"#;

/// What acts, and a mechanism on which it does.
pub(super) fn rows() -> Vec<(&'static str, String)> {
    let elbow = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.8 }";
    let both = driven("first", CYCLOID) + &driven("second", CYCLOID);
    let on_both = "joints = [\"first\", \"second\"]\n";
    let pid = "pid = { position_gain = [50.0, 20.0], integral_gain = [80.0, 30.0], rate_gain = [3.0, 1.0]";
    let observer = "measures = [\"encoder\", \"gyro.z\"]\ndrives = [\"second\"]\n\
         state_space = { a = [[-20.0, 5.0], [0.0, -9.0]], b = [[1.0, 0.2], [0.0, 1.0]], c = [[-30.0, 4.0]], d = [[-8.0, -0.5]], \
         reference = [0.5, 0.0] }";
    let sampled = "sampled = { period_s = 0.02, delay_s = 0.005 }";
    let of_loop = |joint: &str, law: &str| {
        let gains = controller(&format!("joints = [\"{joint}\"]\n{law}"));
        driven("motor", CYCLOID) + &gains
    };
    let one = "pid = { position_gain = [20.0], integral_gain = [40.0], rate_gain = [1.0], rate_filter_s = 0.01 }";
    vec![
        (
            "integrals",
            pendulum(
                HINGE,
                elbow,
                &(both.clone() + &controller(&format!("{on_both}{pid} }}"))),
            ),
        ),
        (
            "filtered rates",
            pendulum(
                HINGE,
                elbow,
                &(both.clone() + &controller(&format!("{on_both}{pid}, rate_filter_s = 0.01 }}"))),
            ),
        ),
        (
            "integrals behind a gear and an actuator",
            pendulum(
                GEARED,
                elbow,
                &(both.clone()
                    + &controller(&format!(
                        "{on_both}{pid}, rate_filter_s = 0.01, anti_windup_s = 0.1 }}"
                    ))
                    + &actuator("first", "max_torque_n_m = 500.0\nresponse_time_s = 0.02")),
            ),
        ),
        (
            "linear system",
            pendulum(HINGE, ELBOW, &(SENSORS.to_owned() + &controller(observer))),
        ),
        (
            "linear system behind an actuator",
            pendulum(
                HINGE,
                ELBOW,
                &(SENSORS.to_owned()
                    + &controller(
                        &observer.replace("drives = [\"second\"]", "drives = [\"drive\"]"),
                    )
                    + &actuator("second", "response_time_s = 0.01")),
            ),
        ),
        (
            "sampled integrals",
            pendulum(
                HINGE,
                elbow,
                &(both.clone() + &controller(&format!("{on_both}{pid} }}\n{sampled}"))),
            ),
        ),
        (
            "sampled linear system",
            pendulum(
                HINGE,
                ELBOW,
                &(SENSORS.to_owned()
                    + &controller(&format!(
                        "{sampled}\n{}",
                        observer.replace("[[-20.0, 5.0], [0.0, -9.0]]", "[[0.6, 0.1], [0.0, 0.8]]")
                    ))),
            ),
        ),
        (
            "actuator with a response time",
            pendulum(
                HINGE,
                ELBOW,
                &(driven("second", "torque_constant.value_n_m = 0.3")
                    + &actuator("second", "max_torque_n_m = 5.0\nresponse_time_s = 0.03")),
            ),
        ),
        (
            "actuator at its limit",
            pendulum(
                HINGE,
                ELBOW,
                &(driven("second", "torque_constant.value_n_m = 1.0")
                    + &actuator("second", "max_torque_n_m = 0.3")),
            ),
        ),
        (
            "actuator as fast as it can",
            pendulum(
                HINGE,
                ELBOW,
                &(driven("second", "torque_constant.value_n_m = 2.0")
                    + &actuator(
                        "second",
                        "max_torque_n_m = 1.5\nresponse_time_s = 0.02\nmax_torque_rate_n_m_per_s = 2.0",
                    )),
            ),
        ),
        (
            "shaped motion",
            pendulum(
                HINGE,
                elbow,
                &(both
                    + &controller(&format!(
                        "{on_both}joint_pd = {{ position_gain = [50.0, 20.0], rate_gain = [3.0, 1.0] }}"
                    ))
                    + "[shaping]\nzv = [{ frequency_rad_per_s = 40.0, damping_ratio = 0.05 }]\n"),
            ),
        ),
        ("sensors", pendulum(HINGE, ELBOW, SENSORS)),
        (
            "integrals of a loop",
            four_bar(CRANK, PIVOT, &of_loop("motor", one)),
        ),
        (
            "integrals where a loop closes",
            four_bar(CRANK, STIFF_PIVOT, &of_loop("pivot", one)),
        ),
    ]
}
