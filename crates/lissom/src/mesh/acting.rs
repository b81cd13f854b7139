//! What acts on a mesh: inputs, friction, prescribed motions.

use crate::nodal::{Acting, Actions, Drive, Equations, Excitation, NodalError};
use crate::simulate::{LoadCurve, MotionCurve, MotionPoint};
use crate::spatial::{Matrix, Vector};

use super::{Mesh, MeshedJoint, Target};

/// Drives and loads of a mesh at an instant.
#[derive(Clone, Debug)]
pub struct Acts<'a> {
    mesh: &'a Mesh,
    /// Value of every input.
    values: Vec<f64>,
    /// Degree of freedom of every axis that is one, and its motion as a rigid mechanism.
    nominal: Vec<(usize, MotionCurve)>,
    /// Degree of freedom and input of inverse dynamics.
    foreseen: Vec<(usize, usize)>,
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

/// Axes of the frame of a turning joint on the side of its child.
pub(super) fn child_axes(
    equations: &Equations<'_>,
    child: crate::nodal::End,
    frame: &Matrix<f64>,
) -> Matrix<f64> {
    equations.node(child.orientation).rotation * *frame
}

impl<'a> Acts<'a> {
    /// What acts on a mesh.
    ///
    /// # Errors
    ///
    /// When inverse dynamics is asked for where the mechanism is singular at assembly.
    pub fn new(mesh: &'a Mesh) -> Result<Self, NodalError> {
        let mechanism = &mesh.mechanism;
        let mut nominal = Vec::new();
        let mut foreseen = Vec::new();
        for (index, joint) in mesh.joints.iter().enumerate() {
            let MeshedJoint::Axis {
                element,
                deformation,
                ..
            } = joint
            else {
                continue;
            };
            let Some(dof) = mechanism.deformation_dof(*element, *deformation) else {
                continue;
            };
            let driving = mesh.loads.iter().enumerate().find(|(_, load)| {
                matches!(load.target, Target::Axis(at) if at == index) && load.foreseen.is_some()
            });
            let driving = driving.and_then(|(load, input)| Some((load, input.foreseen.clone()?)));
            if let Some((load, curve)) = driving {
                nominal.push((dof, curve));
                foreseen.push((dof, load));
            } else {
                let at = mesh.initial_position[mechanism.dof_positions(dof).start];
                nominal.push((dof, MotionCurve::held(at)));
            }
        }
        let rigid = (!foreseen.is_empty())
            .then(|| Equations::new(mechanism))
            .transpose()?;
        let dofs = mechanism.dof_count();
        let mut position = mechanism.assembled_position();
        // what turns or slides in any way counts as held where it starts
        for dof in 0..dofs {
            let at = mechanism.dof_positions(dof);
            if at.len() > 1 {
                position[at.clone()].copy_from_slice(&mesh.initial_position[at]);
            }
        }
        Ok(Self {
            mesh,
            values: vec![0.0; mesh.loads.len()],
            nominal,
            foreseen,
            rigid,
            drives: mechanism.assembled_drives(),
            position,
            velocity: vec![0.0; dofs],
            acceleration: vec![0.0; dofs],
            residual: vec![0.0; dofs],
            no_efforts: vec![0.0; dofs],
            no_loads: vec![Vector([0.0; 3]); mechanism.node_count()],
        })
    }

    /// Instants at which something is not smooth, in ascending order.
    pub fn breakpoints(&self) -> Vec<f64> {
        let nominal = self.nominal.iter().map(|(_, curve)| curve);
        let nominal = nominal.filter(|_| self.rigid.is_some());
        let motions = self.mesh.motions.iter().chain(nominal);
        let loads = self.mesh.loads.iter().map(|load| &load.curve);
        let mut all: Vec<f64> = motions
            .flat_map(MotionCurve::breakpoints)
            .chain(loads.flat_map(LoadCurve::breakpoints))
            .collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// Value of every input, of the evaluation last made.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Torques and forces that would move the rigidified mechanism as said.
    fn foresee(&mut self, time: f64) -> Result<(), NodalError> {
        let Some(rigid) = &mut self.rigid else {
            return Ok(());
        };
        for (target, curve) in self.drives.iter_mut().zip(&self.mesh.motions) {
            *target = drive(curve.at(time));
        }
        for (dof, curve) in &self.nominal {
            let point = curve.at(time);
            self.position[rigid.mechanism().dof_positions(*dof).start] = point.position;
            self.velocity[*dof] = point.rate;
            self.acceleration[*dof] = point.acceleration;
        }
        rigid.place(&self.position, &self.drives)?;
        rigid.set_velocity(&self.velocity, &self.drives);
        rigid.set_acceleration(&self.acceleration, &self.drives);
        rigid.residual(&self.no_efforts, &self.no_loads, &mut self.residual);
        for (element, law) in &self.mesh.drags {
            if let Some(dof) = rigid.mechanism().deformation_dof(*element, 0) {
                self.residual[dof] -= law.drag(rigid.deformation_rate(*element, 0));
            }
        }
        Ok(())
    }
}

impl Excitation for Acts<'_> {
    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        for (target, curve) in drives.iter_mut().zip(&self.mesh.motions) {
            *target = drive(curve.at(time));
        }
    }

    fn act(&mut self, time: f64, state: &Acting<'_>, on: &mut Actions<'_>) {
        let mesh = self.mesh;
        for (value, load) in self.values.iter_mut().zip(&mesh.loads) {
            *value = load.curve.value(time);
        }
        if self.rigid.is_some() {
            let known = self.foresee(time).is_ok();
            for &(dof, load) in &self.foreseen {
                // what is not known is not a number, which the integrator reports
                self.values[load] = if known { self.residual[dof] } else { f64::NAN };
            }
        }
        let equations = state.equations;
        for (load, &value) in mesh.loads.iter().zip(&self.values) {
            match &load.target {
                Target::Axis(joint) => {
                    if let MeshedJoint::Axis {
                        element,
                        deformation,
                        ..
                    } = &mesh.joints[*joint]
                        && let Some(dof) = mesh.mechanism.deformation_dof(*element, *deformation)
                    {
                        on.efforts[dof] += value;
                    }
                }
                Target::Component(joint, component) => {
                    let MeshedJoint::Turning {
                        parent,
                        child,
                        frame,
                        ..
                    } = &mesh.joints[*joint]
                    else {
                        continue;
                    };
                    let axes = child_axes(equations, *child, frame).transpose();
                    let along = Vector(axes.0[component % 3]).scale(value);
                    if *component < 3 {
                        on.loads[child.orientation.index()] += along;
                        on.loads[parent.orientation.index()] += -along;
                    } else {
                        on.loads[child.point.index()] += along;
                    }
                }
                Target::Node {
                    node,
                    direction,
                    carried_by,
                } => {
                    let along = match carried_by {
                        None => *direction,
                        Some((by, attitude)) => {
                            equations.node(*by).rotation * (*attitude * *direction)
                        }
                    };
                    on.loads[node.index()] += along.scale(value);
                }
            }
        }
        for (element, law) in &mesh.drags {
            if let Some(dof) = mesh.mechanism.deformation_dof(*element, 0) {
                on.efforts[dof] += law.drag(state.velocity[dof]);
            }
        }
    }
}
