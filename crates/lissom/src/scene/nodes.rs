//! Scenes of nodal mechanisms: elements as bodies that poses and coordinates of their nodes bend.
//!
//! A beam, of however many elements, is one body whose frame is its first node's. The coordinates of every further node
//! are its displacement $`d`$ and the changes of its tangent $`t`$ and of its rotation vector $`\theta`$ in that frame, so
//! that between two nodes the centreline is Hermite's cubic through places and tangents,
//!
//! ```math
//! u(\xi) = h_1 d_p + \ell h_2 t_p + h_3 d_q + \ell h_4 t_q ,
//! ```
//!
//! which is linear in the coordinates as the page wants it, for rotations of any size. Further coordinates are the
//! curvatures at the ends of its elements.

use super::frames::{Frames, MissingCoordinates, single, spread};
use super::section::{self, Section};
use super::{
    Centreline, DrawnBody, DrawnJoint, DrawnMarker, FlexiblePoint, Ghost, Look, Scene, Side, Solid,
    length,
};
use crate::mesh::{Mesh, Replay};
use crate::simulate::Recording;
use lissom_nodal::{BeamFigure, BeamSection, End, Equations, FigureKind, NodalError, NodeId};
use lissom_spatial::{Matrix, Quaternion, Vector, rotation_vector_of};

/// Intervals along a beam: enough that it looks smooth. A beam of more elements has one for each.
const INTERVALS: usize = 40;
/// Coordinates of a node of a beam: displacement, tangent, rotation vector.
const OF_NODE: usize = 9;
/// Coordinates of an element of a beam: curvatures along y and z at its first and at its second end.
const OF_ELEMENT: usize = 4;

/// Why a recording of a nodal mechanism cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotDrawn {
    /// Coordinates are missing.
    #[error(transparent)]
    Missing(#[from] MissingCoordinates),
    /// The mechanism cannot be where it is said to be.
    #[error("the recorded coordinates do not fit the mechanism: {0}")]
    Unplaced(#[from] NodalError),
}

/// The scene of a mesh, and how its bodies follow the nodes.
#[derive(Clone, Debug)]
pub struct MeshScene {
    /// What does not change with time.
    pub scene: Scene,
    figures: Vec<Figure>,
}

/// What a body follows.
#[derive(Clone, Debug)]
struct Figure {
    name: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Beam(Line),
    Truss([NodeId; 2], f64),
    /// Points that move rigidly with an end.
    Rigid(End, Vec<End>),
    /// A mass, and the orientation beside it.
    Mass(NodeId, Option<NodeId>),
}

/// Nodes along a beam.
#[derive(Clone, Debug)]
struct Line {
    ends: Vec<End>,
    /// Axes of the beam at every node, as columns in the components of its orientation.
    axes: Vec<Matrix<f64>>,
    /// Length and section of every element.
    pieces: Vec<(f64, BeamSection)>,
    /// Places, tangents and attitudes of the nodes at assembly, in the frame of the first.
    reference: Vec<(Vector<f64>, Vector<f64>, Matrix<f64>)>,
}

impl Line {
    fn coordinates(&self) -> usize {
        (OF_NODE + OF_ELEMENT) * self.pieces.len()
    }

    /// First coordinate of a node; the first node has none.
    fn of_node(node: usize) -> Option<usize> {
        Some(OF_NODE * node.checked_sub(1)?)
    }

    fn of_element(&self, element: usize) -> usize {
        OF_NODE * self.pieces.len() + OF_ELEMENT * element
    }

    /// Where the nodes are in the frame of the first.
    fn places(&self, equations: &Equations<'_>) -> Vec<(Vector<f64>, Vector<f64>, Matrix<f64>)> {
        let attitude = |i: usize| equations.node(self.ends[i].orientation).rotation * self.axes[i];
        let first = attitude(0);
        let origin = equations.node(self.ends[0].point).position;
        (0..self.ends.len())
            .map(|i| {
                let place = equations.node(self.ends[i].point).position - origin;
                let turned = first.transpose() * attitude(i);
                let tangent = turned * Vector([1.0, 0.0, 0.0]);
                (first.transpose_mul(place), tangent, turned)
            })
            .collect()
    }

    /// Appends the coordinates of a configuration.
    fn write(&self, equations: &Equations<'_>, elastic: &mut Vec<f32>) {
        let places = self.places(equations);
        let mut before = Vector([0.0; 3]);
        for (now, reference) in places.iter().zip(&self.reference).skip(1) {
            let turn = rotation_vector_of(&(now.2 * reference.2.transpose()));
            before = nearest_turn(turn, before);
            for change in [now.0 - reference.0, now.1 - reference.1, before] {
                elastic.extend(change.0.map(single));
            }
        }
        for (pair, (length, _)) in places.windows(2).zip(&self.pieces) {
            let chord = pair[1].0 - pair[0].0;
            let chord = chord.scale(1.0 / chord.dot(chord).sqrt());
            // slopes of the ends against the chord
            let [p, q] = [&pair[0].2, &pair[1].2].map(|axes| axes.transpose_mul(chord));
            for axis in [1, 2] {
                let [p, q] = [-p[axis], -q[axis]];
                let ends = [-(4.0 * p + 2.0 * q) / length, (2.0 * p + 4.0 * q) / length];
                elastic.extend(ends.map(single));
            }
        }
    }

    /// A node as a point of the body.
    fn point(&self, node: usize) -> FlexiblePoint {
        let position = self.reference[node].0.0;
        let Some(first) = Self::of_node(node) else {
            return FlexiblePoint::default();
        };
        let mut displacement = vec![[0.0; 3]; self.coordinates()];
        let mut rotation = displacement.clone();
        for i in 0..3 {
            displacement[first + i][i] = 1.0;
            rotation[first + 6 + i][i] = 1.0;
        }
        FlexiblePoint {
            position,
            displacement,
            rotation,
            shortening: Vec::new(),
        }
    }

    fn drawn(&self) -> Centreline {
        let n = self.coordinates();
        let whole: f64 = self.pieces.iter().map(|(length, _)| length).sum();
        let per_element = INTERVALS.div_ceil(self.pieces.len());
        let mut line = Centreline {
            positions: Vec::new(),
            displacement: Vec::new(),
            rotation: Vec::new(),
            shortening: Vec::new(),
            curvature: Vec::new(),
            half_axes: Vec::new(),
            sections_known: true,
            youngs_modulus: Vec::new(),
        };
        let mut moduli = Some(Vec::new());
        for (element, (length, given)) in self.pieces.iter().enumerate() {
            let stiffness = [given.bending_stiffness_y, given.bending_stiffness_z];
            let [_, about_y, about_z] = given.rotary_inertia_per_length;
            let section = Section::with(
                Some(given.axial_stiffness),
                stiffness.map(Some),
                // sections turn about z as the beam bends along y
                [about_z, about_y],
                given.mass_per_length,
                whole,
            );
            let from = usize::from(element > 0);
            for step in from..=per_element {
                let xi = step as f64 / per_element as f64;
                let [p, q] = [&self.reference[element], &self.reference[element + 1]];
                let at = |p: f64, q: f64| p + xi * (q - p);
                line.positions
                    .push(std::array::from_fn(|i| at(p.0[i], q.0[i])));
                let mut displacement = vec![[0.0; 3]; n];
                let mut rotation = vec![[0.0; 3]; n];
                let [h1, h2, h3, h4] = hermite(xi);
                let nodes = [
                    (element, h1, length * h2, 1.0 - xi),
                    (element + 1, h3, length * h4, xi),
                ];
                for (node, place, tangent, turn) in nodes {
                    let Some(first) = Self::of_node(node) else {
                        continue;
                    };
                    for i in 0..3 {
                        displacement[first + i][i] = place;
                        displacement[first + 3 + i][i] = tangent;
                        rotation[first + 6 + i][i] = turn;
                    }
                }
                let mut curvature = vec![[0.0; 2]; n];
                let first = self.of_element(element);
                for axis in 0..2 {
                    curvature[first + 2 * axis][axis] = 1.0 - xi;
                    curvature[first + 2 * axis + 1][axis] = xi;
                }
                line.displacement.extend(displacement);
                line.rotation.extend(rotation);
                line.curvature.extend(curvature);
                line.half_axes.push(section.half_axes);
                match (section.youngs_modulus, &mut moduli) {
                    (Some(modulus), Some(moduli)) => moduli.push(modulus),
                    _ => moduli = None,
                }
            }
            line.sections_known &= section.known;
        }
        line.youngs_modulus = moduli.unwrap_or_default();
        line
    }
}

/// Hermite's cubics: for the first place and tangent, then for the second.
fn hermite(x: f64) -> [f64; 4] {
    let (square, cube) = (x * x, x * x * x);
    [
        1.0 - 3.0 * square + 2.0 * cube,
        x - 2.0 * square + cube,
        3.0 * square - 2.0 * cube,
        cube - square,
    ]
}

/// The rotation vector of the same rotation that is nearest to another.
fn nearest_turn(turn: Vector<f64>, to: Vector<f64>) -> Vector<f64> {
    let length = |v: Vector<f64>| v.dot(v).sqrt();
    let (angle, before) = (length(turn), length(to));
    let along = if angle > 1e-6 {
        turn.scale(1.0 / angle)
    } else if before > 1e-6 {
        to.scale(1.0 / before)
    } else {
        return turn;
    };
    let turns = ((to.dot(along) - angle) / std::f64::consts::TAU).round();
    turn + along.scale(turns * std::f64::consts::TAU)
}

impl Figure {
    fn coordinates(&self) -> usize {
        match &self.kind {
            Kind::Beam(line) => line.coordinates(),
            Kind::Truss(..) => 1,
            Kind::Rigid(..) | Kind::Mass(..) => 0,
        }
    }

    /// Pose of its frame.
    fn pose(&self, equations: &Equations<'_>) -> (Vector<f64>, Matrix<f64>) {
        let rotation = |node: NodeId| equations.node(node).rotation;
        let position = |node: NodeId| equations.node(node).position;
        match &self.kind {
            Kind::Beam(line) => (
                position(line.ends[0].point),
                rotation(line.ends[0].orientation) * line.axes[0],
            ),
            Kind::Truss([p, q], _) => (position(*p), looking_along(position(*q) - position(*p))),
            Kind::Rigid(root, _) => (position(root.point), rotation(root.orientation)),
            Kind::Mass(point, beside) => (
                position(*point),
                beside.map_or(Matrix::identity(), rotation),
            ),
        }
    }

    fn write(&self, equations: &Equations<'_>, elastic: &mut Vec<f32>) {
        match &self.kind {
            Kind::Beam(line) => line.write(equations, elastic),
            Kind::Truss([p, q], length) => {
                let apart = equations.node(*q).position - equations.node(*p).position;
                elastic.push(single(apart.dot(apart).sqrt() - length));
            }
            Kind::Rigid(..) | Kind::Mass(..) => {}
        }
    }

    /// Where a point node is on this body.
    fn find(&self, point: NodeId, assembled: &Equations<'_>) -> Option<FlexiblePoint> {
        match &self.kind {
            Kind::Beam(line) => {
                let node = line.ends.iter().position(|end| end.point == point)?;
                Some(line.point(node))
            }
            Kind::Truss([p, _], _) if *p == point => Some(FlexiblePoint::default()),
            Kind::Truss([_, q], length) if *q == point => Some(FlexiblePoint {
                position: [*length, 0.0, 0.0],
                displacement: vec![[1.0, 0.0, 0.0]],
                rotation: vec![[0.0; 3]],
                shortening: Vec::new(),
            }),
            Kind::Rigid(root, ends) => {
                let mut all = ends.iter().chain([root]);
                let found = all.find(|end| end.point == point)?;
                let (origin, frame) = self.pose(assembled);
                let arm = assembled.node(found.point).position - origin;
                Some(FlexiblePoint {
                    position: frame.transpose_mul(arm).0,
                    ..FlexiblePoint::default()
                })
            }
            Kind::Mass(own, _) if *own == point => Some(FlexiblePoint::default()),
            Kind::Truss(..) | Kind::Mass(..) => None,
        }
    }

    /// Points by which it may hang on others, the one that carries its frame first.
    fn points(&self) -> Vec<NodeId> {
        match &self.kind {
            Kind::Beam(line) => {
                let inner = line.ends.iter().map(|end| end.point);
                inner.collect()
            }
            Kind::Truss(points, _) => points.to_vec(),
            Kind::Rigid(root, ends) => {
                let ends = ends.iter().map(|end| end.point);
                [root.point].into_iter().chain(ends).collect()
            }
            Kind::Mass(point, _) => vec![*point],
        }
    }

    fn carries(&self, orientation: NodeId) -> bool {
        match &self.kind {
            Kind::Beam(line) => line.ends.iter().any(|end| end.orientation == orientation),
            Kind::Rigid(root, ends) => {
                let mut all = ends.iter().chain([root]);
                all.any(|end| end.orientation == orientation)
            }
            Kind::Truss(..) | Kind::Mass(..) => false,
        }
    }
}

/// A frame whose x axis is along a direction.
fn looking_along(direction: Vector<f64>) -> Matrix<f64> {
    let size = direction.dot(direction).sqrt();
    if size == 0.0 {
        return Matrix::identity();
    }
    let x = direction.scale(1.0 / size);
    let least = (0..3).fold(
        0,
        |best, i| if x[i].abs() < x[best].abs() { i } else { best },
    );
    let mut hint = Vector([0.0; 3]);
    hint[least] = 1.0;
    let z = x.cross(hint);
    let z = z.scale(1.0 / z.dot(z).sqrt());
    let y = z.cross(x);
    Matrix([x.0, y.0, z.0]).transpose()
}

impl MeshScene {
    /// The scene of a mesh.
    ///
    /// # Errors
    /// When the mechanism is singular at assembly.
    pub fn new(mesh: &Mesh) -> Result<Self, NodalError> {
        let assembled = Equations::new(&mesh.mechanism)?;
        let figures = ordered(mesh, figures(mesh, &assembled));
        let mut bodies: Vec<DrawnBody> = Vec::new();
        for (index, figure) in figures.iter().enumerate() {
            bodies.push(drawn(mesh, &figures[..index], figure, &assembled));
        }
        let colour = section::colour(&mut bodies);
        let scene = Scene {
            length_m: length(&bodies),
            joints: joints(mesh, &figures, &assembled),
            markers: markers(mesh, &figures, &assembled),
            bodies,
            colour,
            ghost: if Replay::new(mesh)?.has_nominal() {
                Ghost::Nominal
            } else {
                Ghost::Undeformed
            },
        };
        Ok(Self { scene, figures })
    }

    /// How many numbers one frame takes.
    pub fn numbers_per_frame(&self) -> usize {
        let figures = self.figures.iter();
        figures.map(|figure| 14 + figure.coordinates()).sum()
    }

    /// At most `most` frames of a recording, evenly spread over its samples, the first and the last among them.
    ///
    /// # Errors
    /// If the recording lacks a coordinate, or is not one of this mesh.
    pub fn frames(
        &self,
        mesh: &Mesh,
        recording: &Recording,
        most: usize,
    ) -> Result<Frames, NotDrawn> {
        let mut replay = Replay::new(mesh)?;
        let all = replay.channels().count();
        let missing = (replay.channels())
            .filter(|name| recording.channel(name).is_none())
            .map(ToOwned::to_owned)
            .collect::<Vec<_>>();
        if !missing.is_empty() {
            let names = missing;
            return Err(MissingCoordinates { names, all }.into());
        }
        let mut frames = Frames {
            time_s: Vec::new(),
            poses: Vec::new(),
            elastic: Vec::new(),
            ghost: Vec::new(),
        };
        for sample in spread(recording.len(), most) {
            let time_s = recording.time_s[sample];
            frames.time_s.push(time_s);
            let equations = replay.at(recording, sample)?;
            for figure in &self.figures {
                write_pose(figure.pose(equations), &mut frames.poses);
                figure.write(equations, &mut frames.elastic);
            }
            let rigid = replay.undeformed(time_s);
            for figure in &self.figures {
                write_pose(figure.pose(rigid), &mut frames.ghost);
            }
        }
        Ok(frames)
    }
}

fn write_pose((position, rotation): (Vector<f64>, Matrix<f64>), poses: &mut Vec<f32>) {
    poses.extend(position.0.map(single));
    poses.extend(Quaternion::of_matrix(&rotation).0.map(single));
}

/// The elements as bodies: those of a beam together, rigid ones by what they are fixed to, and masses by themselves that
/// are on none of these.
fn figures(mesh: &Mesh, assembled: &Equations<'_>) -> Vec<Figure> {
    let mut found: Vec<Figure> = Vec::new();
    for figure in mesh.mechanism.figures() {
        match figure.kind {
            FigureKind::Beam(beam) if beam.deforms => {
                let BeamFigure {
                    ends: [from, to],
                    axes,
                    length,
                    section,
                    ..
                } = *beam;
                // parts of a beam are numbered
                let numbered = (figure.name.rsplit_once('.'))
                    .filter(|(_, number)| number.parse::<usize>().is_ok());
                let name = numbered.map_or(figure.name, |(name, _)| name);
                let going_on = found.last_mut().and_then(|last| match &mut last.kind {
                    Kind::Beam(line) if last.name == name && line.ends.last() == Some(&from) => {
                        Some(line)
                    }
                    _ => None,
                });
                if let Some(line) = going_on {
                    line.ends.push(to);
                    line.axes.push(axes[1]);
                    line.pieces.push((length, section));
                } else {
                    found.push(Figure {
                        name: name.to_owned(),
                        kind: Kind::Beam(Line {
                            ends: vec![from, to],
                            axes: axes.to_vec(),
                            pieces: vec![(length, section)],
                            reference: Vec::new(),
                        }),
                    });
                }
            }
            FigureKind::Beam(beam) => {
                let [from, to] = beam.ends;
                let same = found.iter_mut().find_map(|known| match &mut known.kind {
                    Kind::Rigid(root, ends) if known.name == figure.name && *root == from => {
                        Some(ends)
                    }
                    _ => None,
                });
                if let Some(ends) = same {
                    ends.push(to);
                } else {
                    found.push(Figure {
                        name: figure.name.to_owned(),
                        kind: Kind::Rigid(from, vec![to]),
                    });
                }
            }
            FigureKind::Truss(points) => {
                let [p, q] = points.map(|node| assembled.node(node).position);
                let apart = q - p;
                found.push(Figure {
                    name: figure.name.to_owned(),
                    kind: Kind::Truss(points, apart.dot(apart).sqrt()),
                });
            }
            FigureKind::Hinge(..) | FigureKind::Slider(..) => {}
        }
    }
    for figure in &mut found {
        if let Kind::Beam(line) = &mut figure.kind {
            line.reference = line.places(assembled);
        }
    }
    let masses: Vec<NodeId> = (mesh.mechanism.masses())
        .filter(|(_, mass)| *mass > 0.0)
        .map(|(node, _)| node)
        .collect();
    let alone = (mesh.nodes.iter().copied())
        .filter(|&node| !mesh.mechanism.is_orientation(node))
        .filter(|&node| !found.iter().any(|figure| figure.points().contains(&node)))
        .collect::<Vec<_>>();
    for node in masses.into_iter().chain(alone) {
        let drawn = found.iter().any(|figure| match &figure.kind {
            Kind::Rigid(..) => figure.points().contains(&node),
            Kind::Mass(own, _) => *own == node,
            Kind::Beam(_) | Kind::Truss(..) => false,
        });
        if drawn || mesh.mechanism.is_supported(node) {
            continue;
        }
        let beside = found.iter().find_map(|figure| match &figure.kind {
            Kind::Beam(line) => line.ends.iter().find(|end| end.point == node),
            _ => None,
        });
        let beside = beside.map(|end| end.orientation);
        let name = mesh.mechanism.node_name(node);
        found.push(Figure {
            name: name.strip_suffix(".point").unwrap_or(name).to_owned(),
            kind: Kind::Mass(node, beside),
        });
    }
    found
}

/// Figures with what carries them before them: those on supports first, then what hangs on them.
fn ordered(mesh: &Mesh, mut left: Vec<Figure>) -> Vec<Figure> {
    let mut reached: Vec<NodeId> = Vec::new();
    let mut figures: Vec<Figure> = Vec::new();
    let sliders: Vec<(NodeId, NodeId)> = (mesh.mechanism.figures())
        .filter_map(|figure| match figure.kind {
            FigureKind::Slider(from, to, _) => Some((from.point, to)),
            _ => None,
        })
        .collect();
    while !left.is_empty() {
        let hangs = |figure: &Figure| {
            let mut points = figure.points().into_iter();
            points.any(|point| reached.contains(&point) || mesh.mechanism.is_supported(point))
        };
        let next = left.iter().position(hangs).unwrap_or(0);
        let figure = left.remove(next);
        reached.extend(figure.points());
        for &(from, to) in &sliders {
            if reached.contains(&from) {
                reached.push(to);
            }
        }
        figures.push(figure);
    }
    figures
}

/// The body and the point on it where a node is, among figures.
fn locate(
    mesh: &Mesh,
    figures: &[Figure],
    point: NodeId,
    assembled: &Equations<'_>,
) -> Option<(usize, FlexiblePoint)> {
    let on = |point: NodeId| {
        let mut places = figures.iter().enumerate();
        places.find_map(|(index, figure)| Some((index, figure.find(point, assembled)?)))
    };
    // what slides hangs where its slide begins
    let slide = || {
        let mut all = mesh.mechanism.figures();
        let from = all.find_map(|figure| match figure.kind {
            FigureKind::Slider(from, to, _) if to == point => Some(from.point),
            _ => None,
        });
        on(from?)
    };
    on(point).or_else(slide)
}

fn drawn(mesh: &Mesh, before: &[Figure], figure: &Figure, assembled: &Equations<'_>) -> DrawnBody {
    let points = figure.points();
    let carrier = points.iter().find_map(|&point| {
        let (parent, carried_by) = locate(mesh, before, point, assembled)?;
        Some((parent, carried_by, figure.find(point, assembled)?))
    });
    let (parent, carried_by, held_at) = carrier.map_or_else(
        || (None, FlexiblePoint::default(), FlexiblePoint::default()),
        |(parent, carried_by, held_at)| (Some(parent), carried_by, held_at),
    );
    let mut struts = Vec::new();
    let mut solids = Vec::new();
    let mass_of = |node: NodeId| -> f64 {
        let masses = mesh.mechanism.masses().filter(|(own, _)| *own == node);
        masses.map(|(_, mass)| mass).sum()
    };
    let (origin, frame) = figure.pose(assembled);
    let mut add_solid = |point: NodeId, orientation: Option<NodeId>| {
        let mass = mass_of(point);
        if mass > 0.0 {
            let inertia = orientation.map_or(Matrix::zero(), |orientation| {
                let turned = frame.transpose() * assembled.node(orientation).rotation;
                turned * mesh.mechanism.inertia_of(orientation) * turned.transpose()
            });
            let at = frame.transpose_mul(assembled.node(point).position - origin);
            solids.push(Solid::of_inertia(mass, &inertia, at.0));
        }
    };
    let (kind, line) = match &figure.kind {
        Kind::Beam(line) => (Look::Beam, Some(line.drawn())),
        Kind::Truss(_, length) => (Look::Beam, Some(truss(*length))),
        Kind::Rigid(root, ends) => {
            for end in ends.iter().chain([root]) {
                add_solid(end.point, Some(end.orientation));
                let at = frame.transpose_mul(assembled.node(end.point).position - origin);
                if at.0 != [0.0; 3] {
                    struts.push([[0.0; 3], at.0]);
                }
            }
            (Look::Rigid, None)
        }
        Kind::Mass(point, beside) => {
            add_solid(*point, *beside);
            (Look::Payload, None)
        }
    };
    DrawnBody {
        name: figure.name.clone(),
        kind,
        parent,
        coordinates: figure.coordinates(),
        carried_by,
        held_at,
        line,
        solids,
        struts,
    }
}

fn truss(length: f64) -> Centreline {
    Centreline {
        positions: vec![[0.0; 3], [length, 0.0, 0.0]],
        displacement: vec![[0.0; 3], [1.0, 0.0, 0.0]],
        rotation: vec![[0.0; 3]; 2],
        shortening: Vec::new(),
        curvature: Vec::new(),
        half_axes: Vec::new(),
        sections_known: false,
        youngs_modulus: Vec::new(),
    }
}

fn joints(mesh: &Mesh, figures: &[Figure], assembled: &Equations<'_>) -> Vec<DrawnJoint> {
    let side = |index: usize, point: FlexiblePoint| Side {
        body: Some(index),
        point,
    };
    let drawn = |figure: lissom_nodal::Figure<'_>| {
        let (kind, axis, (index, point)) = match figure.kind {
            FigureKind::Hinge([from, to], axis) => {
                let axis = assembled.node(from).rotation * axis;
                // at the point beside the orientation that it carries, or that carries it
                let place = [to, from].into_iter().find_map(|orientation| {
                    let holder = figures.iter().position(|f| f.carries(orientation))?;
                    let point = match &figures[holder].kind {
                        Kind::Beam(line) => {
                            let mut ends = line.ends.iter();
                            ends.find(|end| end.orientation == orientation)?.point
                        }
                        Kind::Rigid(root, _) => root.point,
                        Kind::Truss(..) | Kind::Mass(..) => return None,
                    };
                    Some((holder, figures[holder].find(point, assembled)?))
                })?;
                ("revolute", axis, place)
            }
            FigureKind::Slider(from, to, axis) => {
                let axis = assembled.node(from.orientation).rotation * axis;
                let places = || figures.iter().enumerate();
                let place =
                    places().find_map(|(index, f)| Some((index, f.find(to, assembled)?)))?;
                ("prismatic", axis, place)
            }
            FigureKind::Beam(_) | FigureKind::Truss(_) => return None,
        };
        let (_, frame) = figures[index].pose(assembled);
        Some(DrawnJoint {
            name: figure.name.to_owned(),
            kind,
            closes_loop: false,
            parent: side(index, point.clone()),
            child: side(index, point),
            axis: Some(frame.transpose_mul(axis).0),
        })
    };
    mesh.mechanism.figures().filter_map(drawn).collect()
}

fn markers(mesh: &Mesh, figures: &[Figure], assembled: &Equations<'_>) -> Vec<DrawnMarker> {
    let of_bodies = mesh
        .markers
        .iter()
        .map(|marker| (marker.name.clone(), marker.end.point));
    let of_nodes = (mesh.nodes.iter())
        .filter(|&&node| !mesh.mechanism.is_orientation(node))
        .map(|&node| (mesh.mechanism.node_name(node).to_owned(), node));
    of_bodies
        .chain(of_nodes)
        .map(|(name, point)| {
            let mut places = figures.iter().enumerate();
            let on = places.find_map(|(index, f)| Some((index, f.find(point, assembled)?)));
            let side = match on {
                Some((index, point)) => Side {
                    body: Some(index),
                    point,
                },
                None => Side {
                    body: None,
                    point: FlexiblePoint {
                        position: assembled.node(point).position.0,
                        ..FlexiblePoint::default()
                    },
                },
            };
            DrawnMarker { name, side }
        })
        .collect()
}
