//! What acts on a mesh: inputs, feedback, friction, prescribed motions.

use crate::model::ControlLaw;
use crate::simulate::{LoadCurve, MotionCurve};
use lissom_core::External;
use lissom_nodal::{Acting, Actions, Drive, ElementId, Equations, Excitation, NodalError};
use lissom_spatial::{Matrix, Vector};

use super::course::{Course, drive};
use super::{Foreseen, Load, Mesh, MeshError, MeshedJoint, Target};

/// Drives, loads and feedback of a mesh at an instant.
#[derive(Clone, Debug)]
pub struct Acts<'a> {
    mesh: &'a Mesh,
    /// Value of every input.
    values: Vec<f64>,
    /// Inputs that somebody outside has taken over.
    pub(super) externals: Vec<Option<External>>,
    /// The motion that inverse dynamics and controllers go by, if there are any.
    guide: Option<Guide<'a>>,
    /// Torques and forces of the controllers, in the order of their axes.
    controls: Vec<f64>,
    /// Why the guide could not be followed last.
    trouble: Option<MeshError>,
}

/// The nominal motion with what it takes.
#[derive(Clone, Debug)]
struct Guide<'a> {
    course: Course<'a>,
    /// Degree of freedom and input of inverse dynamics.
    foreseen: Vec<(usize, usize)>,
    /// What each degree of freedom needs.
    efforts: Vec<f64>,
    no_efforts: Vec<f64>,
    loads: Vec<Vector<f64>>,
    /// Mass matrix, if a controller asks for it.
    mass: Vec<f64>,
    /// Deviations of positions and rates of the axes of one controller.
    deviations: Vec<[f64; 2]>,
}

/// Axes of the frame of a turning joint on the side of its child.
pub(super) fn child_axes(
    equations: &Equations<'_>,
    child: lissom_nodal::End,
    frame: &Matrix<f64>,
) -> Matrix<f64> {
    equations.node(child.orientation).rotation * *frame
}

impl<'a> Guide<'a> {
    /// `None` if nothing goes by it.
    fn new(mesh: &'a Mesh) -> Result<Option<Self>, NodalError> {
        let foreseen: Vec<(usize, usize)> = (mesh.loads.iter().enumerate())
            .filter_map(|(index, load)| match (&load.foreseen, &load.target) {
                (Foreseen::Along(_) | Foreseen::Following, Target::Axis(joint)) => {
                    Some((mesh.axis_dof(*joint)?, index))
                }
                _ => None,
            })
            .collect();
        let controllers = &mesh.guidance.controllers;
        if foreseen.is_empty() && controllers.is_empty() {
            return Ok(None);
        }
        let mechanism = &mesh.mechanism;
        let dofs = mechanism.dof_count();
        let axes = controllers.iter().map(|controller| controller.axes.len());
        let weighs = (controllers.iter())
            .any(|controller| matches!(controller.law, ControlLaw::Computed { .. }));
        Ok(Some(Self {
            course: Course::new(mesh)?,
            foreseen,
            efforts: vec![0.0; dofs],
            no_efforts: vec![0.0; dofs],
            loads: vec![Vector([0.0; 3]); mechanism.node_count()],
            mass: vec![0.0; if weighs { dofs * dofs } else { 0 }],
            deviations: vec![[0.0; 2]; axes.max().unwrap_or(0)],
        }))
    }

    /// The nominal motion at an instant, the torques and forces that would move the rigidified mechanism so, and its
    /// mass matrix.
    fn update(&mut self, mesh: &Mesh, time: f64) -> Result<(), MeshError> {
        if !self.course.update(time)? {
            return Ok(());
        }
        let equations = &mut self.course.equations;
        if !self.foreseen.is_empty() {
            self.loads.fill(Vector([0.0; 3]));
            let counted = |load: &&Load| matches!(load.foreseen, Foreseen::Counted);
            for load in mesh.loads.iter().filter(counted) {
                push(
                    mesh,
                    load,
                    load.curve.value(time),
                    equations,
                    &mut self.loads,
                );
            }
            for (element, law) in &mesh.drags {
                let mechanism = &mesh.mechanism;
                let follows = mechanism.deformation_dof(*element, 0).is_none()
                    && mechanism.deformation_drive(*element, 0).is_none();
                if follows {
                    let drag = law.drag(equations.deformation_rate(*element, 0));
                    equations.exert(*element, 0, drag, &mut self.loads);
                }
            }
            equations.residual(&self.no_efforts, &self.loads, &mut self.efforts);
            for (element, law) in &mesh.drags {
                if let Some(dof) = mesh.mechanism.deformation_dof(*element, 0) {
                    self.efforts[dof] -= law.drag(equations.deformation_rate(*element, 0));
                }
            }
        }
        if !self.mass.is_empty() {
            equations.mass_matrix(&mut self.mass);
        }
        Ok(())
    }

    /// Torques and forces of the controllers at a state.
    fn feed_back(&mut self, mesh: &Mesh, state: &Acting<'_>, controls: &mut [f64]) {
        let (nominal, dofs) = (&self.course.state, mesh.mechanism.dof_count());
        let mut first = 0;
        for controller in &mesh.guidance.controllers {
            let axes = &controller.axes;
            for (deviation, axis) in self.deviations.iter_mut().zip(axes) {
                let at = mesh.mechanism.dof_positions(axis.dof).start;
                *deviation = [
                    state.position[at] - nominal.position[at],
                    state.velocity[axis.dof] - nominal.velocity[axis.dof],
                ];
            }
            let mass = |i: usize, j: usize| self.mass[axes[i].dof * dofs + axes[j].dof];
            let efforts = &mut controls[first..first + axes.len()];
            (controller.law).feed_back(&self.deviations[..axes.len()], mass, efforts);
            first += axes.len();
        }
    }
}

/// Adds an input that does not act along an axis to the loads at nodes.
fn push(
    mesh: &Mesh,
    load: &Load,
    value: f64,
    equations: &Equations<'_>,
    loads: &mut [Vector<f64>],
) {
    match &load.target {
        Target::Axis(_) => {}
        Target::Component(joint, component) => {
            let MeshedJoint::Turning {
                parent,
                child,
                frame,
                ..
            } = &mesh.joints[*joint]
            else {
                return;
            };
            let axes = child_axes(equations, *child, frame).transpose();
            let along = Vector(axes.0[component % 3]).scale(value);
            if *component < 3 {
                loads[child.orientation.index()] += along;
                loads[parent.orientation.index()] += -along;
            } else {
                loads[child.point.index()] += along;
            }
        }
        Target::Node {
            node,
            direction,
            carried_by,
        } => {
            let along = match carried_by {
                None => *direction,
                Some((by, attitude)) => equations.node(*by).rotation * (*attitude * *direction),
            };
            loads[node.index()] += along.scale(value);
        }
    }
}

impl<'a> Acts<'a> {
    /// What acts on a mesh.
    ///
    /// # Errors
    ///
    /// When there is a nominal motion and the mechanism is singular where it is assembled or starts.
    pub fn new(mesh: &'a Mesh) -> Result<Self, NodalError> {
        let controllers = mesh.guidance.controllers.iter();
        let axes = controllers.map(|controller| controller.axes.len());
        Ok(Self {
            mesh,
            values: vec![0.0; mesh.loads.len()],
            externals: vec![None; mesh.loads.len()],
            guide: Guide::new(mesh)?,
            controls: vec![0.0; axes.sum()],
            trouble: None,
        })
    }

    /// Instants at which something is not smooth, in ascending order.
    pub fn breakpoints(&self) -> Vec<f64> {
        let nominal = self.guide.iter().flat_map(|guide| guide.course.curves());
        let motions = self.mesh.motions.iter().chain(nominal);
        let loads = self.mesh.loads.iter().map(|load| &load.curve);
        let mut all: Vec<f64> = motions
            .flat_map(MotionCurve::breakpoints)
            .chain(loads.flat_map(LoadCurve::breakpoints))
            .collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// Value of every input, of the evaluation last made.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Torque or force of every controlled axis, of the evaluation last made.
    pub(super) fn controls(&self) -> &[f64] {
        &self.controls
    }

    /// Why the nominal motion could not be followed in the evaluation last made.
    pub(super) fn trouble(&self) -> Option<&MeshError> {
        self.trouble.as_ref()
    }
}

impl Excitation for Acts<'_> {
    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        for (target, curve) in drives.iter_mut().zip(&self.mesh.motions) {
            *target = drive(curve.at(time));
        }
    }

    fn act(&mut self, time: f64, state: &Acting<'_>, on: &mut Actions<'_>) {
        let mesh = self.mesh;
        for (value, load) in self.values.iter_mut().zip(&mesh.loads) {
            *value = load.curve.value(time);
        }
        if let Some(guide) = &mut self.guide {
            self.trouble = guide.update(mesh, time).err();
            for &(dof, load) in &guide.foreseen {
                self.values[load] = guide.efforts[dof];
            }
            guide.feed_back(mesh, state, &mut self.controls);
            if self.trouble.is_some() {
                // what is not known is not a number, which the integrator reports
                for &(_, load) in &guide.foreseen {
                    self.values[load] = f64::NAN;
                }
                self.controls.fill(f64::NAN);
            }
        }
        for (value, external) in self.values.iter_mut().zip(&self.externals) {
            if let Some(external) = external {
                *value = external.at(time);
            }
        }
        for (load, &value) in mesh.loads.iter().zip(&self.values) {
            if let Target::Axis(joint) = load.target {
                if let MeshedJoint::Axis {
                    element,
                    deformation,
                    ..
                } = &mesh.joints[joint]
                {
                    exert(state.equations, *element, *deformation, value, on);
                }
            } else {
                push(mesh, load, value, state.equations, on.loads);
            }
        }
        let controllers = mesh.guidance.controllers.iter();
        let axes = controllers.flat_map(|controller| &controller.axes);
        for (axis, effort) in axes.zip(&self.controls) {
            on.efforts[axis.dof] += effort;
        }
        for (element, law) in &mesh.drags {
            let rate = state.equations.deformation_rate(*element, 0);
            exert(state.equations, *element, 0, law.drag(rate), on);
        }
    }
}

/// Adds an effort on a deformation: to its degree of freedom, or at its nodes if it follows from others. What is
/// prescribed takes none.
fn exert(
    equations: &Equations<'_>,
    element: ElementId,
    deformation: usize,
    effort: f64,
    on: &mut Actions<'_>,
) {
    let mechanism = equations.mechanism();
    if let Some(dof) = mechanism.deformation_dof(element, deformation) {
        on.efforts[dof] += effort;
    } else if mechanism.deformation_drive(element, deformation).is_none() {
        equations.exert(element, deformation, effort, on.loads);
    }
}
