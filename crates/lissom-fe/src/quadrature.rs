//! Gauss points on the line.

/// Places and weights on -1 to 1, exact for polynomials of degree 2n - 1.
pub(crate) fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let place = |i: usize| {
        let mut x = -(std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            let (mut before, mut value) = (1.0, x);
            for k in 2..=n {
                let k = k as f64;
                (before, value) = (
                    value,
                    ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k,
                );
            }
            slope = n as f64 * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..n).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::gauss_legendre;

    /// Closed form: powers up to the degree that the rule is exact for.
    #[test]
    fn powers_are_integrated_exactly() {
        for n in 2..9 {
            for power in 0..2 * n {
                let sum: f64 = (gauss_legendre(n).iter())
                    .map(|&(x, weight)| weight * x.powi(i32::try_from(power).unwrap()))
                    .sum();
                let exact = if power % 2 == 0 {
                    2.0 / (power as f64 + 1.0)
                } else {
                    0.0
                };
                assert!((sum - exact).abs() < 1e-14, "{n} {power}: {sum} {exact}");
            }
        }
    }
}
