//! What acts on a mesh: inputs, feedback, friction, prescribed motions.

use crate::model::ControlLaw;
use crate::simulate::{LoadCurve, MotionCurve};
use lissom_core::External;
use lissom_nodal::{AppliedForces, Drive, Excitation, Forces, NodalError, NodeState, View};
use lissom_spatial::{Matrix, Scalar, Vector};

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
    /// Foreseen loads and friction.
    forces: Forces<f64>,
    /// Mass matrix, if a controller asks for it.
    mass: Vec<f64>,
    /// Deviations of positions and rates of the axes of one controller.
    deviations: Vec<[f64; 2]>,
}

/// Axes of the frame of a turning joint on the side of its child, whose orientation is given.
pub(super) fn child_axes<T: Scalar>(child: &NodeState<T>, frame: &Matrix<f64>) -> Matrix<T> {
    child.rotation * Matrix::constant(frame.0)
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
            forces: Forces::new(mechanism),
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
            let mut view = equations.view(&mut self.forces);
            let counted = |load: &&Load| {
                matches!(load.foreseen, Foreseen::Counted)
                    && !matches!(load.target, Target::Axis(_))
            };
            for load in mesh.loads.iter().filter(counted) {
                push(mesh, load, load.curve.value(time), &mut view);
            }
            push_friction(mesh, &mut view);
            let (efforts, loads) = (self.forces.efforts(), self.forces.loads());
            equations.residual(efforts, loads, &mut self.efforts);
        }
        if !self.mass.is_empty() {
            equations.mass_matrix(&mut self.mass);
        }
        Ok(())
    }

    /// Torques and forces of the controllers at a state.
    fn feed_back(&mut self, mesh: &Mesh, position: &[f64], velocity: &[f64], controls: &mut [f64]) {
        let (nominal, dofs) = (&self.course.state, mesh.mechanism.dof_count());
        let mut first = 0;
        for controller in &mesh.guidance.controllers {
            let axes = &controller.axes;
            for (deviation, axis) in self.deviations.iter_mut().zip(axes) {
                let at = mesh.mechanism.dof_positions(axis.dof).start;
                *deviation = [
                    position[at] - nominal.position[at],
                    velocity[axis.dof] - nominal.velocity[axis.dof],
                ];
            }
            let mass = |i: usize, j: usize| self.mass[axes[i].dof * dofs + axes[j].dof];
            let efforts = &mut controls[first..first + axes.len()];
            (controller.law).feed_back(&self.deviations[..axes.len()], mass, efforts);
            first += axes.len();
        }
    }
}

/// Adds an input of this value.
fn push<T: Scalar>(mesh: &Mesh, load: &Load, value: f64, view: &mut View<'_, T>) {
    let value = T::constant(value);
    match &load.target {
        Target::Axis(joint) => {
            if let MeshedJoint::Axis {
                element,
                deformation,
                ..
            } = &mesh.joints[*joint]
            {
                view.push_deformation(*element, *deformation, value);
            }
        }
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
            let axes = child_axes(view.node(child.orientation), frame).transpose();
            let along = Vector(axes.0[component % 3]).scale(value);
            if *component < 3 {
                view.push_node(child.orientation, along);
                view.push_node(parent.orientation, -along);
            } else {
                view.push_node(child.point, along);
            }
        }
        Target::Node {
            node,
            direction,
            carried_by,
        } => {
            let along = match carried_by {
                None => Vector::constant(direction.0),
                Some((by, attitude)) => {
                    view.node(*by).rotation * Vector::constant((*attitude * *direction).0)
                }
            };
            view.push_node(*node, along.scale(value));
        }
    }
}

/// Adds the friction of all joints.
fn push_friction<T: Scalar>(mesh: &Mesh, view: &mut View<'_, T>) {
    for (element, law) in &mesh.drags {
        let drag = law.drag(view.deformation_rate(*element, 0));
        view.push_deformation(*element, 0, drag);
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

    /// Torque or force of inputs and controllers on a degree of freedom, of the evaluation last made.
    pub(super) fn input_on(&self, dof: usize) -> f64 {
        let mesh = self.mesh;
        let inputs = (mesh.loads.iter().zip(&self.values)).filter(|(load, _)| {
            matches!(load.target, Target::Axis(joint) if mesh.axis_dof(joint) == Some(dof))
        });
        let controllers = mesh.guidance.controllers.iter();
        let axes = controllers.flat_map(|controller| &controller.axes);
        let controls = (axes.zip(&self.controls)).filter(|(axis, _)| axis.dof == dof);
        let efforts = (inputs.map(|(_, effort)| effort)).chain(controls.map(|(_, effort)| effort));
        efforts.fold(0.0, |sum, effort| sum + effort)
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

    fn update(&mut self, time: f64, position: &[f64], velocity: &[f64]) {
        let mesh = self.mesh;
        for (value, load) in self.values.iter_mut().zip(&mesh.loads) {
            *value = load.curve.value(time);
        }
        if let Some(guide) = &mut self.guide {
            self.trouble = guide.update(mesh, time).err();
            for &(dof, load) in &guide.foreseen {
                self.values[load] = guide.efforts[dof];
            }
            guide.feed_back(mesh, position, velocity, &mut self.controls);
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
    }
}

impl AppliedForces for Acts<'_> {
    fn apply<T: Scalar>(&self, view: &mut View<'_, T>) {
        for (load, &value) in self.mesh.loads.iter().zip(&self.values) {
            push(self.mesh, load, value, view);
        }
        let controllers = self.mesh.guidance.controllers.iter();
        let axes = controllers.flat_map(|controller| &controller.axes);
        for (axis, &effort) in axes.zip(&self.controls) {
            view.push_dof(axis.dof, T::constant(effort));
        }
        push_friction(self.mesh, view);
    }
}
