//! A nodal model linearised: where it starts, where a recording has it, and along its nominal motion.

use lissom_core::study::{Linearize, LinearizeError, linearize};
use lissom_core::{AxisId, Coordinates, PlaceError, RunError, State, effort_label};
use lissom_nodal::{Dynamics, Equations, NodalError, NodeId, NodeKind, linearize_state};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, Labels, Point};
use nalgebra::DVector;

use super::outputs::unplaced;
use super::rigid::{NodalTrajectory, any_trajectory};
use super::{NodalActions, NodalModel};

/// A state of motion of a nodal model with its accelerations.
#[derive(Clone, Debug, PartialEq)]
pub struct NodalMotion {
    time_s: f64,
    position: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
}

/// A nodal model to be linearised.
#[derive(Debug)]
pub struct NodalLinearizer<'m> {
    nodal: &'m NodalModel,
    equations: Equations<'m>,
    dynamics: Dynamics<'m, NodalActions<'m>>,
    trajectory: Option<NodalTrajectory<'m>>,
    /// Points whose positions are outputs.
    outputs: Vec<NodeId>,
}

impl<'m> NodalLinearizer<'m> {
    /// For a nodal model.
    ///
    /// # Errors
    ///
    /// When the mechanism is singular where it is assembled or starts.
    pub fn new(nodal: &'m NodalModel) -> Result<Self, NodalError> {
        let mechanism = &nodal.mechanism;
        let moves = |node: &NodeId| {
            let kind = mechanism.node_kind(*node);
            matches!(kind, NodeKind::Point | NodeKind::PlanarPoint)
                && !mechanism.is_supported(*node)
        };
        let markers = nodal.markers.iter().map(|marker| marker.end.point);
        let nodes = nodal.nodes.iter().copied().filter(moves);
        Ok(Self {
            nodal,
            equations: Equations::new(mechanism)?,
            dynamics: Dynamics::new(Equations::new(mechanism)?, NodalActions::new(nodal)),
            trajectory: None,
            outputs: markers.chain(nodes).collect(),
        })
    }

    /// Degrees of freedom of axes, those that are none left out.
    fn dofs(&self, axes: impl Iterator<Item = AxisId>) -> Vec<usize> {
        axes.filter_map(|axis| self.nodal.axis_dof(axis)).collect()
    }

    fn unplaced(time_s: f64) -> impl Fn(NodalError) -> LinearizeError {
        move |error| LinearizeError::Unplaced(Box::new(unplaced(&error, time_s)))
    }
}

impl Linearize for NodalLinearizer<'_> {
    type Motion = NodalMotion;

    fn moving(&mut self, state: &State) -> Result<NodalMotion, LinearizeError> {
        let State {
            time_s,
            position,
            velocity,
            memory,
            ..
        } = state;
        // a state that remembers where its nodes are need not be sought from where the mechanism is assembled
        if !memory.is_empty() {
            for equations in [self.dynamics.equations_mut(), &mut self.equations] {
                equations.recall(memory).map_err(|error| {
                    let source = PlaceError {
                        reason: error.to_string(),
                        part: "the mechanism",
                    };
                    let time_s = *time_s;
                    LinearizeError::Unplaced(Box::new(RunError::Unplaced { source, time_s }))
                })?;
            }
        }
        let mut acceleration = vec![0.0; velocity.len()];
        let accelerated =
            (self.dynamics).accelerate(*time_s, position, velocity, &mut acceleration);
        accelerated.map_err(Self::unplaced(*time_s))?;
        Ok(NodalMotion {
            time_s: *time_s,
            position: position.clone(),
            velocity: velocity.clone(),
            acceleration,
        })
    }

    fn resting(&mut self, state: &State) -> Result<NodalMotion, LinearizeError> {
        let still = vec![0.0; self.nodal.mechanism.dof_count()];
        Ok(NodalMotion {
            time_s: state.time_s,
            position: state.position.clone(),
            velocity: still.clone(),
            acceleration: still,
        })
    }

    fn nominal(&mut self, time_s: f64) -> Result<NodalMotion, LinearizeError> {
        let trajectory = match &mut self.trajectory {
            Some(trajectory) => trajectory,
            None => self.trajectory.insert(any_trajectory(self.nodal)?),
        };
        trajectory.update(time_s)?;
        let [mut position, mut velocity, mut acceleration] = [const { Vec::new() }; 3];
        let written = [&mut position, &mut velocity, &mut acceleration];
        trajectory.mechanism().write(trajectory.state(), written);
        Ok(NodalMotion {
            time_s,
            position,
            velocity,
            acceleration,
        })
    }

    fn steady(&mut self, motion: NodalMotion) -> NodalMotion {
        motion
    }

    fn choose(&mut self, _: &NodalMotion) -> Result<(), LinearizeError> {
        Ok(())
    }

    fn point(&mut self, motion: &NodalMotion) -> Result<Point, LinearizeError> {
        let NodalMotion {
            time_s,
            position,
            velocity,
            acceleration,
        } = motion;
        let unplaced = Self::unplaced(*time_s);
        let placed = self.dynamics.set_state(*time_s, position, velocity);
        placed.map_err(&unplaced)?;
        let state = lissom_nodal::State {
            position,
            velocity,
            acceleration,
            drives: self.dynamics.drives(),
            loads: self.dynamics.excitation(),
        };
        let point = linearize_state(&mut self.equations, *time_s, &state, &self.outputs);
        let mut point = point.map_err(&unplaced)?;
        point.position = self.nodal.chart_position(position);
        // velocities that are no rates of the chart: those deviate by δv = δ' + Wδ
        let [turning, turning_rate] =
            [velocity, acceleration].map(|rates| self.nodal.quasi_rates(rates));
        let linear = &mut point.linear;
        linear.dynamic += &linear.damping * &turning + &linear.mass * turning_rate;
        linear.damping += &linear.mass * turning;
        // friction of the joints is not an input
        let actuated = self.nodal.mechanism.actuated_dofs();
        for (input, dof) in point.input.iter_mut().zip(actuated) {
            let nodal = self.nodal;
            let is_meant = |axis| nodal.axis_dof(axis) == Some(dof);
            *input = (nodal.actions).effort_on(state.loads.efforts(), is_meant);
        }
        Ok(point)
    }

    fn labels(&self) -> Labels {
        let mut labels = lissom_nodal::labels(&self.nodal.mechanism, &self.outputs);
        let parts = self.nodal.coordinates_of_dofs();
        labels.coordinates = parts.iter().flat_map(Coordinates::deviations).collect();
        let actuated = self.nodal.mechanism.actuated_dofs();
        for (index, axis) in self.nodal.axes.iter().enumerate() {
            let axis_id = AxisId(index);
            let Some(dof) = self.nodal.axis_dof(axis_id) else {
                continue;
            };
            let Some(input) = actuated.iter().position(|&actuated| actuated == dof) else {
                continue;
            };
            labels.inputs[input] = effort_label(&axis.name);
            let mut gears = self.nodal.actions.gears.iter();
            if gears.any(|gear| gear.joint == axis_id) {
                // inputs act on the motor, whose effort has the name of the joint
                labels.inputs[input].name =
                    format!("{}.{}", axis.name.coordinate(), axis.name.effort_word());
            }
        }
        for (label, marker) in labels.markers.iter_mut().zip(&self.nodal.markers) {
            label.clone_from(&marker.name);
        }
        labels
    }

    fn actuated(&self) -> Vec<usize> {
        self.nodal.mechanism.actuated_dofs()
    }

    fn driven(&self) -> Vec<usize> {
        self.nodal.driven_dofs()
    }

    fn controlled(&self) -> Vec<Vec<usize>> {
        let controllers = self.nodal.actions.controllers.iter();
        let drives = controllers.map(|controller| controller.axes.iter().map(|axis| axis.drive));
        drives.map(|axes| self.dofs(axes)).collect()
    }

    fn deviation(&mut self, state: &State, from: &NodalMotion) -> [Vec<f64>; 2] {
        let deviation = self.nodal.deviation(&state.position, &from.position);
        let turned =
            self.nodal.quasi_rates(&from.velocity) * DVector::from_column_slice(&deviation);
        let rates = state.velocity.iter().zip(&from.velocity);
        let rates = rates.zip(turned.iter());
        let rates = rates.map(|((rate, from), turned)| rate - from - turned);
        let rates = rates.collect();
        [deviation, rates]
    }

    fn breakpoints(&self) -> Vec<f64> {
        self.dynamics.excitation().breakpoints()
    }

    fn frozen(
        &mut self,
        motions: &[NodalMotion],
        free: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, LinearizeError> {
        let found = linearize(self, motions, watch)?;
        let held: &[usize] = if free { &[] } else { &found.driven };
        let mut frozen = Frozen::new(&found.along, held);
        frozen.rigid = self.nodal.floating_dofs();
        Ok(frozen)
    }
}
