//! Nodes and elements being put together.

use lissom_spatial::{Matrix, Quaternion, Vector};

use super::ball::Ball;
use super::beam::{Beam, BeamSection};
use super::element::{Element, ElementId, ElementKind, MOST_DEFORMATIONS};
use super::equations::Equations;
use super::error::NodalError;
use super::inertia::Lump;
use super::joints::{Hinge, Slider, Truss};
use super::mechanism::{CoupledDamping, Mechanism, Parts};
use super::node::{Followed, Node, NodeId, NodeKind, NodeState, Placement};
use super::role::Role;

/// One end of a beam: where it is and which orientation it is clamped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// A point.
    pub point: NodeId,
    /// An orientation.
    pub orientation: NodeId,
}

/// Nodes and elements being put together.
///
/// Elements take their axes, and their lengths unless told, from where their nodes stand when they are added: there all
/// deformations of beams, hinges and such trusses are zero.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    parts: Parts,
    /// First deformation of each element.
    first: Vec<usize>,
    /// Body that is being added.
    body: Option<usize>,
    error: Option<NodalError>,
}

impl Assembly {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Acceleration of free fall; none by default.
    pub fn set_gravity(&mut self, gravity: [f64; 3]) {
        self.parts.gravity = Some(Vector(gravity));
    }

    /// What is added from now on belongs to a body, which is told apart by this number.
    pub fn set_body(&mut self, body: Option<usize>) {
        self.body = body;
    }

    fn add_node(&mut self, name: &str, kind: NodeKind, placement: Placement) -> NodeId {
        if !placement.is_finite() {
            self.fail(NodalError::Value {
                name: name.to_owned(),
                quantity: "position",
                value: f64::NAN,
                remedy: "it must be finite",
            });
        }
        self.parts.nodes.push(Node {
            name: name.to_owned(),
            kind,
            roles: [Role::Free; 3],
            placement,
        });
        NodeId(self.parts.nodes.len() - 1)
    }

    /// A point of a planar mechanism.
    pub fn planar_point(&mut self, name: &str, [x, y]: [f64; 2]) -> NodeId {
        self.add_node(name, NodeKind::PlanarPoint, Placement::at([x, y, 0.0]))
    }

    /// An orientation of a planar mechanism.
    pub fn planar_angle(&mut self, name: &str, angle: f64) -> NodeId {
        self.add_node(name, NodeKind::PlanarAngle, Placement::at_angle(angle))
    }

    /// A point in space.
    pub fn point(&mut self, name: &str, position: [f64; 3]) -> NodeId {
        self.add_node(name, NodeKind::Point, Placement::at(position))
    }

    /// An orientation in space, from node to inertial components.
    pub fn orientation(&mut self, name: &str, rotation: &Matrix<f64>) -> NodeId {
        let orientation = Quaternion::of_matrix(rotation);
        self.add_node(name, NodeKind::Orientation, Placement::turned(orientation))
    }

    /// Where a point stands.
    pub fn position(&self, node: NodeId) -> Vector<f64> {
        self.parts.nodes[node.0].placement.position
    }

    /// Gives all coordinates of a node one role; they are free by default.
    pub fn set_node(&mut self, node: NodeId, role: Role) {
        self.parts.nodes[node.0].roles = [role; 3];
    }

    /// Gives one coordinate of a point or planar angle a role: 0 to 2 for x, y, z.
    pub fn set_coordinate(&mut self, node: NodeId, component: usize, role: Role) {
        let Node { name, kind, .. } = &self.parts.nodes[node.0];
        if !kind.components().contains(&component) || *kind == NodeKind::Orientation {
            let name = name.clone();
            self.fail(NodalError::Structure {
                name,
                problem: "a role for one coordinate that the node does not have",
                remedy: "give an orientation one role as a whole, a planar point roles for x and y",
            });
            return;
        }
        self.parts.nodes[node.0].roles[component] = role;
    }

    /// Gives all deformations of an element one role.
    pub fn set_deformations(&mut self, element: ElementId, role: Role) {
        self.parts.elements[element.0].roles.fill(role);
    }

    /// Calls one deformation of an element otherwise than its kind does, wherever it is named.
    pub fn name_deformation(&mut self, element: ElementId, index: usize, name: String) {
        self.parts.elements[element.0].named.push((index, name));
    }

    /// Gives one deformation of an element a role.
    pub fn set_deformation(&mut self, element: ElementId, index: usize, role: Role) {
        let element = &mut self.parts.elements[element.0];
        if let Some(slot) = element.roles.get_mut(index) {
            *slot = role;
            return;
        }
        let name = element.name.clone();
        self.fail(NodalError::Structure {
            name,
            problem: "a role for a deformation that the element does not have",
            remedy: "planar beams have three deformations, beams in space six, hinges one or three",
        });
    }

    fn fail(&mut self, error: NodalError) {
        self.error.get_or_insert(error);
    }

    /// Checks kinds of nodes: `true` for an orientation. Planar nodes do not mix with those in space.
    fn check_nodes(&mut self, name: &str, nodes: &[NodeId], turns: &[bool]) -> bool {
        let mut problem = None;
        for (node, &turn) in nodes.iter().zip(turns) {
            if self.parts.nodes[node.0].kind.turns() != turn {
                problem = Some("a point stands where an orientation belongs, or the reverse");
            }
        }
        let planar = |node: &NodeId| {
            matches!(
                self.parts.nodes[node.0].kind,
                NodeKind::PlanarPoint | NodeKind::PlanarAngle
            )
        };
        let first = nodes.first().is_some_and(planar);
        if nodes.iter().any(|node| planar(node) != first) {
            problem = Some("nodes of the plane and of space are mixed");
        }
        for (i, node) in nodes.iter().enumerate() {
            if nodes[..i].contains(node) {
                problem = Some("both ends are the same node");
            }
        }
        if let Some(problem) = problem {
            self.fail(NodalError::Structure {
                name: name.to_owned(),
                problem,
                remedy: "check the nodes of this element",
            });
        }
        first
    }

    fn check_positive(&mut self, name: &str, quantity: &'static str, value: f64, strictly: bool) {
        let fine = value.is_finite() && (value > 0.0 || (!strictly && value == 0.0));
        if !fine {
            self.fail(NodalError::Value {
                name: name.to_owned(),
                quantity,
                value,
                remedy: "it must be positive",
            });
        }
    }

    fn add_element(
        &mut self,
        name: &str,
        kind: ElementKind,
        nodes: &[NodeId],
        roles: &[Role],
        stiffness: &[[f64; MOST_DEFORMATIONS]; MOST_DEFORMATIONS],
        damping_time: f64,
    ) -> ElementId {
        let before = self.first.last().zip(self.parts.elements.last());
        let first = before.map_or(0, |(first, last)| first + last.count());
        self.first.push(first);
        self.parts.elements.push(Element {
            named: Vec::new(),
            name: name.to_owned(),
            kind,
            nodes: nodes.iter().map(|node| node.0).collect(),
            roles: roles.to_vec(),
            stiffness: *stiffness,
            damping_time,
            rest: [0.0; MOST_DEFORMATIONS],
            rotors: [0.0; MOST_DEFORMATIONS],
        });
        self.parts.element_body.push(self.body);
        ElementId(self.parts.elements.len() - 1)
    }

    fn rotation(&self, node: NodeId) -> Matrix<f64> {
        self.parts.nodes[node.0].placement.orientation.matrix()
    }

    fn chord(&self, p: NodeId, q: NodeId) -> Vector<f64> {
        self.parts.nodes[q.0].placement.position - self.parts.nodes[p.0].placement.position
    }

    /// A beam between two ends; all its deformations are degrees of freedom unless told otherwise.
    ///
    /// Local x points from p to q. In space, `y_direction` says where local y points, as far as it is
    /// across the beam; in the plane local y is a quarter turn from x.
    pub fn beam(
        &mut self,
        name: &str,
        p: End,
        q: End,
        section: BeamSection,
        y_direction: [f64; 3],
    ) -> ElementId {
        let nodes = [p.point, p.orientation, q.point, q.orientation];
        let planar = self.check_nodes(name, &nodes, &[false, true, false, true]);
        let chord = self.chord(p.point, q.point);
        let length = chord.dot(chord).sqrt();
        self.check_positive(name, "length", length, true);
        for (quantity, value) in [
            ("mass per length", section.mass_per_length),
            ("axial stiffness", section.axial_stiffness),
            ("torsional stiffness", section.torsional_stiffness),
            ("bending stiffness y", section.bending_stiffness_y),
            ("bending stiffness z", section.bending_stiffness_z),
            ("damping time", section.damping_time),
            ("rotary inertia x", section.rotary_inertia_per_length[0]),
            ("rotary inertia y", section.rotary_inertia_per_length[1]),
            ("rotary inertia z", section.rotary_inertia_per_length[2]),
        ] {
            self.check_positive(name, quantity, value, false);
        }
        for value in section.shear_stiffness.into_iter().flatten() {
            self.check_positive(name, "shear stiffness", value, true);
        }
        let hint = if planar {
            Vector([-chord[1], chord[0], 0.0])
        } else {
            Vector(y_direction)
        };
        let frame = self.frame(name, chord, hint);
        let frames =
            [p.orientation, q.orientation].map(|node| self.rotation(node).transpose() * frame);
        let beam = Beam::new(length, planar, section, frames);
        let stiffness = beam.stiffness();
        let kind = ElementKind::Beam(beam);
        let roles = vec![Role::Dof; kind.labels().len()];
        self.add_element(name, kind, &nodes, &roles, &stiffness, section.damping_time)
    }

    /// Deformations of a beam, and their rates, where the point and orientation of its end p and those of its end q are in these
    /// states; none of another element.
    pub fn beam_deformations(&self, beam: ElementId, ends: [&NodeState<f64>; 4]) -> Vec<[f64; 2]> {
        let element = &self.parts.elements[beam.0];
        let ElementKind::Beam(kind) = &element.kind else {
            return Vec::new();
        };
        let mut followed = vec![Followed::zero(); element.count()];
        kind.follow(ends, &mut followed);
        let values = followed.iter();
        values
            .map(|followed| [followed.value, followed.rate])
            .collect()
    }

    /// Orthonormal columns x along `along`, y as near to `y_hint` as possible, z.
    fn frame(&mut self, name: &str, along: Vector<f64>, y_hint: Vector<f64>) -> Matrix<f64> {
        let unit = |v: Vector<f64>| v.scale(1.0 / v.dot(v).sqrt());
        let x = unit(along);
        let across = y_hint - x.scale(x.dot(y_hint));
        // a hint within 1e-6 rad of the axis says nothing
        let clear = across.dot(across) > 1e-12 * y_hint.dot(y_hint);
        if !clear {
            self.fail(NodalError::Structure {
                name: name.to_owned(),
                problem: "the direction of local y is along the axis, or zero",
                remedy: "give a direction across the axis",
            });
            return Matrix::identity();
        }
        let y = unit(across);
        Matrix([x.0, y.0, x.cross(y).0]).transpose()
    }

    /// A hinge about `axis` (inertial components, where the nodes stand now). Its rotation is a degree
    /// of freedom and its tilts are fixed unless told otherwise. Planar hinges turn about z.
    pub fn hinge(&mut self, name: &str, p: NodeId, q: NodeId, axis: [f64; 3]) -> ElementId {
        let planar = self.check_nodes(name, &[p, q], &[true, true]);
        let axis = if planar {
            Vector([0.0, 0.0, 1.0])
        } else {
            Vector(axis)
        };
        let smallest = (0..3).fold(0, |best, i| {
            if axis[i].abs() < axis[best].abs() {
                i
            } else {
                best
            }
        });
        let mut hint = Vector([0.0; 3]);
        hint[smallest] = 1.0;
        let frame = self.frame(name, axis, hint);
        self.add_hinge(name, planar, [p, q], [frame, frame])
    }

    /// A hinge in space between axes of either node that need not point the same way yet: columns x along the axis,
    /// y and z (inertial components, where the nodes stand now).
    pub fn hinge_between(
        &mut self,
        name: &str,
        p: NodeId,
        q: NodeId,
        frames: [Matrix<f64>; 2],
    ) -> ElementId {
        let planar = self.check_nodes(name, &[p, q], &[true, true]);
        self.add_hinge(name, planar, [p, q], frames)
    }

    fn add_hinge(
        &mut self,
        name: &str,
        planar: bool,
        [p, q]: [NodeId; 2],
        [frame_p, frame_q]: [Matrix<f64>; 2],
    ) -> ElementId {
        let frames = [
            self.rotation(p).transpose() * frame_p,
            self.rotation(q).transpose() * frame_q,
        ];
        let kind = ElementKind::Hinge(Hinge::new(planar, frames));
        let roles = [Role::Dof, Role::Fixed, Role::Fixed];
        let roles = &roles[..kind.labels().len()];
        self.add_element(name, kind, &[p, q], roles, &[[0.0; 6]; 6], 0.0)
    }

    /// A joint that turns in any way between two ends, or slides in any way too, with joint axes that both ends have as they stand.
    /// All its freedoms are degrees of freedom: a unit quaternion and an offset in the axes of `p`, with rates in those of `q`.
    /// They may become free, all of them, but neither fixed nor prescribed.
    pub fn ball(
        &mut self,
        name: &str,
        p: End,
        q: End,
        frame: &Matrix<f64>,
        translates: bool,
    ) -> ElementId {
        let nodes = [p.orientation, q.orientation, p.point, q.point];
        // ends that only turn against each other share their point
        let nodes = if translates { &nodes[..] } else { &nodes[..2] };
        self.check_nodes(name, nodes, &[true, true, false, false][..nodes.len()]);
        let frames =
            [p.orientation, q.orientation].map(|node| self.rotation(node).transpose() * *frame);
        let kind = ElementKind::Ball(Ball::new(translates, frames));
        let roles = vec![Role::Dof; kind.labels().len()];
        self.add_element(name, kind, nodes, &roles, &[[0.0; 6]; 6], 0.0)
    }

    /// Value of one deformation of an element at which it adds no stress; zero by default.
    pub fn set_rest(&mut self, element: ElementId, index: usize, rest: f64) {
        if let Some(slot) = self.parts.elements[element.0].rest.get_mut(index) {
            *slot = rest;
        }
    }

    /// Inertia that goes with the first deformation of an element: a rotor at the joint side of its gear.
    pub fn set_rotor(&mut self, element: ElementId, inertia: f64) {
        let name = self.parts.elements[element.0].name.clone();
        self.check_positive(&name, "inertia of the rotor", inertia, false);
        self.parts.elements[element.0].rotors[0] = inertia;
    }

    /// Inertia that all rotations of a joint that turns in any way feel, and all its translations.
    pub fn set_ball_rotors(&mut self, ball: ElementId, [angular, linear]: [f64; 2]) {
        let name = self.parts.elements[ball.0].name.clone();
        for inertia in [angular, linear] {
            self.check_positive(&name, "inertia of the rotor", inertia, false);
        }
        let parts = &mut self.parts.elements[ball.0];
        for index in 0..parts.count() {
            parts.rotors[index] = if index < 3 { angular } else { linear };
        }
    }

    /// Stiffness of one deformation of a hinge, truss or slider, and its damping over stiffness.
    pub fn set_spring(
        &mut self,
        element: ElementId,
        index: usize,
        stiffness: f64,
        damping_time: f64,
    ) {
        let name = self.parts.elements[element.0].name.clone();
        self.check_positive(&name, "stiffness", stiffness, false);
        self.check_positive(&name, "damping time", damping_time, false);
        let element = &mut self.parts.elements[element.0];
        if index < element.roles.len() {
            element.stiffness[index][index] = stiffness;
            element.damping_time = damping_time;
        }
    }

    /// A truss between two points with axial stiffness EA. Its elongation is free (elastic) unless
    /// told otherwise; prescribed or actuated, it is an active truss.
    pub fn truss(&mut self, name: &str, p: NodeId, q: NodeId, axial_stiffness: f64) -> ElementId {
        let chord = self.chord(p, q);
        self.truss_of_length(name, p, q, axial_stiffness, chord.dot(chord).sqrt())
    }

    /// A truss whose length is this when it is slack, wherever its points stand now.
    pub fn truss_of_length(
        &mut self,
        name: &str,
        p: NodeId,
        q: NodeId,
        axial_stiffness: f64,
        length: f64,
    ) -> ElementId {
        self.check_nodes(name, &[p, q], &[false, false]);
        self.check_positive(name, "length", length, true);
        self.check_positive(name, "axial stiffness", axial_stiffness, false);
        let truss = Truss {
            length,
            stiffness: axial_stiffness / length,
        };
        let mut stiffness = [[0.0; 6]; 6];
        stiffness[0][0] = truss.stiffness;
        let kind = ElementKind::Truss(truss);
        self.add_element(name, kind, &[p, q], &[Role::Free], &stiffness, 0.0)
    }

    /// A slider: point q travels along `axis` (inertial components, where the nodes stand now), carried
    /// by an orientation through point p. Travel is a degree of freedom, offsets keep their values.
    pub fn slider(
        &mut self,
        name: &str,
        p: End,
        q: NodeId,
        axis: [f64; 3],
        y_direction: [f64; 3],
    ) -> ElementId {
        let nodes = [p.point, p.orientation, q];
        let planar = self.check_nodes(name, &nodes, &[false, true, false]);
        let axis = Vector(axis);
        let hint = if planar {
            Vector([-axis[1], axis[0], 0.0])
        } else {
            Vector(y_direction)
        };
        let frame = self.frame(name, axis, hint);
        let slider = Slider::new(planar, self.rotation(p.orientation).transpose() * frame);
        let kind = ElementKind::Slider(slider);
        let roles = [Role::Dof, Role::Fixed, Role::Fixed];
        let roles = &roles[..kind.labels().len()];
        self.add_element(name, kind, &nodes, roles, &[[0.0; 6]; 6], 0.0)
    }

    /// A mass at a point.
    pub fn mass(&mut self, node: NodeId, mass: f64) {
        let name = self.parts.nodes[node.0].name.clone();
        self.check_positive(&name, "mass", mass, false);
        if self.parts.nodes[node.0].kind.turns() {
            self.fail(NodalError::Structure {
                name,
                problem: "a mass at an orientation",
                remedy: "masses belong to points",
            });
        }
        self.parts.lumps.push(Lump::Mass { node: node.0, mass });
        self.parts.lump_body.push(self.body);
    }

    /// A rotational inertia at an orientation, in the components of the node.
    pub fn inertia(&mut self, node: NodeId, inertia: &Matrix<f64>) {
        if !self.parts.nodes[node.0].kind.turns() {
            self.fail(NodalError::Structure {
                name: self.parts.nodes[node.0].name.clone(),
                problem: "a rotational inertia at a point",
                remedy: "rotational inertias belong to orientations",
            });
        }
        self.parts.lumps.push(Lump::Inertia {
            node: node.0,
            inertia: *inertia,
        });
        self.parts.lump_body.push(self.body);
    }

    /// Damping that couples deformations of several elements: stress per rate, a symmetric matrix by rows.
    pub fn couple_damping(&mut self, deformations: &[(ElementId, usize)], matrix: Vec<f64>) {
        let place = |&(element, index): &(ElementId, usize)| self.first[element.0] + index;
        let deformations = deformations.iter().map(place).collect();
        self.parts.dampings.push(CoupledDamping {
            deformations,
            matrix,
        });
    }

    /// Moves all nodes to where they stand in a mechanism made of this assembly: deformations that are fixed keep the
    /// values they have there.
    pub fn stand_as(&mut self, equations: &Equations<'_>) {
        for (node, placement) in self.parts.nodes.iter_mut().zip(&equations.placements) {
            node.placement = *placement;
        }
        self.parts.references.clone_from(&equations.references);
    }

    /// The mechanism.
    ///
    /// # Errors
    ///
    /// The first thing that was wrong with a node or an element, or conditions and unknowns that do not
    /// match in number.
    pub fn finish(self) -> Result<Mechanism, NodalError> {
        match self.error {
            Some(error) => Err(error),
            None => Mechanism::new(self.parts),
        }
    }
}
