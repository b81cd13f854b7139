//! What a run reads of a mesh: channels, limits, books.

use lissom_core::{
    AxisName, Dynamics, EnergyAndMomentum, External, Kind, Limit, LimitedQuantity, PlaceError,
    Power, RunError, Signal, Stage, State, StateError, marker_signals,
};
use lissom_nodal::{Equations, NodalError, NodeId, NodeKind};
use lissom_numerics::integrate::{IntegrateError, Outcome};
use lissom_numerics::{Coordinate, CoordinateKind, Memory};
use lissom_spatial::{Force, Quaternion, rotation_vector_of};

use super::acting::child_axes;
use super::joints::quaternion;
use super::run::MeshEquations;
use super::{Mesh, MeshError, MeshedJoint, MeshedMarker, Replay, Target};

const AXES: [&str; 3] = ["x", "y", "z"];
const PARTS: [&str; 4] = ["w", "x", "y", "z"];

impl Mesh {
    /// Degrees of freedom that no joint and no recorded node stands for: deformations of elements.
    pub fn elastic_dofs(&self) -> Vec<usize> {
        let mechanism = &self.mechanism;
        let nodes = self.nodes.iter();
        let of_nodes = nodes.flat_map(|&node| (0..3).map(move |i| (node, i)));
        let of_nodes = of_nodes.filter_map(|(node, i)| mechanism.coordinate_dof(node, i));
        let of_joints = self.joints.iter().flat_map(|joint| self.dofs(joint));
        let known: Vec<usize> = of_joints.chain(of_nodes).collect();
        (0..mechanism.dof_count())
            .filter(|dof| !known.contains(dof))
            .collect()
    }

    /// Name and unit of the channels of the recorded nodes.
    fn node_channels(&self) -> Vec<(String, String)> {
        let mut channels = Vec::new();
        for &node in &self.nodes {
            let name = self.mechanism.node_name(node);
            let parts: [(&str, &[&str], &str); 2] = match self.mechanism.node_kind(node) {
                NodeKind::PlanarPoint => [
                    ("position", &AXES[..2], "m"),
                    ("velocity", &AXES[..2], "m/s"),
                ],
                NodeKind::Point => [("position", &AXES, "m"), ("velocity", &AXES, "m/s")],
                NodeKind::PlanarAngle => [("", &["angle"], "rad"), ("", &["angle.rate"], "rad/s")],
                NodeKind::Orientation => [
                    ("quaternion", &PARTS, "1"),
                    ("angular_velocity", &AXES, "rad/s"),
                ],
            };
            for (what, axes, unit) in parts {
                let dot = if what.is_empty() { "" } else { "." };
                let of = |axis| (format!("{name}.{what}{dot}{axis}"), unit.to_owned());
                channels.extend(axes.iter().map(of));
            }
        }
        channels
    }

    /// Appends the values of these channels of one node.
    fn read_node(&self, equations: &Equations<'_>, node: NodeId, row: &mut Vec<f64>) {
        let state = equations.node(node);
        match self.mechanism.node_kind(node) {
            NodeKind::PlanarPoint => {
                row.extend_from_slice(&state.position.0[..2]);
                row.extend_from_slice(&state.velocity.0[..2]);
            }
            NodeKind::Point => {
                row.extend_from_slice(&state.position.0);
                row.extend_from_slice(&state.velocity.0);
            }
            NodeKind::PlanarAngle => {
                row.extend([equations.angle(node), state.velocity[2]]);
            }
            NodeKind::Orientation => {
                row.extend_from_slice(&quaternion(&state.rotation));
                row.extend_from_slice(&state.velocity.0);
            }
        }
    }

    /// Degrees of freedom of a joint.
    fn dofs(&self, joint: &MeshedJoint) -> Vec<usize> {
        let mechanism = &self.mechanism;
        match joint {
            MeshedJoint::Axis {
                element,
                deformation,
                ..
            } => mechanism
                .deformation_dof(*element, *deformation)
                .into_iter()
                .collect(),
            MeshedJoint::Turning {
                child, translates, ..
            } => {
                let turns = (0..3).filter_map(|i| mechanism.coordinate_dof(child.orientation, i));
                let slides = (0..3).filter_map(|i| mechanism.coordinate_dof(child.point, i));
                turns.chain(slides.filter(|_| *translates)).collect()
            }
        }
    }

    /// What the axis is called that a degree of freedom is, if it is one.
    fn axis_name(&self, dof: usize) -> Option<&AxisName> {
        self.joints.iter().find_map(|joint| match joint {
            MeshedJoint::Axis {
                name,
                element,
                deformation,
            } if self.mechanism.deformation_dof(*element, *deformation) == Some(dof) => Some(name),
            _ => None,
        })
    }

    /// Name and unit of the positions of a degree of freedom, and of its rate.
    fn dof_channels(&self, dof: usize) -> (Vec<(String, String)>, (String, String)) {
        let mechanism = &self.mechanism;
        if let Some(axis) = self.axis_name(dof) {
            let ([unit, rate_unit, _], name) = (axis.units(), axis.coordinate());
            let rate = (format!("{name}.rate"), rate_unit.to_owned());
            return (vec![(name, unit.to_owned())], rate);
        }
        let (name, unit) = (mechanism.dof_name(dof), mechanism.dof_unit(dof));
        if mechanism.dof_positions(dof).len() == 1 {
            let position = vec![(name.clone(), unit.to_owned())];
            return (position, (format!("{name}.rate"), format!("{unit}/s")));
        }
        // the quaternion goes with the first of its three degrees of freedom
        let node = name.rsplit_once('.').map_or("", |(node, _)| node);
        let positions = if name.ends_with("turn_x") {
            let part = |part| (format!("{node}.quaternion.{part}"), "1".to_owned());
            PARTS.map(part).to_vec()
        } else {
            Vec::new()
        };
        (positions, (format!("{name}.rate"), "rad/s".to_owned()))
    }

    /// Positions that stand for the degrees of freedom one by one; orientations count from where they are.
    pub(super) fn chart_position(&self, position: &[f64]) -> Vec<f64> {
        let single = |dof: usize| {
            let at = self.mechanism.dof_positions(dof);
            if at.len() == 1 {
                position[at.start]
            } else {
                0.0
            }
        };
        (0..self.mechanism.dof_count()).map(single).collect()
    }

    /// Deviation of one position from another in the degrees of freedom, of orientations as rotation vectors.
    pub(crate) fn deviation(&self, position: &[f64], from: &[f64]) -> Vec<f64> {
        let less = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let mut deviation: Vec<f64> =
            less(self.chart_position(position), self.chart_position(from));
        let mut dof = 0;
        while dof < deviation.len() {
            let at = self.mechanism.dof_positions(dof);
            if at.len() == 1 {
                dof += 1;
                continue;
            }
            let rotation = |of: &[f64]| {
                let [w, x, y, z] = std::array::from_fn(|i| of[at.start + i]);
                Quaternion([w, x, y, z]).matrix()
            };
            let turned = rotation(position) * rotation(from).transpose();
            deviation[dof..dof + 3].copy_from_slice(&rotation_vector_of(&turned).0);
            dof += 3;
        }
        deviation
    }

    /// Coordinates of the joints, then the other degrees of freedom: positions and rates apart.
    fn coordinate_channels(&self) -> [Vec<(String, String)>; 2] {
        let mut positions = Vec::new();
        let mut rates = Vec::new();
        for joint in &self.joints {
            match joint {
                MeshedJoint::Axis { name, .. } => {
                    let [unit, rate_unit, _] = name.units();
                    let coordinate = name.coordinate();
                    rates.push((format!("{coordinate}.rate"), rate_unit.to_owned()));
                    positions.push((coordinate, unit.to_owned()));
                }
                MeshedJoint::Turning {
                    joint, translates, ..
                } => {
                    if *translates {
                        let of = |axis| (format!("{joint}.position.{axis}"), "m".to_owned());
                        positions.extend(AXES.map(of));
                    }
                    let of = |part| (format!("{joint}.quaternion.{part}"), "1".to_owned());
                    positions.extend(PARTS.map(of));
                    let of = |axis| {
                        let name = format!("{joint}.angular_velocity.{axis}");
                        (name, "rad/s".to_owned())
                    };
                    rates.extend(AXES.map(of));
                    if *translates {
                        let of = |axis| (format!("{joint}.velocity.{axis}"), "m/s".to_owned());
                        rates.extend(AXES.map(of));
                    }
                }
            }
        }
        for dof in self.elastic_dofs() {
            let (position, rate) = self.dof_channels(dof);
            positions.extend(position);
            rates.push(rate);
        }
        [positions, rates]
    }

    /// Whether nothing outside acts: no weight, no load, no element on a support.
    fn conserves_momentum(&self) -> bool {
        let outside = |target: &Target| match target {
            Target::Axis(_) => false,
            Target::Node { .. } => true,
            Target::Component(joint, _) => {
                matches!(&self.joints[*joint], MeshedJoint::Turning { parent, .. }
                    if self.mechanism.is_supported(parent.point))
            }
        };
        !self.mechanism.has_supports_or_weight()
            && !self.loads.iter().any(|load| outside(&load.target))
    }
}

/// Position, velocity, deflection and attitude of a marker.
fn read_marker(marker: &MeshedMarker, equations: &Equations<'_>, row: &mut Vec<f64>) {
    let point = equations.node(marker.end.point);
    let axes = equations.node(marker.root.orientation).rotation * marker.attitude;
    let arm = point.position - equations.node(marker.root.point).position;
    let deflection = axes.transpose_mul(arm) - marker.offset;
    row.extend_from_slice(&point.position.0);
    row.extend_from_slice(&point.velocity.0);
    row.extend_from_slice(&deflection.0);
    let attitude = equations.node(marker.end.orientation).rotation * marker.attitude;
    row.extend_from_slice(&quaternion(&attitude));
}

impl Dynamics for MeshEquations<'_> {
    fn state_layout(&self) -> Vec<Coordinate> {
        let mechanism = &self.mesh.mechanism;
        let dofs = 0..mechanism.dof_count();
        let mut positions = Vec::new();
        let mut rates = Vec::new();
        for dof in dofs {
            let (position, rate) = self.mesh.dof_channels(dof);
            let kind = if position.len() == 1 {
                CoordinateKind::Elastic
            } else {
                CoordinateKind::Quaternion
            };
            let unit = mechanism.dof_unit(dof);
            positions
                .extend((position.into_iter()).map(|(name, _)| Coordinate::new(name, unit, kind)));
            rates.push(Coordinate::new(rate.0, "1/s", CoordinateKind::Elastic));
        }
        let work = |name: &str| Coordinate::new(name, "J", CoordinateKind::Joint);
        positions.extend(rates);
        positions.extend([work("energy.work"), work("energy.lost")]);
        positions
    }

    fn breakpoints(&self, start: f64, end: f64) -> Vec<f64> {
        let mut all = self.dynamics.excitation().breakpoints();
        all.retain(|&instant| instant > start && instant < end);
        all
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

    fn signals(&self) -> Vec<Signal> {
        let mesh = self.mesh;
        let [positions, rates] = mesh.coordinate_channels();
        let mut signals: Vec<Signal> = (positions.into_iter())
            .map(|(name, unit)| Signal::position(name, unit))
            .collect();
        signals.extend((rates.into_iter()).map(|(name, unit)| Signal::rate(name, unit)));
        signals.extend(self.inputs());
        let controllers = mesh.guidance.controllers.iter();
        let controlled = controllers.flat_map(|controller| &controller.axes);
        let controlled = controlled.map(|axis| &axis.channel);
        signals.extend(controlled.map(|(name, unit)| Signal::input(name.clone(), *unit)));
        let drives = mesh.drive_channels.iter();
        signals.extend(drives.map(|(name, unit)| Signal::reaction(name.clone(), *unit)));
        let nodes = mesh.node_channels().into_iter();
        signals.extend(
            nodes.map(|(name, unit)| Signal::new(name, unit, Kind::Output, Stage::Velocity)),
        );
        let markers = mesh.markers.iter();
        signals.extend(markers.flat_map(|marker| marker_signals(&marker.name)));
        signals
    }

    fn read(&mut self, row: &mut Vec<f64>) {
        let mesh = self.mesh;
        let equations = self.dynamics.equations();
        let mechanism = &mesh.mechanism;
        let relative = |node: &lissom_nodal::NodeId| equations.node(*node);
        for joint in &mesh.joints {
            match joint {
                MeshedJoint::Axis {
                    element,
                    deformation,
                    ..
                } => row.push(equations.deformation(*element, *deformation)),
                MeshedJoint::Turning {
                    parent,
                    child,
                    frame,
                    translates,
                    ..
                } => {
                    let carrier = relative(&parent.orientation).rotation * *frame;
                    if *translates {
                        let arm =
                            relative(&child.point).position - relative(&parent.point).position;
                        row.extend_from_slice(&carrier.transpose_mul(arm).0);
                    }
                    let turn =
                        carrier.transpose() * child_axes(relative(&child.orientation), frame);
                    row.extend_from_slice(&quaternion(&turn));
                }
            }
        }
        let elastic = mesh.elastic_dofs();
        for &dof in &elastic {
            let at = mechanism.dof_positions(dof);
            let values = &self.position[at];
            if values.len() == 1 {
                row.push(values[0]);
            } else if mechanism.dof_name(dof).ends_with("turn_x") {
                let length = values.iter().map(|x| x * x).sum::<f64>().sqrt();
                row.extend(values.iter().map(|x| x / length));
            }
        }
        for joint in &mesh.joints {
            match joint {
                MeshedJoint::Axis {
                    element,
                    deformation,
                    ..
                } => {
                    row.push(equations.deformation_rate(*element, *deformation));
                }
                MeshedJoint::Turning {
                    parent,
                    child,
                    frame,
                    translates,
                    ..
                } => {
                    let axes = child_axes(relative(&child.orientation), frame);
                    let spin = relative(&child.orientation).velocity
                        - relative(&parent.orientation).velocity;
                    row.extend_from_slice(&axes.transpose_mul(spin).0);
                    if *translates {
                        let rate = relative(&child.point).velocity;
                        row.extend_from_slice(&axes.transpose_mul(rate).0);
                    }
                }
            }
        }
        row.extend(elastic.iter().map(|&dof| self.velocity[dof]));
        row.extend_from_slice(self.dynamics.excitation().values());
        row.extend_from_slice(self.dynamics.excitation().controls());
        row.extend_from_slice(&self.drive_efforts);
        for &node in &mesh.nodes {
            mesh.read_node(equations, node, row);
        }
        for marker in &mesh.markers {
            read_marker(marker, equations, row);
        }
    }

    fn inputs(&self) -> Vec<Signal> {
        let loads = self.mesh.loads.iter();
        loads
            .map(|load| Signal::input(load.channel.clone(), load.unit))
            .collect()
    }

    fn set_input(&mut self, input: usize, external: Option<External>) {
        self.dynamics.excitation_mut().externals[input] = external;
    }

    fn energy_and_momentum(&mut self) -> EnergyAndMomentum {
        let equations = self.dynamics.equations();
        let energy = equations.energy();
        let [linear, angular] = equations.momentum();
        EnergyAndMomentum {
            kinetic: energy.kinetic,
            strain: energy.strain,
            gravity: energy.gravity,
            momentum: Force::new(angular, linear),
        }
    }

    fn limits(&self) -> &[Limit] {
        &self.mesh.limits
    }

    fn limited(&self, quantity: LimitedQuantity) -> f64 {
        let equations = self.dynamics.equations();
        let (LimitedQuantity::Position(joint)
        | LimitedQuantity::QuaternionAngle(joint)
        | LimitedQuantity::Rate(joint)
        | LimitedQuantity::Effort(joint)) = quantity;
        let MeshedJoint::Axis {
            element,
            deformation,
            ..
        } = &self.mesh.joints[joint]
        else {
            return f64::NAN;
        };
        match quantity {
            LimitedQuantity::Position(_) | LimitedQuantity::QuaternionAngle(_) => {
                equations.deformation(*element, *deformation)
            }
            LimitedQuantity::Rate(_) => equations.deformation_rate(*element, *deformation),
            LimitedQuantity::Effort(_) => {
                if let Some(drive) = self
                    .mesh
                    .mechanism
                    .deformation_drive(*element, *deformation)
                {
                    return self.drive_efforts[drive];
                }
                let acts = self.dynamics.excitation();
                let inputs = (self.mesh.loads.iter().zip(acts.values()))
                    .filter(|(load, _)| matches!(load.target, Target::Axis(at) if at == joint));
                let controllers = self.mesh.guidance.controllers.iter();
                let axes = controllers.flat_map(|controller| &controller.axes);
                let controls = (axes.zip(acts.controls())).filter(|(axis, _)| axis.joint == joint);
                let inputs = inputs.map(|(_, value)| value);
                inputs.chain(controls.map(|(_, value)| value)).sum()
            }
        }
    }

    fn conserves_momentum(&self) -> bool {
        self.mesh.conserves_momentum()
    }

    fn recorded_state(
        &mut self,
        time_s: f64,
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<State, StateError> {
        let mut replay = Replay::new(self.mesh).map_err(|error| StateError::Unplaced {
            reason: error.to_string(),
        })?;
        replay.state(time_s, value)
    }

    fn memory(&self) -> Memory {
        self.dynamics.equations().memory()
    }

    fn recall(&mut self, memory: &Memory) -> Result<(), PlaceError> {
        if memory.is_empty() {
            return Ok(());
        }
        let recalled = self.dynamics.equations_mut().recall(memory);
        recalled.map_err(|error| PlaceError {
            reason: error.to_string(),
            part: "the mechanism",
        })
    }

    fn failure(&self, result: &Result<Outcome, IntegrateError>) -> Option<RunError> {
        let time_s = result.as_ref().err()?.time();
        match self.dynamics.excitation().trouble().cloned() {
            Some(MeshError::NominalMotion(source)) => {
                Some(RunError::NominalMotion { source, time_s })
            }
            Some(MeshError::Nodal(source)) => Some(unplaced(&source, time_s)),
            _ => {
                let source = self.error.as_ref()?;
                Some(unplaced(source, time_s))
            }
        }
    }
}

/// What a run says of a mechanism of nodes that cannot be placed or moved.
pub(crate) fn unplaced(source: &NodalError, time_s: f64) -> RunError {
    match source {
        NodalError::Unsettled(source) => RunError::Unsettled {
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
