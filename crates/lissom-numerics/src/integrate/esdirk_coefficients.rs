//! Coefficients of the implicit half of ARK4(3)6L\[2\]SA.
//!
//! Source: Kennedy & Carpenter, "Additive Runge–Kutta schemes for convection–diffusion–reaction equations", *Applied Numerical
//! Mathematics* 44 (2003) 139–181, appendix C.

/// Number of stages, the explicit first one included.
pub(super) const STAGES: usize = 6;

/// $`\gamma`$, the diagonal of every stage but the first.
pub(super) const DIAGONAL: f64 = 0.25;

/// $`c`$ of every stage.
pub(super) const NODES: [f64; STAGES] = [0.0, 0.5, 83.0 / 250.0, 31.0 / 50.0, 17.0 / 20.0, 1.0];

/// $`a_{ij}`$ left of the diagonal; the last row, with the diagonal, is $`b`$.
pub(super) const COEFFICIENTS: [[f64; STAGES - 1]; STAGES] = [
    [0.0; 5],
    [0.25, 0.0, 0.0, 0.0, 0.0],
    [8611.0 / 62500.0, -1743.0 / 31250.0, 0.0, 0.0, 0.0],
    [
        5_012_029.0 / 34_652_500.0,
        -654_441.0 / 2_922_500.0,
        174_375.0 / 388_108.0,
        0.0,
        0.0,
    ],
    [
        15_267_082_809.0 / 155_376_265_600.0,
        -71_443_401.0 / 120_774_400.0,
        730_878_875.0 / 902_184_768.0,
        2_285_395.0 / 8_070_912.0,
        0.0,
    ],
    [
        82_889.0 / 524_892.0,
        0.0,
        15_625.0 / 83_664.0,
        69_875.0 / 102_672.0,
        -2_260.0 / 8_211.0,
    ],
];

/// $`\hat b`$ of the embedded method of order 3.
const EMBEDDED: [f64; STAGES] = [
    4_586_570_599.0 / 29_645_900_160.0,
    0.0,
    178_811_875.0 / 945_068_544.0,
    814_220_225.0 / 1_159_782_912.0,
    -3_700_637.0 / 11_593_932.0,
    61_727.0 / 225_920.0,
];

/// $`b - \hat b`$.
pub(super) const ERROR: [f64; STAGES] = {
    let mut error = [0.0; STAGES];
    let mut stage = 0;
    while stage < STAGES - 1 {
        error[stage] = COEFFICIENTS[STAGES - 1][stage] - EMBEDDED[stage];
        stage += 1;
    }
    error[STAGES - 1] = DIAGONAL - EMBEDDED[STAGES - 1];
    error
};

#[cfg(test)]
mod tests {
    use super::*;

    /// $`A x`$.
    fn times(x: [f64; STAGES]) -> [f64; STAGES] {
        std::array::from_fn(|i| {
            let diagonal = if i == 0 { 0.0 } else { DIAGONAL * x[i] };
            (0..i).fold(diagonal, |sum, j| sum + COEFFICIENTS[i][j] * x[j])
        })
    }

    /// What is left of the conditions of orders 1 to 4 for a row of weights: one of order 1, one of order 2, two of order 3, four of
    /// order 4.
    fn conditions(weights: [f64; STAGES]) -> [f64; 8] {
        let dot = |x: [f64; STAGES]| (0..STAGES).map(|i| weights[i] * x[i]).sum::<f64>();
        let power = |p: i32| NODES.map(|c| c.powi(p));
        let slope = times(NODES);
        let product = std::array::from_fn(|i| NODES[i] * slope[i]);
        [
            dot(power(0)) - 1.0,
            dot(NODES) - 1.0 / 2.0,
            dot(power(2)) - 1.0 / 3.0,
            dot(slope) - 1.0 / 6.0,
            dot(power(3)) - 1.0 / 4.0,
            dot(product) - 1.0 / 8.0,
            dot(times(power(2))) - 1.0 / 12.0,
            dot(times(slope)) - 1.0 / 24.0,
        ]
    }

    /// Closed form: the conditions of order of Butcher's theory.
    #[test]
    fn the_method_is_of_order_four_and_the_embedded_one_of_order_three() {
        for (row, node) in times([1.0; STAGES]).into_iter().zip(NODES) {
            assert!((row - node).abs() < 1e-15, "{row} is not {node}");
        }
        let weights = std::array::from_fn(|i| EMBEDDED[i] + ERROR[i]);
        assert!(conditions(weights).iter().all(|left| left.abs() < 1e-15));
        let embedded = conditions(EMBEDDED);
        assert!(embedded[..4].iter().all(|left| left.abs() < 1e-15));
        assert!(embedded[4..].iter().all(|left| left.abs() > 1e-4));
    }

    /// Closed form: $`\dot y = \lambda y`$ far from the imaginary axis and on it. Nothing is left of what is infinitely fast, and the
    /// estimate of its error stays bounded.
    #[test]
    fn stiff_modes_are_damped_and_their_error_is_bounded() {
        use nalgebra::Complex;
        let end = |z: Complex<f64>| {
            let mut stages = [Complex::new(1.0, 0.0); STAGES];
            let mut error = z * ERROR[0];
            for i in 1..STAGES {
                let mut sum = Complex::new(1.0, 0.0);
                for j in 0..i {
                    sum += z * COEFFICIENTS[i][j] * stages[j];
                }
                stages[i] = sum / (Complex::new(1.0, 0.0) - z * DIAGONAL);
                error += z * ERROR[i] * stages[i];
            }
            (stages[STAGES - 1].norm(), error.norm())
        };
        for frequency in [0.1, 1.0, 3.0, 10.0, 100.0, 1e4, 1e8] {
            let (size, error) = end(Complex::new(0.0, frequency));
            assert!(
                size < 1.0 && error < 0.2,
                "{size} and {error} at {frequency}"
            );
        }
        assert!(end(Complex::new(-1e9, 0.0)).0 < 1e-7);
        assert!(end(Complex::new(0.0, 1e9)).0 < 1e-7);
    }
}
