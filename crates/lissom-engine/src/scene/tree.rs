//! Scenes of trees: bodies with their elastic coordinates, and the motion of their ghost.

use lissom_core::{MotionCurve, PlaceError};
use lissom_spatial::{Transform, Vector};
use lissom_spec::spec::{BodyKind, BodySpec, ModelSpec};
use lissom_tree::tree::Kinematics;
use lissom_tree::{Body, ClosureKind, JointKind, Place, System};

use super::{
    Drawable, DrawnBody, DrawnJoint, DrawnMarker, FlexiblePoint, Look, Side, Solid, section,
};
use crate::model::Model;
use crate::simulate::{TreeTrajectory, followed_trajectory, nominal_motions};

/// A tree as it is drawn.
pub(crate) struct DrawnTree<'m> {
    spec: &'m ModelSpec,
    model: &'m Model,
    position: Vec<f64>,
    poses: Poses,
    ghost: RigidMotion,
}

impl<'m> DrawnTree<'m> {
    /// Of a model that was built from `spec`.
    pub(crate) fn new(spec: &'m ModelSpec, model: &'m Model) -> Self {
        Self {
            spec,
            model,
            position: vec![0.0; model.linkage.positions.len()],
            poses: Poses::new(&model.linkage.system),
            ghost: RigidMotion::new(model),
        }
    }
}

impl Drawable for DrawnTree<'_> {
    fn bodies(&self) -> Vec<DrawnBody> {
        (0..self.body_count())
            .map(|index| drawn_body(self.spec, self.model, index))
            .collect()
    }

    fn joints(&self) -> Vec<DrawnJoint> {
        joints(self.model)
    }

    fn markers(&self) -> Vec<DrawnMarker> {
        let markers = self.model.linkage.markers.iter();
        markers
            .map(|marker| DrawnMarker {
                name: marker.name.clone(),
                side: side(self.model, marker.body, &marker.place),
            })
            .collect()
    }

    fn has_nominal(&self) -> bool {
        self.ghost.has_nominal()
    }

    fn body_count(&self) -> usize {
        self.model.linkage.system.bodies().len()
    }

    fn channels(&self) -> Vec<String> {
        let positions = self.model.linkage.positions.iter();
        positions
            .map(|coordinate| coordinate.name.clone())
            .collect()
    }

    fn place(
        &mut self,
        time_s: f64,
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<(), PlaceError> {
        let coordinates = self.model.linkage.positions.iter();
        for (x, coordinate) in self.position.iter_mut().zip(coordinates) {
            if let Some(value) = value(&coordinate.name) {
                *x = value;
            }
        }
        self.poses.place(&self.model.linkage.system, &self.position);
        self.ghost.place(time_s, &self.position);
        Ok(())
    }

    fn pose(&self, body: usize) -> Transform<f64> {
        self.poses.of(body)
    }

    fn undeformed_pose(&self, body: usize) -> Transform<f64> {
        self.ghost.poses.of(body)
    }

    fn push_elastic(&self, body: usize, elastic: &mut Vec<f64>) {
        let system = &self.model.linkage.system;
        let first = system.layout().elastic_position[body];
        elastic.extend_from_slice(&self.position[first..][..system.bodies()[body].modes()]);
    }
}

/// Poses of all bodies in a position of the mechanism.
struct Poses {
    kinematics: Kinematics<f64>,
    rest: Vec<f64>,
}

impl Poses {
    fn new(system: &System) -> Self {
        Self {
            kinematics: Kinematics::new(system),
            rest: vec![0.0; system.velocity_count()],
        }
    }

    fn place(&mut self, system: &System, position: &[f64]) {
        self.kinematics.update(system, position, &self.rest);
        self.kinematics.update_poses(system);
    }

    fn of(&self, body: usize) -> Transform<f64> {
        *self.kinematics.ground_from_body(body)
    }
}

/// The motion of the ghost.
struct RigidMotion {
    system: System,
    /// Entries of the flexible position vector for the rigid one.
    from: Vec<usize>,
    /// Entry of the rigid position vector, and the curve it follows.
    curves: Vec<(usize, MotionCurve)>,
    /// Where all joints follow from loops or a marker.
    together: Option<TreeTrajectory>,
    position: Vec<f64>,
    poses: Poses,
}

impl RigidMotion {
    fn new(model: &Model) -> Self {
        let system = model.linkage.system.rigidified();
        let (flexible, rigid) = (model.linkage.system.layout(), system.layout());
        let mut from = vec![0; system.position_count()];
        for (k, body) in system.bodies().iter().enumerate() {
            for i in 0..body.joint.kind.positions() {
                from[rigid.joint_position[k] + i] = flexible.joint_position[k] + i;
            }
        }
        let together = followed_trajectory(model);
        // nominal and recorded joints together would open the loops
        let apart = together.is_none() && model.linkage.closures.is_empty();
        let nominal = if apart {
            nominal_motions(model)
        } else {
            Vec::new()
        };
        let curves = nominal.into_iter().filter_map(|(at, curve)| {
            let entry = from.iter().position(|&position| position == at)?;
            Some((entry, curve))
        });
        Self {
            curves: curves.collect(),
            together,
            position: vec![0.0; from.len()],
            poses: Poses::new(&system),
            from,
            system,
        }
    }

    fn has_nominal(&self) -> bool {
        self.together.is_some() || !self.curves.is_empty()
    }

    fn place(&mut self, time_s: f64, position: &[f64]) {
        for (x, &from) in self.position.iter_mut().zip(&self.from) {
            *x = position[from];
        }
        for (entry, curve) in &self.curves {
            self.position[*entry] = curve.at(time_s).position;
        }
        // where the motion cannot be followed the ghost stays with the mechanism
        if let Some(together) = &mut self.together
            && together.follow(time_s).is_ok()
        {
            self.position.copy_from_slice(&together.state().position);
        }
        self.poses.place(&self.system, &self.position);
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
