//! What the axial shortening of a bent beam adds to its inertia.
//!
//! With $`p = l + a\,e_x`$ and $`J_\alpha = \psi_\alpha + b_\alpha e_x`$, where $`l`$ is the linear field, $`a = -\tfrac12\eta^T S\eta`$
//! and $`b = -S\eta`$, every product of $`p`$, $`\dot p`$ and $`J`$ beyond those of the linear field, summed over the
//! points of the beam. Nothing is truncated: the kinetic energy is that of the quadratic displacement
//! field.

use super::body_inertia::{BodyInertia, Moments};
use super::points::Points;
use crate::flex::{Group, PackedShortening, ShorteningSums};
use lissom_spatial::Scalar;

/// Numbers along one beam, in groups; scratch memory of [`add`].
#[derive(Clone, Debug)]
pub(super) struct AlongBeam<T> {
    /// $`p`$ by components.
    position: [Vec<Points<T>>; 3],
    /// $`\dot l`$ by components.
    velocity: [Vec<Points<T>>; 3],
    /// $`m a`$, $`m \dot a`$ and $`m`$ times the bias $`-\dot\eta^T S\dot\eta`$.
    shortening: Vec<Points<T>>,
    rate: Vec<Points<T>>,
    bias: Vec<Points<T>>,
    /// $`b_\alpha`$ and $`m b_\alpha`$, coordinates × groups.
    gradient: Vec<Points<T>>,
    weighted: Vec<Points<T>>,
}

impl<T: Scalar> AlongBeam<T> {
    /// Memory for beams of at most so many coordinates and groups.
    pub(super) fn new(coordinates: usize, groups: usize) -> Self {
        let line = || vec![Points::zero(); groups];
        let lines = || vec![Points::zero(); coordinates * groups];
        Self {
            position: [line(), line(), line()],
            velocity: [line(), line(), line()],
            shortening: line(),
            rate: line(),
            bias: line(),
            gradient: lines(),
            weighted: lines(),
        }
    }
}

/// $`\sum x y`$ over the beam.
#[inline(always)]
fn dot<T: Scalar>(x: &[Points<T>], y: &[Points<T>]) -> T {
    let mut sum = Points::zero();
    for (x, y) in x.iter().zip(y) {
        sum.add_products(x, y);
    }
    sum.sum()
}

/// $`\sum x c`$ over the beam.
#[inline(always)]
fn dot_constants<T: Scalar>(x: &[Points<T>], constants: &[Group]) -> T {
    let mut sum = Points::zero();
    for (x, c) in x.iter().zip(constants) {
        sum.add_times(x, c);
    }
    sum.sum()
}

/// $`\sum x`$ over the beam.
#[inline(always)]
fn total<T: Scalar>(x: &[Points<T>]) -> T {
    let mut sum = Points::zero();
    for x in x {
        sum.add(x);
    }
    sum.sum()
}

/// Adds what shortening does to the moments and the modal quantities of one beam.
#[inline(always)]
pub(super) fn add<T: Scalar>(
    beam: &PackedShortening,
    elastic: &[T],
    elastic_rate: &[T],
    moments: &mut Moments<T>,
    out: &mut BodyInertia<'_, T>,
) {
    let n = elastic.len();
    let groups = beam.groups();
    along_the_beam(beam, elastic, elastic_rate, out.along);
    let along = &*out.along;
    let [x, y, z] = [0, 1, 2].map(|i| &along.position[i][..groups]);
    let [vy, vz] = [1, 2].map(|i| &along.velocity[i][..groups]);
    let (ma, ma_rate, ma_bias) = (
        &along.shortening[..groups],
        &along.rate[..groups],
        &along.bias[..groups],
    );

    // moments of the body; `x` holds l + a, so that a·x counts a² once and a·l once
    let (by_x, by_y, by_z) = (dot(ma, x), dot(ma, y), dot(ma, z));
    let axial = dot_constants(ma, &beam.positions) + stretched(beam, ma, elastic);
    moments.first[0] += total(ma);
    moments.first_rate[0] += total(ma_rate);
    moments.second.0[0][0] += by_x + axial;
    moments.second.0[0][1] += by_y;
    moments.second.0[1][0] += by_y;
    moments.second.0[0][2] += by_z;
    moments.second.0[2][0] += by_z;
    moments.shortening_bias.force[0] += total(ma_bias);
    moments.shortening_bias.moment[1] += dot(ma_bias, z);
    moments.shortening_bias.moment[2] -= dot(ma_bias, y);

    // a and its rates against the linear shapes
    for alpha in 0..n {
        let Some(component) = beam.component[alpha] else {
            continue;
        };
        let shape = &beam.shapes[alpha * groups..(alpha + 1) * groups];
        out.with_position[alpha].0[0][component] += dot_constants(ma, shape);
        match component {
            0 => out.modal_bias[alpha] += dot_constants(ma_bias, shape),
            1 => out.with_velocity[alpha][2] += dot_constants(ma_rate, shape),
            _ => out.with_velocity[alpha][1] -= dot_constants(ma_rate, shape),
        }
    }
    // b against position, velocity, bias and itself
    for (i, &alpha) in beam.bending.iter().enumerate() {
        let weighted = &along.weighted[alpha * groups..(alpha + 1) * groups];
        let gradient = &along.gradient[alpha * groups..(alpha + 1) * groups];
        out.coupling[alpha].force[0] += total(weighted);
        out.with_position[alpha].0[0][0] += dot(weighted, x);
        out.with_position[alpha].0[1][0] += dot(weighted, y);
        out.with_position[alpha].0[2][0] += dot(weighted, z);
        out.with_velocity[alpha][1] += dot(weighted, vz);
        out.with_velocity[alpha][2] -= dot(weighted, vy);
        out.modal_bias[alpha] += dot(gradient, ma_bias);
        for &beta in &beam.bending[..=i] {
            let other = &along.gradient[beta * groups..(beta + 1) * groups];
            let product = dot(weighted, other);
            out.modal_mass[alpha * n + beta] += product;
            if beta != alpha {
                out.modal_mass[beta * n + alpha] += product;
            }
        }
        for &beta in &beam.stretch {
            let shape = &beam.shapes[beta * groups..(beta + 1) * groups];
            let product = dot_constants(weighted, shape);
            out.modal_mass[alpha * n + beta] += product;
            out.modal_mass[beta * n + alpha] += product;
        }
    }
}

/// Adds the products of the shortening with the motion of the undeformed beam only,
///
/// ```math
/// \Delta T = \int (v + \omega \times x\,e_x) \cdot (\dot a\,e_x + \omega \times a\,e_x)\,dm ,
/// ```
///
/// which is all of second order in the elastic coordinates \[Pan, Scott & Ulsoy 1990, eqs (16)–(18)\].
#[inline(always)]
pub(super) fn add_second_order<T: Scalar>(
    beam: &ShorteningSums,
    elastic: &[T],
    elastic_rate: &[T],
    moments: &mut Moments<T>,
    out: &mut BodyInertia<'_, T>,
) {
    let mut entry = 0;
    for plane in &beam.planes {
        for alpha in plane.clone() {
            let (mut total, mut total_rate) = (T::zero(), T::zero());
            let mut with_position = T::zero();
            for beta in plane.clone() {
                total -= elastic[beta] * beam.total[entry];
                total_rate -= elastic_rate[beta] * beam.total[entry];
                with_position -= elastic[beta] * beam.with_position[entry];
                entry += 1;
            }
            moments.first[0] += total * elastic[alpha] * 0.5;
            moments.first_rate[0] += total * elastic_rate[alpha];
            moments.second.0[0][0] += with_position * elastic[alpha];
            moments.shortening_bias.force[0] += total_rate * elastic_rate[alpha];
            out.coupling[alpha].force[0] += total;
            out.with_position[alpha].0[0][0] += with_position;
        }
    }
}

/// $`\sum m a`$ times the stretch of the linear field.
#[inline(always)]
fn stretched<T: Scalar>(beam: &PackedShortening, ma: &[Points<T>], elastic: &[T]) -> T {
    let groups = beam.groups();
    let mut sum = T::zero();
    for &alpha in &beam.stretch {
        let shape = &beam.shapes[alpha * groups..(alpha + 1) * groups];
        sum += dot_constants(ma, shape) * elastic[alpha];
    }
    sum
}

/// Fills the numbers along the beam.
#[inline(always)]
fn along_the_beam<T: Scalar>(
    beam: &PackedShortening,
    elastic: &[T],
    elastic_rate: &[T],
    along: &mut AlongBeam<T>,
) {
    let groups = beam.groups();
    let entries: usize = beam.planes.iter().map(|p| p.len() * p.len()).sum();
    for group in 0..groups {
        let mut position = [Points::zero(); 3];
        let mut velocity = [Points::zero(); 3];
        position[0].add_scaled(&beam.positions[group], T::constant(1.0));
        for (alpha, (&eta, &rate)) in elastic.iter().zip(elastic_rate).enumerate() {
            if let Some(component) = beam.component[alpha] {
                let shape = &beam.shapes[alpha * groups + group];
                position[component].add_scaled(shape, eta);
                velocity[component].add_scaled(shape, rate);
            }
        }
        let (mut a, mut a_rate, mut a_bias) = (Points::zero(), Points::zero(), Points::zero());
        let masses = &beam.masses[group];
        let mut matrices = &beam.matrices[group * entries..(group + 1) * entries];
        for plane in &beam.planes {
            let (etas, rates) = (&elastic[plane.clone()], &elastic_rate[plane.clone()]);
            for alpha in plane.clone() {
                let (mut gradient, mut gradient_rate) = (Points::zero(), Points::zero());
                let (row, below) = matrices.split_at(plane.len());
                matrices = below;
                for (s, (&eta, &rate)) in row.iter().zip(etas.iter().zip(rates)) {
                    gradient.add_scaled(s, -eta);
                    gradient_rate.add_scaled(s, -rate);
                }
                a.add_product(&gradient, elastic[alpha] * 0.5);
                a_rate.add_product(&gradient, elastic_rate[alpha]);
                a_bias.add_product(&gradient_rate, elastic_rate[alpha]);
                along.weighted[alpha * groups + group] = gradient.times(masses);
                along.gradient[alpha * groups + group] = gradient;
            }
        }
        position[0].add_product(&a, T::constant(1.0));
        for i in 0..3 {
            along.position[i][group] = position[i];
            along.velocity[i][group] = velocity[i];
        }
        along.shortening[group] = a.times(masses);
        along.rate[group] = a_rate.times(masses);
        along.bias[group] = a_bias.times(masses);
    }
}
