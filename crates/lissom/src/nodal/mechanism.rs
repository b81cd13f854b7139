//! From nodes and elements to a mechanism that is square: as many conditions as unknowns.

use crate::spatial::{Matrix, Quaternion, Vector};

use super::beam::{Beam, BeamSection};
use super::element::{Element, ElementId, ElementKind, MOST_DEFORMATIONS};
use super::error::NodalError;
use super::inertia::Lump;
use super::joints::{Hinge, Slider, Truss};
use super::node::{Node, NodeId, NodeKind, NodeState, Placement};
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
/// Elements take their lengths and axes from where their nodes stand when they are added: there all
/// deformations of beams, hinges and trusses are zero.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    nodes: Vec<Node>,
    elements: Vec<Element>,
    lumps: Vec<Lump>,
    gravity: Option<Vector<f64>>,
    error: Option<NodalError>,
}

impl Assembly {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Acceleration of free fall; none by default.
    pub fn set_gravity(&mut self, gravity: [f64; 3]) {
        self.gravity = Some(Vector(gravity));
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
        self.nodes.push(Node {
            name: name.to_owned(),
            kind,
            roles: [Role::Free; 3],
            placement,
        });
        NodeId(self.nodes.len() - 1)
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
        let attitude = Quaternion::of_matrix(rotation);
        self.add_node(name, NodeKind::Orientation, Placement::turned(attitude))
    }

    /// Where a point stands.
    pub fn position(&self, node: NodeId) -> Vector<f64> {
        self.nodes[node.0].placement.position
    }

    /// Gives all coordinates of a node one role; they are free by default.
    pub fn set_node(&mut self, node: NodeId, role: Role) {
        self.nodes[node.0].roles = [role; 3];
    }

    /// Gives one coordinate of a point or planar angle a role: 0 to 2 for x, y, z.
    pub fn set_coordinate(&mut self, node: NodeId, component: usize, role: Role) {
        let Node { name, kind, .. } = &self.nodes[node.0];
        if !kind.components().contains(&component) || *kind == NodeKind::Orientation {
            let name = name.clone();
            self.fail(NodalError::Structure {
                name,
                problem: "a role for one coordinate that the node does not have",
                remedy: "give an orientation one role as a whole, a planar point roles for x and y",
            });
            return;
        }
        self.nodes[node.0].roles[component] = role;
    }

    /// Gives all deformations of an element one role.
    pub fn set_deformations(&mut self, element: ElementId, role: Role) {
        self.elements[element.0].roles.fill(role);
    }

    /// Gives one deformation of an element a role.
    pub fn set_deformation(&mut self, element: ElementId, index: usize, role: Role) {
        let element = &mut self.elements[element.0];
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
            if self.nodes[node.0].kind.turns() != turn {
                problem = Some("a point stands where an orientation belongs, or the reverse");
            }
        }
        let planar = |node: &NodeId| {
            matches!(
                self.nodes[node.0].kind,
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
        self.elements.push(Element {
            name: name.to_owned(),
            kind,
            nodes: nodes.iter().map(|node| node.0).collect(),
            roles: roles.to_vec(),
            stiffness: *stiffness,
            damping_time,
            rest: [0.0; MOST_DEFORMATIONS],
            rotor: 0.0,
        });
        ElementId(self.elements.len() - 1)
    }

    fn rotation(&self, node: NodeId) -> Matrix<f64> {
        self.nodes[node.0].placement.attitude.matrix()
    }

    fn chord(&self, p: NodeId, q: NodeId) -> Vector<f64> {
        self.nodes[q.0].placement.position - self.nodes[p.0].placement.position
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
        let frames = [p, q].map(|node| self.rotation(node).transpose() * frame);
        let kind = ElementKind::Hinge(Hinge::new(planar, frames));
        let roles = [Role::Dof, Role::Fixed, Role::Fixed];
        let roles = &roles[..kind.labels().len()];
        self.add_element(name, kind, &[p, q], roles, &[[0.0; 6]; 6], 0.0)
    }

    /// Value of one deformation of a hinge, truss or slider at which its spring is slack; zero by default.
    pub fn set_rest(&mut self, element: ElementId, index: usize, rest: f64) {
        if let Some(slot) = self.elements[element.0].rest.get_mut(index) {
            *slot = rest;
        }
    }

    /// Inertia that goes with the first deformation of an element: a rotor at the joint side of its gear.
    pub fn set_rotor(&mut self, element: ElementId, inertia: f64) {
        let name = self.elements[element.0].name.clone();
        self.check_positive(&name, "inertia of the rotor", inertia, false);
        self.elements[element.0].rotor = inertia;
    }

    /// Stiffness of one deformation of a hinge, truss or slider, and its damping over stiffness.
    pub fn set_spring(
        &mut self,
        element: ElementId,
        index: usize,
        stiffness: f64,
        damping_time: f64,
    ) {
        let name = self.elements[element.0].name.clone();
        self.check_positive(&name, "stiffness", stiffness, false);
        self.check_positive(&name, "damping time", damping_time, false);
        let element = &mut self.elements[element.0];
        if index < element.roles.len() {
            element.stiffness[index][index] = stiffness;
            element.damping_time = damping_time;
        }
    }

    /// A truss between two points with axial stiffness EA. Its elongation is free (elastic) unless
    /// told otherwise; prescribed or actuated, it is an active truss.
    pub fn truss(&mut self, name: &str, p: NodeId, q: NodeId, axial_stiffness: f64) -> ElementId {
        self.check_nodes(name, &[p, q], &[false, false]);
        let chord = self.chord(p, q);
        let length = chord.dot(chord).sqrt();
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
        let name = self.nodes[node.0].name.clone();
        self.check_positive(&name, "mass", mass, false);
        if self.nodes[node.0].kind.turns() {
            self.fail(NodalError::Structure {
                name,
                problem: "a mass at an orientation",
                remedy: "masses belong to points",
            });
        }
        self.lumps.push(Lump::Mass { node: node.0, mass });
    }

    /// A rotational inertia at an orientation, in the components of the node.
    pub fn inertia(&mut self, node: NodeId, inertia: &Matrix<f64>) {
        if !self.nodes[node.0].kind.turns() {
            self.fail(NodalError::Structure {
                name: self.nodes[node.0].name.clone(),
                problem: "a rotational inertia at a point",
                remedy: "rotational inertias belong to orientations",
            });
        }
        self.lumps.push(Lump::Inertia {
            node: node.0,
            inertia: *inertia,
        });
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
            None => Mechanism::new(self.nodes, self.elements, self.lumps, self.gravity),
        }
    }
}

/// What a nodal coordinate is, with its place among those of its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The node has no such coordinate, or it is fixed.
    Still,
    /// Unknown of the transfer functions.
    Unknown(usize),
    /// Prescribed.
    Drive(usize),
    /// Degree of freedom.
    Dof(usize),
}

/// What a deformation is: all but free ones are conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// Row of the condition; none for a free deformation.
    pub(super) row: Option<usize>,
    /// Where its value comes from; `Still` for fixed ones.
    pub(super) slot: Slot,
}

/// Where a degree of freedom or a drive sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Node and component.
    Coordinate(usize, usize),
    /// Deformation, counted through all elements.
    Deformation(usize),
}

/// A degree of freedom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dof {
    pub(super) place: Place,
    /// Where its value stands among the positions; the first of four for an orientation.
    pub(super) position: usize,
    pub(super) actuated: bool,
}

/// A mechanism of nodes and elements, ready for its equations.
///
/// Positions are one number per degree of freedom, except that the three of an orientation share a unit
/// quaternion `[w, x, y, z]`.
#[derive(Clone, Debug)]
pub struct Mechanism {
    pub(super) nodes: Vec<Node>,
    pub(super) elements: Vec<Element>,
    pub(super) lumps: Vec<Lump>,
    pub(super) gravity: Vector<f64>,
    pub(super) slots: Vec<[Slot; 3]>,
    /// First deformation of each element, and one past the last.
    pub(super) first: Vec<usize>,
    pub(super) conditions: Vec<Condition>,
    /// Element of each deformation.
    pub(super) element_of: Vec<usize>,
    pub(super) dofs: Vec<Dof>,
    pub(super) drives: Vec<Place>,
    /// Node and component of each unknown.
    pub(super) unknowns: Vec<(usize, usize)>,
    /// Deformation of each row.
    pub(super) rows: Vec<usize>,
    /// Deformations where the mechanism was assembled.
    pub(super) assembled: Vec<f64>,
    positions: usize,
}

impl Mechanism {
    fn new(
        nodes: Vec<Node>,
        elements: Vec<Element>,
        lumps: Vec<Lump>,
        gravity: Option<Vector<f64>>,
    ) -> Result<Self, NodalError> {
        let mut this = Self {
            slots: vec![[Slot::Still; 3]; nodes.len()],
            first: vec![0],
            conditions: Vec::new(),
            element_of: Vec::new(),
            dofs: Vec::new(),
            drives: Vec::new(),
            unknowns: Vec::new(),
            rows: Vec::new(),
            assembled: Vec::new(),
            positions: 0,
            gravity: gravity.unwrap_or(Vector([0.0; 3])),
            nodes,
            elements,
            lumps,
        };
        this.lay_out_nodes()?;
        this.lay_out_deformations();
        if this.rows.len() != this.unknowns.len() {
            return Err(NodalError::Unbalanced {
                conditions: this.rows.len(),
                unknowns: this.unknowns.len(),
            });
        }
        let states: Vec<NodeState<f64>> = this
            .nodes
            .iter()
            .map(|node| NodeState {
                position: node.placement.position,
                rotation: node.placement.attitude.matrix(),
                ..NodeState::resting()
            })
            .collect();
        let mut gradient = [[Vector::zero(); 4]; MOST_DEFORMATIONS];
        for element in &this.elements {
            let mut value = [0.0; MOST_DEFORMATIONS];
            element.gradient(&states, 0.0, &mut value, &mut gradient);
            this.assembled.extend(&value[..element.count()]);
        }
        Ok(this)
    }

    fn add_dof(&mut self, place: Place, role: Role, position: usize) -> Slot {
        self.dofs.push(Dof {
            place,
            position,
            actuated: role == Role::Actuated,
        });
        Slot::Dof(self.dofs.len() - 1)
    }

    fn lay_out_nodes(&mut self) -> Result<(), NodalError> {
        for index in 0..self.nodes.len() {
            let Node { kind, roles, .. } = self.nodes[index];
            if kind == NodeKind::Orientation && roles[0] == Role::Prescribed {
                return Err(NodalError::Structure {
                    name: self.nodes[index].name.clone(),
                    problem: "a prescribed orientation",
                    remedy: "prescribe the rotation of hinges instead",
                });
            }
            let first_position = self.positions;
            if kind == NodeKind::Orientation && roles[0].is_dof() {
                self.positions += 4;
            }
            for &component in kind.components() {
                let role = roles[component];
                let place = Place::Coordinate(index, component);
                self.slots[index][component] = match role {
                    Role::Fixed => Slot::Still,
                    Role::Free => {
                        self.unknowns.push((index, component));
                        Slot::Unknown(self.unknowns.len() - 1)
                    }
                    Role::Prescribed => {
                        self.drives.push(place);
                        Slot::Drive(self.drives.len() - 1)
                    }
                    Role::Dof | Role::Actuated if kind == NodeKind::Orientation => {
                        self.add_dof(place, role, first_position)
                    }
                    Role::Dof | Role::Actuated => {
                        self.positions += 1;
                        self.add_dof(place, role, self.positions - 1)
                    }
                };
            }
        }
        Ok(())
    }

    fn lay_out_deformations(&mut self) {
        for index in 0..self.elements.len() {
            for local in 0..self.elements[index].count() {
                let role = self.elements[index].roles[local];
                let deformation = self.conditions.len();
                let place = Place::Deformation(deformation);
                let slot = match role {
                    Role::Fixed | Role::Free => Slot::Still,
                    Role::Prescribed => {
                        self.drives.push(place);
                        Slot::Drive(self.drives.len() - 1)
                    }
                    Role::Dof | Role::Actuated => {
                        self.positions += 1;
                        self.add_dof(place, role, self.positions - 1)
                    }
                };
                let row = (role != Role::Free).then(|| {
                    self.rows.push(deformation);
                    self.rows.len() - 1
                });
                self.conditions.push(Condition { row, slot });
                self.element_of.push(index);
            }
            self.first.push(self.conditions.len());
        }
    }

    /// Number of degrees of freedom.
    pub fn dof_count(&self) -> usize {
        self.dofs.len()
    }

    /// Number of positions: one per degree of freedom, four per free orientation.
    pub fn position_count(&self) -> usize {
        self.positions
    }

    /// Number of prescribed coordinates and deformations.
    pub fn drive_count(&self) -> usize {
        self.drives.len()
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Number of elements.
    pub fn element_count(&self) -> usize {
        self.elements.len()
    }

    /// Number of deformation parameters of all elements.
    pub fn deformation_count(&self) -> usize {
        self.conditions.len()
    }

    /// Whether a coordinate of a node is fixed or prescribed.
    pub fn is_supported(&self, node: NodeId) -> bool {
        let Node { kind, roles, .. } = &self.nodes[node.0];
        let held = |&component: &usize| matches!(roles[component], Role::Fixed | Role::Prescribed);
        kind.components().iter().any(held)
    }

    /// Whether there is gravity, or an element that hangs on a node which is fixed or prescribed.
    pub fn has_supports_or_weight(&self) -> bool {
        let mut hanging = self.elements.iter().flat_map(|element| &element.nodes);
        self.gravity.0 != [0.0; 3] || hanging.any(|&node| self.is_supported(NodeId(node)))
    }

    /// Degrees of freedom with an actuator.
    pub fn actuated_dofs(&self) -> Vec<usize> {
        (0..self.dofs.len())
            .filter(|&dof| self.dofs[dof].actuated)
            .collect()
    }

    /// Degrees of freedom without an actuator.
    pub fn elastic_dofs(&self) -> Vec<usize> {
        (0..self.dofs.len())
            .filter(|&dof| !self.dofs[dof].actuated)
            .collect()
    }

    /// Name of a degree of freedom: that of its node or element, and its own.
    pub fn dof_name(&self, dof: usize) -> String {
        self.place_name(self.dofs[dof].place)
    }

    /// Unit of a degree of freedom; of orientations, that of their quaternions.
    pub fn dof_unit(&self, dof: usize) -> &'static str {
        match self.dofs[dof].place {
            Place::Coordinate(node, _) => self.nodes[node].kind.unit(),
            Place::Deformation(deformation) => {
                let element = self.element_of[deformation];
                let local = deformation - self.first[element];
                self.elements[element].kind.unit(local)
            }
        }
    }

    /// Where the positions of a degree of freedom stand among all: one, or the four of the quaternion
    /// that the three degrees of freedom of an orientation share.
    pub fn dof_positions(&self, dof: usize) -> std::ops::Range<usize> {
        let Dof {
            place, position, ..
        } = self.dofs[dof];
        match place {
            Place::Coordinate(node, _) if self.nodes[node].kind == NodeKind::Orientation => {
                position..position + 4
            }
            _ => position..position + 1,
        }
    }

    /// Name of a prescribed coordinate or deformation.
    pub fn drive_name(&self, drive: usize) -> String {
        self.place_name(self.drives[drive])
    }

    /// Name of a node.
    pub fn node_name(&self, node: NodeId) -> &str {
        &self.nodes[node.0].name
    }

    /// The node at a place in the order in which they were added.
    pub fn node(&self, index: usize) -> Option<NodeId> {
        (index < self.nodes.len()).then_some(NodeId(index))
    }

    /// What a node has coordinates for.
    pub fn node_kind(&self, node: NodeId) -> NodeKind {
        self.nodes[node.0].kind
    }

    /// Whether a node is an orientation and not a point.
    pub fn is_orientation(&self, node: NodeId) -> bool {
        self.nodes[node.0].kind.turns()
    }

    /// The degree of freedom that a deformation of an element is, if it is one.
    pub fn deformation_dof(&self, element: ElementId, index: usize) -> Option<usize> {
        match self.conditions[self.deformation(element, index)].slot {
            Slot::Dof(dof) => Some(dof),
            _ => None,
        }
    }

    /// The degree of freedom that a coordinate of a node is, if it is one.
    pub fn coordinate_dof(&self, node: NodeId, component: usize) -> Option<usize> {
        match self.slots[node.0][component] {
            Slot::Dof(dof) => Some(dof),
            _ => None,
        }
    }

    /// The drive that a deformation of an element is, if it is prescribed.
    pub fn deformation_drive(&self, element: ElementId, index: usize) -> Option<usize> {
        match self.conditions[self.deformation(element, index)].slot {
            Slot::Drive(drive) => Some(drive),
            _ => None,
        }
    }

    /// The drive that a coordinate of a node is, if it is prescribed.
    pub fn coordinate_drive(&self, node: NodeId, component: usize) -> Option<usize> {
        match self.slots[node.0][component] {
            Slot::Drive(drive) => Some(drive),
            _ => None,
        }
    }

    /// Place of a deformation of an element among all deformations.
    pub fn deformation(&self, element: ElementId, index: usize) -> usize {
        self.first[element.0] + index
    }

    pub(super) fn place_name(&self, place: Place) -> String {
        match place {
            Place::Coordinate(node, component) => {
                let node = &self.nodes[node];
                format!("{}.{}", node.name, node.kind.label(component))
            }
            Place::Deformation(deformation) => {
                let element = self.element_of[deformation];
                let local = deformation - self.first[element];
                let element = &self.elements[element];
                format!("{}.{}", element.name, element.kind.labels()[local])
            }
        }
    }

    /// Positions where the mechanism was assembled.
    pub fn assembled_position(&self) -> Vec<f64> {
        let mut position = vec![0.0; self.positions];
        for dof in &self.dofs {
            match dof.place {
                Place::Deformation(deformation) => {
                    position[dof.position] = self.assembled[deformation];
                }
                Place::Coordinate(node, component) => {
                    let Node {
                        kind, placement, ..
                    } = &self.nodes[node];
                    match kind {
                        NodeKind::PlanarAngle => position[dof.position] = placement.angle,
                        NodeKind::PlanarPoint | NodeKind::Point => {
                            position[dof.position] = placement.position[component];
                        }
                        NodeKind::Orientation => position[dof.position..dof.position + 4]
                            .copy_from_slice(&placement.attitude.0),
                    }
                }
            }
        }
        position
    }

    /// Drives that hold what is prescribed where the mechanism was assembled.
    pub fn assembled_drives(&self) -> Vec<super::Drive> {
        self.drives
            .iter()
            .map(|place| super::Drive {
                value: match *place {
                    Place::Deformation(deformation) => self.assembled[deformation],
                    Place::Coordinate(node, component) => match self.nodes[node].kind {
                        NodeKind::PlanarAngle => self.nodes[node].placement.angle,
                        _ => self.nodes[node].placement.position[component],
                    },
                },
                ..super::Drive::default()
            })
            .collect()
    }
}
