//! Feedback of the controllers: torques and forces by deviations from the nominal motion.

use super::nominal::NominalPath;
use crate::model::Model;

/// Controllers of a model, with the motion that they keep to.
#[derive(Clone, Debug)]
pub(super) struct Control {
    path: NominalPath,
    position: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    /// Deviations of positions and rates of the joints of one controller.
    deviation: Vec<[f64; 2]>,
    /// One per joint of every controller.
    efforts: Vec<f64>,
}

impl Control {
    /// `None` for a model without controllers.
    pub(super) fn new(model: &Model) -> Option<Self> {
        let joints = model.controllers.iter().map(|c| c.joints.len());
        let most = joints.clone().max()?;
        let n_v = model.linkage.velocities.len();
        Some(Self {
            path: NominalPath::new(model),
            position: vec![0.0; model.linkage.positions.len()],
            velocity: vec![0.0; n_v],
            acceleration: vec![0.0; n_v],
            deviation: vec![[0.0; 2]; most],
            efforts: vec![0.0; joints.sum()],
        })
    }

    /// Torques and forces, in the order of controllers and their joints.
    pub(super) fn efforts(&self) -> &[f64] {
        &self.efforts
    }

    /// Evaluates the laws at a state; `motors` gives position and rate of a motor.
    pub(super) fn update(
        &mut self,
        model: &Model,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        motors: impl Fn(usize) -> [f64; 2],
    ) {
        let written = [
            &mut self.position[..],
            &mut self.velocity[..],
            &mut self.acceleration[..],
        ];
        if self.path.at(model, time, written).is_err() {
            // the integrator reports a motion that is not a number
            self.efforts.fill(f64::NAN);
            return;
        }
        let mut first = 0;
        for controller in &model.controllers {
            let joints = &controller.joints;
            for (deviation, joint) in self.deviation.iter_mut().zip(joints) {
                let [at, rate] = match joint.motor {
                    Some(motor) => motors(motor),
                    None => [position[joint.position], velocity[joint.velocity]],
                };
                *deviation = [
                    at - self.position[joint.position],
                    rate - self.velocity[joint.velocity],
                ];
            }
            let (path, count) = (&self.path, joints.len());
            let mass = |i: usize, j: usize| path.mass(joints[i].velocity, joints[j].velocity);
            let efforts = &mut self.efforts[first..first + count];
            (controller.law).feed_back(&self.deviation[..count], mass, efforts);
            first += count;
        }
    }
}
