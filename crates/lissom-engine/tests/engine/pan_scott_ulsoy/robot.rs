//! A revolute-prismatic robot: a flexible boom in a rigid sleeve.

use lissom_core::study::{Ending, Run};

use super::simulated;
use crate::runs::samples;

/// Revolute-prismatic robot: a flexible boom in a rigid sleeve.
pub(crate) fn robot(spatial: bool, driven: bool, shortening: &str) -> Run {
    let (axis, child) = if spatial {
        (
            "[0.0, 1.0, 0.0]",
            format!(
                r#"{{ body = "sleeve", rotation_vector_rad = [0.0, 0.0, {}] }}"#,
                -std::f64::consts::FRAC_PI_6
            ),
        )
    } else {
        ("[0.0, 0.0, 1.0]", r#""sleeve""#.to_owned())
    };
    let angle = if spatial {
        std::f64::consts::FRAC_PI_2
    } else {
        std::f64::consts::FRAC_PI_3
    };
    let swing = format!("final_angle_rad = {angle}\nduration_s = 1.0");
    let slide = "final_displacement_m = 0.5\nduration_s = 1.0";
    let moved = if driven {
        format!(
            "[[input]]\njoint = \"swing\"\n[input.rigid_inverse_dynamics.cycloid]\n{swing}\n\
             [[input]]\njoint = \"slide\"\n[input.rigid_inverse_dynamics.cycloid]\n{slide}\n"
        )
    } else {
        format!(
            "[[motion]]\njoint = \"swing\"\n[motion.cycloid]\n{swing}\n\
             [[motion]]\njoint = \"slide\"\n[motion.cycloid]\n{slide}\n"
        )
    };
    let text = format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "sleeve"
[body.rigid]
mass_kg = 2.0
center_of_mass_m = [0.4, 0.0, 0.0]
inertia_kg_m2 = [1e-6, 0.10666666666666667, 0.10666666666666667]
[[body]]
name = "boom"
[body.beam]
length_m = 1.2
mass_per_length_kg_per_m = 0.4
axial_stiffness_n = 2e5
bending_stiffness_y_n_m2 = 40.0
bending_stiffness_z_n_m2 = 25.0
basis = {{ elements = {{ count = 4, stretch = true, bending_z = {spatial} }} }}
[[body.point_mass]]
at = "tip"
mass_kg = 0.2
[[joint]]
name = "swing"
parent = "ground"
child = {child}
[joint.revolute]
axis = {axis}
[[joint]]
name = "slide"
parent = "sleeve"
child = "boom"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
initial_displacement_m = 0.1
[[support]]
name = "mouth"
beam = "boom"
on = {{ body = "sleeve", position_m = [0.8, 0.0, 0.0] }}
[[marker]]
name = "tip"
body = "boom"
at = "tip"
{moved}
[fidelity]
shortening = "{shortening}"
[simulation]
duration_s = {}
initial = "equilibrium"
integrator.dop853 = {{ rtol = 1e-9, atol = 1e-12 }}
[output]
sample_period_s = 0.1
"#,
        if driven { 1.0 } else { 1.5 }
    );
    let run = simulated(&text);
    let drift = run.audit.energy.max_drift_percent;
    assert!(drift < 1e-7, "{drift} %");
    assert_eq!(run.ending, Ending::Completed);
    run
}

pub(crate) fn at(run: &Run, channel: &str, sample: usize) -> f64 {
    samples(&run.recording, channel)[sample]
}

/// Prescribed motion of the robot, both forms of the kinetic energy.
#[test]
fn the_boom_of_a_prescribed_robot_follows_the_reference() {
    const MILLIMETRES: f64 = 1e-3;
    // N m; axial ringing
    const TORQUE: f64 = 1e-3;
    for (shortening, planar, spatial_v, spatial_w) in [
        (
            "kinematic",
            [-15.2857, -8.4086, 6.0853],
            [-8.0390, -25.7125, -19.6175],
            [16.9213, -5.3224, -47.9297],
        ),
        (
            "second_order",
            [-15.2817, -8.4168, 6.0705],
            [-8.0335, -25.7788, -19.4449],
            [16.9253, -5.3035, -47.6599],
        ),
    ] {
        let plane = robot(false, false, shortening);
        let space = robot(true, false, shortening);
        for (i, sample) in [3, 6, 9].into_iter().enumerate() {
            for (run, channel, expected) in [
                (&plane, "tip.deflection.y", planar[i]),
                (&space, "tip.deflection.y", spatial_v[i]),
                (&space, "tip.deflection.z", spatial_w[i]),
            ] {
                let found = 1e3 * at(run, channel, sample);
                assert!(
                    (found - expected).abs() < MILLIMETRES,
                    "{shortening} {sample} {channel}: {found} mm, expected {expected} mm"
                );
            }
            if shortening == "second_order" {
                let expected = [22.0009, 8.4730, 1.2115][i];
                agree(&plane, "swing.driving_torque", sample, expected, TORQUE);
            }
        }
    }
}

/// The driven robot: joints and boom move freely under the torques of the rigid one.
#[test]
fn the_driven_robot_follows_the_reference() {
    const COORDINATES: f64 = 1e-5;
    // the same angle at the end of the boom
    const DEFLECTIONS: f64 = 1.2e-5;
    let planar = [
        [0.053_055_7, 0.121_674_8, -12.3487],
        [0.322_230_8, 0.234_386_2, -18.5566],
        [0.712_205_9, 0.404_573_8, -9.1628],
        [0.954_447_8, 0.521_528_2, 13.2760],
        [0.986_097_1, 0.557_445_9, -13.6182],
    ];
    let spatial = [
        [0.080_431_2, 0.120_975_4, -5.7861, 11.0739],
        [0.485_042_1, 0.231_629_6, -13.4558, 20.2324],
        [1.066_081_8, 0.401_351_6, -26.5431, -9.0707],
        [1.434_534_8, 0.528_391_1, -25.2158, -58.2990],
        [1.528_791_1, 0.584_576_1, -29.2159, 0.7188],
    ];
    let plane = robot(false, true, "second_order");
    let space = robot(true, true, "second_order");
    for i in 0..5 {
        let sample = 2 * (i + 1);
        let [angle, extension, v] = planar[i];
        agree(&plane, "swing.angle", sample, angle, COORDINATES);
        agree(&plane, "slide.displacement", sample, extension, COORDINATES);
        agree(&plane, "tip.deflection.y", sample, 1e-3 * v, DEFLECTIONS);
        let [angle, extension, v, w] = spatial[i];
        agree(&space, "swing.angle", sample, angle, COORDINATES);
        agree(&space, "slide.displacement", sample, extension, COORDINATES);
        agree(&space, "tip.deflection.y", sample, 1e-3 * v, DEFLECTIONS);
        agree(&space, "tip.deflection.z", sample, 1e-3 * w, DEFLECTIONS);
    }
}

pub(crate) fn agree(run: &Run, channel: &str, sample: usize, expected: f64, tolerance: f64) {
    let found = at(run, channel, sample);
    assert!(
        (found - expected).abs() < tolerance,
        "{channel} at sample {sample}: {found}, expected {expected}"
    );
}

/// A crank that moves a rod through a ring on the ground, driven by what the rigid mechanism needs: largest deviation of its
/// angle from the nominal one.
fn guided_rod(stiffness: f64) -> f64 {
    let (length, angle, ring) = (0.3_f64, 0.5_f64, 0.7_f64);
    let (x, y) = (length * angle.cos(), length * angle.sin());
    let rod = (-y).atan2(ring - x) - angle;
    let run = simulated(&format!(
        r#"
format = 1
[[body]]
name = "crank"
[body.rigid]
mass_kg = 0.5
center_of_mass_m = [0.15, 0.0, 0.0]
inertia_kg_m2 = [1e-3, 4e-3, 4e-3]
[[body]]
name = "rod"
[body.beam]
length_m = 1.2
mass_per_length_kg_per_m = 0.4
bending_stiffness_y_n_m2 = {stiffness}
basis = {{ clamped_free = {{ bending_y = 2 }} }}
[[joint]]
name = "turn"
parent = "ground"
child = "crank"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = {angle}
[[joint]]
name = "pin"
parent = {{ body = "crank", position_m = [{length}, 0.0, 0.0] }}
child = "rod"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = {rod}
[[support]]
name = "ring"
beam = "rod"
on = {{ body = "ground", position_m = [{ring}, 0.0, 0.0] }}
[[input]]
joint = "turn"
[input.rigid_inverse_dynamics.cycloid]
final_angle_rad = 1.5
duration_s = 0.5
[simulation]
duration_s = 0.5
integrator.dop853 = {{ rtol = 1e-8, atol = 1e-11 }}
[output]
sample_period_s = 0.05
"#
    ));
    assert_eq!(run.ending, Ending::Completed);
    let nominal = super::frames::cycloid(0.5, 1.5, 0.5);
    (run.recording.time_s.iter().enumerate()).fold(0.0, |most: f64, (i, &t)| {
        most.max((at(&run, "turn.angle", i) - nominal(t)[0]).abs())
    })
}

/// Limit: a support that the rigid joints do not keep by themselves is part of the nominal motion, and the stiffer the rod, the
/// closer its crank comes to it.
#[test]
fn a_support_can_guide_the_nominal_motion() {
    let (soft, stiff) = (guided_rod(1e3), guided_rod(1e4));
    assert!(soft < 0.05, "{soft}");
    let ratio = soft / stiff;
    // deviations are as the deflection, and vibration makes some of them
    assert!((6.0..16.0).contains(&ratio), "{soft} {stiff}");
}
