//! What signals read of a nodal model.

use lissom_core::{
    Actions, AxisId, ClosurePart, Commanded, Coordinates, ElasticId, GaugeId, JointId, JointPart,
    JointReading, LoadTarget, MarkerId, MarkerMotion, NodePart, NodeSignals, Parts, Readout,
    View as _,
};
use lissom_nodal::{NodeId, NodeKind};
use lissom_spatial::{Force, Transform, Vector};

use super::joints::quaternion;
use super::outputs::elastic_coordinates;
use super::run::NodalEquations;
use super::view::NodalView;
use super::{NodalAxis, NodalClosure, NodalJoint, NodalModel, Side};

impl NodalModel {
    /// What can be named.
    pub(super) fn parts(&self) -> Parts {
        let mut coordinates = Vec::new();
        let mut motors = Vec::new();
        for joint in &self.joints {
            match *joint {
                NodalJoint::Axis(AxisId(axis)) => {
                    let name = self.axes[axis].name.clone();
                    if name.is_motor {
                        motors.push((AxisId(axis), name));
                    } else {
                        coordinates.push(Coordinates::Axis(AxisId(axis), name));
                    }
                }
                NodalJoint::Ball(joint) => coordinates.push(self.joint_coordinates(joint)),
            }
        }
        let first_of_its_node = |&dof: &usize| {
            let positions = self.mechanism.dof_positions(dof).len();
            let component = self.mechanism.dof_node(dof).map_or(0, |(_, i)| i);
            positions == 1 || component == 0
        };
        let elastic = self.elastic_dofs().into_iter().filter(first_of_its_node);
        coordinates.extend(elastic.map(|dof| elastic_coordinates(&self.mechanism, dof)));
        let node = |&node: &NodeId| NodePart {
            name: self.mechanism.node_name(node).to_owned(),
            kind: match self.mechanism.node_kind(node) {
                NodeKind::PlanarPoint => NodeSignals::PlanarPoint,
                NodeKind::Point => NodeSignals::Point,
                NodeKind::PlanarAngle => NodeSignals::PlanarAngle,
                NodeKind::Orientation => NodeSignals::Orientation,
            },
        };
        Parts {
            coordinates,
            motors,
            drives: self.drive_channels.clone(),
            parents: self.carrying.iter().map(|joint| joint.parent).collect(),
            joints: (self.carrying.iter().enumerate())
                .map(|(body, joint)| JointPart {
                    name: joint.name.clone(),
                    carries: body,
                    reversed: joint.reversed,
                })
                .collect(),
            closures: (self.closures.iter())
                .map(|closure| ClosurePart {
                    name: closure.name.clone(),
                    holds: closure.holding.map(|holding| holding.is_some()),
                    bodies: [closure.from, closure.to.body],
                })
                .collect(),
            beams: self.loaded.iter().map(|beam| beam.part.clone()).collect(),
            nodes: self.nodes.iter().map(node).collect(),
            markers: (self.markers.iter())
                .map(|marker| marker.name.clone())
                .collect(),
            nominal: (self.actions.on_trajectory().into_iter())
                .map(|axis| (axis, self.axes[axis.0].name.clone()))
                .collect(),
            tracked: self.path.as_ref().map(|path| path.marker),
        }
    }
}

impl Readout for NodalEquations<'_> {
    fn parts(&self) -> Parts {
        self.nodal.parts()
    }

    fn actions(&self) -> &Actions {
        &self.nodal.actions
    }

    fn axis(&self, AxisId(axis): AxisId) -> [f64; 2] {
        let axis: &NodalAxis = &self.nodal.axes[axis];
        let equations = self.dynamics.equations();
        let (element, index) = (axis.element, axis.deformation);
        [
            equations.deformation(element, index),
            equations.deformation_rate(element, index),
        ]
    }

    fn joint(&self, JointId(joint): JointId) -> JointReading {
        let ball = &self.nodal.balls[joint];
        let equations = self.dynamics.equations();
        let motion = ball.motion(|node| equations.node(node));
        JointReading {
            position: motion.position.0,
            quaternion: quaternion(&motion.rotation),
            angular_velocity: motion.angular_velocity.0,
            velocity: motion.velocity.0,
        }
    }

    fn elastic(&self, ElasticId(dof): ElasticId) -> [f64; 2] {
        // where axes have exchanged their places, deformations stand elsewhere
        let mechanism = self.chart.mechanism;
        let deformation = self.nodal.mechanism.dof_deformation(dof);
        let there = deformation.and_then(|(e, index)| mechanism.deformation_dof(e, index));
        let dof = there.unwrap_or(dof);
        let at = mechanism.dof_positions(dof).start;
        [self.position[at], self.velocity[dof]]
    }

    fn orientation(&self, ElasticId(dof): ElasticId) -> [f64; 4] {
        let values = &self.position[self.nodal.mechanism.dof_positions(dof)];
        let length = values.iter().map(|x| x * x).sum::<f64>().sqrt();
        std::array::from_fn(|i| values[i] / length)
    }

    fn orientation_rate(&self, ElasticId(dof): ElasticId) -> [f64; 3] {
        std::array::from_fn(|i| self.velocity[dof + i])
    }

    fn commands(&self) -> &dyn Commanded {
        self.dynamics.excitation().commands()
    }

    fn driving_effort(&self, drive: usize) -> f64 {
        self.drive_efforts[drive]
    }

    fn read_node(&self, node: usize, row: &mut Vec<f64>) {
        let (equations, node) = (self.dynamics.equations(), self.nodal.nodes[node]);
        let state = equations.node(node);
        match self.nodal.mechanism.node_kind(node) {
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

    fn marker(&mut self, marker: MarkerId) -> MarkerMotion<f64> {
        let (nodal, equations) = (self.nodal, self.dynamics.equations());
        let nodes = &mut equations.view(&mut self.unused);
        NodalView { nodal, nodes }.marker(marker)
    }

    fn strain(&mut self, gauge: GaugeId) -> f64 {
        let (nodal, equations) = (self.nodal, self.dynamics.equations());
        let nodes = &mut equations.view(&mut self.unused);
        NodalView { nodal, nodes }.strain(gauge)
    }

    fn specific_force(&mut self, marker: MarkerId) -> Option<Vector<f64>> {
        let (nodal, equations) = (self.nodal, self.dynamics.equations());
        let nodes = &mut equations.accelerated_view(&mut self.unused);
        NodalView { nodal, nodes }.specific_force(marker)
    }

    fn find_reactions(&mut self) {
        self.dynamics
            .update_stresses(&self.acceleration, &mut self.residual);
        self.needed.fill(Force::zero());
        let equations = self.dynamics.equations();
        equations.add_inertial_wrenches(&mut self.needed);
        let (nodal, nodes) = (self.nodal, &mut equations.view(&mut self.unused));
        let mut view = NodalView { nodal, nodes };
        let efforts = self.dynamics.excitation().commands().efforts();
        for (load, &value) in nodal.actions.loads.iter().zip(&efforts.inputs) {
            let LoadTarget::Marker(marker, toward) = &load.target else {
                continue;
            };
            if let Some(body) = nodal.stations[marker.0].body {
                let carrier = view.marker(toward.carried_by.unwrap_or(*marker));
                let wrench = load.wrench(toward, value, &carrier.pose.rotation);
                let point = view.marker(*marker).pose.translation;
                let about_origin = point.cross(wrench.force);
                self.needed[body] += Force::new(-wrench.moment - about_origin, -wrench.force);
            }
        }
    }

    fn needed_wrench(&self, body: usize) -> Force<f64> {
        self.needed[body]
    }

    fn needed_beyond(&self, beam: usize, section: usize) -> Force<f64> {
        self.nodal.loaded[beam].needed_beyond(section, self.dynamics.equations())
    }

    fn section_frame(&mut self, beam: usize, section: usize) -> Transform<f64> {
        self.nodal.loaded[beam].frame(section, self.dynamics.equations())
    }

    fn joint_frame(&mut self, joint: usize) -> Transform<f64> {
        self.frame_of(&self.nodal.carrying[joint].side)
    }

    fn closure_frame(&mut self, closure: usize) -> Transform<f64> {
        self.frame_of(&self.nodal.closures[closure].to)
    }

    fn closure_force(&self, closure: usize) -> Force<f64> {
        let NodalClosure { to, holding, .. } = &self.nodal.closures[closure];
        let equations = self.dynamics.equations();
        let [mut moment, mut force] = [Vector([0.0; 3]); 2];
        for (element, _) in holding.iter().flatten() {
            force += equations.element_force(*element, to.end.point);
            moment += equations.element_force(*element, to.end.orientation);
        }
        let axes = self.frame_of(to).rotation;
        Force::new(axes.transpose_mul(moment), axes.transpose_mul(force))
    }

    fn closure_violation(&self, closure: usize) -> [f64; 2] {
        let equations = self.dynamics.equations();
        self.nodal.closures[closure].holding.map(|holding| {
            let Some((element, deformations)) = holding else {
                return 0.0;
            };
            let sizes = deformations
                .iter()
                .map(|&index| equations.deformation(element, index).abs());
            sizes.fold(0.0, f64::max)
        })
    }
}

impl NodalEquations<'_> {
    /// Pose of a frame in the evaluated state.
    fn frame_of(&self, side: &Side) -> Transform<f64> {
        let equations = self.dynamics.equations();
        Transform::new(
            equations.node(side.end.orientation).rotation * side.frame,
            equations.node(side.end.point).position,
        )
    }
}
