//! Positions of markers with their first and second derivatives by the coordinates.

use nalgebra::DMatrix;

use super::{DIRECTIONS, Linearizer, MotionState, constant};
use crate::linear::Output;
use crate::spatial::Vector;
use crate::tree::{marker_jacobian, marker_motion};

impl Linearizer<'_> {
    /// Outputs of all markers, in the coordinates that are not prescribed.
    pub(super) fn outputs(&mut self, state: &MotionState) -> Vec<Output> {
        let model = self.model;
        let system = &model.system;
        let n = self.equations.state_velocities();
        let full = state.velocity.len();
        let mut outputs: Vec<Output> = (model.markers.iter())
            .map(|marker| Output {
                position: marker.place.offset().translation,
                first: DMatrix::zeros(3, n),
                second: std::array::from_fn(|_| DMatrix::zeros(n, n)),
            })
            .collect();
        let mut jacobian = vec![constant(0.0); 6 * full];
        for first in (0..n).step_by(DIRECTIONS) {
            let directions = DIRECTIONS.min(n - first);
            self.load_tangent(state);
            for slot in 0..directions {
                self.seed_position(state, first + slot, slot);
            }
            let tangent = &mut self.tangent;
            tangent
                .kinematics
                .update_motion(system, &tangent.position, &tangent.velocity);
            tangent.kinematics.update_poses(system);
            for (marker, output) in model.markers.iter().zip(&mut outputs) {
                let Some(body) = marker.body else { continue };
                let motion = marker_motion(
                    system,
                    &tangent.kinematics,
                    body,
                    &marker.place,
                    &tangent.position,
                    &tangent.velocity,
                    &mut tangent.influence,
                );
                marker_jacobian(
                    system,
                    &tangent.kinematics,
                    body,
                    motion.pose.translation,
                    &tangent.influence,
                    &mut jacobian,
                );
                output.position = Vector(motion.pose.translation.0.map(|x| x.value));
                for component in 0..3 {
                    let row = &jacobian[(component + 3) * full..(component + 4) * full];
                    for slot in 0..directions {
                        output.first[(component, first + slot)] =
                            motion.pose.translation[component].tangent[slot];
                        for (i, &at) in self.equations.free_velocities.iter().enumerate() {
                            output.second[component][(i, first + slot)] = row[at].tangent[slot];
                        }
                    }
                }
            }
        }
        for output in &mut outputs {
            for second in &mut output.second {
                *second = (&*second + second.transpose()) * 0.5;
            }
        }
        outputs
    }
}
