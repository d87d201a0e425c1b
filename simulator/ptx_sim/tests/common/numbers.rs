//! Numbers that look random, the same each time (SplitMix64).

/// The distance between the counters of two numbers.
pub const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes the bits of a word.
pub fn scramble(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The number at a place in the stream that begins at 0.
pub fn number(place: u64) -> u64 {
    scramble(place.wrapping_mul(STEP))
}

/// A stream of numbers.
pub struct Numbers(pub u64);

impl Numbers {
    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        scramble(self.0)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.draw() >> 33) % n as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

impl Iterator for Numbers {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.draw())
    }
}

/// `n` numbers from `-scale` to `scale`.
pub fn reals(seed: u64, n: usize, scale: f64) -> Vec<f64> {
    let unit = |bits: u64| (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    Numbers(seed).take(n).map(|r| unit(r) * scale).collect()
}

/// The same in single precision.
pub fn singles(seed: u64, n: usize, scale: f64) -> Vec<f32> {
    reals(seed, n, scale)
        .into_iter()
        .map(|x| x as f32)
        .collect()
}
