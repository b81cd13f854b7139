//! Mass matrix and velocity-dependent inertial forces of one flexible body.
//!
//! A point of the body at $`p(\eta)`$ moves with $`v + \omega \times p + J\dot\eta`$, $`J_\alpha = \partial p/\partial\eta_\alpha`$.
//! With $`N_\alpha = \int p\,J_\alpha^T dm`$ and $`a_0 = \omega \times v`$, the body's generalised inertial force is
//! its mass matrix times $`(\dot V, \ddot\eta)`$ plus the bias
//!
//! ```math
//! \begin{aligned}
//! f &= m\,a_0 + \omega\times(\omega\times c) + 2\,\omega\times\dot c + \textstyle\int \dot J\dot\eta\,dm\\
//! n &= c\times a_0 + \omega\times\mathcal J\omega + 2\,(\mathrm{tr}E\;\omega - E^T\omega), \qquad E = \textstyle\sum N_\alpha\dot\eta_\alpha\\
//! f_\alpha &= P_\alpha\cdot a_0 + \omega^T N_\alpha\,\omega - \omega^2\,\mathrm{tr} N_\alpha + 2\,\omega\cdot\textstyle\int \dot p\times J_\alpha\,dm .
//! \end{aligned}
//! ```
//!
//! This is \[Damaren & Sharf 1995, eqs (4)–(15)\] with the corrections that energy conservation asks
//! for ($`\delta c`$ and $`\delta J`$ also in the bias), extended by the shortening of bent beams to all orders of the
//! quadratic displacement field: $`\hat\tau_\alpha`$ of (10) is $`N_\alpha^T - \mathrm{tr}N_\alpha`$.

use super::any_shape::{self, AnyShape};
use super::shortening::{self, AlongBeam};
use crate::flex::{FlexibleBody, ShorteningInertia};
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Matrix, Motion, RigidInertia, Vector};
use lissom_spec::Inertia;

/// Where [`evaluate`] writes: one body's share of the system's buffers.
pub(super) struct BodyInertia<'w, T> {
    /// Inertia of the deformed body about its origin.
    pub(super) rigid: &'w mut RigidInertia<T>,
    /// Bias force at zero acceleration.
    pub(super) bias: &'w mut Force<T>,
    /// Force at the origin per elastic acceleration, one per coordinate.
    pub(super) coupling: &'w mut [Force<T>],
    /// Elastic mass matrix, n × n by rows, both triangles.
    pub(super) modal_mass: &'w mut [T],
    /// Bias of the elastic coordinates.
    pub(super) modal_bias: &'w mut [T],
    /// $`N_\alpha`$.
    pub(super) with_position: &'w mut [Matrix<T>],
    /// $`\int \dot p \times J_\alpha\,dm`$.
    pub(super) with_velocity: &'w mut [Vector<T>],
    /// Scratch memory of the shortening.
    pub(super) along: &'w mut AlongBeam<T>,
    /// Scratch memory of bodies that are given by integrals.
    pub(super) any_shape: &'w mut AnyShape<T>,
}

/// Sums over the mass of the body, completed by the shortening before they become forces.
pub(super) struct Moments<T> {
    /// $`\int p\,dm`$.
    pub(super) first: Vector<T>,
    /// $`\int \dot p\,dm`$.
    pub(super) first_rate: Vector<T>,
    /// $`\int p p^T dm`$.
    pub(super) second: Matrix<T>,
    /// $`\int \dot J\dot\eta\,dm`$ and its moment: what bends accelerates towards the root.
    pub(super) shortening_bias: Force<T>,
}

/// Fills `out` for a body moving with `twist` in its own frame.
#[inline(always)]
pub(super) fn evaluate<T: Scalar>(
    body: &FlexibleBody,
    inertia: Inertia,
    shortening: Option<&ShorteningInertia>,
    twist: Motion<T>,
    elastic: &[T],
    elastic_rate: &[T],
    out: &mut BodyInertia<'_, T>,
) {
    let n = elastic.len();
    let mut moments = match shortening {
        Some(ShorteningInertia::Integrals(field)) => {
            any_shape::evaluate(body, field, elastic, elastic_rate, out)
        }
        _ => linear_field(body, elastic, elastic_rate, out),
    };
    match shortening {
        None | Some(ShorteningInertia::Integrals(_)) => {}
        Some(ShorteningInertia::Full(beam)) => {
            shortening::add(beam, elastic, elastic_rate, &mut moments, out);
        }
        Some(ShorteningInertia::SecondOrder(sums)) => {
            shortening::add_second_order(sums, elastic, elastic_rate, &mut moments, out);
        }
    }

    let hybrid = inertia == Inertia::HybridForces;
    if hybrid {
        // the moments of the undeformed body stand for those of the deformed one
        moments.first = Vector::constant(body.first_moment);
        moments.second = Matrix::constant(body.second_moment);
    }
    *out.rigid = RigidInertia::from_moments(T::constant(body.mass), moments.first, moments.second);
    let (omega, v) = (twist.angular, twist.linear);
    let origin = omega.cross(v);
    let omega_squared = omega.dot(omega);
    let mut rate_moment = Matrix::zero();
    for alpha in 0..n {
        let with_position = out.with_position[alpha];
        rate_moment += with_position.scale(elastic_rate[alpha]);
        out.coupling[alpha].moment = with_position.cross_of_outer();
        out.modal_bias[alpha] += out.coupling[alpha].force.dot(origin)
            + omega.dot(with_position * omega)
            - omega_squared * with_position.trace()
            + omega.dot(out.with_velocity[alpha]) * 2.0;
    }
    *out.bias = moments.shortening_bias
        + Force::new(
            moments.first.cross(origin)
                + omega.cross(out.rigid.rotational * omega)
                + (omega.scale(rate_moment.trace()) - rate_moment.transpose_mul(omega))
                    .scale(T::constant(2.0)),
            origin.scale(out.rigid.mass)
                + omega.cross(omega.cross(moments.first))
                + omega.cross(moments.first_rate).scale(T::constant(2.0)),
        );
    if hybrid {
        undeformed_mass(body, out);
    }
}

/// Puts the constant mass matrices of the undeformed body in place of those of the deformed one.
#[inline(always)]
fn undeformed_mass<T: Scalar>(body: &FlexibleBody, out: &mut BodyInertia<'_, T>) {
    let integrals = &body.integrals;
    for (alpha, coupling) in out.coupling.iter_mut().enumerate() {
        let with_position = Matrix::<T>::constant(integrals.with_position[alpha]);
        *coupling = Force::new(
            with_position.cross_of_outer(),
            Vector::constant(integrals.first[alpha]),
        );
    }
    for (mass, &value) in out.modal_mass.iter_mut().zip(&integrals.mass_matrix) {
        *mass = T::constant(value);
    }
}

/// The part of the displacement field that is linear in the elastic coordinates, from modal integrals.
#[inline(always)]
pub(super) fn linear_field<T: Scalar>(
    body: &FlexibleBody,
    elastic: &[T],
    elastic_rate: &[T],
    out: &mut BodyInertia<'_, T>,
) -> Moments<T> {
    let integrals = &body.integrals;
    for (alpha, r) in integrals.with_position.iter().enumerate() {
        out.with_position[alpha] = Matrix::constant(*r);
        out.with_velocity[alpha] = Vector::zero();
        out.modal_bias[alpha] = T::zero();
        out.coupling[alpha].force = Vector::constant(integrals.first[alpha]);
    }
    for (mass, &value) in out.modal_mass.iter_mut().zip(&integrals.mass_matrix) {
        *mass = T::constant(value);
    }
    // N_α += Σ_β S_βα η_β, with S_βα the transpose of S_αβ; and the cross products of the rates
    for block in &integrals.products {
        let (i, j) = (block.row_component, block.column_component);
        let position = &elastic[block.columns.clone()];
        let rate = &elastic_rate[block.columns.clone()];
        let rows = block.values.chunks_exact(block.columns.len());
        for (values, alpha) in rows.zip(block.rows.clone()) {
            let (mut sum, mut sum_of_rates) = (T::zero(), T::zero());
            for ((&value, &position), &rate) in values.iter().zip(position).zip(rate) {
                sum += position * value;
                sum_of_rates += rate * value;
            }
            out.with_position[alpha].0[j][i] += sum;
            if i != j {
                let cyclic = (j + 1) % 3 == i;
                out.with_velocity[alpha][3 - i - j] +=
                    if cyclic { sum_of_rates } else { -sum_of_rates };
            }
        }
    }
    let mut moments = Moments {
        first: Vector::constant(body.first_moment),
        first_rate: Vector::zero(),
        second: Matrix::constant(body.second_moment),
        shortening_bias: Force::zero(),
    };
    for alpha in 0..elastic.len() {
        let first = Vector::constant(integrals.first[alpha]);
        moments.first += first.scale(elastic[alpha]);
        moments.first_rate += first.scale(elastic_rate[alpha]);
        // ∫ p pᵀ = ∫ r rᵀ + Σ (R_αᵀ + N_α) η_α
        let r = Matrix::<T>::constant(integrals.with_position[alpha]);
        moments.second += (r.transpose() + out.with_position[alpha]).scale(elastic[alpha]);
    }
    moments
}
