//! Springs, dampers and friction of joints.

use crate::model::{JointResistance, Resistance, System};
use crate::spatial::{Quaternion, Vector, rotation_vector_of};

/// Adds what resists a joint to `force`; returns the power lost in dampers and friction.
pub(super) fn add_resistance(
    system: &System,
    k: usize,
    resistance: &JointResistance,
    position: &[f64],
    velocity: &[f64],
    force: &mut [f64],
) -> f64 {
    let layout = system.layout();
    let q = &position[layout.joint_position[k]..];
    let first = layout.joint_velocity[k];
    let mut lost = 0.0;
    let mut push = |i: usize, law: &Resistance, spring: f64| {
        let rate = velocity[first + i];
        let drag = law.drag(rate);
        force[first + i] += drag + spring;
        lost -= drag * rate;
    };
    match resistance {
        JointResistance::Axis(law) => push(0, law, -law.stiffness * (q[0] - law.rest)),
        JointResistance::Ball(law) => {
            let turn = rotation_vector([q[0], q[1], q[2], q[3]]);
            for i in 0..3 {
                push(i, law, -law.stiffness * turn[i]);
            }
        }
        JointResistance::Free { angular, linear } => {
            let quaternion = [q[3], q[4], q[5], q[6]];
            let turn = rotation_vector(quaternion);
            let offset = Quaternion(quaternion)
                .matrix()
                .transpose_mul(Vector([q[0], q[1], q[2]]));
            for i in 0..3 {
                push(i, angular, -angular.stiffness * turn[i]);
                push(i + 3, linear, -linear.stiffness * offset[i]);
            }
        }
    }
    lost
}

/// Energy stored in the springs of a joint.
pub(super) fn spring_energy(
    system: &System,
    k: usize,
    resistance: &JointResistance,
    position: &[f64],
) -> f64 {
    let q = &position[system.layout().joint_position[k]..];
    let turned = |quaternion: [f64; 4]| {
        let turn = rotation_vector(quaternion);
        turn.dot(turn)
    };
    match resistance {
        JointResistance::Axis(law) => 0.5 * law.stiffness * (q[0] - law.rest) * (q[0] - law.rest),
        JointResistance::Ball(law) => 0.5 * law.stiffness * turned([q[0], q[1], q[2], q[3]]),
        JointResistance::Free { angular, linear } => {
            let offset = Vector([q[0], q[1], q[2]]);
            0.5 * angular.stiffness * turned([q[3], q[4], q[5], q[6]])
                + 0.5 * linear.stiffness * offset.dot(offset)
        }
    }
}

/// Rotation vector of a quaternion of any length.
pub(in crate::simulate) fn rotation_vector(quaternion: [f64; 4]) -> Vector<f64> {
    rotation_vector_of(&Quaternion(quaternion).matrix())
}
