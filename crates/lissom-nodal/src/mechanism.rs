//! A mechanism that is square: as many conditions as unknowns. Which coordinate and deformation is what.

use lissom_spatial::Vector;

use super::ball::Ball;
use super::carried::{self, Carried};
use super::element::{Element, ElementId, ElementKind, MOST_DEFORMATIONS};
use super::error::NodalError;
use super::inertia::Lump;
use super::node::{Node, NodeId, NodeKind, NodeState};
use super::role::Role;

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

/// Damping that couples deformations of several elements.
#[derive(Clone, Debug)]
pub(super) struct CoupledDamping {
    /// Deformations, counted through all elements.
    pub(super) deformations: Vec<usize>,
    /// Stress per rate, by rows.
    pub(super) matrix: Vec<f64>,
}

/// What a mechanism is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) nodes: Vec<Node>,
    pub(super) elements: Vec<Element>,
    pub(super) lumps: Vec<Lump>,
    /// Body that each element belongs to.
    pub(super) element_body: Vec<Option<usize>>,
    /// Body that each lump belongs to.
    pub(super) lump_body: Vec<Option<usize>>,
    pub(super) dampings: Vec<CoupledDamping>,
    pub(super) gravity: Option<Vector<f64>>,
    /// Angle of each hinge where its nodes stand, counted through full turns; zero where it is not said.
    pub(super) references: Vec<f64>,
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
    /// Body that each element belongs to.
    pub(super) element_body: Vec<Option<usize>>,
    /// Body that each lump belongs to.
    pub(super) lump_body: Vec<Option<usize>>,
    pub(super) dampings: Vec<CoupledDamping>,
    pub(super) gravity: Vector<f64>,
    /// Angle of each hinge where the mechanism was assembled, zero for other elements.
    pub(super) references: Vec<f64>,
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
    /// How elements carry their nodes, if they form a tree.
    pub(super) carried: Option<Vec<Carried>>,
    positions: usize,
}

impl Mechanism {
    pub(super) fn new(parts: Parts) -> Result<Self, NodalError> {
        let Parts {
            nodes,
            elements,
            lumps,
            element_body,
            lump_body,
            dampings,
            gravity,
            mut references,
        } = parts;
        references.resize(elements.len(), 0.0);
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
            carried: None,
            positions: 0,
            gravity: gravity.unwrap_or(Vector([0.0; 3])),
            nodes,
            elements,
            lumps,
            element_body,
            lump_body,
            dampings,
            references,
        };
        this.lay_out_nodes()?;
        this.lay_out_deformations()?;
        if this.rows.len() != this.unknowns.len() {
            return Err(NodalError::Unbalanced {
                conditions: this.rows.len(),
                unknowns: this.unknowns.len(),
            });
        }
        let states = this.assembled_nodes();
        let mut gradient = [[Vector::zero(); 4]; MOST_DEFORMATIONS];
        for (element, &reference) in this.elements.iter().zip(&this.references) {
            let mut value = [0.0; MOST_DEFORMATIONS];
            element.gradient(&states, reference, &mut value, &mut gradient);
            this.assembled.extend(&value[..element.count()]);
        }
        this.carried = carried::in_order(&this);
        Ok(this)
    }

    /// Nodes where the mechanism was assembled.
    fn assembled_nodes(&self) -> Vec<NodeState<f64>> {
        let states = self.nodes.iter().map(|node| NodeState {
            position: node.placement.position,
            rotation: node.placement.orientation.matrix(),
            ..NodeState::resting()
        });
        states.collect()
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

    fn lay_out_deformations(&mut self) -> Result<(), NodalError> {
        for index in 0..self.elements.len() {
            let ball = match &self.elements[index].kind {
                ElementKind::Ball(_) => Some(self.lay_out_ball(index)?),
                _ => None,
            };
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
                        let position = match ball {
                            Some([turn, _]) if local < 3 => turn,
                            Some([_, slide]) => slide + local - 3,
                            None => {
                                self.positions += 1;
                                self.positions - 1
                            }
                        };
                        self.add_dof(place, role, position)
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
        Ok(())
    }

    /// Where the quaternion and the offset of a ball stand among the positions: the offset first.
    fn lay_out_ball(&mut self, index: usize) -> Result<[usize; 2], NodalError> {
        let element = &self.elements[index];
        let moves = element.roles.iter().all(|role| role.is_dof());
        if !moves && element.roles.iter().any(|&role| role != Role::Free) {
            return Err(NodalError::Structure {
                name: element.name.clone(),
                problem: "a spherical or free joint that is held in some directions",
                remedy: "use hinges and sliders instead",
            });
        }
        let slide = self.positions;
        let turn = slide + element.count() - 3;
        self.positions += if moves { element.count() + 1 } else { 0 };
        Ok([turn, slide])
    }

    /// The ball that a deformation belongs to, by its element, and which of its deformations it is.
    pub(super) fn ball_of(&self, deformation: usize) -> Option<(&Ball, usize, usize)> {
        let index = self.element_of[deformation];
        match &self.elements[index].kind {
            ElementKind::Ball(ball) => Some((ball, index, deformation - self.first[index])),
            _ => None,
        }
    }

    /// Which of the three rotations that share a quaternion a coordinate or deformation is.
    pub(super) fn rotation_of(&self, place: Place) -> Option<usize> {
        match place {
            Place::Coordinate(node, component) => {
                (self.nodes[node].kind == NodeKind::Orientation).then_some(component)
            }
            Place::Deformation(deformation) => {
                let (_, _, local) = self.ball_of(deformation)?;
                (local < 3).then_some(local)
            }
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

    /// All elements, in the order in which they were added.
    pub fn element_ids(&self) -> impl Iterator<Item = ElementId> {
        (0..self.elements.len()).map(ElementId)
    }

    /// Number of deformation parameters of an element.
    pub fn deformations_of(&self, element: ElementId) -> usize {
        self.elements[element.0].count()
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
        // a free joint holds nothing
        let holds = |element: &&Element| !matches!(&element.kind, ElementKind::Ball(ball) if ball.translates);
        let elements = self.elements.iter().filter(holds);
        let mut hanging = elements.flat_map(|element| &element.nodes);
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

    /// The node of which a degree of freedom is a coordinate, and which; `None` if it is a deformation.
    pub fn dof_node(&self, dof: usize) -> Option<(NodeId, usize)> {
        match self.dofs[dof].place {
            Place::Coordinate(node, component) => Some((NodeId(node), component)),
            Place::Deformation(_) => None,
        }
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
        let count = if self.rotation_of(place).is_some() {
            4
        } else {
            1
        };
        position..position + count
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
                let own = element.named.iter().find(|(at, _)| *at == local);
                let usual = || format!("{}.{}", element.name, element.kind.labels()[local]);
                own.map_or_else(usual, |(_, name)| name.clone())
            }
        }
    }

    /// Positions where the mechanism was assembled.
    pub fn assembled_position(&self) -> Vec<f64> {
        let mut position = vec![0.0; self.positions];
        let states = self.assembled_nodes();
        for dof in &self.dofs {
            match dof.place {
                Place::Deformation(deformation) => match self.ball_of(deformation) {
                    Some((ball, index, local)) => {
                        let nodes = &self.elements[index].nodes;
                        let (turn, offset) = ball.place(ball.sites(&states, nodes));
                        if local < 3 {
                            position[dof.position..dof.position + 4].copy_from_slice(&turn.0);
                        } else {
                            position[dof.position] = offset[local - 3];
                        }
                    }
                    None => position[dof.position] = self.assembled[deformation],
                },
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
                            .copy_from_slice(&placement.orientation.0),
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
