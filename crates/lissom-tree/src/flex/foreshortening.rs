//! Stretch functions by which the axis of a bent beam draws back without being strained.
//!
//! A bent beam of constant length has $`u' = -\tfrac12(v'^2 + w'^2)`$, so that its stretch lies in the span of
//!
//! ```math
//! \int_0^x \varphi_i'\,\varphi_j'\,ds , \qquad i \le j \text{ in one plane} .
//! ```
//!
//! The space of these functions and of the natural ones is described by the slopes at the points where the
//! strain is taken ([`super::strain`]), with a polynomial through them in every segment: there, and therefore in
//! the energy, the products of slopes are represented to rounding. A basis orthonormal in axial energy is found
//! in it by Gram and Schmidt, most independent function first, and the modes
//! $`K\phi = \omega^2 M\phi`$ of the axial problem within it become the coordinates.

use nalgebra::{DMatrix, DVector};

use super::beam::Beam;
use super::deformation::Deformation;
use super::eigen;
use super::eigenfunctions::Boundary;
use super::elements::{Element, ElementModes, Mesh};
use super::error::{FlexError, finite, positive};
use super::groups::{Group, fastest_wave, group, mode_names};
use super::quadrature::gauss_legendre;
use super::shape::{Shape, Shapes};
use super::strain::{check_axial_stiffness, strain_points};

/// A function depends on others if they leave less than this fraction of it, in the norm of axial energy. The
/// energy that it would have relieved is the square of this fraction, which is rounding.
const DEPENDENT: f64 = 1e-8;

/// Slopes at the root below this fraction of the largest slope do not tell the sign of a mode: foreshortening
/// itself has none there, apart from the error of the polynomials.
const SLOPE_AT_ROOT: f64 = 1e-3;

/// The stretch of a clamped beam from its bending functions and natural stretch functions.
pub(super) fn foreshortened_stretch(beam: &Beam, groups: &[Group; 4]) -> Result<Group, FlexError> {
    check_axial_stiffness(beam, "foreshortening")?;
    let deformation = Deformation::Stretch;
    let mut elements = Vec::new();
    let mut wave_numbers = Vec::new();
    for (index, (segment, start)) in beam.segments.iter().zip(beam.breaks()).enumerate() {
        let squared_slope = 2.0 * fastest_wave(&groups[0..2], index);
        let natural = fastest_wave(&groups[2..3], index);
        elements.push(Element {
            start,
            length: segment.length,
            degree: strain_points(squared_slope * segment.length, natural * segment.length),
            stiffness: segment.axial_stiffness,
            density: segment.mass_per_length,
            rotary: 0.0,
        });
        wave_numbers.push(squared_slope.max(natural));
    }

    let points = Points::of(&elements);
    let basis = points.orthonormal(points.functions(groups))?;
    let count = basis.len();
    let mesh = Mesh::new(deformation.field(), Boundary::Clamped, elements)?;
    let columns: Vec<DVector<f64>> = basis
        .iter()
        .map(|slopes| DVector::from_vec(mesh.freedoms_of_slopes(slopes)))
        .collect();
    let vectors = if columns.is_empty() {
        DMatrix::zeros(mesh.len(), 0)
    } else {
        DMatrix::from_columns(&columns)
    };
    let mass = vectors.transpose() * mesh.mass(&[]) * &vectors;
    let modes = eigen::modes(&DMatrix::identity(count, count), &mass, 0.0)?;
    for &square in &modes.squares {
        finite(square, || "a squared frequency of stretch".to_owned())?;
    }
    let mut shapes = mesh.combined(&(vectors * modes.vectors));
    let negative = is_negative(&shapes, &points.places, beam.length());
    shapes.flip(&negative);
    Ok(group(
        deformation,
        mode_names(deformation, count),
        DMatrix::from_diagonal(&DVector::from_vec(modes.squares)),
        Shapes::Elements(shapes),
        wave_numbers,
    ))
}

/// The points at which the axial strain is taken.
struct Points {
    places: Vec<f64>,
    /// Axial stiffness times the length that each point stands for.
    weights: Vec<f64>,
}

impl Points {
    fn of(elements: &[Element]) -> Self {
        let (places, weights) = elements
            .iter()
            .flat_map(|element| {
                let half = 0.5 * element.length;
                gauss_legendre(element.degree)
                    .into_iter()
                    .map(move |(xi, weight)| {
                        (
                            element.start + half * (1.0 + xi),
                            element.stiffness * half * weight,
                        )
                    })
            })
            .unzip();
        Self { places, weights }
    }

    /// Slopes at the points of the natural functions, then of the foreshortening of every pair.
    fn functions(&self, groups: &[Group; 4]) -> Vec<Vec<f64>> {
        let slopes_of = |group: &Group| -> Vec<Vec<f64>> {
            let rows: Vec<Vec<Shape>> = self.places.iter().map(|&x| group.shapes.at(x)).collect();
            (0..group.shapes.len())
                .map(|function| rows.iter().map(|row| row[function].slope).collect())
                .collect()
        };
        let mut functions = slopes_of(&groups[2]);
        for plane in &groups[0..2] {
            let bending = slopes_of(plane);
            for (index, first) in bending.iter().enumerate() {
                for second in &bending[index..] {
                    functions.push(first.iter().zip(second).map(|(a, b)| a * b).collect());
                }
            }
        }
        functions
    }

    /// Slopes of an orthonormal basis of the space of `functions`.
    fn orthonormal(&self, mut functions: Vec<Vec<f64>>) -> Result<Vec<Vec<f64>>, FlexError> {
        for function in &mut functions {
            let norm = positive(self.norm(function), || {
                "axial energy of foreshortening".to_owned()
            })?;
            scale(function, 1.0 / norm);
        }
        let mut basis: Vec<Vec<f64>> = Vec::new();
        loop {
            let rests = functions.iter().map(|function| self.norm(function));
            let most = rests
                .enumerate()
                .fold((0, 0.0), |a, b| if b.1 > a.1 { b } else { a });
            if most.1 <= DEPENDENT {
                return Ok(basis);
            }
            let mut next = functions.swap_remove(most.0);
            // once more, because the rest may be small against what was taken from it
            for known in &basis {
                self.remove(known, &mut next);
            }
            let norm = self.norm(&next);
            scale(&mut next, 1.0 / norm);
            for function in &mut functions {
                self.remove(&next, function);
            }
            basis.push(next);
        }
    }

    fn remove(&self, unit: &[f64], function: &mut [f64]) {
        let part = self.product(unit, function);
        for (value, unit) in function.iter_mut().zip(unit) {
            *value -= part * unit;
        }
    }

    fn norm(&self, function: &[f64]) -> f64 {
        self.product(function, function).sqrt()
    }

    /// $`\int EA\,a'b'\,dx`$.
    fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        let terms = self.weights.iter().zip(a.iter().zip(b));
        terms.map(|(weight, (a, b))| weight * a * b).sum()
    }
}

fn scale(function: &mut [f64], factor: f64) {
    for value in function {
        *value *= factor;
    }
}

/// Whether a mode leaves the root with negative slope or, if that is too small to tell, has a negative tip.
fn is_negative(modes: &ElementModes, places: &[f64], tip: f64) -> Vec<bool> {
    let mut largest = vec![0.0_f64; modes.len()];
    for &x in places {
        for (largest, shape) in largest.iter_mut().zip(modes.at(x)) {
            *largest = largest.max(shape.slope.abs());
        }
    }
    let ends = modes.at(0.0).into_iter().zip(modes.at(tip));
    ends.zip(largest)
        .map(|((root, tip), largest)| {
            if root.slope.abs() > SLOPE_AT_ROOT * largest {
                root.slope < 0.0
            } else {
                tip.value < 0.0
            }
        })
        .collect()
}
