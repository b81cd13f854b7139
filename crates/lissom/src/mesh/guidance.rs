//! A marker that is led along a path.

use crate::model::spec::{ModelSpec, MotionProfile, MotionProfileSpec, NominalMotionSpec};
use crate::simulate::NominalError;
use lissom_nodal::{NodeId, NodeKind};
use lissom_spatial::{Matrix, Vector};

use super::build::missing;
use super::{Mesh, MeshError};

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

impl LedMarker {
    fn new(spec: &NominalMotionSpec, mesh: &Mesh) -> Result<Self, MeshError> {
        let name = spec.marker.as_str();
        let mechanism = &mesh.mechanism;
        let marker = mesh.markers.iter().position(|marker| marker.name == name);
        let (point, orientation) = if let Some(marker) = marker {
            let station = &mesh.stations[marker];
            (station.point, station.orientation)
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
        let axis = axis.unit();
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
    let loads = mesh.actions.loads.iter();
    let driven: Vec<usize> = loads
        .filter(|load| load.nominal_motion().is_some())
        .filter_map(|load| mesh.axis_dof(load.target.axis()?))
        .collect();
    let geared = |dof: usize| {
        let gears = mesh.actions.gears.iter();
        // what stands behind a gear is driven by its motor
        let mut driven_through = gears.filter(|gear| mesh.axis_dof(gear.joint) == Some(dof));
        driven_through.any(|gear| {
            mesh.axis_dof(gear.motor)
                .is_some_and(|at| driven.contains(&at))
        })
    };
    let actuated = mesh.mechanism.actuated_dofs();
    let reached = actuated
        .iter()
        .filter(|&&dof| driven.contains(&dof) || geared(dof));
    let reached = reached.count();
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
    /// Adds the path that a marker of the model is led along.
    pub(super) fn set_path(&mut self, spec: &ModelSpec) -> Result<(), MeshError> {
        if let Some(nominal) = &spec.nominal_motion {
            self.led = Some(LedMarker::new(nominal, self)?);
            every_actuator_is_driven(self)?;
        }
        Ok(())
    }
}
