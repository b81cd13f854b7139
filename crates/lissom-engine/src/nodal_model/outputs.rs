//! What a run reads of a nodal model: channels, limits, what its audit says.

use lissom_core::study::Deviation;
use lissom_core::{
    Audit, AxisId, ClosureAudit, Commanded, Coordinates, Dynamics, ElasticId, EnergyAndMomentum,
    JointId, JointResistance, LimitedQuantity, LoadTarget, PlaceError, Power, RunError, State,
    StateError, TurningJoint, quasi_rates,
};
use lissom_nodal::{Mechanism, NodalError, Role};
use lissom_numerics::integrate::{IntegrateError, Outcome};
use lissom_numerics::{Coordinate, CoordinateKind, Memory, RecallError};
use lissom_spatial::{Force, Quaternion, Vector, rotation_vector_of};
use nalgebra::{DMatrix, DVector};

use super::repartition::Watch;
use super::run::NodalEquations;
use super::view::NodalView;
use super::{NodalAxis, NodalJoint, NodalModel, Replay};

impl NodalModel {
    /// Degrees of freedom that no joint and no recorded node stands for: deformations of elements.
    pub fn elastic_dofs(&self) -> Vec<usize> {
        let mechanism = &self.mechanism;
        let nodes = self.nodes.iter();
        let of_nodes = nodes.flat_map(|&node| (0..3).map(move |i| (node, i)));
        let of_nodes = of_nodes.filter_map(|(node, i)| mechanism.coordinate_dof(node, i));
        let of_joints = self.joints.iter().flat_map(|joint| self.dofs(joint));
        let mut is_known = vec![false; mechanism.dof_count()];
        of_joints
            .chain(of_nodes)
            .for_each(|dof| is_known[dof] = true);
        let all = 0..mechanism.dof_count();
        all.filter(|&dof| !is_known[dof]).collect()
    }

    /// Degrees of freedom of a joint.
    fn dofs(&self, joint: &NodalJoint) -> Vec<usize> {
        let mechanism = &self.mechanism;
        match joint {
            NodalJoint::Axis(axis) => self.axis_dof(*axis).into_iter().collect(),
            NodalJoint::Ball(JointId(joint)) => self.balls[*joint].dofs(mechanism),
        }
    }

    /// Every degree of freedom as part of something that has coordinates: an axis, a deformation, or a joint or the orientation of a
    /// node with the first of its three.
    pub(super) fn coordinates_of_dofs(&self, mechanism: &Mechanism) -> Vec<Coordinates> {
        let mut axis_of = vec![None; mechanism.dof_count()];
        for axis in (0..self.axes.len()).map(AxisId) {
            if let Some(dof) = self.axis_dof_in(mechanism, axis) {
                axis_of[dof] = Some(axis);
            }
        }
        let mut ball_at = vec![None; mechanism.dof_count()];
        for (joint, ball) in self.balls.iter().enumerate() {
            if let Some(&dof) = ball.dofs(mechanism).first() {
                ball_at[dof] = Some(JointId(joint));
            }
        }
        let mut found = Vec::new();
        let mut dof = 0;
        while dof < mechanism.dof_count() {
            let part = match (axis_of[dof], ball_at[dof]) {
                (Some(AxisId(axis)), _) => {
                    Coordinates::Axis(AxisId(axis), self.axes[axis].name.clone())
                }
                (None, Some(joint)) => self.joint_coordinates(joint),
                (None, None) => elastic_coordinates(mechanism, dof),
            };
            dof += part.deviations().len();
            found.push(part);
        }
        found
    }

    /// Name, unit and kind of every entry of a state in the degrees of freedom of a mechanism.
    pub(super) fn state_layout(&self, mechanism: &Mechanism) -> Vec<Coordinate> {
        let parts = self.coordinates_of_dofs(mechanism);
        let work = |name: &str| Coordinate::new(name, "J", CoordinateKind::Joint);
        let positions = parts.iter().flat_map(Coordinates::positions);
        let rates = parts.iter().flat_map(Coordinates::rates);
        let works = [work("energy.work"), work("energy.dissipated")];
        positions.chain(rates).chain(works).collect()
    }

    /// Coordinates of a spherical or free joint.
    pub(super) fn joint_coordinates(&self, JointId(joint): JointId) -> Coordinates {
        let ball = &self.balls[joint];
        Coordinates::Joint {
            joint: JointId(joint),
            name: ball.joint.clone(),
            translates: ball.translates,
        }
    }

    /// Positions that stand for the degrees of freedom one by one; orientations and joints that turn in any way count from where
    /// they are.
    pub(super) fn chart_position(&self, mechanism: &Mechanism, position: &[f64]) -> Vec<f64> {
        let single = |dof: usize| {
            let at = mechanism.dof_positions(dof);
            if at.len() == 1 {
                position[at.start]
            } else {
                0.0
            }
        };
        let mut chart: Vec<f64> = (0..mechanism.dof_count()).map(single).collect();
        for dof in self.balls.iter().flat_map(|ball| ball.dofs(mechanism)) {
            chart[dof] = 0.0;
        }
        chart
    }

    /// Deviation of one position from another in the degrees of freedom, of orientations as rotation vectors: in the axes of the ground,
    /// of joints in those of their child.
    pub(super) fn deviation(
        &self,
        mechanism: &Mechanism,
        position: &[f64],
        from: &[f64],
    ) -> Vec<f64> {
        let less = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let [to, before] = [position, from].map(|of| self.chart_position(mechanism, of));
        let mut deviation: Vec<f64> = less(to, before);
        let quaternion = |of: &[f64], at: usize| Quaternion(std::array::from_fn(|i| of[at + i]));
        let mut dof = 0;
        while dof < deviation.len() {
            let at = mechanism.dof_positions(dof);
            if at.len() == 1 {
                dof += 1;
                continue;
            }
            let [turned, before] = [position, from].map(|of| quaternion(of, at.start).matrix());
            let turn = rotation_vector_of(&(turned * before.transpose()));
            deviation[dof..dof + 3].copy_from_slice(&turn.0);
            dof += 3;
        }
        for ball in &self.balls {
            let dofs = ball.dofs(mechanism);
            let Some(&dof) = dofs.first() else { continue };
            let at = mechanism.dof_positions(dof).start;
            let before = quaternion(from, at);
            let turned = quaternion(position, at).matrix();
            let turn = rotation_vector_of(&(before.matrix().transpose() * turned));
            deviation[dof..dof + 3].copy_from_slice(&turn.0);
            if ball.translates {
                let slid = Vector(std::array::from_fn(|i| {
                    position[at - 3 + i] - from[at - 3 + i]
                }));
                // along the axes half-way through the turn, as a free joint is displaced
                let half = before.rotated(turn.scale(0.5)).matrix();
                deviation[dof + 3..dof + 6].copy_from_slice(&half.transpose_mul(slid).0);
            }
        }
        deviation
    }

    /// $`W`$ of spherical and free joints for velocities, or its rate for their rates.
    pub(super) fn quasi_rates(&self, mechanism: &Mechanism, velocity: &[f64]) -> DMatrix<f64> {
        let three = |at: usize| Vector(std::array::from_fn(|i| velocity[at + i]));
        let joints = self.balls.iter().filter_map(|ball| {
            let &first = ball.dofs(mechanism).first()?;
            Some(TurningJoint {
                first,
                angular: three(first),
                linear: ball.translates.then(|| three(first + 3)),
            })
        });
        quasi_rates(mechanism.dof_count(), joints)
    }

    /// Deviation of the velocities of a motion: of quasi-velocities $`\delta v = \dot\delta + W\delta`$.
    pub(super) fn deviated_rates(
        &self,
        mechanism: &Mechanism,
        velocity: &[f64],
        deviation: &Deviation<'_>,
    ) -> Vec<f64> {
        let turned =
            self.quasi_rates(mechanism, velocity) * DVector::from_column_slice(deviation.position);
        let rates = deviation.rate.iter().zip(turned.iter());
        rates.map(|(rate, turned)| rate + turned).collect()
    }

    /// Whether nothing outside acts: no weight, no load, no element on a support.
    fn conserves_momentum(&self) -> bool {
        let grounded = |JointId(joint): JointId| {
            let parent = self.balls[joint].parent.point;
            self.mechanism.is_supported(parent)
        };
        let outside = |target: &LoadTarget| match target {
            LoadTarget::Axis(_) => false,
            LoadTarget::Marker(..) => true,
            LoadTarget::Component(joint, _) => grounded(*joint),
        };
        let resisted = |resistance: &JointResistance| match resistance {
            JointResistance::Axis(..) => false,
            JointResistance::Joint { joint, .. } => grounded(*joint),
        };
        !self.mechanism.has_supports_or_weight()
            && !self.actions.loads.iter().any(|load| outside(&load.target))
            && !self.actions.resistances.iter().any(resisted)
    }
}

impl Dynamics for NodalEquations<'_> {
    fn state_layout(&self) -> Vec<Coordinate> {
        self.nodal.state_layout(self.chart.mechanism)
    }

    fn commands_mut(&mut self) -> &mut dyn Commanded {
        self.dynamics.excitation_mut().commands_mut()
    }

    fn evaluate(&mut self, time: f64, positions: &[f64], velocities: &[f64]) -> Power {
        self.evaluate_state(time, positions, velocities)
            .unwrap_or_else(|error| {
                self.error = Some(error);
                Power {
                    input: f64::NAN,
                    dissipated: f64::NAN,
                }
            })
    }

    fn first_tick(&self) -> f64 {
        self.nodal.start_s
    }

    fn energy_and_momentum(&mut self) -> EnergyAndMomentum {
        let (nodal, equations) = (self.nodal, self.dynamics.equations());
        let mut energy = equations.energy();
        let [linear, angular] = equations.momentum();
        let nodes = &mut equations.view(&mut self.unused);
        (nodal.actions).add_spring_energy(&NodalView { nodal, nodes }, &mut energy.strain);
        EnergyAndMomentum {
            kinetic: energy.kinetic,
            strain: energy.strain,
            gravity: energy.gravity,
            momentum: Force::new(angular, linear),
        }
    }

    fn limited(&mut self, quantity: LimitedQuantity) -> f64 {
        let (nodal, drive_efforts) = (self.nodal, &self.drive_efforts);
        let driving = |AxisId(axis)| {
            let axis: &NodalAxis = &nodal.axes[axis];
            let drive = (nodal.mechanism).deformation_drive(axis.element, axis.deformation)?;
            Some(drive_efforts[drive])
        };
        let nodes = &mut self.dynamics.equations().view(&mut self.unused);
        let efforts = self.dynamics.excitation().commands().efforts();
        (nodal.actions).limited(quantity, efforts, &NodalView { nodal, nodes }, driving)
    }

    fn conserves_momentum(&self) -> bool {
        self.nodal.conserves_momentum()
    }

    fn recorded_state(
        &mut self,
        time_s: f64,
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<State, StateError> {
        let mut replay = Replay::new(self.nodal).map_err(|error| StateError::Unplaced {
            reason: error.to_string(),
        })?;
        replay.state(time_s, value)
    }

    fn change_chart(&mut self, time: f64, state: &[f64], chart: &[usize]) {
        if let Err(error) = self.follow_into(time, state, chart) {
            self.error = Some(error);
        }
    }

    fn enter_piece(&mut self, time: f64, state: &[f64]) {
        let (position, velocity) = self.motion_of(state);
        self.enter_contacts(time, position, velocity);
    }

    fn observe(&mut self) {
        self.leave_contacts();
    }

    fn memory(&self) -> Memory {
        let mut memory = self.dynamics.equations().memory();
        self.chart.remember(self.nodal, &mut memory);
        self.dynamics.excitation().commands().remember(&mut memory);
        memory
    }

    fn recall(&mut self, memory: &Memory) -> Result<(), PlaceError> {
        if memory.is_empty() {
            return Ok(());
        }
        let unplaced = |error: RecallError| PlaceError {
            reason: error.to_string(),
            part: "the mechanism",
        };
        (self.dynamics.excitation_mut().commands_mut()).recall(memory)?;
        let chart = (self.nodal.remembered_chart(memory)).map_err(unplaced)?;
        if chart.dependent == self.chart.dependent {
            let recalled = self.dynamics.equations_mut().recall(memory);
            recalled.map_err(unplaced)?;
        } else {
            let (chart, equations) = self.nodal.recalled(memory)?;
            self.dynamics.set_equations(equations);
            self.chart = chart;
        }
        self.watch = Watch::of(self.dynamics.equations());
        Ok(())
    }

    fn finish(&self, audit: &mut Audit) {
        if self.nodal.closures.is_empty() {
            return;
        }
        let mechanism = &self.nodal.mechanism;
        let all = self
            .nodal
            .held_closed()
            .flat_map(|(element, deformations)| {
                deformations.iter().map(move |&index| (element, index))
            });
        let redundant =
            all.filter(|&(element, index)| mechanism.role(element, index) == Role::Free);
        let [position, velocity] = self.watch.violation;
        audit.closures = Some(ClosureAudit {
            max_position_violation: position,
            max_velocity_violation: velocity,
            redundant: redundant
                .map(|(element, index)| mechanism.deformation_name(element, index))
                .collect(),
            repartitions: self.repartitions.clone(),
        });
    }

    fn failure(&self, result: &Result<Outcome, IntegrateError>) -> Option<RunError> {
        let stopped_at = result.as_ref().ok().and_then(|outcome| outcome.stopped_at);
        if let Some(singularity) = self.singularity(stopped_at) {
            return Some(singularity);
        }
        let time_s = result.as_ref().err()?.time();
        match self.dynamics.excitation().commands().trouble().cloned() {
            Some(source) => Some(RunError::NominalMotion { source, time_s }),
            None => Some(unplaced(self.error.as_ref()?, time_s)),
        }
    }
}

/// A degree of freedom that is no axis and of no joint, or the orientation whose first one it is.
pub(super) fn elastic_coordinates(mechanism: &Mechanism, dof: usize) -> Coordinates {
    let at = ElasticId(dof);
    match mechanism.dof_node(dof) {
        Some((node, _)) if mechanism.dof_positions(dof).len() > 1 => Coordinates::Orientation {
            at,
            name: mechanism.node_name(node).to_owned(),
            turns: true,
        },
        _ => {
            let unit = mechanism.dof_unit(dof);
            Coordinates::Elastic {
                at,
                name: mechanism.dof_name(dof),
                unit,
                rate_unit: match unit {
                    "m" => "m/s",
                    "rad" => "rad/s",
                    _ => "1/s",
                },
            }
        }
    }
}

/// What a run says of a mechanism of nodes that cannot be placed or moved.
pub(crate) fn unplaced(source: &NodalError, time_s: f64) -> RunError {
    match source {
        NodalError::NoEquilibrium(source) => RunError::NoEquilibrium {
            source: source.clone(),
            time_s,
        },
        source => RunError::Unplaced {
            source: PlaceError {
                reason: source.to_string(),
                part: "the mechanism",
            },
            time_s,
        },
    }
}
