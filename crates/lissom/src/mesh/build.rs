//! Nodes and elements of bodies, parents first.

use std::collections::BTreeMap;

use crate::model::ModelSpec;
use crate::model::spec::{
    BeamSpec, BodyKind, BodySpec, DampingSpec, GROUND, JointKind, JointSpec, PayloadSpec, Place,
    RigidSpec, SegmentSpec,
};
use crate::nodal::{Assembly, BeamSection, ElementId, End, Role, SecondOrderTerms};
use crate::spatial::{Matrix, RotationVector, Vector};

use super::{Mesh, MeshError};

/// Places nearer than this part of a length are the same.
const SAME_PLACE: f64 = 1e-9;

/// A body that stands: its attitude at assembly, and ends at places in its frame.
struct Standing {
    attitude: Matrix<f64>,
    origin: Vector<f64>,
    places: Vec<(Vector<f64>, End)>,
    rigid: bool,
}

struct Builder<'a> {
    spec: &'a ModelSpec,
    elements: usize,
    assembly: Assembly,
    bodies: BTreeMap<&'a str, Standing>,
    hinges: BTreeMap<String, ElementId>,
    initial: Vec<(ElementId, f64, f64)>,
}

pub(super) fn build(spec: &ModelSpec, elements: usize) -> Result<Mesh, MeshError> {
    let mut builder = Builder {
        spec,
        elements,
        assembly: Assembly::new(),
        bodies: BTreeMap::new(),
        hinges: BTreeMap::new(),
        initial: Vec::new(),
    };
    builder.assembly.set_gravity(spec.gravity_m_per_s2);
    let ground = builder.end("ground", Vector([0.0; 3]));
    builder.assembly.set_node(ground.point, Role::Fixed);
    builder.assembly.set_node(ground.orientation, Role::Fixed);
    builder.bodies.insert(
        GROUND,
        Standing {
            attitude: Matrix::identity(),
            origin: Vector([0.0; 3]),
            places: vec![(Vector([0.0; 3]), ground)],
            rigid: true,
        },
    );
    builder.add_bodies()?;
    for payload in &spec.payload {
        builder.add_payload(payload)?;
    }
    let mut markers = BTreeMap::new();
    for marker in &spec.marker {
        let place = Place::of(marker.at.as_deref(), marker.position_m);
        let end = builder.place(&marker.body, place, false)?;
        markers.insert(marker.name.clone(), end);
    }
    Ok(Mesh {
        mechanism: builder.assembly.finish()?,
        hinges: builder.hinges,
        markers,
        initial: builder.initial,
    })
}

fn unknown(name: &str, what: &'static str, remedy: &'static str) -> MeshError {
    MeshError::Unknown {
        name: name.to_owned(),
        what,
        remedy,
    }
}

fn missing(name: &str) -> MeshError {
    MeshError::Missing {
        name: name.to_owned(),
    }
}

impl<'a> Builder<'a> {
    /// A point and an orientation whose axes are those of the ground at assembly.
    fn end(&mut self, name: &str, position: Vector<f64>) -> End {
        End {
            point: self.assembly.point(&format!("{name}.point"), position.0),
            orientation: self
                .assembly
                .orientation(&format!("{name}.attitude"), &Matrix::identity()),
        }
    }

    /// Joints whose parents stand, until none is left.
    fn add_bodies(&mut self) -> Result<(), MeshError> {
        let mut waiting: Vec<&'a JointSpec> = self.spec.joint.iter().collect();
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut later = Vec::new();
            for joint in waiting {
                if self.bodies.contains_key(joint.parent.body.as_str()) {
                    self.add_joint(joint)?;
                } else {
                    later.push(joint);
                }
            }
            if later.len() == before {
                return Err(missing(&later[0].parent.body));
            }
            waiting = later;
        }
        Ok(())
    }

    fn add_joint(&mut self, joint: &'a JointSpec) -> Result<(), MeshError> {
        let spec = self.spec;
        let body = spec
            .find_body(&joint.child.body)
            .ok_or_else(|| missing(&joint.child.body))?;
        let kind = joint.kind().ok_or_else(|| missing(&joint.name))?;
        let carrier = self.place(&joint.parent.body, joint.parent.place(), false)?;
        let parent = &self.bodies[joint.parent.body.as_str()];
        let turn = |vector: [f64; 3]| RotationVector::new(Vector(vector)).matrix();
        let joint_attitude = parent.attitude * turn(joint.parent.rotation_vector_rad);
        let attitude = joint_attitude * turn(joint.child.rotation_vector_rad).transpose();
        let at = self.assembly.position(carrier.point);
        let local = body
            .position(joint.child.place(), true)
            .ok_or_else(|| missing(&joint.child.body))?;
        let first = match kind {
            JointKind::Fixed => carrier,
            JointKind::Revolute(revolute) => {
                let plain = revolute.motor.is_none()
                    && revolute.spring.is_none()
                    && revolute.friction.is_none();
                if !plain {
                    return Err(unknown(
                        &joint.name,
                        "a motor, spring or friction of a joint",
                        "leave it out or use the tree formulation",
                    ));
                }
                let orientation = self
                    .assembly
                    .orientation(&format!("{}.attitude", joint.name), &Matrix::identity());
                let axis = joint_attitude * Vector(revolute.axis);
                let hinge =
                    self.assembly
                        .hinge(&joint.name, carrier.orientation, orientation, axis.0);
                let driven = spec.motion.iter().any(|motion| motion.joint == joint.name);
                let role = if driven {
                    Role::Prescribed
                } else {
                    Role::Actuated
                };
                self.assembly.set_deformation(hinge, 0, role);
                self.hinges.insert(joint.name.clone(), hinge);
                self.initial.push((
                    hinge,
                    revolute.initial_angle_rad,
                    revolute.initial_rate_rad_per_s,
                ));
                End {
                    point: carrier.point,
                    orientation,
                }
            }
            _ => {
                return Err(unknown(
                    &joint.name,
                    "a joint that is neither revolute nor fixed",
                    "use the tree formulation",
                ));
            }
        };
        let local = Vector(local);
        let standing = Standing {
            attitude,
            origin: at - attitude * local,
            places: vec![(local, first)],
            rigid: matches!(body.kind(), Some(BodyKind::Rigid(_))),
        };
        self.bodies.insert(&body.name, standing);
        self.add_body(body)
    }

    fn add_body(&mut self, body: &'a BodySpec) -> Result<(), MeshError> {
        match body.kind() {
            Some(BodyKind::Rigid(rigid)) => self.add_rigid(&body.name, rigid)?,
            Some(BodyKind::Beam(beam)) => self.add_beam(body, beam)?,
            _ => {
                return Err(unknown(
                    &body.name,
                    "a body that is neither rigid nor a beam",
                    "use the tree formulation",
                ));
            }
        }
        if body.initial.is_some() {
            return Err(unknown(
                &body.name,
                "a deformation at the start",
                "leave it out or use the tree formulation",
            ));
        }
        for mass in &body.point_mass {
            let end = self.place(&body.name, mass.place(), false)?;
            self.assembly.mass(end.point, mass.mass_kg);
        }
        Ok(())
    }

    fn add_rigid(&mut self, name: &str, rigid: &RigidSpec) -> Result<(), MeshError> {
        let center = self.place(name, Place::Position(rigid.center_of_mass_m), false)?;
        self.assembly.mass(center.point, rigid.mass_kg);
        let attitude = self.bodies[name].attitude;
        let inertia = tensor(rigid.inertia_kg_m2, rigid.products_of_inertia_kg_m2);
        self.assembly.inertia(
            center.orientation,
            &(attitude * inertia * attitude.transpose()),
        );
        Ok(())
    }

    fn add_beam(&mut self, body: &'a BodySpec, beam: &BeamSpec) -> Result<(), MeshError> {
        let name = body.name.as_str();
        let [bends_y, bends_z, stretches, twists] = beam.deformations();
        let standing = &self.bodies[name];
        let (attitude, origin) = (standing.attitude, standing.origin);
        let (root, mut end) = standing.places[0];
        if root.dot(root).sqrt() > SAME_PLACE {
            return Err(unknown(
                name,
                "a beam that is not carried at its root",
                "carry it at its root",
            ));
        }
        let y = (attitude * Vector([0.0, 1.0, 0.0])).0;
        let damping_time = match &body.damping {
            None => 0.0,
            Some(DampingSpec::Rayleigh(rayleigh)) if rayleigh.mass_per_s == 0.0 => {
                rayleigh.stiffness_s
            }
            Some(_) => {
                return Err(unknown(
                    name,
                    "damping that is not proportional to stiffness",
                    "use rayleigh damping with stiffness_s only",
                ));
            }
        };
        let mut x = 0.0;
        for (piece, segment) in beam.uniform_segments().iter().enumerate() {
            let section = BeamSection {
                damping_time,
                ..section(beam, segment)
            };
            let step = segment.length_m / self.elements as f64;
            for element in 0..self.elements {
                x += step;
                let local = Vector([x, 0.0, 0.0]);
                let label = format!("{name}.{}", piece * self.elements + element + 1);
                let next = self.end(&label, origin + attitude * local);
                let id = self.assembly.beam(&label, end, next, section, y);
                for (index, present) in [stretches, twists, bends_z, bends_z, bends_y, bends_y]
                    .into_iter()
                    .enumerate()
                {
                    if !present {
                        self.assembly.set_deformation(id, index, Role::Fixed);
                    }
                }
                if let Some(standing) = self.bodies.get_mut(name) {
                    standing.places.push((local, next));
                }
                end = next;
            }
        }
        Ok(())
    }

    fn add_payload(&mut self, payload: &PayloadSpec) -> Result<(), MeshError> {
        let end = self.place(&payload.body, payload.place(), false)?;
        let standing = self
            .bodies
            .get(payload.body.as_str())
            .ok_or_else(|| missing(&payload.body))?;
        let attitude = standing.attitude;
        let offset = attitude * Vector(payload.center_of_mass_m);
        let center = self.rigidly(&payload.name, end, offset);
        self.assembly.mass(center.point, payload.mass_kg);
        let inertia = tensor(payload.inertia_kg_m2, payload.products_of_inertia_kg_m2);
        self.assembly.inertia(
            center.orientation,
            &(attitude * inertia * attitude.transpose()),
        );
        Ok(())
    }

    /// The end at a place of a body; on a rigid body a new one if there is none yet.
    fn place(&mut self, body: &str, place: Place<'_>, child: bool) -> Result<End, MeshError> {
        let position = if body == GROUND {
            match place {
                Place::Position(position) => position,
                Place::Named(at) => return Err(missing(at)),
                Place::Unsaid => [0.0; 3],
            }
        } else {
            self.spec
                .find_body(body)
                .and_then(|spec| spec.position(place, child))
                .ok_or_else(|| missing(body))?
        };
        let position = Vector(position);
        let standing = self.bodies.get(body).ok_or_else(|| missing(body))?;
        let near = standing.places.iter().find(|(at, _)| {
            let apart = *at - position;
            apart.dot(apart).sqrt() <= SAME_PLACE
        });
        if let Some(&(_, end)) = near {
            return Ok(end);
        }
        if !standing.rigid {
            return Err(unknown(
                body,
                "a place between the nodes of a beam",
                "choose the number of elements so that there is a node, or split the beam",
            ));
        }
        let (from, end) = standing.places[0];
        let offset = standing.attitude * (position - from);
        let new = self.rigidly(body, end, offset);
        if body == GROUND {
            self.assembly.set_node(new.point, Role::Fixed);
        }
        if let Some(standing) = self.bodies.get_mut(body) {
            standing.places.push((position, new));
        }
        Ok(new)
    }

    /// An end that moves rigidly with another.
    fn rigidly(&mut self, name: &str, from: End, offset: Vector<f64>) -> End {
        if offset.dot(offset).sqrt() <= SAME_PLACE {
            return from;
        }
        let at = self.assembly.position(from.point) + offset;
        if name == GROUND {
            return End {
                point: self.assembly.point("ground.point", at.0),
                orientation: from.orientation,
            };
        }
        let to = self.end(&format!("{name}.rigid"), at);
        let smallest = (0..3).fold(0, |best, i| {
            if offset[i].abs() < offset[best].abs() {
                i
            } else {
                best
            }
        });
        let mut across = [0.0; 3];
        across[smallest] = 1.0;
        let none = BeamSection::slender(0.0, 0.0, 0.0, 0.0);
        let beam = self.assembly.beam(name, from, to, none, across);
        self.assembly.set_deformations(beam, Role::Fixed);
        to
    }
}

fn section(beam: &BeamSpec, segment: &SegmentSpec) -> BeamSection {
    let (y, z) = (
        segment.section_inertia_y_kg_m,
        segment.section_inertia_z_kg_m,
    );
    let bending = if beam.rotary_inertia { 1.0 } else { 0.0 };
    BeamSection {
        mass_per_length: segment.mass_per_length_kg_per_m,
        axial_stiffness: segment.axial_stiffness_n.unwrap_or(0.0),
        torsional_stiffness: segment.torsional_stiffness_n_m2.unwrap_or(0.0),
        bending_stiffness_y: segment.bending_stiffness_y_n_m2.unwrap_or(0.0),
        bending_stiffness_z: segment.bending_stiffness_z_n_m2.unwrap_or(0.0),
        shear_stiffness: None,
        // bending along y turns sections about z
        rotary_inertia_per_length: [y + z, bending * z, bending * y],
        damping_time: 0.0,
        second_order: SecondOrderTerms::ALL,
    }
}

fn tensor([xx, yy, zz]: [f64; 3], [xy, xz, yz]: [f64; 3]) -> Matrix<f64> {
    Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
}
