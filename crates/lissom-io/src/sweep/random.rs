//! Random numbers that are a function of seed, stream and place: no number depends on how many were drawn before it, or by whom.
//!
//! Bits are those of Philox4x32-10 \[Salmon, Moraes, Dror & Shaw, Parallel random numbers: as easy as 1, 2, 3, 2011\]; normal numbers are
//! the inverse of the distribution \[Wichura, Algorithm AS 241, 1988\] at uniform ones, good to about 1e-16.

/// The numbers of a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random {
    seed: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed }
    }

    fn bits(self, stream: u32, purpose: u32, place: u64) -> u64 {
        let [key_low, key_high] = halves(self.seed);
        let [low, high] = halves(place);
        let [a, b, ..] = philox([low, high, stream, purpose], [key_low, key_high]);
        u64::from(a) << 32 | u64::from(b)
    }

    /// A number above 0 and below 1: the middle of one of 2⁵² equal parts.
    pub(super) fn unit(self, stream: u32, place: u64) -> f64 {
        const PARTS: f64 = (1_u64 << 52) as f64;
        ((self.bits(stream, 0, place) >> 12) as f64 + 0.5) / PARTS
    }

    /// The numbers below `count` in an order by chance \[Durstenfeld 1964\].
    pub(super) fn order(self, stream: u32, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            // the bias of the remainder is below count / 2⁶⁴
            let other = self.bits(stream, 1, last as u64) % (last as u64 + 1);
            order.swap(last, usize::try_from(other).unwrap_or(last));
        }
        order
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    const ROUNDS: usize = 10;
    const FACTORS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
    const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
    for _ in 0..ROUNDS {
        let [low_0, high_0] = halves(FACTORS[0] * u64::from(counter[0]));
        let [low_1, high_1] = halves(FACTORS[1] * u64::from(counter[2]));
        counter = [
            high_1 ^ counter[1] ^ key[0],
            low_1,
            high_0 ^ counter[3] ^ key[1],
            low_0,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// The number that a standard normal variable stays below with a probability between 0 and 1.
pub(super) fn normal_quantile(probability: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers that come with the authors' library Random123.
    #[test]
    fn bits_are_those_of_philox() {
        let ones = u32::MAX;
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        for (counter, key, expected) in [
            (
                [0; 4],
                [0; 2],
                [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
            ),
            (
                [ones; 4],
                [ones; 2],
                [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
            ),
            (
                pi,
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ] {
            assert_eq!(philox(counter, key), expected);
        }
    }

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

    /// Definition, and mean and variance of uniform numbers within five standard errors.
    #[test]
    fn orders_and_numbers_are_spread_out() {
        const COUNT: usize = 10_000;
        let random = Random::new(3);
        let mut order = random.order(7, 100);
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
        let numbers: Vec<f64> = (0..COUNT as u64).map(|at| random.unit(1, at)).collect();
        let mean = numbers.iter().sum::<f64>() / COUNT as f64;
        let square = numbers.iter().map(|x| (x - 0.5) * (x - 0.5)).sum::<f64>() / COUNT as f64;
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / COUNT as f64).sqrt());
        assert!((square - 1.0 / 12.0).abs() < 5.0 * (1.0 / 180.0 / COUNT as f64).sqrt());
        assert_ne!(random.unit(1, 0), random.unit(2, 0));
        assert_ne!(random.unit(1, 0), Random::new(4).unit(1, 0));
    }
}
