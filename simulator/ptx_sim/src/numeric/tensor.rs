//! Products of tensor cores in addition to the sums of [`mma`](super::mma): integers, bits, `f64`,
//! and products for which GPUs no longer have a unit.
//!
//! Everything is as an H200 computes it: `tests/measured` compares every type and shape,
//! bit for bit.

use super::Rounding;
use super::float;
use super::half::F16;
use super::mma::Accumulator;

/// A product of integers of 4 or 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integers {
    /// Bits of a factor.
    pub n_bits: u32,
    /// Whether the factors of A have a sign.
    pub a_signed: bool,
    /// Whether those of B have one.
    pub b_signed: bool,
    /// `.satfinite`: the sum is limited to 32 bits instead of cut.
    pub saturates: bool,
}

impl Integers {
    /// Σ a·b + c over the factors in some words.
    pub fn dot(self, a: &[u32], b: &[u32], c: u32) -> u32 {
        let products = match (self.n_bits, self.a_signed, self.b_signed) {
            (8, false, false) => products::<8, false, false>(a, b),
            (8, false, true) => products::<8, false, true>(a, b),
            (8, true, false) => products::<8, true, false>(a, b),
            (8, true, true) => products::<8, true, true>(a, b),
            (_, false, false) => products::<4, false, false>(a, b),
            (_, false, true) => products::<4, false, true>(a, b),
            (_, true, false) => products::<4, true, false>(a, b),
            (_, true, true) => products::<4, true, true>(a, b),
        };
        let sum = i64::from(products) + i64::from(c as i32);
        if self.saturates {
            sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32
        } else {
            sum as u32
        }
    }
}

/// Σ a·b, which fits a word: no instruction has more than 64 products.
fn products<const BITS: u32, const A: bool, const B: bool>(a: &[u32], b: &[u32]) -> i32 {
    let factor = |word: u32, place: u32, signed: bool| {
        let high = word << (32 - BITS - place);
        if signed {
            high as i32 >> (32 - BITS)
        } else {
            (high >> (32 - BITS)) as i32
        }
    };
    let mut sum = 0;
    for (&a, &b) in a.iter().zip(b) {
        for i in 0..32 / BITS {
            sum += factor(a, BITS * i, A) * factor(b, BITS * i, B);
        }
    }
    sum
}

/// How bits of A and B are combined before they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitProduct {
    /// `.xor.popc`
    Xor,
    /// `.and.popc`
    And,
}

impl BitProduct {
    /// The number of bits set in the combination of some words, plus `c`.
    pub fn dot(self, a: &[u32], b: &[u32], c: u32) -> u32 {
        let products = a.iter().zip(b).map(|(a, b)| match self {
            Self::Xor => (a ^ b).count_ones(),
            Self::And => (a & b).count_ones(),
        });
        products.fold(c, u32::wrapping_add)
    }
}

/// Σ a·b + c in `f64`: a product is added at a time, rounded once.
pub fn dot_f64(a: &[f64], b: &[f64], c: f64, rounding: Rounding) -> f64 {
    a.iter()
        .zip(b)
        .fold(c, |sum, (&a, &b)| float::fma(a, b, sum, rounding))
}

/// `mma.m8n8k4` of `f16`, which ptxas has implemented by other instructions since sm_80:
/// the bits of C and of the result as their types have them.
///
/// With sums in `f32` the products are added one after the other, and C last. With
/// sums in `f16` pairs of products are added to C, one after the other, in `f32`.
pub fn dot_quad(a: [u16; 4], b: [u16; 4], c: u32, types: (Accumulator, Accumulator)) -> u32 {
    let nearest = Rounding::NearestEven;
    let [a, b] = [a, b].map(|x| x.map(|bits| F16(bits).to_f32()));
    let (c_type, d_type) = types;
    let c = match c_type {
        Accumulator::F16 => F16(c as u16).to_f32(),
        Accumulator::F32 => f32::from_bits(c),
    };
    let fma = |i: usize, sum| float::fma(a[i], b[i], sum, nearest);
    match d_type {
        Accumulator::F32 => {
            let sum = (0..4).fold(0.0, |sum, i| fma(i, sum));
            float::add(c, sum, nearest).to_bits()
        }
        Accumulator::F16 => {
            let pair = |i: usize| fma(i + 1, float::mul(a[i], b[i], nearest));
            let sum = float::add(c, pair(0), nearest);
            let sum = float::add(sum, pair(2), nearest);
            u32::from(F16::from_f32(sum).0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_four_and_eight_bits() {
        let bytes = Integers {
            n_bits: 8,
            a_signed: true,
            b_signed: false,
            saturates: false,
        };
        assert_eq!(
            bytes.dot(&[0xFF01_8002], &[0xFF02_0103], 10) as i32,
            6 - 128 + 2 - 255 + 10
        );
        let nibbles = Integers {
            n_bits: 4,
            a_signed: false,
            b_signed: true,
            saturates: true,
        };
        assert_eq!(
            nibbles.dot(&[0xF000_0012], &[0xF000_0038], 0) as i32,
            -15 + 3 - 16
        );
        assert_eq!(
            nibbles.dot(&[0xF], &[0x7], i32::MAX as u32),
            i32::MAX as u32
        );
        let wraps = Integers {
            saturates: false,
            ..nibbles
        };
        assert_eq!(
            wraps.dot(&[0xF], &[0x7], i32::MAX as u32),
            i32::MAX as u32 + 105
        );
    }

    #[test]
    fn bits_are_counted() {
        let (a, b) = ([0xF0F0_0000, 1], [0xFF00_0000, 1]);
        assert_eq!(BitProduct::Xor.dot(&a, &b, 100), 108);
        assert_eq!(BitProduct::And.dot(&a, &b, u32::MAX), 4);
    }

    /// A case in which the order matters.
    #[test]
    fn sums_go_in_order() {
        let (a, b) = ([1.0, 2.0_f64.powi(60), -(2.0_f64.powi(60)), 1.0], [1.0; 4]);
        assert_eq!(dot_f64(&a, &b, 1.0, Rounding::NearestEven), 1.0);
        assert_eq!(dot_f64(&a, &b, 1.0, Rounding::Up), 257.0);
        let half = |x: f32| F16::from_f32(x).0;
        let f32s = (Accumulator::F32, Accumulator::F32);
        let huge = 2.0_f32.powi(14);
        let factors = [huge, huge, 1.0, 1.0].map(half);
        let others = [huge, -huge, 1.0, 1.0].map(half);
        assert_eq!(dot_quad(factors, others, 0, f32s), 2.0_f32.to_bits());
        // C is added to the first pair, and is lost.
        let f16s = (Accumulator::F16, Accumulator::F16);
        let factors = [huge, huge, -huge, -huge].map(half);
        let others = [1.0; 4].map(half);
        let tiny = u32::from(half(2.0_f32.powi(-14)));
        assert_eq!(dot_quad(factors, others, tiny, f16s), 0);
    }
}
