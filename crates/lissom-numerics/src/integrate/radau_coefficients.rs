//! Coefficients of the three-stage Radau IIA method of order 5.
//!
//! Source: Hairer & Wanner, *Solving Ordinary Differential Equations II*, 2nd ed., section IV.8. The
//! inverse of the coefficient matrix is brought to block-diagonal form,
//!
//! ```math
//! T^{-1} A^{-1} T = \begin{pmatrix} \mu & & \\ & \Re\lambda & -\Im\lambda \\ & \Im\lambda & \Re\lambda \end{pmatrix} ,
//! ```
//!
//! so that a Newton step solves one real and one complex system instead of one three times as large.
#![allow(
    clippy::unreadable_literal,
    reason = "the digits are checked against tables, not read"
)]

const SQRT_6: f64 = 2.449489742783178;

/// $`c`$: where the stages lie in the step.
pub(super) const NODES: [f64; 3] = [(4.0 - SQRT_6) / 10.0, (4.0 + SQRT_6) / 10.0, 1.0];

/// The real eigenvalue $`\mu = 3 + 3^{2/3} - 3^{1/3}`$ of $`A^{-1}`$.
pub(super) const REAL_EIGENVALUE: f64 = 3.637834252744496;

/// Real and imaginary part of $`\lambda = 3 + (3^{1/3} - 3^{2/3})/2 - i\,(3^{5/6} + 3^{7/6})/2`$.
pub(super) const COMPLEX_EIGENVALUE: (f64, f64) = (2.6810828736277523, -3.0504301992474105);

/// $`T`$ by rows: stages from transformed stages.
pub(super) const FROM_TRANSFORMED: [[f64; 3]; 3] = [
    [
        0.09443876248897524,
        -0.1412552950209542,
        0.03002919410514742,
    ],
    [0.2502131229653333, 0.20412935229379994, -0.3829421127572619],
    [1.0, 1.0, 0.0],
];

/// $`T^{-1}`$ by rows.
pub(super) const TO_TRANSFORMED: [[f64; 3]; 3] = [
    [4.178718591551904, 0.3276828207610624, 0.5233764454994495],
    [-4.178718591551904, -0.3276828207610624, 0.4766235545005504],
    [0.5028726349457868, -2.571926949855605, 0.5960392048282249],
];

/// Weights of the stages in the error estimate, with $`\gamma_0 = 1/\mu`$ divided out.
pub(super) const ERROR: [f64; 3] = [
    (-13.0 - 7.0 * SQRT_6) / 3.0,
    (-13.0 + 7.0 * SQRT_6) / 3.0,
    -1.0 / 3.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of numbers of order ten given to sixteen digits.
    const ROUNDING: f64 = 1e-13;

    /// $`A`$ by rows, table IV.5.6.
    fn coefficients() -> [[f64; 3]; 3] {
        let r = SQRT_6;
        [
            [
                (88.0 - 7.0 * r) / 360.0,
                (296.0 - 169.0 * r) / 1800.0,
                (-2.0 + 3.0 * r) / 225.0,
            ],
            [
                (296.0 + 169.0 * r) / 1800.0,
                (88.0 + 7.0 * r) / 360.0,
                (-2.0 - 3.0 * r) / 225.0,
            ],
            [(16.0 - r) / 36.0, (16.0 + r) / 36.0, 1.0 / 9.0],
        ]
    }

    fn product(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
        std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
    }

    #[test]
    fn the_coefficients_integrate_polynomials() {
        // closed form: simplifying assumptions C(3) and B(5), IV.5
        let a = coefficients();
        for row in 0..3 {
            for power in 1..=3 {
                let sum: f64 = (0..3).map(|j| a[row][j] * NODES[j].powi(power - 1)).sum();
                assert!((sum - NODES[row].powi(power) / f64::from(power)).abs() < ROUNDING);
            }
        }
        for power in 1..=5 {
            let sum: f64 = (0..3).map(|j| a[2][j] * NODES[j].powi(power - 1)).sum();
            assert!((sum - 1.0 / f64::from(power)).abs() < ROUNDING);
        }
    }

    #[test]
    fn the_transformation_block_diagonalises() {
        // identity: T⁻¹ T = 1 and A T D = T
        let (alpha, beta) = COMPLEX_EIGENVALUE;
        let blocks = [
            [REAL_EIGENVALUE, 0.0, 0.0],
            [0.0, alpha, -beta],
            [0.0, beta, alpha],
        ];
        let unit = product(&TO_TRANSFORMED, &FROM_TRANSFORMED);
        let from = product(&product(&coefficients(), &FROM_TRANSFORMED), &blocks);
        for i in 0..3 {
            for j in 0..3 {
                assert!((unit[i][j] - f64::from(u8::from(i == j))).abs() < ROUNDING);
                assert!((from[i][j] - FROM_TRANSFORMED[i][j]).abs() < ROUNDING);
            }
        }
        let cube_root = 3.0_f64.cbrt();
        assert!((REAL_EIGENVALUE - (3.0 + cube_root * cube_root - cube_root)).abs() < ROUNDING);
    }

    #[test]
    fn the_error_estimate_is_of_third_order() {
        // closed form: f(0) + Σ e_i z_i / h vanishes for f = t^(power-1) with power up to 3, where
        // z_i = (c_i h)^power / power and f(0) is one for power 1, else zero
        for power in 1..=3 {
            let sum: f64 = (0..3)
                .map(|i| ERROR[i] * NODES[i].powi(power) / f64::from(power))
                .sum();
            let wanted = if power == 1 { -1.0 } else { 0.0 };
            assert!((sum - wanted).abs() < ROUNDING, "{power}: {sum}");
        }
    }
}
