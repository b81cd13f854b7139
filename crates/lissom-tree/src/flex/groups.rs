//! The elastic coordinates of a beam, one [`Group`] per deformation, and the slices its mass is cut into.

use std::f64::consts::PI;
use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::beam::{Basis, Beam, Functions, Segment};
use super::deformation::Deformation;
use super::eigenfunctions::{Boundary, UniformModes};
use super::elements::{Element, ElementModes, MOST_FREEDOMS, Mesh};
use super::error::{FlexError, finite};
use super::foreshortening::foreshortened_stretch;
use super::quadrature::{gauss_legendre, whole_number};
use super::shape::{Field, Shapes};
use super::stepped::{check_available, interface_functions, stepped_modes};
use super::strain::strain_points_of_segment;

/// Most elastic coordinates of one beam: the second-order field keeps a matrix of that size at every slice.
const MOST_COORDINATES: usize = 128;

/// Slices of every finite element. Six make the square of the shortening, of degree ten, exact, and with it
/// all other integrals.
const SLICES_PER_ELEMENT: usize = 6;

/// Displacements that differ by less than this fraction are equally large when the sign of a mode is chosen.
const EQUALLY_LARGE: f64 = 1e-6;

/// The coordinates of one deformation.
pub(super) struct Group {
    pub(super) deformation: Deformation,
    /// Where they stand among all elastic coordinates.
    pub(super) coordinates: Range<usize>,
    pub(super) names: Vec<String>,
    pub(super) stiffness: DMatrix<f64>,
    pub(super) shapes: Shapes,
    /// Largest wave number in every segment; empty for finite elements, which are polynomials.
    pub(super) wave_numbers: Vec<f64>,
}

/// A piece of the mass of a beam.
pub(super) struct Slice {
    pub(super) x: f64,
    pub(super) mass: f64,
    pub(super) section_inertia: [f64; 2],
}

/// The coordinates of a beam whose numbers have been checked, in order.
pub(super) fn groups(beam: &Beam, point_masses: &[(f64, f64)]) -> Result<[Group; 4], FlexError> {
    let build = |deformation: Deformation| -> Result<Group, FlexError> {
        match &beam.basis {
            Basis::Functions { of, .. } => {
                eigenfunctions(beam, deformation, of[deformation as usize])
            }
            Basis::Elements {
                per_segment,
                planes,
                modes,
                boundary,
                membrane: _,
            } => {
                let kept = planes.contains(&deformation);
                check_elements(beam, per_segment, *modes, *boundary)?;
                if kept {
                    let elements = finite_elements(beam, deformation, per_segment)?;
                    element_coordinates(deformation, *boundary, elements, *modes, point_masses)
                } else {
                    Ok(unused(deformation))
                }
            }
        }
    };
    check_counts(&beam.basis)?;
    let mut groups = [
        build(Deformation::BendingY)?,
        build(Deformation::BendingZ)?,
        build(Deformation::Stretch)?,
        build(Deformation::Torsion)?,
    ];
    if foreshortens(&beam.basis) {
        groups[2] = foreshortened_stretch(beam, &groups)?;
    }
    let mut first = 0;
    for group in &mut groups {
        let count = group.shapes.len();
        group.coordinates = first..first + count;
        first += count;
    }
    match first {
        0 => Err(FlexError::NoModes),
        found if found > MOST_COORDINATES => Err(too_many_coordinates(found)),
        _ => Ok(groups),
    }
}

/// The mass of a beam at the points of a quadrature along it, then its point masses.
///
/// The points are as many as the square of the shortening needs, the fastest integrand there is.
pub(super) fn slices(beam: &Beam, groups: &[Group; 4], point_masses: &[(f64, f64)]) -> Vec<Slice> {
    let mut slices = Vec::new();
    for (index, (segment, &start)) in beam.segments.iter().zip(&beam.breaks()).enumerate() {
        let intervals = intervals_of_segment(beam, index);
        let length = segment.length / intervals as f64;
        let rule = gauss_legendre(slices_of_interval(beam, groups, index, length));
        for interval in 0..intervals {
            for &(xi, weight) in &rule {
                let share = 0.5 * length * weight;
                slices.push(Slice {
                    x: start + length * (interval as f64 + 0.5 * (1.0 + xi)),
                    mass: share * segment.mass_per_length,
                    section_inertia: segment.section_inertia.map(|inertia| share * inertia),
                });
            }
        }
    }
    let points = point_masses.iter().map(|&(x, mass)| Slice {
        x,
        mass,
        section_inertia: [0.0; 2],
    });
    slices.extend(points);
    slices
}

/// The mass of a stretch of a beam at the points of quadratures along it, without point masses.
pub(super) fn slices_between(
    beam: &Beam,
    groups: &[Group; 4],
    [from, until]: [f64; 2],
) -> Vec<Slice> {
    let mut slices = Vec::new();
    for (index, (segment, &start)) in beam.segments.iter().zip(&beam.breaks()).enumerate() {
        let intervals = intervals_of_segment(beam, index);
        let step = segment.length / intervals as f64;
        for interval in 0..intervals {
            let begin = (start + step * interval as f64).max(from);
            let length = (start + step * (interval + 1) as f64).min(until) - begin;
            if length <= 0.0 {
                continue;
            }
            let count = slices_of_interval(beam, groups, index, length);
            slices.extend(gauss_legendre(count).into_iter().map(|(xi, weight)| {
                let share = 0.5 * length * weight;
                Slice {
                    x: begin + 0.5 * length * (1.0 + xi),
                    mass: share * segment.mass_per_length,
                    section_inertia: segment.section_inertia.map(|inertia| share * inertia),
                }
            }));
        }
    }
    slices
}

/// Intervals of a segment in each of which all functions are smooth.
fn intervals_of_segment(beam: &Beam, segment: usize) -> usize {
    match &beam.basis {
        Basis::Elements { per_segment, .. } => per_segment[segment],
        Basis::Functions { .. } => 1,
    }
}

/// Gauss points of an interval of a segment in which all functions are smooth.
fn slices_of_interval(beam: &Beam, groups: &[Group; 4], segment: usize, length: f64) -> usize {
    match &beam.basis {
        Basis::Elements { .. } => SLICES_PER_ELEMENT,
        basis @ Basis::Functions { .. } => {
            let count = slices_of_segment(groups, segment, length);
            // the stretch is then a polynomial of as many degrees as the strain has points
            let least = if foreshortens(basis) {
                strain_points_of_segment(groups, segment, length) + 1
            } else {
                0
            };
            count.max(least)
        }
    }
}

/// Gauss points that integrate every product of modes over a segment to about 1e-12.
///
/// A wave of phase $`z`$ over the segment has an error of the order of the Bessel function
/// $`J_{2n}(z/2)`$, which vanishes quickly once $`2n`$ exceeds $`z/2`$; the margin
/// was fitted to the square of the shortening with one to twelve modes.
fn slices_of_segment(groups: &[Group; 4], segment: usize, length: f64) -> usize {
    let bending = fastest_wave(&groups[0..2], segment) * length;
    let torsion = fastest_wave(&groups[3..4], segment) * length;
    let rod = fastest_wave(&groups[2..4], segment) * length;
    // products of four slopes or twists, of two shapes, and of the shortening with a shape
    let fastest = (4.0 * bending.max(torsion))
        .max(2.0 * rod)
        .max(2.0 * bending + rod);
    whole_number(5.0 + 0.25 * fastest + 0.85 * fastest.sqrt())
}

/// Largest wave number of several groups in a segment, zero if they have none.
pub(super) fn fastest_wave(groups: &[Group], segment: usize) -> f64 {
    groups
        .iter()
        .filter_map(|group| group.wave_numbers.get(segment))
        .fold(0.0, |a: f64, &wave_number| a.max(wave_number))
}

fn foreshortens(basis: &Basis) -> bool {
    matches!(basis, Basis::Functions { foreshortening, .. } if *foreshortening)
}

/// A deformation that the basis leaves out.
fn unused(deformation: Deformation) -> Group {
    group(
        deformation,
        Vec::new(),
        DMatrix::zeros(0, 0),
        no_shapes(deformation),
        Vec::new(),
    )
}

fn no_shapes(deformation: Deformation) -> Shapes {
    Shapes::Uniform(UniformModes::new(
        deformation.field(),
        Boundary::Clamped,
        0,
        1.0,
        1.0,
    ))
}

/// A group whose place among the coordinates is not known yet.
pub(super) fn group(
    deformation: Deformation,
    names: Vec<String>,
    stiffness: DMatrix<f64>,
    shapes: Shapes,
    wave_numbers: Vec<f64>,
) -> Group {
    Group {
        deformation,
        coordinates: 0..0,
        names,
        stiffness,
        shapes,
        wave_numbers,
    }
}

pub(super) fn mode_names(deformation: Deformation, count: usize) -> Vec<String> {
    (1..=count)
        .map(|order| format!("{}_{order}", deformation.name()))
        .collect()
}

fn check_counts(basis: &Basis) -> Result<(), FlexError> {
    let Basis::Functions { of, foreshortening } = basis else {
        return Ok(());
    };
    if *foreshortening && of.iter().any(|own| own.boundary != Boundary::Clamped) {
        return Err(FlexError::ForeshorteningOfFreeBeam);
    }
    let total = of
        .iter()
        .fold(0_usize, |sum, own| sum.saturating_add(own.count));
    if total > MOST_COORDINATES {
        Err(too_many_coordinates(total))
    } else {
        Ok(())
    }
}

fn too_many_coordinates(found: usize) -> FlexError {
    FlexError::TooLarge {
        quantity: "number of elastic coordinates of a beam",
        found,
        limit: MOST_COORDINATES,
    }
}

/// The lowest functions of a kind.
fn eigenfunctions(
    beam: &Beam,
    deformation: Deformation,
    Functions { boundary, count }: Functions,
) -> Result<Group, FlexError> {
    if count == 0 {
        return Ok(unused(deformation));
    }
    deformation.check(&beam.segments)?;
    let (shapes, squares) = match beam.segments.as_slice() {
        [segment] if UniformModes::exist(deformation.field(), boundary) => {
            uniform_modes(segment, deformation, boundary, count)
        }
        segments if boundary == Boundary::FixedInterface => {
            interface_functions(segments, deformation, count)?
        }
        segments => stepped_modes(segments, deformation, boundary, count)?,
    };
    let highest = squares.iter().fold(0.0, |a: f64, &b| a.max(b));
    finite(highest, || {
        format!("highest squared frequency of {}", deformation.name())
    })?;
    let wave_numbers = beam
        .segments
        .iter()
        .map(|segment| {
            let wave_number = deformation.wave_number(segment, highest);
            finite(wave_number, || {
                format!("highest wave number of {}", deformation.name())
            })
        })
        .collect::<Result<Vec<f64>, _>>()?;
    let stiffness = DMatrix::from_diagonal(&DVector::from_vec(squares));
    Ok(group(
        deformation,
        mode_names(deformation, count),
        stiffness,
        shapes,
        wave_numbers,
    ))
}

fn uniform_modes(
    segment: &Segment,
    deformation: Deformation,
    boundary: Boundary,
    count: usize,
) -> (Shapes, Vec<f64>) {
    let density = deformation.density(segment);
    let modes = UniformModes::new(
        deformation.field(),
        boundary,
        count,
        segment.length,
        density,
    );
    let squares = modes
        .wave_numbers()
        .map(|number| deformation.frequency_square(segment, number))
        .collect();
    (Shapes::Uniform(modes), squares)
}

fn check_elements(
    beam: &Beam,
    per_segment: &[usize],
    modes: Option<usize>,
    boundary: Boundary,
) -> Result<(), FlexError> {
    if per_segment.len() != beam.segments.len() {
        return Err(FlexError::WrongCount {
            quantity: "list of elements per segment".to_owned(),
            found: per_segment.len(),
            expected: beam.segments.len(),
        });
    }
    if let Some(index) = per_segment.iter().position(|&count| count == 0) {
        return Err(FlexError::NotPositive {
            quantity: format!("number of elements of segment {}", index + 1),
            value: 0.0,
        });
    }
    let total = per_segment
        .iter()
        .fold(0_usize, |sum, &count| sum.saturating_add(count));
    if total > MOST_FREEDOMS {
        return Err(FlexError::TooLarge {
            quantity: "number of elements of a beam",
            found: total,
            limit: MOST_FREEDOMS,
        });
    }
    if modes.is_none() && boundary == Boundary::Free {
        return Err(FlexError::FreeElementsWithoutModes);
    }
    Ok(())
}

fn finite_elements(
    beam: &Beam,
    deformation: Deformation,
    per_segment: &[usize],
) -> Result<Vec<Element>, FlexError> {
    deformation.check(&beam.segments)?;
    let degree = match deformation.field() {
        Field::Bending => 3,
        Field::Rod => 1,
    };
    let mut elements = Vec::new();
    for ((segment, start), &count) in beam.segments.iter().zip(beam.breaks()).zip(per_segment) {
        let length = segment.length / count as f64;
        elements.extend((0..count).map(|index| Element {
            start: start + length * index as f64,
            length,
            degree,
            stiffness: deformation.stiffness(segment),
            density: deformation.density(segment),
            rotary: if beam.rotary_inertia {
                deformation.rotary(segment)
            } else {
                0.0
            },
        }));
    }
    Ok(elements)
}

/// Values and slopes at the nodes, or the lowest modes of them.
fn element_coordinates(
    deformation: Deformation,
    boundary: Boundary,
    elements: Vec<Element>,
    modes: Option<usize>,
    point_masses: &[(f64, f64)],
) -> Result<Group, FlexError> {
    let ends: Vec<f64> = elements
        .iter()
        .map(|element| element.start)
        .chain(
            elements
                .last()
                .map(|element| element.start + element.length),
        )
        .collect();
    let shift = elements_shift(&elements, deformation);
    let mesh = Mesh::new(deformation.field(), boundary, elements)?;
    let Some(count) = modes else {
        let names = mesh
            .nodal_freedoms()
            .map(|(node, derivative)| format!("{}_{node}", deformation.nodal_names()[derivative]))
            .collect();
        let stiffness = mesh.stiffness();
        let shapes = Shapes::Elements(mesh.unreduced());
        return Ok(group(deformation, names, stiffness, shapes, Vec::new()));
    };
    check_available(&mesh, deformation, count)?;
    // a mass on the axis does not resist twist
    let moved: &[(f64, f64)] = if deformation == Deformation::Torsion {
        &[]
    } else {
        point_masses
    };
    let mass = mesh.mass(moved);
    let (mut modes, squares) = mesh.modes(&mass, count, shift)?;
    for &square in &squares {
        finite(square, || {
            format!("a squared frequency of {}", deformation.name())
        })?;
    }
    let negative = largest_is_negative(&modes, &ends);
    modes.flip(&negative);
    let stiffness = DMatrix::from_diagonal(&DVector::from_vec(squares));
    Ok(group(
        deformation,
        mode_names(deformation, count),
        stiffness,
        Shapes::Elements(modes),
        Vec::new(),
    ))
}

/// A value of the order of the lowest $`\omega^2`$ of free elements.
fn elements_shift(elements: &[Element], deformation: Deformation) -> f64 {
    let power = match deformation.field() {
        Field::Bending => 4,
        Field::Rod => 2,
    };
    let time: f64 = elements
        .iter()
        .map(|element| {
            element.length * (element.density / element.stiffness).powf(1.0 / f64::from(power))
        })
        .sum();
    (PI / time).powi(power)
}

/// Whether the largest value among the nodes is negative, for every mode.
fn largest_is_negative(modes: &ElementModes, nodes: &[f64]) -> Vec<bool> {
    let values: Vec<Vec<f64>> = nodes
        .iter()
        .map(|&x| modes.at(x).iter().map(|shape| shape.value).collect())
        .collect();
    (0..modes.len())
        .map(|mode| {
            let largest = values
                .iter()
                .fold(0.0, |a: f64, row| a.max(row[mode].abs()));
            values
                .iter()
                .find(|row| row[mode].abs() >= (1.0 - EQUALLY_LARGE) * largest)
                .is_some_and(|row| row[mode] < 0.0)
        })
        .collect()
}
