//! Feedback of the controllers, by deviations from the nominal motion.

use super::nominal::NominalPath;
use crate::model::{AxisId, AxisPlace, Model};
use lissom_core::Feedback;

/// Controllers of a model, with the motion that they keep to.
#[derive(Clone, Debug)]
pub(super) struct Control {
    path: NominalPath,
    position: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    feedback: Feedback,
}

impl Control {
    /// `None` for a model without controllers.
    pub(super) fn new(model: &Model) -> Option<Self> {
        let controllers = &model.actions.controllers;
        let n_v = model.linkage.velocities.len();
        (!controllers.is_empty()).then(|| Self {
            path: NominalPath::new(model),
            position: vec![0.0; model.linkage.positions.len()],
            velocity: vec![0.0; n_v],
            acceleration: vec![0.0; n_v],
            feedback: Feedback::new(controllers),
        })
    }

    /// Torques and forces at an instant, in the order of controllers and their axes; `measured` gives position and rate of an
    /// axis.
    pub(super) fn evaluate(
        &mut self,
        model: &Model,
        time: f64,
        measured: impl Fn(AxisId) -> [f64; 2],
        efforts: &mut [f64],
    ) {
        let written = [
            &mut self.position[..],
            &mut self.velocity[..],
            &mut self.acceleration[..],
        ];
        if self.path.at(model, time, written).is_err() {
            // the integrator reports a motion that is not a number
            efforts.fill(f64::NAN);
            return;
        }
        let entries = |AxisId(axis)| match model.places.axes[axis].place {
            AxisPlace::Joint {
                position, velocity, ..
            } => [position, velocity],
            AxisPlace::Motor(motor) => {
                let gear = &model.transmissions[motor];
                [gear.position, gear.velocity]
            }
        };
        let (path, positions, rates) = (&self.path, &self.position, &self.velocity);
        self.feedback.evaluate(
            &model.actions.controllers,
            measured,
            |axis| {
                let [position, velocity] = entries(axis);
                [positions[position], rates[velocity]]
            },
            |row, column| path.mass(entries(row)[1], entries(column)[1]),
            efforts,
        );
    }
}
