//! States of random mechanisms.

use lissom_spatial::{Quaternion, Vector};
use lissom_tree::System;

use super::Random;

/// Largest deflection of a random state, as a fraction of the body's length, per elastic coordinate.
const DEFLECTION: f64 = 0.03;
/// Largest rotation of a section of a random state, in radians, per elastic coordinate.
const ROTATION: f64 = 0.1;

/// Positions, velocities and accelerations of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomState {
    /// Position vector; quaternions are not quite of unit length.
    pub position: Vec<f64>,
    /// Velocity vector.
    pub velocity: Vec<f64>,
    /// Accelerations, not those that any force causes.
    pub acceleration: Vec<f64>,
}

/// A state with large joint angles and deformations at the limit of what a linear theory describes.
pub fn random_state(system: &System, random: &mut Random) -> RandomState {
    let mut state = RandomState {
        position: Vec::new(),
        velocity: Vec::new(),
        acceleration: Vec::new(),
    };
    for body in system.bodies() {
        match body.joint.kind.positions() {
            0 => {}
            1 => state.position.push(random.signed(1.0)),
            count => {
                state.position.extend(random.list(count - 4, 1.0));
                let turn = Quaternion::of_rotation_vector(Vector(random.vector(1.5)));
                let length = random.uniform(0.9, 1.1);
                state.position.extend(turn.0.map(|x| x * length));
            }
        }
        let count = body.joint.kind.velocities();
        state.velocity.extend(random.list(count, 1.0));
        state.acceleration.extend(random.list(count, 3.0));

        let Some(flexible) = &body.flexible else {
            continue;
        };
        for alpha in 0..flexible.len() {
            // as large as deflections and rotations all over the body allow
            let (mut moved, mut turned, mut reach) = (0.0_f64, 0.0_f64, 0.0_f64);
            for mass_node in &flexible.mass_nodes {
                let length = |v: [f64; 3]| Vector(v).dot(Vector(v)).sqrt();
                moved = moved.max(length(mass_node.node.displacement[alpha]));
                turned = turned.max(length(mass_node.node.rotation[alpha]));
                reach = reach.max(length(mass_node.node.position));
            }
            // a beam without tilting sections turns by its slope all the same
            turned = turned.max(3.0 * moved / reach);
            let size = (DEFLECTION * reach / moved.max(1e-9)).min(ROTATION / turned);
            state.position.push(random.signed(size));
            state.velocity.push(random.signed(5.0 * size));
            state.acceleration.push(random.signed(30.0 * size));
        }
    }
    state
}
