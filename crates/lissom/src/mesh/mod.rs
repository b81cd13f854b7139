//! A model of bodies and joints as a nodal mechanism: its beams meshed, its joints hinges.
//!
//! This is where the two formulations meet: both are built from the same [`ModelSpec`], and from there
//! on nothing is shared. What a beam's basis leaves out (bending in a plane, stretch, torsion) is a
//! suppressed deformation here; what it contains is not expanded in functions but left to the elements.
//!
//! Understood are rigid bodies and beams, revolute and fixed joints, payloads, point masses, markers,
//! torques on joints (those of rigid inverse dynamics among them) and prescribed motions. Everything else
//! is refused by name.

mod acting;
mod build;
mod nominal;

use std::collections::BTreeMap;

pub use acting::Acts;
pub use nominal::NominalCourse;

use crate::model::ModelSpec;
use crate::nodal::{ElementId, End, Mechanism, NodalError};

/// Why a model cannot be meshed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// Something that the nodal formulation does not know.
    #[error("`{name}`: {what} is not known to the nodal formulation; {remedy}")]
    Unknown {
        /// Body, joint, marker or input.
        name: String,
        /// What is not known.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A name or a place that is not there; a checked model has none.
    #[error("`{name}` does not exist")]
    Missing {
        /// The name.
        name: String,
    },
    /// The mechanism is refused.
    #[error(transparent)]
    Nodal(#[from] NodalError),
}

/// A model as a nodal mechanism.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// The mechanism, assembled with all joints at zero.
    pub mechanism: Mechanism,
    /// Hinges of the revolute joints by name.
    pub hinges: BTreeMap<String, ElementId>,
    /// Ends at the markers by name.
    pub markers: BTreeMap<String, End>,
    initial: Vec<(ElementId, f64, f64)>,
}

impl Mesh {
    /// Meshes a checked model with a number of elements for every uniform piece of a beam.
    ///
    /// # Errors
    ///
    /// When the model contains what the nodal formulation does not know.
    pub fn new(spec: &ModelSpec, elements: usize) -> Result<Self, MeshError> {
        build::build(spec, elements)
    }

    /// Positions of the degrees of freedom at the start.
    pub fn initial_position(&self) -> Vec<f64> {
        let mut position = self.mechanism.assembled_position();
        for &(hinge, angle, _) in &self.initial {
            if let Some(dof) = self.mechanism.deformation_dof(hinge, 0) {
                // joints are hinges, and no orientation is a degree of freedom: positions are dofs
                position[dof] = angle;
            }
        }
        position
    }

    /// Velocities of the degrees of freedom at the start.
    pub fn initial_velocity(&self) -> Vec<f64> {
        let mut velocity = vec![0.0; self.mechanism.dof_count()];
        for &(hinge, _, rate) in &self.initial {
            if let Some(dof) = self.mechanism.deformation_dof(hinge, 0) {
                velocity[dof] = rate;
            }
        }
        velocity
    }
}
