//! From sums of integers to those of the accumulator's type.

use super::super::mma::{Accumulator, Model};
use std::arch::x86_64::*;

/// The bits of an `f32` sum that a model keeps.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn kept(model: Model) -> __m256i {
    _mm256_set1_epi32(!0 << (23 - model.fraction_bits.min(23)))
}

/// Integers as `f32`, cut off toward zero, and by how much they are above that.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn cut_off(sums: __m256i) -> (__m256i, __m256i) {
    let nearest = _mm256_cvtepi32_ps(sums);
    // Right in 32 bits even where the nearest number is 2^31.
    let rest = _mm256_sub_epi32(sums, _mm256_cvtps_epi32(nearest));
    // -1 where that number is farther from zero than the sum.
    let is_beyond = _mm256_srai_epi32::<31>(_mm256_sign_epi32(rest, sums));
    let bits = _mm256_add_epi32(_mm256_castps_si256(nearest), is_beyond);
    (bits, rest)
}

/// Sums in units of `unit`, as `f32`, rounded toward zero.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn to_f32(sums: __m256i, unit: __m256, kept: __m256i) -> __m256i {
    let bits = _mm256_and_si256(cut_off(sums).0, kept);
    _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(bits), unit))
}

/// Sums in units of `unit`, as `f16`, rounded to the nearest.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn to_f16(sums: __m256i, unit: __m256) -> __m128i {
    let (bits, rest) = cut_off(sums);
    // Something below the last bit makes that bit odd: then rounding again is right.
    let is_exact = _mm256_cmpeq_epi32(rest, _mm256_setzero_si256());
    let odd = _mm256_andnot_si256(is_exact, _mm256_set1_epi32(1));
    let sums = _mm256_castsi256_ps(_mm256_or_si256(bits, odd));
    f16_bits(_mm256_mul_ps(sums, unit))
}

/// Numbers in `f16`, rounded to the nearest, and zero without a sign.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn f16_bits(numbers: __m256) -> __m128i {
    let bits = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers);
    let is_negative_zero = _mm_cmpeq_epi16(bits, _mm_set1_epi16(i16::MIN));
    _mm_andnot_si128(is_negative_zero, bits)
}

/// Halves of even and of odd columns, put together.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn interleaved(even: __m128i, odd: __m128i) -> __m256i {
    let (low, high) = (_mm_unpacklo_epi16(even, odd), _mm_unpackhi_epi16(even, odd));
    _mm256_set_m128i(high, low)
}

/// Sums in `f64`, as `f32`, rounded toward zero; NaN is the one that represents all.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn far_to_f32(low: __m256d, high: __m256d, model: Model) -> __m256i {
    let kept = _mm256_set1_epi64x(!0 << (52 - model.fraction_bits.min(23)));
    let normal = |x| {
        let cut = _mm256_and_pd(x, _mm256_castsi256_pd(kept));
        _mm_castps_si128(_mm256_cvtpd_ps(cut))
    };
    // The bits of a subnormal number are its multiple of the least one.
    let subnormal = |x| {
        let units = _mm256_mul_pd(x, _mm256_set1_pd(2.0_f64.powi(149)));
        let units = _mm256_cvttpd_epi32(units);
        let sign = _mm_and_si128(units, _mm_set1_epi32(i32::MIN));
        _mm_or_si128(_mm_abs_epi32(units), sign)
    };
    let normal = _mm256_set_m128i(normal(high), normal(low));
    let subnormal = _mm256_set_m128i(subnormal(high), subnormal(low));
    let magnitude = _mm256_and_si256(normal, _mm256_set1_epi32(i32::MAX));
    let is_subnormal = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x0080_0000), magnitude);
    let sums = _mm256_blendv_epi8(normal, subnormal, is_subnormal);
    let nan = _mm256_set1_epi32(Accumulator::F32.canonical_nan() as i32);
    let is_nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7F80_0000));
    _mm256_blendv_epi8(sums, nan, is_nan)
}

/// The same as `f16`, rounded to the nearest.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn far_to_f16(low: __m256d, high: __m256d) -> __m256i {
    let odd = |x| {
        let (x, rest) = (_mm256_castpd_si256(x), _mm256_set1_epi64x((1 << 29) - 1));
        let is_exact = _mm256_cmpeq_epi64(_mm256_and_si256(x, rest), _mm256_setzero_si256());
        let odd = _mm256_andnot_si256(is_exact, _mm256_set1_epi64x(1 << 29));
        let x = _mm256_or_si256(_mm256_andnot_si256(rest, x), odd);
        _mm256_cvtpd_ps(_mm256_castsi256_pd(x))
    };
    let bits = f16_bits(_mm256_set_m128(odd(high), odd(low)));
    let magnitude = _mm_and_si128(bits, _mm_set1_epi16(i16::MAX));
    let nan = _mm_set1_epi16(Accumulator::F16.canonical_nan() as i16);
    let is_nan = _mm_cmpgt_epi16(magnitude, _mm_set1_epi16(0x7C00));
    _mm256_castsi128_si256(_mm_blendv_epi8(bits, nan, is_nan))
}
