//! Instructions with `.approx`: PTX bounds their error, and hardware stays
//! within it. Here they are computed in `f64` and rounded once, which is
//! closer than any bound; last bits may differ from the hardware's. Where
//! hardware strays further than that, `sin` and `cos` of large numbers, so
//! does this module.
//!
//! `.ftz` is the caller's, as in [`float`].

use std::f64::consts::{LN_2, TAU};

use super::Rounding;
use super::float::{self, Float, canonical_f32};
use super::half::{Bf16, Half};

/// ln(2)ⁿ/n!, from n = 13 down: 2ʳ for r up to 1/2, to the last bits of an `f64`.
const POWERS_OF_LN_2: [f64; 14] = [
    1.3691488853904128e-12,
    2.5678435993488206e-11,
    4.4455382718708116e-10,
    7.054911620801123e-09,
    1.01780860092397e-07,
    1.321548679014431e-06,
    1.5252733804059841e-05,
    0.0001540353039338161,
    0.0013333558146428443,
    0.009618129107628477,
    0.05550410866482158,
    0.24022650695910072,
    LN_2,
    1.0,
];

/// `ex2.approx.f32`. Without branches and calls, for vectors.
#[inline]
pub fn ex2(a: f32) -> f32 {
    // To it a number is added to round it to an integer, which the lowest bits then hold.
    const ROUND: f64 = (3_u64 << 51) as f64;
    // Beyond, `f32` has only infinity and zero.
    let x = f64::from(a).clamp(-200.0, 200.0);
    let shifted = x + ROUND;
    let r = x - (shifted - ROUND);
    let [first, rest @ ..] = &POWERS_OF_LN_2;
    let power = rest.iter().fold(*first, |sum, &term| sum * r + term);
    let result = f64::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 52));
    let result = if a.is_nan() { f32::NAN } else { result as f32 };
    canonical_f32(result)
}

/// `lg2.approx.f32`; of a negative number NaN, of zero minus infinity.
#[inline]
pub fn lg2(a: f32) -> f32 {
    canonical_f32(f64::from(a).log2() as f32)
}

/// An angle in turns, as hardware reduces it: multiplied by 1/2π in `f32`,
/// rounded towards zero. Its error grows with the angle, which is why PTX
/// bounds `sin` and `cos` only near zero.
#[inline]
fn turns(radians: f32) -> f64 {
    const PER_RADIAN: f32 = 0.159_154_94;
    f64::from(float::mul(radians, PER_RADIAN, Rounding::Zero))
}

/// `sin.approx.f32`
#[inline]
pub fn sin(a: f32) -> f32 {
    let turns = turns(a);
    // Whole turns make no difference, and are removed exactly.
    canonical_f32((turns % 1.0 * TAU).sin() as f32)
}

/// `cos.approx.f32`
#[inline]
pub fn cos(a: f32) -> f32 {
    let turns = turns(a);
    canonical_f32((turns % 1.0 * TAU).cos() as f32)
}

/// `tanh.approx.f32`
#[inline]
pub fn tanh(a: f32) -> f32 {
    canonical_f32(f64::from(a).tanh() as f32)
}

/// `sqrt.approx.f32`
#[inline]
pub fn sqrt(a: f32) -> f32 {
    canonical_f32(a.sqrt())
}

/// `rsqrt.approx.f32`; of ±0 infinity with its sign.
#[inline]
pub fn rsqrt(a: f32) -> f32 {
    canonical_f32((1.0 / f64::from(a).sqrt()) as f32)
}

/// `rcp.approx.f32`
#[inline]
pub fn rcp(a: f32) -> f32 {
    canonical_f32(1.0 / a)
}

/// `div.approx.f32`: `a * (1 / b)`. PTX defines it so that for `|b|` above
/// 2^126 the reciprocal is zero.
#[inline]
pub fn div(a: f32, b: f32) -> f32 {
    const LARGEST: f32 = f32::from_bits(0x7e80_0000);
    if b.abs() > LARGEST && b.is_finite() {
        return canonical_f32(a * 0.0_f32.copysign(b));
    }
    canonical_f32(a / b)
}

/// `div.full.f32`
#[inline]
pub fn div_full(a: f32, b: f32) -> f32 {
    canonical_f32(a / b)
}

/// The upper 32 bits of an `f64`, subnormals flushed: what the approximate
/// `f64` instructions read and write. A NaN becomes theirs.
#[inline]
fn upper_half(a: f64) -> f64 {
    let upper = f64::from_bits(a.to_bits() & !0xffff_ffff);
    if upper.is_not_a_number() {
        return f64::from_bits(0x7fff_ffff_0000_0000);
    }
    float::flush(upper)
}

/// `rcp.approx.ftz.f64`: only the upper 32 bits of operand and result count.
#[inline]
pub fn rcp_f64(a: f64) -> f64 {
    upper_half(1.0 / upper_half(a))
}

/// `rsqrt.approx.ftz.f64`: as [`rcp_f64`].
#[inline]
pub fn rsqrt_ftz_f64(a: f64) -> f64 {
    upper_half(1.0 / upper_half(a).sqrt())
}

/// `rsqrt.approx.f64`
#[inline]
pub fn rsqrt_f64(a: f64) -> f64 {
    let root = 1.0 / a.sqrt();
    if root.is_nan() {
        f64::nan_result(&[a])
    } else {
        root
    }
}

/// `ex2.approx.ftz.bf16`, the only form for `bf16`.
#[inline]
pub fn ex2_ftz_bf16(a: Bf16) -> Bf16 {
    float::flush(ex2_half(float::flush(a)))
}

/// `ex2.approx.f16`
#[inline]
pub fn ex2_half<H: Half>(a: H) -> H {
    H::narrow_f64(f64::from(a.widen()).exp2())
}

/// `tanh.approx.f16` and `.bf16`
#[inline]
pub fn tanh_half<H: Half>(a: H) -> H {
    H::narrow_f64(f64::from(a.widen()).tanh())
}
