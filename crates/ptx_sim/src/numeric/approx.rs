//! Instructions with `.approx`: PTX bounds their error, and hardware stays
//! within it. Here they are computed in `f64` and rounded once, which is
//! closer than any bound; last bits may differ from the hardware's.
//!
//! `.ftz` is the caller's, as in [`float`](super::float).

use super::float::{Float, canonical_f32};
use super::half::Half;

/// `ex2.approx.f32`
#[inline]
pub fn ex2(a: f32) -> f32 {
    canonical_f32(f64::from(a).exp2() as f32)
}

/// `lg2.approx.f32`; of a negative number NaN, of zero minus infinity.
#[inline]
pub fn lg2(a: f32) -> f32 {
    canonical_f32(f64::from(a).log2() as f32)
}

/// `sin.approx.f32`. Accurate for every operand; the hardware's bound holds
/// within ±π.
#[inline]
pub fn sin(a: f32) -> f32 {
    canonical_f32(f64::from(a).sin() as f32)
}

/// `cos.approx.f32`, as [`sin`].
#[inline]
pub fn cos(a: f32) -> f32 {
    canonical_f32(f64::from(a).cos() as f32)
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
/// `f64` instructions read and write.
#[inline]
fn upper_half(a: f64) -> f64 {
    if a.is_nan() {
        return f64::of_bits(f64::FORMAT.canonical_nan);
    }
    super::float::flush(f64::from_bits(a.to_bits() & !0xffff_ffff))
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

/// `ex2.approx.f16` and `.bf16`
#[inline]
pub fn ex2_half<H: Half>(a: H) -> H {
    H::narrow_f64(f64::from(a.widen()).exp2())
}

/// `tanh.approx.f16` and `.bf16`
#[inline]
pub fn tanh_half<H: Half>(a: H) -> H {
    H::narrow_f64(f64::from(a.widen()).tanh())
}
