//! Elastic forces of the quadratic axial strain of a beam.
//!
//! The strain energy is $`U = \tfrac12\int EA\,(u' + \tfrac12(v'^2 + w'^2))^2 dx`$ and the linear bending and torsion
//! energies \[Damaren & Sharf 1995, eqs (16)–(20); `K2` of (20) is twice the Hessian of the quartic part, so the
//! forces here are the gradient of `U` itself\]. What is linear in the elastic coordinates is in the body's
//! stiffness matrix; this module adds the rest, cell by cell along the beam: the part of third order
//! $`\tfrac12\int EA\,u'(v'^2 + w'^2)\,dx`$ (`K1`), and that of fourth order (`K2`) where all of the energy is kept.

use super::points::Points;
use crate::flex::{Group, PackedStrain};
use lissom_spatial::Scalar;
use lissom_spec::Elasticity;

/// $`\sum c_\alpha \eta_\alpha`$ for the cells of a group.
#[inline(always)]
fn slope<T: Scalar>(slopes: &[Group], elastic: &[T]) -> Points<T> {
    let mut sum = Points::zero();
    for (slope, &eta) in slopes.iter().zip(elastic) {
        sum.add_scaled(slope, eta);
    }
    sum
}

/// Linear and quadratic part of the strain of a group of cells, whose `slopes` are given.
#[inline(always)]
fn cell_strain<T: Scalar>(
    strain: &PackedStrain,
    slopes: &[Group],
    elastic: &[T],
) -> (Points<T>, Points<T>) {
    let [u, v, w] = &strain.coordinates;
    let (mut linear, mut quadratic) = (Points::zero(), Points::zero());
    for (slopes, &weight) in slopes.chunks_exact(elastic.len()).zip(&strain.weights) {
        let along =
            |plane: &std::ops::Range<usize>| slope(&slopes[plane.clone()], &elastic[plane.clone()]);
        let (v, w) = (along(v), along(w));
        linear.add(&along(u).scale(weight));
        quadratic.add(&v.product(&v).plus(&w.product(&w)).scale(0.5 * weight));
    }
    (linear, quadratic)
}

/// Adds the nonlinear elastic forces to `force`.
#[inline(always)]
pub(super) fn add_forces<T: Scalar>(
    strain: &PackedStrain,
    elasticity: Elasticity,
    elastic: &[T],
    force: &mut [T],
) {
    let n = elastic.len();
    let [stretch, planes @ ..] = &strain.coordinates;
    let cells = strain.slopes.chunks_exact(n * strain.weights.len());
    for (slopes, stiffness) in cells.zip(&strain.stiffness) {
        let (linear, quadratic) = cell_strain(strain, slopes, elastic);
        // tension that bends feel, and the part of it that stretch does not have yet
        let (tension, added) = match elasticity {
            Elasticity::Linear => return,
            Elasticity::ConstantAxialLoad => (linear.times(stiffness), Points::zero()),
            Elasticity::ThirdOrder => (linear.times(stiffness), quadratic.times(stiffness)),
            Elasticity::Full => (
                linear.plus(&quadratic).times(stiffness),
                quadratic.times(stiffness),
            ),
        };
        for (slopes, &weight) in slopes.chunks_exact(n).zip(&strain.weights) {
            let pulls = |force: &mut [T], along: &std::ops::Range<usize>, pull: Points<T>| {
                for (f, slope) in force[along.clone()].iter_mut().zip(&slopes[along.clone()]) {
                    *f += pull.times(slope).sum();
                }
            };
            pulls(force, stretch, added.scale(weight));
            for plane in planes {
                let bend = slope(&slopes[plane.clone()], &elastic[plane.clone()]);
                pulls(force, plane, tension.product(&bend).scale(weight));
            }
        }
    }
}

/// Adds the Hessian of the nonlinear strain energy to `stiffness`, n × n by rows: the derivatives of [`add_forces`], of a constant axial
/// load without the part by which stretch bends. `gradient` is room for a number per coordinate.
pub(super) fn add_stiffness(
    strain: &PackedStrain,
    elasticity: Elasticity,
    elastic: &[f64],
    gradient: &mut [Points<f64>],
    stiffness: &mut [f64],
) {
    let n = elastic.len();
    let [stretch, planes @ ..] = &strain.coordinates;
    let cells = strain.slopes.chunks_exact(n * strain.weights.len());
    for (slopes, axial) in cells.zip(&strain.stiffness) {
        let (linear, quadratic) = cell_strain(strain, slopes, elastic);
        let (tension, couples, squares) = match elasticity {
            Elasticity::Linear => return,
            Elasticity::ConstantAxialLoad => (linear.times(axial), false, false),
            Elasticity::ThirdOrder => (linear.times(axial), true, false),
            Elasticity::Full => (linear.plus(&quadratic).times(axial), true, true),
        };
        // derivative of the strain of the cells by every coordinate
        gradient.fill(Points::zero());
        for (slopes, &weight) in slopes.chunks_exact(n).zip(&strain.weights) {
            let mut add = |along: &std::ops::Range<usize>, factor: Points<f64>| {
                for alpha in along.clone() {
                    gradient[alpha].add(&factor.times(&slopes[alpha]).scale(weight));
                }
            };
            add(stretch, Points::all(1.0));
            for plane in planes {
                add(
                    plane,
                    slope(&slopes[plane.clone()], &elastic[plane.clone()]),
                );
            }
        }
        for plane in planes {
            for alpha in plane.clone() {
                let bent = gradient[alpha].times(axial);
                for beta in stretch.clone().filter(|_| couples) {
                    let entry = bent.product(&gradient[beta]).sum();
                    stiffness[alpha * n + beta] += entry;
                    stiffness[beta * n + alpha] += entry;
                }
                for other in planes.iter().filter(|_| squares) {
                    for beta in other.clone() {
                        let entry = bent.product(&gradient[beta]).sum();
                        stiffness[alpha * n + beta] += entry;
                    }
                }
                for beta in plane.clone() {
                    for (slopes, &weight) in slopes.chunks_exact(n).zip(&strain.weights) {
                        let pull = tension.times(&slopes[alpha]).times(&slopes[beta]);
                        stiffness[alpha * n + beta] += weight * pull.sum();
                    }
                }
            }
        }
    }
}

/// Strain energy beyond that of the stiffness matrix.
pub(super) fn energy<T: Scalar>(strain: &PackedStrain, elasticity: Elasticity, elastic: &[T]) -> T {
    let mut sum = Points::zero();
    let cells = strain
        .slopes
        .chunks_exact(elastic.len() * strain.weights.len());
    for (slopes, stiffness) in cells.zip(&strain.stiffness) {
        let (linear, quadratic) = cell_strain(strain, slopes, elastic);
        let product = match elasticity {
            Elasticity::Linear => return T::zero(),
            // a constant axial load has no energy; this is what its tension stores in the bending
            Elasticity::ConstantAxialLoad | Elasticity::ThirdOrder => linear.product(&quadratic),
            Elasticity::Full => linear.plus(&quadratic.scale(0.5)).product(&quadratic),
        };
        sum.add(&product.times(stiffness));
    }
    sum.sum()
}
