//! Rows of what acts together: joints of two axes, inputs that share a joint, loads that end on the way, sensors and controllers where loops
//! close and behind gears.

use super::rows::{CRANK, ELBOW, GEARED, HINGE, PIVOT, STIFF_PIVOT, four_bar, pendulum};

const UNIVERSAL: &str = "universal = { first = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.4, initial_rate_rad_per_s = 0.5, \
     spring = { stiffness_n_m_per_rad = 6.0, damping_n_m_s_per_rad = 0.04 }, motor = { inertia_kg_m2 = 1e-4, gear_ratio = 10.0 } }, \
     second = { axis = [0.0, 1.0, 0.0], initial_angle_rad = -0.3, spring = { stiffness_n_m_per_rad = 5.0 }, \
     friction = { viscous_n_m_s_per_rad = 0.03, coulomb_n_m = 0.1, coulomb_rate_rad_per_s = 0.4 }, \
     motor = { inertia_kg_m2 = 1e-4, gear_ratio = 15.0, stiffness_n_m_per_rad = 250.0, damping_n_m_s_per_rad = 0.3 } } }";

const RISING: &str = "rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.5, duration_s = 0.4 }";

fn driven(joint: &str, keys: &str) -> String {
    format!("[[input]]\njoint = \"{joint}\"\n{keys}\n")
}

/// What acts, and a mechanism on which it does.
pub(super) fn rows() -> Vec<(&'static str, String)> {
    let elbow = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.8 }";
    let both = driven("first", RISING) + &driven("second", RISING);
    let sensor = |name: &str, keys: &str| format!("[[sensor]]\nname = \"{name}\"\n{keys}\n");
    let of_loop = sensor("encoder", "encoder = { joint = \"pivot\" }")
        + &sensor("wrist", "force_torque = { joint = \"pivot\" }")
        + &sensor("imu", "accelerometer = { marker = \"hand\" }");
    vec![
        (
            "joint of two axes",
            pendulum(
                HINGE,
                UNIVERSAL,
                &driven("second", "component = 2\ntorque_constant.value_n_m = 0.3"),
            ),
        ),
        (
            "prescribed axis of a joint of two",
            pendulum(
                HINGE,
                &UNIVERSAL.replace(", motor = { inertia_kg_m2 = 1e-4, gear_ratio = 10.0 }", ""),
                "[[motion]]\njoint = \"second\"\ncomponent = 1\ncycloid = { final_angle_rad = 0.2, duration_s = 0.3 }\n",
            ),
        ),
        (
            "torque that ends on the way",
            pendulum(
                HINGE,
                ELBOW,
                &driven(
                    "second",
                    "torque_step = { value_n_m = 0.4, until_s = 0.07 }",
                ),
            ),
        ),
        (
            "two torques on a joint",
            pendulum(
                HINGE,
                ELBOW,
                &(driven("second", "torque_constant.value_n_m = 0.2")
                    + &driven(
                        "second",
                        "torque_cycloid = { final_n_m = 0.3, duration_s = 0.1 }",
                    )
                    + "[[input]]\nmarker = \"hand\"\ndirection = [0.0, 1.0, 0.3]\nforce_constant.value_n = 1.0\n"),
            ),
        ),
        (
            "shaped motion behind a gear",
            pendulum(
                GEARED,
                elbow,
                &(both.clone()
                    + "[[controller]]\nname = \"servo\"\njoints = [\"first\", \"second\"]\n\
                       joint_pd = { position_gain = [50.0, 20.0], rate_gain = [3.0, 1.0] }\n\
                       [shaping]\nzv = [{ frequency_rad_per_s = 60.0, damping_ratio = 0.02 }]\n"),
            ),
        ),
        (
            "sampled integrals behind a gear and an actuator",
            pendulum(
                GEARED,
                elbow,
                &(both
                    + "[[controller]]\nname = \"servo\"\njoints = [\"first\", \"second\"]\n\
                       pid = { position_gain = [50.0, 20.0], integral_gain = [80.0, 30.0], rate_gain = [3.0, 1.0] }\n\
                       sampled = { period_s = 0.03, delay_s = 0.01 }\n\
                       [[actuator]]\nname = \"drive\"\njoint = \"first\"\nmax_torque_n_m = 500.0\nresponse_time_s = 0.02\n"),
            ),
        ),
        (
            "sensors where a loop closes",
            four_bar(CRANK, STIFF_PIVOT, &of_loop),
        ),
        (
            "linear system of a loop",
            four_bar(
                CRANK,
                PIVOT,
                &(of_loop
                    + "[[controller]]\nname = \"servo\"\nmeasures = [\"encoder\"]\ndrives = [\"motor\"]\n\
                       state_space = { a = [[-15.0]], b = [[1.0]], c = [[-8.0]], d = [[-2.0]], reference = [1.4] }\n"),
            ),
        ),
    ]
}
