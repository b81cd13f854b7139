//! Quantiles: what a random number stays below with a given probability.

use std::f64::consts::FRAC_2_PI;

/// The number that a standard normal variable stays below with a probability between 0 and 1 \[Wichura, Algorithm AS 241, 1988\], good to about
/// 1e-16.
pub fn normal_quantile(probability: f64) -> f64 {
    let from_middle = probability - 0.5;
    if from_middle.abs() <= 0.425 {
        let r = 0.180_625 - from_middle * from_middle;
        return from_middle * ratio(&MIDDLE, r);
    }
    let tail = if from_middle < 0.0 {
        probability
    } else {
        1.0 - probability
    };
    let r = (-tail.ln()).sqrt();
    let size = if r <= 5.0 {
        ratio(&SIDE, r - 1.6)
    } else {
        ratio(&FAR, r - 5.0)
    };
    size.copysign(from_middle)
}

/// Numerator and denominator, highest powers first.
type Ratio = [[f64; 8]; 2];

fn ratio([above, below]: &Ratio, x: f64) -> f64 {
    let polynomial = |factors: &[f64; 8]| factors.iter().fold(0.0, |sum, factor| sum * x + factor);
    polynomial(above) / polynomial(below)
}

/// For probabilities between 0.075 and 0.925.
const MIDDLE: Ratio = [
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
];
/// Outside of these, to 1.4e-11 from the ends.
const SIDE: Ratio = [
    [
        0.000_774_545_014_278_341_4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-09,
        0.000_547_593_808_499_534_5,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];
/// Closer to the ends.
const FAR: Ratio = [
    [
        2.010_334_399_292_288_1e-07,
        2.711_555_568_743_487_6e-05,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_7e-15,
        1.421_511_758_316_446e-07,
        1.846_318_317_510_054_8e-05,
        0.000_786_869_131_145_613_3,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
        1.0,
    ],
];

/// The number that a variable of Student's distribution stays below with a probability of at least ½ and below 1.
///
/// In $`\theta = \arctan(t/\sqrt n)`$ the probability of $`|t|`$ bends downwards, so that Newton's steps from zero come from below and never go too far.
pub fn student_quantile(probability: f64, freedom: usize) -> f64 {
    /// A handful is enough, each squares what is missing; the rest is for rounding that goes round and round.
    const MOST_STEPS: usize = 100;
    let mut angle = 0.0_f64;
    for _ in 0..MOST_STEPS {
        let (within, rate) = student_within(angle, freedom);
        let next = angle + (2.0 * probability - 1.0 - within) / rate;
        if next.is_nan() || next <= angle {
            break;
        }
        angle = next;
    }
    (freedom as f64).sqrt() * angle.tan()
}

/// The probability of $`|t| < \sqrt n\,\tan\theta`$ with its derivative by the angle: finite sums \[Abramowitz & Stegun 26.7.3, 26.7.4\].
fn student_within(angle: f64, freedom: usize) -> (f64, f64) {
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    let (mut power, mut term) = if is_odd { (1, cosine) } else { (0, 1.0) };
    let mut sum = 0.0;
    while power < freedom {
        sum += term;
        power += 2;
        term *= (power - 1) as f64 / power as f64 * cosine * cosine;
    }
    let rate = freedom as f64 * term / cosine;
    if is_odd {
        (FRAC_2_PI * (angle + sine * sum), FRAC_2_PI * rate)
    } else {
        (sine * sum, rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed: quantiles of tables with sixteen digits, one from each part of the algorithm.
    #[test]
    fn normal_numbers_are_quantiles() {
        /// The algorithm is good to 1e-16; two roundings are added.
        const DIGITS: f64 = 4e-16;
        for (probability, expected) in [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_081_7),
            (0.975, 1.959_963_984_540_054),
            (1e-3, -3.090_232_306_167_813_5),
            (1e-20, -9.262_340_089_798_408),
        ] {
            let found = normal_quantile(probability);
            assert!(
                (found - expected).abs() <= DIGITS * f64::max(1.0, expected.abs()),
                "{found} {expected}"
            );
        }
    }

    /// Computed by SciPy 1.17 (`scipy.stats.t.ppf`), for 1 to 200 degrees of freedom.
    #[test]
    fn quantiles_of_student_are_those_of_scipy() {
        /// SciPy's own are good to some 1e-12.
        const SCIPY: f64 = 1e-10;
        let table = include_str!("distribution/student.csv");
        let mut lines = table.lines();
        let numbers = |line: &str| -> Vec<f64> {
            line.split(',')
                .skip(1)
                .map(|cell| cell.parse().unwrap())
                .collect()
        };
        let probabilities = numbers(lines.next().unwrap());
        let mut count = 0;
        for (freedom, line) in (1..).zip(lines) {
            for (&probability, expected) in probabilities.iter().zip(numbers(line)) {
                let found = student_quantile(probability, freedom);
                let ratio = found / expected;
                assert!(
                    (ratio - 1.0).abs() < SCIPY,
                    "{freedom} {probability}: {found} {expected}"
                );
                count += 1;
            }
        }
        assert_eq!(count, 200 * 5);
        // that of the normal distribution where there are very many: 1/n is left
        let many = student_quantile(0.975, 1_000_000);
        assert!((many / normal_quantile(0.975) - 1.0).abs() < 2e-6);
        assert_eq!(student_quantile(0.5, 3), 0.0);
    }
}
