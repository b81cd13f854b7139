//! The rigid motion of a model's inputs and motions as the nominal motion of its mesh.

use crate::model::ModelSpec;
use crate::model::spec::{JointKind, JointSpec, MotionSpec};
use crate::nodal::{Drive, Nominal};
use crate::simulate::MotionCurve;
use crate::spatial::Vector;

use super::acting::drive;
use super::{Mesh, MeshError};

/// Joints along the nominal motion of their inputs, as prescribed, or held where they start.
#[derive(Clone, Debug)]
pub struct NominalCourse {
    /// One per actuated degree of freedom.
    rigid: Vec<MotionCurve>,
    /// One per drive.
    drives: Vec<MotionCurve>,
}

impl NominalCourse {
    /// The nominal motion of a model on the mesh made of it.
    ///
    /// # Errors
    ///
    /// When a joint that is to be driven does not exist.
    pub fn new(spec: &ModelSpec, mesh: &Mesh) -> Result<Self, MeshError> {
        let mechanism = &mesh.mechanism;
        let start = |joint: &str| match spec.find_joint(joint).and_then(JointSpec::kind) {
            Some(JointKind::Revolute(revolute)) => revolute.initial_angle_rad,
            _ => 0.0,
        };
        let rigid = mechanism.actuated_dofs().into_iter().map(|dof| {
            let hinge = (mesh.hinges.iter())
                .find(|(_, hinge)| mechanism.deformation_dof(**hinge, 0) == Some(dof));
            let Some((joint, _)) = hinge else {
                return MotionCurve::held(0.0);
            };
            let profile = (spec.input.iter())
                .filter(|input| input.joint.as_ref() == Some(joint))
                .find_map(|input| input.rigid_inverse_dynamics.as_ref());
            match profile {
                Some(profile) => MotionCurve::new(&profile.profile(), start(joint)),
                None => MotionCurve::held(start(joint)),
            }
        });
        let drives = (0..mechanism.drive_count()).map(|index| {
            let name = mechanism.drive_name(index);
            let joint = name.strip_suffix(".rotation").unwrap_or(&name);
            (spec.motion.iter())
                .find(|motion| motion.joint == joint)
                .and_then(MotionSpec::profile)
                .map(|motion| MotionCurve::new(&motion, start(joint)))
                .ok_or_else(|| MeshError::Missing {
                    name: joint.to_owned(),
                })
        });
        Ok(Self {
            rigid: rigid.collect(),
            drives: drives.collect::<Result<_, _>>()?,
        })
    }

    /// Instants at which the motion is not smooth, in ascending order.
    pub fn breakpoints(&self) -> Vec<f64> {
        let curves = self.rigid.iter().chain(&self.drives);
        let mut all: Vec<f64> = curves.flat_map(MotionCurve::breakpoints).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}

impl Nominal for NominalCourse {
    fn rigid(&mut self, time: f64, motion: &mut [Drive]) {
        for (target, curve) in motion.iter_mut().zip(&self.rigid) {
            *target = drive(curve.at(time));
        }
    }

    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        for (target, curve) in drives.iter_mut().zip(&self.drives) {
            *target = drive(curve.at(time));
        }
    }

    fn load(&mut self, _: f64, _: &mut [Vector<f64>]) {}
}
