//! `[body.beam]`: a straight beam and its segments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::basis::{AutoSpec, BasisSpec, Boundary, ElementsSpec};
use super::body::numbered;
use super::section::{BeamMaterialSpec, SectionSpec};

/// An Euler–Bernoulli beam, uniform or made of uniform segments.
///
/// Its properties are given either here, for a uniform beam, or in `segments`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeamSpec {
    /// Length of a uniform beam.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_m: Option<f64>,
    /// The section of a uniform beam, from which with `material` mass and all stiffnesses follow; its centre is on the line of the beam.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<SectionSpec>,
    /// What the section is made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<BeamMaterialSpec>,
    /// Mass per length of a uniform beam.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_per_length_kg_per_m: Option<f64>,
    /// Stiffness EI against deflection along y; needed by bending coordinates in y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_stiffness_y_n_m2: Option<f64>,
    /// Stiffness EI against deflection along z; needed by bending coordinates in z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_stiffness_z_n_m2: Option<f64>,
    /// Stiffness EA against stretch; needed by stretch coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axial_stiffness_n: Option<f64>,
    /// Stiffness GJ against twist; needed by torsion coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torsional_stiffness_n_m2: Option<f64>,
    /// ∫ρy²dA of the section: rotary inertia in the bending along y, and part of that of torsion.
    #[serde(default)]
    pub section_inertia_y_kg_m: f64,
    /// ∫ρz²dA of the section: rotary inertia in the bending along z, and part of that of torsion.
    #[serde(default)]
    pub section_inertia_z_kg_m: f64,
    /// Uniform segments from root to tip, instead of the uniform properties above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<SegmentSpec>,
    /// Whether the sections' rotary inertia enters the bending modes; it does unless this is false.
    #[serde(default = "super::on")]
    pub rotary_inertia: bool,
    /// The functions in which the deformation is expanded.
    pub basis: BasisSpec,
}

impl BeamSpec {
    /// The segments from root to tip: those written, or the uniform beam as one. A length or mass that
    /// is missing reads as zero, which a checked model does not have.
    pub fn uniform_segments(&self) -> Vec<SegmentSpec> {
        if !self.segments.is_empty() {
            return self.segments.clone();
        }
        let length_m = self.length_m.unwrap_or(0.0);
        if let Some(section) = &self.section {
            let own = section.stiffness(self.material.as_ref());
            let own = own.unwrap_or_default();
            return vec![SegmentSpec {
                length_m,
                mass_per_length_kg_per_m: own.mass,
                bending_stiffness_y_n_m2: Some(own.bending[0]),
                bending_stiffness_z_n_m2: Some(own.bending[2]),
                axial_stiffness_n: Some(own.axial),
                torsional_stiffness_n_m2: Some(own.torsional),
                section_inertia_y_kg_m: own.inertia[0],
                section_inertia_z_kg_m: own.inertia[2],
                elements: None,
            }];
        }
        vec![SegmentSpec {
            length_m,
            mass_per_length_kg_per_m: self.mass_per_length_kg_per_m.unwrap_or(0.0),
            bending_stiffness_y_n_m2: self.bending_stiffness_y_n_m2,
            bending_stiffness_z_n_m2: self.bending_stiffness_z_n_m2,
            axial_stiffness_n: self.axial_stiffness_n,
            torsional_stiffness_n_m2: self.torsional_stiffness_n_m2,
            section_inertia_y_kg_m: self.section_inertia_y_kg_m,
            section_inertia_z_kg_m: self.section_inertia_z_kg_m,
            elements: None,
        }]
    }

    /// Whether the beam bends along y, bends along z, stretches and twists.
    pub fn deformations(&self) -> [bool; 4] {
        match &self.basis {
            BasisSpec::Elements(ElementsSpec {
                bending_y,
                bending_z,
                stretch,
                torsion,
                ..
            })
            | BasisSpec::Auto(AutoSpec {
                bending_y,
                bending_z,
                stretch,
                torsion,
                ..
            }) => {
                let segments = self.uniform_segments();
                let all = |has: fn(&SegmentSpec) -> bool| segments.iter().all(has);
                let stiff_y = all(|segment| segment.bending_stiffness_y_n_m2.is_some());
                let stiff_z = all(|segment| segment.bending_stiffness_z_n_m2.is_some());
                [
                    bending_y.unwrap_or(stiff_y),
                    bending_z.unwrap_or(stiff_z),
                    *stretch,
                    *torsion,
                ]
            }
            basis => {
                let [bends_y, bends_z, stretches, twists] = basis.counts().map(|count| count > 0);
                let draws_back = basis.foreshortens() && (bends_y || bends_z);
                [bends_y, bends_z, stretches || draws_back, twists]
            }
        }
    }

    /// Finite elements of every segment, zero where no number is given.
    pub fn elements_per_segment(&self) -> Vec<usize> {
        let count = match &self.basis {
            BasisSpec::Elements(mesh) => mesh.count.unwrap_or(0),
            _ => 0,
        };
        let segments = self.uniform_segments();
        segments
            .iter()
            .map(|segment| segment.elements.unwrap_or(count))
            .collect()
    }

    pub(super) fn elastic_coordinates(&self) -> Option<Vec<String>> {
        let modes = ["bending_y", "bending_z", "stretch", "torsion"];
        let mesh = match &self.basis {
            BasisSpec::Elements(mesh) => mesh,
            BasisSpec::Auto(_) => return None,
            basis => {
                let groups = modes.iter().zip(basis.counts());
                let names = groups.flat_map(|(name, count)| numbered(name, 1..=count));
                return (!basis.foreshortens()).then(|| names.collect());
            }
        };
        let present = self.deformations();
        if let Some(count) = mesh.modes {
            let groups = modes.iter().zip(present).filter(|(_, present)| *present);
            let names = groups.flat_map(|(name, _)| numbered(name, 1..=count));
            return Some(names.collect());
        }
        let first = match mesh.boundary {
            Boundary::Unconstrained => 1,
            Boundary::Clamped | Boundary::Free => 2,
        };
        let last = self.elements_per_segment().iter().sum::<usize>() + 1;
        let nodal: [&[&str]; 4] = [&["v", "v_slope"], &["w", "w_slope"], &["u"], &["twist"]];
        let groups = nodal.iter().zip(present).filter(|(_, present)| *present);
        let names = groups.flat_map(|(names, _)| {
            (first..=last).flat_map(|node| names.iter().map(move |name| format!("{name}_{node}")))
        });
        Some(names.collect())
    }

    /// Length from root to tip.
    pub fn total_length_m(&self) -> f64 {
        if self.segments.is_empty() {
            self.length_m.unwrap_or(0.0)
        } else {
            self.segments.iter().map(|segment| segment.length_m).sum()
        }
    }
}

/// A uniform piece of a beam.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SegmentSpec {
    /// Length of the segment.
    pub length_m: f64,
    /// Mass per length.
    pub mass_per_length_kg_per_m: f64,
    /// Stiffness EI against deflection along y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_stiffness_y_n_m2: Option<f64>,
    /// Stiffness EI against deflection along z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_stiffness_z_n_m2: Option<f64>,
    /// Stiffness EA against stretch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axial_stiffness_n: Option<f64>,
    /// Stiffness GJ against twist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torsional_stiffness_n_m2: Option<f64>,
    /// ∫ρy²dA of the section.
    #[serde(default)]
    pub section_inertia_y_kg_m: f64,
    /// ∫ρz²dA of the section.
    #[serde(default)]
    pub section_inertia_z_kg_m: f64,
    /// Finite elements in this segment; `count` of the basis when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<usize>,
}
