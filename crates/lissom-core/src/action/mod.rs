//! [`Actions`]: what acts on a mechanism besides gravity, in either formulation.
//!
//! | what acts | file |
//! |---|---|
//! | springs, dampers and friction of joints | `resistance.rs` |
//! | elastic gears between motors and joints | `gear.rs` |
//! | stops at the ends of joints | `stop.rs` |
//! | inputs: torques and forces from outside | `load.rs` |
//! | controllers | `feedback.rs` |
//! | ticks of those that are sampled | `sampling.rs` |
//! | linear systems between sensors and drives | `state_space.rs` |
//! | actuators, through which inputs and controllers act | `actuator.rs` |
//! | derivatives of these laws | `restoring.rs` |
//!
//! Each law is written once, over a [`View`] and its scalar. Values of inputs and of feedback are constants where the
//! equations are linearised: the plant is linearised, and closing the loop is a choice of whoever asks.

mod actuator;
mod feedback;
mod gear;
mod load;
mod resistance;
mod restoring;
mod sampling;
mod state_space;
mod stop;

use lissom_numerics::Coordinate;
use lissom_spatial::Real;
use lissom_spec::ModelSpec;
use lissom_spec::spec::EncoderSide;

use crate::axis::AxisName;
use crate::limit::{Limit, LimitedQuantity};
use crate::sensor::Sensor;
use crate::view::{AxisId, View};

pub use actuator::{Actuator, Delivery, Response};
pub use feedback::{ControlLaw, ControlledAxis, Controller, Feedback, Pid};
pub use gear::Gear;
pub use load::{Inputs, Load, LoadTarget, Toward};
pub use resistance::{JointResistance, Resistance};
pub use restoring::{Pull, Pulled};
pub(crate) use sampling::merged;
pub use sampling::{Due, Sampling};
pub use state_space::StateSpaceLaw;
pub use stop::{Contact, End, JointStop};
use stop::{
    contact_distance, find_contacts, may_have_touched, push_stops, stop_energy, stop_springs,
};

/// What acts on a mechanism besides gravity.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    /// What resists the motion of joints.
    pub resistances: Vec<JointResistance>,
    /// Elastic gears.
    pub gears: Vec<Gear>,
    /// Stops.
    pub stops: Vec<JointStop>,
    /// Inputs.
    pub loads: Vec<Load>,
    /// Feedback.
    pub controllers: Vec<Controller>,
    /// What is measured.
    pub sensors: Vec<Sensor>,
    /// Through which inputs and feedback act on some axes.
    pub actuators: Vec<Actuator>,
    /// What a run watches.
    pub limits: Vec<Limit>,
}

/// Values of inputs and of feedback at one instant, and what actuators make of them.
#[derive(Clone, Debug, Default)]
pub struct Efforts {
    /// The instant.
    pub time_s: f64,
    /// One per input: what acts, or what is asked of an actuator.
    pub inputs: Vec<f64>,
    /// One per axis of every controller, likewise.
    pub feedback: Vec<f64>,
    /// One per actuator.
    pub delivered: Vec<Delivery>,
    /// States of controllers and actuators, as [`Actions::control_states`] lists them.
    pub control: Vec<f64>,
    /// Their rates.
    pub control_rate: Vec<f64>,
    /// Contacts of the stops that hold for the piece of a motion that is integrated; none where those of a state count.
    pub contacts: Vec<Contact>,
}

impl Efforts {
    /// Takes states of controllers and actuators; none stands for zeros.
    pub fn set_control(&mut self, states: &[f64]) {
        if states.is_empty() {
            self.control.fill(0.0);
        } else {
            self.control.copy_from_slice(states);
        }
    }

    /// Takes a share of the inputs.
    pub fn scale_inputs(&mut self, actions: &Actions, share: f64) {
        for input in &mut self.inputs {
            *input *= share;
        }
        self.deliver(actions);
    }

    /// What actuators give of the values of inputs and feedback that are there.
    pub fn deliver(&mut self, actions: &Actions) {
        let mut place = actions.controller_states();
        for at in 0..actions.actuators.len() {
            let actuator = &actions.actuators[at];
            let asked = actions.asked_on(self, actuator.drive);
            let state = actuator.response.map(|_| self.control[place]);
            self.delivered[at] = actuator.deliver(asked, state);
            if state.is_some() {
                self.control_rate[place] = self.delivered[at].rate;
                place += 1;
            }
        }
    }
}

impl Actions {
    /// Adds controllers, actuators and sensors of a model, once gears and axes are known, whose `names` are in the order of their ids.
    ///
    /// # Errors
    /// The name of a controller or actuator whose joint is not there.
    pub fn add_control(&mut self, spec: &ModelSpec, names: &[AxisName]) -> Result<(), String> {
        let gears = &self.gears;
        let driven = |joint: &str| {
            // a motor comes after its joint
            let found = names.iter().position(|name| name.joint == joint)?;
            let axis = AxisId(found);
            let gear = gears.iter().find(|gear| gear.joint == axis);
            Some(ControlledAxis {
                name: names[found].clone(),
                joint: axis,
                drive: gear.map_or(axis, |gear| gear.motor),
            })
        };
        let controllers = spec.controller.iter().map(|own| {
            let built = Controller::of(spec, own, driven);
            built.ok_or_else(|| own.name.clone())
        });
        let actuators = spec.actuator.iter().map(|own| {
            let axis = driven(&own.joint).ok_or_else(|| own.name.clone())?;
            Ok(Actuator::of(own, axis.name, axis.drive))
        });
        let sensors = Sensor::all(spec, |joint, side| {
            let ControlledAxis { joint, drive, .. } = driven(joint)?;
            let AxisId(axis) = match side {
                EncoderSide::Joint => joint,
                EncoderSide::Motor => drive,
            };
            Some((AxisId(axis), names[axis].clone()))
        });
        let controllers = controllers.collect::<Result<_, String>>()?;
        let actuators = actuators.collect::<Result<_, String>>()?;
        (self.controllers, self.actuators, self.sensors) = (controllers, actuators, sensors);
        Ok(())
    }

    /// Pushes springs, dampers, friction and stops of the joints, these in the contacts that hold or else in those of the state; adds to the power
    /// that is dissipated.
    #[inline(always)]
    pub fn resist<T: Real>(
        &self,
        contacts: &[Contact],
        view: &mut impl View<T>,
        dissipated: &mut T,
    ) {
        for resistance in &self.resistances {
            *dissipated += resistance.push(view);
        }
        *dissipated += push_stops(&self.stops, contacts, view);
    }

    /// Finds the contacts of the stops in a state.
    pub fn find_contacts(&self, view: &impl View<f64>, contacts: &mut Vec<Contact>) {
        find_contacts(&self.stops, view, contacts);
    }

    /// Becomes positive where one of the contacts that hold ends.
    pub fn contact_distance(&self, contacts: &[Contact], view: &impl View<f64>) -> f64 {
        contact_distance(&self.stops, contacts, view)
    }

    /// Whether a joint may have touched a stop, and come back, in the time before a state.
    pub fn may_have_touched(
        &self,
        contacts: &[Contact],
        span_s: f64,
        view: &impl View<f64>,
    ) -> bool {
        may_have_touched(&self.stops, contacts, span_s, view)
    }

    /// Limits that a run watches: not those at which stops are.
    pub fn watched_limits(&self) -> impl Iterator<Item = &Limit> {
        let stopped = |limit: &&Limit| {
            let at = |stop: &JointStop| limit.quantity == LimitedQuantity::Position(stop.axis);
            self.stops.iter().any(at)
        };
        self.limits.iter().filter(move |limit| !stopped(limit))
    }

    /// Pushes elastic gears; adds to the power that is dissipated.
    #[inline(always)]
    pub fn turn_gears<T: Real>(&self, view: &mut impl View<T>, dissipated: &mut T) {
        for gear in &self.gears {
            *dissipated += gear.push(view);
        }
    }

    /// Inputs with their values, but for those that act through actuators.
    #[inline(always)]
    pub fn applied_inputs<'a>(
        &'a self,
        efforts: &'a Efforts,
    ) -> impl Iterator<Item = (&'a Load, f64)> {
        let through = |load: &Load| {
            let axis = load.target.axis();
            axis.is_some_and(|axis| self.is_actuated(axis))
        };
        let all = self.loads.iter().zip(efforts.inputs.iter().copied());
        all.filter(move |(load, _)| !through(load))
    }

    /// Torques and forces of the controllers, in the order of their axes, but for those that act through actuators, and what these give.
    #[inline(always)]
    pub fn applied_feedback<'a>(
        &'a self,
        efforts: &'a Efforts,
    ) -> impl Iterator<Item = (AxisId, f64)> + 'a {
        let controlled = self.controlled().zip(&efforts.feedback);
        let direct = controlled
            .map(|(axis, &effort)| (axis.drive, effort))
            .filter(|(axis, _)| !self.is_actuated(*axis));
        let actuators = self.actuators.iter().zip(&efforts.delivered);
        direct.chain(actuators.map(|(actuator, delivery)| (actuator.drive, delivery.effort)))
    }

    /// Pushes inputs; adds to the power that they bring in.
    #[inline(always)]
    pub fn push_inputs<T: Real>(&self, efforts: &Efforts, view: &mut impl View<T>, input: &mut T) {
        for (load, value) in self.applied_inputs(efforts) {
            *input += load.push(T::constant(value), view);
        }
    }

    /// Pushes torques and forces of the controllers and of actuators; adds to the power that they bring in.
    #[inline(always)]
    pub fn push_feedback<T: Real>(
        &self,
        efforts: &Efforts,
        view: &mut impl View<T>,
        input: &mut T,
    ) {
        for (axis, effort) in self.applied_feedback(efforts) {
            let effort = T::constant(effort);
            let [_, rate] = view.axis(axis);
            view.push_axis(axis, effort);
            *input += effort * rate;
        }
    }

    /// Whether an actuator is what drives an axis.
    fn is_actuated(&self, axis: AxisId) -> bool {
        (self.actuators.iter()).any(|actuator| actuator.drive == axis)
    }

    /// Sum of what inputs and controllers ask on an axis.
    fn asked_on(&self, efforts: &Efforts, axis: AxisId) -> f64 {
        let inputs = (self.loads.iter().zip(&efforts.inputs))
            .filter(|(load, _)| load.target.axis() == Some(axis))
            .map(|(_, value)| value);
        let controls = (self.controlled().zip(&efforts.feedback))
            .filter(|(own, _)| own.drive == axis)
            .map(|(_, effort)| effort);
        inputs.chain(controls).fold(0.0, |sum, effort| sum + effort)
    }

    /// Ticks of sampled controllers.
    pub(crate) fn samplings(&self) -> impl Iterator<Item = &Sampling> {
        (self.controllers.iter()).filter_map(|controller| controller.sampling.as_ref())
    }

    /// States of controllers, then those of actuators.
    pub fn control_states(&self) -> Vec<Coordinate> {
        let controllers = self.controllers.iter().flat_map(Controller::states);
        let actuators = self.actuators.iter().filter_map(Actuator::state);
        controllers.chain(actuators).collect()
    }

    /// How many of them are those of controllers.
    pub(crate) fn controller_states(&self) -> usize {
        self.controllers.iter().map(Controller::state_count).sum()
    }

    /// Adds the energy of springs, gears and stops.
    pub fn add_spring_energy(&self, view: &impl View<f64>, energy: &mut f64) {
        for resistance in &self.resistances {
            *energy += resistance.energy(view);
        }
        for gear in &self.gears {
            *energy += gear.energy(view);
        }
        *energy += stop_energy(&self.stops, view);
    }

    /// Stiffness and elongation of every spring: gradients of the elongations make $`K_0`$.
    pub fn springs<T: Real>(&self, view: &impl View<T>, spring: &mut impl FnMut(f64, T)) {
        for resistance in &self.resistances {
            resistance.springs(view, spring);
        }
        for gear in &self.gears {
            gear.spring(view, spring);
        }
        stop_springs(&self.stops, view, spring);
    }

    /// Axes under feedback, controller by controller.
    pub fn controlled(&self) -> impl Iterator<Item = &ControlledAxis> {
        self.controllers.iter().flat_map(|c| &c.axes)
    }

    /// Axes that inputs, controllers and actuators drive, motors in place of the joints behind their gears.
    pub fn driven(&self) -> impl Iterator<Item = AxisId> {
        let loads = self.loads.iter().filter_map(|load| load.target.axis());
        let actuators = self.actuators.iter().map(|actuator| actuator.drive);
        loads
            .chain(self.controlled().map(|axis| axis.drive))
            .chain(actuators)
    }

    /// Loads on markers.
    pub fn marker_loads(&self) -> impl Iterator<Item = &Load> {
        let is_meant = |load: &&Load| matches!(load.target, LoadTarget::Marker(..));
        self.loads.iter().filter(is_meant)
    }

    /// Axes that inputs of rigid inverse dynamics or controllers take along the nominal trajectory: joints, not the motors
    /// behind their gears; each once.
    pub fn on_trajectory(&self) -> Vec<AxisId> {
        let asking = (self.loads.iter()).filter(|load| load.nominal_motion().is_some());
        let drives = asking.filter_map(|load| load.target.axis());
        let joint_of = |drive: AxisId| {
            let gear = self.gears.iter().find(|gear| gear.motor == drive);
            gear.map_or(drive, |gear| gear.joint)
        };
        let joints = drives.map(joint_of);
        let mut found = Vec::new();
        for axis in joints.chain(self.controlled().map(|axis| axis.joint)) {
            if !found.contains(&axis) {
                found.push(axis);
            }
        }
        found
    }

    /// Sum of inputs and feedback that act on those of the axes that are meant, as far as actuators let them.
    pub fn effort_on(&self, efforts: &Efforts, is_meant: impl Fn(AxisId) -> bool) -> f64 {
        let inputs = self.applied_inputs(efforts);
        let inputs = inputs.filter_map(|(load, value)| Some((load.target.axis()?, value)));
        let all = inputs.chain(self.applied_feedback(efforts));
        all.filter(|(axis, _)| is_meant(*axis))
            .fold(0.0, |sum, (_, effort)| sum + effort)
    }

    /// Value of a limited quantity; `driving` gives the torque or force that keeps an axis on its prescribed motion.
    pub fn limited(
        &self,
        quantity: LimitedQuantity,
        efforts: &Efforts,
        view: &impl View<f64>,
        driving: impl Fn(AxisId) -> Option<f64>,
    ) -> f64 {
        match quantity {
            LimitedQuantity::Position(axis) => view.axis(axis)[0],
            LimitedQuantity::Rate(axis) => view.axis(axis)[1],
            LimitedQuantity::Effort(axis) => driving(axis).unwrap_or_else(|| {
                let motor = self.gears.iter().find(|gear| gear.joint == axis);
                let motor = motor.map(|gear| gear.motor);
                self.effort_on(efforts, |at| at == axis || motor == Some(at))
            }),
            LimitedQuantity::Angle(joint) => {
                let turned = Real::rotation_vector(&view.joint(joint).rotation);
                turned.dot(turned).sqrt()
            }
            LimitedQuantity::Offset(joint, axis) => view.joint(joint).position[axis],
            LimitedQuantity::ComponentRate(joint, component) => {
                let motion = view.joint(joint);
                match component {
                    0..3 => motion.angular_velocity[component],
                    _ => motion.velocity[component - 3],
                }
            }
            LimitedQuantity::ComponentEffort(joint, component) => {
                let meant = LoadTarget::Component(joint, component);
                let inputs = self.loads.iter().zip(&efforts.inputs);
                let inputs = inputs.filter(|(load, _)| load.target == meant);
                inputs.fold(0.0, |sum, (_, value)| sum + value)
            }
        }
    }
}
