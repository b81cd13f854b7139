//! What the second-order displacement of a body of any shape adds to its inertia, from integrals over its mass.
//!
//! With $`r_2 = \tfrac12\sum h_{\alpha\beta}\eta_\alpha\eta_\beta`$ beside the linear field $`r_1`$, the kinetic energy grows by
//!
//! ```math
//! \Delta T = \int (v + \omega\times r)\cdot(\dot r_2 + \omega\times r_2)\,dm + \int \dot r_1\cdot\dot r_2\,dm ,
//! ```
//!
//! all of second order in the elastic coordinates and, of third order, what does not rotate. Mass matrix and bias both follow from
//! it, so that energy is conserved whatever is left out.

use super::body_inertia::{BodyInertia, Moments};
use crate::flex::{SUMS, SecondOrderIntegrals};
use lissom_spatial::Scalar;

/// Adds to the moments and the modal quantities of one body.
#[inline(always)]
pub(super) fn add<T: Scalar>(
    integrals: &SecondOrderIntegrals,
    elastic: &[T],
    elastic_rate: &[T],
    moments: &mut Moments<T>,
    out: &mut BodyInertia<'_, T>,
) {
    let n = elastic.len();
    for (alpha, row) in integrals.sums.chunks_exact(n).enumerate() {
        // Σ_β h_αβ η_β and its rate, in all integrals
        let (mut gradient, mut gradient_rate) = ([T::zero(); SUMS], [T::zero(); SUMS]);
        for ((entries, &eta), &rate) in row.iter().zip(elastic).zip(elastic_rate) {
            for (sum, &entry) in gradient.iter_mut().zip(entries) {
                *sum += eta * entry;
            }
            for (sum, &entry) in gradient_rate.iter_mut().zip(entries) {
                *sum += rate * entry;
            }
        }
        let (eta, rate) = (elastic[alpha], elastic_rate[alpha]);
        for k in 0..3 {
            moments.first[k] += gradient[k] * eta * 0.5;
            moments.first_rate[k] += gradient[k] * rate;
            moments.shortening_bias.force[k] += gradient_rate[k] * rate;
            out.coupling[alpha].force[k] += gradient[k];
        }
        for i in 0..3 {
            for k in 0..3 {
                let with_position = gradient[3 + 3 * i + k];
                out.with_position[alpha].0[i][k] += with_position;
                moments.second.0[i][k] += with_position * eta * 0.5;
                moments.second.0[k][i] += with_position * eta * 0.5;
            }
            // r × h(η̇, η̇)
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let [jk, kj] = [gradient_rate[3 + 3 * j + k], gradient_rate[3 + 3 * k + j]];
            moments.shortening_bias.moment[i] += (jk - kj) * rate;
        }
    }
    for (gamma, matrix) in integrals.with_shapes.chunks_exact(n * n).enumerate() {
        for (alpha, row) in matrix.chunks_exact(n).enumerate() {
            let (mut gradient, mut gradient_rate) = (T::zero(), T::zero());
            for ((&entry, &eta), &rate) in row.iter().zip(elastic).zip(elastic_rate) {
                gradient += eta * entry;
                gradient_rate += rate * entry;
            }
            out.modal_mass[gamma * n + alpha] += gradient;
            out.modal_mass[alpha * n + gamma] += gradient;
            out.modal_bias[gamma] += gradient_rate * elastic_rate[alpha];
        }
    }
}
