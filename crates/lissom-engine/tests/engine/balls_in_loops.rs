//! Loops that leave spherical and free joints nothing but to follow, as a whole or in part, in both formulations.

use lissom_core::study::Run;

use crate::loops_in_both::{AGREEMENT, distances, run_nodes, run_tree};
use crate::models::parsed;
use crate::runs::assert_alike;

/// A plate that may move in any way and is welded to a driven carriage, which leads it.
const PLATE_ON_A_CARRIAGE: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]
[[body]]
name = "carriage"
rigid = { mass_kg = 2.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }
[[body]]
name = "plate"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.1, 0.2, 0.0], inertia_kg_m2 = [0.02, 0.03, 0.04] }
[[joint]]
name = "rail"
parent = { body = "ground", rotation_vector_rad = [0.0, 0.3, 0.0] }
child = "carriage"
prismatic = { axis = [1.0, 0.0, 0.0], initial_rate_m_per_s = 0.2 }
[[joint]]
name = "anywhere"
parent = "ground"
child = "plate"
[joint.free]
[[loop]]
name = "weld"
from = { body = "carriage", position_m = [0.1, 0.0, 0.3], rotation_vector_rad = [0.0, 0.0, 0.5] }
to = "plate"
fixed = {}
[[input]]
joint = "rail"
force_step = { value_n = 3.0 }
[[input]]
joint = "anywhere"
component = 4
force_step = { value_n = -2.0 }
[[marker]]
name = "corner"
body = "plate"
position_m = [0.3, 0.3, 0.0]
[simulation]
duration_s = 0.5
integrator = { dop853 = { rtol = 1e-10, atol = 1e-10 } }
[output]
sample_period_s = 0.05
"#;

/// A body on a driven spherical joint inside a cardan suspension with the same centre.
const BALL_IN_A_CARDAN: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]
[[body]]
name = "ring"
rigid = { mass_kg = 0.5, inertia_kg_m2 = [0.01, 0.02, 0.015] }
[[body]]
name = "top"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.05, 0.0, 0.2], inertia_kg_m2 = [0.02, 0.03, 0.01] }
[[joint]]
name = "cardan"
parent = "ground"
child = "ring"
[joint.universal]
first = { axis = [1.0, 0.0, 0.0], initial_angle_rad = 0.3, initial_rate_rad_per_s = 1.0 }
second = { axis = [0.0, 1.0, 0.0], initial_angle_rad = -0.2 }
[[joint]]
name = "ball"
parent = "ground"
child = "top"
[joint.spherical]
[[loop]]
name = "weld"
from = "ring"
to = "top"
fixed = {}
[[input]]
joint = "ball"
component = 2
torque_step = { value_n_m = 0.7 }
[[marker]]
name = "head"
body = "top"
position_m = [0.0, 0.0, 0.4]
[simulation]
duration_s = 0.5
integrator = { dop853 = { rtol = 1e-10, atol = 1e-10 } }
[output]
sample_period_s = 0.05
"#;

/// Runs in the tree and in nodes, without the quaternions of joints, which have either sign where joints follow.
fn in_both(text: &str) -> (Run, Run) {
    let spec = parsed(text);
    let mut tree = run_tree(&spec);
    let is_quaternion = |name: &str| name.contains(".quaternion.");
    (tree.recording.channels).retain(|channel| !is_quaternion(&channel.name));
    (tree, run_nodes(&spec, 1))
}

/// Two formulations: free joints, and spherical ones that something drives, follow where nothing else can.
#[test]
fn joints_of_many_freedoms_follow_as_a_whole() {
    for (text, marker) in [(PLATE_ON_A_CARRIAGE, "corner"), (BALL_IN_A_CARDAN, "head")] {
        let (tree, nodes) = in_both(text);
        assert!(assert_alike(&tree, &nodes, AGREEMENT) > 10);
        let (_, way) = distances(&tree, &nodes, marker);
        assert!(way > 0.05, "{marker} moves {way}");
    }
}

/// A crank that drives a rocker in another plane by a coupler between two ball joints, which may turn about its own line.
const SPATIAL_FOUR_BAR: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]
[[body]]
name = "crank"
rigid = { mass_kg = 0.3, center_of_mass_m = [0.05, 0.0, 0.0], inertia_kg_m2 = [1.0e-4, 1.0e-3, 1.0e-3] }
node = [{ name = "pin", position_m = [0.1, 0.0, 0.0] }]
[[body]]
name = "coupler"
rigid = { mass_kg = 0.5, center_of_mass_m = [0.25, 0.02, 0.0], inertia_kg_m2 = [4.0e-4, 1.0e-2, 1.02e-2] }
node = [{ name = "end", position_m = [0.5, 0.0, 0.0] }]
[[body]]
name = "rocker"
rigid = { mass_kg = 0.4, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [1.0e-4, 2.0e-3, 2.0e-3] }
node = [{ name = "end", position_m = [0.3, 0.0, 0.0] }]
[[joint]]
name = "motor"
parent = "ground"
child = "crank"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.4, initial_rate_rad_per_s = 6.0, held = true }
[[joint]]
name = "ball"
parent = { body = "crank", at = "pin" }
child = "coupler"
[joint.spherical]
friction = { viscous_n_m_s_per_rad = 1.0e-3 }
[[joint]]
name = "pivot"
parent = { body = "ground", position_m = [0.4, 0.2, 0.0] }
child = "rocker"
revolute = { axis = [0.0, 1.0, 0.0], initial_angle_rad = -1.2 }
[[loop]]
name = "far_ball"
from = { body = "coupler", at = "end" }
to = { body = "rocker", at = "end" }
spherical = {}
[[input]]
joint = "motor"
torque_step = { value_n_m = 0.2 }
[[marker]]
name = "side"
body = "coupler"
position_m = [0.25, 0.1, 0.0]
[simulation]
duration_s = 1.2
integrator = { dop853 = { rtol = 1e-10, atol = 1e-10 } }
[output]
sample_period_s = 0.05
"#;

/// A body on a ball joint that a rod holds, and one that hangs from a hinge which closes a loop.
const HELD_IN_PART: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]
[[body]]
name = "pole"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.3, 0.0, 0.05], inertia_kg_m2 = [0.01, 0.04, 0.05] }
[[body]]
name = "pendulum"
rigid = { mass_kg = 0.7, center_of_mass_m = [0.0, 0.2, -0.3], inertia_kg_m2 = [0.02, 0.03, 0.01] }
[[joint]]
name = "ball"
parent = "ground"
child = "pole"
[joint.spherical]
initial_angular_velocity_rad_per_s = [0.5, 0.0, 0.0]
[[joint]]
name = "anywhere"
parent = "ground"
child = "pendulum"
[joint.free]
initial_position_m = [0.0, 1.0, 0.0]
[[loop]]
name = "rod"
from = { body = "ground", position_m = [0.5, 0.4, 0.6] }
to = { body = "pole", position_m = [0.6, 0.0, 0.0] }
distance = { length_m = 0.75 }
[[loop]]
name = "hinge"
from = { body = "ground", position_m = [0.0, 1.0, 0.0] }
to = "pendulum"
revolute = { axis = [1.0, 0.0, 0.2] }
[[input]]
joint = "ball"
component = 3
torque_step = { value_n_m = 0.4 }
[[marker]]
name = "top"
body = "pole"
position_m = [0.4, 0.1, 0.0]
[[marker]]
name = "bob"
body = "pendulum"
position_m = [0.0, 0.2, -0.3]
[simulation]
duration_s = 0.6
integrator = { dop853 = { rtol = 1e-10, atol = 1e-10 } }
[output]
sample_period_s = 0.05
"#;

/// Two formulations: where a loop takes a part of the freedoms of a spherical or free joint, the others lead.
#[test]
fn joints_of_many_freedoms_follow_in_part() {
    for (text, markers) in [
        (SPATIAL_FOUR_BAR, &["side"][..]),
        (HELD_IN_PART, &["top", "bob"][..]),
    ] {
        let (tree, nodes) = in_both(text);
        assert!(assert_alike(&tree, &nodes, AGREEMENT) > 10);
        for marker in markers {
            let (_, way) = distances(&tree, &nodes, marker);
            assert!(way > 0.05, "{marker} moves {way}");
        }
    }
}
