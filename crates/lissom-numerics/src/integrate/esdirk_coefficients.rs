//! Coefficients of ESDIRK5(4)7L\[2\]SA2.
//!
//! Source: Kennedy & Carpenter, "Diagonally implicit Runge–Kutta methods for stiff ODEs", *Applied Numerical Mathematics* 146 (2019)
//! 221–244.

/// Number of stages, the explicit first one included.
pub(super) const STAGES: usize = 7;

/// $`\gamma`$, the diagonal of every stage but the first.
pub(super) const DIAGONAL: f64 = 23.0 / 125.0;

/// $`c`$ of every stage.
pub(super) const NODES: [f64; STAGES] = [
    0.0,
    46.0 / 125.0,
    7_121_331_996_143.0 / 11_335_814_405_378.0,
    49.0 / 353.0,
    3_706_679_970_760.0 / 5_295_570_149_437.0,
    347.0 / 382.0,
    1.0,
];

/// $`a_{ij}`$ left of the diagonal but for the first column; the last row is $`b`$.
const INNER: [[f64; STAGES - 2]; STAGES] = [
    [0.0; 5],
    [0.0; 5],
    [791_020_047_304.0 / 3_561_426_431_547.0, 0.0, 0.0, 0.0, 0.0],
    [
        -158_159_076_358.0 / 11_257_294_102_345.0,
        -85_517_644_447.0 / 5_003_708_988_389.0,
        0.0,
        0.0,
        0.0,
    ],
    [
        -1_653_327_111_580.0 / 4_048_416_487_981.0,
        1_514_767_744_496.0 / 9_099_671_765_375.0,
        14_283_835_447_591.0 / 12_247_432_691_556.0,
        0.0,
        0.0,
    ],
    [
        -4_540_011_970_825.0 / 8_418_487_046_959.0,
        -1_790_937_573_418.0 / 7_393_406_387_169.0,
        10_819_093_665_085.0 / 7_266_595_846_747.0,
        4_109_463_131_231.0 / 7_386_972_500_302.0,
        0.0,
    ],
    [
        -188_593_204_321.0 / 4_778_616_380_481.0,
        2_809_310_203_510.0 / 10_304_234_040_467.0,
        1_021_729_336_898.0 / 2_364_210_264_653.0,
        870_612_361_811.0 / 2_470_410_392_208.0,
        -1_307_970_675_534.0 / 8_059_683_598_661.0,
    ],
];

/// $`a_{ij}`$ left of the diagonal; the last row, with the diagonal, is $`b`$.
pub(super) const COEFFICIENTS: [[f64; STAGES - 1]; STAGES] = {
    let mut coefficients = [[0.0; STAGES - 1]; STAGES];
    let mut stage = 1;
    while stage < STAGES {
        // rows add up to the nodes
        let mut first = NODES[stage] - DIAGONAL;
        let mut column = 1;
        while column < stage {
            let entry = INNER[stage][column - 1];
            coefficients[stage][column] = entry;
            first -= entry;
            column += 1;
        }
        coefficients[stage][0] = first;
        stage += 1;
    }
    coefficients
};

/// $`\hat b`$ of the embedded method of order 4.
const EMBEDDED: [f64; STAGES] = {
    let mut embedded = [
        1.0,
        -582_099_335_757.0 / 7_214_068_459_310.0,
        615_023_338_567.0 / 3_362_626_566_945.0,
        3_192_122_436_311.0 / 6_174_152_374_399.0,
        6_156_034_052_041.0 / 14_430_468_657_929.0,
        -1_011_318_518_279.0 / 9_693_750_372_484.0,
        1_914_490_192_573.0 / 13_754_262_428_401.0,
    ];
    let mut stage = 1;
    while stage < STAGES {
        embedded[0] -= embedded[stage];
        stage += 1;
    }
    embedded
};

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

/// $`e`$, the weights of the derivatives in what is added to the cubic between the ends of a step: of all that make it one of order 4, those with
/// the smallest sum of squares.
pub(super) const MIDDLE: [f64; STAGES] = [
    -1.681_711_057_314_288_6,
    2.329_264_413_981_875_7,
    -0.898_931_831_751_719_6,
    1.510_968_766_974_479_1,
    -2.808_229_307_153_766_7,
    0.929_669_674_669_692_7,
    0.618_969_340_593_727_7,
];

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

    fn product(x: [f64; STAGES], y: [f64; STAGES]) -> [f64; STAGES] {
        std::array::from_fn(|i| x[i] * y[i])
    }

    fn powers(p: i32) -> [f64; STAGES] {
        NODES.map(|c| c.powi(p))
    }

    fn dot(weights: [f64; STAGES], x: [f64; STAGES]) -> f64 {
        product(weights, x).iter().sum()
    }

    /// What is left of the conditions of orders 1 to 5 for a row of weights: one of order 1, one of order 2, two of order 3, four of
    /// order 4, nine of order 5.
    fn conditions(weights: [f64; STAGES]) -> [f64; 17] {
        let slope = times(NODES);
        let conditions = [
            (powers(0), 1.0),
            (NODES, 2.0),
            (powers(2), 3.0),
            (slope, 6.0),
            (powers(3), 4.0),
            (product(NODES, slope), 8.0),
            (times(powers(2)), 12.0),
            (times(slope), 24.0),
            (powers(4), 5.0),
            (product(powers(2), slope), 10.0),
            (product(slope, slope), 20.0),
            (product(NODES, times(powers(2))), 15.0),
            (product(NODES, times(slope)), 30.0),
            (times(powers(3)), 20.0),
            (times(product(NODES, slope)), 40.0),
            (times(times(powers(2))), 60.0),
            (times(times(slope)), 120.0),
        ];
        conditions.map(|(sums, density)| dot(weights, sums) - 1.0 / density)
    }

    /// Closed form: the conditions of order of Butcher's theory.
    #[test]
    fn the_method_is_of_order_five_and_the_embedded_one_of_order_four() {
        for (row, node) in times([1.0; STAGES]).into_iter().zip(NODES) {
            assert!((row - node).abs() < 1e-15, "{row} is not {node}");
        }
        let weights = std::array::from_fn(|i| EMBEDDED[i] + ERROR[i]);
        assert!(conditions(weights).iter().all(|left| left.abs() < 1e-15));
        let embedded = conditions(EMBEDDED);
        assert!(embedded[..8].iter().all(|left| left.abs() < 1e-15));
        assert!(embedded[8..].iter().any(|left| left.abs() > 1e-3));
    }

    /// Closed form: of the conditions of order 4 at $`t + \theta h`$, what stands with $`\theta^4`$. The stages are of order 2, so that the
    /// other conditions follow from these.
    #[test]
    fn the_interpolant_is_of_order_four() {
        for (sums, wanted) in [
            (powers(0), 0.0),
            (NODES, 0.0),
            (powers(2), 0.0),
            (powers(3), 1.0 / 4.0),
            (times(powers(2)), 1.0 / 12.0),
        ] {
            let found = dot(MIDDLE, sums);
            assert!((found - wanted).abs() < 1e-14, "{found} is not {wanted}");
        }
        for (stage, slope) in times(NODES).into_iter().enumerate() {
            assert!((slope - NODES[stage].powi(2) / 2.0).abs() < 1e-15);
        }
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
                size < 1.0 && error < 0.3,
                "{size} and {error} at {frequency}"
            );
        }
        assert!(end(Complex::new(-1e9, 0.0)).0 < 1e-7);
        assert!(end(Complex::new(0.0, 1e9)).0 < 1e-7);
    }
}
