//! [`Scene`]: what has to be known of a model to draw its recorded motion, without any mechanics on the side of
//! whoever draws.
//!
//! Every body has a frame whose pose is given frame by frame ([`Frames`]). A flexible point of a body
//! ([`FlexiblePoint`]) moves in that frame by $`u = \sum_\alpha \psi_\alpha \eta_\alpha - \tfrac12 \eta^T S \eta\, e_x`$ and
//! turns by $`\theta = \sum_\alpha \theta_\alpha \eta_\alpha`$, with the elastic coordinates $`\eta`$ of the frame. A body
//! whose shape is known by points in another way fits the same form: coordinates are then displacements of
//! the points, and each moves one of them.
//!
//! Deformation exaggerated by a factor $`s`$ moves a point by $`s u`$ and turns it by $`\mathrm{Exp}(s\theta)`$. With
//! $`N_s`$ the pose of the point that carries body $`k`$ on body $`p`$ and $`I_s`$ that of the point of $`k`$ that the
//! joint holds, a body goes to
//!
//! ```math
//! T_k(s) = T_p(s)\, N_s N_1^{-1}\; T_p^{-1}\, T_k \; I_1 I_s^{-1} ,
//! ```
//!
//! which is $`T_k`$ as recorded for $`s = 1`$ and leaves the motion of every joint as it was for every other.

mod frames;
mod nodes;
mod section;
mod solid;

pub use frames::{Frames, MissingCoordinates};
pub use nodes::{MeshScene, NotDrawn};
pub use section::{Centreline, Colour};
pub use solid::{Shape, Solid};

use serde::Serialize;

use crate::model::spec::{BodyKind, BodySpec, ModelSpec};
use crate::model::{Body, ClosureKind, JointKind, Model, Place};
use lissom_spatial::{Transform, Vector};

/// Everything about a model that is drawn and does not change with time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scene {
    /// Length of the longest chain of bodies from the ground: the arm's length.
    pub length_m: f64,
    /// Bodies, parents first.
    pub bodies: Vec<DrawnBody>,
    /// Joints of the tree, then closures of loops.
    pub joints: Vec<DrawnJoint>,
    /// Markers.
    pub markers: Vec<DrawnMarker>,
    /// What the colour of the flexible bodies means.
    pub colour: Colour,
    /// What the ghost shows.
    pub ghost: Ghost,
}

/// One body.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnBody {
    /// Name in the model.
    pub name: String,
    /// What it is.
    pub kind: Look,
    /// Index of the body that carries it; `None` is the ground.
    pub parent: Option<usize>,
    /// Number of elastic coordinates.
    pub coordinates: usize,
    /// The point of the parent that carries it.
    pub carried_by: FlexiblePoint,
    /// The point of this body that the joint holds.
    pub held_at: FlexiblePoint,
    /// Centreline of a flexible body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Centreline>,
    /// Solids fixed to the body's frame.
    pub solids: Vec<Solid>,
    /// Straight bars from the inboard place of a rigid body to the places where something is attached.
    pub struts: Vec<[[f64; 3]; 2]>,
}

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// A rigid body.
    Rigid,
    /// A beam.
    Beam,
    /// A flexible body given by nodes.
    Nodal,
    /// A payload on a flexible body.
    Payload,
    /// The massless cross of a universal joint.
    Cross,
}

/// A point of a body with the influence of the body's elastic coordinates on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlexiblePoint {
    /// Undeformed position in the body's frame.
    pub position: [f64; 3],
    /// $`\psi_\alpha`$, one per elastic coordinate; empty for a point that no coordinate moves.
    pub displacement: Vec<[f64; 3]>,
    /// $`\theta_\alpha`$, likewise.
    pub rotation: Vec<[f64; 3]>,
    /// $`S`$ with all rows and columns, by rows; empty where the model keeps no shortening.
    pub shortening: Vec<f64>,
}

/// A joint or the closure of a loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnJoint {
    /// Name in the model.
    pub name: String,
    /// Kind, as in a model file.
    pub kind: &'static str,
    /// Whether it closes a loop.
    pub closes_loop: bool,
    /// The side of the parent.
    pub parent: Side,
    /// The side of the child.
    pub child: Side,
    /// Axis in the frame of the child, for joints that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
}

/// One side of a joint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Index of the body; `None` is the ground.
    pub body: Option<usize>,
    /// Where on the body.
    pub point: FlexiblePoint,
}

/// A marker.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnMarker {
    /// Name in the model.
    pub name: String,
    /// Where it sits.
    pub side: Side,
}

/// What the ghost shows: all bodies undeformed, and the joints in one of these ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ghost {
    /// Joints with a nominal motion follow it, and those that follow from it by loops or from the nominal motion of a
    /// marker; the others are as recorded.
    Nominal,
    /// Joints are as recorded.
    Undeformed,
}

impl Scene {
    /// The scene of a model that was built from `spec`.
    pub fn new(spec: &ModelSpec, model: &Model) -> Self {
        let built = model.linkage.system.bodies();
        let mut bodies: Vec<DrawnBody> = (0..built.len())
            .map(|index| drawn_body(spec, model, index))
            .collect();
        let colour = section::colour(&mut bodies);
        Self {
            length_m: length(&bodies),
            joints: joints(model),
            markers: (model.linkage.markers.iter())
                .map(|marker| DrawnMarker {
                    name: marker.name.clone(),
                    side: side(model, marker.body, &marker.place),
                })
                .collect(),
            bodies,
            colour,
            ghost: frames::ghost(model),
        }
    }
}

fn drawn_body(spec: &ModelSpec, model: &Model, index: usize) -> DrawnBody {
    let body = &model.linkage.system.bodies()[index];
    let own = spec.find_body(&body.name);
    let payload = (spec.payload.iter())
        .find(|payload| own.is_none() && payload.name == body.name && body.flexible.is_none());
    let kind = match (own.and_then(BodySpec::kind), payload) {
        (Some(BodyKind::Beam(_)), _) => Look::Beam,
        (Some(BodyKind::Nodal(_) | BodyKind::NodalFile(_)), _) => Look::Nodal,
        (Some(BodyKind::Rigid(_)), _) => Look::Rigid,
        (None, Some(_)) => Look::Payload,
        (None, None) => Look::Cross,
    };
    let mut solids = Vec::new();
    if let Some(payload) = payload {
        solids.push(Solid::of_payload(payload, [0.0; 3]));
    }
    if let Some(own) = own {
        if let Some(BodyKind::Rigid(rigid)) = own.kind() {
            solids.push(Solid::of_rigid(rigid));
        }
        // on a flexible body they are bodies of their own
        if body.flexible.is_none() {
            let carried = spec.payload.iter().filter(|p| p.body == own.name);
            solids.extend(carried.filter_map(|payload| {
                let position = own.position(payload.place(), false)?;
                Some(Solid::of_payload(payload, position))
            }));
        }
    }
    DrawnBody {
        name: body.name.clone(),
        kind,
        parent: body.parent,
        coordinates: body.modes(),
        carried_by: side(model, body.parent, &body.outboard).point,
        held_at: side(model, Some(index), &body.inboard).point,
        line: own.and_then(|own| section::line(own, body)),
        struts: if matches!(kind, Look::Rigid | Look::Payload) {
            struts(model, index, &solids)
        } else {
            Vec::new()
        },
        solids,
    }
}

/// A place with what the elastic coordinates of its body do to it.
fn side(model: &Model, body: Option<usize>, place: &Place) -> Side {
    let offset = place.offset();
    let flexible = body.map(|index| &model.linkage.system.bodies()[index]);
    let point = match (place, flexible) {
        (Place::Node { index, .. }, Some(body)) => flexible_point(body, *index),
        _ => FlexiblePoint {
            position: offset.translation.0,
            ..FlexiblePoint::default()
        },
    };
    Side { body, point }
}

fn flexible_point(body: &Body, node: usize) -> FlexiblePoint {
    body.flexible
        .as_ref()
        .map_or_else(FlexiblePoint::default, |flexible| {
            section::point(body, &flexible.nodes[node])
        })
}

/// Bars from the inboard place to everything that is attached.
fn struts(model: &Model, index: usize, solids: &[Solid]) -> Vec<[[f64; 3]; 2]> {
    let bodies = model.linkage.system.bodies();
    let root = bodies[index].inboard.offset().translation;
    let children = (bodies.iter()).filter(|body| body.parent == Some(index));
    let children = children.map(|body| body.outboard.offset().translation);
    let markers = (model.linkage.markers.iter()).filter(|marker| marker.body == Some(index));
    let markers = markers.map(|marker| marker.place.offset().translation);
    let ends = model.linkage.closures.iter().flat_map(|c| [&c.from, &c.to]);
    let ends = ends.filter(|end| end.body == Some(index));
    let ends = ends.map(|end| end.place.offset().translation);
    let solids = solids.iter().map(|solid| Vector(solid.position));
    let mut struts: Vec<[[f64; 3]; 2]> = Vec::new();
    for end in children.chain(markers).chain(ends).chain(solids) {
        let strut = [root.0, end.0];
        if end != root && !struts.contains(&strut) {
            struts.push(strut);
        }
    }
    struts
}

fn joints(model: &Model) -> Vec<DrawnJoint> {
    let axis_in_body = |place: &Transform<f64>, axis: Vector<f64>| (place.rotation * axis).0;
    let bodies = model.linkage.system.bodies().iter().enumerate();
    let tree = bodies.map(|(index, body)| DrawnJoint {
        name: body.joint.name.clone(),
        kind: match body.joint.kind {
            JointKind::Revolute { .. } => "revolute",
            JointKind::Prismatic { .. } => "prismatic",
            JointKind::Fixed => "fixed",
            JointKind::Spherical => "spherical",
            JointKind::Free => "free",
        },
        closes_loop: false,
        parent: side(model, body.parent, &body.outboard),
        child: side(model, Some(index), &body.inboard),
        axis: match body.joint.kind {
            JointKind::Revolute { axis } | JointKind::Prismatic { axis } => {
                Some(axis_in_body(body.inboard.offset(), axis))
            }
            JointKind::Fixed | JointKind::Spherical | JointKind::Free => None,
        },
    });
    let closures = model.linkage.closures.iter().map(|closure| {
        let (from, to) = (closure.from.place.offset(), closure.to.place.offset());
        let (kind, axis) = match closure.kind {
            ClosureKind::Fixed => ("fixed", None),
            ClosureKind::Revolute { axis } => ("revolute", Some(axis_in_body(to, axis))),
            ClosureKind::Prismatic { axis } => ("prismatic", Some(axis_in_body(to, axis))),
            ClosureKind::Universal { second, .. } => ("universal", Some(axis_in_body(to, second))),
            ClosureKind::Spherical => ("spherical", None),
            ClosureKind::PointOnLine { direction } => {
                ("point_on_line", Some(axis_in_body(from, direction)))
            }
            ClosureKind::OnBeam { .. } => ("on_beam", None),
            ClosureKind::AlongBeam { .. } => ("along_beam", None),
            ClosureKind::Distance { .. } => ("distance", None),
        };
        DrawnJoint {
            name: closure.name.clone(),
            kind,
            closes_loop: true,
            parent: side(model, closure.from.body, &closure.from.place),
            child: side(model, closure.to.body, &closure.to.place),
            axis,
        }
    });
    tree.chain(closures).collect()
}

/// Length of the longest chain from the ground to the far end of a body, along the places of the joints.
fn length(bodies: &[DrawnBody]) -> f64 {
    let distance = |a: [f64; 3], b: [f64; 3]| {
        let d = Vector(a) - Vector(b);
        d.dot(d).sqrt()
    };
    let mut before = vec![0.0; bodies.len()];
    let mut longest = 0.0_f64;
    for (index, body) in bodies.iter().enumerate() {
        if let Some(parent) = body.parent {
            let root = bodies[parent].held_at.position;
            before[index] = before[parent] + distance(root, body.carried_by.position);
        }
        let root = body.held_at.position;
        let line = body.line.iter().flat_map(|line| line.positions.iter());
        let struts = body.struts.iter().map(|[_, end]| end);
        let reach = line
            .chain(struts)
            .fold(0.0, |reach: f64, &end| reach.max(distance(root, end)));
        longest = longest.max(before[index] + reach);
    }
    // a mechanism of points without extent is drawn as if it were a metre long
    if longest > 0.0 { longest } else { 1.0 }
}
