//! Springs, dampers and friction of joints.

use crate::model::{JointResistance, Resistance, System};
use lissom_spatial::{Dual, Scalar};
use lissom_spatial::{Quaternion, Vector, inverse_rate_matrix, rotation_vector_of};
use lissom_tree::flex::Along;

/// A scalar of which rotation vectors can be made: they take a branch that a plain scalar hides.
pub(in crate::simulate) trait Turning: Along {
    /// Rotation vector of a quaternion of any length.
    fn rotation_vector(quaternion: [Self; 4]) -> Vector<Self>;
}

impl Turning for f64 {
    fn rotation_vector(quaternion: [Self; 4]) -> Vector<Self> {
        rotation_vector(quaternion)
    }
}

impl<const N: usize> Turning for Dual<f64, N> {
    fn rotation_vector(quaternion: [Self; 4]) -> Vector<Self> {
        let value = quaternion.map(|x| x.value);
        let turn = rotation_vector(value);
        let rates = inverse_rate_matrix(turn).transpose();
        let [w, x, y, z] = value;
        let (axis, squared) = (Vector([x, y, z]), w * w + x * x + y * y + z * z);
        let mut vector = Vector(turn.0.map(Self::constant));
        for direction in 0..N {
            // angular rate in the turned frame: twice the vector part of the conjugate times the rate
            let [dw, dx, dy, dz] = quaternion.map(|x| x.tangent[direction]);
            let rate = Vector([dx, dy, dz]);
            let angular = rate.scale(w) - axis.scale(dw) - axis.cross(rate);
            let change = rates * angular.scale(2.0 / squared);
            for i in 0..3 {
                vector[i].tangent[direction] = change[i];
            }
        }
        vector
    }
}

/// Adds what resists a joint to `force`; returns the power lost in dampers and friction.
pub(in crate::simulate) fn add_resistance<T: Turning>(
    system: &System,
    k: usize,
    resistance: &JointResistance,
    position: &[T],
    velocity: &[T],
    force: &mut [T],
) -> T {
    let layout = system.layout();
    let q = &position[layout.joint_position[k]..];
    let first = layout.joint_velocity[k];
    let mut lost = T::zero();
    let mut push = |i: usize, law: &Resistance, spring: T| {
        let rate = velocity[first + i];
        let drag = law.drag(rate);
        force[first + i] += drag + spring;
        lost -= drag * rate;
    };
    match resistance {
        JointResistance::Axis(law) => {
            push(0, law, (q[0] - T::constant(law.rest)) * -law.stiffness);
        }
        JointResistance::Ball(law) => {
            let turn = T::rotation_vector([q[0], q[1], q[2], q[3]]);
            for i in 0..3 {
                push(i, law, turn[i] * -law.stiffness);
            }
        }
        JointResistance::Free { angular, linear } => {
            let quaternion = [q[3], q[4], q[5], q[6]];
            let turn = T::rotation_vector(quaternion);
            let offset = Quaternion(quaternion)
                .matrix()
                .transpose_mul(Vector([q[0], q[1], q[2]]));
            for i in 0..3 {
                push(i, angular, turn[i] * -angular.stiffness);
                push(i + 3, linear, offset[i] * -linear.stiffness);
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
