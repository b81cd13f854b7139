//! Elements of a nodal model as bodies to be drawn, and what each of them follows.

use lissom_nodal::{BeamFigure, End, Equations, FigureKind, NodeId};
use lissom_spatial::{Matrix, Transform, Vector};

use super::line::Line;
use crate::nodal_model::{Carried, NodalModel};
use crate::scene::FlexiblePoint;

/// What a body follows.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Beam(Line),
    Truss([NodeId; 2], f64),
    /// Points that move rigidly with an end.
    Rigid(End, Vec<End>),
    /// A mass, and the orientation beside it.
    Mass(NodeId, Option<NodeId>),
}

impl Figure {
    /// Number of elastic coordinates.
    pub(super) fn coordinates(&self) -> usize {
        match &self.kind {
            Kind::Beam(line) => line.coordinates(),
            Kind::Truss(..) => 1,
            Kind::Rigid(..) | Kind::Mass(..) => 0,
        }
    }

    /// Pose of its frame.
    pub(super) fn pose(&self, equations: &Equations<'_>) -> Transform<f64> {
        let rotation = |node: NodeId| equations.node(node).rotation;
        let position = |node: NodeId| equations.node(node).position;
        match &self.kind {
            Kind::Beam(line) => Transform::new(
                rotation(line.ends[0].orientation) * line.axes[0],
                position(line.ends[0].point),
            ),
            Kind::Truss([p, q], _) => {
                Transform::new(looking_along(position(*q) - position(*p)), position(*p))
            }
            Kind::Rigid(root, _) => {
                Transform::new(rotation(root.orientation), position(root.point))
            }
            Kind::Mass(point, beside) => Transform::new(
                beside.map_or(Matrix::identity(), rotation),
                position(*point),
            ),
        }
    }

    /// Appends its coordinates in a configuration.
    pub(super) fn push_elastic(&self, equations: &Equations<'_>, elastic: &mut Vec<f64>) {
        match &self.kind {
            Kind::Beam(line) => line.push_elastic(equations, elastic),
            Kind::Truss([p, q], length) => {
                let apart = equations.node(*q).position - equations.node(*p).position;
                elastic.push(apart.dot(apart).sqrt() - length);
            }
            Kind::Rigid(..) | Kind::Mass(..) => {}
        }
    }

    /// Where a point node is on this body.
    pub(super) fn find(&self, point: NodeId, assembled: &Equations<'_>) -> Option<FlexiblePoint> {
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
                second_order: Vec::new(),
            }),
            Kind::Rigid(root, ends) => {
                let mut all = ends.iter().chain([root]);
                let found = all.find(|end| end.point == point)?;
                let frame = self.pose(assembled);
                let arm = assembled.node(found.point).position - frame.translation;
                Some(FlexiblePoint {
                    position: frame.rotation.transpose_mul(arm).0,
                    ..FlexiblePoint::default()
                })
            }
            Kind::Mass(own, _) if *own == point => Some(FlexiblePoint::default()),
            Kind::Truss(..) | Kind::Mass(..) => None,
        }
    }

    /// Points by which it may hang on others, the one that carries its frame first.
    pub(super) fn points(&self) -> Vec<NodeId> {
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

    /// Whether it is part of what a rigid body of this name is drawn by.
    pub(super) fn stands_for(&self, name: &str, body: &Carried) -> bool {
        match &self.kind {
            Kind::Rigid(..) => self.name == name,
            Kind::Mass(point, _) => *point == body.end.point,
            Kind::Beam(_) | Kind::Truss(..) => false,
        }
    }

    /// Whether its frame turns with such a body.
    pub(super) fn turns_with(&self, body: &Carried) -> bool {
        match &self.kind {
            Kind::Rigid(..) => true,
            Kind::Mass(_, beside) => *beside == Some(body.end.orientation),
            Kind::Beam(_) | Kind::Truss(..) => false,
        }
    }

    /// Whether an orientation is one of its own.
    pub(super) fn carries(&self, orientation: NodeId) -> bool {
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

/// The elements as bodies: those of a beam together, rigid ones by what they are fixed to, and masses by themselves that
/// are on none of these.
pub(super) fn figures(nodal: &NodalModel, assembled: &Equations<'_>) -> Vec<Figure> {
    let mut found: Vec<Figure> = Vec::new();
    for figure in nodal.mechanism.figures() {
        match figure.kind {
            FigureKind::Beam(beam) if beam.deforms => {
                let BeamFigure {
                    ends: [from, to],
                    axes,
                    length,
                    section,
                    ..
                } = *beam;
                let name = nodal.beam_of(figure.id).unwrap_or(figure.name);
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
    let masses: Vec<NodeId> = (nodal.mechanism.masses())
        .filter(|(_, mass)| *mass > 0.0)
        .map(|(node, _)| node)
        .collect();
    let alone = (nodal.nodes.iter().copied())
        .filter(|&node| !nodal.mechanism.is_orientation(node))
        .filter(|&node| !found.iter().any(|figure| figure.points().contains(&node)))
        .collect::<Vec<_>>();
    for node in masses.into_iter().chain(alone) {
        let drawn = found.iter().any(|figure| match &figure.kind {
            Kind::Rigid(..) => figure.points().contains(&node),
            Kind::Mass(own, _) => *own == node,
            Kind::Beam(_) | Kind::Truss(..) => false,
        });
        if drawn || nodal.mechanism.is_supported(node) {
            continue;
        }
        let beside = found.iter().find_map(|figure| match &figure.kind {
            Kind::Beam(line) => line.ends.iter().find(|end| end.point == node),
            _ => None,
        });
        let beside = beside.map(|end| end.orientation);
        let name = nodal.mechanism.node_name(node);
        // nodes that were made for an end are called after it
        let end = name.strip_suffix(".point");
        let end = end.filter(|_| !nodal.nodes.contains(&node));
        found.push(Figure {
            name: end.unwrap_or(name).to_owned(),
            kind: Kind::Mass(node, beside),
        });
    }
    found
}

/// Where every slide begins, and what slides on it.
pub(super) fn slides(nodal: &NodalModel) -> impl Iterator<Item = (NodeId, NodeId)> {
    (nodal.mechanism.figures()).filter_map(|figure| match figure.kind {
        FigureKind::Slider(from, to, _) => Some((from.point, to)),
        _ => None,
    })
}

/// Figures with what carries them before them: those on supports first, then what hangs on them.
pub(super) fn ordered(nodal: &NodalModel, mut left: Vec<Figure>) -> Vec<Figure> {
    let mut reached: Vec<NodeId> = Vec::new();
    let mut figures: Vec<Figure> = Vec::new();
    while !left.is_empty() {
        let hangs = |figure: &Figure| {
            let mut points = figure.points().into_iter();
            points.any(|point| reached.contains(&point) || nodal.mechanism.is_supported(point))
        };
        let next = left.iter().position(hangs).unwrap_or(0);
        let figure = left.remove(next);
        reached.extend(figure.points());
        for (from, to) in slides(nodal) {
            if reached.contains(&from) {
                reached.push(to);
            }
        }
        figures.push(figure);
    }
    figures
}
