//! How far runs are from the limit of their refinement, by how far they are from each other.
//!
//! Let the error at resolution $`n`$ (functions, elements, steps per second, one over the tolerance) be $`C n^{-p}`$. Two
//! successive differences of three levels $`l < m < n`$ tell the order,
//!
//! ```math
//! \frac{d_{lm}}{d_{mn}} = \frac{l^{-p} - m^{-p}}{m^{-p} - n^{-p}},
//! ```
//!
//! and the order tells what is left at the finest level, $`d_{mn}\,n^{-p} / (m^{-p} - n^{-p})`$: Richardson's extrapolation,
//! for levels that need not be twice as fine each. An order is believed between two bounds. Above the upper one a difference
//! is taken to be small by chance, and the other one tells what is left; below the lower one nothing regular is seen, and
//! [`SAFETY`] times what is left at the lower bound is stated.

use serde::Serialize;

/// What is left at the finest level is stated this many times where no order is seen.
pub const SAFETY: f64 = 3.0;

/// Orders that are believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Orders {
    pub(super) lowest: f64,
    pub(super) highest: f64,
}

/// How the error of a quantity was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// By Richardson's extrapolation with the order that was seen.
    Extrapolated,
    /// Differences fall faster than is believed: with the highest order that is.
    Capped,
    /// Differences do not fall regularly: with the lowest order that is believed, and [`SAFETY`].
    Irregular,
    /// From one refinement alone: with the lowest order that is believed, and [`SAFETY`].
    OneRefinement,
}

/// Error of one quantity at every level of a refinement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Stated error of every level, from the coarsest, which is the user's, to the finest.
    pub errors: Vec<f64>,
    /// Difference of every level from the next finer one.
    pub changes: Vec<f64>,
    /// The order that was seen; absent where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<f64>,
    /// How the errors were found.
    pub basis: Basis,
}

impl Estimate {
    /// Stated error of the coarsest level.
    pub fn of_user(&self) -> f64 {
        self.errors[0]
    }
}

/// The errors at levels of rising resolution, from the difference of each from the next and from the finest (the last but
/// one and the last of these being the same). `None` of fewer than two levels.
pub(super) fn estimate(
    resolutions: &[f64],
    changes: &[f64],
    from_finest: &[f64],
    orders: Orders,
) -> Option<Estimate> {
    let levels = resolutions.len();
    let &[.., before, finest] = resolutions else {
        return None;
    };
    let &last = changes.last()?;
    // what is left at the finest level beside a difference of two levels
    let left = |coarse: f64, fine: f64, p: f64| finest.powf(-p) / (coarse.powf(-p) - fine.powf(-p));
    let (basis, order, remainder) = if levels == 2 {
        let remainder = SAFETY * last * left(before, finest, orders.lowest);
        (Basis::OneRefinement, None, remainder)
    } else {
        let (coarse, first) = (resolutions[levels - 3], changes[levels - 3]);
        let expected =
            |p: f64| (coarse.powf(-p) - before.powf(-p)) / (before.powf(-p) - finest.powf(-p));
        let both = |p: f64| {
            f64::max(
                last * left(before, finest, p),
                first * left(coarse, before, p),
            )
        };
        if last > 0.0 && first / last < expected(orders.lowest) {
            (Basis::Irregular, None, SAFETY * both(orders.lowest))
        } else if last == 0.0 || first / last > expected(orders.highest) {
            (Basis::Capped, None, both(orders.highest))
        } else {
            let p = bisected(orders, |p| expected(p) - first / last);
            (Basis::Extrapolated, Some(p), both(p))
        }
    };
    let errors = from_finest.iter().map(|distance| distance + remainder);
    Some(Estimate {
        errors: errors.chain([remainder]).collect(),
        changes: changes.to_vec(),
        order,
        basis,
    })
}

/// Where a rising function is zero between the bounds.
fn bisected(Orders { lowest, highest }: Orders, rising: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (lowest, highest);
    // halves the bounds down to rounding
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if rising(middle) > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: Orders = Orders {
        lowest: 1.0,
        highest: 4.0,
    };

    /// What levels with the given errors of one sign tell.
    fn of_errors(resolutions: &[f64], errors: &[f64], orders: Orders) -> Estimate {
        let changes: Vec<f64> = errors.windows(2).map(|e| (e[0] - e[1]).abs()).collect();
        let finest = errors[errors.len() - 1];
        let coarser = &errors[..errors.len() - 1];
        let from_finest: Vec<f64> = coarser.iter().map(|e| (e - finest).abs()).collect();
        estimate(resolutions, &changes, &from_finest, orders).unwrap()
    }

    /// Closed form: errors that are a power of the resolution are found, with their order, at every level.
    #[test]
    fn powers_are_extrapolated_exactly() {
        for resolutions in [[2.0, 3.0, 4.0], [1.0, 2.0, 3.0], [8.0, 12.0, 16.0]] {
            for p in [1.2_f64, 2.0, 3.5] {
                let errors = resolutions.map(|n: f64| 0.3 * n.powf(-p));
                let found = of_errors(&resolutions, &errors, ORDERS);
                assert_eq!(found.basis, Basis::Extrapolated);
                assert!((found.order.unwrap() - p).abs() < 1e-9);
                for (stated, error) in found.errors.iter().zip(errors) {
                    assert!((stated / error - 1.0).abs() < 1e-9);
                }
            }
        }
    }

    /// Closed form: sums of functions whose shares fall as k⁻², the slowest there is (the slope of a tip under a
    /// moment), and faster ones that alternate between large and small, are not understated, nor overstated tenfold.
    #[test]
    fn sums_of_functions_are_not_understated() {
        const FUNCTIONS: Orders = crate::converge::refine::OF_FUNCTIONS;
        let tail = |n: u32, share: &dyn Fn(f64) -> f64| -> f64 {
            let functions = (n + 1)..20_000;
            functions.map(|k| share(f64::from(k))).sum()
        };
        let alternating = |k: f64, p: f64| k.powf(-p) * if k % 2.0 == 0.0 { 1.5 } else { 0.5 };
        let shares: [&dyn Fn(f64) -> f64; 5] = [
            &|k| k.powf(-2.0),
            &|k| k.powf(-3.0),
            &|k| k.powf(-4.0),
            &|k| alternating(k, 3.0),
            &|k| alternating(k, 4.0),
        ];
        for share in shares {
            for n in 1..=4 {
                let levels = [n, n + 1, n + 2];
                let errors = levels.map(|n| tail(n, share));
                let found = of_errors(&levels.map(f64::from), &errors, FUNCTIONS);
                let ratio = found.of_user() / errors[0];
                assert!((0.999..10.0).contains(&ratio), "{n}: {ratio}");
            }
        }
    }

    /// By hand: one refinement, no change at all, and changes that grow.
    #[test]
    fn less_is_known_of_less() {
        let one = of_errors(&[2.0, 3.0], &[0.5, 0.25], ORDERS);
        assert_eq!((one.basis, one.order), (Basis::OneRefinement, None));
        // 0.25 · (1/3) / (1/2 − 1/3) is left at the lowest order
        assert!((one.errors[1] - SAFETY * 0.5).abs() < 1e-12);
        let none = of_errors(&[2.0, 3.0, 4.0], &[0.0, 0.0, 0.0], ORDERS);
        assert_eq!(none.errors, [0.0; 3]);
        let wild = of_errors(&[2.0, 3.0, 4.0], &[0.1, 0.0, 0.2], ORDERS);
        assert_eq!(wild.basis, Basis::Irregular);
        assert!(wild.of_user() > 0.2);
        assert_eq!(estimate(&[2.0], &[], &[], ORDERS), None);
    }
}
