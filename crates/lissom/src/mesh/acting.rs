//! Torques and prescribed motions of a model acting on its mesh.

use crate::model::ModelSpec;
use crate::model::spec::{JointKind, JointSpec, MotionProfileSpec, MotionSpec};
use crate::nodal::{Acting, Actions, Drive, Equations, Excitation, NodalError};
use crate::simulate::{LoadCurve, MotionCurve, MotionPoint};
use crate::spatial::Vector;

use super::{Mesh, MeshError};

/// Drives and torques of a model.
#[derive(Clone, Debug)]
pub struct Acts<'a> {
    /// Motion of each drive.
    motions: Vec<MotionCurve>,
    /// Degree of freedom and torque.
    torques: Vec<(usize, LoadCurve)>,
    /// Motion of the joint and whether its torque is that of rigid inverse dynamics, by degree of freedom.
    nominal: Vec<(usize, MotionCurve, bool)>,
    rigid: Option<Equations<'a>>,
    drives: Vec<Drive>,
    position: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    residual: Vec<f64>,
    no_efforts: Vec<f64>,
    no_loads: Vec<Vector<f64>>,
}

pub(super) fn drive(point: MotionPoint) -> Drive {
    Drive {
        value: point.position,
        rate: point.rate,
        acceleration: point.acceleration,
    }
}

impl<'a> Acts<'a> {
    /// What acts in a model on the mesh made of it.
    ///
    /// # Errors
    ///
    /// When an input is not a torque on a revolute joint.
    pub fn new(spec: &ModelSpec, mesh: &'a Mesh) -> Result<Self, MeshError> {
        let mechanism = &mesh.mechanism;
        let start = |joint: &str| match spec.find_joint(joint).and_then(JointSpec::kind) {
            Some(JointKind::Revolute(revolute)) => revolute.initial_angle_rad,
            _ => 0.0,
        };
        let missing = |name: &str| MeshError::Missing {
            name: name.to_owned(),
        };
        // drives are in the order of the hinges, which is that of their names among the mechanism's
        let mut motions = Vec::new();
        for index in 0..mechanism.drive_count() {
            let name = mechanism.drive_name(index);
            let joint = name.strip_suffix(".rotation").unwrap_or(&name);
            let motion = spec
                .motion
                .iter()
                .find(|motion| motion.joint == joint)
                .and_then(MotionSpec::profile)
                .ok_or_else(|| missing(joint))?;
            motions.push(MotionCurve::new(&motion, start(joint)));
        }
        let mut torques = Vec::new();
        let mut foreseen: Vec<(String, MotionProfileSpec)> = Vec::new();
        for input in &spec.input {
            let dof = input
                .joint
                .as_ref()
                .and_then(|joint| mesh.hinges.get(joint))
                .and_then(|&hinge| mechanism.deformation_dof(hinge, 0));
            let (Some(joint), Some(dof)) = (&input.joint, dof) else {
                return Err(MeshError::Unknown {
                    name: input.marker.clone().unwrap_or_default(),
                    what: "an input that is no torque on a revolute joint",
                    remedy: "use the tree formulation",
                });
            };
            if let Some(profile) = &input.rigid_inverse_dynamics {
                foreseen.push((joint.clone(), profile.clone()));
            } else if let Some((_, profile)) = input.load() {
                torques.push((dof, LoadCurve::new(&profile)));
            }
        }
        let mut nominal = Vec::new();
        for (joint, &hinge) in &mesh.hinges {
            let Some(dof) = mechanism.deformation_dof(hinge, 0) else {
                continue;
            };
            match foreseen.iter().find(|(name, _)| name == joint) {
                Some((_, profile)) => {
                    let curve = MotionCurve::new(&profile.profile(), start(joint));
                    nominal.push((dof, curve, true));
                }
                None => nominal.push((dof, MotionCurve::held(start(joint)), false)),
            }
        }
        let rigid = (!foreseen.is_empty())
            .then(|| Equations::new(mechanism))
            .transpose()?;
        let dofs = mechanism.dof_count();
        Ok(Self {
            motions,
            torques,
            nominal,
            rigid,
            drives: mechanism.assembled_drives(),
            position: mechanism.assembled_position(),
            velocity: vec![0.0; dofs],
            acceleration: vec![0.0; dofs],
            residual: vec![0.0; dofs],
            no_efforts: vec![0.0; dofs],
            no_loads: vec![Vector([0.0; 3]); mechanism.node_count()],
        })
    }

    /// Instants at which something is not smooth, in ascending order.
    pub fn breakpoints(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self
            .motions
            .iter()
            .chain(self.nominal.iter().map(|(_, curve, _)| curve))
            .flat_map(MotionCurve::breakpoints)
            .chain(
                self.torques
                    .iter()
                    .flat_map(|(_, curve)| curve.breakpoints()),
            )
            .collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// Torques that would move the rigidified mechanism as said.
    fn foresee(&mut self, time: f64) -> Result<(), NodalError> {
        let Some(rigid) = &mut self.rigid else {
            return Ok(());
        };
        for (dof, curve, _) in &self.nominal {
            let point = curve.at(time);
            self.position[*dof] = point.position;
            self.velocity[*dof] = point.rate;
            self.acceleration[*dof] = point.acceleration;
        }
        rigid.place(&self.position, &self.drives)?;
        rigid.set_velocity(&self.velocity, &self.drives);
        rigid.set_acceleration(&self.acceleration, &self.drives);
        rigid.residual(&self.no_efforts, &self.no_loads, &mut self.residual);
        Ok(())
    }
}

impl Excitation for Acts<'_> {
    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        for (target, curve) in drives.iter_mut().zip(&self.motions) {
            *target = drive(curve.at(time));
        }
    }

    fn act(&mut self, time: f64, _: &Acting<'_>, on: &mut Actions<'_>) {
        for (dof, curve) in &self.torques {
            on.efforts[*dof] += curve.value(time);
        }
        if self.rigid.is_none() {
            return;
        }
        for (target, curve) in self.drives.iter_mut().zip(&self.motions) {
            *target = drive(curve.at(time));
        }
        let foreseen = self.foresee(time).is_ok();
        for (dof, _, driven) in &self.nominal {
            if *driven {
                on.efforts[*dof] += if foreseen {
                    self.residual[*dof]
                } else {
                    f64::NAN
                };
            }
        }
    }
}
