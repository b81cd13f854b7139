//! The same mechanism in other degrees of freedom: what follows from the others, and what they follow from, may change places.
//!
//! Nodes, elements and all deformations are the same in either; only the roles of some deformations differ.

use lissom_spatial::Vector;

use super::element::{Element, ElementId};
use super::equations::Equations;
use super::error::NodalError;
use super::mechanism::{Mechanism, Parts, Place, Slot};
use super::role::{Drive, Role};

impl Mechanism {
    /// Role of a deformation.
    pub fn role(&self, ElementId(element): ElementId, index: usize) -> Role {
        self.elements[element].roles[index]
    }

    /// Name of a deformation: that of its element, and its own.
    pub fn deformation_name(&self, element: ElementId, index: usize) -> String {
        self.place_name(Place::Deformation(self.deformation(element, index)))
    }

    /// The deformation that a degree of freedom is; `None` if it is a coordinate of a node.
    pub fn dof_deformation(&self, dof: usize) -> Option<(ElementId, usize)> {
        match self.dofs[dof].place {
            Place::Coordinate(..) => None,
            Place::Deformation(deformation) => {
                let element = self.element_of[deformation];
                Some((ElementId(element), deformation - self.first[element]))
            }
        }
    }

    /// The same mechanism, in which some deformations have other roles.
    ///
    /// # Errors
    ///
    /// When conditions and unknowns do not match in number.
    pub fn with_roles(
        &self,
        roles: impl IntoIterator<Item = (ElementId, usize, Role)>,
    ) -> Result<Self, NodalError> {
        let mut elements: Vec<Element> = self.elements.clone();
        for (ElementId(element), index, role) in roles {
            elements[element].roles[index] = role;
        }
        Self::new(Parts {
            nodes: self.nodes.clone(),
            elements,
            lumps: self.lumps.clone(),
            element_body: self.element_body.clone(),
            lump_body: self.lump_body.clone(),
            dampings: self.dampings.clone(),
            gravity: Some(self.gravity),
            references: self.references.clone(),
        })
    }
}

/// Positions and velocities of degrees of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Positions.
    pub position: Vec<f64>,
    /// Velocities.
    pub velocity: Vec<f64>,
}

impl Equations<'_> {
    /// Whether the nodes stand where they were placed last: not after a placement in vain.
    pub fn is_placed(&self) -> bool {
        self.evaluated
    }

    /// Sign of the determinant of the conditions over the unknown coordinates where the nodes stand, which changes in singular
    /// configurations alone; `None` after a placement in vain.
    pub fn side(&self) -> Option<f64> {
        self.evaluated.then(|| self.factor.sign())
    }

    /// Lets some degrees of freedom move at unit rate, and nothing else. Leaves the motion set before unset.
    pub fn set_unit_velocities(&mut self, dofs: impl Iterator<Item = usize> + Clone) {
        for dof in dofs.clone() {
            self.unit[dof] = 1.0;
        }
        let (mechanism, factor) = (self.mechanism, &self.factor);
        (self.pass).velocities(mechanism, factor, &self.unit, &self.no_drives);
        for dof in dofs {
            self.unit[dof] = 0.0;
        }
    }

    /// Rates of the sum of some free deformations by the degrees of freedom; those by drives are
    /// [`Equations::drive_effort`] then. Leaves forces and stresses unset.
    pub fn rates_by_dofs(
        &mut self,
        deformations: impl Iterator<Item = (ElementId, usize)>,
        rates: &mut [f64],
    ) {
        // by virtual work: what unit stresses of these are worth to every degree of freedom
        self.pass.force.fill(Vector([0.0; 3]));
        self.pass.elastic.fill(0.0);
        for (element, index) in deformations {
            self.pass.elastic[self.mechanism.deformation(element, index)] = 1.0;
        }
        self.pass
            .reduce(self.mechanism, &self.factor, &self.no_efforts, rates);
    }

    /// Rate of a deformation after [`Equations::set_unit_velocities`].
    pub fn unit_rate(&self, element: ElementId, index: usize) -> f64 {
        let deformation = self.mechanism.deformation(element, index);
        (self.pass).along(self.mechanism, deformation, |node| node.velocity)
    }

    /// The motion set last in the degrees of freedom of the same mechanism with [other roles](Mechanism::with_roles), and its
    /// equations there: nodes stand where they stand here, and hinges keep their turns. What is a degree of freedom in both
    /// keeps its value of `motion` to the last bit.
    ///
    /// # Errors
    ///
    /// When the new degrees of freedom do not determine the mechanism here.
    pub fn exchanged<'b>(
        &self,
        mechanism: &'b Mechanism,
        motion: &Motion,
        drives: &[Drive],
    ) -> Result<(Equations<'b>, Motion), NodalError> {
        let mut position = vec![0.0; mechanism.position_count()];
        let mut velocity = vec![0.0; mechanism.dof_count()];
        for (dof, entry) in mechanism.dofs.iter().enumerate() {
            let at = mechanism.dof_positions(dof);
            match (entry.place, self.slot(entry.place)) {
                (_, Slot::Dof(own)) => {
                    let own_at = self.mechanism.dof_positions(own);
                    position[at].copy_from_slice(&motion.position[own_at]);
                    velocity[dof] = motion.velocity[own];
                }
                (Place::Deformation(deformation), _) => {
                    position[at.start] = self.pass.value[deformation];
                    velocity[dof] = self.pass.followed[deformation].rate;
                }
                (Place::Coordinate(node, component), _) => {
                    position[at.start] = self.placements[node].position[component];
                    velocity[dof] = self.pass.nodes[node].velocity[component];
                }
            }
        }
        let mut exchanged = Equations::unplaced(mechanism);
        exchanged.placements.copy_from_slice(&self.placements);
        exchanged.references.copy_from_slice(&self.references);
        exchanged.place(&position, drives)?;
        exchanged.set_velocity(&velocity, drives);
        Ok((exchanged, Motion { position, velocity }))
    }

    /// What a coordinate or deformation is here.
    fn slot(&self, place: Place) -> Slot {
        match place {
            Place::Coordinate(node, component) => self.mechanism.slots[node][component],
            Place::Deformation(deformation) => self.mechanism.conditions[deformation].slot,
        }
    }
}
