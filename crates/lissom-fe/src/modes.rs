//! Lowest modes of a large symmetric pair by block Krylov iteration with the inverse of the stiffness.
//!
//! The basis is orthonormal in the mass, and every block is orthogonalised against all before it, so that repeated eigenvalues (a
//! link with a square section has pairs) come out with all their modes.

use nalgebra::{DMatrix, SymmetricEigen};

use crate::FeError;
use crate::stop::Stop;

/// Vectors of a block: more than an eigenvalue is repeated in any body of practice.
const BLOCK: usize = 6;

/// Change of an eigenvalue between two blocks, relative to it, below which it has converged: its error is then that of the
/// vectors squared, and falls by far more than a half from block to block.
const CONVERGED: f64 = 1e-13;

/// Share of a vector that is left by orthogonalisation when it lies in the space of those before it.
const DEPENDENT: f64 = 1e-10;

/// Most modes that are sought below a frequency, as many as may be asked for by number; more come of wrong units, and take a time
/// that grows with the square of their number.
pub(crate) const MOST_BELOW: usize = 128;

/// An eigenvalue and its vector, of unit mass.
pub(crate) struct Mode {
    pub(crate) square: f64,
    pub(crate) vector: Vec<f64>,
}

/// Which modes are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// So many of the lowest.
    Count(usize),
    /// All whose squared frequency is below this; if they are more than [`MOST_BELOW`], some of them that have not converged, more than that too.
    Below(f64),
}

impl Wanted {
    /// How many of the falling inverse squares of a basis are wanted, if it shows that.
    fn among(self, thetas: &[f64]) -> Option<usize> {
        match self {
            Self::Count(count) => (thetas.len() >= count).then_some(count),
            Self::Below(square) => thetas.iter().position(|theta| theta * square <= 1.0),
        }
    }

    /// Whether more are wanted than are sought: inverse squares of a basis are never above the true ones.
    fn is_too_much(self, thetas: &[f64]) -> bool {
        match self {
            Self::Count(_) => false,
            Self::Below(_) => self.among(thetas).unwrap_or(thetas.len()) > MOST_BELOW,
        }
    }
}

/// The lowest modes, or as many as there are; none where masses and stiffnesses are too far apart for numbers.
///
/// # Errors
/// When somebody stops it.
pub(crate) fn lowest(
    wanted: Wanted,
    size: usize,
    inverse: impl Fn(&[Vec<f64>]) -> Vec<Vec<f64>>,
    mass: impl Fn(&[f64]) -> Vec<f64>,
    stop: Stop<'_>,
) -> Result<Vec<Mode>, FeError> {
    let mut seed = 1_u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed) / f64::from(u32::MAX) - 0.5
    };
    let starts: Vec<Vec<f64>> = (0..BLOCK.min(size))
        .map(|_| mass(&(0..size).map(|_| random()).collect::<Vec<f64>>()))
        .collect();
    let mut block = inverse(&starts);
    // v, M v and K⁻¹ M v of every vector of the basis
    let (mut basis, mut with_mass, mut images) = (Vec::new(), Vec::new(), Vec::new());
    let mut projected = DMatrix::zeros(0, 0);
    let mut before: Vec<f64> = Vec::new();
    loop {
        if stop() {
            return Err(FeError::Stopped);
        }
        let known = basis.len();
        for vector in block.drain(..) {
            if let Some((v, mv)) = orthonormal(vector, &basis, &with_mass, &mass) {
                basis.push(v);
                with_mass.push(mv);
            }
        }
        images.extend(inverse(&with_mass[known..]));
        projected = grown(projected, &with_mass, &images);
        let eigen = ritz(&projected);
        let thetas: Vec<f64> = eigen.iter().map(|(theta, _)| *theta).collect();
        let count = wanted.among(&thetas);
        let converged = count.is_some_and(|count| {
            before.len() >= count
                && (thetas[..count].iter().zip(&before))
                    .all(|(now, then)| (now - then).abs() <= CONVERGED * now)
        });
        if converged || basis.len() == known || wanted.is_too_much(&thetas) {
            let modes = eigen.into_iter().take(count.unwrap_or(thetas.len()));
            let mode = |(theta, combination): (f64, Vec<f64>)| Mode {
                square: 1.0 / theta,
                vector: combined(&basis, &combination),
            };
            return Ok(modes.map(mode).collect());
        }
        before = thetas;
        block = images[known..].to_vec();
    }
}

/// $`V^T M K^{-1} M V`$ with the rows and columns of those that have come to its basis.
fn grown(known: DMatrix<f64>, with_mass: &[Vec<f64>], images: &[Vec<f64>]) -> DMatrix<f64> {
    let (old, n) = (known.nrows(), images.len());
    let mut projected = known.resize(n, n, 0.0);
    for j in old..n {
        for i in 0..=j {
            let entry = 0.5 * (dot(&with_mass[i], &images[j]) + dot(&with_mass[j], &images[i]));
            projected[(i, j)] = entry;
            projected[(j, i)] = entry;
        }
    }
    projected
}

/// Eigenvalues, falling, with their combinations of the basis.
fn ritz(projected: &DMatrix<f64>) -> Vec<(f64, Vec<f64>)> {
    let n = projected.nrows();
    // its eigenvalues would be sought for ever
    if n == 0 || projected.iter().any(|entry| !entry.is_finite()) {
        return Vec::new();
    }
    let eigen = SymmetricEigen::new(projected.clone());
    let mut found: Vec<(f64, Vec<f64>)> = (0..n)
        .map(|i| {
            (
                eigen.eigenvalues[i],
                eigen.eigenvectors.column(i).iter().copied().collect(),
            )
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found
}

/// The part of a vector that is orthogonal to a basis in the mass, of unit length, and its product with the mass; none if
/// nothing is left of it.
fn orthonormal(
    mut vector: Vec<f64>,
    basis: &[Vec<f64>],
    with_mass: &[Vec<f64>],
    mass: impl Fn(&[f64]) -> Vec<f64>,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let length = |v: &[f64], mv: &[f64]| dot(v, mv).max(0.0).sqrt();
    let whole = length(&vector, &mass(&vector));
    // twice is enough [Giraud, Langou & Rozložník 2005]
    for _ in 0..2 {
        for (v, mv) in basis.iter().zip(with_mass) {
            let share = dot(mv, &vector);
            for (x, v) in vector.iter_mut().zip(v) {
                *x -= share * v;
            }
        }
    }
    let mut mv = mass(&vector);
    let left = length(&vector, &mv);
    if left <= DEPENDENT * whole {
        return None;
    }
    for x in vector.iter_mut().chain(&mut mv) {
        *x /= left;
    }
    Some((vector, mv))
}

fn combined(basis: &[Vec<f64>], combination: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; basis.first().map_or(0, Vec::len)];
    for (vector, factor) in basis.iter().zip(combination) {
        for (sum, x) in sum.iter_mut().zip(vector) {
            *sum += factor * x;
        }
    }
    sum
}

/// The product of two vectors, in sums that stand side by side.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const SUMS: usize = 8;
    let (a, a_rest) = a.as_chunks::<SUMS>();
    let (b, b_rest) = b.as_chunks::<SUMS>();
    let mut sums = [0.0; SUMS];
    for (a, b) in a.iter().zip(b) {
        for k in 0..SUMS {
            sums[k] += a[k] * b[k];
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a * b);
    sums.iter().copied().chain(rest).sum()
}

#[cfg(test)]
mod tests {
    use super::{Wanted, lowest};
    use crate::stop::NEVER;

    /// Closed form: a stiffness with pairs of equal eigenvalues, and all modes when more are asked for than there are.
    #[test]
    fn pairs_are_found_with_both_modes() {
        let squares: Vec<f64> = (0..40).map(|i| f64::from(1 + i / 2)).collect();
        let one = |x: &Vec<f64>| x.iter().zip(&squares).map(|(x, k)| x / k).collect();
        let inverse = |x: &[Vec<f64>]| x.iter().map(one).collect();
        let found = |wanted: Wanted| {
            let modes = lowest(wanted, 40, inverse, <[f64]>::to_vec, NEVER);
            modes.unwrap()
        };
        for (mode, square) in found(Wanted::Count(7)).iter().zip(&squares) {
            assert!(
                (mode.square / square - 1.0).abs() < 1e-12,
                "{}",
                mode.square
            );
        }
        assert_eq!(found(Wanted::Count(50)).len(), 40);
        // 1, 1, 2, 2, 3, 3
        assert_eq!(found(Wanted::Below(3.5)).len(), 6);
    }
}
