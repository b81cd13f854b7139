//! Elastic forces of the quadratic axial strain of a beam.
//!
//! The strain energy is $`U = \tfrac12\int EA\,(u' + \tfrac12(v'^2 + w'^2))^2 dx`$ and the linear bending and torsion
//! energies \[Damaren & Sharf 1995, eqs (16)–(20); `K2` of (20) is twice the Hessian of the quartic part, so the
//! forces here are the gradient of `U` itself\]. What is linear in the elastic coordinates is in the body's
//! stiffness matrix; this module adds the rest, point by point along the beam.

use crate::flex::AxialStrain;
use crate::model::Elasticity;
use crate::scalar::Scalar;

/// $`u'`$, $`v'`$ and $`w'`$ at a point.
#[inline(always)]
fn slopes<T: Scalar>(strain: &AxialStrain, point: usize, elastic: &[T]) -> [T; 3] {
    let n = elastic.len();
    let mut sums = [T::zero(); 3];
    for (alpha, &eta) in elastic.iter().enumerate() {
        if let Some(component) = strain.component[alpha] {
            sums[component] += eta * strain.slopes[point * n + alpha];
        }
    }
    sums
}

/// Linear and quadratic part of the strain of a cell.
#[inline(always)]
fn cell_strain<T: Scalar>(strain: &AxialStrain, cell: usize, elastic: &[T]) -> (T, T) {
    let (mut linear, mut quadratic) = (T::zero(), T::zero());
    for point in strain.cells[cell].clone() {
        let [u, v, w] = slopes(strain, point, elastic);
        let weight = strain.weights[point];
        linear += u * weight;
        quadratic += (v * v + w * w) * (0.5 * weight);
    }
    (linear, quadratic)
}

/// Adds the nonlinear elastic forces to `force`.
#[inline(always)]
pub(super) fn add_forces<T: Scalar>(
    strain: &AxialStrain,
    elasticity: Elasticity,
    elastic: &[T],
    force: &mut [T],
) {
    let n = elastic.len();
    for (cell, points) in strain.cells.iter().enumerate() {
        let stiffness = strain.stiffness[cell];
        let (linear, quadratic) = cell_strain(strain, cell, elastic);
        // tension that bends feel, and the part of it that stretch does not have yet
        let (tension, added) = match elasticity {
            Elasticity::Linear => return,
            Elasticity::ConstantAxialLoad => (linear * stiffness, T::zero()),
            Elasticity::Full => ((linear + quadratic) * stiffness, quadratic * stiffness),
        };
        for point in points.clone() {
            let [_, v, w] = slopes(strain, point, elastic);
            let weight = strain.weights[point];
            let pull = [added * weight, tension * v * weight, tension * w * weight];
            for (alpha, force) in force.iter_mut().enumerate() {
                if let Some(component) = strain.component[alpha] {
                    *force += pull[component] * strain.slopes[point * n + alpha];
                }
            }
        }
    }
}

/// Strain energy beyond that of the stiffness matrix.
pub(super) fn energy<T: Scalar>(strain: &AxialStrain, elasticity: Elasticity, elastic: &[T]) -> T {
    let mut sum = T::zero();
    for (cell, &stiffness) in strain.stiffness.iter().enumerate() {
        let (linear, quadratic) = cell_strain(strain, cell, elastic);
        let product = match elasticity {
            Elasticity::Linear => return sum,
            Elasticity::ConstantAxialLoad => linear * quadratic,
            Elasticity::Full => (linear + quadratic * 0.5) * quadratic,
        };
        sum += product * stiffness;
    }
    sum
}
