//! A mesh linearised: where it starts, where a recording has it, and along its nominal motion.

use crate::simulate::Recording;
use lissom_nodal::{Dynamics, Equations, NodalError, NodeId, NodeKind, State, linearize_state};

use super::rigid::{NodalTrajectory, any_trajectory};
use super::{Acts, Mesh, MeshError, Replay};
use lissom_core::{AxisId, effort_label};
use lissom_numerics::linear::{Labels, Point};

/// A mesh to be linearised.
#[derive(Debug)]
pub struct MeshLinearizer<'m> {
    mesh: &'m Mesh,
    equations: Equations<'m>,
    dynamics: Dynamics<'m, Acts<'m>>,
    trajectory: Option<NodalTrajectory<'m>>,
    /// Points whose positions are outputs.
    outputs: Vec<NodeId>,
    /// Position of the first state.
    first: Option<Vec<f64>>,
}

impl<'m> MeshLinearizer<'m> {
    /// For a mesh.
    ///
    /// # Errors
    ///
    /// When the mechanism is singular where it is assembled or starts.
    pub fn new(mesh: &'m Mesh) -> Result<Self, NodalError> {
        let mechanism = &mesh.mechanism;
        let moves = |node: &NodeId| {
            let kind = mechanism.node_kind(*node);
            matches!(kind, NodeKind::Point | NodeKind::PlanarPoint)
                && !mechanism.is_supported(*node)
        };
        let markers = mesh.markers.iter().map(|marker| marker.end.point);
        let nodes = mesh.nodes.iter().copied().filter(moves);
        Ok(Self {
            mesh,
            equations: Equations::new(mechanism)?,
            dynamics: Dynamics::new(Equations::new(mechanism)?, Acts::new(mesh)),
            trajectory: None,
            outputs: markers.chain(nodes).collect(),
            first: None,
        })
    }

    /// Names of degrees of freedom, inputs and markers; joints are called as in the model.
    pub fn labels(&self) -> Labels {
        let mut labels = lissom_nodal::labels(&self.mesh.mechanism, &self.outputs);
        let actuated = self.mesh.mechanism.actuated_dofs();
        for (index, axis) in self.mesh.axes.iter().enumerate() {
            let axis_id = AxisId(index);
            let Some(dof) = self.mesh.axis_dof(axis_id) else {
                continue;
            };
            labels.coordinates[dof].name = axis.name.coordinate();
            let Some(input) = actuated.iter().position(|&actuated| actuated == dof) else {
                continue;
            };
            labels.inputs[input] = effort_label(&axis.name);
            let mut gears = self.mesh.actions.gears.iter();
            if gears.any(|gear| gear.joint == axis_id) {
                // inputs act on the motor, whose effort has the name of the joint
                labels.inputs[input].name =
                    format!("{}.{}", axis.name.coordinate(), axis.name.effort_word());
            }
        }
        for (label, marker) in labels.markers.iter_mut().zip(&self.mesh.markers) {
            label.clone_from(&marker.name);
        }
        labels
    }

    /// Position of the state that was linearised first.
    pub fn first_position(&self) -> Option<&[f64]> {
        self.first.as_deref()
    }

    /// Degrees of freedom on which inputs or controllers act.
    pub fn driven(&self) -> Vec<usize> {
        self.mesh.driven_dofs()
    }

    /// Degrees of freedom that every controller drives, as places among the actuated ones.
    pub fn controlled(&self) -> Vec<Vec<usize>> {
        let actuated = self.mesh.mechanism.actuated_dofs();
        let place = |dof: usize| actuated.iter().position(|&other| other == dof);
        let controllers = self.mesh.actions.controllers.iter();
        let places = controllers.map(|controller| {
            let axes = controller.axes.iter();
            axes.filter_map(|axis| place(self.mesh.axis_dof(axis.drive)?))
                .collect()
        });
        places.collect()
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

    /// The equations at a sample of a recording.
    ///
    /// # Errors
    ///
    /// When a coordinate was not recorded, or there is no such configuration.
    pub fn recorded(&mut self, recording: &Recording, sample: usize) -> Result<Point, MeshError> {
        let time_s = recording.time_s[sample];
        let value = |name: &str| Some(recording.channel(name)?.samples[sample]);
        let state = Replay::new(self.mesh)?.state(time_s, &value)?;
        Ok(self.moving(time_s, &state.position, &state.velocity)?)
    }

    /// The equations on the nominal motion, which is followed from where it starts.
    ///
    /// # Errors
    ///
    /// When it cannot be followed.
    pub fn nominal(&mut self, time: f64) -> Result<Point, MeshError> {
        let trajectory = match &mut self.trajectory {
            Some(trajectory) => trajectory,
            None => self.trajectory.insert(any_trajectory(self.mesh)?),
        };
        trajectory.update(time)?;
        let [mut position, mut velocity, mut acceleration] = [const { Vec::new() }; 3];
        let written = [&mut position, &mut velocity, &mut acceleration];
        trajectory.mechanism().write(trajectory.state(), written);
        self.dynamics.set_state(time, &position, &velocity)?;
        Ok(self.at(time, &position, &velocity, &acceleration)?)
    }

    /// The equations at a state that the dynamics were last evaluated at.
    fn at(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
    ) -> Result<Point, NodalError> {
        let state = State {
            position,
            velocity,
            acceleration,
            drives: self.dynamics.drives(),
            loads: self.dynamics.excitation(),
        };
        let mut point = linearize_state(&mut self.equations, time, &state, &self.outputs)?;
        point.position = self.mesh.chart_position(position);
        self.first.get_or_insert_with(|| position.to_vec());
        // friction of the joints is not an input
        let actuated = self.mesh.mechanism.actuated_dofs();
        for (input, dof) in point.input.iter_mut().zip(actuated) {
            let mesh = self.mesh;
            let is_meant = |axis| mesh.axis_dof(axis) == Some(dof);
            *input = (mesh.actions).effort_on(state.loads.efforts(), is_meant);
        }
        Ok(point)
    }
}
