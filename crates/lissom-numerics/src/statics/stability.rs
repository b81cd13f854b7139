//! Whether an equilibrium holds when it is touched.

use nalgebra::DMatrix;

use super::Balance;
use super::solve::Scaled;

/// Stiffness below this fraction of the largest is none: what differences leave of a zero, and a digit more.
const NO_STIFFNESS: f64 = 1e-10;
/// Skew part, as a fraction of the largest stiffness, of forces that have no potential.
const SKEW: f64 = 1e-7;

/// What happens to a mechanism at rest in equilibrium when it is touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stability {
    /// It comes back, or swings about the equilibrium.
    Stable,
    /// It stays where it was put: nothing holds this coordinate.
    Indifferent {
        /// The coordinate that moves most.
        name: String,
    },
    /// It leaves, this coordinate most of all.
    Unstable {
        /// The coordinate that moves most.
        name: String,
    },
}

/// Stability of an equilibrium under the whole load: the sign of the smallest eigenvalue of the stiffness, in the
/// directions that the closures leave. `None` where forces have no potential, as of loads that turn with the mechanism:
/// then only the modes tell.
///
/// # Errors
/// When the mechanism cannot be there.
pub fn stability<B: Balance>(
    balance: &mut B,
    place: &B::Place,
) -> Result<Option<Stability>, B::Error> {
    let scales = balance.scales().to_vec();
    let scaled = Scaled::new(balance.stiffness(place, 1.0)?, &scales);
    let n = scaled.coordinates;
    if n == 0 || !scaled.is_finite() {
        return Ok((n == 0).then_some(Stability::Stable));
    }
    let stiffness = scaled.matrix.view((0, 0), (n, n)).into_owned();
    let largest = stiffness.amax();
    if (&stiffness - stiffness.transpose()).amax() > SKEW * largest {
        return Ok(None);
    }
    let symmetric = (&stiffness + stiffness.transpose()) * 0.5;
    let left = left_by(
        &scaled
            .matrix
            .view((n, 0), (scales.len() - n, n))
            .into_owned(),
    );
    let reduced = left.transpose() * symmetric * &left;
    if reduced.is_empty() {
        return Ok(Some(Stability::Stable));
    }
    let eigen = reduced.symmetric_eigen();
    let lowest = eigen.eigenvalues.imin();
    let value = eigen.eigenvalues[lowest];
    let direction = &left * eigen.eigenvectors.column(lowest);
    let name = || balance.name(direction.icamax());
    Ok(Some(if value > NO_STIFFNESS * largest {
        Stability::Stable
    } else if value < -NO_STIFFNESS * largest {
        Stability::Unstable { name: name() }
    } else {
        Stability::Indifferent { name: name() }
    }))
}

/// Directions that linear conditions leave, as columns.
fn left_by(conditions: &DMatrix<f64>) -> DMatrix<f64> {
    let n = conditions.ncols();
    if conditions.nrows() == 0 {
        return DMatrix::identity(n, n);
    }
    // rows of zeros make it a square, so that there are as many right vectors as columns
    let rows = conditions.nrows().max(n);
    let svd = conditions
        .clone()
        .resize_vertically(rows, 0.0)
        .svd(false, true);
    let Some(vectors) = &svd.v_t else {
        return DMatrix::identity(n, n);
    };
    let most = svd.singular_values.max();
    let free: Vec<_> = (0..n)
        .filter(|&i| svd.singular_values[i] <= NO_STIFFNESS * most)
        .map(|i| vectors.row(i).transpose())
        .collect();
    if free.is_empty() {
        DMatrix::zeros(n, 0)
    } else {
        DMatrix::from_columns(&free)
    }
}
