//! Nodes and elements of bodies, parents first.

use std::collections::BTreeMap;

use lissom_core::{Actions, Load, LoadTarget, MarkerId, MarkerPath, MotionCurve, rotation_matrix};
use lissom_nodal::{Assembly, BeamSection, ElementId, End, Role};
use lissom_spatial::{Matrix, Transform, Vector};
use lissom_spec::spec::{
    BeamSpec, BodyKind, BodySpec, GROUND, JointSpec, MarkerSpec, ModelSpec, MotionSpec,
    PayloadSpec, Place, RigidSpec,
};
use lissom_spec::{TreeJoint, spanning_tree};

use super::charts::Charts;
use super::damping::{Clamped, matrix};
use super::division::untilted_inertia;
use super::joints::Carrier;
use super::loops::{Closing, close, closed_start};
use super::start::{BallStart, DeformationStart};
use super::trajectory::drive_of;
use super::{
    Carried, CarryingJoint, NodalAxis, NodalBall, NodalClosure, NodalJoint, NodalMarker,
    NodalModel, NodalModelError, Side, Station,
};
use crate::model::{Model, places_in_use};

/// Places of a rigid body that hang on one: of more, those hang on others, so that no node meets very many elements.
const MOST_PLACES: usize = 8;

/// Places nearer than this part of a length are the same.
pub(super) const SAME_PLACE: f64 = 1e-9;

/// A body that stands: its orientation at assembly, and ends at places in its frame.
struct Standing {
    orientation: Matrix<f64>,
    origin: Vector<f64>,
    places: Vec<(Vector<f64>, End)>,
    rigid: bool,
}

/// What the file names, by these names: of some that share one, the first.
pub(super) struct Written<'a> {
    pub(super) bodies: BTreeMap<&'a str, &'a BodySpec>,
    pub(super) joints: BTreeMap<&'a str, &'a JointSpec>,
    pub(super) markers: BTreeMap<&'a str, MarkerId>,
    /// Prescribed motions by joint and component.
    pub(super) motions: BTreeMap<(&'a str, usize), &'a MotionSpec>,
    /// Undeformed positions on every body that joints, loops, payloads or markers are attached to.
    pub(super) places: BTreeMap<&'a str, Vec<[f64; 3]>>,
}

impl<'a> Written<'a> {
    fn of(spec: &'a ModelSpec) -> Self {
        // from behind, so that the first one is left
        let joints = spec.joint.iter().rev();
        let markers = spec.marker.iter().enumerate().rev();
        let motions = spec.motion.iter().rev();
        Self {
            bodies: spec.bodies_by_name(),
            joints: joints.map(|joint| (joint.name.as_str(), joint)).collect(),
            markers: markers
                .map(|(at, marker)| (marker.name.as_str(), MarkerId(at)))
                .collect(),
            motions: motions
                .map(|motion| ((motion.joint.as_str(), motion.component), motion))
                .collect(),
            places: places_in_use(spec),
        }
    }
}

pub(super) struct Builder<'a> {
    pub(super) spec: &'a ModelSpec,
    pub(super) written: Written<'a>,
    pub(super) elements: usize,
    pub(super) assembly: Assembly,
    bodies: BTreeMap<&'a str, Standing>,
    pub(super) joints: Vec<NodalJoint>,
    pub(super) axes: Vec<NodalAxis>,
    pub(super) balls: Vec<NodalBall>,
    /// What the components of each joint are.
    pub(super) components: BTreeMap<String, Vec<LoadTarget>>,
    pub(super) markers: Vec<NodalMarker>,
    stations: Vec<Station>,
    pub(super) actions: Actions,
    pub(super) motions: Vec<MotionCurve>,
    pub(super) drive_channels: Vec<(String, &'static str)>,
    /// Deformations at the start: of hinges, sliders and beams.
    pub(super) deformation_starts: Vec<DeformationStart>,
    /// How spherical and free joints start.
    pub(super) ball_starts: Vec<BallStart>,
    /// The beam that elements are parts of.
    beams: BTreeMap<ElementId, String>,
    /// Elements of every beam, each from one place along it to another.
    pub(super) spans: BTreeMap<&'a str, Vec<(ElementId, [f64; 2])>>,
    /// Ends with lumped masses: the body, and where they are fixed to it along x.
    pub(super) masses: Vec<(usize, End, f64)>,
    /// Deformations of beams that start deformed.
    pub(super) bent: Vec<(ElementId, usize)>,
    /// Positions and rates of joints where loops are closed, by channel; none without loops.
    pub(super) closed: BTreeMap<String, f64>,
    /// Deformations that vanish where loops are closed.
    pub(super) closings: Vec<Closing>,
    pub(super) closures: Vec<NodalClosure>,
    pub(super) carrying: Vec<CarryingJoint>,
    /// Number of each body that a joint carries.
    pub(super) body_index: BTreeMap<&'a str, usize>,
}

pub(super) fn build(
    spec: &ModelSpec,
    model: &Model,
    elements: usize,
) -> Result<NodalModel, NodalModelError> {
    let tree = spanning_tree(spec);
    let mut builder = Builder {
        spec,
        written: Written::of(spec),
        elements,
        assembly: Assembly::new(),
        bodies: BTreeMap::new(),
        joints: Vec::new(),
        axes: Vec::new(),
        balls: Vec::new(),
        components: BTreeMap::new(),
        markers: Vec::new(),
        stations: Vec::new(),
        actions: Actions::default(),
        motions: Vec::new(),
        drive_channels: Vec::new(),
        deformation_starts: Vec::new(),
        ball_starts: Vec::new(),
        beams: BTreeMap::new(),
        spans: BTreeMap::new(),
        masses: Vec::new(),
        bent: Vec::new(),
        closed: closed_start(model),
        closings: Vec::new(),
        closures: Vec::new(),
        carrying: Vec::new(),
        body_index: BTreeMap::new(),
    };
    builder.assembly.set_gravity(spec.gravity_m_per_s2);
    let ground = builder.end("ground", Vector([0.0; 3]));
    builder.assembly.set_node(ground.point, Role::Fixed);
    builder.assembly.set_node(ground.orientation, Role::Fixed);
    builder.bodies.insert(
        GROUND,
        Standing {
            orientation: Matrix::identity(),
            origin: Vector([0.0; 3]),
            places: vec![(Vector([0.0; 3]), ground)],
            rigid: true,
        },
    );
    for &joint in &tree.joints {
        builder.add_joint(joint)?;
    }
    builder.add_closures(&tree)?;
    for payload in &spec.payload {
        builder.add_payload(payload)?;
    }
    for marker in &spec.marker {
        builder.add_marker(marker)?;
    }
    let loads = spec.input.iter().map(|input| builder.load(input));
    let loads = loads.collect::<Result<Vec<_>, _>>()?;
    builder.finish(loads)
}

pub(super) fn missing(name: &str) -> NodalModelError {
    NodalModelError::Missing {
        name: name.to_owned(),
    }
}

impl<'a> Builder<'a> {
    /// A point and an orientation whose axes are those of the ground at assembly.
    pub(super) fn end(&mut self, name: &str, position: Vector<f64>) -> End {
        End {
            point: self.assembly.point(&format!("{name}.point"), position.0),
            orientation: self
                .assembly
                .orientation(&format!("{name}.orientation"), &Matrix::identity()),
        }
    }

    fn add_joint(&mut self, tree: TreeJoint) -> Result<(), NodalModelError> {
        let spec = self.spec;
        let joint = &spec.joint[tree.joint];
        let (carries, carried) = tree.sides(spec);
        let body = *(self.written.bodies.get(carried.body.as_str()))
            .ok_or_else(|| missing(&carried.body))?;
        let kind = joint.kind().ok_or_else(|| missing(&joint.name))?;
        let carrier = self.place(&carries.body, carries.place(), tree.reversed)?;
        let parent = &self.bodies[carries.body.as_str()];
        let turn = |vector: [f64; 3]| rotation_matrix(Vector(vector));
        let frame = parent.orientation * turn(carries.rotation_vector_rad);
        let orientation = frame * turn(carried.rotation_vector_rad).transpose();
        let at = self.assembly.position(carrier.point);
        let local = body
            .position(carried.place(), !tree.reversed)
            .ok_or_else(|| missing(&carried.body))?;
        let carrier = Carrier {
            end: carrier,
            frame,
            reversed: tree.reversed,
        };
        let first = self.across(joint, kind, &carrier);
        let number = self.carrying.len();
        let hangs_on = self.body_index.get(carries.body.as_str()).copied();
        let (side, side_body) = if tree.reversed {
            (carrier.end, hangs_on)
        } else {
            (first, Some(number))
        };
        self.carrying.push(CarryingJoint {
            name: joint.name.clone(),
            parent: hangs_on,
            reversed: tree.reversed,
            side: Side {
                body: side_body,
                end: side,
                frame,
            },
        });
        self.body_index.insert(&body.name, number);
        self.assembly.set_body(Some(number));
        let local = Vector(local);
        let standing = Standing {
            orientation,
            origin: at - orientation * local,
            places: vec![(local, first)],
            rigid: matches!(body.kind(), Some(BodyKind::Rigid(_))),
        };
        self.bodies.insert(&body.name, standing);
        match body.kind() {
            Some(BodyKind::Rigid(rigid)) => self.add_rigid(&body.name, rigid)?,
            Some(BodyKind::Beam(beam)) => self.add_beam(body, beam)?,
            _ => return Err(missing(&body.name)),
        }
        for mass in &body.point_mass {
            let end = self.place(&body.name, mass.place(), false)?;
            self.assembly.mass(end.point, mass.mass_kg);
            self.note_mass(&body.name, mass.place(), end);
        }
        self.assembly.set_body(None);
        Ok(())
    }

    fn add_rigid(&mut self, name: &str, rigid: &RigidSpec) -> Result<(), NodalModelError> {
        let center = self.place(name, Place::Position(rigid.center_of_mass_m), false)?;
        self.assembly.mass(center.point, rigid.mass_kg);
        let orientation = self.bodies[name].orientation;
        let inertia = tensor(rigid.inertia_kg_m2, rigid.products_of_inertia_kg_m2);
        self.assembly.inertia(
            center.orientation,
            &(orientation * inertia * orientation.transpose()),
        );
        Ok(())
    }

    fn add_beam(&mut self, body: &'a BodySpec, beam: &BeamSpec) -> Result<(), NodalModelError> {
        let name = body.name.as_str();
        let [bends_y, bends_z, stretches, twists] = beam.deformations();
        let present = [stretches, twists, bends_z, bends_z, bends_y, bends_y];
        let suppressed: Vec<usize> = (0..present.len()).filter(|&i| !present[i]).collect();
        let standing = &self.bodies[name];
        let (orientation, origin) = (standing.orientation, standing.origin);
        let (carried_at, carried) = standing.places[0];
        let y = (orientation * Vector([0.0, 1.0, 0.0])).0;
        let (stations, sections) = self.stations(body, beam);
        let near = SAME_PLACE * beam.total_length_m();
        let mut ends = Vec::new();
        for (number, &x) in stations.iter().enumerate() {
            if (x - carried_at[0]).abs() <= near {
                ends.push(carried);
                continue;
            }
            let local = Vector([x, 0.0, 0.0]);
            let end = self.end(&format!("{name}.{number}"), origin + orientation * local);
            if let Some(standing) = self.bodies.get_mut(name) {
                standing.places.push((local, end));
            }
            ends.push(end);
        }
        if !beam.rotary_inertia {
            let inertia = untilted_inertia(beam, twists);
            let turned = orientation * inertia * orientation.transpose();
            self.assembly.inertia(ends[0].orientation, &turned);
        }
        let kept: Vec<usize> = (0..present.len()).filter(|&i| present[i]).collect();
        let (mut elements, mut deformations) = (Vec::new(), Vec::new());
        for (number, (pair, section)) in ends.windows(2).zip(&sections).enumerate() {
            let label = format!("{name}.{}", number + 1);
            let id = self.assembly.beam(&label, pair[0], pair[1], *section, y);
            for &index in &suppressed {
                self.assembly.set_deformation(id, index, Role::Fixed);
            }
            deformations.extend(kept.iter().map(|&i| (id, i)));
            self.beams.insert(id, name.to_owned());
            elements.push(id);
        }
        let spans = stations.windows(2).map(|pair| [pair[0], pair[1]]);
        let spans = elements.iter().copied().zip(spans).collect();
        self.spans.insert(name, spans);
        let frame = Transform::new(orientation, origin);
        self.bend((body, beam), &frame, &stations, &elements, &kept)?;
        let station = |x: f64| stations.iter().position(|&s| (s - x).abs() <= near);
        let masses: Vec<(usize, f64)> = (body.point_mass.iter())
            .filter_map(|mass| {
                let x = body.position(mass.place(), false)?[0];
                Some((station(x)?, mass.mass_kg))
            })
            .collect();
        let clamped = Clamped {
            stations: &stations,
            sections: &sections,
            masses: &masses,
            suppressed: &suppressed,
        };
        if let Some(matrix) = matrix(name, body.damping.as_ref(), &clamped)? {
            self.assembly.couple_damping(&deformations, matrix);
        }
        Ok(())
    }

    fn add_marker(&mut self, marker: &MarkerSpec) -> Result<(), NodalModelError> {
        let end = self.place(&marker.body, marker.place(), false)?;
        let position = if marker.body == GROUND {
            marker.position_m.unwrap_or_default()
        } else {
            let body = self.written.bodies.get(marker.body.as_str());
            body.and_then(|body| body.position(marker.place(), false))
                .ok_or_else(|| missing(&marker.body))?
        };
        let standing = &self.bodies[marker.body.as_str()];
        // deflections of a beam are from its root, wherever it is carried
        let mut places = standing.places.iter();
        let at_root = places.find(|(at, _)| !standing.rigid && at.0 == [0.0; 3]);
        let (root, first) = at_root.copied().unwrap_or(standing.places[0]);
        self.markers.push(NodalMarker {
            name: marker.name.clone(),
            end,
        });
        self.stations.push(Station {
            point: Some(end.point),
            orientation: Some((end.orientation, standing.orientation)),
            body: self.body_index.get(marker.body.as_str()).copied(),
            root: Some((first, Vector(position) - root)),
        });
        Ok(())
    }

    /// The nodal model with its start.
    fn finish(mut self, loads: Vec<Load>) -> Result<NodalModel, NodalModelError> {
        let mut loop_of = BTreeMap::new();
        if !self.closings.is_empty() {
            let mut assembly = std::mem::take(&mut self.assembly);
            let closed = close(
                &mut assembly,
                &self.closings,
                (&self.axes, &self.balls),
                (self.spec, !self.bent.is_empty()),
                |open| {
                    let start_s = self.spec.simulation.start_s;
                    let drives = self.motions.iter().map(|curve| drive_of(curve.at(start_s)));
                    (self.start(open).0, drives.collect())
                },
            )?;
            self.assembly = assembly;
            for axis in closed.unfolded {
                self.add_unfolded(axis);
            }
            loop_of = closed.loop_of;
        }
        let mechanism = self.assembly.clone().finish()?;
        let (position, velocity) = self.start(&mechanism);
        let (loaded, gauges) = (self.loaded_beams(), self.gauges());
        let path = MarkerPath::of(self.spec, |name| self.written.markers.get(name).copied());
        Ok(NodalModel {
            charts: Charts::of(
                self.spec,
                &mechanism,
                &self.axes,
                &loop_of,
                self.closings.iter().map(Closing::deformation),
            )?,
            mechanism,
            joints: self.joints,
            axes: self.axes,
            balls: self.balls,
            markers: self.markers,
            stations: self.stations,
            nodes: Vec::new(),
            actions: Actions {
                loads,
                ..self.actions
            },
            motions: self.motions,
            drive_channels: self.drive_channels,
            carrying: self.carrying,
            closures: self.closures,
            path,
            has_loops: !self.closings.is_empty(),
            beams: self.beams,
            rigid: rigid_bodies(&self.bodies),
            loaded,
            gauges,
            bent: self.bent,
            start_s: self.spec.simulation.start_s,
            initial_position: position,
            initial_velocity: velocity,
        })
    }

    /// Orientation of a body at assembly.
    pub(super) fn orientation(&self, body: &str) -> Matrix<f64> {
        let standing = self.bodies.get(body);
        standing.map_or(Matrix::identity(), |standing| standing.orientation)
    }

    fn add_payload(&mut self, payload: &PayloadSpec) -> Result<(), NodalModelError> {
        let end = self.place(&payload.body, payload.place(), false)?;
        let standing = self
            .bodies
            .get(payload.body.as_str())
            .ok_or_else(|| missing(&payload.body))?;
        let orientation = standing.orientation;
        let offset = orientation * Vector(payload.center_of_mass_m);
        let center = self.rigidly(&payload.name, end, offset);
        let body = self.body_index.get(payload.body.as_str()).copied();
        self.note_mass(&payload.body, payload.place(), center);
        self.assembly.set_body(body);
        self.assembly.mass(center.point, payload.mass_kg);
        let inertia = tensor(payload.inertia_kg_m2, payload.products_of_inertia_kg_m2);
        self.assembly.inertia(
            center.orientation,
            &(orientation * inertia * orientation.transpose()),
        );
        self.assembly.set_body(None);
        Ok(())
    }

    /// The end at a place of a body: a node of a beam, or one that moves rigidly with the nearest.
    pub(super) fn place(
        &mut self,
        body: &str,
        place: Place<'_>,
        child_side: bool,
    ) -> Result<End, NodalModelError> {
        let position = if body == GROUND {
            match place {
                Place::Position(position) => position,
                Place::Named(at) => return Err(missing(at)),
                Place::Unsaid => [0.0; 3],
            }
        } else {
            let spec = self.written.bodies.get(body);
            spec.and_then(|spec| spec.position(place, child_side))
                .ok_or_else(|| missing(body))?
        };
        let position = Vector(position);
        let standing = self.bodies.get(body).ok_or_else(|| missing(body))?;
        let apart = |at: Vector<f64>| {
            let apart = at - position;
            apart.dot(apart).sqrt()
        };
        let (mut nearest, mut least) = (standing.places[0], apart(standing.places[0].0));
        for &at in &standing.places[1..] {
            let apart = apart(at.0);
            if apart < least {
                (nearest, least) = (at, apart);
            }
        }
        if least <= SAME_PLACE {
            return Ok(nearest.1);
        }
        // a rigid body hangs on its first nodes, a place beside a beam on the node next to it; the ground never moves
        let (from, end) = match (body, standing.rigid) {
            (GROUND, _) => standing.places[0],
            (_, true) => standing.places[(standing.places.len() - 1) / MOST_PLACES],
            (_, false) => nearest,
        };
        let offset = standing.orientation * (position - from);
        let new = self.rigidly(body, end, offset);
        if body == GROUND {
            self.assembly.set_node(new.point, Role::Fixed);
        }
        if let Some(standing) = self.bodies.get_mut(body)
            && standing.rigid
        {
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
        let across = least_along(offset);
        let none = BeamSection::slender(0.0, 0.0, 0.0, 0.0);
        let beam = self.assembly.beam(name, from, to, none, across);
        self.assembly.set_deformations(beam, Role::Fixed);
        to
    }
}

/// Rigid bodies, by the ends that carry them.
fn rigid_bodies(bodies: &BTreeMap<&str, Standing>) -> BTreeMap<String, Carried> {
    let is_rigid = |(name, standing): &(&&str, &Standing)| standing.rigid && **name != GROUND;
    let rigid = bodies.iter().filter(is_rigid);
    let carried = rigid.map(|(name, standing)| {
        let (at, end) = standing.places[0];
        let orientation = standing.orientation;
        let carried = Carried {
            end,
            at,
            orientation,
        };
        ((*name).to_owned(), carried)
    });
    carried.collect()
}

/// The axis of the ground that is least along a vector.
pub(super) fn least_along(vector: Vector<f64>) -> [f64; 3] {
    let smallest = (0..3).fold(0, |best, i| {
        if vector[i].abs() < vector[best].abs() {
            i
        } else {
            best
        }
    });
    let mut axis = [0.0; 3];
    axis[smallest] = 1.0;
    axis
}

pub(super) fn tensor([xx, yy, zz]: [f64; 3], [xy, xz, yz]: [f64; 3]) -> Matrix<f64> {
    Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
}
