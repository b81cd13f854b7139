//! Forces and moments that the sections of beams transmit.
//!
//! Newton's and Euler's equations of everything beyond a section, towards the tip: what the mass there needs for its
//! accelerations, beyond weight and applied forces, and what the bodies and closures take that are attached there, comes through
//! the section. No derivative of elastic functions is taken, so that few of them do: under loads at rest the loads are those of
//! statics, and at the root those of the joint. Wrenches are in ground components about the ground's origin until they are told.
//!
//! A section transmits what the part towards the tip exerts on the part towards the root, so that tension is positive and a
//! positive moment about z bends the beam towards y. What is attached at the place of a section is beyond it, at the root
//! before it.

use lissom_spatial::{Force, Transform};

use super::part::{BeamPart, ClosureEnd, Parts};
use super::readout::Readout;
use crate::action::LoadTarget;
use crate::view::MarkerId;

/// Places nearer than this part of a beam's length are the same.
const SAME_PLACE: f64 = 1e-9;

/// Force and moment in every section of a beam, in the section's axes. `carried` is what bodies need through the joints that
/// carry them, `applied` what inputs push on markers with.
pub(super) fn section_loads(
    at: usize,
    parts: &Parts,
    carried: &[Force<f64>],
    applied: &[(MarkerId, Force<f64>)],
    readout: &mut dyn Readout,
) -> Vec<Force<f64>> {
    let beam = &parts.beams[at];
    let sections = beam.sections.len();
    let frames: Vec<Transform<f64>> = (0..sections)
        .map(|section| readout.section_frame(at, section))
        .collect();
    let mut needed: Vec<Force<f64>> = (0..sections)
        .map(|section| readout.needed_beyond(at, section))
        .collect();
    let mut attach = |section: Option<usize>, wrench: Force<f64>| {
        if let Some(section) = section {
            needed[section] += wrench;
        }
    };
    attach(
        beam.section_of(beam.held_at),
        carried[beam.body].scale(-1.0),
    );
    for &(body, place) in &beam.hanging {
        attach(beam.section_of(place), carried[body]);
    }
    for &(closure, end, place) in &beam.closures {
        let frame = readout.closure_frame(closure);
        let on_to = frame.force_to_parent(readout.closure_force(closure));
        let section = match place {
            Some(place) => beam.section_of(place),
            None => section_before(&frames, &frame),
        };
        // what it exerts on the beam, the beam does not need
        let needs = match end {
            ClosureEnd::From => on_to,
            ClosureEnd::To => on_to.scale(-1.0),
        };
        attach(section, needs);
    }
    for &(marker, place) in &beam.markers {
        for (_, wrench) in applied.iter().filter(|(on, _)| *on == marker) {
            attach(beam.section_of(place), wrench.scale(-1.0));
        }
    }
    let mut beyond = Force::zero();
    for (needed, frame) in needed.iter_mut().zip(&frames).rev() {
        beyond += *needed;
        *needed = frame.inverse().force_to_parent(beyond.scale(-1.0));
    }
    needed
}

/// What inputs push on markers with, in ground components about the ground's origin.
pub(super) fn applied_wrenches(readout: &mut dyn Readout) -> Vec<(MarkerId, Force<f64>)> {
    let loads = readout.actions().loads.iter().enumerate();
    let pushing = loads.filter_map(|(input, load)| match &load.target {
        LoadTarget::Marker(marker, toward) => Some((input, *marker, *toward)),
        LoadTarget::Axis(_) | LoadTarget::Component(..) => None,
    });
    let pushing: Vec<_> = pushing.collect();
    (pushing.into_iter())
        .map(|(input, marker, toward)| {
            let carrier = toward.carried_by.unwrap_or(marker);
            let axes = readout.marker(carrier).pose.rotation;
            let point = readout.marker(marker).pose.translation;
            let value = readout.efforts().inputs[input];
            let wrench = readout.actions().loads[input].wrench(&toward, value, &axes);
            let moment = wrench.moment + point.cross(wrench.force);
            (marker, Force::new(moment, wrench.force))
        })
        .collect()
}

/// The last section that something on a deformed beam lies beyond.
fn section_before(frames: &[Transform<f64>], thing: &Transform<f64>) -> Option<usize> {
    let is_beyond = |frame: &Transform<f64>| {
        let apart = thing.translation - frame.translation;
        frame.rotation.transpose_mul(apart)[0] >= 0.0
    };
    frames.iter().rposition(is_beyond)
}

impl BeamPart {
    /// The last section that a place along the beam lies beyond; none for the root, which is before the first.
    pub fn section_of(&self, place: f64) -> Option<usize> {
        let near = SAME_PLACE * self.sections.last()?;
        if place <= near {
            return None;
        }
        self.sections.iter().rposition(|&x| x <= place + near)
    }
}
