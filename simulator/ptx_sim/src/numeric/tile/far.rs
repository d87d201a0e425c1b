//! Products of tiles with any exponents: as in [`near`](super::near), in `f64`, four sums at a
//! time.
//!
//! Left out, and reported: sums with an infinity or a NaN.

use super::super::mma::Model;
use super::factors::{Columns, ROWS, addends, column_at, exponents, least_addend};
use super::near::Left;
use super::operands::{Missing, Registers, Sums};
use super::rounding::{far_to_f16, far_to_f32};
use std::arch::x86_64::*;

/// The least value of the largest exponent.
const LEAST: i32 = -126;
/// The exponent of infinity and NaN.
const SPECIAL: i32 = 128;

/// Rows of B: their exponents, and the numbers in two halves.
struct Right<const K: usize> {
    exponents: [__m256i; K],
    halves: [[__m256d; 2]; K],
}

/// The words that are special, a bit each.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn special(exponents: __m256i) -> u8 {
    let is_special = _mm256_cmpeq_epi32(exponents, _mm256_set1_epi32(SPECIAL));
    _mm256_movemask_ps(_mm256_castsi256_ps(is_special)) as u8
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

/// Computes the sums, and gives which are missing.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline(never)]
pub(super) fn add<const K: usize, const SUM_F16: bool>(
    model: Model,
    (a, b): (&Left<K>, &Columns<K>),
    c: Registers<'_>,
    sums: &mut Sums,
) -> Missing {
    let mut right = Right {
        exponents: [_mm256_setzero_si256(); K],
        halves: [[_mm256_setzero_pd(); 2]; K],
    };
    let mut columns = 0;
    for (k, values) in b.values.iter().enumerate() {
        right.exponents[k] = exponents(*values, b.least);
        right.halves[k] = halves(*values);
        columns |= special(right.exponents[k]);
    }
    let mut missing = [0; ROWS];
    for (row, sum) in sums.iter_mut().enumerate() {
        let c = addends::<SUM_F16>(c, row);
        let of_c = exponents(c, least_addend::<SUM_F16>());
        let mut largest = _mm256_max_epi32(of_c, _mm256_set1_epi32(LEAST));
        let (mut is_special, least) = (false, a.least);
        for (a, b) in a.values[row].iter().zip(&right.exponents) {
            let a = exponents(_mm256_set1_ps(*a), least);
            is_special |= special(a) != 0;
            largest = _mm256_max_epi32(largest, _mm256_add_epi32(a, *b));
        }
        missing[row] = if is_special {
            u8::MAX
        } else {
            columns | special(of_c)
        };
        *sum = row_sums::<K, SUM_F16>(model, (&a.values[row], &right, c), largest);
    }
    missing.map(in_order)
}

/// Bits of columns, from the order of places.
fn in_order(places: u8) -> u8 {
    (0..8).fold(0, |columns, place| {
        columns | (places >> place & 1) << column_at(place)
    })
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
        let mut products = _mm_setzero_si128();
        for (factor, b) in a.iter().zip(&b.halves) {
            let product = _mm256_mul_pd(_mm256_set1_pd(f64::from(*factor)), b[half]);
            let integers = _mm256_cvttpd_epi32(_mm256_mul_pd(product, up));
            products = _mm_add_epi32(products, integers);
        }
        let addends = _mm256_cvttpd_epi32(_mm256_mul_pd(c, up));
        let sum = _mm256_add_pd(_mm256_cvtepi32_pd(products), _mm256_cvtepi32_pd(addends));
        sums[half] = _mm256_mul_pd(sum, down);
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
