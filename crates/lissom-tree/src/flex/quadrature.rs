//! Gauss–Legendre quadrature: the points and weights every integral along a beam is taken with.

use std::f64::consts::PI;

/// More points or intervals than any representable basis needs: keeps absurd wave numbers from running
/// forever before they are reported.
const MOST_POINTS: f64 = 1000.0;

/// Points and weights of the Gauss–Legendre rule with `count` points on `[-1, 1]`, in rising order.
///
/// Exact for polynomials up to degree `2 count - 1`.
pub(super) fn gauss_legendre(count: usize) -> Vec<(f64, f64)> {
    let n = count as f64;
    (0..count)
        .map(|k| {
            // asymptotic root, then Newton; the iteration stops at rounding or after a fixed number of steps
            let mut x = -((k as f64 + 0.75) * PI / (n + 0.5)).cos();
            for _ in 0..20 {
                let (value, slope) = legendre_with_slope(count, x);
                let step = value / slope;
                x -= step;
                if step.abs() <= f64::EPSILON {
                    break;
                }
            }
            let (_, slope) = legendre_with_slope(count, x);
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

/// The whole number at or above `value`, at most [`MOST_POINTS`].
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is cut to a range that fits first"
)]
pub(super) fn whole_number(value: f64) -> usize {
    value.ceil().clamp(0.0, MOST_POINTS) as usize
}

/// Legendre polynomials $`L_0 \dots L_{degree}`$ at `x`.
pub(super) fn legendre(degree: usize, x: f64) -> Vec<f64> {
    let mut values = Vec::with_capacity(degree + 1);
    values.push(1.0);
    if degree > 0 {
        values.push(x);
    }
    for k in 2..=degree {
        let order = k as f64;
        values.push(
            ((2.0 * order - 1.0) * x * values[k - 1] - (order - 1.0) * values[k - 2]) / order,
        );
    }
    values
}

/// $`L_n(x)`$ and its derivative, for `x` inside the interval.
fn legendre_with_slope(degree: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (0.0, 1.0);
    for k in 1..=degree {
        let order = k as f64;
        (before, value) = (
            value,
            ((2.0 * order - 1.0) * x * value - (order - 1.0) * before) / order,
        );
    }
    let slope = degree as f64 * (x * value - before) / (x * x - 1.0);
    (value, slope)
}

#[cfg(test)]
mod tests {
    use super::gauss_legendre;

    /// A few units in the last place times the number of points.
    const ROUNDING: f64 = 1e-14;

    /// Closed form: a rule with n points integrates `x^(2n-2)` to `2 / (2n - 1)`.
    #[test]
    fn highest_even_power_is_integrated_exactly() {
        for count in 1..60_i32 {
            let power = 2 * count - 2;
            let found: f64 = gauss_legendre(count.unsigned_abs() as usize)
                .iter()
                .map(|&(x, weight)| weight * x.powi(power))
                .sum();
            let exact = 2.0 / f64::from(power + 1);
            assert!(
                (found - exact).abs() < ROUNDING,
                "{count} points: {found} against {exact}"
            );
        }
    }
}
