//! From a checked [`ModelSpec`] to a [`Model`]: bodies reduced, places found, coordinates laid out.
//!
//! Three things of the file become simpler ones here. A universal joint is two revolute joints with a
//! massless cross between them. A payload on a rigid body is part of that body; on a flexible one it is a
//! rigid body fixed to the node. Joints that make loops are cut and become closures. A beam knows only the nodes that something is attached to.

mod assembly;
mod reduce;

use crate::model::gauge::StrainGauge;
use crate::model::places::{AxisPlace, Places, PrescribedMotion, Transmission, TreeAxis};
use lissom_core::{Actions, JointId, JointResistance, MarkerPath, SectionStress};
use lissom_spec::{Fidelity, ModelSpec, spec};
use lissom_tree::closure::AssemblyHints;
use lissom_tree::flex::FlexError;
use lissom_tree::tree::BeamSections;
use lissom_tree::{Body, Linkage};
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
    /// Beams whose loads are recorded.
    pub loaded: Vec<LoadedBeam>,
}

/// A beam of the tree whose loads are recorded.
#[derive(Clone, Debug)]
pub struct LoadedBeam {
    /// Places of its sections, from the root.
    pub places: Vec<f64>,
    /// How they move.
    pub sections: BeamSections,
    /// Its section, where its dimensions are known.
    pub stress: Option<SectionStress>,
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
        let mut model = assembly::Assembly::new(spec, reduced).finish();
        model.loaded = model.loaded_beams(spec)?;
        model.places.gauges = StrainGauge::all(spec, &model.linkage.system);
        Ok(model)
    }

    fn loaded_beams(&self, spec: &ModelSpec) -> Result<Vec<LoadedBeam>, Vec<BuildError>> {
        let system = &self.linkage.system;
        let cut = |loaded: spec::LoadedBeam<'_>| {
            let bodies = &mut system.bodies().iter();
            let own = |body: &Body| body.name == loaded.body.name && body.flexible.is_some();
            let body = bodies.position(own)?;
            let sections = beam_of(loaded.body, loaded.beam).cut(&loaded.sections_m);
            let sections = sections.map_err(|source| {
                let mut written = spec.body.iter();
                BuildError {
                    body: written.position(|own| own == loaded.body).unwrap_or(0),
                    name: loaded.body.name.clone(),
                    source,
                }
            });
            Some(sections.map(|sections| LoadedBeam {
                sections: BeamSections::new(system, body, sections),
                places: loaded.sections_m,
                stress: (loaded.beam.section.as_ref()).and_then(SectionStress::of),
            }))
        };
        let beams: Result<Vec<_>, _> = (spec.loaded_beams().into_iter()).filter_map(cut).collect();
        beams.map_err(|error| vec![error])
    }
}
