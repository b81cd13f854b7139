//! Scenes of trees: bodies with their elastic coordinates, and the motion of their ghost.

use lissom_core::{MotionCurve, Nominal as _, PlaceError};
use lissom_spatial::{Transform, Vector};
use lissom_spec::Tip;
use lissom_spec::spec::{BodyKind, BodySpec, ModelSpec};
use lissom_tree::tree::Kinematics;
use lissom_tree::{Body, ClosureEnd, ClosureKind, JointKind, Place, System};

use super::outline::Outline;
use super::rigid::RigidConfiguration;
use super::{
    Drawable, DrawnBody, DrawnJoint, DrawnMarker, FlexiblePoint, Look, RigidFrame, Side, Solid,
    section, surface,
};
use crate::model::Model;
use crate::simulate::{TreeTrajectory, nominal_motions};

/// A tree as it is drawn.
pub(crate) struct DrawnTree<'m> {
    spec: &'m ModelSpec,
    model: &'m Model,
    position: Vec<f64>,
    poses: Poses,
    rigid: RigidConfiguration<'m>,
    nominal: Option<NominalMotion>,
}

impl<'m> DrawnTree<'m> {
    /// Of a model that was built from `spec`.
    pub(crate) fn new(spec: &'m ModelSpec, model: &'m Model) -> Self {
        Self {
            spec,
            model,
            position: vec![0.0; model.linkage.positions.len()],
            poses: Poses::new(&model.linkage.system),
            rigid: RigidConfiguration::new(model),
            nominal: NominalMotion::new(model),
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
                side: side(self.model, marker.body, &marker.place, Attached::Marker),
            })
            .collect()
    }

    fn rigid_frames(&self) -> Vec<RigidFrame> {
        let bodies = self.model.linkage.system.bodies().iter().enumerate();
        let rigid = bodies.filter(|(_, body)| {
            let own = self.spec.find_body(&body.name);
            matches!(own.and_then(BodySpec::kind), Some(BodyKind::Rigid(_)))
        });
        let frame = |(index, body): (usize, &Body)| RigidFrame {
            name: body.name.clone(),
            drawn_by: vec![index],
            pose: None,
        };
        rigid.map(frame).collect()
    }

    fn has_nominal(&self) -> bool {
        self.nominal.is_some()
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
        self.rigid.place(&self.position);
        if let Some(nominal) = &mut self.nominal {
            nominal.place(time_s, &self.position);
        }
        Ok(())
    }

    fn pose(&self, body: usize) -> Transform<f64> {
        self.poses.of(body)
    }

    fn rigid_pose(&self, body: usize) -> Transform<f64> {
        self.rigid.pose(body)
    }

    fn nominal_pose(&self, body: usize) -> Transform<f64> {
        match &self.nominal {
            Some(nominal) => nominal.poses.of(body),
            None => self.rigid.pose(body),
        }
    }

    fn push_elastic(&self, body: usize, elastic: &mut Vec<f64>) {
        let system = &self.model.linkage.system;
        let first = system.layout().elastic_position[body];
        elastic.extend_from_slice(&self.position[first..][..system.bodies()[body].modes()]);
    }
}

/// Poses of all bodies in a position of the mechanism.
pub(super) struct Poses {
    kinematics: Kinematics<f64>,
    rest: Vec<f64>,
}

impl Poses {
    pub(super) fn new(system: &System) -> Self {
        Self {
            kinematics: Kinematics::new(system),
            rest: vec![0.0; system.velocity_count()],
        }
    }

    pub(super) fn place(&mut self, system: &System, position: &[f64]) {
        self.kinematics.update(system, position, &self.rest);
        self.kinematics.update_poses(system);
    }

    pub(super) fn of(&self, body: usize) -> Transform<f64> {
        *self.kinematics.ground_from_body(body)
    }
}

/// The undeformed tree on its nominal motion.
struct NominalMotion {
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

impl NominalMotion {
    /// `None` for a model without a nominal motion.
    fn new(model: &Model) -> Option<Self> {
        let system = model.linkage.system.rigidified();
        let (flexible, rigid) = (model.linkage.system.layout(), system.layout());
        let mut from = vec![0; system.position_count()];
        for (k, body) in system.bodies().iter().enumerate() {
            for i in 0..body.joint.kind.positions() {
                from[rigid.joint_position[k] + i] = flexible.joint_position[k] + i;
            }
        }
        let together = model.followed_trajectory();
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
        let curves: Vec<_> = curves.collect();
        if together.is_none() && curves.is_empty() {
            return None;
        }
        Some(Self {
            curves,
            together,
            position: vec![0.0; from.len()],
            poses: Poses::new(&system),
            from,
            system,
        })
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
        (Some(BodyKind::Rigid(_)), _) => Look::Rigid,
        (Some(_), _) => Look::Nodal,
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
    let outline = if matches!(kind, Look::Rigid | Look::Payload) {
        outline(model, index, &solids)
    } else {
        Outline::default()
    };
    if outline.connects {
        solids.retain(|solid| solid.payload.is_some());
    }
    let undeformed = |body: Option<usize>, place: &Place| {
        let joint = side(model, body, place, Attached::Joint);
        joint.point.position
    };
    let surface = own.and_then(|own| surface::surface(own, body));
    DrawnBody {
        name: body.name.clone(),
        kind,
        parent: body.parent,
        coordinates: body.modes(),
        carried_by: undeformed(body.parent, &body.outboard),
        held_at: undeformed(Some(index), &body.inboard),
        line: match surface {
            Some(_) => None,
            None => own.and_then(|own| section::line(own, body)),
        },
        surface,
        struts: outline.struts,
        plate: outline.plate,
        solids,
    }
}

/// What is at a place of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attached {
    /// A joint of the tree, which carries a body.
    Joint,
    /// A marker or the end of a closure, which carries none.
    Marker,
}

/// A place with what the elastic coordinates of its body do to it.
fn side(model: &Model, body: Option<usize>, place: &Place, attached: Attached) -> Side {
    let offset = place.offset();
    let flexible = body.map(|index| &model.linkage.system.bodies()[index]);
    let point = match (place, flexible) {
        (Place::Node { index, .. }, Some(body)) => {
            let point = flexible_point(body, *index);
            let fidelity = body.fidelity;
            // fidelities that carry bodies where the undeformed node is
            let stays = attached == Attached::Joint && fidelity.tip == Tip::Rigid;
            if fidelity.frozen || stays {
                FlexiblePoint {
                    position: point.position,
                    ..FlexiblePoint::default()
                }
            } else {
                point
            }
        }
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

/// What connects everything that is attached to a rigid body.
fn outline(model: &Model, index: usize, solids: &[Solid]) -> Outline {
    let bodies = model.linkage.system.bodies();
    let root = bodies[index].inboard.offset().translation;
    // nothing holds a body that floats
    let held = (bodies[index].joint.kind != JointKind::Free).then_some(root);
    let children = (bodies.iter()).filter(|body| body.parent == Some(index));
    let children = children.map(|body| body.outboard.offset().translation);
    let markers = (model.linkage.markers.iter()).filter(|marker| marker.body == Some(index));
    let markers = markers.map(|marker| marker.place.offset().translation);
    let ends = model.linkage.closures.iter().flat_map(|c| [&c.from, &c.to]);
    let ends = ends.filter(|end| end.body == Some(index));
    let ends = ends.map(|end| end.place.offset().translation);
    let joints: Vec<Vector<f64>> = held.into_iter().chain(children).chain(ends).collect();
    let [payloads, own] = [true, false].map(|payload| {
        let solids = solids.iter();
        solids.filter(move |solid| solid.payload.is_some() == payload)
    });
    let place = |solid: &Solid| Vector(solid.position);
    let mut others: Vec<Vector<f64>> = markers.chain(payloads.map(place)).collect();
    let outline = Outline::new(root, &joints, &others);
    // the solid of a body that connects joints is not drawn
    if outline.connects {
        return outline;
    }
    others.extend(own.map(place));
    Outline::new(root, &joints, &others)
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
        parent: side(model, body.parent, &body.outboard, Attached::Joint),
        child: side(model, Some(index), &body.inboard, Attached::Joint),
        axis: match body.joint.kind {
            JointKind::Revolute { axis } | JointKind::Prismatic { axis } => {
                Some(axis_in_body(body.inboard.offset(), axis))
            }
            JointKind::Fixed | JointKind::Spherical | JointKind::Free => None,
        },
    });
    let end = |end: &ClosureEnd| side(model, end.body, &end.place, Attached::Marker);
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
            ClosureKind::AlongBeam { .. } | ClosureKind::TwistOfBeam => ("along_beam", None),
            ClosureKind::Distance { .. } => ("distance", None),
        };
        DrawnJoint {
            name: closure.name.clone(),
            kind,
            closes_loop: true,
            parent: end(&closure.from),
            child: end(&closure.to),
            axis,
        }
    });
    tree.chain(closures).collect()
}
