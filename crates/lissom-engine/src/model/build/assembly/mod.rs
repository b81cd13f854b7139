//! Bodies and joints of the file become a tree with its coordinates.

mod closures;
mod cuts;
mod joints;

use std::collections::{BTreeMap, BTreeSet};

use super::Model;
use super::reduce::{Reduced, payload_inertia};
use crate::model::places::{CarryingJoint, Places, PrescribedMotion, Transmission, tip_name};
use lissom_core::{
    Actions, Axis, AxisName, Ball, Load, LoadTarget, MarkerId, MarkerPath, rotation_matrix,
};
use lissom_spatial::{Matrix, RigidInertia, Transform, Vector};
use lissom_spec::spec::{self, AttachmentSpec, BodyKind, BodySpec, JointSpec, ModelSpec};
use lissom_spec::{Fidelity, ShorteningTerms, SpanningTree, Tip, TreeJoint, spanning_tree};
use lissom_tree::closure::AssemblyHints;
use lissom_tree::flex::{FlexibleBody, RigidMotions};
use lissom_tree::{
    Body, Coordinate, CoordinateKind, Joint, JointKind, Linkage, Marker, Place, System,
};

/// A model under construction.
pub(super) struct Assembly<'a> {
    spec: &'a ModelSpec,
    /// Bodies as the file has them.
    written: BTreeMap<&'a str, &'a BodySpec>,
    tree: SpanningTree,
    reduced: BTreeMap<&'a str, Reduced>,
    fidelity: Fidelity,
    bodies: Vec<Body>,
    /// First elastic position of every body.
    elastic_positions: Vec<usize>,
    /// Index of the body that each body of the file became.
    index: BTreeMap<&'a str, usize>,
    /// Components of each joint of the file.
    components: BTreeMap<&'a str, Vec<Component>>,
    /// Components of joints whose motion is prescribed.
    prescribed: BTreeSet<(&'a str, usize)>,
    /// The stub that each joint carries which is cut and acted on.
    stubs: BTreeMap<usize, usize>,
    model: Parts,
}

#[derive(Default)]
struct Parts {
    places: Places,
    actions: Actions,
    transmissions: Vec<Transmission>,
    assembly: AssemblyHints,
    positions: Vec<Coordinate>,
    velocities: Vec<Coordinate>,
    initial_position: Vec<f64>,
    initial_velocity: Vec<f64>,
}

/// A component of a joint of the file.
struct Component {
    /// First entry in the position vector.
    position: usize,
    /// Entry in the velocity vector.
    velocity: usize,
    /// What inputs on it act on.
    target: LoadTarget,
}

/// Names of the directions in space.
const AXES: [&str; 3] = ["x", "y", "z"];

impl<'a> Assembly<'a> {
    pub(super) fn new(spec: &'a ModelSpec, reduced: BTreeMap<&'a str, Reduced>) -> Self {
        let mut assembly = Self {
            spec,
            written: spec.bodies_by_name(),
            tree: spanning_tree(spec),
            reduced,
            fidelity: spec.fidelity.resolve(Fidelity::DEFAULT),
            bodies: Vec::new(),
            elastic_positions: Vec::new(),
            index: BTreeMap::new(),
            components: BTreeMap::new(),
            prescribed: (spec.motion.iter())
                .map(|motion| (motion.joint.as_str(), motion.component))
                .collect(),
            stubs: BTreeMap::new(),
            model: Parts::default(),
        };
        for joint in assembly.tree.joints.clone() {
            assembly.add_joint(joint);
        }
        for payload in &spec.payload {
            assembly.add_payload(payload);
        }
        for cut in assembly.tree.cuts.clone() {
            assembly.add_stub(cut);
        }
        assembly
    }

    /// Appends the body that a joint carries, and the joint's coordinates. A joint that carries the body
    /// written as its parent has the same coordinates about the axis turned round.
    fn add_joint(&mut self, tree: TreeJoint) {
        let joint = &self.spec.joint[tree.joint];
        let (carrier, carried) = tree.sides(self.spec);
        let (Some(kind), Some(child_spec)) = (
            joint.kind(),
            self.written.get(carried.body.as_str()).copied(),
        ) else {
            return;
        };
        let parent = self.index.get(carrier.body.as_str()).copied();
        let outboard = self.side(carrier, tree.reversed);
        let mut inboard = self.side(carried, !tree.reversed);
        let reduced = &self.reduced[carried.body.as_str()];
        let (rigid, mut flexible) = (reduced.rigid, reduced.flexible.clone());
        let mut fidelity = child_spec
            .fidelity
            .map_or(self.fidelity, |own| own.resolve(self.fidelity));
        let by_integrals = (flexible.as_ref()).is_some_and(|f| f.second_order_integrals.is_some());
        if by_integrals && fidelity.shortening == ShorteningTerms::SecondOrder {
            // the integrals of a body of any shape are of that order by themselves
            fidelity.shortening = ShorteningTerms::Kinematic;
        }
        if let (Tip::Chord, Some(flexible)) = (fidelity.tip, &mut flexible) {
            flexible.follow_chords();
        }
        if let Some(flexible) = &flexible
            && flexible.rigid_motions == RigidMotions::AreCoordinates
        {
            // the joint carries the frame, in which the root moves
            inboard = inboard.undeformed(Some(flexible));
        }
        let mut body = Body {
            name: carried.body.clone(),
            parent,
            joint: Joint {
                name: joint.name.clone(),
                kind: JointKind::Fixed,
                armature: [0.0; 6],
                prescribed: self.is_prescribed(&joint.name, 1),
            },
            outboard,
            inboard,
            rigid,
            flexible,
            fidelity,
        };
        self.give_freedoms(&mut body, joint, kind, tree.reversed);
        self.elastic_positions.push(self.model.positions.len());
        self.add_elastic(child_spec, body.flexible.as_ref());
        self.add_orientation(&body);
        self.index.insert(&child_spec.name, self.bodies.len());
        self.bodies.push(body);
    }

    /// Gives the joint that carries a body its kind, with the coordinates and all that belongs to them. The first of the two
    /// hinges of a universal joint carries a cross without inertia.
    fn give_freedoms(
        &mut self,
        body: &mut Body,
        joint: &'a JointSpec,
        kind: spec::JointKind<'_>,
        reversed: bool,
    ) {
        let first = self.bodies.len();
        let sense = if reversed { -1.0 } else { 1.0 };
        let unit = |axis: [f64; 3]| unit(axis).scale(sense);
        let axes = Axis::of(joint);
        match kind {
            spec::JointKind::Revolute(revolute) => {
                body.joint.kind = JointKind::Revolute {
                    axis: unit(revolute.axis),
                };
                self.add_axis(&mut body.joint, &axes[0], &joint.name);
            }
            spec::JointKind::Universal(universal) => {
                body.joint.kind = JointKind::Revolute {
                    axis: unit(universal.first.axis),
                };
                self.add_axis(&mut body.joint, &axes[0], &joint.name);
                let cross = Body {
                    name: format!("{}.cross", joint.name),
                    parent: body.parent,
                    joint: body.joint.clone(),
                    outboard: std::mem::replace(
                        &mut body.outboard,
                        Place::Fixed(Transform::identity()),
                    ),
                    inboard: Place::Fixed(Transform::identity()),
                    rigid: RigidInertia::zero(),
                    flexible: None,
                    fidelity: self.fidelity,
                };
                self.add_orientation(&cross);
                self.elastic_positions.push(self.model.positions.len());
                self.bodies.push(cross);
                body.parent = Some(self.bodies.len() - 1);
                body.joint.kind = JointKind::Revolute {
                    axis: unit(universal.second.axis),
                };
                body.joint.prescribed = self.is_prescribed(&joint.name, 2);
                body.joint.armature = [0.0; 6];
                self.add_axis(&mut body.joint, &axes[1], &joint.name);
            }
            spec::JointKind::Prismatic(prismatic) => {
                body.joint.kind = JointKind::Prismatic {
                    axis: unit(prismatic.axis),
                };
                self.add_axis(&mut body.joint, &axes[0], &joint.name);
            }
            spec::JointKind::Fixed => {
                self.components.insert(&joint.name, Vec::new());
            }
            spec::JointKind::Spherical(_) | spec::JointKind::Free(_) => {
                if let Some(ball) = Ball::of(joint) {
                    body.joint.kind = if ball.translates {
                        JointKind::Free
                    } else {
                        JointKind::Spherical
                    };
                    self.add_ball(&mut body.joint, &ball, &joint.name);
                }
            }
        }
        self.model.places.carrying.push(CarryingJoint {
            name: joint.name.clone(),
            body: self.bodies.len(),
            first,
            reversed,
        });
    }

    /// A payload on a flexible body becomes a body of its own.
    fn add_payload(&mut self, payload: &'a spec::PayloadSpec) {
        let host = &self.reduced[payload.body.as_str()];
        if host.flexible.is_none() {
            return;
        }
        let outboard = self.place(&payload.body, payload.place(), false, [0.0; 3]);
        let body = Body {
            name: payload.name.clone(),
            parent: self.index.get(payload.body.as_str()).copied(),
            outboard,
            rigid: payload_inertia(payload),
            ..self.fixed_body(format!("{}.mount", payload.name))
        };
        self.push(body);
    }

    /// A rigid body without inertia that a joint fixes to the ground.
    fn fixed_body(&self, joint: String) -> Body {
        Body {
            name: joint.clone(),
            parent: None,
            joint: Joint {
                name: joint,
                kind: JointKind::Fixed,
                armature: [0.0; 6],
                prescribed: false,
            },
            outboard: Place::Fixed(Transform::identity()),
            inboard: Place::Fixed(Transform::identity()),
            rigid: RigidInertia::zero(),
            flexible: None,
            fidelity: self.fidelity,
        }
    }

    /// Appends a rigid body whose joint has its coordinates.
    fn push(&mut self, body: Body) -> usize {
        self.elastic_positions.push(self.model.positions.len());
        self.add_orientation(&body);
        self.bodies.push(body);
        self.bodies.len() - 1
    }

    /// Coordinates of the orientation of the node that carries `body`, where its parent's tip is exact.
    fn add_orientation(&mut self, body: &Body) {
        let (Some(parent), Place::Node { index, .. }) = (body.parent, &body.outboard) else {
            return;
        };
        let carrier = &self.bodies[parent];
        let (Tip::Exact, Some(flexible)) = (carrier.fidelity.tip, &carrier.flexible) else {
            return;
        };
        // it starts where the rotation vector of the initial deformation points
        let first = self.elastic_positions[parent];
        let node = &flexible.nodes[*index];
        let mut turned = Vector::zero();
        for (alpha, rotation) in node.rotation.iter().enumerate() {
            turned += Vector(*rotation).scale(self.model.initial_position[first + alpha]);
        }
        self.add_quaternion(&tip_name(&body.joint.name), turned.0);
    }

    /// The frame of one side of a joint; `child_side` says on which side it was written.
    fn side(&self, attachment: &AttachmentSpec, child_side: bool) -> Place {
        let turned = attachment.rotation_vector_rad;
        if attachment.is_ground() {
            let rotation = rotation_matrix(Vector(turned));
            let position = attachment.position_m.unwrap_or_default();
            return Place::Fixed(Transform::new(rotation, Vector(position)));
        }
        self.place(&attachment.body, attachment.place(), child_side, turned)
    }

    fn place(
        &self,
        body: &str,
        place: spec::Place<'_>,
        child_side: bool,
        rotation_vector: [f64; 3],
    ) -> Place {
        let position = self
            .written
            .get(body)
            .and_then(|body| body.position(place, child_side))
            .unwrap_or_default();
        match self.reduced.get(body) {
            Some(reduced) => {
                let named = self.nodal_node(body, place);
                reduced.place(position, named, rotation_vector)
            }
            None => Place::Fixed(Transform::new(Matrix::identity(), Vector(position))),
        }
    }

    /// Index of the node of a nodal or reduced body that a place names; several nodes may share a position.
    fn nodal_node(&self, body: &str, place: spec::Place<'_>) -> Option<usize> {
        let spec::Place::Named(name) = place else {
            return None;
        };
        match self.written.get(body)?.kind()? {
            BodyKind::Nodal(nodal) => {
                let mut names = nodal.nodes.iter().map(|node| node.name.as_deref());
                names.position(|own| own == Some(name))
            }
            BodyKind::Reduced(reduced) => reduced.nodes.iter().position(|node| node.name == name),
            _ => None,
        }
    }

    fn is_prescribed(&self, joint: &str, component: usize) -> bool {
        self.prescribed.contains(&(joint, component))
    }

    fn add_elastic(&mut self, body: &BodySpec, flexible: Option<&FlexibleBody>) {
        let Some(flexible) = flexible else { return };
        let initial = body.initial.clone().unwrap_or_default();
        for coordinate in &flexible.coordinates {
            let name = format!("{}.{coordinate}", body.name);
            let unit = match body.kind() {
                Some(BodyKind::Beam(_)) => beam_unit(coordinate),
                // what its modes are measured in is for whoever gives them to say
                _ => "1",
            };
            let kind = CoordinateKind::Elastic;
            let rate_unit = match unit {
                "m" => "m/s",
                "rad" => "rad/s",
                "kg^0.5 m" => "kg^0.5 m/s",
                _ => "1/s",
            };
            self.model
                .velocities
                .push(Coordinate::new(format!("{name}.rate"), rate_unit, kind));
            self.model.positions.push(Coordinate::new(name, unit, kind));
            let value = |map: &BTreeMap<String, f64>| map.get(coordinate).copied().unwrap_or(0.0);
            self.model.initial_position.push(value(&initial.elastic));
            self.model
                .initial_velocity
                .push(value(&initial.elastic_rate));
        }
    }

    pub(super) fn finish(self) -> Model {
        let spec = self.spec;
        let markers: Vec<Marker> = spec
            .marker
            .iter()
            .map(|marker| Marker {
                name: marker.name.clone(),
                body: self.index.get(marker.body.as_str()).copied(),
                place: if marker.body == spec::GROUND {
                    let position = marker.position_m.unwrap_or_default();
                    Place::Fixed(Transform::new(Matrix::identity(), Vector(position)))
                } else {
                    self.place(&marker.body, marker.place(), false, [0.0; 3])
                },
            })
            .collect();
        let motions: Vec<PrescribedMotion> = spec
            .motion
            .iter()
            .filter_map(|motion| {
                let components = self.components.get(motion.joint.as_str())?;
                let &Component {
                    position, velocity, ..
                } = components.get(motion.component.checked_sub(1)?)?;
                Some(PrescribedMotion {
                    position,
                    velocity,
                    initial: self.model.initial_position[position],
                    profile: spec.shaped(motion.profile()?),
                })
            })
            .collect();
        let mut actions = Actions {
            loads: (spec.input.iter())
                .filter_map(|input| self.load(input))
                .collect(),
            ..self.model.actions.clone()
        };
        let axes = self.model.places.axes.iter();
        let names: Vec<AxisName> = axes.map(|axis| axis.name.clone()).collect();
        // a model that was checked has every joint that is named
        let _ = actions.add_control(spec, &names);
        let closures = self.closures();
        let closure_method = self.closure_method(&actions.loads);
        Model {
            linkage: Linkage {
                system: System::new(self.bodies, Vector(spec.gravity_m_per_s2)),
                closures,
                closure_method,
                prescribed: motions.iter().map(|motion| motion.velocity).collect(),
                markers,
                positions: self.model.positions,
                velocities: self.model.velocities,
            },
            fidelity: self.fidelity,
            places: self.model.places,
            actions,
            transmissions: self.model.transmissions,
            motions,
            nominal_motion: MarkerPath::of(spec, |name| {
                let mut all = spec.marker.iter();
                Some(MarkerId(all.position(|marker| marker.name == name)?))
            }),
            start_s: spec.simulation.start_s,
            assembly: self.model.assembly,
            initial_position: self.model.initial_position,
            initial_velocity: self.model.initial_velocity,
            start_changes: Vec::new(),
            loaded: Vec::new(),
        }
    }

    fn load(&self, input: &spec::InputSpec) -> Option<Load> {
        if let Some(marker) = &input.marker {
            let index = self.spec.marker.iter().position(|m| m.name == *marker)?;
            return Load::on_marker(input, MarkerId(index), MarkerId(index));
        }
        let joint = self.spec.find_joint(input.joint.as_deref()?)?;
        let components = self.components.get(joint.name.as_str())?;
        let component = components.get(input.component.checked_sub(1)?)?;
        let name = if components.len() > 1 {
            format!("{}.{}", joint.name, input.component)
        } else {
            joint.name.clone()
        };
        let translates = joint.kind()?.translates(input.component);
        Load::on_joint(self.spec, input, name, translates, component.target.clone())
    }
}

/// A direction at length one.
fn unit(axis: [f64; 3]) -> Vector<f64> {
    Vector(axis).unit()
}

/// Unit of an elastic coordinate of a beam, by the name that its functions have: mass-normalised modes, values and slopes of
/// elements.
fn beam_unit(coordinate: &str) -> &'static str {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| coordinate.starts_with(prefix));
    if starts(&["bending_", "stretch_", "torsion_"]) {
        "kg^0.5 m"
    } else if starts(&["v_slope_", "w_slope_", "twist_"]) {
        "rad"
    } else if starts(&["v_", "w_", "u_"]) {
        "m"
    } else {
        "1"
    }
}
