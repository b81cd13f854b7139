//! Many shifts at once: a chain of small bulges is chased through windows on the diagonal, what stands beside a window is changed
//! by one product of matrices, and eigenvalues that have converged are taken out of a window at the end (aggressive early
//! deflation), whose other eigenvalues are the next shifts.

use nalgebra::{DMatrix, DVector};

use super::francis::{Reflection, Shifts, first_column, francis, negligible};
use super::hessenberg::hessenberg;
use super::{SMALL, eigenvalues};
use crate::linear::error::{GoOn, LinearError, unwatched};

/// Bulges of a chain, each with two shifts.
const BULGES: usize = 16;
/// Rows of the window in which converged eigenvalues are looked for.
const DEFLATION: usize = 48;
/// Rows of the window in which bulges are chased: the chain takes half.
const WINDOW: usize = 6 * BULGES + 4;
/// Share of the window at the end that has to converge for it to be looked at again before the next sweep.
const NIBBLE: f64 = 0.14;
/// Sweeps allowed without an eigenvalue, and after how many the shifts are changed.
const SWEEPS: usize = 60;
const EXCEPTIONAL: usize = 6;

/// Brings a matrix in Hessenberg form to real Schur form, and the product of the rotations to `vectors`; false if it does not
/// converge.
///
/// # Errors
/// When it is stopped.
pub(super) fn multishift(
    form: &mut DMatrix<f64>,
    vectors: &mut DMatrix<f64>,
    go_on: &mut GoOn<'_>,
) -> Result<bool, LinearError> {
    let mut high = form.nrows();
    let mut sweep = 0;
    while high > 0 {
        go_on()?;
        let mut low = high - 1;
        while low > 0 && !negligible(form, low) {
            low -= 1;
        }
        if low > 0 {
            form[(low, low - 1)] = 0.0;
        }
        if high - low <= SMALL {
            let mut block = form.view((low, low), (high - low, high - low)).into_owned();
            let mut rotation = DMatrix::identity(high - low, high - low);
            if !francis(&mut block, &mut rotation) {
                return Ok(false);
            }
            replace(form, vectors, low, &block, &rotation);
            high = low;
            sweep = 0;
            continue;
        }
        sweep += 1;
        if sweep > SWEEPS {
            return Ok(false);
        }
        let Some((deflated, found)) = deflate(form, vectors, low, high) else {
            return Ok(false);
        };
        high -= deflated;
        if deflated > 0 {
            sweep = 0;
        }
        if deflated as f64 > NIBBLE * DEFLATION as f64 || high - low <= SMALL {
            continue;
        }
        let shifts = if sweep > 0 && sweep.is_multiple_of(EXCEPTIONAL) {
            exceptional(form, low, high)
        } else {
            found
        };
        chase(form, vectors, low, high, &shifts);
    }
    Ok(true)
}

/// Puts a block on the diagonal that a rotation of the window's coordinates has made of the one there.
fn replace(
    form: &mut DMatrix<f64>,
    vectors: &mut DMatrix<f64>,
    at: usize,
    block: &DMatrix<f64>,
    rotation: &DMatrix<f64>,
) {
    let size = form.nrows();
    let count = block.nrows();
    let end = at + count;
    form.view_mut((at, at), (count, count)).copy_from(block);
    let right = rotation.transpose() * form.view((at, end), (count, size - end));
    form.view_mut((at, end), (count, size - end))
        .copy_from(&right);
    let above = form.view((0, at), (at, count)) * rotation;
    form.view_mut((0, at), (at, count)).copy_from(&above);
    let turned = vectors.columns(at, count) * rotation;
    vectors.columns_mut(at, count).copy_from(&turned);
}

/// Eigenvalues of the window at the end that have converged are taken out. How many, and pairs of the others
/// as shifts.
fn deflate(
    form: &mut DMatrix<f64>,
    vectors: &mut DMatrix<f64>,
    low: usize,
    high: usize,
) -> Option<(usize, Vec<Shifts>)> {
    let at = high - DEFLATION.min(high - low);
    let count = high - at;
    let spike = if at > low { form[(at, at - 1)] } else { 0.0 };
    let mut block = form.view((at, at), (count, count)).into_owned();
    let mut rotation = DMatrix::identity(count, count);
    if !francis(&mut block, &mut rotation) {
        return None;
    }
    // from the end on, as long as the spike before the window does not feel them
    let mut kept = count;
    while kept > 0 {
        let double = kept > 1 && block[(kept - 1, kept - 2)] != 0.0;
        let own = block[(kept - 1, kept - 1)].abs();
        let (size, near) = if double {
            let product =
                block[(kept - 1, kept - 2)].abs().sqrt() * block[(kept - 2, kept - 1)].abs().sqrt();
            (2, own + product)
        } else {
            (1, own)
        };
        let near = if near == 0.0 { spike.abs() } else { near };
        let felt = (kept - size..kept)
            .map(|i| (spike * rotation[(0, i)]).abs())
            .fold(0.0, f64::max);
        if felt > (f64::EPSILON * near).max(f64::MIN_POSITIVE / f64::EPSILON) {
            break;
        }
        kept -= size;
    }
    let shifts = pairs(&block, kept);
    if kept == count {
        return Some((0, shifts));
    }
    let mut length = 0.0;
    if kept > 0 {
        // the spike to one entry, and the window back to Hessenberg form
        let spikes = rotation.row(0).columns(0, kept).transpose();
        let mut kept_rotation = reflect_first(spikes);
        length = spike
            * (0..kept)
                .map(|i| kept_rotation[(i, 0)] * rotation[(0, i)])
                .sum::<f64>();
        let own = block.view((0, 0), (kept, kept)).into_owned();
        let turned = kept_rotation.transpose() * own * &kept_rotation;
        let (own, more) = hessenberg(turned, &mut unwatched).ok()?;
        kept_rotation *= more;
        block.view_mut((0, 0), (kept, kept)).copy_from(&own);
        let beside = kept_rotation.transpose() * block.view((0, kept), (kept, count - kept));
        block
            .view_mut((0, kept), (kept, count - kept))
            .copy_from(&beside);
        let turned = rotation.columns(0, kept) * kept_rotation;
        rotation.columns_mut(0, kept).copy_from(&turned);
    }
    if at > low {
        form[(at, at - 1)] = length;
    }
    replace(form, vectors, at, &block, &rotation);
    Some((count - kept, shifts))
}

/// An orthogonal matrix whose first column has the direction of a vector.
fn reflect_first(mut vector: DVector<f64>) -> DMatrix<f64> {
    let size = vector.len();
    let length = vector.norm();
    if length == 0.0 {
        return DMatrix::identity(size, size);
    }
    vector /= length;
    let sign = 1.0_f64.copysign(vector[0]);
    vector[0] += sign;
    let factor = 2.0 / vector.norm_squared();
    DMatrix::identity(size, size) - &vector * vector.transpose() * factor
}

/// Pairs of the first eigenvalues of a Schur form, the last ones first.
fn pairs(block: &DMatrix<f64>, kept: usize) -> Vec<Shifts> {
    let values = eigenvalues(block);
    let both = |first: f64, second: f64| Shifts {
        real: [first, second],
        imaginary: 0.0,
    };
    let mut shifts = Vec::new();
    let mut real: Option<f64> = None;
    for value in values[..kept].iter().rev().filter(|value| value.im >= 0.0) {
        if shifts.len() == BULGES {
            break;
        }
        if value.im > 0.0 {
            shifts.push(Shifts {
                real: [value.re; 2],
                imaginary: value.im,
            });
        } else if let Some(other) = real.take() {
            shifts.push(both(value.re, other));
        } else {
            real = Some(value.re);
        }
    }
    // one that is left alone is taken twice if there is no other
    match real {
        Some(real) if shifts.is_empty() => vec![both(real, real)],
        _ => shifts,
    }
}

/// Shifts that break cycles.
fn exceptional(form: &DMatrix<f64>, low: usize, high: usize) -> Vec<Shifts> {
    let last = |bulge: usize| high - 1 - 2 * bulge;
    (0..BULGES.min((high - low) / 2 - 1))
        .map(|bulge| {
            let row = last(bulge);
            let near = form[(row, row - 1)].abs() + form[(row - 1, row - 2)].abs();
            let own = 0.75 * near + form[(row, row)];
            Shifts {
                real: [own; 2],
                imaginary: 0.4375_f64.sqrt() * near,
            }
        })
        .collect()
}

/// Chases a chain of bulges, one for each pair of shifts, from row `low` down to before `high`.
fn chase(
    form: &mut DMatrix<f64>,
    vectors: &mut DMatrix<f64>,
    low: usize,
    high: usize,
    shifts: &[Shifts],
) {
    // rows that the next reflection of each bulge begins with; the column before has its bulge
    let mut next = vec![low; shifts.len()];
    let last = high - 1;
    while let Some(&rear) = next.last()
        && rear < last
    {
        let at = if rear == low { low } else { rear - 1 };
        let end = (at + WINDOW).min(high);
        let mut block = form.view((at, at), (end - at, end - at)).into_owned();
        let mut rotation = DMatrix::identity(end - at, end - at);
        for bulge in 0..shifts.len() {
            // three rows behind the bulge before, and inside the window
            let ahead = if bulge == 0 { last } else { next[bulge - 1] };
            let behind = if ahead == last { last } else { ahead - 3 };
            let inside = if end == high { last } else { end - 3 };
            while next[bulge] < behind.min(inside) {
                let row = next[bulge];
                let local = row - at;
                let count = 3.min(high - row);
                let column = if row == low {
                    first_column(&block, local, shifts[bulge])
                } else {
                    let third = if count == 3 {
                        block[(local + 2, local - 1)]
                    } else {
                        0.0
                    };
                    [
                        block[(local, local - 1)],
                        block[(local + 1, local - 1)],
                        third,
                    ]
                };
                let (reflection, length) = Reflection::of(column, count);
                if row > low {
                    block[(local, local - 1)] = length;
                    for below in local + 1..local + count {
                        block[(below, local - 1)] = 0.0;
                    }
                }
                let size = block.ncols();
                reflection.rows(&mut block, local, local..size);
                reflection.columns(&mut block, local, (local + 4).min(size));
                reflection.columns(&mut rotation, local, size);
                next[bulge] += 1;
            }
        }
        replace(form, vectors, at, &block, &rotation);
    }
}
