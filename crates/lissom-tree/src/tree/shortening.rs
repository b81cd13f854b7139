//! What the second-order field of a beam adds to its inertia.
//!
//! Along a beam run vectors $`p = l + q`$ that are quadratic in the elastic coordinates: the place of the axis, and the
//! directions of the sections where torsion turns them ([`crate::flex`]). With the linear part $`l`$,
//! $`q = \tfrac12\sum H_{\alpha\beta}\eta_\alpha\eta_\beta`$ and $`J_\alpha = \psi_\alpha + b_\alpha`$, $`b_\alpha = \sum H_{\alpha\beta}\eta_\beta`$, these are
//! all products of $`p`$, $`\dot p`$ and $`J`$ beyond those of the linear field, summed over the points of the beam. Nothing is
//! truncated: the kinetic energy is that of the quadratic displacement field. Which components have a second-order
//! part is known when the mechanism is built; the axis of a beam that bends in one plane has $`q_x`$ alone.

use super::body_inertia::{BodyInertia, Moments};
use super::points::{Points, dots, dots_with_constants, total};
use crate::flex::{PackedBlock, PackedField, PackedLine, ShorteningSums};
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
    let [x, y, z] = &along.position;
    let position = [&x[..groups], &y[..groups], &z[..groups]];
    let velocity = [
        &along.velocity[next][..groups],
        &along.velocity[after][..groups],
    ];
    let (mq, mq_rate, mq_bias) = (
        &along.quadratic[j][..groups],
        &along.rate[j][..groups],
        &along.bias[j][..groups],
    );
    let shape = |alpha: usize| &line.shapes[alpha * groups..][..groups];

    // moments of the body; `position` holds l + q, so that q·p counts every product of two q once and q·l once
    if line.is_place {
        moments.first[j] += total(mq);
        moments.first_rate[j] += total(mq_rate);
        moments.shortening_bias.force[j] += total(mq_bias);
    }
    let with_own_place = dots(mq, position);
    moments.second.0[j][j] += with_own_place[j] + with_linear(line, mq, j, elastic);
    for k in [next, after] {
        let product = if k < j {
            with_linear(line, mq, k, elastic)
        } else {
            with_own_place[k]
        };
        moments.second.0[j][k] += product;
        moments.second.0[k][j] += product;
    }
    let [with_next, with_after] = dots(mq_bias, [position[next], position[after]]);
    moments.shortening_bias.moment[next] += with_after;
    moments.shortening_bias.moment[after] -= with_next;

    // q and its rates against the linear shapes
    for alpha in 0..n {
        let Some(component) = line.component[alpha] else {
            continue;
        };
        let moving = if component == j { mq_bias } else { mq_rate };
        let [still, moving] = dots_with_constants([mq, moving], shape(alpha));
        out.with_position[alpha].0[j][component] += still;
        if component == j {
            out.modal_bias[alpha] += moving;
        } else if component == next {
            out.with_velocity[alpha][after] += moving;
        } else {
            out.with_velocity[alpha][next] -= moving;
        }
    }
    // b against position, velocity, bias and itself
    let coordinates = &line.quadratic[j];
    let gradient_of = |alpha: usize| &along.gradient[j][alpha * groups..][..groups];
    let first_groups = &line.first_groups[j];
    for (i, &alpha) in coordinates.iter().enumerate() {
        let weighted = &along.weighted[j][alpha * groups..][..groups];
        let own = first_groups[i];
        if line.is_place {
            out.coupling[alpha].force[j] += total(weighted);
        }
        for (k, product) in dots(weighted, position).into_iter().enumerate() {
            out.with_position[alpha].0[k][j] += product;
        }
        let [with_next, with_after] = dots(weighted, velocity);
        out.with_velocity[alpha][next] += with_after;
        out.with_velocity[alpha][after] -= with_next;
        let [with_bias] = dots(gradient_of(alpha), [mq_bias]);
        out.modal_bias[alpha] += with_bias;
        let mut add = |beta: usize, product: T| {
            out.modal_mass[alpha * n + beta] += product;
            if beta != alpha {
                out.modal_mass[beta * n + alpha] += product;
            }
        };
        // inboard of either's first group there is nothing to multiply
        let (pairs, rest) = coordinates[..=i].as_chunks();
        for (&[beta, gamma], first_groups) in pairs.iter().zip(first_groups.as_chunks().0) {
            let [first, second] = *first_groups;
            let from = own.max(first.min(second));
            let others = [&gradient_of(beta)[from..], &gradient_of(gamma)[from..]];
            let [first, second] = dots(&weighted[from..], others);
            add(beta, first);
            add(gamma, second);
        }
        for &beta in rest {
            let [product] = dots(&weighted[own..], [&gradient_of(beta)[own..]]);
            add(beta, product);
        }
        for &beta in &line.linear[j] {
            let [product] = dots_with_constants([weighted], shape(beta));
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
        let [product] = dots_with_constants([mq], &line.shapes[alpha * groups..][..groups]);
        sum += product * elastic[alpha];
    }
    if line.undeformed_component == k {
        let [undeformed] = dots_with_constants([mq], &line.undeformed);
        undeformed + sum
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
    for i in 0..3 {
        let position = &mut along.position[i][..groups];
        let velocity = &mut along.velocity[i][..groups];
        position.fill(Points::zero());
        velocity.fill(Points::zero());
        if line.undeformed_component == i {
            let undeformed = &line.undeformed[..groups];
            for group in 0..groups {
                position[group].add_scaled(&undeformed[group], T::constant(1.0));
            }
        }
        for &alpha in &line.linear[i] {
            let shape = &line.shapes[alpha * groups..][..groups];
            let (eta, rate) = (elastic[alpha], elastic_rate[alpha]);
            for group in 0..groups {
                position[group].add_scaled(&shape[group], eta);
                velocity[group].add_scaled(&shape[group], rate);
            }
        }
        if !line.quadratic[i].is_empty() {
            along.quadratic[i][..groups].fill(Points::zero());
            along.rate[i][..groups].fill(Points::zero());
            along.bias[i][..groups].fill(Points::zero());
        }
    }
    for block in &line.blocks {
        add_block(line, block, elastic, elastic_rate, along);
    }
    let weights = &line.weights[..groups];
    for i in 0..3 {
        if line.quadratic[i].is_empty() {
            continue;
        }
        let position = &mut along.position[i][..groups];
        let velocity = &mut along.velocity[i][..groups];
        let quadratic = &mut along.quadratic[i][..groups];
        let rate = &mut along.rate[i][..groups];
        let bias = &mut along.bias[i][..groups];
        for group in 0..groups {
            position[group].add(&quadratic[group]);
            velocity[group].add(&rate[group]);
            quadratic[group] = quadratic[group].times(&weights[group]);
            rate[group] = rate[group].times(&weights[group]);
            bias[group] = bias[group].times(&weights[group]);
        }
    }
}

/// Adds one second-order part to $`q`$, $`\dot q`$ and the bias along the beam, and writes its gradients.
#[inline(always)]
fn add_block<T: Scalar>(
    line: &PackedLine,
    block: &PackedBlock,
    elastic: &[T],
    elastic_rate: &[T],
    along: &mut AlongBeam<T>,
) {
    let (j, groups) = (block.component, line.groups());
    let (rows, columns) = (block.rows.len(), block.columns.len());
    let is_diagonal = block.rows == block.columns;
    // a block aside from the diagonal stands for its mirror image too
    let halves = if is_diagonal { 1.0 } else { 2.0 };
    let (row_eta, row_rate) = (
        &elastic[block.rows.clone()],
        &elastic_rate[block.rows.clone()],
    );
    let (column_eta, column_rate) = (
        &elastic[block.columns.clone()],
        &elastic_rate[block.columns.clone()],
    );
    let weights = &line.weights[..groups];
    let gradients = &mut along.gradient[j];
    let weighted = &mut along.weighted[j];
    let mut write = |alpha: usize, group: usize, gradient: Points<T>| {
        weighted[alpha * groups + group] = gradient.times(&weights[group]);
        gradients[alpha * groups + group] = gradient;
    };
    for group in 0..groups {
        let entries = &block.entries[group * rows * columns..][..rows * columns];
        let mut quadratic = along.quadratic[j][group];
        let mut quadratic_rate = along.rate[j][group];
        let mut bias = along.bias[j][group];
        for row in 0..rows {
            if group < block.first_of_row[row] {
                write(block.rows.start + row, group, Points::zero());
                continue;
            }
            let entries = &entries[row * columns..][..columns];
            let (mut gradient, mut gradient_rate) = (Points::zero(), Points::zero());
            for column in block.columns_of_row[row].clone() {
                gradient.add_scaled(&entries[column], column_eta[column]);
                gradient_rate.add_scaled(&entries[column], column_rate[column]);
            }
            let (eta, rate) = (row_eta[row], row_rate[row]);
            quadratic.add_product(&gradient, eta * (0.5 * halves));
            quadratic_rate.add_product(&gradient, rate);
            bias.add_product(&gradient_rate, rate * halves);
            if !is_diagonal {
                quadratic_rate.add_product(&gradient_rate, eta);
            }
            write(block.rows.start + row, group, gradient);
        }
        along.quadratic[j][group] = quadratic;
        along.rate[j][group] = quadratic_rate;
        along.bias[j][group] = bias;
        if !is_diagonal {
            // by symmetry, the gradients by the columns
            for column in 0..columns {
                let mut gradient = Points::zero();
                for row in block.rows_of_column[column].clone() {
                    gradient.add_scaled(&entries[row * columns + column], row_eta[row]);
                }
                write(block.columns.start + column, group, gradient);
            }
        }
    }
}
