//! [`Conversion`]: links on joints become bodies on joints, links on fixed joints parts of what carries them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use lissom_spatial::{Matrix, RigidInertia, Transform, Vector, rotation_vector_of};

use super::flexible::{Flexible, FlexibleLink};
use super::keys::{central, is_zero, key_of_table, mass_properties, number, numbers, quoted};
use super::robot::{Joint, JointType, Link, Robot, Shape, Visual};
use super::{Called, UrdfError, UrdfFault};

/// Largest number that is taken for a limit; files have 1e16 where they mean none.
const MOST: f64 = 1e6;
/// How far from the tip of a beam a joint may be, in its lengths, to count as being there.
const AT_THE_TIP: f64 = 1e-6;

/// A robot as the parts of a model.
pub(super) struct Conversion<'r> {
    robot: &'r Robot,
    root: &'r str,
    bodies: Vec<Body<'r>>,
    joints: Vec<MovingJoint<'r>>,
    payloads: Vec<Payload<'r>>,
    markers: Vec<Marker<'r>>,
    visuals: Vec<Drawn<'r>>,
}

struct Body<'r> {
    name: &'r str,
    /// Line of its link.
    line: u32,
    /// Inertia of the link, with those of links that are fixed to it.
    inertia: RigidInertia<f64>,
    flexible: Option<&'r FlexibleLink>,
}

struct MovingJoint<'r> {
    joint: &'r Joint,
    /// The body that carries it; none for the ground.
    parent: Option<usize>,
    parent_from_joint: Transform<f64>,
    child: usize,
    child_from_joint: Transform<f64>,
}

/// Where links that are fixed to a body, or to each other, are fixed to it: by the first of their joints.
#[derive(Clone, Copy)]
struct Seat<'r> {
    joint: &'r str,
    position: Vector<f64>,
}

/// A link with mass that is fixed to a flexible one.
struct Payload<'r> {
    name: &'r str,
    seat: Seat<'r>,
    body: usize,
    body_from_link: Transform<f64>,
    inertia: RigidInertia<f64>,
}

struct Marker<'r> {
    name: &'r str,
    seat: Seat<'r>,
    body: Option<usize>,
    position: Vector<f64>,
}

/// A shape on a rigid body, or on the ground.
struct Drawn<'r> {
    visual: &'r Visual,
    body: Option<usize>,
    body_from_shape: Transform<f64>,
}

/// Where something sits on a body.
enum Site<'r> {
    /// At a place that has a name.
    Named(&'r str),
    /// At the tip of a beam, where things sit unless said otherwise.
    Tip,
    /// At a position in the body's frame.
    At(Vector<f64>),
}

/// Where a link is: on a body, or on the ground.
#[derive(Clone, Copy)]
struct Standing<'r> {
    body: Option<usize>,
    body_from_link: Transform<f64>,
    /// If it is fixed there.
    seat: Option<Seat<'r>>,
}

impl<'r> Conversion<'r> {
    pub(super) fn of(robot: &'r Robot, flexible: &'r Flexible) -> Result<Self, Vec<UrdfError>> {
        let (root, order) = order(robot)?;
        let links: BTreeMap<&str, &Link> = (robot.links.iter())
            .map(|link| (link.name.as_str(), link))
            .collect();
        let mut this = Self {
            robot,
            root,
            bodies: Vec::new(),
            joints: Vec::new(),
            payloads: Vec::new(),
            markers: Vec::new(),
            visuals: Vec::new(),
        };
        let mut standing = BTreeMap::new();
        let on_ground = Standing {
            body: None,
            body_from_link: Transform::identity(),
            seat: None,
        };
        this.draw(links[root], on_ground);
        standing.insert(root, on_ground);
        for joint in order {
            let carrier = standing[joint.parent.as_str()];
            let link = links[joint.child.as_str()];
            let stands = this.add(joint, link, carrier, flexible);
            this.draw(link, stands);
            standing.insert(joint.child.as_str(), stands);
        }
        let errors: Vec<UrdfError> = this.bodies.iter().filter_map(Body::fault).collect();
        if errors.is_empty() {
            Ok(this)
        } else {
            Err(errors)
        }
    }

    /// Adds a link on its joint, on what carries it.
    fn add(
        &mut self,
        joint: &'r Joint,
        link: &'r Link,
        carrier: Standing<'r>,
        flexible: &'r Flexible,
    ) -> Standing<'r> {
        let body_from_link = carrier.body_from_link * joint.parent_from_child;
        let inertia = link.inertia.unwrap_or_else(RigidInertia::zero);
        let own = flexible.link(&link.name);
        if joint.kind == JointType::Fixed && own.is_none() {
            let seat = carrier.seat.unwrap_or(Seat {
                joint: &joint.name,
                position: body_from_link.translation,
            });
            self.markers.push(Marker {
                name: &link.name,
                seat,
                body: carrier.body,
                position: body_from_link.translation,
            });
            if let Some(body) = carrier.body
                && link.inertia.is_some()
            {
                if self.bodies[body].flexible.is_some() {
                    self.payloads.push(Payload {
                        name: &link.name,
                        seat,
                        body,
                        body_from_link,
                        inertia,
                    });
                } else {
                    let all = self.bodies[body].inertia + inertia.to_parent(&body_from_link);
                    self.bodies[body].inertia = all;
                }
            }
            return Standing {
                body: carrier.body,
                body_from_link,
                seat: Some(seat),
            };
        }
        let child_from_joint =
            own.map_or_else(Transform::identity, |own| own.link_from_body.inverse());
        let slide = carrier
            .body
            .and_then(|body| self.bodies[body].flexible)
            .and_then(|flexible| to_the_tip(joint, flexible, &body_from_link))
            .unwrap_or_else(Transform::identity);
        let child = self.bodies.len();
        self.bodies.push(Body {
            name: &link.name,
            line: link.line,
            inertia,
            flexible: own,
        });
        self.joints.push(MovingJoint {
            joint,
            parent: carrier.body,
            parent_from_joint: body_from_link * slide,
            child,
            child_from_joint: child_from_joint * slide,
        });
        Standing {
            body: Some(child),
            body_from_link: child_from_joint,
            seat: None,
        }
    }

    /// Adds what a link looks like, unless it is part of a flexible body, which is drawn by its own shape.
    fn draw(&mut self, link: &'r Link, stands: Standing<'r>) {
        let is_flexible = |body: usize| self.bodies[body].flexible.is_some();
        if stands.body.is_some_and(is_flexible) {
            return;
        }
        let drawn = link.visuals.iter().map(|visual| Drawn {
            visual,
            body: stands.body,
            body_from_shape: stands.body_from_link * visual.link_from_shape,
        });
        self.visuals.extend(drawn);
    }

    /// The model file.
    pub(super) fn text(&self, called: &Called<'_>) -> String {
        let mut text = format!(
            "# The robot {:?} of a URDF file. Its root link {:?} is the ground.\n",
            self.robot.name, self.root
        );
        if !self.robot.left_out.is_empty() {
            let _ = writeln!(text, "# Left out: {}.", self.robot.left_out.join(", "));
        }
        let _ = writeln!(
            text,
            "format = 1\nname = {}\ngravity_m_per_s2 = [0.0, 0.0, -9.81]",
            quoted(&self.robot.name)
        );
        for body in &self.bodies {
            let _ = write!(
                text,
                "\n[[body]]\nname = {}\n{}",
                quoted(body.name),
                body.keys()
            );
        }
        for joint in &self.joints {
            let _ = write!(text, "\n[[joint]]\nname = {}\n", quoted(&joint.joint.name));
            let parent = self.attachment(joint.parent, &joint.joint.name, &joint.parent_from_joint);
            let _ = writeln!(text, "parent = {parent}");
            let Transform {
                rotation,
                translation,
            } = joint.child_from_joint;
            let child = &self.bodies[joint.child];
            let carried_at = (child.flexible).and_then(|own| own.carried_at(&joint.joint.name));
            let site = carried_at.map_or(Site::At(translation), Site::Named);
            let child = end(child.name, &site, &rotation);
            let _ = writeln!(text, "child = {child}\n{}", joint.joint.keys());
        }
        for payload in &self.payloads {
            let Seat { joint, position } = payload.seat;
            let place = self.place(Some(payload.body), joint, position);
            // in axes of the body, from the place
            let Transform {
                rotation,
                translation,
            } = payload.body_from_link;
            let turned = Transform::new(rotation, translation - position);
            let _ = write!(
                text,
                "\n[[payload]]\nname = {}\nbody = {}\n{place}{}",
                quoted(payload.name),
                quoted(self.bodies[payload.body].name),
                mass_properties(&payload.inertia.to_parent(&turned), "\n"),
            );
            text.push('\n');
        }
        for marker in &self.markers {
            let body = marker.body.map_or("ground", |body| self.bodies[body].name);
            let is_flexible = |body: usize| self.bodies[body].flexible.is_some();
            if marker.body.is_some_and(is_flexible)
                && !is_zero(marker.position - marker.seat.position)
            {
                let _ = write!(
                    text,
                    "\n# No marker at the link {:?}: it stands beside the place where it is fixed to the flexible link {body:?}.\n",
                    marker.name
                );
                continue;
            }
            let _ = write!(
                text,
                "\n[[marker]]\nname = {}\nbody = {}\n{}",
                quoted(marker.name),
                quoted(body),
                self.place(marker.body, marker.seat.joint, marker.position)
            );
        }
        for drawn in &self.visuals {
            text.push_str(&self.visual(drawn, called));
        }
        text.push_str("\n[simulation]\nduration_s = 1.0\n\n[output]\nsample_period_s = 0.01\n");
        text
    }

    /// A shape as a table, or a line that says why it is not there.
    fn visual(&self, drawn: &Drawn<'_>, called: &Called<'_>) -> String {
        let body = drawn.body.map_or("ground", |body| self.bodies[body].name);
        let shape = match &drawn.visual.shape {
            Shape::Mesh { file, scale } => {
                let name = match called(file) {
                    Ok(name) => name,
                    Err(reason) => {
                        let told = format!("the mesh {file:?} of {body:?} is left out: {reason}");
                        // a comment ends with its line
                        let told = told.replace(char::is_control, " ");
                        return format!("\n# {told}\n");
                    }
                };
                let scale = match scale {
                    [1.0, 1.0, 1.0] => String::new(),
                    _ => format!(", scale = {}", numbers(Vector(*scale))),
                };
                format!("mesh = {{ file = {}{scale} }}", quoted(&name))
            }
            Shape::Box { edges } => format!("box = {{ edges_m = {} }}", numbers(Vector(*edges))),
            Shape::Cylinder { diameter, length } => format!(
                "cylinder = {{ diameter_m = {}, length_m = {} }}",
                number(*diameter),
                number(*length)
            ),
            Shape::Sphere { diameter } => {
                format!("sphere = {{ diameter_m = {} }}", number(*diameter))
            }
        };
        let mut text = format!("\n[[visual]]\nbody = {}\n", quoted(body));
        let Transform {
            rotation,
            translation,
        } = &drawn.body_from_shape;
        let turn = rotation_vector_of(rotation);
        for (key, vector) in [("position_m", *translation), ("rotation_vector_rad", turn)] {
            if !is_zero(vector) {
                let _ = writeln!(text, "{key} = {}", numbers(vector));
            }
        }
        text + &shape + "\n"
    }

    /// Where something sits on a body, as lines of a table.
    fn place(&self, body: Option<usize>, joint: &str, position: Vector<f64>) -> String {
        match self.site(body, joint, position) {
            Site::Named(name) => format!("at = {}\n", quoted(name)),
            Site::Tip => String::new(),
            Site::At(position) => format!("position_m = {}\n", numbers(position)),
        }
    }

    fn attachment(&self, body: Option<usize>, joint: &str, pose: &Transform<f64>) -> String {
        let name = body.map_or("ground", |body| self.bodies[body].name);
        let site = self.site(body, joint, pose.translation);
        end(name, &site, &pose.rotation)
    }

    fn site(&self, body: Option<usize>, joint: &str, position: Vector<f64>) -> Site<'r> {
        let Some(flexible) = body.and_then(|body| self.bodies[body].flexible) else {
            return Site::At(position);
        };
        if let Some(place) = flexible.attach.get(joint) {
            return Site::Named(place);
        }
        let is_tip = |length: f64| {
            let apart = position - Vector([length, 0.0, 0.0]);
            apart.dot(apart).sqrt() < AT_THE_TIP * length
        };
        if flexible.length().is_some_and(is_tip) {
            Site::Tip
        } else {
            Site::At(position)
        }
    }
}

impl Body<'_> {
    /// What is wrong with its inertia, if it is rigid and nothing could move it.
    fn fault(&self) -> Option<UrdfError> {
        let mass = self.inertia.mass;
        let (_, central) = central(&self.inertia);
        let moments = [0, 1, 2].map(|axis| central[axis][axis]);
        let is_sound =
            self.flexible.is_some() || (mass > 0.0 && moments.iter().all(|&own| own > 0.0));
        let fault = UrdfFault::NoInertia {
            link: self.name.to_owned(),
            mass: number(mass),
            moments: numbers(Vector(moments)),
        };
        (!is_sound).then(|| UrdfError::new(self.line, fault))
    }

    /// What it is made of, as lines of its table.
    fn keys(&self) -> String {
        match self.flexible {
            None => format!("rigid = {{ {} }}\n", mass_properties(&self.inertia, ", ")),
            Some(flexible) => {
                let mut text = String::new();
                for (key, value) in &flexible.keys {
                    let _ = writeln!(text, "{} = {value}", key_of_table(key));
                }
                text
            }
        }
    }
}

impl Joint {
    /// Its kind with what belongs to it, as lines of its table.
    fn keys(&self) -> String {
        // placeholders for no limit
        let is_limit = |limit: &f64| limit.abs() <= MOST;
        let [lower, upper, velocity, effort] = self.limits.map(|limit| limit.filter(is_limit));
        let above_zero = |limit: Option<f64>| limit.filter(|&limit| limit > 0.0);
        let (rate, effort) = (above_zero(velocity), above_zero(effort));
        match self.kind {
            JointType::Revolute | JointType::Continuous => {
                let [lower, upper] =
                    [lower, upper].map(|limit| limit.filter(|_| self.kind == JointType::Revolute));
                let limits = [
                    ("min_rad", lower),
                    ("max_rad", upper),
                    ("max_rate_rad_per_s", rate),
                    ("max_torque_n_m", effort),
                ];
                let friction = [
                    ("viscous_n_m_s_per_rad", above_zero(Some(self.damping))),
                    ("coulomb_n_m", above_zero(Some(self.friction))),
                ];
                self.moving("revolute", &friction, &limits)
            }
            JointType::Prismatic => {
                let limits = [
                    ("min_m", lower),
                    ("max_m", upper),
                    ("max_rate_m_per_s", rate),
                    ("max_force_n", effort),
                ];
                let friction = [
                    ("viscous_n_s_per_m", above_zero(Some(self.damping))),
                    ("coulomb_n", above_zero(Some(self.friction))),
                ];
                self.moving("prismatic", &friction, &limits)
            }
            JointType::Fixed => "fixed = {}\n".to_owned(),
            JointType::Floating => "free = {}\n".to_owned(),
        }
    }

    fn moving(
        &self,
        kind: &str,
        friction: &[(&str, Option<f64>)],
        limits: &[(&str, Option<f64>)],
    ) -> String {
        let mut text = format!("[joint.{kind}]\naxis = {}\n", numbers(Vector(self.axis)));
        for (table, entries) in [("friction", friction), ("limits", limits)] {
            let entries: Vec<String> = (entries.iter())
                .filter_map(|(key, value)| Some(format!("{key} = {}", number((*value)?))))
                .collect();
            if !entries.is_empty() {
                let _ = writeln!(text, "{table} = {{ {} }}", entries.join(", "));
            }
        }
        text
    }
}

/// What brings the frame of a revolute joint beside a beam along its own axis to the beam's tip, if that is where the axis goes through. The
/// joint stays the same.
fn to_the_tip(
    joint: &Joint,
    beam: &FlexibleLink,
    beam_from_joint: &Transform<f64>,
) -> Option<Transform<f64>> {
    if !matches!(joint.kind, JointType::Revolute | JointType::Continuous) {
        return None;
    }
    let length = beam
        .length()
        .filter(|_| !beam.attach.contains_key(&joint.name))?;
    let tip = Vector([length, 0.0, 0.0]) - beam_from_joint.translation;
    let tip = beam_from_joint.rotation.transpose_mul(tip);
    let axis = Vector(joint.axis);
    let slide = axis.scale(axis.dot(tip) / axis.dot(axis));
    let apart = tip - slide;
    (apart.dot(apart).sqrt() < AT_THE_TIP * length).then(|| Transform {
        translation: slide,
        ..Transform::identity()
    })
}

/// The root link, and the joints with those that carry others first.
fn order(robot: &Robot) -> Result<(&str, Vec<&Joint>), Vec<UrdfError>> {
    let mut errors = Vec::new();
    let mut lines: BTreeMap<&str, u32> = BTreeMap::new();
    for link in &robot.links {
        if lines.insert(&link.name, link.line).is_some() {
            let fault = UrdfFault::Twice {
                what: "link",
                name: link.name.clone(),
            };
            errors.push(UrdfError::new(link.line, fault));
        }
    }
    let mut names = BTreeSet::new();
    let mut carried: BTreeMap<&str, &Joint> = BTreeMap::new();
    let mut children: BTreeMap<&str, Vec<&Joint>> = BTreeMap::new();
    for joint in &robot.joints {
        if !names.insert(joint.name.as_str()) {
            let fault = UrdfFault::Twice {
                what: "joint",
                name: joint.name.clone(),
            };
            errors.push(UrdfError::new(joint.line, fault));
        }
        for link in [&joint.parent, &joint.child] {
            if !lines.contains_key(link.as_str()) {
                let fault = UrdfFault::NoLink {
                    joint: joint.name.clone(),
                    link: link.clone(),
                };
                errors.push(UrdfError::new(joint.line, fault));
            }
        }
        if carried.insert(&joint.child, joint).is_some() {
            let fault = UrdfFault::TwoParents {
                link: joint.child.clone(),
            };
            errors.push(UrdfError::new(joint.line, fault));
        }
        children.entry(&joint.parent).or_default().push(joint);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let root = robot
        .links
        .iter()
        .find(|link| !carried.contains_key(link.name.as_str()));
    let Some(root) = root else {
        return Err(vec![UrdfError::new(0, UrdfFault::NoRoot)]);
    };
    let mut order: Vec<&Joint> = children
        .get(root.name.as_str())
        .cloned()
        .unwrap_or_default();
    let mut at = 0;
    while let Some(joint) = order.get(at) {
        let further = children.get(joint.child.as_str());
        order.extend(further.into_iter().flatten().copied());
        at += 1;
    }
    let reached: BTreeSet<&str> = order.iter().map(|joint| joint.child.as_str()).collect();
    let is_apart = |link: &&Link| link.name != root.name && !reached.contains(link.name.as_str());
    if let Some(apart) = robot.links.iter().find(is_apart) {
        let fault = UrdfFault::Apart {
            link: apart.name.clone(),
            root: root.name.clone(),
        };
        return Err(vec![UrdfError::new(apart.line, fault)]);
    }
    Ok((&root.name, order))
}

/// An end of a joint, with its place and its orientation where they are not the usual ones.
fn end(body: &str, site: &Site<'_>, rotation: &Matrix<f64>) -> String {
    let mut keys = vec![format!("body = {}", quoted(body))];
    match site {
        Site::Named(place) => keys.push(format!("at = {}", quoted(place))),
        Site::At(position) if !is_zero(*position) => {
            keys.push(format!("position_m = {}", numbers(*position)));
        }
        Site::Tip | Site::At(_) => {}
    }
    let turn = rotation_vector_of(rotation);
    if !is_zero(turn) {
        keys.push(format!("rotation_vector_rad = {}", numbers(turn)));
    }
    match &keys[..] {
        [_] => quoted(body),
        _ => format!("{{ {} }}", keys.join(", ")),
    }
}
