//! What acts on a nodal model: its actions with their values at an instant, and prescribed motions.

use lissom_core::study::StaticLoads;
use lissom_core::{
    AxisId, Commanded as _, Commands, Load, LoadCurve, LoadTarget, Nominal as _, Pulled, View as _,
};
use lissom_nodal::{
    AppliedForces, Drive, ElementId, Excitation, Mechanism, NodeId, View, Weighted,
};
use lissom_spatial::{Real, Vector};
use lissom_spec::spec::LoadQuantity;

use super::NodalModel;
use super::rigid::RigidNodal;
use super::view::NodalView;

/// What acts on a nodal model at an instant.
#[derive(Clone, Debug)]
pub struct NodalActions<'a> {
    nodal: &'a NodalModel,
    /// Constant loads beside the inputs.
    further: Vec<Load>,
    commands: Commands<RigidNodal<'a>>,
}

impl<'a> NodalActions<'a> {
    /// What acts on a nodal model.
    pub fn new(nodal: &'a NodalModel) -> Self {
        Self::under(nodal, StaticLoads::default())
    }

    /// What acts on a nodal model before a run begins.
    pub(super) fn under(nodal: &'a NodalModel, further: StaticLoads) -> Self {
        let (motions, trajectory) = (nodal.motions.clone(), nodal.trajectory());
        Self {
            further: further.loads,
            nodal,
            commands: Commands::new(&nodal.actions, motions, trajectory),
        }
    }

    /// What it is told to do.
    pub(super) fn commands(&self) -> &Commands<RigidNodal<'a>> {
        &self.commands
    }

    /// The same, to tell it something else.
    pub(super) fn commands_mut(&mut self) -> &mut Commands<RigidNodal<'a>> {
        &mut self.commands
    }
}

impl Excitation for NodalActions<'_> {
    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        self.nodal.write_drives(time, drives);
    }

    fn update(&mut self, time: f64, nodes: &mut View<'_, f64>) {
        let nodal = self.nodal;
        let mut view = NodalView { nodal, nodes };
        (self.commands).evaluate(&nodal.actions, time, &mut view);
    }

    fn coupled(&self) -> Vec<[ElementId; 2]> {
        let gears = self.nodal.actions.gears.iter();
        gears
            .map(|gear| [gear.motor, gear.joint].map(|axis| self.weighted(axis, 1.0).0))
            .collect()
    }

    fn turning(&self, tell: &mut dyn FnMut([NodeId; 2], Vector<f64>)) {
        let stations = &self.nodal.stations;
        for (load, &value) in (self.nodal.actions.loads.iter()).zip(&self.commands.efforts().inputs)
        {
            let LoadTarget::Marker(marker, toward) = &load.target else {
                continue;
            };
            let carrier = toward
                .carried_by
                .and_then(|own| stations[own.0].orientation);
            let Some((carrier, orientation)) = carrier else {
                continue;
            };
            let wrench = load.wrench(toward, value, &orientation);
            let pushed = &stations[marker.0];
            let (node, own) = match load.quantity {
                LoadQuantity::Torque => (pushed.orientation.map(|(node, _)| node), wrench.moment),
                LoadQuantity::Force | LoadQuantity::Either => (pushed.point, wrench.force),
            };
            if let Some(node) = node {
                tell([node, carrier], own);
            }
        }
    }

    fn pulls(&self, nodes: &mut View<'_, f64>, tell: &mut dyn FnMut(&[Weighted], [f64; 2])) {
        let nodal = self.nodal;
        let mass = |place| self.commands.controlled_mass(place);
        let view = NodalView { nodal, nodes };
        let contacts = &self.commands.efforts().contacts;
        nodal.actions.pulls(contacts, &view, mass, |pulled, pull| {
            let pull = [pull.stiffness, pull.damping];
            match pulled {
                Pulled::Axis(axis) => tell(&[self.weighted(axis, 1.0)], pull),
                Pulled::Gear { motor, joint } => {
                    let apart = [self.weighted(motor, 1.0), self.weighted(joint, -1.0)];
                    tell(&apart, pull);
                }
                Pulled::Joint { joint, slides } => {
                    let element = nodal.balls[joint.0].element;
                    let first = if slides { 3 } else { 0 };
                    for direction in first..first + 3 {
                        tell(&[(element, direction, 1.0)], pull);
                    }
                }
            }
        });
    }
}

impl NodalActions<'_> {
    /// The deformation that an axis is, with a weight.
    fn weighted(&self, AxisId(axis): AxisId, weight: f64) -> Weighted {
        let axis = &self.nodal.axes[axis];
        (axis.element, axis.deformation, weight)
    }
}

impl AppliedForces for NodalActions<'_> {
    fn apply<T: Real>(&self, part: f64, nodes: &mut View<'_, T>) {
        let (nodal, actions) = (self.nodal, &self.nodal.actions);
        let mut view = NodalView { nodal, nodes };
        for (load, value) in actions.applied_inputs(self.commands.efforts()) {
            load.push(T::constant(part * value), &mut view);
        }
        for load in &self.further {
            let value = LoadCurve::new(&load.profile).value(0.0);
            load.push(T::constant(part * value), &mut view);
        }
        for (axis, effort) in actions.applied_feedback(self.commands.efforts()) {
            view.push_axis(axis, T::constant(part * effort));
        }
        let contacts = &self.commands.efforts().contacts;
        actions.resist(contacts, &mut view, &mut T::zero());
        actions.turn_gears(&mut view, &mut T::zero());
    }

    fn springs<T: Real>(&self, nodes: &mut View<'_, T>, spring: &mut impl FnMut(f64, T)) {
        let nodal = self.nodal;
        nodal.actions.springs(&NodalView { nodal, nodes }, spring);
    }
}

impl NodalModel {
    /// Degrees of freedom that inputs or controllers drive along an axis, in ascending order.
    pub(super) fn driven_dofs(&self, mechanism: &Mechanism) -> Vec<usize> {
        let driven = self.actions.driven();
        let axes = driven.filter_map(|axis| self.axis_dof_in(mechanism, axis));
        let mut driven: Vec<usize> = axes.collect();
        driven.sort_unstable();
        driven.dedup();
        driven
    }
}
