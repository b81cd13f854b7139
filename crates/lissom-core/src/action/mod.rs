//! [`Actions`]: what acts on a mechanism besides gravity, in either formulation.
//!
//! | what acts | file |
//! |---|---|
//! | springs, dampers and friction of joints | `resistance.rs` |
//! | elastic gears between motors and joints | `gear.rs` |
//! | inputs: torques and forces from outside | `load.rs` |
//! | controllers | `feedback.rs` |
//! | derivatives of these laws | `restoring.rs` |
//!
//! Each law is written once, over a [`View`] and its scalar. Values of inputs and of feedback are constants where the
//! equations are linearised: the plant is linearised, and closing the loop is a choice of whoever asks.

mod feedback;
mod gear;
mod load;
mod resistance;
mod restoring;

use lissom_spatial::Real;

use crate::limit::{Limit, LimitedQuantity};
use crate::view::{AxisId, View};

pub use feedback::{ControlLaw, ControlledAxis, Controller, Feedback};
pub use gear::Gear;
pub use load::{Inputs, Load, LoadTarget, Toward};
pub use resistance::{JointResistance, Resistance};
pub use restoring::{Pull, Pulled};

/// What acts on a mechanism besides gravity.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    /// What resists the motion of joints.
    pub resistances: Vec<JointResistance>,
    /// Elastic gears.
    pub gears: Vec<Gear>,
    /// Inputs.
    pub loads: Vec<Load>,
    /// Feedback.
    pub controllers: Vec<Controller>,
    /// What a run watches.
    pub limits: Vec<Limit>,
}

/// Values of inputs and of feedback at one instant.
#[derive(Clone, Debug, Default)]
pub struct Efforts {
    /// One per input.
    pub inputs: Vec<f64>,
    /// One per axis of every controller.
    pub feedback: Vec<f64>,
}

impl Actions {
    /// Pushes springs, dampers and friction of the joints; adds to the power that is dissipated.
    #[inline(always)]
    pub fn resist<T: Real>(&self, view: &mut impl View<T>, dissipated: &mut T) {
        for resistance in &self.resistances {
            *dissipated += resistance.push(view);
        }
    }

    /// Pushes elastic gears; adds to the power that is dissipated.
    #[inline(always)]
    pub fn turn_gears<T: Real>(&self, view: &mut impl View<T>, dissipated: &mut T) {
        for gear in &self.gears {
            *dissipated += gear.push(view);
        }
    }

    /// Pushes inputs of these values; adds to the power that they bring in.
    #[inline(always)]
    pub fn push_inputs<T: Real>(&self, values: &[f64], view: &mut impl View<T>, input: &mut T) {
        for (load, &value) in self.loads.iter().zip(values) {
            *input += load.push(T::constant(value), view);
        }
    }

    /// Pushes torques and forces of the controllers, in the order of their axes; adds to the power that they bring in.
    #[inline(always)]
    pub fn push_feedback<T: Real>(&self, efforts: &[f64], view: &mut impl View<T>, input: &mut T) {
        for (axis, &effort) in self.controlled().zip(efforts) {
            let effort = T::constant(effort);
            let [_, rate] = view.axis(axis.drive);
            view.push_axis(axis.drive, effort);
            *input += effort * rate;
        }
    }

    /// Adds the energy of springs and gears.
    pub fn add_spring_energy(&self, view: &impl View<f64>, energy: &mut f64) {
        for resistance in &self.resistances {
            *energy += resistance.energy(view);
        }
        for gear in &self.gears {
            *energy += gear.energy(view);
        }
    }

    /// Stiffness and elongation of every spring: gradients of the elongations make $`K_0`$.
    pub fn springs<T: Real>(&self, view: &impl View<T>, spring: &mut impl FnMut(f64, T)) {
        for resistance in &self.resistances {
            resistance.springs(view, spring);
        }
        for gear in &self.gears {
            gear.spring(view, spring);
        }
    }

    /// Axes under feedback, controller by controller.
    pub fn controlled(&self) -> impl Iterator<Item = &ControlledAxis> {
        self.controllers.iter().flat_map(|c| &c.axes)
    }

    /// Axes that inputs and controllers drive, motors in place of the joints behind their gears.
    pub fn driven(&self) -> impl Iterator<Item = AxisId> {
        let loads = self.loads.iter().filter_map(|load| load.target.axis());
        loads.chain(self.controlled().map(|axis| axis.drive))
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

    /// Sum of inputs and feedback on those of the axes that are meant.
    pub fn effort_on(&self, efforts: &Efforts, is_meant: impl Fn(AxisId) -> bool) -> f64 {
        let inputs = (self.loads.iter().zip(&efforts.inputs))
            .filter(|(load, _)| load.target.axis().is_some_and(&is_meant))
            .map(|(_, value)| value);
        let controls = (self.controlled().zip(&efforts.feedback))
            .filter(|(axis, _)| is_meant(axis.drive))
            .map(|(_, effort)| effort);
        inputs.chain(controls).fold(0.0, |sum, effort| sum + effort)
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
