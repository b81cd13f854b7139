//! What a run reads of a mesh: channels, limits, books.

use lissom_core::{
    AxisId, AxisName, Controller, Dynamics, EnergyAndMomentum, External, JointId, JointResistance,
    Kind, Limit, LimitedQuantity, Load, LoadTarget, MarkerId, PlaceError, Power, RunError, Signal,
    Stage, State, StateError, View as _, marker_signals,
};
use lissom_nodal::{Equations, NodalError, NodeId, NodeKind};
use lissom_numerics::integrate::{IntegrateError, Outcome};
use lissom_numerics::{Coordinate, CoordinateKind, Memory, RecallError};
use lissom_spatial::{Force, Quaternion, rotation_vector_of};

use super::joints::quaternion;
use super::run::MeshEquations;
use super::view::NodalView;
use super::{Mesh, MeshedAxis, MeshedBall, MeshedJoint, Replay};

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
            MeshedJoint::Axis(axis) => self.axis_dof(*axis).into_iter().collect(),
            MeshedJoint::Ball(JointId(joint)) => {
                let MeshedBall {
                    child, translates, ..
                } = &self.balls[*joint];
                let turns = (0..3).filter_map(|i| mechanism.coordinate_dof(child.orientation, i));
                let slides = (0..3).filter_map(|i| mechanism.coordinate_dof(child.point, i));
                turns.chain(slides.filter(|_| *translates)).collect()
            }
        }
    }

    /// What the axis is called that a degree of freedom is, if it is one.
    fn axis_name(&self, dof: usize) -> Option<&AxisName> {
        let at = (0..self.axes.len()).find(|&axis| self.axis_dof(AxisId(axis)) == Some(dof))?;
        Some(&self.axes[at].name)
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
                MeshedJoint::Axis(AxisId(axis)) => {
                    let name = &self.axes[*axis].name;
                    let [unit, rate_unit, _] = name.units();
                    let coordinate = name.coordinate();
                    rates.push((format!("{coordinate}.rate"), rate_unit.to_owned()));
                    positions.push((coordinate, unit.to_owned()));
                }
                MeshedJoint::Ball(JointId(joint)) => {
                    let MeshedBall {
                        joint, translates, ..
                    } = &self.balls[*joint];
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
        let controllers = mesh.actions.controllers.iter();
        signals.extend(controllers.flat_map(Controller::signals));
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
        let mechanism = &mesh.mechanism;
        let elastic = mesh.elastic_dofs();
        let equations = self.dynamics.equations();
        let nodes = &mut equations.view(&mut self.unused);
        let mut view = NodalView { mesh, nodes };
        for joint in &mesh.joints {
            match joint {
                MeshedJoint::Axis(axis) => row.push(view.axis(*axis)[0]),
                MeshedJoint::Ball(joint) => {
                    let motion = view.joint(*joint);
                    if mesh.balls[joint.0].translates {
                        row.extend_from_slice(&motion.position.0);
                    }
                    row.extend_from_slice(&quaternion(&motion.rotation));
                }
            }
        }
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
                MeshedJoint::Axis(axis) => row.push(view.axis(*axis)[1]),
                MeshedJoint::Ball(joint) => {
                    let motion = view.joint(*joint);
                    row.extend_from_slice(&motion.angular_velocity.0);
                    if mesh.balls[joint.0].translates {
                        row.extend_from_slice(&motion.velocity.0);
                    }
                }
            }
        }
        row.extend(elastic.iter().map(|&dof| self.velocity[dof]));
        let efforts = self.dynamics.excitation().efforts();
        row.extend_from_slice(&efforts.inputs);
        row.extend_from_slice(&efforts.feedback);
        row.extend_from_slice(&self.drive_efforts);
        for &node in &mesh.nodes {
            mesh.read_node(equations, node, row);
        }
        for marker in 0..mesh.markers.len() {
            let motion = view.marker(MarkerId(marker));
            row.extend_from_slice(&motion.pose.translation.0);
            row.extend_from_slice(&motion.twist.linear.0);
            row.extend_from_slice(&motion.deflection.0);
            row.extend_from_slice(&quaternion(&motion.pose.rotation));
        }
    }

    fn inputs(&self) -> Vec<Signal> {
        let loads = self.mesh.actions.loads.iter();
        loads.map(Load::signal).collect()
    }

    fn set_input(&mut self, input: usize, external: Option<External>) {
        self.dynamics.excitation_mut().set_input(input, external);
    }

    fn energy_and_momentum(&mut self) -> EnergyAndMomentum {
        let (mesh, equations) = (self.mesh, self.dynamics.equations());
        let mut energy = equations.energy();
        let [linear, angular] = equations.momentum();
        let nodes = &mut equations.view(&mut self.unused);
        (mesh.actions).add_spring_energy(&NodalView { mesh, nodes }, &mut energy.strain);
        EnergyAndMomentum {
            kinetic: energy.kinetic,
            strain: energy.strain,
            gravity: energy.gravity,
            momentum: Force::new(angular, linear),
        }
    }

    fn limits(&self) -> &[Limit] {
        &self.mesh.actions.limits
    }

    fn limited(&mut self, quantity: LimitedQuantity) -> f64 {
        let (mesh, drive_efforts) = (self.mesh, &self.drive_efforts);
        let driving = |AxisId(axis)| {
            let axis: &MeshedAxis = &mesh.axes[axis];
            let drive = (mesh.mechanism).deformation_drive(axis.element, axis.deformation)?;
            Some(drive_efforts[drive])
        };
        let nodes = &mut self.dynamics.equations().view(&mut self.unused);
        let efforts = self.dynamics.excitation().efforts();
        (mesh.actions).limited(quantity, efforts, &NodalView { mesh, nodes }, driving)
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
        let mut memory = self.dynamics.equations().memory();
        if let Some(trajectory) = self.dynamics.excitation().trajectory() {
            trajectory.remember(&mut memory);
        }
        memory
    }

    fn recall(&mut self, memory: &Memory) -> Result<(), PlaceError> {
        if memory.is_empty() {
            return Ok(());
        }
        let unplaced = |part| {
            move |error: RecallError| PlaceError {
                reason: error.to_string(),
                part,
            }
        };
        if let Some(trajectory) = self.dynamics.excitation_mut().trajectory_mut() {
            let recalled = trajectory.recall(memory);
            recalled.map_err(unplaced("the nominal trajectory"))?;
        }
        let recalled = self.dynamics.equations_mut().recall(memory);
        recalled.map_err(unplaced("the mechanism"))
    }

    fn failure(&self, result: &Result<Outcome, IntegrateError>) -> Option<RunError> {
        let time_s = result.as_ref().err()?.time();
        match self.dynamics.excitation().trouble().cloned() {
            Some(source) => Some(RunError::NominalMotion { source, time_s }),
            None => Some(unplaced(self.error.as_ref()?, time_s)),
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
