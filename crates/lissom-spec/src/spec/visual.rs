//! `[[visual]]`: what rigid bodies and the ground look like in reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::only;

/// A shape that the report draws on a rigid body or on the ground. Nothing but pictures depend on it.
///
/// Exactly one of `mesh`, `box`, `cylinder` and `sphere` is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisualSpec {
    /// Name of the rigid body, or `ground`.
    pub body: String,
    /// Origin of the shape's frame in the body's frame.
    #[serde(default)]
    pub position_m: [f64; 3],
    /// Turns the axes of the body into those of the shape.
    #[serde(default)]
    pub rotation_vector_rad: [f64; 3],
    /// Triangles from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<VisualMeshSpec>,
    /// A box around the origin of its frame.
    #[serde(default, rename = "box", skip_serializing_if = "Option::is_none")]
    pub cuboid: Option<VisualBoxSpec>,
    /// A cylinder around the origin of its frame, along z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinder: Option<VisualCylinderSpec>,
    /// A sphere around the origin of its frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sphere: Option<VisualSphereSpec>,
}

/// Triangles from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisualMeshSpec {
    /// STL (text or binary) or OBJ file below the model's folder. If it cannot be read the model runs without it, and `lissom check`
    /// says so.
    pub file: String,
    /// Metres per unit of the file along x, y and z; negative factors mirror.
    #[serde(default = "unscaled")]
    pub scale: [f64; 3],
}

fn unscaled() -> [f64; 3] {
    [1.0; 3]
}

/// A box.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisualBoxSpec {
    /// Edges along x, y and z.
    pub edges_m: [f64; 3],
}

/// A cylinder along z.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisualCylinderSpec {
    /// Diameter.
    pub diameter_m: f64,
    /// Length along z.
    pub length_m: f64,
}

/// A sphere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisualSphereSpec {
    /// Diameter.
    pub diameter_m: f64,
}

/// The shape of a [`VisualSpec`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum VisualKind<'a> {
    /// Triangles from a file.
    Mesh(&'a VisualMeshSpec),
    /// A box.
    Box(&'a VisualBoxSpec),
    /// A cylinder along z.
    Cylinder(&'a VisualCylinderSpec),
    /// A sphere.
    Sphere(&'a VisualSphereSpec),
}

impl VisualSpec {
    /// The shape that is given; `None` when there is none or more than one.
    pub fn kind(&self) -> Option<VisualKind<'_>> {
        only([
            self.mesh.as_ref().map(VisualKind::Mesh),
            self.cuboid.as_ref().map(VisualKind::Box),
            self.cylinder.as_ref().map(VisualKind::Cylinder),
            self.sphere.as_ref().map(VisualKind::Sphere),
        ])
    }
}
