//! Outputs with their derivatives by the coordinates: positions of markers to second order, readings of sensors to first.

use nalgebra::DMatrix;

use super::{Linearizer, MotionState, constant};
use lissom_core::read_outputs;
use lissom_numerics::linear::{Output, SensorRows};
use lissom_spatial::Vector;
use lissom_tree::tree::{marker_jacobian, marker_motion};

/// Outputs of a state.
pub(super) struct OutputRows {
    /// One per marker.
    pub(super) outputs: Vec<Output>,
    pub(super) sensors: SensorRows,
}

impl Linearizer<'_> {
    /// Outputs of a state, in the coordinates that are not prescribed, before it is differentiated.
    pub(super) fn output_rows_at(&mut self, state: &MotionState) -> OutputRows {
        let (model, dofs) = (self.model, self.equations.state_velocities());
        self.residual(state);
        let (mut view, mut readings) = (self.plain.evaluated(model), Vec::new());
        read_outputs(&model.actions.sensors, &mut view, &mut readings);
        OutputRows {
            outputs: self.outputs(),
            sensors: SensorRows::constant(readings, dofs),
        }
    }

    /// Outputs of all markers.
    fn outputs(&self) -> Vec<Output> {
        let n = self.equations.state_velocities();
        (self.model.linkage.markers.iter())
            .map(|marker| Output {
                position: marker.place.offset().translation,
                first: DMatrix::zeros(3, n),
                second: Some(std::array::from_fn(|_| DMatrix::zeros(n, n))),
            })
            .collect()
    }

    /// Writes the derivatives of readings along the directions of the dual state evaluated last.
    pub(super) fn sensors_at_tangent(&mut self, columns: &[usize], derivative: &mut DMatrix<f64>) {
        let model = self.model;
        let (mut view, mut readings) = (self.tangent.evaluated(model), Vec::new());
        read_outputs(&model.actions.sensors, &mut view, &mut readings);
        SensorRows::put_columns(derivative, columns.iter().copied(), &readings);
    }

    /// Writes the derivatives by the coordinates along which positions of the dual state have directions, and with which its
    /// kinematics and poses are up to date.
    pub(super) fn outputs_at_tangent(&mut self, columns: &[usize], outputs: &mut [Output]) {
        let model = self.model;
        let system = &model.linkage.system;
        let full = system.velocity_count();
        let tangent = &mut self.tangent;
        let mut jacobian = vec![constant(0.0); 6 * full];
        for (marker, output) in model.linkage.markers.iter().zip(outputs) {
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
                for (slot, &column) in columns.iter().enumerate() {
                    output.first[(component, column)] =
                        motion.pose.translation[component].tangent[slot];
                    let Some(second) = &mut output.second else {
                        continue;
                    };
                    for (i, &at) in self.equations.free_velocities.iter().enumerate() {
                        second[component][(i, column)] = row[at].tangent[slot];
                    }
                }
            }
        }
    }
}

/// Makes second derivatives symmetric, which they are but for velocities that are no rates.
pub(super) fn made_symmetric(outputs: &mut [Output]) {
    let second = outputs
        .iter_mut()
        .filter_map(|output| output.second.as_mut());
    for second in second.flatten() {
        *second = (&*second + second.transpose()) * 0.5;
    }
}
