//! Beams: their properties, and the basis that must find the properties it needs.

use super::Checker;
use super::limits::{MOST_BEAM_FREEDOMS, MOST_MODES, SMALLEST};
use crate::bounds::STRONGEST;
use crate::error::{ErrorKind, FrameFault};
use crate::path::Path;
use crate::spec::{
    AutoSpec, BasisSpec, BeamMaterialSpec, BeamSpec, Boundary, ElementsSpec, FunctionsSpec,
    Membrane, SectionSpec, SegmentSpec,
};

/// The keys of the properties that the four deformations need: bending y, bending z, stretch, torsion.
const DEFORMATIONS: [&str; 4] = ["bending_y", "bending_z", "stretch", "torsion"];
/// Static shapes of the ends that fixed-interface functions begin with.
const ENDS: [usize; 4] = [2, 2, 1, 1];
const STIFFNESSES: [&str; 4] = [
    "bending_stiffness_y_n_m2",
    "bending_stiffness_z_n_m2",
    "axial_stiffness_n",
    "torsional_stiffness_n_m2",
];

impl Checker<'_> {
    /// Checks a beam; returns whether its elastic coordinates can be named.
    pub(super) fn beam(&mut self, path: &Path, body: &str, beam: &BeamSpec) -> bool {
        if beam.segments.is_empty() {
            let with_section = beam.section.is_some();
            let missing = [
                ("length_m", beam.length_m.is_none()),
                (
                    "mass_per_length_kg_per_m",
                    beam.mass_per_length_kg_per_m.is_none() && !with_section,
                ),
                ("material", beam.material.is_none() && with_section),
            ];
            for (key, _) in missing.iter().filter(|(_, missing)| *missing) {
                let key = (*key).to_owned();
                self.error(path.clone(), ErrorKind::MissingKey { key });
            }
            if let Some(section) = &beam.section {
                self.numbers_beside(path, beam, "the section says it");
                self.centred(&path.key("section"), section, beam.material.as_ref());
            } else if beam.material.is_some() {
                self.no_effect(path.key("material"), "the beam has no section");
            }
        } else {
            let by_segments = "the beam is given by its segments";
            self.numbers_beside(path, beam, by_segments);
            for (key, written) in [
                ("length_m", beam.length_m.is_some()),
                ("section", beam.section.is_some()),
                ("material", beam.material.is_some()),
            ] {
                if written {
                    self.no_effect(path.key(key), by_segments);
                }
            }
        }
        let segments = beam.uniform_segments();
        for (index, segment) in segments.iter().enumerate() {
            self.segment(&segment_path(path, beam, index), beam, segment);
        }
        let of_basis = path.key("basis").key(beam.basis.key());
        let sound = match &beam.basis {
            BasisSpec::Elements(mesh) => self.mesh(&of_basis, beam, mesh),
            BasisSpec::Auto(auto) => {
                self.auto(&of_basis, auto);
                // they are chosen when the joints are known
                false
            }
            basis => self.functions(&of_basis, basis),
        };
        let deformations = beam.deformations();
        if deformations == [false; 4] {
            let body = body.to_owned();
            self.error(path.key("basis"), ErrorKind::NoModes { body });
        }
        let has_all = beam.segments.is_empty() && beam.section.is_some();
        for (index, segment) in segments.iter().enumerate().filter(|_| !has_all) {
            let path = segment_path(path, beam, index);
            self.needed_properties(&path, segment, beam, deformations);
        }
        sound
    }

    /// Asks for a section that bends along y and z by itself.
    fn centred(&mut self, path: &Path, section: &SectionSpec, material: Option<&BeamMaterialSpec>) {
        /// Rounding of corners that were computed, against the radius of gyration.
        const ROUNDING: f64 = 1e-6;
        self.section(path, section);
        // shear, which depends on it, is not asked for
        let Some(area) = section.constants(0.3) else {
            self.error(path.clone(), ErrorKind::Frame(FrameFault::Numbers));
            return;
        };
        let [yy, yz, zz] = area.second_moments;
        let square = area.centre[0].powi(2) + area.centre[1].powi(2);
        let beside = square * area.area > ROUNDING * ROUNDING * (yy + zz);
        if beside || yz.abs() > ROUNDING * (yy + zz) {
            self.error(path.clone(), ErrorKind::Frame(FrameFault::Eccentric));
        }
        if let Some(own) = section.stiffness(material) {
            let [bending_y, _, bending_z] = own.bending;
            let all = [own.mass, own.axial, own.torsional, bending_y, bending_z];
            let is_odd = |value: &f64| !(SMALLEST..=STRONGEST).contains(value);
            if let Some(value) = all.into_iter().find(is_odd) {
                let expected = "sizes and a material that give a beam mass and stiffness";
                self.in_range(path.key(section.key()), value, false, expected);
            }
        }
    }

    /// With segments or a section, properties of the whole beam would say the same thing twice.
    fn numbers_beside(&mut self, path: &Path, beam: &BeamSpec, reason: &str) {
        let written = [
            (
                "mass_per_length_kg_per_m",
                beam.mass_per_length_kg_per_m.is_some(),
            ),
            (STIFFNESSES[0], beam.bending_stiffness_y_n_m2.is_some()),
            (STIFFNESSES[1], beam.bending_stiffness_z_n_m2.is_some()),
            (STIFFNESSES[2], beam.axial_stiffness_n.is_some()),
            (STIFFNESSES[3], beam.torsional_stiffness_n_m2.is_some()),
            ("section_inertia_y_kg_m", beam.section_inertia_y_kg_m != 0.0),
            ("section_inertia_z_kg_m", beam.section_inertia_z_kg_m != 0.0),
        ];
        for (key, _) in written.iter().filter(|(_, written)| *written) {
            self.no_effect(path.key(*key), reason);
        }
    }

    fn segment(&mut self, path: &Path, beam: &BeamSpec, segment: &SegmentSpec) {
        // what follows from a section was looked at there
        if beam.segments.is_empty() && beam.section.is_some() {
            return;
        }
        // what is missing was reported and reads as zero
        if !beam.segments.is_empty() || beam.mass_per_length_kg_per_m.is_some() {
            self.positive(
                path.key("mass_per_length_kg_per_m"),
                segment.mass_per_length_kg_per_m,
            );
        }
        for (key, value) in STIFFNESSES.iter().zip(stiffnesses(segment)) {
            if let Some(value) = value {
                self.positive(path.key(*key), value);
            }
        }
        if segment.elements.is_some() && !matches!(beam.basis, BasisSpec::Elements(_)) {
            self.no_effect(path.key("elements"), "the basis is not one of elements");
        }
    }

    fn needed_properties(
        &mut self,
        path: &Path,
        segment: &SegmentSpec,
        beam: &BeamSpec,
        deformations: [bool; 4],
    ) {
        let missing = |property: &str, deformation: &str| ErrorKind::MissingProperty {
            property: property.to_owned(),
            needed_by: deformation.to_owned(),
        };
        let mut needed_by: [Option<&str>; 4] =
            std::array::from_fn(|index| deformations[index].then_some(DEFORMATIONS[index]));
        match &beam.basis {
            basis if basis.foreshortens() && basis.counts()[2] == 0 => {
                needed_by[2] = needed_by[2].and(Some("foreshortening"));
            }
            BasisSpec::Elements(mesh) if mesh.membrane == Membrane::Averaged => {
                needed_by[2] = needed_by[2].or(Some("averaged membrane strain"));
            }
            _ => {}
        }
        for (index, stiffness) in stiffnesses(segment).iter().enumerate() {
            if let (Some(needed_by), None) = (needed_by[index], stiffness) {
                self.error(path.clone(), missing(STIFFNESSES[index], needed_by));
            }
        }
        let polar = segment.section_inertia_y_kg_m + segment.section_inertia_z_kg_m;
        if deformations[3] && polar < SMALLEST {
            self.error(
                path.clone(),
                missing("section_inertia_y_kg_m", DEFORMATIONS[3]),
            );
        }
    }

    fn auto(&mut self, path: &Path, auto: &AutoSpec) {
        if auto.functions.is_some() && auto.frequency_rad_per_s.is_some() {
            let reason = "the frequency says how many functions there are";
            self.no_effect(path.key("functions"), reason);
        }
        if let Some(frequency) = auto.frequency_rad_per_s {
            self.frequency(path.key("frequency_rad_per_s"), frequency);
        }
    }

    fn functions(&mut self, path: &Path, basis: &BasisSpec) -> bool {
        if basis.foreshortens() {
            if !matches!(basis, BasisSpec::ClampedFree(_)) {
                let reason = "foreshortening is measured from a clamped root";
                self.no_effect(path.key("foreshortening"), reason);
            }
            if basis.counts()[..2] == [0, 0] {
                self.no_effect(path.key("foreshortening"), "the beam does not bend");
            }
        }
        let interface = match basis {
            BasisSpec::Each(each) => each
                .in_order()
                .map(|own| matches!(own, Some(FunctionsSpec::FixedInterface(_)))),
            basis => [matches!(basis, BasisSpec::FixedInterface(_)); 4],
        };
        let mut sound = true;
        for (index, count) in basis.counts().into_iter().enumerate() {
            let path = path.key(DEFORMATIONS[index]);
            let least = match (interface[index], count) {
                (true, 1..) => ENDS[index],
                _ => 0,
            };
            let accepted = (least..=MOST_MODES).contains(&count);
            sound &= accepted;
            let expected = match least {
                0 => format!("{MOST_MODES} at most"),
                least => {
                    format!("{least} to {MOST_MODES}, the static shapes of the ends among them")
                }
            };
            self.in_range(path, count as f64, accepted, &expected);
        }
        sound
    }

    fn mesh(&mut self, path: &Path, beam: &BeamSpec, mesh: &ElementsSpec) -> bool {
        if mesh.count.is_none()
            && beam
                .uniform_segments()
                .iter()
                .any(|segment| segment.elements.is_none())
        {
            let key = "count".to_owned();
            self.error(path.clone(), ErrorKind::MissingKey { key });
            return false;
        }
        let per_segment = beam.elements_per_segment();
        let total = per_segment
            .iter()
            .fold(0_usize, |sum, count| sum.saturating_add(*count));
        let [bends_y, bends_z, stretches, twists] = beam.deformations();
        let bends = bends_y || bends_z;
        // values at the nodes, and slopes where it bends; a clamped root has none
        let per_node = if bends { 2 } else { 1 };
        let most = MOST_BEAM_FREEDOMS / per_node - usize::from(mesh.boundary != Boundary::Clamped);
        let expected = format!("{most} at most");
        let accepted = total <= most;
        self.in_range(path.key("count"), total as f64, accepted, &expected);
        let mut sound = accepted && !per_segment.contains(&0);
        match mesh.modes {
            Some(modes) => {
                // bending has two coordinates per element, stretch and torsion have one
                let fewest = if stretches || twists || !bends {
                    total
                } else {
                    2 * total.min(most)
                };
                let most = fewest.min(MOST_MODES);
                let accepted = (1..=most).contains(&modes);
                if sound {
                    let expected = format!("1 to {most} modes of each deformation for this mesh");
                    self.in_range(path.key("modes"), modes as f64, accepted, &expected);
                }
                sound &= accepted;
            }
            None if mesh.boundary == Boundary::Free => {
                let kind = ErrorKind::MissingProperty {
                    property: "modes".to_owned(),
                    needed_by: "a mesh that is free at both ends".to_owned(),
                };
                self.error(path.clone(), kind);
                sound = false;
            }
            None => {}
        }
        sound
    }
}

fn segment_path(path: &Path, beam: &BeamSpec, index: usize) -> Path {
    if beam.segments.is_empty() {
        path.clone()
    } else {
        path.key("segments").index(index)
    }
}

/// The stiffnesses in the order of [`DEFORMATIONS`].
fn stiffnesses(segment: &SegmentSpec) -> [Option<f64>; 4] {
    [
        segment.bending_stiffness_y_n_m2,
        segment.bending_stiffness_z_n_m2,
        segment.axial_stiffness_n,
        segment.torsional_stiffness_n_m2,
    ]
}
