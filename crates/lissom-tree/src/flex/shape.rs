//! One deformation of a beam as functions along it, wherever they come from.

use super::eigenfunctions::UniformModes;
use super::elements::ElementModes;

/// Which differential equation a deformation obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Fourth order in x; values and slopes are continuous.
    Bending,
    /// Second order in x (stretch, torsion); values are continuous.
    Rod,
}

/// A function along the beam at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shape {
    pub(super) value: f64,
    pub(super) slope: f64,
    /// What stores energy: the curvature for bending, the slope otherwise.
    pub(super) strain: f64,
    /// Its derivative.
    pub(super) strain_slope: f64,
}

/// The functions along the beam of all coordinates of one deformation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shapes {
    /// Closed forms on a uniform beam.
    Uniform(UniformModes),
    /// Polynomials between breaks.
    Elements(ElementModes),
}

impl Shapes {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Uniform(modes) => modes.len(),
            Self::Elements(modes) => modes.len(),
        }
    }

    /// Every function at `x`.
    pub(super) fn at(&self, x: f64) -> Vec<Shape> {
        let mut shapes = vec![Shape::default(); self.len()];
        self.write(x, x, &mut shapes);
        shapes
    }

    /// Every function at `x`, without allocating. Where functions have breaks, those that hold at `within` are
    /// continued to `x`.
    pub(super) fn write(&self, within: f64, x: f64, shapes: &mut [Shape]) {
        match self {
            Self::Uniform(modes) => modes.write(x, shapes),
            Self::Elements(modes) => modes.write(within, x, shapes),
        }
    }

    /// Places where a derivative of the functions jumps.
    pub(super) fn breaks(&self) -> Vec<f64> {
        match self {
            Self::Uniform(_) => Vec::new(),
            Self::Elements(modes) => modes.breaks().collect(),
        }
    }
}
