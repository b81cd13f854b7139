//! Coordinates and inputs of linearised equations: what they are called, and which of them actuators, inputs and controllers
//! act on.

use super::Linearizer;
use crate::model::{AxisPlace, TreeAxis};
use lissom_core::{AxisId, Commanded as _, Load, effort_label};
use lissom_numerics::linear::{Label, Labels};

impl<'m> Linearizer<'m> {
    /// Names of all coordinates that are not prescribed, of inputs, joints with actuators and markers.
    pub(super) fn all_labels(&self) -> Labels {
        let model = self.model;
        let actuated = self.actuated_entries();
        let mut inputs: Vec<Label> = (actuated.iter())
            .filter_map(|&at| self.axis_of(at))
            .map(|axis| effort_label(&axis.name))
            .collect();
        inputs.extend(model.actions.marker_loads().map(Load::label));
        let coordinates = self.equations.deviations();
        Labels {
            joints: actuated.iter().map(|&at| coordinates[at].clone()).collect(),
            coordinates,
            inputs,
            markers: model
                .linkage
                .markers
                .iter()
                .map(|m| m.name.clone())
                .collect(),
            sensors: Vec::new(),
            loop_states: Vec::new(),
        }
    }

    /// Coordinates of the state that an actuator may act on: joints with one degree of freedom, or their motors.
    pub(super) fn actuated_entries(&self) -> Vec<usize> {
        let model = self.model;
        let (system, free) = (&model.linkage.system, &self.equations.free_velocities);
        let geared = |at: usize| model.transmissions.iter().any(|gear| gear.velocity == at);
        let single = (system.bodies().iter().zip(&system.layout().joint_velocity))
            .filter(|(body, at)| body.joint.kind.velocities() == 1 && !geared(**at));
        let joints = single.filter_map(|(_, at)| free.binary_search(at).ok());
        joints
            .chain((0..model.transmissions.len()).map(|i| free.len() + i))
            .collect()
    }

    /// Axis that a coordinate of the state is, or whose motor it is.
    fn axis_of(&self, at: usize) -> Option<&'m TreeAxis> {
        let free = &self.equations.free_velocities;
        let motor = || Some(self.model.transmissions.get(at - free.len())?.velocity);
        let velocity = free.get(at).copied().or_else(motor)?;
        self.model.axis_at(velocity)
    }

    /// Coordinate of the state that an axis is.
    pub(super) fn axis_entry(&self, AxisId(axis): AxisId) -> Option<usize> {
        let free = &self.equations.free_velocities;
        match self.model.places.axes[axis].place {
            AxisPlace::Joint { velocity, .. } => free.binary_search(&velocity).ok(),
            AxisPlace::Motor(motor) => Some(free.len() + motor),
        }
    }

    /// Sum of the inputs on every actuated coordinate.
    pub(super) fn inputs(&self, actuated: &[usize]) -> Vec<f64> {
        let on = |at: &usize| {
            let is_meant = |axis| self.axis_entry(axis) == Some(*at);
            (self.model.actions).effort_on(self.equations.commands.efforts(), is_meant)
        };
        actuated.iter().map(on).collect()
    }
}
