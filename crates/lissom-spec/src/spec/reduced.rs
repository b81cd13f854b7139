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
    /// What the body looks like; nothing but pictures depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<SurfaceSpec>,
}

/// The surface of a reduced body, for pictures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfaceSpec {
    /// Undeformed positions of its points in the body's frame.
    pub positions_m: Vec<[f64; 3]>,
    /// Corners of its triangles, as numbers of points from 0, against the clock when seen from outside.
    pub triangles: Vec<[usize; 3]>,
    /// ψα of every point: n vectors each.
    pub displacement: Vec<Vec<[f64; 3]>>,
    /// Stress at every point, n times xx, yy, zz, xy, xz, yz, in Pa per unit of the coordinate; nothing if it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stress_pa: Vec<Vec<[f64; 6]>>,
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

/// A mesh of solid elements, or nodes with mass and stiffness matrices, which is reduced to elastic coordinates when the model is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshSpec {
    /// A mesh file below the folder of the model, with tetrahedra of 4 or 10 and hexahedra of 8 or 20 nodes: Gmsh's `.msh` (2.2 or 4.1, as text), or
    /// an input file of Abaqus or CalculiX (`.inp`), whose sets and surfaces are the groups, or bulk data of Nastran (`.bdf`, `.nas`). With `matrices` any of these, of which only nodes and
    /// groups are taken, or a table of nodes (`.csv`): number, x, y, z and, if wanted, a group.
    pub file: String,
    /// Length of the unit of the file: 0.001 for millimetres.
    #[serde(default = "one")]
    pub unit_m: f64,
    /// Unit of mass of matrices, and of masses and materials in the file: 1000 for tonnes, which go with millimetres and newtons.
    #[serde(default = "one")]
    pub mass_unit_kg: f64,
    /// What the elements are made of; as the file says when absent (Nastran's does), or unless `matrices` are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub material: Vec<MaterialSpec>,
    /// Mass and stiffness over the nodes, from another program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrices: Option<MatricesSpec>,
    /// Surfaces that are tied to a frame, to which something may be attached; the first one carries the body.
    pub interface: Vec<InterfaceSpec>,
    /// The shapes in which the deformation is expanded.
    pub basis: MeshBasisSpec,
    /// Whether the body stiffens when it rotates or is loaded.
    #[serde(default = "super::on")]
    pub stiffening: bool,
}

fn one() -> f64 {
    1.0
}

/// Mass and stiffness of a free body over the unknowns of its nodes, as another program wrote them.
///
/// Files are Matrix Market's (coordinate or array, real, general or symmetric), bare triplets `row column value` of one triangle, as CalculiX
/// writes them, or Nastran's DMIG, where the names of mass and stiffness begin with M and K. Units are those of the mesh (`mass_unit_kg`, `unit_m`) and the
/// second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatricesSpec {
    /// File of the mass matrix, below the folder of the model.
    pub mass: String,
    /// File of the stiffness matrix.
    pub stiffness: String,
    /// File with a line `node.direction` per row of the matrices: 1, 2, 3 for displacements and 4, 5, 6 for rotations. When absent the rows are those
    /// of all nodes in the order of their table, three or six each. DMIG name their rows themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknowns: Option<String>,
    /// What the body gains in stiffness under loads; without any it does not stiffen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub geometric_stiffness: Vec<GeometricStiffnessSpec>,
}

/// What a body gains in stiffness under a load of one. Exactly one of `force_per_mass`, `force` and `moment` says under which.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometricStiffnessSpec {
    /// File of the matrix, over the rows of the stiffness matrix.
    pub file: String,
    /// A force on every particle, of one newton per kilogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_per_mass: Option<ForcePerMassSpec>,
    /// A force of one newton on an interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<InterfaceLoadSpec>,
    /// A moment of one newton metre on an interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<InterfaceLoadSpec>,
}

/// A force on every particle, in proportion to its mass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForcePerMassSpec {
    /// Its direction.
    pub along: AxisName,
    /// The coordinate with which it grows, by one newton per kilogram and metre: centrifugal force about z at one radian per second is
    /// along x growing with x, and along y growing with y. The same everywhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growing_with: Option<AxisName>,
}

/// A force or moment on an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterfaceLoadSpec {
    /// The interface.
    pub at: String,
    /// Its direction.
    pub along: AxisName,
}

/// An axis of a body's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AxisName {
    /// The first.
    #[default]
    X,
    /// The second.
    Y,
    /// The third.
    Z,
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
    /// How the nodes and the frame move with each other.
    #[serde(default)]
    pub tie: TieSpec,
}

/// How the nodes of an interface and its frame move with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TieSpec {
    /// The nodes move as a rigid body with the frame: a flange that is bolted to something stiff.
    #[default]
    Rigid,
    /// The frame moves with the mean of the nodes, which stay free: something soft, or no more than a place. Forces on the frame are spread over the
    /// nodes.
    Averaging,
}

/// The shapes in which the deformation of a mesh is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeshBasisSpec {
    /// Modes of the body held at its first interface, all else free.
    ClampedFree(MeshModesSpec),
    /// Modes of the free body, seen from mean axes: the frame in which deformation has no momentum.
    FreeFree(MeshModesSpec),
    /// Static shapes of every interface but the first, and modes with all interfaces held.
    CraigBampton(MeshModesSpec),
    /// Of a body that two passive hinges hold, at two interfaces: modes that turn freely about the axes of both, and static shapes of what else the
    /// hinges do to the body. The frame lies on the chord between them.
    Hinged(MeshModesSpec),
    /// The one of these that suits what is attached to the interfaces: `clamped_free` where only the first one carries anything, `free_free` with residual
    /// shapes for a body that floats, `hinged` between two passive hinges, `craig_bampton` otherwise.
    Auto(MeshModesSpec),
}

/// Which modes of a mesh are kept: exactly one of `modes`, `frequency_rad_per_s` and `accuracy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshModesSpec {
    /// Number of modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<usize>,
    /// Frequency below which all modes are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_rad_per_s: Option<f64>,
    /// Share of the static deformation under uniform linear and angular accelerations that may be left out; of a body that floats, under forces and
    /// moments on its interfaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Whether what modes leave out of the static compliance of the interfaces is kept by residual attachment shapes, six per interface that
    /// moves at most; `craig_bampton` leaves nothing out.
    #[serde(default)]
    pub residual: bool,
    /// The frame of the body under `craig_bampton`.
    #[serde(default)]
    pub frame: MeshFrameSpec,
}

/// The frame from which the deformation of a mesh is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeshFrameSpec {
    /// Tangent at the first interface.
    #[default]
    Tangent,
    /// Mean axes, in which deformation has no momentum.
    Mean,
}

impl MeshBasisSpec {
    /// Its key in a model file, and which modes it keeps.
    pub fn modes(&self) -> (&'static str, &MeshModesSpec) {
        match self {
            Self::ClampedFree(own) => ("clamped_free", own),
            Self::FreeFree(own) => ("free_free", own),
            Self::CraigBampton(own) => ("craig_bampton", own),
            Self::Hinged(own) => ("hinged", own),
            Self::Auto(own) => ("auto", own),
        }
    }
}
