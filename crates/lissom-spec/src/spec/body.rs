//! `[[body]]`: rigid bodies, beams and bodies of any shape, with what belongs to one body alone.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::beam::BeamSpec;
use super::frame::BeamFrameSpec;
use super::place::Place;
use super::reduced::{MeshSpec, ReducedSpec};
use super::run::FidelitySpec;

/// One body. Exactly one of `rigid`, `beam`, `frame`, `mesh`, `reduced`, `reduced_file`, `nodal` and `nodal_file` says of which kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodySpec {
    /// Name by which joints, payloads and markers refer to the body.
    pub name: String,
    /// A rigid body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rigid: Option<RigidSpec>,
    /// A straight beam along its own x axis, from the root at the origin to the tip at x = length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beam: Option<BeamSpec>,
    /// Beams in space, straight or curved, joined at nodes, which are reduced when the model is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<BeamFrameSpec>,
    /// A mesh of solid elements, which is reduced when the model is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshSpec>,
    /// A body of any shape, reduced to elastic coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced: Option<ReducedSpec>,
    /// A body file, below the folder of the model, with the content of `reduced`: `lissom body` writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced_file: Option<String>,
    /// A body given by nodes that carry its mass as lumps, and modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodal: Option<NodalSpec>,
    /// A JSON file, below the folder of the model, with the content of `nodal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodal_file: Option<String>,
    /// Named places on a rigid body or a beam, or at the nearest nodes of a mesh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node: Vec<NodeSpec>,
    /// Point masses that belong to the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub point_mass: Vec<PointMassSpec>,
    /// Damping of the elastic coordinates; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<DampingSpec>,
    /// Which terms of this body are kept; as for the whole model when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<FidelitySpec>,
    /// Deformation at the start; undeformed and at rest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialElasticSpec>,
}

/// The kind of a body, borrowed from its spec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyKind<'a> {
    /// `rigid`
    Rigid(&'a RigidSpec),
    /// `beam`
    Beam(&'a BeamSpec),
    /// `frame`: beams that have not been reduced yet.
    Frame(&'a BeamFrameSpec),
    /// `mesh`: a file that has not been read yet.
    Mesh(&'a MeshSpec),
    /// `reduced`
    Reduced(&'a ReducedSpec),
    /// `reduced_file`: the name of a file that has not been read yet.
    ReducedFile(&'a str),
    /// `nodal`
    Nodal(&'a NodalSpec),
    /// `nodal_file`: the name of a file that has not been read yet.
    NodalFile(&'a str),
}

impl BodyKind<'_> {
    /// Whether the body has not been read from its file or reduced yet.
    pub fn is_unread(&self) -> bool {
        matches!(
            self,
            Self::Frame(_) | Self::Mesh(_) | Self::ReducedFile(_) | Self::NodalFile(_)
        )
    }

    /// Whether the body is given by shapes of its own, whatever they come from.
    pub fn is_given_by_shapes(&self) -> bool {
        matches!(self, Self::Reduced(_) | Self::Nodal(_)) || self.is_unread()
    }
}

impl BodySpec {
    /// The one kind that is given; `None` when there is none or more than one.
    pub fn kind(&self) -> Option<BodyKind<'_>> {
        super::only([
            self.rigid.as_ref().map(BodyKind::Rigid),
            self.beam.as_ref().map(BodyKind::Beam),
            self.frame.as_ref().map(BodyKind::Frame),
            self.mesh.as_ref().map(BodyKind::Mesh),
            self.reduced.as_ref().map(BodyKind::Reduced),
            self.reduced_file.as_deref().map(BodyKind::ReducedFile),
            self.nodal.as_ref().map(BodyKind::Nodal),
            self.nodal_file.as_deref().map(BodyKind::NodalFile),
        ])
    }

    /// Undeformed position, in the body's frame, of the place called `at`: `root` and `tip` of a beam,
    /// `origin` and `center_of_mass` of a rigid body, an entry of `node`, or a node of a frame, a nodal or a reduced body.
    pub fn named_position(&self, at: &str) -> Option<[f64; 3]> {
        if let Some(node) = self.node.iter().find(|node| node.name == at) {
            return Some(node.position_m);
        }
        match (self.kind()?, at) {
            (BodyKind::Beam(_), "root") | (BodyKind::Rigid(_), "origin") => Some([0.0; 3]),
            (BodyKind::Beam(beam), "tip") => Some([beam.total_length_m(), 0.0, 0.0]),
            (BodyKind::Rigid(rigid), "center_of_mass") => Some(rigid.center_of_mass_m),
            (BodyKind::Frame(frame), _) => {
                let node = frame.node.iter().find(|node| node.name == at);
                node.map(|node| node.position_m)
            }
            (BodyKind::Nodal(nodal), _) => nodal.find_node(at).map(|node| node.position_m),
            (BodyKind::Reduced(reduced), _) => reduced.find_node(at).map(|node| node.position_m),
            _ => None,
        }
    }

    /// Undeformed position of a place in the body's frame. A place that is not said is the tip of a beam
    /// (its root when the place is on the child side of a joint) and the origin of a rigid body.
    pub fn position(&self, place: Place<'_>, child_side: bool) -> Option<[f64; 3]> {
        match (place, self.kind()?) {
            (Place::Position(position), _) => Some(position),
            (Place::Named(at), _) => self.named_position(at),
            (Place::Unsaid, BodyKind::Beam(_)) => {
                self.named_position(if child_side { "root" } else { "tip" })
            }
            (Place::Unsaid, BodyKind::Rigid(_)) => Some([0.0; 3]),
            (Place::Unsaid, _) => None,
        }
    }

    /// Names of the elastic coordinates in their order; none for a rigid body. `None` if they are not known
    /// before the body is built: from a file that has not been read, of a beam whose functions are chosen for it, or of one
    /// with `foreshortening`, whose stretch functions are counted when those that depend on others have been left out.
    pub fn elastic_coordinates(&self) -> Option<Vec<String>> {
        match self.kind()? {
            BodyKind::Rigid(_) => Some(Vec::new()),
            BodyKind::Nodal(nodal) if nodal.coordinates.is_empty() => {
                Some(numbered("mode", 1..=nodal.stiffness.len()).collect())
            }
            BodyKind::Nodal(nodal) => Some(nodal.coordinates.clone()),
            BodyKind::Reduced(reduced) if reduced.coordinates.is_empty() => {
                Some(numbered("mode", 1..=reduced.stiffness.len()).collect())
            }
            BodyKind::Reduced(reduced) => Some(reduced.coordinates.clone()),
            BodyKind::Frame(_)
            | BodyKind::Mesh(_)
            | BodyKind::ReducedFile(_)
            | BodyKind::NodalFile(_) => None,
            BodyKind::Beam(beam) => beam.elastic_coordinates(),
        }
    }
}

pub(super) fn numbered(name: &str, range: RangeInclusive<usize>) -> impl Iterator<Item = String> {
    range.map(move |number| format!("{name}_{number}"))
}

/// A rigid body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RigidSpec {
    /// Mass.
    pub mass_kg: f64,
    /// Centre of mass in the body's frame; the origin when absent.
    #[serde(default)]
    pub center_of_mass_m: [f64; 3],
    /// Moments of inertia xx, yy, zz about the centre of mass, in the axes of the body's frame.
    pub inertia_kg_m2: [f64; 3],
    /// Entries xy, xz, yz of the inertia tensor (with the tensor's sign: −∫xy dm); zero when absent.
    #[serde(default)]
    pub products_of_inertia_kg_m2: [f64; 3],
}

/// A body of nodes with mass and modal influence, \[Jain & Rodriguez 1992\].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodalSpec {
    /// Names of the elastic coordinates; `mode_1`, `mode_2`, … when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coordinates: Vec<String>,
    /// The nodes.
    pub nodes: Vec<NodalNodeSpec>,
    /// Stiffness of the elastic coordinates, n rows of n numbers; no rows for a body that does not bend.
    #[serde(default)]
    pub stiffness: Vec<Vec<f64>>,
}

impl NodalSpec {
    /// The node of that name.
    pub fn find_node(&self, name: &str) -> Option<&NodalNodeSpec> {
        self.nodes
            .iter()
            .find(|node| node.name.as_deref() == Some(name))
    }
}

/// One node of a nodal body. Everything is in the axes of the body's frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodalNodeSpec {
    /// Name, where something is attached to the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Undeformed position in the body's frame.
    pub position_m: [f64; 3],
    /// Mass; a node may have none.
    #[serde(default)]
    pub mass_kg: f64,
    /// Centre of mass, from the node.
    #[serde(default)]
    pub center_of_mass_m: [f64; 3],
    /// Inertia tensor about the node.
    #[serde(default)]
    pub inertia_kg_m2: [[f64; 3]; 3],
    /// Six rows of n numbers: rotation about x, y, z in rad and translation along x, y, z in m, per unit
    /// of every elastic coordinate. No rows for a node that does not move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub influence: Vec<Vec<f64>>,
}

/// A named place on a rigid body, on the axis of a beam, or at the nearest node of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Name to be used as `at`.
    pub name: String,
    /// Undeformed position in the body's frame.
    pub position_m: [f64; 3],
}

/// A point mass that belongs to a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointMassSpec {
    /// Name of a place; the tip of a beam or the origin of a rigid body when no place is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Position in the body's frame, instead of `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_m: Option<[f64; 3]>,
    /// Mass.
    pub mass_kg: f64,
}

impl PointMassSpec {
    /// Where the mass sits.
    pub fn place(&self) -> Place<'_> {
        Place::of(self.at.as_deref(), self.position_m)
    }
}

/// Damping of the elastic coordinates of one body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DampingSpec {
    /// The same damping ratio for every mode.
    ModalRatio(f64),
    /// A damping ratio for every elastic coordinate, in their order.
    ModalRatios(Vec<f64>),
    /// Proportional to mass and stiffness.
    Rayleigh(RayleighSpec),
}

/// Rayleigh damping: damping matrix = `mass_per_s` × mass matrix + `stiffness_s` × stiffness matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RayleighSpec {
    /// Factor of the mass matrix.
    #[serde(default)]
    pub mass_per_s: f64,
    /// Factor of the stiffness matrix.
    #[serde(default)]
    pub stiffness_s: f64,
}

/// Deformation at the start, by the names of the elastic coordinates; those not named start at zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitialElasticSpec {
    /// Elastic coordinates, for example `bending_y_1 = 0.01`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub elastic: BTreeMap<String, f64>,
    /// Their rates, per second.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub elastic_rate: BTreeMap<String, f64>,
}
