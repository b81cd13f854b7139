//! Random numbers that are a function of seed, stream and place: no number depends on how many were drawn before it, or by whom.
//!
//! Bits are those of Philox4x32-10 \[Salmon, Moraes, Dror & Shaw, Parallel random numbers: as easy as 1, 2, 3, 2011\].

/// The numbers of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    seed: u64,
}

impl Random {
    /// Those of this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    fn bits(self, stream: u32, purpose: u32, place: u64) -> u64 {
        let [key_low, key_high] = halves(self.seed);
        let [low, high] = halves(place);
        let [a, b, ..] = philox([low, high, stream, purpose], [key_low, key_high]);
        u64::from(a) << 32 | u64::from(b)
    }

    /// A number above 0 and below 1: the middle of one of 2⁵² equal parts.
    pub fn unit(self, stream: u32, place: u64) -> f64 {
        const PARTS: f64 = (1_u64 << 52) as f64;
        ((self.bits(stream, 0, place) >> 12) as f64 + 0.5) / PARTS
    }

    /// The numbers below `count` in an order by chance \[Durstenfeld 1964\].
    pub fn order(self, stream: u32, count: usize) -> Vec<usize> {
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
