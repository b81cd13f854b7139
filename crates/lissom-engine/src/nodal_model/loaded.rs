//! Beams of elements whose loads are recorded: which elements and lumped masses lie between their sections.

use lissom_core::{BeamPart, ClosureEnd, MarkerId, SectionStress};
use lissom_nodal::{ElementId, End, Equations};
use lissom_spatial::{Force, Transform};
use lissom_spec::spec::{self, SensorKind, SensorSpec};

use super::NodalGauge;
use super::build::Builder;

/// A beam whose loads are recorded.
#[derive(Clone, Debug)]
pub(super) struct LoadedBeam {
    /// Its sections, and what is attached to it.
    pub(super) part: BeamPart,
    /// Its elements, each from one place to another.
    elements: Vec<(ElementId, [f64; 2])>,
    /// Ends with lumped masses, and where these are fixed to it.
    masses: Vec<(End, f64)>,
}

impl LoadedBeam {
    /// What the mass between a section and the next needs beyond its weight, in inertial components about the origin.
    pub(super) fn needed_beyond(&self, section: usize, equations: &Equations<'_>) -> Force<f64> {
        let sections = &self.part.sections;
        let from = sections[section];
        let until = sections.get(section + 1).copied().unwrap_or(from);
        let mut needed = Force::zero();
        for &(element, [begin, end]) in &self.elements {
            let fraction = |x: f64| ((x - begin) / (end - begin)).clamp(0.0, 1.0);
            let part = [fraction(from), fraction(until)];
            if part[1] > part[0] {
                needed += equations.needed_between(element, part);
            }
        }
        for &(end, place) in &self.masses {
            if self.part.section_of(place) == Some(section) {
                needed += equations.needed_at(end, self.part.body);
            }
        }
        needed
    }

    /// Pose of a section.
    pub(super) fn frame(&self, section: usize, equations: &Equations<'_>) -> Transform<f64> {
        let place = self.part.sections[section];
        let is_before = |(_, [begin, _]): &&(ElementId, [f64; 2])| *begin <= place;
        let element = self.elements.iter().rfind(is_before);
        let frame = element.and_then(|&(element, [begin, end])| {
            equations.section(element, ((place - begin) / (end - begin)).min(1.0))
        });
        frame.unwrap_or_else(Transform::identity)
    }
}

impl Builder<'_> {
    /// The beams whose loads are recorded.
    pub(super) fn loaded_beams(&self) -> Vec<LoadedBeam> {
        let beams = self.spec.loaded_beams().into_iter();
        beams.filter_map(|beam| self.loaded_beam(beam)).collect()
    }

    fn loaded_beam(&self, loaded: spec::LoadedBeam<'_>) -> Option<LoadedBeam> {
        let (spec, body) = (self.spec, loaded.body);
        let own = *self.body_index.get(body.name.as_str())?;
        let along = |place: spec::Place<'_>, child_side: bool| {
            body.position(place, child_side).map(|position| position[0])
        };
        // a side of a joint, as it is written
        let on_joint = |name: &str, child: bool| {
            let joint = self.written.joints.get(name)?;
            let side = if child { &joint.child } else { &joint.parent };
            along(side.place(), child)
        };
        let on_closure = |name: &str, end: ClosureEnd| {
            let is_to = end == ClosureEnd::To;
            let Some(closure) = spec.loops.iter().find(|closure| closure.name == name) else {
                return on_joint(name, is_to);
            };
            let end = if is_to { &closure.to } else { &closure.from };
            along(spec.loop_end(end).place, false)
        };
        let carrying = self.carrying.iter().enumerate();
        let hanging = carrying.filter(|(_, joint)| joint.parent == Some(own));
        let hanging =
            hanging.filter_map(|(at, joint)| Some((at, on_joint(&joint.name, joint.reversed)?)));
        let closures = self.closures.iter().enumerate().flat_map(|(at, closure)| {
            let ends = [
                (ClosureEnd::From, closure.from),
                (ClosureEnd::To, closure.to.body),
            ];
            let on_beam = ends.into_iter().filter(|(_, body)| *body == Some(own));
            on_beam.map(move |(end, _)| (at, end, on_closure(&closure.name, end)))
        });
        let markers = spec.marker.iter().enumerate();
        let markers = markers.filter(|(_, marker)| marker.body == body.name);
        let held = &self.carrying[own];
        let masses = self.masses.iter().filter(|(of, ..)| *of == own);
        Some(LoadedBeam {
            part: BeamPart {
                name: body.name.clone(),
                body: own,
                held_at: on_joint(&held.name, !held.reversed)?,
                hanging: hanging.collect(),
                closures: closures.collect(),
                markers: markers
                    .filter_map(|(at, marker)| Some((MarkerId(at), along(marker.place(), false)?)))
                    .collect(),
                section: (loaded.beam.section.as_ref()).and_then(SectionStress::of),
                sections: loaded.sections_m,
            },
            elements: self.spans.get(body.name.as_str())?.clone(),
            masses: masses.map(|&(_, end, place)| (end, place)).collect(),
        })
    }

    /// The strain gauges of the model.
    pub(super) fn gauges(&self) -> Vec<Option<NodalGauge>> {
        let strains = self.spec.sensor.iter().filter_map(SensorSpec::kind);
        let strains = strains.filter_map(|kind| match kind {
            SensorKind::Strain(strain) => Some(strain),
            _ => None,
        });
        let gauge = |strain: &spec::StrainSpec| {
            let elements = self.spans.get(strain.body.as_str())?;
            let is_before = |(_, [begin, _]): &&(ElementId, [f64; 2])| *begin <= strain.at_m;
            let &(element, [begin, end]) = elements.iter().rfind(is_before)?;
            Some(NodalGauge {
                element,
                at: ((strain.at_m - begin) / (end - begin)).min(1.0),
                offset: strain.offset_m,
            })
        };
        strains.map(gauge).collect()
    }

    /// Notes where a lumped mass of a body is fixed to it; several at one end are one.
    pub(super) fn note_mass(&mut self, body: &str, at: spec::Place<'_>, end: End) {
        let position = self
            .written
            .bodies
            .get(body)
            .and_then(|own| own.position(at, false));
        let known = self.masses.iter().any(|(_, noted, _)| *noted == end);
        if let (Some(&own), Some([x, ..]), false) = (self.body_index.get(body), position, known) {
            self.masses.push((own, end, x));
        }
    }
}
