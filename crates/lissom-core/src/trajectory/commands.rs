//! [`Commands`]: what a mechanism is told to do, at an instant; [`Commanded`]: the same whatever formulation its nominal trajectory is over.

use lissom_numerics::Memory;
use lissom_numerics::linear::Actuation;
use lissom_spatial::Vector;

use super::{NominalError, RigidMechanism, Trajectory};
use crate::action::{Actions, Contact, Delivery, Efforts, Inputs};
use crate::error::PlaceError;
use crate::external::External;
use crate::profile::MotionCurve;
use crate::view::{AxisId, MarkerId, View};

/// What a mechanism is told to do, whatever formulation its nominal trajectory is over: [`Commands`] as studies and signals see them.
pub trait Commanded {
    /// Instants strictly inside a span at which something is not smooth, in ascending order.
    fn breakpoints(&self, start: f64, end: f64) -> Vec<f64>;

    /// Takes over an input, or gives it back to the model.
    fn set_input(&mut self, input: usize, external: Option<External>);

    /// Takes states of controllers and actuators for the evaluations that follow.
    fn set_control(&mut self, states: &[f64]);

    /// Values of inputs and feedback, of the evaluation last made.
    fn efforts(&self) -> &Efforts;

    /// What sampled controllers do at an instant, see [`Trajectory::tick`].
    fn tick(&self, actions: &Actions, time: f64, readings: &[f64], states: &mut [f64]);

    /// Position and rate of an axis on the nominal trajectory; not a number where that could not be followed.
    fn nominal_axis(&self, axis: AxisId) -> [f64; 2];

    /// Position of a marker on the nominal trajectory; not a number where that could not be followed.
    fn nominal_marker(&self, marker: MarkerId) -> Vector<f64>;

    /// What linearised equations take of controllers, actuators and stops.
    fn actuation(&self) -> Actuation;
}

/// Inputs, prescribed motions and controllers, with the nominal trajectory that they go by.
#[derive(Clone, Debug)]
pub struct Commands<R> {
    inputs: Inputs,
    motions: Vec<MotionCurve>,
    /// What inverse dynamics and controllers go by, if there are any, or why there is none.
    trajectory: Result<Option<Trajectory<R>>, NominalError>,
    efforts: Efforts,
    /// Contacts of the stops in the state evaluated last.
    touching: Vec<Contact>,
    trouble: Option<NominalError>,
}

impl<R> Default for Commands<R> {
    fn default() -> Self {
        Self {
            inputs: Inputs::default(),
            motions: Vec::new(),
            trajectory: Ok(None),
            efforts: Efforts::default(),
            touching: Vec::new(),
            trouble: None,
        }
    }
}

impl<R: RigidMechanism> Commands<R> {
    /// Of actions and prescribed motions, along a trajectory.
    pub fn new(
        actions: &Actions,
        motions: Vec<MotionCurve>,
        trajectory: Result<Option<Trajectory<R>>, NominalError>,
    ) -> Self {
        Self {
            inputs: Inputs::new(&actions.loads),
            motions,
            trajectory,
            efforts: Efforts::new(actions),
            touching: Vec::with_capacity(actions.stops.len()),
            trouble: None,
        }
    }

    /// Prescribed motions.
    pub fn motions(&self) -> &[MotionCurve] {
        &self.motions
    }

    /// Evaluates inputs and feedback at an instant; `view` is the state. What a trajectory that cannot be followed leaves open is not a number,
    /// which integrators report.
    pub fn evaluate(&mut self, actions: &Actions, time: f64, view: &mut impl View<f64>) {
        actions.find_contacts(view, &mut self.touching);
        self.trouble = match &mut self.trajectory {
            Ok(trajectory) => {
                let (inputs, trajectory) = (&self.inputs, trajectory.as_mut());
                let evaluated = self
                    .efforts
                    .evaluate(actions, inputs, trajectory, time, view);
                evaluated.err()
            }
            Err(error) => {
                self.efforts.lose();
                Some(error.clone())
            }
        };
    }

    /// Values of inputs and feedback, to be changed.
    pub fn efforts_mut(&mut self) -> &mut Efforts {
        &mut self.efforts
    }

    /// Why the nominal trajectory could not be followed in the evaluation last made.
    pub fn trouble(&self) -> Option<&NominalError> {
        self.trouble.as_ref()
    }

    /// What the nominal trajectory says of the inertia of an axis under feedback, see [`Trajectory::controlled_mass`].
    pub fn controlled_mass(&self, place: usize) -> f64 {
        let trajectory = self.trajectory();
        trajectory.map_or(0.0, |trajectory| trajectory.controlled_mass(place))
    }

    /// Writes down what following the trajectory remembers.
    pub fn remember(&self, memory: &mut Memory) {
        if let Some(trajectory) = self.trajectory() {
            trajectory.remember(memory);
        }
    }

    /// Takes up what was remembered.
    ///
    /// # Errors
    /// When it is of another mechanism.
    pub fn recall(&mut self, memory: &Memory) -> Result<(), PlaceError> {
        match &mut self.trajectory {
            Ok(Some(trajectory)) => (trajectory.recall(memory)).map_err(|error| PlaceError {
                reason: error.to_string(),
                part: "the nominal trajectory",
            }),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    fn trajectory(&self) -> Option<&Trajectory<R>> {
        self.trajectory.as_ref().ok()?.as_ref()
    }
}

impl<R: RigidMechanism> Commanded for Commands<R> {
    fn breakpoints(&self, start: f64, end: f64) -> Vec<f64> {
        let nominal = self.trajectory.iter().flatten();
        let mut instants: Vec<f64> = (self.inputs.breakpoints())
            .chain(self.motions.iter().flat_map(MotionCurve::breakpoints))
            .chain(nominal.flat_map(Trajectory::breakpoints))
            .filter(|&instant| instant > start && instant < end)
            .collect();
        instants.sort_by(f64::total_cmp);
        instants.dedup();
        instants
    }

    fn set_input(&mut self, input: usize, external: Option<External>) {
        self.inputs.set(input, external);
    }

    fn set_control(&mut self, states: &[f64]) {
        self.efforts.set_control(states);
    }

    fn efforts(&self) -> &Efforts {
        &self.efforts
    }

    fn tick(&self, actions: &Actions, time: f64, readings: &[f64], states: &mut [f64]) {
        if let Some(trajectory) = self.trajectory() {
            trajectory.tick(actions, time, readings, states);
        }
    }

    fn nominal_axis(&self, axis: AxisId) -> [f64; 2] {
        let trajectory = self.trajectory();
        trajectory.map_or([f64::NAN; 2], |trajectory| trajectory.axis(axis))
    }

    fn nominal_marker(&self, marker: MarkerId) -> Vector<f64> {
        let trajectory = self.trajectory();
        trajectory.map_or(Vector([f64::NAN; 3]), |trajectory| {
            trajectory.mechanism().marker(marker).translation
        })
    }

    fn actuation(&self) -> Actuation {
        let delivered = self.efforts.delivered.iter();
        let trajectory = self.trajectory();
        Actuation {
            asked: delivered.clone().map(|own| own.asked).collect(),
            saturations: delivered.map(Delivery::saturation).collect(),
            mass: trajectory.map_or_else(Vec::new, |own| own.controlled_masses().to_vec()),
            pressed: (self.touching.iter())
                .map(|contact| matches!(contact, Contact::Pressed(_)))
                .collect(),
        }
    }
}
