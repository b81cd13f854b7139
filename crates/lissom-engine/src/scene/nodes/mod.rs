//! Scenes of nodal mechanisms: elements as bodies that poses and coordinates of their nodes bend.

mod figure;
mod line;

use lissom_core::PlaceError;
use lissom_nodal::{Equations, FigureKind, NodalError, NodeId};
use lissom_spatial::{Matrix, Transform, Vector};

use self::figure::{Figure, Kind, figures, ordered, slides};
use self::line::truss;
use super::outline::Outline;
use super::{
    Drawable, DrawnBody, DrawnJoint, DrawnMarker, FlexiblePoint, Look, RigidFrame, Side, Solid,
};
use crate::nodal_model::{Carried, NodalModel, Replay};

/// A nodal model as it is drawn, and how its bodies follow the nodes.
pub(crate) struct DrawnNodes<'m> {
    nodal: &'m NodalModel,
    assembled: Equations<'m>,
    figures: Vec<Figure>,
    replay: Replay<'m>,
}

impl<'m> DrawnNodes<'m> {
    /// Of a nodal model.
    ///
    /// # Errors
    /// When the mechanism is singular at assembly.
    pub(crate) fn new(nodal: &'m NodalModel) -> Result<Self, PlaceError> {
        let assembled = Equations::new(&nodal.mechanism).map_err(|error| unplaced(&error))?;
        Ok(Self {
            nodal,
            figures: ordered(nodal, figures(nodal, &assembled)),
            assembled,
            replay: Replay::new(nodal).map_err(|error| unplaced(&error))?,
        })
    }
}

fn unplaced(error: &NodalError) -> PlaceError {
    PlaceError {
        reason: error.to_string(),
        part: "the mechanism",
    }
}

impl Drawable for DrawnNodes<'_> {
    fn bodies(&self) -> Vec<DrawnBody> {
        let figures = self.figures.iter().enumerate();
        figures
            .map(|(index, figure)| drawn(self.nodal, &self.figures, index, figure, &self.assembled))
            .collect()
    }

    fn joints(&self) -> Vec<DrawnJoint> {
        joints(self.nodal, &self.figures, &self.assembled)
    }

    fn markers(&self) -> Vec<DrawnMarker> {
        markers(self.nodal, &self.figures, &self.assembled)
    }

    fn rigid_frames(&self) -> Vec<RigidFrame> {
        let assembled = &self.assembled;
        let frame = |(name, body): (&str, &Carried)| {
            let figures = self.figures.iter().enumerate();
            let (turned, others): (Vec<_>, Vec<_>) = figures
                .filter(|(_, figure)| figure.stands_for(name, body))
                .partition(|(_, figure)| figure.turns_with(body));
            let &(_, first) = turned.first()?;
            let own = turned.iter().chain(&others).map(|(index, _)| *index);
            Some(RigidFrame {
                name: name.to_owned(),
                drawn_by: own.collect(),
                pose: Some(first.pose(assembled).inverse() * body.pose(assembled)),
            })
        };
        self.nodal.rigid_bodies().filter_map(frame).collect()
    }

    fn has_nominal(&self) -> bool {
        self.replay.has_nominal()
    }

    fn body_count(&self) -> usize {
        self.figures.len()
    }

    fn channels(&self) -> Vec<String> {
        self.replay.channels().map(str::to_owned).collect()
    }

    fn place(
        &mut self,
        time_s: f64,
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<(), PlaceError> {
        self.replay
            .place(time_s, value)
            .map_err(|error| unplaced(&error))?;
        self.replay.place_undeformed(time_s);
        Ok(())
    }

    fn pose(&self, body: usize) -> Transform<f64> {
        self.figures[body].pose(self.replay.placed())
    }

    fn rigid_pose(&self, body: usize) -> Transform<f64> {
        self.figures[body].pose(self.replay.undeformed())
    }

    fn nominal_pose(&self, body: usize) -> Transform<f64> {
        self.figures[body].pose(self.replay.nominal())
    }

    fn push_elastic(&self, body: usize, elastic: &mut Vec<f64>) {
        self.figures[body].push_elastic(self.replay.placed(), elastic);
    }
}

/// The body and the point on it where a node is, among figures.
fn locate(
    nodal: &NodalModel,
    figures: &[Figure],
    point: NodeId,
    assembled: &Equations<'_>,
) -> Option<(usize, FlexiblePoint)> {
    let on = |point: NodeId| {
        let mut places = figures.iter().enumerate();
        places.find_map(|(index, figure)| Some((index, figure.find(point, assembled)?)))
    };
    // what slides hangs where its slide begins
    let slide = || on(slides(nodal).find(|&(_, to)| to == point)?.0);
    on(point).or_else(slide)
}

fn drawn(
    nodal: &NodalModel,
    figures: &[Figure],
    index: usize,
    figure: &Figure,
    assembled: &Equations<'_>,
) -> DrawnBody {
    let before = &figures[..index];
    let points = figure.points();
    // where other bodies or the ground hold it
    let is_joint = |point: NodeId| {
        let mut others = figures.iter().enumerate().filter(|(k, _)| *k != index);
        nodal.mechanism.is_supported(point)
            || others.any(|(_, other)| other.points().contains(&point))
            || slides(nodal).any(|(from, to)| from == point || to == point)
    };
    let carrier = points.iter().find_map(|&point| {
        let (parent, carried_by) = locate(nodal, before, point, assembled)?;
        Some((parent, carried_by, figure.find(point, assembled)?))
    });
    let (parent, carried_by, held_at) = carrier.map_or_else(
        || (None, [0.0; 3], [0.0; 3]),
        |(parent, carried_by, held_at)| (Some(parent), carried_by.position, held_at.position),
    );
    let mut outline = Outline::default();
    let mut solids = Vec::new();
    let mass_of = |node: NodeId| -> f64 {
        let masses = nodal.mechanism.masses().filter(|(own, _)| *own == node);
        masses.map(|(_, mass)| mass).sum()
    };
    let Transform {
        rotation: frame,
        translation: origin,
    } = figure.pose(assembled);
    let mut add_solid = |point: NodeId, orientation: Option<NodeId>| {
        let mass = mass_of(point);
        if mass > 0.0 {
            let inertia = orientation.map_or(Matrix::zero(), |orientation| {
                let turned = frame.transpose() * assembled.node(orientation).rotation;
                turned * nodal.mechanism.inertia_of(orientation) * turned.transpose()
            });
            let at = frame.transpose_mul(assembled.node(point).position - origin);
            solids.push(Solid::of_inertia(mass, &inertia, at.0));
        }
    };
    let (kind, line) = match &figure.kind {
        Kind::Beam(line) => (Look::Beam, Some(line.drawn())),
        Kind::Truss(_, length) => (Look::Beam, Some(truss(*length))),
        Kind::Rigid(root, ends) => {
            let [mut joints, mut others] = [Vec::new(), Vec::new()];
            for end in [root].into_iter().chain(ends) {
                let at = frame.transpose_mul(assembled.node(end.point).position - origin);
                if is_joint(end.point) {
                    joints.push(at);
                } else {
                    others.push(at);
                }
            }
            outline = Outline::new(Vector::zero(), &joints, &others);
            if !outline.connects {
                for end in ends.iter().chain([root]) {
                    add_solid(end.point, Some(end.orientation));
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
        surface: None,
        solids,
        struts: outline.struts,
        plate: outline.plate,
    }
}

fn joints(nodal: &NodalModel, figures: &[Figure], assembled: &Equations<'_>) -> Vec<DrawnJoint> {
    let side = |index: usize, point: FlexiblePoint| Side {
        body: Some(index),
        point,
    };
    let drawn = |figure: lissom_nodal::Figure<'_>| {
        let (kind, axis, [parent, child]) = match figure.kind {
            FigureKind::Hinge([from, to], axis) => {
                let axis = assembled.node(from).rotation * axis;
                let holders = |orientation| {
                    (0..figures.len()).filter(move |&k| figures[k].carries(orientation))
                };
                let places = |index: usize, orientation: NodeId| -> Vec<NodeId> {
                    match &figures[index].kind {
                        Kind::Beam(line) => (line.ends.iter())
                            .filter(|end| end.orientation == orientation)
                            .map(|end| end.point)
                            .collect(),
                        _ => figures[index].points(),
                    }
                };
                let at = |index: usize, point: NodeId| {
                    Some(side(index, figures[index].find(point, assembled)?))
                };
                // where a body with one of the orientations meets one with the other
                let met = holders(from).find_map(|parent| {
                    holders(to).find_map(|child| {
                        let own = places(child, to);
                        let mut shared = places(parent, from).into_iter();
                        let point = shared.find(|point| own.contains(point))?;
                        Some([at(parent, point)?, at(child, point)?])
                    })
                });
                // the ground holds the other side
                let alone = || {
                    let place = [to, from].into_iter().find_map(|orientation| {
                        let holder = holders(orientation).next()?;
                        at(holder, *places(holder, orientation).first()?)
                    })?;
                    Some([place.clone(), place])
                };
                let sides = met.or_else(alone)?;
                ("revolute", axis, sides)
            }
            FigureKind::Slider(from, to, axis) => {
                let axis = assembled.node(from.orientation).rotation * axis;
                let mut places = figures.iter().enumerate();
                let place = places.find_map(|(k, f)| Some(side(k, f.find(to, assembled)?)))?;
                // what slides is in one place only
                ("prismatic", axis, [place.clone(), place])
            }
            FigureKind::Beam(_) | FigureKind::Truss(_) => return None,
        };
        let frame = figures[child.body?].pose(assembled).rotation;
        Some(DrawnJoint {
            name: figure.name.to_owned(),
            kind,
            closes_loop: false,
            parent,
            child,
            axis: Some(frame.transpose_mul(axis).0),
        })
    };
    nodal.mechanism.figures().filter_map(drawn).collect()
}

fn markers(nodal: &NodalModel, figures: &[Figure], assembled: &Equations<'_>) -> Vec<DrawnMarker> {
    let of_bodies = nodal
        .markers
        .iter()
        .map(|marker| (marker.name.clone(), marker.end.point));
    let of_nodes = (nodal.nodes.iter())
        .filter(|&&node| !nodal.mechanism.is_orientation(node))
        .map(|&node| (nodal.mechanism.node_name(node).to_owned(), node));
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
