//! What the second-order field of a beam adds to its inertia.
//!
//! Along a beam run vectors $`p = l + q`$ that are quadratic in the elastic coordinates: the place of the axis, and the
//! directions of the sections where torsion turns them ([`crate::flex`]). With the linear part $`l`$,
//! $`q = \tfrac12\sum H_{\alpha\beta}\eta_\alpha\eta_\beta`$ and $`J_\alpha = \psi_\alpha + b_\alpha`$, $`b_\alpha = \sum H_{\alpha\beta}\eta_\beta`$, these are
//! all products of $`p`$, $`\dot p`$ and $`J`$ beyond those of the linear field, summed over the points of the beam. Nothing is
//! truncated: the kinetic energy is that of the quadratic displacement field. Which components have a second-order
//! part is known when the mechanism is built; the axis of a beam that bends in one plane has $`q_x`$ alone.

use super::body_inertia::{BodyInertia, Moments};
use super::points::Points;
use crate::flex::{Group, PackedField, PackedLine, ShorteningSums};
use lissom_spatial::Scalar;

/// Numbers along one beam, in groups; scratch memory of [`add`].
#[derive(Clone, Debug)]
pub(super) struct AlongBeam<T> {
    /// $`p`$ by components.
    position: [Vec<Points<T>>; 3],
    /// $`\dot p`$ by components.
    velocity: [Vec<Points<T>>; 3],
    /// $`m q`$, $`m \dot q`$ and $`m`$ times the bias $`\sum H_{\alpha\beta}\dot\eta_\alpha\dot\eta_\beta`$, by components.
    quadratic: [Vec<Points<T>>; 3],
    rate: [Vec<Points<T>>; 3],
    bias: [Vec<Points<T>>; 3],
    /// $`b_\alpha`$ and $`m b_\alpha`$ by components, coordinates × groups.
    gradient: [Vec<Points<T>>; 3],
    weighted: [Vec<Points<T>>; 3],
}

impl<T: Scalar> AlongBeam<T> {
    /// Memory for beams of at most so many coordinates and groups.
    pub(super) fn new(coordinates: usize, groups: usize) -> Self {
        let line = || [0; 3].map(|_| vec![Points::zero(); groups]);
        let lines = || [0; 3].map(|_| vec![Points::zero(); coordinates * groups]);
        Self {
            position: line(),
            velocity: line(),
            quadratic: line(),
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

/// Adds what the second-order field does to the moments and the modal quantities of one beam.
#[inline(always)]
pub(super) fn add<T: Scalar>(
    beam: &PackedField,
    elastic: &[T],
    elastic_rate: &[T],
    moments: &mut Moments<T>,
    out: &mut BodyInertia<'_, T>,
) {
    for line in &beam.lines {
        along_the_beam(line, elastic, elastic_rate, out.along);
        for j in 0..3 {
            if !line.quadratic[j].is_empty() {
                add_component(line, j, elastic, moments, out);
            }
        }
    }
}

/// Adds the products of component `j` of the second-order part of one vector.
#[inline(always)]
fn add_component<T: Scalar>(
    line: &PackedLine,
    j: usize,
    elastic: &[T],
    moments: &mut Moments<T>,
    out: &mut BodyInertia<'_, T>,
) {
    let n = elastic.len();
    let groups = line.groups();
    // the other two components, j → next → after in the sense of rotation
    let (next, after) = ((j + 1) % 3, (j + 2) % 3);
    let along = &*out.along;
    let position = [0, 1, 2].map(|i| &along.position[i][..groups]);
    let velocity = [0, 1, 2].map(|i| &along.velocity[i][..groups]);
    let (mq, mq_rate, mq_bias) = (
        &along.quadratic[j][..groups],
        &along.rate[j][..groups],
        &along.bias[j][..groups],
    );

    // moments of the body; `position` holds l + q, so that q·p counts every product of two q once and q·l once
    if line.is_place {
        moments.first[j] += total(mq);
        moments.first_rate[j] += total(mq_rate);
        moments.shortening_bias.force[j] += total(mq_bias);
    }
    moments.second.0[j][j] += dot(mq, position[j]) + with_linear(line, mq, j, elastic);
    for k in [next, after] {
        let product = if k < j {
            with_linear(line, mq, k, elastic)
        } else {
            dot(mq, position[k])
        };
        moments.second.0[j][k] += product;
        moments.second.0[k][j] += product;
    }
    moments.shortening_bias.moment[next] += dot(mq_bias, position[after]);
    moments.shortening_bias.moment[after] -= dot(mq_bias, position[next]);

    // q and its rates against the linear shapes
    for alpha in 0..n {
        let Some(component) = line.component[alpha] else {
            continue;
        };
        let shape = &line.shapes[alpha * groups..(alpha + 1) * groups];
        out.with_position[alpha].0[j][component] += dot_constants(mq, shape);
        if component == j {
            out.modal_bias[alpha] += dot_constants(mq_bias, shape);
        } else if component == next {
            out.with_velocity[alpha][after] += dot_constants(mq_rate, shape);
        } else {
            out.with_velocity[alpha][next] -= dot_constants(mq_rate, shape);
        }
    }
    // b against position, velocity, bias and itself
    let coordinates = &line.quadratic[j];
    for (i, &alpha) in coordinates.iter().enumerate() {
        let weighted = &along.weighted[j][alpha * groups..(alpha + 1) * groups];
        let gradient = &along.gradient[j][alpha * groups..(alpha + 1) * groups];
        if line.is_place {
            out.coupling[alpha].force[j] += total(weighted);
        }
        for k in 0..3 {
            out.with_position[alpha].0[k][j] += dot(weighted, position[k]);
        }
        out.with_velocity[alpha][next] += dot(weighted, velocity[after]);
        out.with_velocity[alpha][after] -= dot(weighted, velocity[next]);
        out.modal_bias[alpha] += dot(gradient, mq_bias);
        for &beta in &coordinates[..=i] {
            let other = &along.gradient[j][beta * groups..(beta + 1) * groups];
            let product = dot(weighted, other);
            out.modal_mass[alpha * n + beta] += product;
            if beta != alpha {
                out.modal_mass[beta * n + alpha] += product;
            }
        }
        for &beta in &line.linear[j] {
            let shape = &line.shapes[beta * groups..(beta + 1) * groups];
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
/// \qquad a = -\tfrac12\int_0^x (v'^2 + w'^2)\,ds ,
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
                total += elastic[beta] * beam.total[entry];
                total_rate += elastic_rate[beta] * beam.total[entry];
                with_position += elastic[beta] * beam.with_position[entry];
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

/// $`\sum m q\,l_k`$ over the beam, $`l`$ the linear part of the vector.
#[inline(always)]
fn with_linear<T: Scalar>(line: &PackedLine, mq: &[Points<T>], k: usize, elastic: &[T]) -> T {
    let groups = line.groups();
    let mut sum = T::zero();
    for &alpha in &line.linear[k] {
        let shape = &line.shapes[alpha * groups..(alpha + 1) * groups];
        sum += dot_constants(mq, shape) * elastic[alpha];
    }
    if line.undeformed_component == k {
        dot_constants(mq, &line.undeformed) + sum
    } else {
        sum
    }
}

/// Fills the numbers of one vector along the beam.
#[inline(always)]
fn along_the_beam<T: Scalar>(
    line: &PackedLine,
    elastic: &[T],
    elastic_rate: &[T],
    along: &mut AlongBeam<T>,
) {
    let groups = line.groups();
    for group in 0..groups {
        let mut position = [Points::zero(); 3];
        let mut velocity = [Points::zero(); 3];
        position[line.undeformed_component].add_scaled(&line.undeformed[group], T::constant(1.0));
        for (alpha, (&eta, &rate)) in elastic.iter().zip(elastic_rate).enumerate() {
            if let Some(component) = line.component[alpha] {
                let shape = &line.shapes[alpha * groups + group];
                position[component].add_scaled(shape, eta);
                velocity[component].add_scaled(shape, rate);
            }
        }
        let zero = [Points::zero(); 3];
        let mut parts = Parts {
            quadratic: zero,
            rate: zero,
            bias: zero,
        };
        let weights = &line.weights[group];
        for block in &line.blocks {
            let j = block.component;
            let size = block.rows.len() * block.columns.len();
            let entries = &block.entries[group * size..(group + 1) * size];
            let mut write = |alpha: usize, gradient: Points<T>| {
                along.weighted[j][alpha * groups + group] = gradient.times(weights);
                along.gradient[j][alpha * groups + group] = gradient;
            };
            let halves = if block.rows == block.columns {
                1.0
            } else {
                2.0
            };
            let [etas, rates] = [elastic, elastic_rate].map(|x| &x[block.columns.clone()]);
            for (row, alpha) in entries
                .chunks_exact(block.columns.len())
                .zip(block.rows.clone())
            {
                let (mut gradient, mut gradient_rate) = (Points::zero(), Points::zero());
                for (h, (&eta, &rate)) in row.iter().zip(etas.iter().zip(rates)) {
                    gradient.add_scaled(h, eta);
                    gradient_rate.add_scaled(h, rate);
                }
                parts.quadratic[j].add_product(&gradient, elastic[alpha] * (0.5 * halves));
                parts.rate[j].add_product(&gradient, elastic_rate[alpha]);
                parts.bias[j].add_product(&gradient_rate, elastic_rate[alpha] * halves);
                if block.rows != block.columns {
                    parts.rate[j].add_product(&gradient_rate, elastic[alpha]);
                }
                write(alpha, gradient);
            }
            // by symmetry, the columns of a block aside from the diagonal
            if block.rows != block.columns {
                for (column, beta) in block.columns.clone().enumerate() {
                    let mut gradient = Points::zero();
                    let below = entries[column..].iter().step_by(block.columns.len());
                    for (h, &eta) in below.zip(&elastic[block.rows.clone()]) {
                        gradient.add_scaled(h, eta);
                    }
                    write(beta, gradient);
                }
            }
        }
        for i in 0..3 {
            if !line.quadratic[i].is_empty() {
                position[i].add_product(&parts.quadratic[i], T::constant(1.0));
                velocity[i].add_product(&parts.rate[i], T::constant(1.0));
                along.quadratic[i][group] = parts.quadratic[i].times(weights);
                along.rate[i][group] = parts.rate[i].times(weights);
                along.bias[i][group] = parts.bias[i].times(weights);
            }
            along.position[i][group] = position[i];
            along.velocity[i][group] = velocity[i];
        }
    }
}

/// $`q`$, $`\dot q`$ and the bias of a group of points, by components.
struct Parts<T> {
    quadratic: [Points<T>; 3],
    rate: [Points<T>; 3],
    bias: [Points<T>; 3],
}
