//! All coordinates of a nodal model, whichever of them are independent: the degrees of freedom of its first chart, then the axes that
//! depend on them there.
//!
//! Linearised equations are in the degrees of freedom of one chart. What is told of them is told in all coordinates:
//! $`\delta = N u`$, $`\dot\delta = N\dot u + V u`$. An effort on a dependent axis acts on the degrees of freedom by its row of $`N`$.

use lissom_core::{AxisId, Coordinates, effort_label};
use lissom_nodal::{ElementId, Mechanism, Role};
use lissom_numerics::linear::{Label, Labels};

use super::{NodalAxis, NodalModel};

/// All coordinates of a nodal model.
#[derive(Clone, Debug)]
pub(super) struct AllCoordinates<'m> {
    pub(super) labels: Vec<Label>,
    /// Joints with actuators.
    pub(super) joints: Vec<ActuatedJoint>,
    first: &'m Mechanism,
    /// Dependent axes of the first chart, as deformations.
    dependent: Vec<(ElementId, usize)>,
}

/// A joint, or a deformation of an element, that an actuator may act on.
#[derive(Clone, Debug)]
pub(super) struct ActuatedJoint {
    /// Place of its coordinate among all.
    pub(super) place: usize,
    pub(super) axis: Option<AxisId>,
    pub(super) effort: Label,
}

impl<'m> AllCoordinates<'m> {
    /// Of a nodal model.
    pub(super) fn of(nodal: &'m NodalModel) -> Self {
        let first = &nodal.mechanism;
        let mut axis_of = vec![None; first.dof_count()];
        let mut dependent = Vec::new();
        let mut dependent_axes = Vec::new();
        let parts = nodal.coordinates_of_dofs(first);
        let mut labels: Vec<Label> = parts.iter().flat_map(Coordinates::deviations).collect();
        for (at, axis) in nodal.axes.iter().enumerate() {
            let id = AxisId(at);
            let (element, deformation) = (axis.element, axis.deformation);
            if let Some(dof) = first.deformation_dof(element, deformation) {
                axis_of[dof] = Some(id);
            } else if first.role(element, deformation) == Role::Free {
                labels.extend(Coordinates::Axis(id, axis.name.clone()).deviations());
                dependent.push((element, deformation));
                dependent_axes.push(id);
            }
        }
        // inputs on a joint with an elastic gear act on its motor
        let geared = |id: AxisId| nodal.actions.gears.iter().any(|gear| gear.joint == id);
        let Labels { inputs, .. } = lissom_nodal::labels(first, &[]);
        let actuated = first.actuated_dofs().into_iter().zip(inputs);
        let of_dofs = actuated.map(|(dof, effort)| (dof, axis_of[dof], effort));
        let effort = |AxisId(axis): AxisId| {
            let axis: &NodalAxis = &nodal.axes[axis];
            effort_label(&axis.name)
        };
        let behind = (first.dof_count()..).zip(&dependent_axes);
        let dependent_joints = behind.map(|(place, &id)| (place, Some(id), effort(id)));
        let joints = of_dofs.chain(dependent_joints);
        let joints = joints.filter(|(_, axis, _)| !axis.is_some_and(geared));
        let joints = joints.map(|(place, axis, own)| ActuatedJoint {
            place,
            axis,
            effort: axis.map_or(own, effort),
        });
        Self {
            joints: joints.collect(),
            labels,
            first,
            dependent,
        }
    }

    /// Which coordinate a deformation is, if it is one.
    pub(super) fn place(&self, (element, index): (ElementId, usize)) -> Option<usize> {
        let depends = || {
            let mut dependent = self.dependent.iter();
            let found = dependent.position(|&own| own == (element, index))?;
            Some(self.first.dof_count() + found)
        };
        (self.first.deformation_dof(element, index)).or_else(depends)
    }

    /// Which coordinates the degrees of freedom of a chart are.
    pub(super) fn independent(&self, chart: &Mechanism) -> Vec<usize> {
        let place = |dof: usize| {
            let deformation = chart.dof_deformation(dof);
            // coordinates of nodes have the same numbers in every chart
            deformation.map_or(Some(dof), |deformation| self.place(deformation))
        };
        (0..chart.dof_count()).filter_map(place).collect()
    }

    /// Dependent coordinates of a chart: which ones, and as deformations.
    pub(super) fn dependent(&self, chart: &Mechanism) -> Vec<(usize, (ElementId, usize))> {
        let first = (0..self.first.dof_count())
            .filter_map(|dof| Some((dof, self.first.dof_deformation(dof)?)));
        let behind = (self.first.dof_count()..).zip(self.dependent.iter().copied());
        first
            .chain(behind)
            .filter(|&(_, (element, index))| chart.deformation_dof(element, index).is_none())
            .collect()
    }
}
