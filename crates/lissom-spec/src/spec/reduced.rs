//! `[body.reduced]`: a body of any shape, reduced to elastic coordinates; `[body.mesh]`: a mesh that is reduced when it is read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body of any shape, reduced to elastic coordinates: all that its motion needs, as `lissom body` writes it.
///
/// A point at `r` moves by Σψα(r)ηα + ½Σhαβ(r)ηαηβ. Everything is in the axes of the body's frame; integrals go
/// over the mass of the undeformed body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReducedSpec {
    /// Names of the n elastic coordinates; `mode_1`, `mode_2`, … when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coordinates: Vec<String>,
    /// Mass.
    pub mass_kg: f64,
    /// Centre of mass in the body's frame.
    pub center_of_mass_m: [f64; 3],
    /// Inertia tensor about the centre of mass.
    pub inertia_kg_m2: [[f64; 3]; 3],
    /// Stiffness matrix, n rows of n numbers.
    pub stiffness: Vec<Vec<f64>>,
    /// Mass matrix of the elastic coordinates, n rows of n numbers: that of the source, not rebuilt from lumps.
    pub mass_matrix: Vec<Vec<f64>>,
    /// ∫ψα dm: n rows of three.
    pub displacement_integrals: Vec<[f64; 3]>,
    /// ∫rᵢψαⱼ dm: n times three rows i of three columns j.
    pub position_integrals: Vec<[[f64; 3]; 3]>,
    /// ∫ψαᵢψβⱼ dm: n rows of n times three rows i of three columns j.
    pub product_integrals: Vec<Vec<[[f64; 3]; 3]>>,
    /// Places where something may be attached; the body is held at the first one unless its shapes move it.
    pub nodes: Vec<ReducedNodeSpec>,
    /// Integrals of the second-order displacement h; without them the body does not stiffen when it rotates or is loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_order: Option<SecondOrderIntegralsSpec>,
}

/// A place on a reduced body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReducedNodeSpec {
    /// Name by which joints, payloads and markers refer to it.
    pub name: String,
    /// Undeformed position in the body's frame.
    pub position_m: [f64; 3],
    /// Six rows of n numbers: rotation about x, y, z in rad and translation along x, y, z in m, per unit of every
    /// elastic coordinate. No rows for a node that does not move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub influence: Vec<Vec<f64>>,
    /// Second derivatives of the same six, each n rows of n numbers; the rotation is a rotation vector. None without `second_order` of the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub second_order: Vec<Vec<Vec<f64>>>,
}

/// Integrals of the second derivatives hαβ of the displacement of a body, each matrix n rows of n numbers.
///
/// They are the geometric stiffness of the body: under a uniform acceleration a it is Σaₖ∫hₖdm, and under rotation the part of
/// the acceleration that grows with rᵢ works on ∫rᵢhₖdm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecondOrderIntegralsSpec {
    /// ∫hₖ dm: three matrices.
    pub displacement_integrals: Vec<Vec<Vec<f64>>>,
    /// ∫rᵢhₖ dm: three times three matrices, i by rows.
    pub position_integrals: Vec<Vec<Vec<Vec<f64>>>>,
    /// ∫ψγ·h dm: n matrices.
    pub shape_integrals: Vec<Vec<Vec<f64>>>,
}

impl ReducedSpec {
    /// The node of that name.
    pub fn find_node(&self, name: &str) -> Option<&ReducedNodeSpec> {
        self.nodes.iter().find(|node| node.name == name)
    }
}

/// A mesh of solid elements, which is reduced to elastic coordinates when the model is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshSpec {
    /// A mesh file below the folder of the model, with tetrahedra of 4 or 10 and hexahedra of 8 or 20 nodes: Gmsh's `.msh` (2.2 or 4.1, as text), or
    /// an input file of Abaqus or CalculiX (`.inp`), whose sets and surfaces are the groups.
    pub file: String,
    /// Length of the unit of the file: 0.001 for millimetres.
    #[serde(default = "metre")]
    pub unit_m: f64,
    /// What the elements are made of.
    pub material: Vec<MaterialSpec>,
    /// Surfaces that are tied to a frame, to which something may be attached; the first one carries the body.
    pub interface: Vec<InterfaceSpec>,
    /// The shapes in which the deformation is expanded.
    pub basis: MeshBasisSpec,
    /// Whether the body stiffens when it rotates or is loaded.
    #[serde(default = "super::on")]
    pub stiffening: bool,
}

fn metre() -> f64 {
    1.0
}

/// A linear elastic, isotropic material.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaterialSpec {
    /// Physical group of the elements; all elements that no other material names when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Young's modulus.
    pub youngs_modulus_pa: f64,
    /// Poisson's ratio.
    pub poisson_ratio: f64,
    /// Density.
    pub density_kg_per_m3: f64,
}

/// A set of nodes of a mesh that is tied to a frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterfaceSpec {
    /// Name by which joints, payloads and markers refer to the frame.
    pub name: String,
    /// Physical group of the surface (or of points, lines, volumes); `name` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Origin of the frame in the body's frame; the mean of its nodes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_m: Option<[f64; 3]>,
}

/// The shapes in which the deformation of a mesh is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeshBasisSpec {
    /// Modes of the body held at its first interface, all else free.
    ClampedFree(MeshModesSpec),
    /// Static shapes of every interface but the first, and modes with all interfaces held; the frame is tangent at the first one.
    CraigBampton(MeshModesSpec),
}

/// How many modes of a mesh are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshModesSpec {
    /// Number of modes.
    pub modes: usize,
}
