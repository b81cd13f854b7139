//! [`AxialStrain`] of a beam: the points and cells at which its axial strain is taken.

use super::beam::{Basis, Beam, Membrane};
use super::body::AxialStrain;
use super::error::{FlexError, finite};
use super::groups::{Group, fastest_wave};
use super::quadrature::{gauss_legendre, whole_number};

/// Points of a finite element, for products of four quadratic slopes.
const POINTS_OF_ELEMENT: usize = 5;

/// Points of a finite element whose strain is averaged first, for products of two quadratic slopes.
const POINTS_OF_AVERAGE: usize = 3;

/// Points of a finite element that does not bend, so that its strain is constant.
const POINTS_OF_ROD: usize = 1;

/// The axial strain of a beam, none unless every segment has axial stiffness.
pub(super) fn axial_strain(
    beam: &Beam,
    groups: &[Group; 4],
) -> Result<Option<AxialStrain>, FlexError> {
    let averaged = matches!(
        beam.basis,
        Basis::Elements {
            membrane: Membrane::Averaged,
            ..
        }
    );
    if averaged {
        check_axial_stiffness(beam, "averaged membrane strain")?;
    }
    if beam.segments.iter().any(|s| s.axial_stiffness <= 0.0) {
        return Ok(None);
    }
    let bends = !groups[0].coordinates.is_empty() || !groups[1].coordinates.is_empty();
    let mut strain = AxialStrain {
        stiffness: Vec::new(),
        cells: Vec::new(),
        weights: Vec::new(),
        slopes: Vec::new(),
        component: components(groups),
    };
    for (index, (segment, start)) in beam.segments.iter().zip(beam.breaks()).enumerate() {
        let (intervals, count) = match &beam.basis {
            Basis::Elements { per_segment, .. } => {
                let count = match (bends, averaged) {
                    (false, _) => POINTS_OF_ROD,
                    (true, false) => POINTS_OF_ELEMENT,
                    (true, true) => POINTS_OF_AVERAGE,
                };
                (per_segment[index], count)
            }
            Basis::Functions { .. } => (1, strain_points_of_segment(groups, index, segment.length)),
        };
        let rule = gauss_legendre(count);
        let length = segment.length / intervals as f64;
        for interval in 0..intervals {
            let first = strain.weights.len();
            for &(xi, weight) in &rule {
                let x = start + length * (interval as f64 + 0.5 * (1.0 + xi));
                let share = 0.5 * weight;
                if averaged {
                    strain.weights.push(share);
                } else {
                    let point = strain.weights.len();
                    strain.cells.push(point..point + 1);
                    strain.weights.push(1.0);
                    strain
                        .stiffness
                        .push(segment.axial_stiffness * length * share);
                }
                push_slopes(&mut strain, groups, x);
            }
            if averaged {
                strain.cells.push(first..strain.weights.len());
                strain.stiffness.push(segment.axial_stiffness * length);
            }
        }
    }
    for &value in strain.stiffness.iter().chain(&strain.slopes) {
        finite(value, || {
            "an axial stiffness or slope along the beam".to_owned()
        })?;
    }
    Ok(Some(strain))
}

/// Refuses beams that lack axial stiffness somewhere.
pub(super) fn check_axial_stiffness(beam: &Beam, needed_by: &'static str) -> Result<(), FlexError> {
    for (index, segment) in beam.segments.iter().enumerate() {
        if segment.axial_stiffness <= 0.0 {
            return Err(FlexError::NoAxialStiffness {
                segment: index + 1,
                value: segment.axial_stiffness,
                needed_by,
            });
        }
    }
    Ok(())
}

/// Which component of the axis every coordinate displaces.
pub(super) fn components(groups: &[Group; 4]) -> Vec<Option<usize>> {
    groups
        .iter()
        .flat_map(|group| {
            group
                .coordinates
                .clone()
                .map(|_| group.deformation.component())
        })
        .collect()
}

/// Gauss points that integrate the energy of the strain of modes over a segment to about 1e-12.
///
/// The fastest integrand is the product of four slopes. How the number follows from its phase is said in
/// [`super::groups`]; the margin was fitted to the energy of one to twelve bending modes, clamped and free.
pub(super) fn strain_points_of_segment(groups: &[Group; 4], segment: usize, length: f64) -> usize {
    let bending = fastest_wave(&groups[0..2], segment) * length;
    let stretch = fastest_wave(&groups[2..3], segment) * length;
    strain_points(2.0 * bending, stretch)
}

/// As [`strain_points_of_segment`], for the phases of the squared bending slope and of the stretch.
pub(super) fn strain_points(squared_slope: f64, stretch: f64) -> usize {
    let fastest = 2.0 * squared_slope.max(stretch);
    whole_number(5.0 + 0.25 * fastest + 1.05 * fastest.sqrt())
}

fn push_slopes(strain: &mut AxialStrain, groups: &[Group; 4], x: f64) {
    for group in groups {
        let displaces = group.deformation.component().is_some();
        strain.slopes.extend(
            group
                .shapes
                .at(x)
                .iter()
                .map(|shape| if displaces { shape.slope } else { 0.0 }),
        );
    }
}
