//! From a checked [`ModelSpec`] to a [`Model`]: bodies reduced, places found, coordinates laid out.
//!
//! Three things of the file become simpler ones here. A universal joint is two revolute joints with a
//! massless cross between them. A payload on a rigid body is part of that body; on a flexible one it is a
//! rigid body fixed to the node. Joints that make loops are cut and become closures. A beam knows only the nodes that something is attached to.

mod assembly;
mod reduce;

use crate::model::places::{AxisPlace, Places, PrescribedMotion, Transmission, TreeAxis};
use lissom_core::{Actions, JointId, JointResistance, MarkerPath};
use lissom_spec::{Fidelity, ModelSpec};
use lissom_tree::Linkage;
use lissom_tree::closure::AssemblyHints;
use lissom_tree::flex::FlexError;
use serde::Serialize;

pub(crate) use reduce::{beam_of, places_in_use};

/// A system with everything that acts on it, and the state it starts from.
#[derive(Clone, Debug)]
pub struct Model {
    /// The tree and its loops.
    pub linkage: Linkage,
    /// Which terms are kept, unless a body says otherwise.
    pub fidelity: Fidelity,
    /// Where what actions name is in the vectors of the tree.
    pub places: Places,
    /// What acts on it.
    pub actions: Actions,
    /// Motors behind elastic gears.
    pub transmissions: Vec<Transmission>,
    /// Prescribed joint motions.
    pub motions: Vec<PrescribedMotion>,
    /// How a marker is to move, for loads of rigid inverse dynamics.
    pub nominal_motion: Option<MarkerPath>,
    /// When motions begin.
    pub start_s: f64,
    /// What the assembly of the loops is to respect.
    pub assembly: AssemblyHints,
    /// Position vector at the start.
    pub initial_position: Vec<f64>,
    /// Velocity vector at the start.
    pub initial_velocity: Vec<f64>,
    /// Where the file writes another start, which does not close the loops.
    pub start_changes: Vec<StartChange>,
}

/// A coordinate or rate that starts elsewhere than the file says, as the loops would not be closed there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StartChange {
    /// Its name.
    pub coordinate: String,
    /// Its unit.
    pub unit: &'static str,
    /// What the file says.
    pub written: f64,
    /// What it is with closed loops.
    pub closed: f64,
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
        let is_it = |axis: &&TreeAxis| matches!(axis.place, AxisPlace::Joint { velocity: at, .. } if at == velocity);
        self.places.axes.iter().find(is_it)
    }

    /// The spherical or free joint that carries a body.
    pub fn ball_joint(&self, body: usize) -> Option<JointId> {
        let joints = &self.places.joints;
        joints
            .iter()
            .position(|joint| joint.body == body)
            .map(JointId)
    }

    /// Whether something resists the motion of a spherical or free joint.
    pub fn resists(&self, joint: JointId) -> bool {
        let on = |resistance: &JointResistance| matches!(resistance, JointResistance::Joint { joint: at, .. } if *at == joint);
        self.actions.resistances.iter().any(on)
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
