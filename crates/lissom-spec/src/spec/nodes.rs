//! `[[node]]` and `[[element]]`: mechanisms written in the coordinates of the nodal formulation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deformation::{BeamDeformationsSpec, BeamRolesSpec, Deformation};

/// One node. Exactly one of `point`, `orientation`, `planar_point` and `planar_angle` says of which kind.
///
/// Points and orientations are nodes of their own: a hinge is between two orientations at one point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElementNodeSpec {
    /// Name by which elements, inputs and motions refer to the node.
    pub name: String,
    /// A point in space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<PointSpec>,
    /// An orientation in space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<OrientationSpec>,
    /// A point that stays in the plane z = 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planar_point: Option<PlanarPointSpec>,
    /// An orientation that turns about z only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planar_angle: Option<PlanarAngleSpec>,
}

/// What a coordinate of a node or a deformation of an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoleSpec {
    /// Keeps its first value: a support, or a deformation that is suppressed.
    Fixed,
    /// Follows from the others. A free deformation with stiffness is elastic, one without is released.
    Free,
    /// Moves as a `[[motion]]` says.
    Prescribed,
    /// A degree of freedom.
    Dof,
    /// A degree of freedom on which an actuator acts.
    Actuated,
}

/// A point in space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointSpec {
    /// Where it stands at first.
    pub position_m: [f64; 3],
    /// What its coordinates x, y and z are; free when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<[RoleSpec; 3]>,
    /// Mass at the point.
    #[serde(default)]
    pub mass_kg: f64,
    /// Velocity of its degrees of freedom at the start.
    #[serde(default)]
    pub initial_velocity_m_per_s: [f64; 3],
}

/// A point that stays in the plane z = 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanarPointSpec {
    /// Where it stands at first.
    pub position_m: [f64; 2],
    /// What its coordinates x and y are; free when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<[RoleSpec; 2]>,
    /// Mass at the point.
    #[serde(default)]
    pub mass_kg: f64,
    /// Velocity of its degrees of freedom at the start.
    #[serde(default)]
    pub initial_velocity_m_per_s: [f64; 2],
}

/// An orientation in space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrientationSpec {
    /// How it is turned at first.
    #[serde(default)]
    pub rotation_vector_rad: [f64; 3],
    /// What it is as a whole; free when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleSpec>,
    /// Moments of inertia xx, yy, zz in its axes.
    #[serde(default)]
    pub inertia_kg_m2: [f64; 3],
    /// Entries xy, xz, yz of the inertia tensor.
    #[serde(default)]
    pub products_of_inertia_kg_m2: [f64; 3],
    /// Angular velocity at the start in ground axes, where it is a degree of freedom.
    #[serde(default)]
    pub initial_angular_velocity_rad_per_s: [f64; 3],
}

/// An orientation that turns about z only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanarAngleSpec {
    /// How it is turned at first.
    #[serde(default)]
    pub angle_rad: f64,
    /// What it is; free when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleSpec>,
    /// Moment of inertia.
    #[serde(default)]
    pub inertia_kg_m2: f64,
    /// Rate at the start, where it is a degree of freedom.
    #[serde(default)]
    pub initial_rate_rad_per_s: f64,
}

/// One element. Exactly one of `beam`, `rigid_beam`, `hinge`, `truss` and `slider` says of which kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElementSpec {
    /// Name by which inputs and motions refer to the element.
    pub name: String,
    /// A beam between two ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beam: Option<BeamElementSpec>,
    /// Two ends that move as one body, without mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rigid_beam: Option<RigidBeamSpec>,
    /// A rotation between two orientations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hinge: Option<HingeSpec>,
    /// A bar between two points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truss: Option<TrussSpec>,
    /// A point that travels along an axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slider: Option<SliderSpec>,
}

/// One end of a beam.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndSpec {
    /// Name of a point.
    pub point: String,
    /// Name of the orientation that the end is clamped to.
    pub orientation: String,
}

/// A beam; it is straight where its nodes stand at first, and all its deformations are zero there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeamElementSpec {
    /// Where its x axis begins.
    pub from: EndSpec,
    /// Where its x axis ends.
    pub to: EndSpec,
    /// Equal elements it is divided into, with nodes of their own; one when absent.
    #[serde(default = "one_element")]
    pub divisions: usize,
    /// Where its y axis points, as far as it is across the beam; only in space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_direction: Option<[f64; 3]>,
    /// Mass per length.
    #[serde(default)]
    pub mass_per_length_kg_per_m: f64,
    /// EA. Without it the beam does not stretch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axial_stiffness_n: Option<f64>,
    /// GJ. Without it the beam does not twist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torsional_stiffness_n_m2: Option<f64>,
    /// EI against displacement along y, the only one in the plane. Without it the beam does not bend so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_stiffness_y_n_m2: Option<f64>,
    /// EI against displacement along z. Without it the beam does not bend so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_stiffness_z_n_m2: Option<f64>,
    /// GA against displacement along y and z; no shear when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shear_stiffness_n: Option<[f64; 2]>,
    /// Rotary inertia of the section per length about its x, y and z axes.
    #[serde(default)]
    pub rotary_inertia_kg_m: [f64; 3],
    /// Damping over stiffness.
    #[serde(default)]
    pub damping_time_s: f64,
    /// Which second-order terms its deformations have; all when absent.
    #[serde(default)]
    pub second_order: SecondOrderSpec,
    /// What its deformations are that it has: degrees of freedom when absent, or free for a beam that closes a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleSpec>,
    /// What single deformations are instead, whether or not they have a stiffness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<BeamRolesSpec>,
    /// Deformations at the start, where they are degrees of freedom; zero when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_deformations_m: Option<BeamDeformationsSpec>,
    /// Rates of deformations at the start, where they are degrees of freedom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rates_m_per_s: Option<BeamDeformationsSpec>,
    /// Deformations at which it carries no stress; zero when absent: it is straight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_deformations_m: Option<BeamDeformationsSpec>,
}

/// Which second-order terms the deformations of a beam have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecondOrderSpec {
    /// All.
    #[default]
    All,
    /// Only the elongation by bending, which stiffens a rotating beam.
    Elongation,
    /// None.
    None,
}

/// Two ends that move as one body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RigidBeamSpec {
    /// One end.
    pub from: EndSpec,
    /// The other end.
    pub to: EndSpec,
}

/// A rotation between two orientations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HingeSpec {
    /// Name of the orientation that carries it.
    pub from: String,
    /// Name of the orientation that it turns.
    pub to: String,
    /// Axis in ground axes, where its nodes stand at first; z in the plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// What its rotation is; a degree of freedom when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleSpec>,
    /// What the two tilts of its axis are; fixed when absent. Only in space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tilt_roles: Option<[RoleSpec; 2]>,
    /// Stiffness of its rotation.
    #[serde(default)]
    pub stiffness_n_m_per_rad: f64,
    /// Damping of its rotation.
    #[serde(default)]
    pub damping_n_m_s_per_rad: f64,
    /// Rotation at which its stiffness carries no torque; where its nodes stand at first when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_rotation_rad: Option<f64>,
    /// Rotation at the start, where it is a degree of freedom; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rotation_rad: Option<f64>,
    /// Rate at the start, where it is a degree of freedom.
    #[serde(default)]
    pub initial_rate_rad_per_s: f64,
}

/// A bar between two points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrussSpec {
    /// Name of a point.
    pub from: String,
    /// Name of another point.
    pub to: String,
    /// EA.
    #[serde(default)]
    pub axial_stiffness_n: f64,
    /// Length from which its elongation counts, and at which it carries no force; the distance of its points when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_length_m: Option<f64>,
    /// What its elongation is; free (elastic) when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleSpec>,
    /// Elongation at the start, where it is a degree of freedom; that of its points as they stand when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_elongation_m: Option<f64>,
    /// Rate of elongation at the start, where it is a degree of freedom.
    #[serde(default)]
    pub initial_rate_m_per_s: f64,
}

/// A point that travels along an axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SliderSpec {
    /// The end that carries the axis.
    pub from: EndSpec,
    /// Name of the point that travels.
    pub to: String,
    /// Axis in ground axes, where its nodes stand at first.
    pub axis: [f64; 3],
    /// What its travel is; a degree of freedom when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleSpec>,
    /// What its offsets along y and z are; fixed when absent. In the plane the second is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_roles: Option<[RoleSpec; 2]>,
    /// Stiffness of its travel.
    #[serde(default)]
    pub stiffness_n_per_m: f64,
    /// Damping of its travel.
    #[serde(default)]
    pub damping_n_s_per_m: f64,
    /// Travel at which its stiffness carries no force; zero, with both points in one place, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_travel_m: Option<f64>,
    /// Travel at the start, where it is a degree of freedom; that of its points as they stand when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_travel_m: Option<f64>,
    /// Rate at the start, where it is a degree of freedom.
    #[serde(default)]
    pub initial_rate_m_per_s: f64,
}

impl ElementNodeSpec {
    /// Whether it is an orientation and not a point.
    pub fn turns(&self) -> bool {
        self.orientation.is_some() || self.planar_angle.is_some()
    }

    /// Whether it stays in the plane.
    pub fn is_planar(&self) -> bool {
        self.planar_point.is_some() || self.planar_angle.is_some()
    }
}

impl ElementSpec {
    /// Names of the nodes it hangs on, each with whether an orientation belongs there, and the keys that say so.
    pub fn nodes(&self) -> Vec<(Vec<&'static str>, &str, bool)> {
        fn end<'a>(
            [kind, side]: [&'static str; 2],
            end: &'a EndSpec,
        ) -> [(Vec<&'static str>, &'a str, bool); 2] {
            [
                (vec![kind, side, "point"], &end.point, false),
                (vec![kind, side, "orientation"], &end.orientation, true),
            ]
        }
        let mut nodes = Vec::new();
        if let Some(beam) = &self.beam {
            nodes.extend(end(["beam", "from"], &beam.from));
            nodes.extend(end(["beam", "to"], &beam.to));
        }
        if let Some(beam) = &self.rigid_beam {
            nodes.extend(end(["rigid_beam", "from"], &beam.from));
            nodes.extend(end(["rigid_beam", "to"], &beam.to));
        }
        if let Some(slider) = &self.slider {
            nodes.extend(end(["slider", "from"], &slider.from));
            nodes.push((vec!["slider", "to"], &*slider.to, false));
        }
        if let Some(hinge) = &self.hinge {
            nodes.push((vec!["hinge", "from"], &*hinge.from, true));
            nodes.push((vec!["hinge", "to"], &*hinge.to, true));
        }
        if let Some(truss) = &self.truss {
            nodes.push((vec!["truss", "from"], &*truss.from, false));
            nodes.push((vec!["truss", "to"], &*truss.to, false));
        }
        nodes
    }

    /// Its deformations, in the plane or in space, and what each is; those of a rigid beam cannot be anything else.
    pub fn deformations(&self, planar: bool) -> Vec<(Deformation, RoleSpec)> {
        use Deformation as D;
        if let Some(beam) = &self.beam {
            let (stretches, twists) = (
                beam.axial_stiffness_n.is_some(),
                beam.torsional_stiffness_n_m2.is_some(),
            );
            let (bends_y, bends_z) = (
                beam.bending_stiffness_y_n_m2.is_some(),
                beam.bending_stiffness_z_n_m2.is_some(),
            );
            let all: &[(D, bool)] = if planar {
                &[
                    (D::Elongation, stretches),
                    (D::BendingP, bends_y),
                    (D::BendingQ, bends_y),
                ]
            } else {
                &[
                    (D::Elongation, stretches),
                    (D::Torsion, twists),
                    (D::BendingZP, bends_z),
                    (D::BendingZQ, bends_z),
                    (D::BendingYP, bends_y),
                    (D::BendingYQ, bends_y),
                ]
            };
            let role = |(deformation, has_stiffness): (D, bool)| {
                let short = beam.role.unwrap_or(RoleSpec::Dof);
                let short = if has_stiffness {
                    short
                } else {
                    RoleSpec::Fixed
                };
                let said = beam.roles.and_then(|roles| roles.get(deformation));
                (deformation, said.unwrap_or(short))
            };
            return all.iter().copied().map(role).collect();
        }
        let ([first, y, z], role, across, count) = if let Some(hinge) = &self.hinge {
            let count = if planar { 1 } else { 3 };
            let names = [D::Rotation, D::TiltY, D::TiltZ];
            (names, hinge.role, hinge.tilt_roles, count)
        } else if let Some(slider) = &self.slider {
            let count = if planar { 2 } else { 3 };
            let names = [D::Travel, D::OffsetY, D::OffsetZ];
            (names, slider.role, slider.offset_roles, count)
        } else if let Some(truss) = &self.truss {
            return vec![(D::Elongation, truss.role.unwrap_or(RoleSpec::Free))];
        } else {
            return Vec::new();
        };
        let across = across.unwrap_or([RoleSpec::Fixed; 2]);
        let mut all = vec![
            (first, role.unwrap_or(RoleSpec::Dof)),
            (y, across[0]),
            (z, across[1]),
        ];
        all.truncate(count);
        all
    }

    /// The deformation that is meant where none is named: that of a hinge, slider or truss.
    pub fn main_deformation(&self) -> Option<Deformation> {
        if self.hinge.is_some() {
            Some(Deformation::Rotation)
        } else if self.slider.is_some() {
            Some(Deformation::Travel)
        } else {
            self.truss.as_ref().map(|_| Deformation::Elongation)
        }
    }
}

impl super::ModelSpec {
    /// Whether it is written in nodes and elements instead of bodies and joints.
    pub fn is_of_nodes(&self) -> bool {
        !self.node.is_empty() || !self.element.is_empty()
    }

    /// The node of that name.
    pub fn find_node(&self, name: &str) -> Option<&ElementNodeSpec> {
        self.node.iter().find(|node| node.name == name)
    }

    /// Whether an element is one of the plane.
    pub fn is_planar_element(&self, element: &ElementSpec) -> bool {
        let planar = |name: &str| self.find_node(name).is_some_and(ElementNodeSpec::is_planar);
        element.nodes().iter().all(|(_, name, _)| planar(name))
    }

    /// The deformation of an element that an input or motion means, its place among those of the element, and what
    /// it is; the main one if none is named.
    pub fn addressed(
        &self,
        element: &ElementSpec,
        named: Option<Deformation>,
    ) -> Option<(usize, Deformation, RoleSpec)> {
        let meant = named.or_else(|| element.main_deformation())?;
        let mut all = element
            .deformations(self.is_planar_element(element))
            .into_iter()
            .enumerate();
        all.find_map(|(index, (deformation, role))| {
            (deformation == meant).then_some((index, deformation, role))
        })
    }

    /// The element of that name.
    pub fn find_element(&self, name: &str) -> Option<&ElementSpec> {
        self.element.iter().find(|element| element.name == name)
    }
}

fn one_element() -> usize {
    1
}
