//! [`Robot`]: what a URDF file says, with the line of everything that may be wrong.

use std::collections::BTreeSet;

use lissom_spatial::{Matrix, RigidInertia, Symmetric, Transform, Vector};
use roxmltree::{Document, Node};

use super::{UrdfError, UrdfFault};

/// A robot: links on a tree of joints.
#[derive(Debug)]
pub(super) struct Robot {
    pub(super) name: String,
    pub(super) links: Vec<Link>,
    pub(super) joints: Vec<Joint>,
    /// Kinds of elements that are left out, the first ones, in the order in which they are met.
    pub(super) left_out: Vec<String>,
}

/// A link, without the frame that its joint gives it.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) line: u32,
    /// Inertia in the axes of its frame, about the frame's origin; absent for a frame without mass.
    pub(super) inertia: Option<RigidInertia<f64>>,
    /// What it looks like.
    pub(super) visuals: Vec<Visual>,
}

/// A shape that a link is drawn by.
#[derive(Clone, Debug)]
pub(super) struct Visual {
    pub(super) link_from_shape: Transform<f64>,
    pub(super) shape: Shape,
}

/// Shapes of pictures, with sizes in metres.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Mesh { file: String, scale: [f64; 3] },
    Box { edges: [f64; 3] },
    Cylinder { diameter: f64, length: f64 },
    Sphere { diameter: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JointType {
    Revolute,
    Continuous,
    Prismatic,
    Fixed,
    Floating,
}

/// A joint, whose frame is that of its child where nothing is displaced.
#[derive(Debug)]
pub(super) struct Joint {
    pub(super) name: String,
    pub(super) line: u32,
    pub(super) kind: JointType,
    pub(super) parent: String,
    pub(super) child: String,
    pub(super) parent_from_child: Transform<f64>,
    pub(super) axis: [f64; 3],
    pub(super) damping: f64,
    pub(super) friction: f64,
    /// Lower, upper, velocity, effort.
    pub(super) limits: [Option<f64>; 4],
}

/// Kinds of elements that are named as left out; robots have few.
const MOST_LEFT_OUT: usize = 20;

/// Sizes between which a shape can be seen, and the largest factor and distance.
const SMALLEST_M: f64 = 1e-9;
const LARGEST: f64 = 1e6;

/// Elements of a joint or link that say nothing about its motion, or that are read.
const KNOWN: [&str; 11] = [
    "inertial",
    "visual",
    "collision",
    "origin",
    "parent",
    "child",
    "axis",
    "limit",
    "dynamics",
    "mass",
    "inertia",
];

impl Robot {
    pub(super) fn parse(text: &str) -> Result<Self, Vec<UrdfError>> {
        let document = Document::parse(text).map_err(|error| {
            let line = error.pos().row;
            let message = error.to_string();
            vec![UrdfError::new(line, UrdfFault::NoXml { message })]
        })?;
        let breaks = text.match_indices('\n').map(|(at, _)| at);
        let mut reader = Reader {
            breaks: breaks.collect(),
            errors: Vec::new(),
            left_out: Vec::new(),
        };
        let root = document.root_element();
        if !root.has_tag_name("robot") {
            let found = root.tag_name().name().to_owned();
            let line = reader.line(root);
            return Err(vec![UrdfError::new(line, UrdfFault::NoRobot { found })]);
        }
        let mut robot = Self {
            name: root.attribute("name").unwrap_or("robot").to_owned(),
            links: Vec::new(),
            joints: Vec::new(),
            left_out: Vec::new(),
        };
        for element in root.children().filter(Node::is_element) {
            match element.tag_name().name() {
                "link" => robot.links.extend(reader.link(element)),
                "joint" => robot.joints.extend(reader.joint(element)),
                other => reader.leave_out(other),
            }
        }
        robot.left_out = reader.left_out;
        if reader.errors.is_empty() {
            Ok(robot)
        } else {
            Err(reader.errors)
        }
    }
}

impl Robot {
    /// Puts the root link on a joint that leaves it free.
    pub(super) fn set_free(&mut self) -> Result<(), Vec<UrdfError>> {
        let carried: BTreeSet<&str> = (self.joints.iter())
            .map(|joint| joint.child.as_str())
            .collect();
        let is_root = |link: &&Link| !carried.contains(link.name.as_str());
        let Some(root) = self.links.iter().find(is_root) else {
            return Err(vec![UrdfError::new(0, UrdfFault::NoRoot)]);
        };
        let joint = Joint {
            name: format!("{}_free", root.name),
            line: root.line,
            kind: JointType::Floating,
            parent: "ground".to_owned(),
            child: root.name.clone(),
            parent_from_child: Transform::identity(),
            axis: [1.0, 0.0, 0.0],
            damping: 0.0,
            friction: 0.0,
            limits: [None; 4],
        };
        let ground = Link {
            name: "ground".to_owned(),
            line: root.line,
            inertia: None,
            visuals: Vec::new(),
        };
        self.joints.insert(0, joint);
        self.links.insert(0, ground);
        Ok(())
    }
}

struct Reader {
    /// Where the lines of the text end: the document would count them anew for every element.
    breaks: Vec<usize>,
    errors: Vec<UrdfError>,
    left_out: Vec<String>,
}

impl Reader {
    fn line(&self, node: Node<'_, '_>) -> u32 {
        let start = node.range().start;
        let before = self.breaks.partition_point(|&at| at < start);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }

    fn leave_out(&mut self, what: &str) {
        if self.left_out.len() < MOST_LEFT_OUT && !self.left_out.iter().any(|known| known == what) {
            self.left_out.push(what.to_owned());
        }
    }

    fn fault(&mut self, node: Node<'_, '_>, fault: UrdfFault) {
        let line = self.line(node);
        self.errors.push(UrdfError::new(line, fault));
    }

    /// An attribute that must be there.
    fn needed<'x>(&mut self, node: Node<'x, '_>, attribute: &str) -> Option<&'x str> {
        let found = node.attribute(attribute);
        if found.is_none() {
            let fault = UrdfFault::Missing {
                element: node.tag_name().name().to_owned(),
                attribute: attribute.to_owned(),
            };
            self.fault(node, fault);
        }
        found
    }

    /// Numbers of an attribute, if it is there.
    fn numbers<const N: usize>(&mut self, node: Node<'_, '_>, attribute: &str) -> Option<[f64; N]> {
        let text = node.attribute(attribute)?;
        let parsed: Vec<f64> = (text.split_whitespace())
            .filter_map(|word| word.parse().ok())
            .filter(|number: &f64| number.is_finite())
            .collect();
        let found = <[f64; N]>::try_from(parsed).ok();
        let found = found.filter(|_| text.split_whitespace().count() == N);
        if found.is_none() {
            let fault = UrdfFault::NoNumbers {
                attribute: attribute.to_owned(),
                text: text.to_owned(),
                count: N,
            };
            self.fault(node, fault);
        }
        found
    }

    fn number(&mut self, node: Option<Node<'_, '_>>, attribute: &str) -> Option<f64> {
        self.numbers::<1>(node?, attribute).map(|[number]| number)
    }

    /// The pose that `<origin>` of an element gives.
    fn origin(&mut self, of: Node<'_, '_>) -> Transform<f64> {
        let Some(origin) = child(of, "origin") else {
            return Transform::identity();
        };
        let position = self.numbers(origin, "xyz").unwrap_or_default();
        let [roll, pitch, yaw] = self.numbers(origin, "rpy").unwrap_or_default();
        Transform::new(rotation(roll, pitch, yaw), Vector(position))
    }

    fn link(&mut self, node: Node<'_, '_>) -> Option<Link> {
        let name = self.needed(node, "name")?.to_owned();
        let mut visuals = Vec::new();
        for element in node.children().filter(Node::is_element) {
            match element.tag_name().name() {
                "visual" => {
                    // a picture that is wrong stops no run
                    let before = self.errors.len();
                    let visual = self.visual(element);
                    self.errors.truncate(before);
                    match visual {
                        Some(visual) => visuals.push(visual),
                        None => self.leave_out(&format!("visual of line {}", self.line(element))),
                    }
                }
                "collision" => self.leave_out("collision"),
                known if KNOWN.contains(&known) => {}
                other => self.leave_out(other),
            }
        }
        let inertia = child(node, "inertial").and_then(|inertial| self.inertia(inertial));
        Some(Link {
            name,
            line: self.line(node),
            inertia,
            visuals,
        })
    }

    /// A shape that a link is drawn by, if it is one that there is.
    fn visual(&mut self, node: Node<'_, '_>) -> Option<Visual> {
        let link_from_shape = self.origin(node);
        let geometry = child(node, "geometry")?;
        let own = geometry.children().find(Node::is_element)?;
        let shape = match own.tag_name().name() {
            "mesh" => Shape::Mesh {
                file: own.attribute("filename")?.to_owned(),
                scale: match own.attribute("scale") {
                    Some(_) => self.numbers(own, "scale")?,
                    None => [1.0; 3],
                },
            },
            "box" => Shape::Box {
                edges: self.numbers(own, "size")?,
            },
            "cylinder" => Shape::Cylinder {
                diameter: 2.0 * self.number(Some(own), "radius")?,
                length: self.number(Some(own), "length")?,
            },
            "sphere" => Shape::Sphere {
                diameter: 2.0 * self.number(Some(own), "radius")?,
            },
            _ => return None,
        };
        let is_size = |size: f64| (SMALLEST_M..=LARGEST).contains(&size);
        let is_sound = match &shape {
            Shape::Mesh { scale, .. } => scale.iter().all(|factor| factor.abs() <= LARGEST),
            Shape::Box { edges } => edges.iter().all(|&edge| is_size(edge)),
            Shape::Cylinder { diameter, length } => is_size(*diameter) && is_size(*length),
            Shape::Sphere { diameter } => is_size(*diameter),
        };
        let position = link_from_shape.translation.0;
        let is_near = position.iter().all(|x| x.abs() <= LARGEST);
        (is_sound && is_near).then_some(Visual {
            link_from_shape,
            shape,
        })
    }

    fn inertia(&mut self, inertial: Node<'_, '_>) -> Option<RigidInertia<f64>> {
        let link_from_inertial = self.origin(inertial);
        let mass = match child(inertial, "mass") {
            Some(mass) => {
                self.needed(mass, "value")?;
                self.number(Some(mass), "value")?
            }
            None => 0.0,
        };
        let tensor = child(inertial, "inertia");
        let [xx, yy, zz, xy, xz, yz] = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"]
            .map(|entry| self.number(tensor, entry).unwrap_or(0.0));
        let tensor = Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
        if mass == 0.0 && tensor == Matrix::zero() {
            return None;
        }
        let about_center = RigidInertia {
            mass,
            first_moment: Vector::zero(),
            rotational: Symmetric::upper(&tensor),
        };
        Some(about_center.to_parent(&link_from_inertial))
    }

    fn joint(&mut self, node: Node<'_, '_>) -> Option<Joint> {
        let name = self.needed(node, "name")?.to_owned();
        let kind = match self.needed(node, "type")? {
            "revolute" => JointType::Revolute,
            "continuous" => JointType::Continuous,
            "prismatic" => JointType::Prismatic,
            "fixed" => JointType::Fixed,
            "floating" => JointType::Floating,
            other => {
                let kind = other.to_owned();
                self.fault(node, UrdfFault::UnknownJoint { name, kind });
                return None;
            }
        };
        if child(node, "mimic").is_some() {
            self.fault(node, UrdfFault::Mimic { name });
            return None;
        }
        for element in node.children().filter(Node::is_element) {
            let element = element.tag_name().name();
            if !KNOWN.contains(&element) {
                self.leave_out(element);
            }
        }
        let [parent, child_link] = ["parent", "child"].map(|end| {
            let Some(end) = child(node, end) else {
                let fault = UrdfFault::Missing {
                    element: format!("joint {name:?}"),
                    attribute: end.to_owned(),
                };
                self.fault(node, fault);
                return None;
            };
            self.needed(end, "link").map(str::to_owned)
        });
        let axis = child(node, "axis").and_then(|axis| self.numbers(axis, "xyz"));
        let axis = axis.unwrap_or([1.0, 0.0, 0.0]);
        let dynamics = child(node, "dynamics");
        let limit = child(node, "limit");
        let limits = ["lower", "upper", "velocity", "effort"].map(|key| self.number(limit, key));
        Some(Joint {
            line: self.line(node),
            kind,
            parent: parent?,
            child: child_link?,
            parent_from_child: self.origin(node),
            axis,
            damping: self.number(dynamics, "damping").unwrap_or(0.0),
            friction: self.number(dynamics, "friction").unwrap_or(0.0),
            limits,
            name,
        })
    }
}

fn child<'a, 'x>(node: Node<'a, 'x>, name: &str) -> Option<Node<'a, 'x>> {
    node.children().find(|child| child.has_tag_name(name))
}

/// Rotation about fixed axes x, y, z, in this order.
pub(super) fn rotation(roll: f64, pitch: f64, yaw: f64) -> Matrix<f64> {
    let [(sr, cr), (sp, cp), (sy, cy)] = [roll, pitch, yaw].map(f64::sin_cos);
    Matrix([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])
}
