//! Random numbers that a seed determines for ever.

/// A stream of numbers that is the same on every machine: `SplitMix64` \[Steele, Lea & Flood 2014\].
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number between `low` and `high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        low + (high - low) * unit
    }

    /// A number between `-size` and `size`.
    pub fn signed(&mut self, size: f64) -> f64 {
        self.uniform(-size, size)
    }

    /// Three numbers between `-size` and `size`.
    pub fn vector(&mut self, size: f64) -> [f64; 3] {
        std::array::from_fn(|_| self.signed(size))
    }

    /// `count` numbers between `-size` and `size`.
    pub fn list(&mut self, count: usize, size: f64) -> Vec<f64> {
        (0..count).map(|_| self.signed(size)).collect()
    }

    /// An integer below `count`, which is not zero.
    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.bits() % count as u64).unwrap_or(0)
    }

    /// True once in `count` times.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Three numbers whose vector is not short.
    pub(super) fn axis(&mut self) -> [f64; 3] {
        let mut axis = self.vector(1.0);
        axis[self.below(3)] += 1.5;
        axis
    }
}
