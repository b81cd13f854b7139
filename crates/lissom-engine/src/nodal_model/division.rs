//! How a beam is divided into elements: nodes where something is attached or the section changes, and evenly between.

use lissom_nodal::{BeamSection, SecondOrderTerms};
use lissom_spatial::Matrix;
use lissom_spec::spec::{BeamSpec, BodySpec, DampingSpec, SegmentSpec};

use super::build::{Builder, SAME_PLACE};

impl Builder<'_> {
    /// Places along a beam at which something is attached.
    fn attached(&self, body: &BodySpec) -> Vec<f64> {
        let used = self.written.places.get(body.name.as_str());
        let masses = body.point_mass.iter();
        let masses = masses.filter_map(|mass| body.position(mass.place(), false));
        (used.into_iter().flatten().copied().chain(masses))
            .map(|position| position[0])
            .collect()
    }

    /// Where the nodes of a beam are, and the section between each two.
    pub(super) fn stations(
        &self,
        body: &BodySpec,
        beam: &BeamSpec,
    ) -> (Vec<f64>, Vec<BeamSection>) {
        let damping_time = match &body.damping {
            Some(DampingSpec::Rayleigh(rayleigh)) => rayleigh.stiffness_s,
            _ => 0.0,
        };
        let (length, attached) = (beam.total_length_m(), self.attached(body));
        let (mut stations, mut sections) = (vec![0.0], Vec::new());
        let mut from = 0.0;
        for segment in &beam.uniform_segments() {
            let section = BeamSection {
                damping_time,
                ..section(beam, segment)
            };
            let until = from + segment.length_m;
            for [from, until] in pieces(from, until, &attached) {
                let count = (self.elements as f64 * (until - from) / length)
                    .round()
                    .max(1.0);
                let mut x = from;
                while until - x > SAME_PLACE * length {
                    x += (until - from) / count;
                    if until - x < 0.5 * (until - from) / count {
                        x = until;
                    }
                    stations.push(x);
                    sections.push(section);
                }
            }
            from = until;
        }
        (stations, sections)
    }
}

/// A stretch of a beam cut where something is attached.
fn pieces(from: f64, until: f64, attached: &[f64]) -> Vec<[f64; 2]> {
    let near = SAME_PLACE * until;
    let mut cuts: Vec<f64> = attached.to_vec();
    cuts.retain(|&x| x > from + near && x < until - near);
    cuts.push(until);
    cuts.sort_by(f64::total_cmp);
    cuts.dedup_by(|later, earlier| *later - *earlier <= near);
    let mut start = from;
    let piece = |cut| [std::mem::replace(&mut start, cut), cut];
    cuts.into_iter().map(piece).collect()
}

/// Inertia of sections that bending does not tilt: they turn with the root. About the axis, sections of a beam that twists turn by
/// themselves.
pub(super) fn untilted_inertia(beam: &BeamSpec, twists: bool) -> Matrix<f64> {
    let mut moments = [0.0; 3];
    for segment in &beam.uniform_segments() {
        let [x, y, z] = section_inertia(segment);
        let x = if twists { 0.0 } else { x };
        for (sum, moment) in moments.iter_mut().zip([x, y, z]) {
            *sum += moment * segment.length_m;
        }
    }
    let [x, y, z] = moments;
    Matrix([[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]])
}

/// Rotary inertia of a section per length about its axes.
fn section_inertia(segment: &SegmentSpec) -> [f64; 3] {
    let (y, z) = (
        segment.section_inertia_y_kg_m,
        segment.section_inertia_z_kg_m,
    );
    // bending along y turns sections about z
    [y + z, z, y]
}

fn section(beam: &BeamSpec, segment: &SegmentSpec) -> BeamSection {
    let [x, y, z] = section_inertia(segment);
    let [_, _, _, twists] = beam.deformations();
    BeamSection {
        mass_per_length: segment.mass_per_length_kg_per_m,
        axial_stiffness: segment.axial_stiffness_n.unwrap_or(0.0),
        torsional_stiffness: segment.torsional_stiffness_n_m2.unwrap_or(0.0),
        bending_stiffness_y: segment.bending_stiffness_y_n_m2.unwrap_or(0.0),
        bending_stiffness_z: segment.bending_stiffness_z_n_m2.unwrap_or(0.0),
        shear_stiffness: None,
        rotary_inertia_per_length: match (beam.rotary_inertia, twists) {
            (true, _) => [x, y, z],
            (false, true) => [x, 0.0, 0.0],
            (false, false) => [0.0; 3],
        },
        damping_time: 0.0,
        second_order: SecondOrderTerms::ALL,
    }
}
