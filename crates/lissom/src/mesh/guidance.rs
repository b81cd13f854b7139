//! What keeps a mesh on its nominal motion: controllers, and a marker that is led along a path.

use crate::model::spec::{ModelSpec, MotionProfile, MotionProfileSpec, NominalMotionSpec};
use crate::model::{ControlLaw, Path};
use crate::simulate::NominalError;
use lissom_nodal::{NodeId, NodeKind};
use lissom_spatial::{Matrix, Vector};

use super::build::missing;
use super::{Foreseen, Mesh, MeshError, MeshedJoint, Target};

/// Controllers and the path of a marker.
#[derive(Clone, Debug, Default)]
pub(super) struct Guidance {
    pub(super) controllers: Vec<MeshedController>,
    pub(super) led: Option<LedMarker>,
    /// Where paths begin.
    pub(super) start_s: f64,
}

/// Feedback on axes.
#[derive(Clone, Debug)]
pub(super) struct MeshedController {
    pub(super) axes: Vec<ControlledAxis>,
    pub(super) law: ControlLaw,
}

/// An axis under feedback.
#[derive(Clone, Debug)]
pub(super) struct ControlledAxis {
    /// Channel of its torque or force, and unit.
    pub(super) channel: (String, &'static str),
    pub(super) joint: usize,
    pub(super) dof: usize,
}

/// A marker whose motion is given as if every body were rigid.
#[derive(Clone, Debug)]
pub(super) struct LedMarker {
    pub(super) point: Option<NodeId>,
    /// Where it turns with, and its attitude there at assembly.
    pub(super) orientation: Option<(NodeId, Matrix<f64>)>,
    /// Position along each axis of the ground, where it is given.
    pub(super) position: [Option<MotionProfile>; 3],
    /// Unit vector, and the angle about it.
    pub(super) rotation: Option<(Vector<f64>, MotionProfile)>,
}

impl Guidance {
    /// What a model says of its mesh.
    pub(super) fn new(spec: &ModelSpec, mesh: &Mesh) -> Result<Self, MeshError> {
        let mut controllers = Vec::new();
        for (index, controller) in spec.controller.iter().enumerate() {
            let mut axes = Vec::new();
            for (place, joint) in controller.joints.iter().enumerate() {
                let at = Path::root().key("controller").index(index);
                let at = at.key("joints").index(place);
                axes.push(controlled(mesh, &controller.name, joint, at)?);
            }
            let law = ControlLaw::of(controller).ok_or_else(|| missing(&controller.name))?;
            controllers.push(MeshedController { axes, law });
        }
        let led = (spec.nominal_motion.as_ref())
            .map(|nominal| LedMarker::new(nominal, mesh))
            .transpose()?;
        if led.is_some() {
            every_actuator_is_driven(mesh)?;
        }
        Ok(Self {
            controllers,
            led,
            start_s: spec.simulation.start_s,
        })
    }
}

fn controlled(
    mesh: &Mesh,
    controller: &str,
    joint: &str,
    at: Path,
) -> Result<ControlledAxis, MeshError> {
    let named = |found: &MeshedJoint| matches!(found, MeshedJoint::Axis { name, .. } if name.joint == joint);
    let index = mesh.joints.iter().position(named);
    let index = index.ok_or_else(|| missing(joint))?;
    let dof = mesh.axis_dof(index).ok_or_else(|| MeshError::Unknown {
        at,
        name: joint.to_owned(),
        what: "feedback of a joint that is no degree of freedom",
        remedy: "control a joint that is one",
    })?;
    let slides = matches!(&mesh.joints[index], MeshedJoint::Axis { name, .. } if name.translates);
    let (what, unit) = if slides {
        ("force", "N")
    } else {
        ("torque", "N m")
    };
    Ok(ControlledAxis {
        channel: (format!("{controller}.{joint}.{what}"), unit),
        joint: index,
        dof,
    })
}

impl LedMarker {
    fn new(spec: &NominalMotionSpec, mesh: &Mesh) -> Result<Self, MeshError> {
        let name = spec.marker.as_str();
        let mechanism = &mesh.mechanism;
        let (point, orientation) = if let Some(marker) = mesh.find_marker(name) {
            let turning = (marker.end.orientation, marker.attitude);
            (Some(marker.end.point), Some(turning))
        } else {
            let mut nodes = mesh.nodes.iter().copied();
            let node = nodes.find(|&node| mechanism.node_name(node) == name);
            let node = node.ok_or_else(|| missing(name))?;
            match mechanism.node_kind(node) {
                NodeKind::Point | NodeKind::PlanarPoint => (Some(node), None),
                NodeKind::Orientation | NodeKind::PlanarAngle => {
                    (None, Some((node, Matrix::identity())))
                }
            }
        };
        let profile = |of: &Option<MotionProfileSpec>| of.as_ref().map(MotionProfileSpec::profile);
        let axis = Vector(spec.rotation_axis.unwrap_or([0.0, 0.0, 1.0]));
        let axis = axis.scale(1.0 / axis.dot(axis).sqrt());
        Ok(Self {
            point,
            orientation,
            position: [&spec.x, &spec.y, &spec.z].map(profile),
            rotation: profile(&spec.rotation).map(|profile| (axis, profile)),
        })
    }
}

/// Along the path of a marker every actuated degree of freedom moves, so that something has to drive it.
fn every_actuator_is_driven(mesh: &Mesh) -> Result<(), MeshError> {
    let driven: Vec<usize> = (mesh.loads.iter())
        .filter(|load| matches!(load.foreseen, Foreseen::Along(_) | Foreseen::Following))
        .filter_map(|load| match load.target {
            Target::Axis(joint) => mesh.axis_dof(joint),
            Target::Component(..) | Target::Node { .. } => None,
        })
        .collect();
    let actuated = mesh.mechanism.actuated_dofs();
    let reached = actuated.iter().filter(|dof| driven.contains(dof)).count();
    if reached < actuated.len() {
        return Err(MeshError::NominalMotion(NominalError::UnderActuated {
            drives: driven.len(),
            driven: reached,
            freedom: actuated.len(),
        }));
    }
    Ok(())
}

impl Mesh {
    /// Degree of freedom of the joint of that index, if it has one axis and is one.
    pub(super) fn axis_dof(&self, joint: usize) -> Option<usize> {
        match &self.joints[joint] {
            MeshedJoint::Axis {
                element,
                deformation,
                ..
            } => self.mechanism.deformation_dof(*element, *deformation),
            MeshedJoint::Turning { .. } => None,
        }
    }

    /// Degrees of freedom on which inputs or controllers act, in ascending order.
    pub(super) fn driven_dofs(&self) -> Vec<usize> {
        let loads = self.loads.iter().filter_map(|load| match load.target {
            Target::Axis(joint) => self.axis_dof(joint),
            Target::Component(..) | Target::Node { .. } => None,
        });
        let controllers = self.guidance.controllers.iter();
        let controlled = controllers.flat_map(|controller| &controller.axes);
        let mut driven: Vec<usize> = loads.chain(controlled.map(|axis| axis.dof)).collect();
        driven.sort_unstable();
        driven.dedup();
        driven
    }
}
