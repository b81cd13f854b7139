//! [`StrainGauge`]: the axial strain at a point of a beam of a tree, by its elastic coordinates.

use std::ops::Range;

use lissom_spatial::Real;
use lissom_spec::spec::{
    BasisSpec, BodyKind, BodySpec, Membrane, SensorKind, SensorSpec, StrainSpec,
};
use lissom_spec::{Elasticity, ModelSpec};
use lissom_tree::flex::{Centreline, Section};
use lissom_tree::{Body, System};

/// Nodes and weights of a quadrature between 0 and 1 that is exact for squares of parabolas.
const GAUSS: [(f64, f64); 3] = [
    (0.112_701_665_379_258_3, 5.0 / 18.0),
    (0.5, 8.0 / 18.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];

/// A strain gauge: $`\varepsilon = u' + \tfrac12(v'^2 + w'^2) - y\,v'' - z\,w''`$, without the squares where the strain energy does not have
/// them either.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StrainGauge {
    /// Its elastic coordinates in the position vector.
    elastic: Range<usize>,
    /// Strain per coordinate.
    linear: Vec<f64>,
    /// Weights, and slopes $`v'`$ and $`w'`$ per coordinate, whose squares count.
    squares: Vec<(f64, [Vec<f64>; 2])>,
}

impl StrainGauge {
    /// The strain at a position of the tree.
    pub fn strain<T: Real>(&self, position: &[T]) -> T {
        let elastic = &position[self.elastic.clone()];
        let along = |row: &[f64]| {
            let terms = elastic.iter().zip(row);
            terms.fold(T::zero(), |sum, (&x, &weight)| sum + x * weight)
        };
        let mut strain = along(&self.linear);
        for (weight, slopes) in &self.squares {
            for slope in slopes {
                let slope = along(slope);
                strain += slope * slope * (0.5 * weight);
            }
        }
        strain
    }

    /// The gauges of a model; those on beams that do not bend read zero.
    pub(super) fn all(spec: &ModelSpec, system: &System) -> Vec<Self> {
        let kinds = spec.sensor.iter().filter_map(SensorSpec::kind);
        let strains = kinds.filter_map(|kind| match kind {
            SensorKind::Strain(strain) => Some(strain),
            _ => None,
        });
        strains
            .map(|strain| Self::of(spec, system, strain).unwrap_or_default())
            .collect()
    }

    fn of(spec: &ModelSpec, system: &System, strain: &StrainSpec) -> Option<Self> {
        let bodies = system.bodies();
        let is_it = |body: &Body| body.name == strain.body && body.flexible.is_some();
        let own = bodies.iter().position(is_it)?;
        let (body, n) = (&bodies[own], bodies[own].modes());
        let line = body.flexible.as_ref()?.centreline.as_ref()?;
        let mut section = Section::<f64>::new(n);
        section.update(line, None, strain.at_m);
        let [y, z] = strain.offset_m;
        let mut linear = section.strain.clone();
        for (plane, beside) in [(0, y), (1, z)] {
            for at in line.bending(plane) {
                linear[at] *= -beside;
            }
        }
        for at in line.torsion() {
            linear[at] = 0.0;
        }
        let counts = matches!(
            body.fidelity.elasticity,
            Elasticity::ThirdOrder | Elasticity::Full
        );
        let first = system.layout().elastic_position[own];
        Some(Self {
            elastic: first..first + n,
            linear,
            squares: if counts {
                squares(
                    line,
                    &mut section,
                    strain.at_m,
                    is_averaged(spec, &strain.body),
                )
            } else {
                Vec::new()
            },
        })
    }
}

/// Slopes at a place, or at points of the element that it lies in where the axial strain is averaged over that.
fn squares(
    line: &Centreline,
    section: &mut Section<f64>,
    x: f64,
    averaged: bool,
) -> Vec<(f64, [Vec<f64>; 2])> {
    let places: Vec<(f64, f64)> = if averaged {
        let [begin, end] = line.ends(line.stretch(x));
        let point = |(xi, weight): (f64, f64)| (begin + xi * (end - begin), weight);
        GAUSS.map(point).to_vec()
    } else {
        vec![(x, 1.0)]
    };
    let mut at = |(x, weight): (f64, f64)| {
        section.update(line, None, x);
        let slopes = [0, 1].map(|plane| {
            let mut slopes = vec![0.0; section.slope.len()];
            for at in line.bending(plane) {
                slopes[at] = section.slope[at];
            }
            slopes
        });
        (weight, slopes)
    };
    places.into_iter().map(&mut at).collect()
}

/// Whether the axial strain of a beam is averaged over its elements.
fn is_averaged(spec: &ModelSpec, body: &str) -> bool {
    let kind = spec.find_body(body).and_then(BodySpec::kind);
    matches!(
        kind,
        Some(BodyKind::Beam(beam)) if matches!(
            &beam.basis,
            BasisSpec::Elements(elements) if elements.membrane == Membrane::Averaged
        )
    )
}
