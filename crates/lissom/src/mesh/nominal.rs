//! The rigid motion of a mesh: its joints along the nominal motion of their inputs, as prescribed, or held where they
//! start, with every deformation at zero.

use crate::nodal::{Drive, Dynamics, Equations, NodalError, NodeId, State, linearize_state};
use crate::simulate::{MotionCurve, Recording};

use super::acting::drive;
use super::{Acts, Mesh, MeshedJoint, Target};
use crate::linear::{Label, Labels, Point};
use crate::nodal;

/// A mesh to be linearised.
#[derive(Debug)]
pub struct MeshLinearizer<'m> {
    mesh: &'m Mesh,
    equations: Equations<'m>,
    dynamics: Dynamics<'m, Acts<'m>>,
    /// Motion of degrees of freedom of joints.
    course: Vec<(usize, MotionCurve)>,
    markers: Vec<NodeId>,
}

impl<'m> MeshLinearizer<'m> {
    /// For a mesh.
    ///
    /// # Errors
    ///
    /// When the mechanism is singular at assembly.
    pub fn new(mesh: &'m Mesh) -> Result<Self, NodalError> {
        let mechanism = &mesh.mechanism;
        let mut course = Vec::new();
        for (index, joint) in mesh.joints.iter().enumerate() {
            let MeshedJoint::Axis {
                element,
                deformation,
                ..
            } = joint
            else {
                continue;
            };
            let Some(dof) = mechanism.deformation_dof(*element, *deformation) else {
                continue;
            };
            let foreseen = (mesh.loads.iter())
                .filter(|load| matches!(load.target, Target::Axis(at) if at == index))
                .find_map(|load| load.foreseen.clone());
            let start = mesh.initial_position[mechanism.dof_positions(dof).start];
            course.push((dof, foreseen.unwrap_or(MotionCurve::held(start))));
        }
        Ok(Self {
            mesh,
            equations: Equations::new(mechanism)?,
            dynamics: Dynamics::new(Equations::new(mechanism)?, Acts::new(mesh)?),
            course,
            markers: mesh.markers.iter().map(|marker| marker.end.point).collect(),
        })
    }

    /// Names of degrees of freedom, inputs and markers; joints are called as in the model.
    pub fn labels(&self) -> Labels {
        let mut labels = nodal::labels(&self.mesh.mechanism, &self.markers);
        for joint in &self.mesh.joints {
            if let MeshedJoint::Axis {
                coordinate,
                element,
                deformation,
                ..
            } = joint
                && let Some(dof) = self.mesh.mechanism.deformation_dof(*element, *deformation)
            {
                labels.coordinates[dof].name.clone_from(coordinate);
            }
        }
        labels.inputs = (self.mesh.mechanism.actuated_dofs().iter())
            .map(|&dof| {
                let label = &labels.coordinates[dof];
                Label::effort(&label.name, label.unit)
            })
            .collect();
        labels.markers = (self.mesh.markers.iter())
            .map(|marker| marker.name.clone())
            .collect();
        labels
    }

    /// Degrees of freedom on which inputs act.
    pub fn driven(&self) -> Vec<usize> {
        let axis = |target: &Target| match target {
            Target::Axis(joint) => match &self.mesh.joints[*joint] {
                MeshedJoint::Axis {
                    element,
                    deformation,
                    ..
                } => self.mesh.mechanism.deformation_dof(*element, *deformation),
                MeshedJoint::Turning { .. } => None,
            },
            _ => None,
        };
        let mut driven: Vec<usize> = (self.mesh.loads.iter())
            .filter_map(|load| axis(&load.target))
            .collect();
        driven.sort_unstable();
        driven.dedup();
        driven
    }

    /// Instants at which something is not smooth, in ascending order.
    pub fn breakpoints(&self) -> Vec<f64> {
        self.dynamics.excitation().breakpoints()
    }

    /// The equations at a state in motion, with the accelerations that it has.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn moving(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
    ) -> Result<Point, NodalError> {
        let mut acceleration = vec![0.0; velocity.len()];
        self.dynamics
            .accelerate(time, position, velocity, &mut acceleration)?;
        self.at(time, position, velocity, &acceleration)
    }

    /// The equations at rest, with no acceleration even where nothing holds what inputs drive.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn resting(&mut self, time: f64, position: &[f64]) -> Result<Point, NodalError> {
        let still = vec![0.0; self.mesh.mechanism.dof_count()];
        self.dynamics.set_state(time, position, &still)?;
        self.at(time, position, &still, &still)
    }

    /// The equations at a sample of a recording; `None` if a degree of freedom was not recorded, as those of
    /// orientations are not.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn recorded(
        &mut self,
        recording: &Recording,
        sample: usize,
    ) -> Result<Option<Point>, NodalError> {
        let labels = self.labels();
        let value = |name: &str| Some(recording.channel(name)?.samples[sample]);
        let position: Option<Vec<f64>> = (labels.coordinates.iter())
            .map(|label| value(&label.name))
            .collect();
        let velocity: Option<Vec<f64>> = (labels.coordinates.iter())
            .map(|label| value(&format!("{}.rate", label.name)))
            .collect();
        match (position, velocity) {
            (Some(position), Some(velocity)) => {
                let point = self.moving(recording.time_s[sample], &position, &velocity)?;
                Ok(Some(point))
            }
            _ => Ok(None),
        }
    }

    /// The equations on the nominal motion.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn nominal(&mut self, time: f64) -> Result<Point, NodalError> {
        let mechanism = &self.mesh.mechanism;
        let dofs = mechanism.dof_count();
        let mut position = mechanism.assembled_position();
        let (mut velocity, mut acceleration) = (vec![0.0; dofs], vec![0.0; dofs]);
        for dof in 0..dofs {
            let at = mechanism.dof_positions(dof);
            if at.len() > 1 {
                position[at.clone()].copy_from_slice(&self.mesh.initial_position[at]);
            }
        }
        for (dof, curve) in &self.course {
            let Drive {
                value,
                rate,
                acceleration: change,
            } = drive(curve.at(time));
            position[mechanism.dof_positions(*dof).start] = value;
            velocity[*dof] = rate;
            acceleration[*dof] = change;
        }
        self.dynamics.set_state(time, &position, &velocity)?;
        self.at(time, &position, &velocity, &acceleration)
    }

    /// The equations at a state that the dynamics were last evaluated at.
    fn at(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
    ) -> Result<Point, NodalError> {
        let (efforts, loads) = self.dynamics.actions();
        let state = State {
            position,
            velocity,
            acceleration,
            drives: self.dynamics.drives(),
            loads,
        };
        let mut point = linearize_state(&mut self.equations, time, &state, &self.markers)?;
        let actuated = self.mesh.mechanism.actuated_dofs();
        for (dof, &effort) in efforts.iter().enumerate() {
            point.excitation[dof] += effort;
        }
        for (input, &dof) in point.input.iter_mut().zip(&actuated) {
            // what the inputs leave of what the motion needs
            point.excitation[dof] -= *input;
            *input = efforts[dof];
        }
        Ok(point)
    }
}
