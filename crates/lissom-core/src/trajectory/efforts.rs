//! Values of inputs and feedback at an instant, and what drives do along the nominal trajectory.

use lissom_numerics::integrate::Flow;

use super::{NominalError, RigidMechanism, Trajectory};
use crate::action::{Actions, Delivery, Efforts, Inputs, Load};
use crate::view::{AxisId, View};

impl Efforts {
    /// For these actions.
    pub fn new(actions: &Actions) -> Self {
        let states = actions.control_states().len();
        Self {
            time_s: 0.0,
            inputs: vec![0.0; actions.loads.len()],
            feedback: vec![0.0; actions.controlled().count()],
            delivered: vec![Delivery::default(); actions.actuators.len()],
            control: vec![0.0; states],
            control_rate: vec![0.0; states],
            contacts: Vec::with_capacity(actions.stops.len()),
        }
    }

    /// Values of all inputs, of feedback and of actuators at an instant, and rates of the states of controllers and actuators; `view` is the state.
    ///
    /// # Errors
    /// When the nominal trajectory cannot be followed or driven. What goes by it is then not a number, which integrators
    /// report.
    pub fn evaluate<R: RigidMechanism>(
        &mut self,
        actions: &Actions,
        inputs: &Inputs,
        trajectory: Option<&mut Trajectory<R>>,
        time: f64,
        view: &mut impl View<f64>,
    ) -> Result<(), NominalError> {
        self.time_s = time;
        let Some(trajectory) = trajectory else {
            inputs.evaluate(&actions.loads, time, |_| 0.0, &mut self.inputs);
            self.deliver(actions);
            return Ok(());
        };
        let outcome = trajectory.update(time);
        let unknown = outcome.is_err();
        let feedforward = |target: &_| {
            if unknown {
                f64::NAN
            } else {
                trajectory.feedforward(target)
            }
        };
        inputs.evaluate(&actions.loads, time, feedforward, &mut self.inputs);
        trajectory.feed_back(actions, view, &self.control, &mut self.feedback);
        if unknown {
            self.feedback.fill(f64::NAN);
        }
        self.deliver(actions);
        let excess = |axis: AxisId| {
            let actuators = actions.actuators.iter().zip(&self.delivered);
            let mut own = actuators.filter(|(actuator, _)| actuator.drive == axis);
            own.next().map_or(0.0, |(_, delivery)| delivery.excess)
        };
        let (feedback, controllers) = (trajectory.feedback(), &actions.controllers);
        feedback.change(controllers, excess, &self.control, &mut self.control_rate);
        outcome
    }

    /// What is known of inputs and feedback where nothing is.
    pub fn lose(&mut self) {
        self.inputs.fill(f64::NAN);
        self.feedback.fill(f64::NAN);
        self.control_rate.fill(f64::NAN);
        for delivery in &mut self.delivered {
            delivery.effort = f64::NAN;
        }
    }
}

/// What the drives of a mechanism do along its nominal trajectory at one instant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NominalDrives {
    /// Degrees of freedom of the rigid mechanism.
    pub degrees_of_freedom: usize,
    /// Name of every drive, and its torque or force.
    pub efforts: Vec<(String, f64)>,
    /// What recordings call these, with their units.
    pub signals: Vec<(String, &'static str)>,
    /// Rate of every drive.
    pub rates: Vec<f64>,
}

impl NominalDrives {
    /// Drives beyond the degrees of freedom; their torques or forces are then the smallest in sum of squares.
    pub fn redundant(&self) -> usize {
        self.efforts.len().saturating_sub(self.degrees_of_freedom)
    }

    /// What to know of drives beyond the degrees of freedom, if there are any.
    pub fn warning(&self) -> Option<String> {
        (self.redundant() > 0).then(|| {
            format!(
                "{} inputs drive {} degrees of freedom along the nominal motion: of all that would do, the torques and \
                 forces with the smallest sum of squares are taken",
                self.efforts.len(),
                self.degrees_of_freedom
            )
        })
    }
}

impl<R: RigidMechanism> Trajectory<R> {
    /// What the inputs that ask for inverse dynamics do at instants, one after the other; nothing if none does. It ends early where whoever watches
    /// says so.
    ///
    /// # Errors
    /// When the trajectory cannot be followed or driven.
    pub fn drives(
        &mut self,
        actions: &Actions,
        times_s: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Vec<NominalDrives>, NominalError> {
        let mut found = Vec::with_capacity(times_s.len());
        for &time_s in times_s {
            found.extend(self.drives_at(actions, time_s)?);
            if watch(time_s) == Flow::Stop {
                break;
            }
        }
        Ok(found)
    }

    fn drives_at(
        &mut self,
        actions: &Actions,
        time_s: f64,
    ) -> Result<Option<NominalDrives>, NominalError> {
        self.update(time_s)?;
        let asking = (actions.loads.iter()).filter(|load| load.nominal_motion().is_some());
        let asking: Vec<&Load> = asking.collect();
        let efforts = asking.iter();
        let efforts = efforts.map(|load| (load.name.clone(), self.feedforward(&load.target)));
        let efforts: Vec<(String, f64)> = efforts.collect();
        let degrees_of_freedom = self.freedom().unwrap_or(efforts.len());
        let rates = asking.iter().map(|load| self.rate(&load.target)).collect();
        Ok((!asking.is_empty()).then_some(NominalDrives {
            degrees_of_freedom,
            efforts,
            signals: asking.iter().map(|load| load.signal()).collect(),
            rates,
        }))
    }
}
