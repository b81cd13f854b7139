//! Coordinates taken out of an inertia, by a factor $`LDL^T`$ and sums of squares.

use lissom_spatial::Scalar;
use lissom_spatial::{ArticulatedInertia, Force, Motion};

/// Rewrites a floating body's inertia for the twist of the joint side: $`V = V' + B\dot\eta`$.
#[inline(always)]
pub(super) fn follow_floating_frame<T: Scalar>(
    inertia: &ArticulatedInertia<T>,
    floating: &[Motion<T>],
    gain: &mut [Force<T>],
    factor: &mut [T],
) {
    let n = gain.len();
    for alpha in 0..n {
        let force = inertia.times(floating[alpha]);
        for beta in 0..=alpha {
            factor[alpha * n + beta] +=
                floating[beta].dot(gain[alpha] + force) + floating[alpha].dot(gain[beta]);
        }
    }
    for alpha in 0..n {
        gain[alpha] += inertia.times(floating[alpha]);
    }
}

/// Takes the joint's own directions out of the inertia that the parent feels.
#[inline(always)]
pub(super) fn eliminate_hinge<T: Scalar>(
    felt: &mut ArticulatedInertia<T>,
    axes: &[Motion<T>],
    armature: &[f64; 6],
    factor: &mut [T],
    gain: &mut [Force<T>],
) {
    let size = axes.len();
    for i in 0..size {
        gain[i] = felt.times(axes[i]);
        for j in 0..=i {
            factor[i * size + j] = axes[j].dot(gain[i]);
        }
        factor[i * size + i] += T::constant(armature[i]);
    }
    factor_symmetric(factor, size);
    eliminate(felt, factor, size, gain);
}

/// Turns the rows of `gain` into $`L^{-1}`$ times them and takes $`G^T D^{-1} G`$ off the inertia.
#[inline(always)]
pub(super) fn eliminate<T: Scalar>(
    felt: &mut ArticulatedInertia<T>,
    factor: &[T],
    size: usize,
    gain: &mut [Force<T>],
) {
    for i in 0..size {
        let mut row = gain[i];
        for j in 0..i {
            row -= gain[j].scale(factor[i * size + j]);
        }
        gain[i] = row;
        felt.subtract_square(row, factor[i * size + i]);
    }
}

/// Factor $`LDL^T`$ of the lower triangle of a symmetric matrix, in place, with $`D^{-1}`$ on the diagonal.
///
/// The pivots of a positive definite matrix are positive; [`ArticulatedBody::is_positive_definite`](super::ArticulatedBody::is_positive_definite) tells.
#[inline(always)]
pub(in crate::tree) fn factor_symmetric<T: Scalar>(a: &mut [T], n: usize) {
    for i in 0..n {
        // row i of LD
        for j in 0..i {
            let mut sum = a[i * n + j];
            for l in 0..j {
                sum -= a[i * n + l] * a[j * n + l];
            }
            a[i * n + j] = sum;
        }
        // row i of L, and the pivot
        let mut pivot = a[i * n + i];
        for l in 0..i {
            let scaled = a[i * n + l];
            let entry = scaled * a[l * n + l];
            pivot -= scaled * entry;
            a[i * n + l] = entry;
        }
        a[i * n + i] = T::constant(1.0) / pivot;
    }
}
