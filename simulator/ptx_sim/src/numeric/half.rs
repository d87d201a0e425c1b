//! The 16-bit formats: `f16` and `bf16`, alone and in pairs.
//!
//! Arithmetic is rounded once, fused multiply-add included: it is computed
//! exactly, or rounded to odd, in a wider format, and rounded from there.

use super::float::{Float, add_to_odd, add_to_odd_f32};
use super::soft::{self, Format};
use crate::lanes::Lane;

/// An `f16` by its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct F16(pub u16);

/// A `bf16` by its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(pub u16);

// SAFETY: Plain numbers, valid for every bit pattern.
unsafe impl Lane for F16 {}
// SAFETY: As above.
unsafe impl Lane for Bf16 {}

impl F16 {
    /// As an `f32`, exactly. Without branches, so that the loops over lanes become vectors.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let magnitude = u32::from(self.0 & 0x7fff);
        let normal = (magnitude << 13) + (112 << 23);
        // A multiple of 2^-24.
        let subnormal = magnitude as i32 as f32 * f32::from_bits(0x3380_0000);
        let number = if magnitude >= 0x0400 {
            normal
        } else {
            subnormal.to_bits()
        };
        let number = if magnitude == 0x7c00 {
            0x7f80_0000
        } else {
            number
        };
        let is_nan = magnitude > 0x7c00;
        f32::from_bits(if is_nan { 0x7fff_ffff } else { sign | number })
    }

    /// The nearest to an `f32`. Without branches, too.
    #[inline(always)]
    pub fn from_f32(value: f32) -> Self {
        let sign = value.to_bits() >> 16 & 0x8000;
        let magnitude = value.to_bits() & 0x7fff_ffff;
        let tie_to_even = magnitude >> 13 & 1;
        let normal = (magnitude + 0xfff + tie_to_even).wrapping_sub(112 << 23) >> 13;
        // Less than 2^-14: adding one half makes the host round to a multiple of 2^-24, the
        // smallest f16.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits();
        let subnormal = subnormal.wrapping_sub(0.5_f32.to_bits());
        let number = if magnitude >= 0x3880_0000 {
            normal
        } else {
            subnormal
        };
        // 2^16 or more.
        let number = if magnitude >= 0x4780_0000 {
            0x7c00
        } else {
            number
        };
        let is_nan = magnitude > 0x7f80_0000;
        Self(if is_nan { 0x7fff } else { sign | number } as u16)
    }
}

impl Bf16 {
    /// As an `f32`, exactly, NaNs with their bits.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// The nearest to an `f32`.
    #[inline(always)]
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        let tie_to_even = bits >> 16 & 1;
        let nearest = bits.wrapping_add(0x7fff + tie_to_even) >> 16;
        let is_nan = bits & 0x7fff_ffff > 0x7f80_0000;
        Self(if is_nan { 0x7fff } else { nearest } as u16)
    }
}

/// A 16-bit format that computes in wider ones.
pub trait Half: Float + PartialEq + std::fmt::Debug {
    /// As an `f32`, exactly; a NaN becomes some NaN.
    fn widen(self) -> f32;

    /// The nearest to an `f32`.
    fn narrow(value: f32) -> Self;

    /// The nearest to an `f64`.
    #[inline(always)]
    fn narrow_f64(value: f64) -> Self {
        Self::narrow(to_odd_f32(value))
    }
}

/// An `f64` rounded to odd in `f32`: a second rounding from there is as good as a single
/// one.
#[inline(always)]
fn to_odd_f32(value: f64) -> f32 {
    let nearest = value as f32;
    let difference = value - f64::from(nearest);
    let bits = nearest.to_bits();
    let is_away = difference.is_sign_negative() == nearest.is_sign_negative();
    let neighbour = if is_away {
        bits.wrapping_add(1)
    } else {
        bits.wrapping_sub(1)
    };
    let is_even = bits & 1 == 0;
    // Of an infinite one there is no difference that is a number, or it is infinite, too.
    let is_inexact = difference.abs() > 0.0 && nearest.abs() < f32::INFINITY;
    f32::from_bits(if is_inexact && is_even {
        neighbour
    } else {
        bits
    })
}

/// Arithmetic in a wider format.
macro_rules! float_through {
    ($($half:ty, $format:expr, $mul:expr, $fma:expr;)*) => {$(
        impl Half for $half {
            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }

            #[inline(always)]
            fn narrow(value: f32) -> Self {
                Self::from_f32(value)
            }
        }

        impl Float for $half {
            const FORMAT: Format = $format;

            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(self.0)
            }

            #[inline(always)]
            fn of_bits(bits: u64) -> Self {
                Self(bits as u16)
            }

            #[inline(always)]
            fn add_nearest(self, other: Self) -> Self {
                // An f32 has more than twice the precision: rounding there
                // first does no harm, and loses nothing at the small end.
                Self::narrow(self.widen() + other.widen())
            }

            #[inline(always)]
            fn mul_nearest(self, other: Self) -> Self {
                $mul(self.widen(), other.widen())
            }

            #[inline(always)]
            fn fma_nearest(self, factor: Self, addend: Self) -> Self {
                $fma(self.widen(), factor.widen(), addend.widen())
            }
        }
    )*};
}

float_through! {
    // A product has 22 bits at the most, and its exponent is one of `f32`.
    F16, soft::F16,
        |a: f32, b: f32| Self::narrow(a * b),
        |a: f32, b: f32, c: f32| Self::narrow(add_to_odd_f32(a * b, c));
    Bf16, soft::BF16,
        |a: f32, b: f32| Self::narrow_f64(f64::from(a) * f64::from(b)),
        |a: f32, b: f32, c: f32| {
            Self::narrow_f64(add_to_odd(f64::from(a) * f64::from(b), f64::from(c)))
        };
}

/// The two numbers of a packed register, lower half first.
#[inline(always)]
pub fn unpack<H: Half>(word: u32) -> [H; 2] {
    [
        H::of_bits(u64::from(word & 0xffff)),
        H::of_bits(u64::from(word >> 16)),
    ]
}

/// A packed register from its two numbers.
#[inline(always)]
pub fn pack<H: Half>(low: H, high: H) -> u32 {
    low.bits() as u32 | (high.bits() as u32) << 16
}

/// `neg.f16x2` and similar.
#[inline(always)]
pub fn packed1<H: Half>(a: u32, operation: impl Fn(H) -> H) -> u32 {
    let [low, high] = unpack(a).map(operation);
    pack(low, high)
}

/// `add.f16x2` and similar.
#[inline(always)]
pub fn packed2<H: Half>(a: u32, b: u32, operation: impl Fn(H, H) -> H) -> u32 {
    let ([a_low, a_high], [b_low, b_high]) = (unpack(a), unpack(b));
    pack(operation(a_low, b_low), operation(a_high, b_high))
}

/// `fma.f16x2` and similar.
#[inline(always)]
pub fn packed3<H: Half>(a: u32, b: u32, c: u32, operation: impl Fn(H, H, H) -> H) -> u32 {
    let ([a_low, a_high], [b_low, b_high], [c_low, c_high]) = (unpack(a), unpack(b), unpack(c));
    pack(
        operation(a_low, b_low, c_low),
        operation(a_high, b_high, c_high),
    )
}
