//! From a checked [`ModelSpec`] to a [`Model`]: bodies reduced, places found, coordinates laid out.
//!
//! Three things of the file become simpler ones here. A universal joint is two revolute joints with a
//! massless cross between them. A payload on a rigid body is part of that body; on a flexible one it is a
//! rigid body fixed to the node. Joints that make loops are cut and become closures. A beam knows only the nodes that something is attached to.

mod assembly;
mod reduce;

use crate::model::action::{
    Controller, JointResistance, Load, NominalMotion, PrescribedMotion, Transmission, TreeAxis,
};
use lissom_core::Limit;
use lissom_spec::{Fidelity, ModelSpec};
use lissom_tree::Linkage;
use lissom_tree::closure::AssemblyHints;
use lissom_tree::flex::FlexError;

pub(crate) use reduce::beam_of;

/// A system with everything that acts on it, and the state it starts from.
#[derive(Clone, Debug)]
pub struct Model {
    /// The tree and its loops.
    pub linkage: Linkage,
    /// Which terms are kept, unless a body says otherwise.
    pub fidelity: Fidelity,
    /// Axes of the joints, in the order of the tree.
    pub axes: Vec<TreeAxis>,
    /// What resists the motion of joints: body index and law.
    pub resistances: Vec<(usize, JointResistance)>,
    /// Motors behind elastic gears.
    pub transmissions: Vec<Transmission>,
    /// Limits that a run watches.
    pub limits: Vec<Limit>,
    /// Inputs.
    pub loads: Vec<Load>,
    /// Prescribed joint motions.
    pub motions: Vec<PrescribedMotion>,
    /// How a marker is to move, for loads of rigid inverse dynamics.
    pub nominal_motion: Option<NominalMotion>,
    /// Feedback.
    pub controllers: Vec<Controller>,
    /// What the assembly of the loops is to respect.
    pub assembly: AssemblyHints,
    /// Position vector at the start.
    pub initial_position: Vec<f64>,
    /// Velocity vector at the start.
    pub initial_velocity: Vec<f64>,
}

/// Why a body that passed the checks of the file cannot be reduced to elastic coordinates.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("body {name:?}: {source}")]
pub struct BuildError {
    /// Index of the body in the file.
    pub body: usize,
    /// Its name.
    pub name: String,
    /// What is wrong with it.
    pub source: FlexError,
}

impl Model {
    /// The axis at an entry of the velocity vector.
    pub fn axis_at(&self, velocity: usize) -> Option<&TreeAxis> {
        self.axes.iter().find(|axis| axis.velocity == velocity)
    }

    /// Builds a model from a spec that passed [`ModelSpec::check`].
    ///
    /// # Errors
    /// Every body that cannot be reduced to elastic coordinates.
    pub fn build(spec: &ModelSpec) -> Result<Self, Vec<BuildError>> {
        let reduced = reduce::bodies(spec)?;
        Ok(assembly::Assembly::new(spec, reduced).finish())
    }
}
