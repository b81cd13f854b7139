//! `[body.frame]`: one body made of beams in space.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reduced::MeshBasisSpec;
use super::section::{BeamMaterialSpec, SectionSpec};

/// A body made of beams in space, straight or curved, uniform or not, which is reduced to elastic coordinates when the model is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeamFrameSpec {
    /// Where members begin and end.
    pub node: Vec<FrameNodeSpec>,
    /// The beams.
    pub member: Vec<MemberSpec>,
    /// Masses that are fixed to nodes or places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lump: Vec<LumpSpec>,
    /// Names of nodes or places where neighbours act, of which the first one carries the body.
    pub interface: Vec<String>,
    /// The shapes in which the deformation is expanded.
    pub basis: MeshBasisSpec,
    /// Whether the body stiffens when it rotates or is loaded.
    #[serde(default = "super::on")]
    pub stiffening: bool,
}

/// A node of a frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameNodeSpec {
    /// Name by which members, joints, payloads and markers refer to it.
    pub name: String,
    /// Position in the body's frame.
    pub position_m: [f64; 3],
}

/// A beam between two nodes. Members that share a node are joined stiffly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberSpec {
    /// Node where it begins.
    pub from: String,
    /// Node where it ends.
    pub to: String,
    /// A point of the arc of a circle from one node to the other; straight when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arc_through_m: Option<[f64; 3]>,
    /// Points of a smooth curve from one node to the other, in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spline_through_m: Vec<[f64; 3]>,
    /// What it is made of; not needed by a section that is given by its `properties`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<BeamMaterialSpec>,
    /// The section, if it is the same all along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<SectionSpec>,
    /// Where the origin of the section is, y, z from the line between the nodes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset_m: [f64; 2],
    /// Angle by which the section is turned about the line.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub angle_rad: f64,
    /// The sections at several shares of the length, instead of one; sizes vary in proportion in between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub station: Vec<StationSpec>,
    /// Direction near which the z axis of the section lies: the x axis is along the line, and y normal to both. The body's z axis when absent, or
    /// its -x axis for a member that runs along z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z_direction: Option<[f64; 3]>,
    /// Named places between the nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub place: Vec<MemberPlaceSpec>,
    /// Finite elements, each of four nodes; 6 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<usize>,
}

fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The section of a member at a share of its length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationSpec {
    /// Share of the length from the first node, 0 to 1. Two stations at one share make a step.
    pub share: f64,
    /// The section.
    pub section: SectionSpec,
    /// Where the origin of the section is, y, z from the line between the nodes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset_m: [f64; 2],
    /// Angle by which the section is turned about the line.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub angle_rad: f64,
}

/// A named place on a member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberPlaceSpec {
    /// Name by which lumps, joints, payloads and markers refer to it.
    pub name: String,
    /// Share of the length from the first node, between 0 and 1.
    pub share: f64,
}

/// A rigid mass that is fixed to a frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LumpSpec {
    /// Name of a node or place.
    pub at: String,
    /// Mass.
    pub mass_kg: f64,
    /// Centre of mass, from the place, in the axes of the body.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub center_of_mass_m: [f64; 3],
    /// Moments of inertia xx, yy, zz about the centre of mass, in the axes of the body.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inertia_kg_m2: [f64; 3],
}

impl MemberSpec {
    /// The sections along the member, at least two.
    pub fn stations(&self) -> Vec<StationSpec> {
        if !self.station.is_empty() {
            return self.station.clone();
        }
        let whole = |share: f64| {
            let section = self.section.clone()?;
            Some(StationSpec {
                share,
                section,
                offset_m: self.offset_m,
                angle_rad: self.angle_rad,
            })
        };
        [whole(0.0), whole(1.0)].into_iter().flatten().collect()
    }
}

impl BeamFrameSpec {
    /// Names of nodes and of places on members.
    pub fn place_names(&self) -> impl Iterator<Item = &str> {
        let nodes = self.node.iter().map(|node| node.name.as_str());
        let places = self.member.iter().flat_map(|member| &member.place);
        nodes.chain(places.map(|place| place.name.as_str()))
    }
}
