//! A's rows and B's columns as `f32`, which holds every type of factor.

use super::super::mma::Factor;
use super::operands::{Register, Registers};
use std::arch::x86_64::*;

/// Rows of A and of the sums.
pub(super) const ROWS: usize = 16;
/// Stands for the exponent of zero: no sum with it is ever the largest.
pub(super) const NO_EXPONENT: i32 = -10_000;

/// A type of factors, as a constant.
pub(super) const fn factor(number: usize) -> Factor {
    match number {
        F16 => Factor::F16,
        BF16 => Factor::Bf16,
        TF32 => Factor::Tf32,
        E4M3 => Factor::E4m3,
        _ => Factor::E5m2,
    }
}
pub(super) const F16: usize = Factor::F16 as usize;
pub(super) const BF16: usize = Factor::Bf16 as usize;
pub(super) const TF32: usize = Factor::Tf32 as usize;
pub(super) const E4M3: usize = Factor::E4m3 as usize;
pub(super) const E5M2: usize = Factor::E5m2 as usize;

/// A, factor by factor: each is spread over a vector when it is used.
pub(super) type Rows<const K: usize> = [[f32; K]; ROWS];

/// B: a vector is a row, its columns in the order of [`column_at`].
pub(super) struct Columns<const K: usize> {
    pub values: [__m256; K],
    pub least: i32,
}

/// The column of a place in a vector: the order of the sums in registers, where even columns
/// are in one register and odd ones in another.
pub(super) const fn column_at(place: usize) -> usize {
    place % 4 * 2 + place / 4
}

/// The exponents of significands' unit bits.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn exponents(values: __m256, least: i32) -> __m256i {
    let magnitude = _mm256_slli_epi32::<1>(_mm256_castps_si256(values));
    let field = _mm256_srli_epi32::<24>(magnitude);
    let exponents = _mm256_sub_epi32(field, _mm256_set1_epi32(127));
    let exponents = _mm256_max_epi32(exponents, _mm256_set1_epi32(least));
    let is_zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
    _mm256_blendv_epi8(exponents, _mm256_set1_epi32(NO_EXPONENT), is_zero)
}

/// The exponent of a type's smallest normal number.
pub(super) const fn least_exponent(factor: Factor) -> i32 {
    1 - factor.format().bias()
}

/// Factors `8 group` and the next seven of a line, which is row `line` of a half of A, of
/// `halves` halves, or a column of B (one half). Infinity and NaN become such.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn eight<const F: usize>(
    registers: Registers<'_>,
    (half, halves): (usize, usize),
    (line, group): (usize, usize),
) -> __m256 {
    match factor(F) {
        Factor::F16 | Factor::Bf16 => {
            let words: &[u32] = &registers[group * halves + half][4 * line..4 * line + 4];
            // SAFETY: Four words are 16 bytes.
            let bits = unsafe { _mm_loadu_si128(words.as_ptr().cast()) };
            if F == F16 {
                return _mm256_cvtph_ps(bits);
            }
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(bits)))
        }
        Factor::Tf32 => {
            let four = |register: &Register| {
                let words: &[u32] = &register[4 * line..4 * line + 4];
                // SAFETY: Four words are 16 bytes.
                unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
            };
            let low = four(registers[half]);
            let high = registers.get(halves + half);
            let high = match high {
                Some(register) => four(register),
                None => _mm_setzero_si128(),
            };
            let counted = _mm256_set1_epi32(!0x1FFF);
            _mm256_castsi256_ps(_mm256_and_si256(_mm256_set_m128i(high, low), counted))
        }
        Factor::E4m3 | Factor::E5m2 => {
            let first = 4 * line + group % 2 * 2;
            let words: &[u32] = &registers[group / 2 * halves + half][first..first + 2];
            // SAFETY: Two words are 8 bytes.
            let bits = unsafe { _mm_loadl_epi64(words.as_ptr().cast()) };
            small::<F>(_mm256_cvtepu8_epi32(bits))
        }
    }
}

/// 8-bit factors, one per word.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn small<const F: usize>(bits: __m256i) -> __m256 {
    let format = factor(F).format();
    let magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7F));
    let sign = _mm256_slli_epi32::<24>(_mm256_xor_si256(bits, magnitude));
    // Subnormal numbers become subnormal ones of f32, and scaling corrects them.
    let by = _mm_cvtsi32_si128(23 - format.fraction_bits as i32);
    let shifted = _mm256_castsi256_ps(_mm256_sll_epi32(magnitude, by));
    let scale = _mm256_set1_ps(f32::from_bits(((254 - format.bias()) as u32) << 23));
    let values = _mm256_or_ps(_mm256_mul_ps(shifted, scale), _mm256_castsi256_ps(sign));
    // With the largest exponent of f32 and the same fraction, infinity or NaN is one there.
    let largest = _mm256_set1_epi32(format.least_special() as i32 - 1);
    let is_special = _mm256_castsi256_ps(_mm256_cmpgt_epi32(magnitude, largest));
    let special = _mm256_and_ps(is_special, _mm256_set1_ps(f32::INFINITY));
    _mm256_or_ps(values, special)
}

/// Eight factors of a row of A.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn of_row<const F: usize>(a: Registers<'_>, row: usize, group: usize) -> __m256 {
    eight::<F>(a, (row / 8, 2), (row % 8, group))
}

/// The columns of B.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn columns<const F: usize, const K: usize>(b: Registers<'_>) -> Columns<K> {
    let mut values = [_mm256_setzero_ps(); K];
    for (group, values) in values.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        for (place, values) in values.iter_mut().enumerate() {
            *values = eight::<F>(b, (0, 1), (column_at(place), group));
        }
        transpose(values);
    }
    let least = least_exponent(factor(F));
    Columns { values, least }
}

/// Swaps rows and columns.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn transpose(rows: &mut [__m256; 8]) {
    let [a, b, c, d, e, f, g, h] = *rows;
    let (ab0, ab1) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    let (cd0, cd1) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    let (ef0, ef1) = (_mm256_unpacklo_ps(e, f), _mm256_unpackhi_ps(e, f));
    let (gh0, gh1) = (_mm256_unpacklo_ps(g, h), _mm256_unpackhi_ps(g, h));
    let low = |x, y| _mm256_shuffle_ps::<0b01_00_01_00>(x, y);
    let high = |x, y| _mm256_shuffle_ps::<0b11_10_11_10>(x, y);
    let (a0, a1, a2, a3) = (low(ab0, cd0), high(ab0, cd0), low(ab1, cd1), high(ab1, cd1));
    let (e0, e1, e2, e3) = (low(ef0, gh0), high(ef0, gh0), low(ef1, gh1), high(ef1, gh1));
    let low = |x, y| _mm256_permute2f128_ps::<0x20>(x, y);
    let high = |x, y| _mm256_permute2f128_ps::<0x31>(x, y);
    let (low, high) = (
        [low(a0, e0), low(a1, e1), low(a2, e2), low(a3, e3)],
        [high(a0, e0), high(a1, e1), high(a2, e2), high(a3, e3)],
    );
    rows[..4].copy_from_slice(&low);
    rows[4..].copy_from_slice(&high);
}

/// A row of C.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn addends<const SUM_F16: bool>(c: Registers<'_>, row: usize) -> __m256 {
    let (half, lane) = (row / 8, row % 8 * 4);
    let four = |register: &Register| {
        let words: &[u32] = &register[lane..lane + 4];
        // SAFETY: Four words are 16 bytes.
        unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
    };
    if SUM_F16 {
        let places = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
        return _mm256_permutevar8x32_ps(_mm256_cvtph_ps(four(c[half])), places);
    }
    let bits = _mm256_set_m128i(four(c[2 * half + 1]), four(c[2 * half]));
    _mm256_castsi256_ps(bits)
}

/// The least exponent of addends.
pub(super) const fn least_addend<const SUM_F16: bool>() -> i32 {
    if SUM_F16 { -14 } else { -126 }
}
