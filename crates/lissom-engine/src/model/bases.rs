//! Functions of beams chosen by what holds their ends: what `basis.auto` stands for.
//!
//! | ends of a plane of bending | functions |
//! |---|---|
//! | hinges that carry no moment, at both | sines on the chord |
//! | held at the root, nothing at the tip | clamped at the root |
//! | nothing at either | of the free beam |
//! | anything else | static shapes of what neighbours do to the ends, and functions clamped at both |
//!
//! Stretch and torsion know ends that are free and ends that are not. A hinge about one axis clamps the other plane.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::f64::consts::PI;

use lissom_core::rotation_matrix;
use lissom_spatial::Vector;
use lissom_spec::spec::{
    AutoSpec, BasisSpec, BeamSpec, BodySpec, EachSpec, FunctionsSpec, SegmentSpec,
};
use lissom_spec::{ModelSpec, Turns};
use serde::Serialize;

/// Bending functions of each plane, those behind static shapes, and those of stretch and torsion, unless the model says more.
const FUNCTIONS: usize = 2;
const BEHIND_STATIC_SHAPES: usize = 1;
const RODS: usize = 1;
/// Most functions of a deformation that a frequency can ask for.
const MOST: usize = 64;
/// Places and directions nearer than this are the same.
const SAME: f64 = 1e-9;

/// Functions of one deformation of a body that were chosen for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChosenFunctions {
    /// The body.
    pub body: String,
    /// Bending along y, bending along z, stretch or torsion.
    pub deformation: &'static str,
    /// What kind of functions.
    pub functions: &'static str,
    /// How many.
    pub count: usize,
    /// Why these.
    pub reason: &'static str,
}

/// How an end is held in one deformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Free,
    Hinge,
    Held,
}

/// What stands on a body: where, and about which directions of the body it lets it turn without moment.
struct Placed {
    position: [f64; 3],
    turns: Turn,
}

/// [`Turns`] in the axes of the body.
enum Turn {
    Free,
    Any,
    About(Vector<f64>),
    None,
}

/// The model with functions in the place of every basis that leaves the choice, and what was chosen; itself if there is none.
pub(crate) fn chosen_bases(spec: &ModelSpec) -> (Cow<'_, ModelSpec>, Vec<ChosenFunctions>) {
    let leaves_the_choice = |body: &BodySpec| {
        let beam = body.beam.as_ref();
        beam.is_some_and(|beam| matches!(beam.basis, BasisSpec::Auto(_)))
    };
    if !spec.body.iter().any(leaves_the_choice) {
        return (Cow::Borrowed(spec), Vec::new());
    }
    let attachments = attachments(spec);
    let mut resolved = spec.clone();
    let mut chosen = Vec::new();
    for (body, written) in resolved.body.iter_mut().zip(&spec.body) {
        let Some(beam) = &mut body.beam else { continue };
        let BasisSpec::Auto(auto) = beam.basis else {
            continue;
        };
        let held = attachments.get(written.name.as_str());
        let held = held.map_or(&[][..], Vec::as_slice);
        beam.basis = BasisSpec::Each(choose(&written.name, &auto, beam, held, &mut chosen));
    }
    (Cow::Owned(resolved), chosen)
}

/// Functions of each deformation of a body, which are also told in `chosen`.
fn choose(
    body: &str,
    auto: &AutoSpec,
    beam: &BeamSpec,
    attachments: &[Placed],
    chosen: &mut Vec<ChosenFunctions>,
) -> EachSpec {
    let segments = beam.uniform_segments();
    let length = beam.total_length_m();
    let names = ["bending_y", "bending_z", "stretch", "torsion"];
    let deforms = beam.deformations();
    let [bending_y, bending_z, stretch, torsion] = std::array::from_fn(|index| {
        if !deforms[index] {
            return None;
        }
        let ends = [0.0, length].map(|x| end(attachments, x, index));
        let standing = attachments
            .iter()
            .filter(|at| !matches!(at.turns, Turn::Free));
        let within = standing
            .map(|at| at.position[0])
            .any(|x| x > SAME * length && x < (1.0 - SAME) * length);
        let (kind, reason) = fitting(ends, within, index < 2);
        let phase = auto
            .frequency_rad_per_s
            .map(|frequency| phase(&segments, index, frequency));
        let functions = counted(kind, index < 2, auto, phase);
        chosen.push(ChosenFunctions {
            body: body.to_owned(),
            deformation: names[index],
            functions: functions.key(),
            count: functions.count(),
            reason,
        });
        Some(functions)
    });
    EachSpec {
        bending_y,
        bending_z,
        stretch,
        torsion,
    }
}

/// The kind of functions that fits, with no number yet, and why.
fn fitting(ends: [End; 2], within: bool, bends: bool) -> (FunctionsSpec, &'static str) {
    match ends {
        _ if within => (
            FunctionsSpec::FixedInterface(0),
            "something stands between its ends",
        ),
        [End::Hinge, End::Hinge] if bends => (
            FunctionsSpec::PinnedPinned(0),
            "hinges at both ends carry no moment",
        ),
        [End::Free, End::Free] => (FunctionsSpec::FreeFree(0), "both ends are free"),
        [End::Held, End::Free] => (
            FunctionsSpec::ClampedFree(0),
            "its root is held and its tip is free",
        ),
        [End::Hinge, End::Free] if !bends => (
            FunctionsSpec::ClampedFree(0),
            "its root is held and its tip is free",
        ),
        [End::Hinge, End::Free] | [End::Free, End::Hinge] => (
            FunctionsSpec::FixedInterface(0),
            "it hinges at one end and the other is free",
        ),
        _ => (FunctionsSpec::FixedInterface(0), "an end is held or driven"),
    }
}

/// As many functions as are asked for, or as have their natural frequency below the one asked for.
fn counted(kind: FunctionsSpec, bends: bool, auto: &AutoSpec, phase: Option<f64>) -> FunctionsSpec {
    // those of order n have about the phase (n + offset) π
    let (offset, statics) = match (kind, bends) {
        (FunctionsSpec::ClampedFree(_), _) => (-0.5, 0),
        (FunctionsSpec::PinnedPinned(_), _) | (FunctionsSpec::FreeFree(_), false) => (0.0, 0),
        (FunctionsSpec::FreeFree(_) | FunctionsSpec::ClampedClamped(_), _) => (0.5, 0),
        (FunctionsSpec::FixedInterface(_), true) => (0.5, 2),
        (FunctionsSpec::FixedInterface(_), false) => (0.0, 1),
    };
    let dynamic = match phase {
        Some(phase) => ((1..=MOST).rev())
            .find(|&order| (order as f64 + offset) * PI <= phase)
            .unwrap_or(0),
        None if bends && statics > 0 => auto.functions.unwrap_or(BEHIND_STATIC_SHAPES),
        None if bends => auto.functions.unwrap_or(FUNCTIONS),
        None if statics > 0 => 0,
        None => RODS,
    };
    kind.with_count((statics + dynamic).max(1))
}

/// Phase of a wave of this frequency along the beam.
fn phase(segments: &[SegmentSpec], deformation: usize, frequency: f64) -> f64 {
    let of = |segment: &SegmentSpec| {
        let mass = segment.mass_per_length_kg_per_m;
        let polar = segment.section_inertia_y_kg_m + segment.section_inertia_z_kg_m;
        let ratio = |inertia: f64, stiffness: Option<f64>| inertia / stiffness.unwrap_or(f64::NAN);
        let bending = |stiffness| (ratio(mass, stiffness) * frequency.powi(2)).powf(0.25);
        let wave_number = match deformation {
            0 => bending(segment.bending_stiffness_y_n_m2),
            1 => bending(segment.bending_stiffness_z_n_m2),
            2 => ratio(mass, segment.axial_stiffness_n).sqrt() * frequency,
            _ => ratio(polar, segment.torsional_stiffness_n_m2).sqrt() * frequency,
        };
        segment.length_m * wave_number
    };
    segments.iter().map(of).sum()
}

/// How the end at `x` is held in a deformation.
fn end(attachments: &[Placed], x: f64, deformation: usize) -> End {
    let axis = match deformation {
        0 => Some(Vector([0.0, 0.0, 1.0])),
        1 => Some(Vector([0.0, 1.0, 0.0])),
        2 => None,
        _ => Some(Vector([1.0, 0.0, 0.0])),
    };
    let scale = x.abs().max(1.0);
    let here = attachments
        .iter()
        .filter(|at| (at.position[0] - x).abs() <= SAME * scale)
        .filter(|at| !matches!(at.turns, Turn::Free));
    let mut ends = here.map(|at| match (&at.turns, axis) {
        (Turn::Any, Some(_)) => End::Hinge,
        (Turn::About(own), Some(axis)) if own.cross(axis).dot(own.cross(axis)) < SAME => End::Hinge,
        _ => End::Held,
    });
    match (ends.next(), ends.next()) {
        (None, _) => End::Free,
        (Some(end), None) => end,
        // what two neighbours do to an end they do to each other
        (Some(_), Some(_)) => End::Held,
    }
}

/// What stands on every body, where that is known.
fn attachments(spec: &ModelSpec) -> BTreeMap<&str, Vec<Placed>> {
    let bodies = spec.bodies_by_name();
    let mut all: BTreeMap<&str, Vec<Placed>> = BTreeMap::new();
    for (name, attachments) in spec.attachments() {
        let Some(body) = bodies.get(name) else {
            continue;
        };
        let placed = attachments.iter().filter_map(|own| {
            let position = body.position(own.place, own.carries)?;
            let turns = match own.turns {
                Turns::Free => Turn::Free,
                Turns::Any => Turn::Any,
                Turns::About {
                    axis,
                    rotation_vector_rad,
                } => Turn::About(turned(axis, rotation_vector_rad)),
                _ => Turn::None,
            };
            Some(Placed { position, turns })
        });
        all.insert(name, placed.collect());
    }
    all
}

/// A direction of the joint's frame in that of the body, of unit length.
fn turned(axis: [f64; 3], rotation_vector_rad: [f64; 3]) -> Vector<f64> {
    let axis = rotation_matrix(Vector(rotation_vector_rad)) * Vector(axis);
    axis.scale(1.0 / axis.dot(axis).sqrt())
}
