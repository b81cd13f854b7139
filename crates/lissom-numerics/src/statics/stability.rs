//! Whether an equilibrium holds when it is touched.

use nalgebra::{DMatrix, DVector};

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
    let stiffness = scaled.matrix.view((0, 0), (n, n));
    if (stiffness - stiffness.transpose()).amax() > SKEW * stiffness.amax() {
        return Ok(None);
    }
    let found = Left::by_closures(&scaled);
    if found.is_held() {
        return Ok(Some(Stability::Stable));
    }
    // what is soft beside the stiffest part need not be so by itself; scaling changes no sign
    let mut residual = DVector::zeros(scales.len());
    let at_work = balance.evaluate(place, 1.0, &mut residual)?;
    let alike = Left::by_closures(&scaled.equilibrated(at_work));
    if alike.is_held() {
        return Ok(Some(Stability::Stable));
    }
    let mut softest = found.softest();
    if softest.as_ref().is_some_and(Softest::is_indifferent) {
        softest = alike.softest();
    }
    Ok(Some(match softest {
        Some(softest) if softest.is_indifferent() => Stability::Indifferent {
            name: balance.name(softest.coordinate),
        },
        Some(softest) if softest.share < 0.0 => Stability::Unstable {
            name: balance.name(softest.coordinate),
        },
        // closures leave nothing that could move, or all of it is held
        _ => Stability::Stable,
    }))
}

/// The direction of least stiffness.
struct Softest {
    /// Its stiffness, as a fraction of the largest.
    share: f64,
    /// The coordinate that moves most.
    coordinate: usize,
}

impl Softest {
    fn is_indifferent(&self) -> bool {
        // the share of a mechanism without any stiffness is no number
        self.share.abs() <= NO_STIFFNESS || self.share.is_nan()
    }
}

/// The stiffness in the directions that closures leave.
struct Left {
    stiffness: DMatrix<f64>,
    /// The largest entry before.
    largest: f64,
    /// The directions; none where there are no closures, which leave all.
    directions: Option<DMatrix<f64>>,
}

impl Left {
    fn by_closures(scaled: &Scaled) -> Self {
        let n = scaled.coordinates;
        let closures = scaled.matrix.nrows() - n;
        let stiffness = scaled.matrix.view((0, 0), (n, n)).into_owned();
        let symmetric = (&stiffness + stiffness.transpose()) * 0.5;
        let conditions = || scaled.matrix.view((n, 0), (closures, n)).into_owned();
        let directions = (closures > 0).then(|| left_by(&conditions()));
        Self {
            stiffness: match &directions {
                Some(left) => left.transpose() * symmetric * left,
                None => symmetric,
            },
            largest: stiffness.amax(),
            directions,
        }
    }

    /// Whether every direction has stiffness beyond doubt: its least eigenvalue need not be known.
    fn is_held(&self) -> bool {
        let mut beyond = self.stiffness.clone();
        for i in 0..beyond.nrows() {
            beyond[(i, i)] -= NO_STIFFNESS * self.largest;
        }
        !beyond.is_empty() && beyond.cholesky().is_some()
    }

    /// The direction of least stiffness, if any is left.
    fn softest(self) -> Option<Softest> {
        if self.stiffness.is_empty() {
            return None;
        }
        let eigen = self.stiffness.symmetric_eigen();
        let lowest = eigen.eigenvalues.imin();
        let direction = eigen.eigenvectors.column(lowest);
        Some(Softest {
            share: eigen.eigenvalues[lowest] / self.largest,
            coordinate: match &self.directions {
                Some(left) => (left * direction).icamax(),
                None => direction.icamax(),
            },
        })
    }
}

/// Directions that linear conditions leave, as columns.
fn left_by(conditions: &DMatrix<f64>) -> DMatrix<f64> {
    let n = conditions.ncols();
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

#[cfg(test)]
mod tests {
    use super::super::{Failure, NoEquilibrium, equilibrium};
    use super::*;

    /// Springs in a row, each with a force on it, as far apart in stiffness as steel and a thread.
    struct Springs {
        stiffness: DMatrix<f64>,
        force: DVector<f64>,
        scales: Vec<f64>,
    }

    impl Springs {
        fn new(stiffness: DMatrix<f64>, force: &[f64]) -> Self {
            Self {
                stiffness,
                force: DVector::from_column_slice(force),
                scales: vec![1.0; force.len()],
            }
        }
    }

    impl Balance for Springs {
        type Place = DVector<f64>;
        type Error = std::convert::Infallible;

        fn scales(&self) -> &[f64] {
            &self.scales
        }

        fn evaluate(
            &mut self,
            place: &DVector<f64>,
            load: f64,
            residual: &mut DVector<f64>,
        ) -> Result<f64, Self::Error> {
            residual.copy_from(&(&self.stiffness * place - &self.force * load));
            Ok(self.force.amax() * load)
        }

        fn stiffness(&mut self, _: &DVector<f64>, _: f64) -> Result<DMatrix<f64>, Self::Error> {
            Ok(self.stiffness.clone())
        }

        fn displaced(
            &self,
            place: &DVector<f64>,
            change: &DVector<f64>,
            share: f64,
        ) -> DVector<f64> {
            place + change * share
        }

        fn name(&self, unknown: usize) -> String {
            format!("spring {unknown}")
        }
    }

    /// Closed form: a soft spring on a stiff one, in either order, gives way by its own force over its own stiffness, however
    /// far the two are apart; it is stable.
    #[test]
    fn soft_parts_on_stiff_ones_are_held() {
        let [stiff, soft] = [1e13, 0.1];
        let chain = DMatrix::from_row_slice(2, 2, &[stiff + soft, -soft, -soft, soft]);
        let mut springs = Springs::new(chain, &[3.0, 0.02]);
        let found = equilibrium(&mut springs, &DVector::zeros(2)).unwrap();
        assert!((found.place[1] - 0.2).abs() < 1e-9, "{}", found.place);
        assert_eq!(
            stability(&mut springs, &found.place),
            Ok(Some(Stability::Stable))
        );
        // turned over, it leaves
        let chain = DMatrix::from_row_slice(2, 2, &[stiff - soft, soft, soft, -soft]);
        let mut springs = Springs::new(chain, &[0.0, 0.0]);
        let name = "spring 1".to_owned();
        let left = stability(&mut springs, &DVector::zeros(2));
        assert_eq!(left, Ok(Some(Stability::Unstable { name })));
    }

    /// Property: what nothing holds is told so, beside stiff parts and with what differences leave of a zero.
    #[test]
    fn what_nothing_holds_is_told() {
        let noise = 1e-12;
        let loose = DMatrix::from_row_slice(2, 2, &[1e13, 0.0, 0.0, noise]);
        let mut pushed = Springs::new(loose.clone(), &[3.0, 0.02]);
        let found = equilibrium(&mut pushed, &DVector::zeros(2));
        assert!(
            matches!(&found, Err(Failure::None(NoEquilibrium::Unheld { name, .. })) if name == "spring 1"),
            "{found:?}"
        );
        let mut untouched = Springs::new(loose, &[3.0, 0.0]);
        let name = "spring 1".to_owned();
        let rest = equilibrium(&mut untouched, &DVector::zeros(2))
            .unwrap()
            .place;
        assert_eq!(
            stability(&mut untouched, &rest),
            Ok(Some(Stability::Indifferent { name }))
        );
    }
}
