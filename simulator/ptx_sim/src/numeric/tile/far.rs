//! Products of tiles with any exponents: as in [`near`](super::near), in `f64`, four sums at a
//! time.
//!
//! A sum with an infinity or a NaN is one itself, and is what the host's arithmetic makes of
//! it: no finite sum comes near the largest `f64`.

use super::super::mma::Model;
use super::factors::{Columns, addends, exponents, least_addend};
use super::near::Left;
use super::operands::{Registers, Sums};
use super::rounding::{far_to_f16, far_to_f32};
use std::arch::x86_64::*;

/// The least value of the largest exponent.
const LEAST: i32 = -126;
/// Rows of B: their exponents, and the numbers in two halves.
struct Right<const K: usize> {
    exponents: [__m256i; K],
    halves: [[__m256d; 2]; K],
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn halves(values: __m256) -> [__m256d; 2] {
    let high = _mm256_extractf128_ps::<1>(values);
    [
        _mm256_cvtps_pd(_mm256_castps256_ps128(values)),
        _mm256_cvtps_pd(high),
    ]
}

/// Computes the sums.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline(never)]
pub(super) fn add<const K: usize, const SUM_F16: bool>(
    model: Model,
    (a, b): (&Left<K>, &Columns<K>),
    c: Registers<'_>,
    sums: &mut Sums,
) {
    let mut right = Right {
        exponents: [_mm256_setzero_si256(); K],
        halves: [[_mm256_setzero_pd(); 2]; K],
    };
    for (k, values) in b.values.iter().enumerate() {
        right.exponents[k] = exponents(*values, b.least);
        right.halves[k] = halves(*values);
    }
    for (row, sum) in sums.iter_mut().enumerate() {
        let c = addends::<SUM_F16>(c, row);
        let of_c = exponents(c, least_addend::<SUM_F16>());
        let mut largest = _mm256_max_epi32(of_c, _mm256_set1_epi32(LEAST));
        for (factor, b) in a.values[row].iter().zip(&right.exponents) {
            let of_a = exponents(_mm256_set1_ps(*factor), a.least);
            largest = _mm256_max_epi32(largest, _mm256_add_epi32(of_a, *b));
        }
        *sum = row_sums::<K, SUM_F16>(model, (&a.values[row], &right, c), largest);
    }
}

/// A row's sums.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn row_sums<const K: usize, const SUM_F16: bool>(
    model: Model,
    (a, b, c): (&[f32; K], &Right<K>, __m256),
    largest: __m256i,
) -> __m256i {
    let fraction_bits = model.fraction_bits as i32;
    let largest = [
        _mm256_castsi256_si128(largest),
        _mm256_extracti128_si256::<1>(largest),
    ];
    let mut sums = [_mm256_setzero_pd(); 2];
    for (half, (largest, c)) in largest.into_iter().zip(halves(c)).enumerate() {
        // Up: to units of the last place that is kept; and down again.
        let up = power(_mm_sub_epi32(_mm_set1_epi32(fraction_bits), largest));
        let down = power(_mm_sub_epi32(largest, _mm_set1_epi32(fraction_bits)));
        let (mut products, mut plain) = (_mm_setzero_si128(), c);
        for (factor, b) in a.iter().zip(&b.halves) {
            let product = _mm256_mul_pd(_mm256_set1_pd(f64::from(*factor)), b[half]);
            plain = _mm256_add_pd(plain, product);
            let integers = _mm256_cvttpd_epi32(_mm256_mul_pd(product, up));
            products = _mm_add_epi32(products, integers);
        }
        let addends = _mm256_cvttpd_epi32(_mm256_mul_pd(c, up));
        let sum = _mm256_add_pd(_mm256_cvtepi32_pd(products), _mm256_cvtepi32_pd(addends));
        let magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), plain);
        let is_special = _mm256_cmp_pd::<_CMP_NLT_UQ>(magnitude, _mm256_set1_pd(f64::INFINITY));
        sums[half] = _mm256_blendv_pd(_mm256_mul_pd(sum, down), plain, is_special);
    }
    let [low, high] = sums;
    if SUM_F16 {
        far_to_f16(low, high)
    } else {
        far_to_f32(low, high, model)
    }
}

/// 2^`exponents`.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn power(exponents: __m128i) -> __m256d {
    let field = _mm_add_epi32(exponents, _mm_set1_epi32(1023));
    _mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_cvtepi32_epi64(field)))
}
