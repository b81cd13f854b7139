//! What acts on a mesh: its actions with their values at an instant, and prescribed motions.

use crate::simulate::MotionCurve;
use lissom_core::{Actions, AxisId, ControlLaw, Efforts, External, Feedback, Inputs, View as _};
use lissom_nodal::{AppliedForces, Drive, Excitation, Forces, NodalError, View};
use lissom_spatial::Real;

use super::course::{Course, drive};
use super::view::NodalView;
use super::{Mesh, MeshError};

/// Drives, inputs and feedback of a mesh at an instant.
#[derive(Clone, Debug)]
pub struct Acts<'a> {
    mesh: &'a Mesh,
    inputs: Inputs,
    /// Values of inputs and of feedback.
    efforts: Efforts,
    /// The motion that inverse dynamics and controllers go by, if there are any.
    guide: Option<Guide<'a>>,
    /// Why the guide could not be followed last.
    trouble: Option<MeshError>,
}

/// The nominal motion with what it takes.
#[derive(Clone, Debug)]
struct Guide<'a> {
    course: Course<'a>,
    /// Whether inputs follow from inverse dynamics.
    drives: bool,
    /// What each degree of freedom needs.
    efforts: Vec<f64>,
    /// Loads that inverse dynamics counts on, and resistances of the joints.
    foreseen: Actions,
    inputs: Inputs,
    input_values: Vec<f64>,
    forces: Forces<f64>,
    /// Mass matrix, if a controller asks for it.
    mass: Vec<f64>,
    feedback: Feedback,
}

impl<'a> Guide<'a> {
    /// `None` if nothing goes by it.
    fn new(mesh: &'a Mesh) -> Result<Option<Self>, NodalError> {
        let actions = &mesh.actions;
        let drives = actions
            .loads
            .iter()
            .any(|load| load.nominal_motion().is_some());
        if !drives && actions.controllers.is_empty() {
            return Ok(None);
        }
        let dofs = mesh.mechanism.dof_count();
        let weighs = (actions.controllers.iter())
            .any(|controller| matches!(controller.law, ControlLaw::Computed { .. }));
        let counted = actions.loads.iter().filter(|load| load.foreseen).cloned();
        let foreseen = Actions {
            resistances: actions.resistances.clone(),
            loads: counted.collect(),
            ..Actions::default()
        };
        Ok(Some(Self {
            course: Course::new(mesh)?,
            drives,
            efforts: vec![0.0; dofs],
            inputs: Inputs::new(&foreseen.loads),
            input_values: vec![0.0; foreseen.loads.len()],
            foreseen,
            forces: Forces::new(&mesh.mechanism),
            mass: vec![0.0; if weighs { dofs * dofs } else { 0 }],
            feedback: Feedback::new(&actions.controllers),
        }))
    }

    /// The nominal motion at an instant, the torques and forces that would move the rigidified mechanism so, and its
    /// mass matrix.
    fn update(&mut self, mesh: &Mesh, time: f64) -> Result<(), MeshError> {
        if !self.course.update(time)? {
            return Ok(());
        }
        let equations = &mut self.course.equations;
        if self.drives {
            let (foreseen, values) = (&self.foreseen, &mut self.input_values);
            (self.inputs).evaluate(&foreseen.loads, time, |_| 0.0, values);
            let nodes = &mut equations.view(&mut self.forces);
            let mut view = NodalView { mesh, nodes };
            foreseen.push_inputs(values, &mut view, &mut 0.0);
            foreseen.resist(&mut view, &mut 0.0);
            let (efforts, loads) = (self.forces.efforts(), self.forces.loads());
            equations.residual(efforts, loads, &mut self.efforts);
        }
        if !self.mass.is_empty() {
            equations.mass_matrix(&mut self.mass);
        }
        Ok(())
    }

    /// Torque or force that moves an axis along the nominal motion, through its gear if it has one.
    fn feedforward(&self, mesh: &Mesh, axis: AxisId) -> f64 {
        let on = |axis| mesh.axis_dof(axis).map_or(0.0, |dof| self.efforts[dof]);
        let gear = mesh.actions.gears.iter().find(|gear| gear.motor == axis);
        // along the nominal motion a motor turns with its joint
        on(axis) + gear.map_or(0.0, |gear| on(gear.joint))
    }

    /// Torques and forces of the controllers at a state.
    fn feed_back(&mut self, mesh: &Mesh, [position, velocity]: [&[f64]; 2], efforts: &mut [f64]) {
        let (dofs, mass) = (mesh.mechanism.dof_count(), &self.mass);
        let at = |axis, position: &[f64], velocity: &[f64]| {
            let dof = mesh.axis_dof(axis).unwrap_or(0);
            let first = mesh.mechanism.dof_positions(dof).start;
            [position[first], velocity[dof]]
        };
        let nominal = &self.course.state;
        let moving = |axis| {
            let own = mesh.axis_dof(axis);
            let gear = mesh.actions.gears.iter().find(|gear| gear.joint == axis);
            [own, gear.and_then(|gear| mesh.axis_dof(gear.motor))]
        };
        self.feedback.evaluate(
            &mesh.actions.controllers,
            |axis| at(axis, position, velocity),
            |axis| at(axis, &nominal.position, &nominal.velocity),
            |row, column| {
                let mut sum = 0.0;
                for row in moving(row).into_iter().flatten() {
                    for column in moving(column).into_iter().flatten() {
                        sum += mass[row * dofs + column];
                    }
                }
                sum
            },
            efforts,
        );
    }
}

impl<'a> Acts<'a> {
    /// What acts on a mesh.
    ///
    /// # Errors
    ///
    /// When there is a nominal motion and the mechanism is singular where it is assembled or starts.
    pub fn new(mesh: &'a Mesh) -> Result<Self, NodalError> {
        let actions = &mesh.actions;
        Ok(Self {
            mesh,
            inputs: Inputs::new(&actions.loads),
            efforts: Efforts {
                inputs: vec![0.0; actions.loads.len()],
                feedback: vec![0.0; actions.controlled().count()],
            },
            guide: Guide::new(mesh)?,
            trouble: None,
        })
    }

    /// Instants at which something is not smooth, in ascending order.
    pub fn breakpoints(&self) -> Vec<f64> {
        let nominal = self.guide.iter().flat_map(|guide| guide.course.curves());
        let motions = self.mesh.motions.iter().chain(nominal);
        let mut all: Vec<f64> = motions
            .flat_map(MotionCurve::breakpoints)
            .chain(self.inputs.breakpoints())
            .collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// Takes over an input, or gives it back to the model.
    pub(super) fn set_input(&mut self, input: usize, external: Option<External>) {
        self.inputs.set(input, external);
    }

    /// Values of inputs and feedback, of the evaluation last made.
    pub(super) fn efforts(&self) -> &Efforts {
        &self.efforts
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
        let (mesh, Efforts { inputs, feedback }) = (self.mesh, &mut self.efforts);
        let mut lost = false;
        if let Some(guide) = &mut self.guide {
            self.trouble = guide.update(mesh, time).err();
            lost = self.trouble.is_some();
            guide.feed_back(mesh, [position, velocity], feedback);
        }
        let feedforward = |axis| match &self.guide {
            // what is not known is not a number, which the integrator reports
            Some(_) if lost => f64::NAN,
            Some(guide) => guide.feedforward(mesh, axis),
            None => 0.0,
        };
        (self.inputs).evaluate(&mesh.actions.loads, time, feedforward, inputs);
        if lost {
            feedback.fill(f64::NAN);
        }
    }
}

impl AppliedForces for Acts<'_> {
    fn apply<T: Real>(&self, part: f64, nodes: &mut View<'_, T>) {
        let (mesh, actions) = (self.mesh, &self.mesh.actions);
        let mut view = NodalView { mesh, nodes };
        for (load, value) in actions.loads.iter().zip(&self.efforts.inputs) {
            load.push(T::constant(part * value), &mut view);
        }
        for (axis, effort) in actions.controlled().zip(&self.efforts.feedback) {
            view.push_axis(axis.drive, T::constant(part * effort));
        }
        actions.resist(&mut view, &mut T::zero());
        actions.turn_gears(&mut view, &mut T::zero());
    }

    fn springs<T: Real>(&self, nodes: &mut View<'_, T>, spring: &mut impl FnMut(f64, T)) {
        let mesh = self.mesh;
        mesh.actions.springs(&NodalView { mesh, nodes }, spring);
    }
}

impl Mesh {
    /// Degrees of freedom that inputs or controllers drive along an axis, in ascending order.
    pub(super) fn driven_dofs(&self) -> Vec<usize> {
        let axes = self.actions.driven().filter_map(|axis| self.axis_dof(axis));
        let mut driven: Vec<usize> = axes.collect();
        driven.sort_unstable();
        driven.dedup();
        driven
    }
}
