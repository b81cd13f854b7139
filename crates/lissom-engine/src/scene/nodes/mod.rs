//! Scenes of nodal mechanisms: elements as bodies that poses and coordinates of their nodes bend.

mod figure;
mod line;

use lissom_core::PlaceError;
use lissom_nodal::{Equations, FigureKind, NodalError, NodeId};
use lissom_spatial::{Matrix, Transform};

use self::figure::{Figure, Kind, figures, ordered};
use self::line::truss;
use super::{Drawable, DrawnBody, DrawnJoint, DrawnMarker, FlexiblePoint, Look, Side, Solid};
use crate::nodal_model::{NodalModel, Replay};

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
            .map(|(index, figure)| {
                drawn(self.nodal, &self.figures[..index], figure, &self.assembled)
            })
            .collect()
    }

    fn joints(&self) -> Vec<DrawnJoint> {
        joints(self.nodal, &self.figures, &self.assembled)
    }

    fn markers(&self) -> Vec<DrawnMarker> {
        markers(self.nodal, &self.figures, &self.assembled)
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

    fn undeformed_pose(&self, body: usize) -> Transform<f64> {
        self.figures[body].pose(self.replay.undeformed())
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
    let slide = || {
        let mut all = nodal.mechanism.figures();
        let from = all.find_map(|figure| match figure.kind {
            FigureKind::Slider(from, to, _) if to == point => Some(from.point),
            _ => None,
        });
        on(from?)
    };
    on(point).or_else(slide)
}

fn drawn(
    nodal: &NodalModel,
    before: &[Figure],
    figure: &Figure,
    assembled: &Equations<'_>,
) -> DrawnBody {
    let points = figure.points();
    let carrier = points.iter().find_map(|&point| {
        let (parent, carried_by) = locate(nodal, before, point, assembled)?;
        Some((parent, carried_by, figure.find(point, assembled)?))
    });
    let (parent, carried_by, held_at) = carrier.map_or_else(
        || (None, FlexiblePoint::default(), FlexiblePoint::default()),
        |(parent, carried_by, held_at)| (Some(parent), carried_by, held_at),
    );
    let mut struts = Vec::new();
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

fn joints(nodal: &NodalModel, figures: &[Figure], assembled: &Equations<'_>) -> Vec<DrawnJoint> {
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
        let frame = figures[index].pose(assembled).rotation;
        Some(DrawnJoint {
            name: figure.name.to_owned(),
            kind,
            closes_loop: false,
            parent: side(index, point.clone()),
            child: side(index, point),
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
