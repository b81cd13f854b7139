//! The summary of a body of any shape that was reduced: mass, modes, what stiffens it, what the reduction leaves out.

use std::path::Path;

use lissom::diagnose::Warning;
use lissom::spec::ReducedSpec;
use lissom_fe::Source;
use lissom_spec::nearest;
use serde::Serialize;

use crate::load::{FileError, Loaded};
use crate::{IoError, body_file, meshes, resource};

/// A reduced body, of a model or of a file.
#[derive(Clone, Debug)]
pub struct NamedBody {
    /// Its name in the model, or that of its file.
    pub name: String,
    /// The body.
    pub body: ReducedSpec,
    /// What it was reduced from, if that was done when the model was read.
    pub source: Option<Source>,
    /// What to know before it is used: elements that hardly bend, and what the diagnosis of its model warns of it.
    pub warnings: Vec<String>,
}

/// Why there is no such body.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The model has no body of this name.
    #[error("{model} has no body {name:?}: {hint}")]
    Unknown {
        /// The model.
        model: String,
        /// What was asked for.
        name: String,
        /// What may have been meant, or all that there are.
        hint: String,
    },
    /// The body is a beam, rigid, or one of nodes.
    #[error(
        "{name} is not reduced from a mesh, a frame or a body file; `lissom check {model}` tells of beams, rigid and nodal bodies"
    )]
    NotReduced {
        /// The model.
        model: String,
        /// The body.
        name: String,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] IoError),
    /// The file holds no body.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A mode of a body with its frame held.
#[derive(Clone, Debug, Serialize)]
pub struct ModeSummary {
    /// Its frequency.
    pub frequency_rad_per_s: f64,
    /// Share of the mass that moves along x, y and z.
    pub mass_share: [f64; 3],
    /// Growth of the squared frequency per square of the angular velocity about x, y and z, without what the mass of the mode
    /// takes away.
    pub rotation_stiffening: Option<[f64; 3]>,
}

/// A node of a body.
#[derive(Clone, Debug, Serialize)]
pub struct NodeSummary {
    /// Its name.
    pub name: String,
    /// Where it is in the undeformed body.
    pub position_m: [f64; 3],
}

/// How a basis came to be chosen.
#[derive(Clone, Debug, Serialize)]
pub struct BasisSummary {
    /// Its kind.
    pub kind: &'static str,
    /// What it was chosen for.
    pub reason: String,
}

/// What the modes leave out at an interface.
#[derive(Clone, Debug, Serialize)]
pub struct InterfaceSummary {
    /// Its name.
    pub name: String,
    /// Share of its compliance to forces along and moments about x, y, z.
    pub missing_compliance: [f64; 6],
}

/// What a body was reduced from.
#[derive(Clone, Debug, Serialize)]
pub struct SourceSummary {
    /// Elements; none of matrices.
    pub elements: usize,
    /// How many of them are linear, which may be many times too stiff in bending.
    pub linear_elements: usize,
    /// Unknowns.
    pub unknowns: usize,
    /// The basis, if it was to be chosen.
    pub basis: Option<BasisSummary>,
    /// Largest share of the mass of a mode that is that of rotations of nodes.
    pub rotation_mass_share: f64,
    /// Largest share of the static deformation under accelerations of the first interface that the basis leaves out; none from mean axes, which
    /// these do not deform.
    pub left_out: Option<f64>,
    /// Interfaces that move.
    pub interfaces: Vec<InterfaceSummary>,
}

/// The summary of a reduced body.
#[derive(Clone, Debug, Serialize)]
pub struct BodySummary {
    /// Its name.
    pub body: String,
    /// CRC-32 of its content, by which a body file is recognised.
    pub crc32: String,
    /// Mass.
    pub mass_kg: f64,
    /// Centre of mass in the frame of the body.
    pub center_of_mass_m: [f64; 3],
    /// Inertia about the centre of mass.
    pub inertia_kg_m2: [[f64; 3]; 3],
    /// Its modes, or coordinates.
    pub modes: Vec<ModeSummary>,
    /// Places where something may be attached.
    pub nodes: Vec<NodeSummary>,
    /// Whether it stiffens under rotation, acceleration and loads.
    pub stiffens: bool,
    /// What it was reduced from, if that was done when the model was read.
    pub mesh: Option<SourceSummary>,
    /// What to know before it is used.
    pub warnings: Vec<String>,
}

impl NamedBody {
    /// A body of a model, which its user calls `model`.
    ///
    /// # Errors
    /// When there is none of this name, or it is not a reduced one.
    pub fn of(loaded: &Loaded, model: &str, name: &str) -> Result<Self, BodyError> {
        let model = model.to_owned();
        let bodies = &loaded.spec.body;
        let Some(found) = bodies.iter().find(|body| body.name == name) else {
            let names = || bodies.iter().map(|body| body.name.as_str());
            let hint = nearest(name, names()).map_or_else(
                || names().collect::<Vec<_>>().join(", "),
                |near| format!("did you mean {near:?}?"),
            );
            let name = name.to_owned();
            return Err(BodyError::Unknown { model, name, hint });
        };
        let name = name.to_owned();
        let Some(body) = &found.reduced else {
            return Err(BodyError::NotReduced { model, name });
        };
        let source = loaded.meshes.get(&name).cloned();
        let stiff = source.as_ref().and_then(meshes::stiff_elements);
        let diagnosed = loaded.mechanism.diagnose().warnings.into_iter();
        let own = diagnosed.filter(|warning| body_of(warning) == Some(&name));
        Ok(Self {
            warnings: (stiff.into_iter())
                .chain(own.map(|warning| warning.to_string()))
                .collect(),
            body: body.clone(),
            source,
            name,
        })
    }

    /// The body of a file.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or no body is such.
    pub fn read(path: &Path) -> Result<Self, BodyError> {
        let name = path.display().to_string();
        let body = body_file::parse_checked(&name, &resource::read_text(path)?)?;
        Ok(Self {
            name,
            body,
            source: None,
            warnings: Vec::new(),
        })
    }

    /// Its modes; of a body whose coordinates are not modes, as those that are reduced here are, its coordinates.
    pub fn modes(&self) -> Vec<ModeSummary> {
        let body = &self.body;
        let mode = |alpha: usize| {
            let modal_mass = body.mass_matrix[alpha][alpha];
            ModeSummary {
                frequency_rad_per_s: (body.stiffness[alpha][alpha] / modal_mass).sqrt(),
                mass_share: body.displacement_integrals[alpha]
                    .map(|p| p * p / (modal_mass * body.mass_kg)),
                rotation_stiffening: body.second_order.as_ref().map(|second_order| {
                    let along =
                        |axis: usize| second_order.position_integrals[axis][axis][alpha][alpha];
                    // ω×(ω×r) = −ω²r across the axis
                    [0, 1, 2].map(|axis| {
                        let across = (0..3).filter(|&other| other != axis);
                        -across.map(along).sum::<f64>() / modal_mass
                    })
                }),
            }
        };
        (0..body.stiffness.len()).map(mode).collect()
    }

    /// Its summary; `crc32` is that of its [text](body_file::text).
    pub fn summary(&self, crc32: String) -> BodySummary {
        let body = &self.body;
        let node = |node: &lissom::spec::ReducedNodeSpec| NodeSummary {
            name: node.name.clone(),
            position_m: node.position_m,
        };
        BodySummary {
            body: self.name.clone(),
            crc32,
            mass_kg: body.mass_kg,
            center_of_mass_m: body.center_of_mass_m,
            inertia_kg_m2: body.inertia_kg_m2,
            modes: self.modes(),
            nodes: body.nodes.iter().map(node).collect(),
            stiffens: body.second_order.is_some(),
            mesh: self.source.as_ref().map(of_source),
            warnings: self.warnings.clone(),
        }
    }
}

/// The body whose units or second-order data a warning is about.
fn body_of(warning: &Warning) -> Option<&String> {
    match warning {
        Warning::Large { body, .. }
        | Warning::RingsHigh { body, .. }
        | Warning::DoesNotStiffen { body, .. } => Some(body),
        _ => None,
    }
}

fn of_source(source: &Source) -> SourceSummary {
    SourceSummary {
        elements: source.elements,
        linear_elements: source.linear_elements,
        unknowns: source.unknowns,
        basis: source.chosen.as_ref().map(|chosen| BasisSummary {
            kind: chosen.basis.modes().0,
            reason: chosen.reason.clone(),
        }),
        rotation_mass_share: source.from_displacements,
        left_out: source.left_out,
        interfaces: (source.interfaces.iter())
            .map(|own| InterfaceSummary {
                name: own.interface.clone(),
                missing_compliance: own.missing,
            })
            .collect(),
    }
}
