//! The rows: what acts, each on a small mechanism of rigid bodies.

/// A double pendulum on joints of these keys: `first` carries a link of 0.4 m, `second` one of 0.3 m whose end is the marker
/// `hand`.
pub(super) fn pendulum(first: &str, second: &str, more: &str) -> String {
    format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "upper"
rigid = {{ mass_kg = 1.2, center_of_mass_m = [0.2, 0.01, 0.02], inertia_kg_m2 = [2e-3, 2e-2, 2e-2] }}
node = [{{ name = "end", position_m = [0.4, 0.0, 0.0] }}]
[[body]]
name = "fore"
rigid = {{ mass_kg = 0.7, center_of_mass_m = [0.15, 0.0, -0.01], inertia_kg_m2 = [1e-3, 6e-3, 7e-3] }}
node = [{{ name = "end", position_m = [0.3, 0.0, 0.0] }}]
[[joint]]
name = "first"
parent = "ground"
child = "upper"
{first}
[[joint]]
name = "second"
parent = {{ body = "upper", at = "end" }}
child = "fore"
{second}
[[marker]]
name = "hand"
body = "fore"
at = "end"
{more}
"#
    )
}

pub(super) const HINGE: &str = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = -0.9, \
    initial_rate_rad_per_s = 0.4, spring = { stiffness_n_m_per_rad = 9.0, damping_n_m_s_per_rad = 0.1 } }";
pub(super) const ELBOW: &str = "revolute = { axis = [0.0, 1.0, 1.0], initial_angle_rad = 0.5, initial_rate_rad_per_s = -0.7, \
     spring = { stiffness_n_m_per_rad = 6.0, rest_angle_rad = 0.2, damping_n_m_s_per_rad = 0.05 } }";
const FRICTION: &str = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.4, \
    initial_rate_rad_per_s = 1.0, spring = { stiffness_n_m_per_rad = 8.0 }, friction = { viscous_n_m_s_per_rad = 0.1, \
    coulomb_n_m = 0.4, coulomb_rate_rad_per_s = 0.3 } }";
const LIMITED: &str = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.5, initial_rate_rad_per_s = 1.0, \
     spring = { stiffness_n_m_per_rad = 6.0 }, limits = { min_rad = 0.2, max_rad = 0.52, max_rate_rad_per_s = 0.4, max_torque_n_m = 0.2 } }";
pub(super) const GEARED: &str = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = -0.9, initial_rate_rad_per_s = 0.3, \
     motor = { inertia_kg_m2 = 2e-4, gear_ratio = 20.0, stiffness_n_m_per_rad = 300.0, damping_n_m_s_per_rad = 0.5 } }";
const ROTOR: &str = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.6, \
     spring = { stiffness_n_m_per_rad = 7.0 }, motor = { inertia_kg_m2 = 1e-4, gear_ratio = 10.0 } }";
const SLIDER: &str = "prismatic = { axis = [1.0, 0.2, 0.0], initial_displacement_m = 0.05, \
     initial_rate_m_per_s = 0.2, spring = { stiffness_n_per_m = 300.0, damping_n_s_per_m = 1.0 }, \
     motor = { inertia_kg_m2 = 1e-4, gear_ratio_rad_per_m = 50.0, stiffness_n_per_m = 4e3 } }";
const BALL: &str = "spherical = { initial_rotation_vector_rad = [0.1, -0.3, 0.2], \
     initial_angular_velocity_rad_per_s = [0.3, 0.2, -0.4], spring = { stiffness_n_m_per_rad = 7.0, \
     damping_n_m_s_per_rad = 0.02 }, friction = { viscous_n_m_s_per_rad = 0.03, coulomb_n_m = 0.05, \
     coulomb_rate_rad_per_s = 0.5 }, limits = { max_angle_rad = 0.3 } }";
const FREE: &str = "free = { initial_position_m = [0.1, 0.0, 0.05], initial_rotation_vector_rad = [0.2, 0.1, -0.3], \
     initial_velocity_m_per_s = [0.1, 0.2, 0.0], initial_angular_velocity_rad_per_s = [0.2, -0.3, 0.4], \
     spring = { linear_stiffness_n_per_m = 400.0, angular_stiffness_n_m_per_rad = 12.0, linear_damping_n_s_per_m = 0.7, \
     angular_damping_n_m_s_per_rad = 0.03 }, friction = { angular_viscous_n_m_s_per_rad = 0.01, linear_viscous_n_s_per_m = 0.2 } }";

const MOTOR_BALL: &str = "spherical = { initial_rotation_vector_rad = [0.1, -0.3, 0.2], \
     initial_angular_velocity_rad_per_s = [0.3, 0.2, -0.4], spring = { stiffness_n_m_per_rad = 7.0 }, \
     motor = { inertia_kg_m2 = 2e-5, gear_ratio = 15.0 } }";
const MOTOR_FREE: &str = "free = { initial_position_m = [0.1, 0.0, 0.05], initial_rotation_vector_rad = [0.2, 0.1, -0.3], \
     initial_velocity_m_per_s = [0.1, 0.2, 0.0], initial_angular_velocity_rad_per_s = [0.2, -0.3, 0.4], \
     spring = { linear_stiffness_n_per_m = 400.0, angular_stiffness_n_m_per_rad = 12.0 }, motor = { angular_inertia_kg_m2 = 1e-5, \
     angular_gear_ratio = 20.0, linear_inertia_kg_m2 = 1e-5, linear_gear_ratio_rad_per_m = 100.0 } }";

/// A planar four-bar: `crank` on joint `motor`, `coupler`, `rocker` on joint `pivot`; `pin` is cut.
pub(super) fn four_bar(motor: &str, pivot: &str, more: &str) -> String {
    format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "crank"
rigid = {{ mass_kg = 0.3, center_of_mass_m = [0.1, 0.0, 0.02], inertia_kg_m2 = [1e-4, 1e-3, 1e-3] }}
node = [{{ name = "pin", position_m = [0.2, 0.0, 0.0] }}]
[[body]]
name = "coupler"
rigid = {{ mass_kg = 0.6, center_of_mass_m = [0.3, 0.05, 0.0], inertia_kg_m2 = [1e-4, 2e-2, 2e-2] }}
node = [{{ name = "end", position_m = [0.6, 0.0, 0.0] }}]
[[body]]
name = "rocker"
rigid = {{ mass_kg = 0.4, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [1e-4, 6e-3, 6e-3] }}
node = [{{ name = "end", position_m = [0.4, 0.0, 0.0] }}]
[[joint]]
name = "motor"
parent = "ground"
child = "crank"
{motor}
[[joint]]
name = "knuckle"
parent = {{ body = "crank", at = "pin" }}
child = "coupler"
revolute = {{ axis = [0.0, 0.0, 1.0] }}
[[joint]]
name = "pivot"
parent = {{ body = "ground", position_m = [0.5, 0.0, 0.0] }}
child = "rocker"
{pivot}
[[loop]]
name = "pin"
from = {{ body = "coupler", at = "end" }}
to = {{ body = "rocker", at = "end" }}
revolute = {{ axis = [0.0, 0.0, 1.0] }}
[[marker]]
name = "hand"
body = "coupler"
at = "end"
{more}
"#
    )
}

pub(super) const CRANK: &str = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.0, initial_rate_rad_per_s = 1.5, \
     held = true, spring = { stiffness_n_m_per_rad = 5.0, damping_n_m_s_per_rad = 0.05 } }";
pub(super) const PIVOT: &str =
    "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.4, branch = \"positive\" }";
pub(super) const STIFF_PIVOT: &str = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.4, branch = \"positive\", \
     spring = { stiffness_n_m_per_rad = 4.0, damping_n_m_s_per_rad = 0.1 }, friction = { viscous_n_m_s_per_rad = 0.05, \
     coulomb_n_m = 0.2, coulomb_rate_rad_per_s = 0.4 }, motor = { inertia_kg_m2 = 1e-5, gear_ratio = 10.0 }, \
     limits = { max_rate_rad_per_s = 0.1 } }";
const GEARED_PIVOT: &str = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.4, branch = \"positive\", \
     motor = { inertia_kg_m2 = 1e-5, gear_ratio = 10.0, stiffness_n_m_per_rad = 200.0, damping_n_m_s_per_rad = 0.2 } }";

/// A four-bar whose driven rocker passes its dead point.
pub(super) fn dead_point() -> String {
    let torque = "[[input]]\njoint = \"pivot\"\ntorque_constant.value_n_m = 0.5\n";
    four_bar(CRANK, STIFF_PIVOT, torque)
}

/// What acts, and a mechanism on which it does.
pub(super) fn rows() -> Vec<(&'static str, String)> {
    let driven = |joint: &str, keys: &str| format!("[[input]]\njoint = \"{joint}\"\n{keys}\n");
    let at_hand = |keys: &str| format!("[[input]]\nmarker = \"hand\"\n{keys}\n");
    let cycloid = "rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.5, duration_s = 0.4 }";
    let pd = |joints: &str, gains: &str| {
        format!("[[controller]]\nname = \"servo\"\njoints = [{joints}]\n{gains}\n")
    };
    let both = driven("first", cycloid) + &driven("second", cycloid);
    let straight = "[nominal_motion]\nmarker = \"hand\"\n\
        x.cycloid = { final_displacement_m = 0.5, duration_s = 0.4 }\ny.cycloid = { final_displacement_m = -0.3, duration_s = 0.4 }\n";
    let plain = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = -0.9 }";
    let elbow = "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.8 }";
    // keeps away from the dead point of the rocker, where its angle is no coordinate
    let away = CRANK.replace("spring = {", "spring = { rest_angle_rad = 1.2,");
    let rising = "torque_cycloid = { final_n_m = 0.3, duration_s = 0.1 }";
    vec![
        ("springs and dampers", pendulum(HINGE, ELBOW, "")),
        ("friction", pendulum(HINGE, FRICTION, "")),
        (
            "limits",
            pendulum(
                HINGE,
                LIMITED,
                &driven("second", "torque_constant.value_n_m = 0.3"),
            ),
        ),
        ("rotor", pendulum(HINGE, ROTOR, "")),
        (
            "elastic gear",
            pendulum(
                GEARED,
                FRICTION,
                &driven("first", "torque_constant.value_n_m = -1.0"),
            ),
        ),
        (
            "sliding joint with a gear",
            pendulum(
                HINGE,
                SLIDER,
                &driven("second", "force_constant.value_n = 2.0"),
            ),
        ),
        ("torque", pendulum(HINGE, ELBOW, &driven("second", rising))),
        (
            "force at a marker",
            pendulum(
                HINGE,
                ELBOW,
                &at_hand("direction = [0.3, 1.0, -0.2]\nforce_constant.value_n = 2.0"),
            ),
        ),
        (
            "force that follows",
            pendulum(
                HINGE,
                ELBOW,
                &at_hand(
                    "direction = [0.3, 1.0, -0.2]\nframe = \"body\"\nforce_constant.value_n = 2.0",
                ),
            ),
        ),
        (
            "torque that follows",
            pendulum(
                HINGE,
                ELBOW,
                &at_hand(
                    "direction = [0.3, 1.0, -0.2]\nframe = \"body\"\ntorque_constant.value_n_m = 0.4",
                ),
            ),
        ),
        (
            "prescribed motion",
            pendulum(
                plain,
                ELBOW,
                "[[motion]]\njoint = \"first\"\ncycloid = { final_angle_rad = -0.4, duration_s = 0.3 }\n",
            ),
        ),
        ("inverse dynamics", pendulum(plain, elbow, &both)),
        // joints that nothing drives keep their place on what carries them
        (
            "inverse dynamics under a ball",
            pendulum(plain, BALL, &driven("first", cycloid)),
        ),
        (
            "inverse dynamics under a free joint",
            pendulum(plain, FREE, &driven("first", cycloid)),
        ),
        (
            "inverse dynamics behind a gear",
            pendulum(GEARED, elbow, &both),
        ),
        (
            "path of a marker",
            pendulum(
                plain,
                elbow,
                &format!(
                    "{}{}{straight}",
                    driven("first", "nominal_motion = true"),
                    driven("second", "nominal_motion = true")
                ),
            ),
        ),
        (
            "path of a marker behind a gear",
            pendulum(
                GEARED,
                elbow,
                &format!(
                    "{}{}{straight}",
                    driven("first", "nominal_motion = true"),
                    driven("second", "nominal_motion = true")
                ),
            ),
        ),
        (
            "feedback",
            pendulum(
                HINGE,
                elbow,
                &(both.clone()
                    + &pd(
                        "\"first\", \"second\"",
                        "joint_pd = { position_gain = [50.0, 20.0], rate_gain = [3.0, 1.0] }",
                    )),
            ),
        ),
        (
            "computed feedback",
            pendulum(
                HINGE,
                elbow,
                &(both.clone()
                    + &pd(
                        "\"first\", \"second\"",
                        "computed_pd = { frequency_rad_per_s = 15.0, damping_ratio = 0.7 }",
                    )),
            ),
        ),
        (
            "feedback behind a gear",
            pendulum(
                GEARED,
                elbow,
                &(both
                    + &pd(
                        "\"first\", \"second\"",
                        "computed_pd = { frequency_rad_per_s = 15.0, damping_ratio = 0.7 }",
                    )),
            ),
        ),
        ("ball with springs and friction", pendulum(HINGE, BALL, "")),
        (
            "ball with a torque",
            pendulum(
                BALL,
                ELBOW,
                &driven("first", "component = 2\ntorque_constant.value_n_m = 0.2"),
            ),
        ),
        (
            "ball under a small force",
            pendulum(
                "revolute = { axis = [0.0, 0.0, 1.0], spring = { stiffness_n_m_per_rad = 9.0 } }",
                "spherical = { spring = { stiffness_n_m_per_rad = 7.0, damping_n_m_s_per_rad = 0.02 } }",
                &at_hand("direction = [0.3, 1.0, -0.2]\nforce_constant.value_n = 0.001"),
            )
            .replace("-9.81", "0.0"),
        ),
        ("free joint with springs", pendulum(FREE, ELBOW, "")),
        (
            "free joint with a force",
            pendulum(
                FREE,
                ELBOW,
                &driven("first", "component = 5\nforce_constant.value_n = 1.0"),
            ),
        ),
        (
            "motors of a ball",
            pendulum(
                HINGE,
                MOTOR_BALL,
                &driven("second", "component = 1\ntorque_constant.value_n_m = 0.1"),
            ),
        ),
        ("motors of a free joint", pendulum(MOTOR_FREE, BALL, "")),
        (
            "free joint on a body that moves",
            pendulum(
                HINGE,
                FREE,
                &driven("second", "component = 4\nforce_constant.value_n = 1.0"),
            ),
        ),
        (
            "inverse dynamics of a ball",
            pendulum(
                BALL,
                elbow,
                &(driven("second", cycloid)
                    + &(1..=3)
                        .map(|i| driven("first", &format!("component = {i}\nnominal_motion = true")))
                        .collect::<String>()),
            ),
        ),
        ("loop", four_bar(CRANK, STIFF_PIVOT, "")),
        (
            "gear where a loop closes",
            four_bar(CRANK, GEARED_PIVOT, ""),
        ),
        (
            "torque where a loop closes",
            four_bar(
                &away,
                STIFF_PIVOT,
                &driven("pivot", "torque_constant.value_n_m = 0.5"),
            ),
        ),
        (
            "inverse dynamics of a loop",
            four_bar(CRANK, PIVOT, &driven("motor", cycloid)),
        ),
        (
            "more drives than a loop leaves free",
            four_bar(
                CRANK,
                STIFF_PIVOT,
                &format!(
                    "{}{}",
                    driven("motor", cycloid),
                    driven("pivot", "nominal_motion = true")
                ),
            ),
        ),
        (
            "path of a marker of a loop",
            four_bar(
                CRANK,
                PIVOT,
                &format!(
                    "{}[nominal_motion]\nmarker = \"hand\"\ny.cycloid = {{ final_displacement_m = 0.33, duration_s = 0.4 }}\n",
                    driven("motor", "nominal_motion = true")
                ),
            ),
        ),
        (
            "feedback of a loop",
            four_bar(
                CRANK,
                PIVOT,
                &(driven("motor", cycloid)
                    + &pd(
                        "\"motor\"",
                        "joint_pd = { position_gain = [20.0], rate_gain = [1.0] }",
                    )),
            ),
        ),
        (
            "feedback where a loop closes",
            four_bar(
                CRANK,
                PIVOT,
                &(driven("motor", cycloid)
                    + &pd(
                        "\"pivot\"",
                        "joint_pd = { position_gain = [20.0], rate_gain = [1.0] }",
                    )),
            ),
        ),
    ]
}
