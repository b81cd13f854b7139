//! Functions along beams of several segments, and such as have no closed form: one polynomial of high degree per segment.

use std::f64::consts::PI;

use nalgebra::DMatrix;

use super::beam::Segment;
use super::deformation::Deformation;
use super::eigen;
use super::eigenfunctions::Boundary;
use super::elements::{Element, ElementModes, MOST_FREEDOMS, Mesh};
use super::error::FlexError;
use super::shape::{Field, Shape, Shapes};

/// Attempts at the degree of eigenfunctions. The first frequencies found are upper bounds of the true ones, so
/// that the second attempt suffices unless segments differ by more than double precision can hold.
const SPECTRAL_ATTEMPTS: usize = 3;

/// Eigenfunctions of a beam of several segments, one polynomial of high degree in each.
pub(super) fn stepped_modes(
    segments: &[Segment],
    deformation: Deformation,
    boundary: Boundary,
    count: usize,
) -> Result<(Shapes, Vec<f64>), FlexError> {
    // estimate the highest frequency by the phase that all segments together must have
    let mut highest = estimated_square(segments, deformation, boundary, count as f64);
    let lowest = estimated_square(segments, deformation, boundary, 1.0);
    for _ in 0..SPECTRAL_ATTEMPTS {
        let elements = spectral_elements(segments, deformation, highest);
        let mesh = Mesh::new(deformation.field(), boundary, elements)?;
        check_available(&mesh, deformation, count)?;
        let mass = mesh.mass(&[]);
        let (mut modes, squares) = mesh.modes(&mass, count, lowest)?;
        let found = squares[count - 1];
        // a higher frequency than the degrees were chosen for: choose them again
        if found > 1.5 * highest {
            highest = found;
            continue;
        }
        let negative = is_negative(&modes, deformation.field(), boundary);
        modes.flip(&negative);
        return Ok((Shapes::Elements(modes), squares));
    }
    Err(FlexError::NoConvergence { size: count })
}

/// Static shapes of unit displacements at the ends and the lowest functions clamped at both, `count` together, as the modes
/// of the space that they span \[Craig & Bampton 1968\].
///
/// What neighbours do to the ends is then followed exactly where the beam's own inertia does not matter, whatever they are.
pub(super) fn interface_functions(
    segments: &[Segment],
    deformation: Deformation,
    count: usize,
) -> Result<(Shapes, Vec<f64>), FlexError> {
    let boundary = Boundary::FixedInterface;
    let mut highest = estimated_square(segments, deformation, boundary, count as f64);
    for _ in 0..SPECTRAL_ATTEMPTS {
        let elements = spectral_elements(segments, deformation, highest);
        let mesh = Mesh::new(deformation.field(), boundary, elements)?;
        check_available(&mesh, deformation, count)?;
        let ends = mesh.end_freedoms();
        if count < ends.len() {
            return Err(FlexError::TooFewFunctions {
                deformation: deformation.name(),
                functions: count,
                least: ends.len(),
            });
        }
        let inner: Vec<usize> = (0..mesh.len())
            .filter(|free| !ends.contains(free))
            .collect();
        let (stiffness, mass) = (mesh.stiffness(), mesh.mass(&[]));
        let block = |matrix: &DMatrix<f64>, columns: &[usize]| {
            matrix.select_rows(&inner).select_columns(columns)
        };
        let held = eigen::modes(&block(&stiffness, &inner), &block(&mass, &inner), 0.0)?;
        let clamped = count - ends.len();
        if clamped > 0 && held.squares[clamped - 1] > 1.5 * highest {
            highest = held.squares[clamped - 1];
            continue;
        }
        let following = eigen::solve(&block(&stiffness, &inner), &-block(&stiffness, &ends))?;
        let mut vectors = DMatrix::zeros(mesh.len(), count);
        for (column, &end) in ends.iter().enumerate() {
            vectors[(end, column)] = 1.0;
        }
        for (row, &freedom) in inner.iter().enumerate() {
            for column in 0..ends.len() {
                vectors[(freedom, column)] = following[(row, column)];
            }
            for column in 0..clamped {
                vectors[(freedom, ends.len() + column)] = held.vectors[(row, column)];
            }
        }
        let within = |matrix: &DMatrix<f64>| vectors.transpose() * matrix * &vectors;
        let modes = eigen::modes(&within(&stiffness), &within(&mass), 0.0)?;
        let mut shapes = mesh.combined(&(&vectors * modes.vectors));
        let negative = is_negative(&shapes, deformation.field(), boundary);
        shapes.flip(&negative);
        return Ok((Shapes::Elements(shapes), modes.squares));
    }
    Err(FlexError::NoConvergence { size: count })
}

/// Whether a mode has the wrong sign: by its value at a free root, by its slope at a hinge, by its strain at a clamp.
fn is_negative(modes: &ElementModes, field: Field, boundary: Boundary) -> Vec<bool> {
    let by = |of: fn(&Shape) -> f64| modes.at(0.0).iter().map(|shape| of(shape) < 0.0).collect();
    match boundary.held(field)[0] {
        [false, _] => by(|shape| shape.value),
        [true, false] => by(|shape| shape.slope),
        [true, true] => (modes.strain_at_root().iter())
            .map(|&strain| strain < 0.0)
            .collect(),
    }
}

/// $`\omega^2`$ of a mode if its phase were spread over the segments without reflections.
fn estimated_square(
    segments: &[Segment],
    deformation: Deformation,
    boundary: Boundary,
    order: f64,
) -> f64 {
    let phase = match (deformation.field(), boundary) {
        (_, Boundary::Clamped) | (Field::Rod, Boundary::PinnedPinned) => (order - 0.5) * PI,
        (Field::Bending, Boundary::Free | Boundary::ClampedClamped) => (order + 0.5) * PI,
        (Field::Bending, Boundary::PinnedPinned)
        | (Field::Rod, Boundary::Free | Boundary::ClampedClamped) => order * PI,
        // behind rigid motions, or behind static shapes
        (Field::Bending, Boundary::Unconstrained | Boundary::FixedInterface) => {
            (order.max(3.0) - 1.5) * PI
        }
        (Field::Rod, Boundary::Unconstrained | Boundary::FixedInterface) => {
            (order.max(2.0) - 1.0) * PI
        }
    };
    let per_unit: f64 = segments
        .iter()
        .map(|segment| segment.length * deformation.wave_number(segment, 1.0))
        .sum();
    match deformation.field() {
        Field::Bending => (phase / per_unit).powi(4),
        Field::Rod => (phase / per_unit).powi(2),
    }
}

/// One element per segment, of a degree that follows waves up to the frequency to rounding.
fn spectral_elements(segments: &[Segment], deformation: Deformation, square: f64) -> Vec<Element> {
    let mut start = 0.0;
    segments
        .iter()
        .map(|segment| {
            let element = Element {
                start,
                length: segment.length,
                degree: sufficient_degree(
                    deformation.wave_number(segment, square) * segment.length,
                ),
                stiffness: deformation.stiffness(segment),
                density: deformation.density(segment),
                rotary: 0.0,
            };
            start += segment.length;
            element
        })
        .collect()
}

/// Degree of the polynomial that follows a wave over `phase` to rounding.
///
/// The Legendre coefficients of $`e^{i z \xi}`$ are of the order of $`(z/2)^k/k!`$ with $`z`$ half the
/// phase; two more degrees make up for the two derivatives in the energy of bending.
fn sufficient_degree(phase: f64) -> usize {
    const NEGLIGIBLE: f64 = 1e-17;
    let mut coefficient = 1.0;
    let mut degree = 0;
    while coefficient > NEGLIGIBLE && degree <= MOST_FREEDOMS {
        degree += 1;
        coefficient *= 0.25 * phase / degree as f64;
    }
    degree + 2
}

pub(super) fn check_available(
    mesh: &Mesh,
    deformation: Deformation,
    modes: usize,
) -> Result<(), FlexError> {
    let available = mesh.len() - mesh.rigid_motions();
    if modes > available {
        return Err(FlexError::TooManyModes {
            deformation: deformation.name(),
            modes,
            available,
        });
    }
    Ok(())
}
