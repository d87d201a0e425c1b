//! Products of tiles whose exponents are near enough to zero for `f32`.
//!
//! The sums of a row are computed eight at a time by floating-point arithmetic that is exact
//! in every step:
//!
//! - the largest exponents of all sums come first, as bytes: 32 of them at a time;
//! - a product of two factors fits an `f32`, whose significand is wider than both of theirs
//!   together;
//! - cutting it off below the largest exponent is a multiplication by a power of two
//!   and a conversion to an integer, which cuts off toward zero;
//! - the integers' sum fits 32 bits, or is found not to.
//!
//! Left out, and left to [`far`](super::far): infinity, NaN, other exponents, and such sums.

use super::super::mma::Model;
use super::factors::{
    Columns, ROWS, Rows, addends, exponents, factor, least_addend, least_exponent, of_row,
};
use super::operands::{Registers, Sums};
use super::rounding::{kept, to_f16, to_f32};
use std::arch::x86_64::*;

/// The largest exponent of a factor: with another's that stands for zero (the least byte),
/// it makes no sum above [`LEAST`].
const MOST: i32 = 27;
/// The least exponent of a product.
const LEAST: i32 = -100;
/// Exponents of addends.
const ADDENDS: (i32, i32) = (LEAST, 120);

/// A, and its exponents as bytes: by eight factors, by row.
pub(super) struct Left<const K: usize> {
    pub values: Rows<K>,
    exponents: [[[i8; 8]; ROWS]; 4],
    bounds: Bounds,
    /// The least exponent of the type.
    pub least: i32,
}

/// Least and largest exponents, as bytes.
#[derive(Clone, Copy)]
struct Bounds {
    /// With 126 added, and so that zero is the largest number.
    least: __m256i,
    /// Subtracted from 127.
    most: __m256i,
}

impl Bounds {
    #[target_feature(enable = "avx2,fma,f16c")]
    #[inline]
    fn new() -> Self {
        let largest = _mm256_set1_epi8(-1);
        Self {
            least: largest,
            most: largest,
        }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    #[inline]
    fn widen(&mut self, exponents: __m256i) {
        let least = _mm256_add_epi8(exponents, _mm256_set1_epi8(126));
        self.least = _mm256_min_epu8(self.least, least);
        let most = _mm256_sub_epi8(_mm256_set1_epi8(127), exponents);
        self.most = _mm256_min_epu8(self.most, most);
    }

    /// The least and the largest exponent.
    #[target_feature(enable = "avx2,fma,f16c")]
    #[inline]
    fn ends(self) -> (i32, i32) {
        (least_byte(self.least) - 126, 127 - least_byte(self.most))
    }
}

/// The least byte of a vector.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn least_byte(bytes: __m256i) -> i32 {
    let low = _mm256_castsi256_si128(bytes);
    let least = _mm_min_epu8(low, _mm256_extracti128_si256::<1>(bytes));
    let even = _mm_min_epu8(least, _mm_srli_epi16::<8>(least));
    let even = _mm_and_si128(even, _mm_set1_epi16(0xFF));
    _mm_cvtsi128_si32(_mm_minpos_epu16(even)) & 0xFF
}

/// Exponents of four vectors as bytes, one vector after the other; those that are out of a
/// byte's range become the byte nearest to them.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn bytes(four: [__m256i; 4]) -> __m256i {
    let [a, b, c, d] = four;
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
}

/// Puts exponents of four times eight factors in their places.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn put(to: &mut [[i8; 8]], bytes: __m256i) {
    let to: &mut [[i8; 8]] = &mut to[..4];
    // SAFETY: Four times eight bytes.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), bytes) };
}

/// Room for A.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn room<const K: usize>() -> Left<K> {
    Left {
        values: [[0.0; K]; ROWS],
        exponents: [[[0; 8]; ROWS]; 4],
        bounds: Bounds::new(),
        least: 0,
    }
}

/// Takes A apart.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn read<const F: usize, const K: usize>(a: Registers<'_>, left: &mut Left<K>) {
    left.least = least_exponent(factor(F));
    let mut bounds = Bounds::new();
    for (group, all) in left.exponents.iter_mut().enumerate().take(K / 8) {
        for (four_rows, all) in all.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let mut four = [_mm256_setzero_si256(); 4];
            for (row, four) in (4 * four_rows..).zip(&mut four) {
                let values = of_row::<F>(a, row, group);
                let to: &mut [f32] = &mut left.values[row][8 * group..8 * group + 8];
                // SAFETY: Eight words are 32 bytes.
                unsafe { _mm256_storeu_ps(to.as_mut_ptr(), values) };
                *four = exponents(values, left.least);
            }
            let four = bytes(four);
            bounds.widen(four);
            put(all, four);
        }
    }
    left.bounds = bounds;
}

/// B's exponents, by row.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn of_columns<const K: usize>(b: &Columns<K>) -> ([[i8; 8]; K], Bounds) {
    let mut all = [[0; 8]; K];
    let mut bounds = Bounds::new();
    for (first, values) in (0..K).step_by(4).zip(b.values.as_chunks::<4>().0) {
        let mut four = [_mm256_setzero_si256(); 4];
        for (four, values) in four.iter_mut().zip(values) {
            *four = exponents(*values, b.least);
        }
        let four = bytes(four);
        bounds.widen(four);
        put(&mut all[first..], four);
    }
    (all, bounds)
}

/// Computes D and gives true, if its exponents allow it.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline(never)]
pub(super) fn add<const K: usize, const SUM_F16: bool>(
    model: Model,
    (a, b): (&Left<K>, &Columns<K>),
    c: Registers<'_>,
    sums: &mut Sums,
) -> bool {
    let (b_exponents, b_bounds) = of_columns(b);
    let ((a_least, a_most), (b_least, b_most)) = (a.bounds.ends(), b_bounds.ends());
    if a_most > MOST || b_most > MOST || a_least + b_least < LEAST {
        return false;
    }
    let mut largest = [[0_i8; 8]; ROWS];
    for first in (0..ROWS).step_by(4) {
        let Some(of_c) = of_addends::<SUM_F16>(c, first) else {
            return false;
        };
        put(
            &mut largest[first..],
            largest_of(a, &b_exponents, of_c, first),
        );
    }
    let mut lost = _mm256_setzero_si256();
    for (row, (sum, largest)) in sums.iter_mut().zip(&largest).enumerate() {
        let c = addends::<SUM_F16>(c, row);
        *sum = row_sums::<K, SUM_F16>(model, (&a.values[row], b, c), largest, &mut lost);
    }
    // The highest bits tell.
    _mm256_movemask_ps(_mm256_castsi256_ps(lost)) == 0
}

/// The exponents of four rows of addends, if all are near enough.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn of_addends<const SUM_F16: bool>(c: Registers<'_>, first: usize) -> Option<__m256i> {
    let mut four = [_mm256_setzero_si256(); 4];
    let mut lost = _mm256_setzero_si256();
    for (row, four) in (first..).zip(&mut four) {
        let c = addends::<SUM_F16>(c, row);
        let of_c = exponents(c, least_addend::<SUM_F16>());
        let is_large = _mm256_cmpgt_epi32(of_c, _mm256_set1_epi32(ADDENDS.1));
        lost = _mm256_or_si256(lost, is_large);
        if !SUM_F16 {
            let is_small = _mm256_cmpgt_epi32(_mm256_set1_epi32(ADDENDS.0), of_c);
            let is_zero = _mm256_cmp_ps::<_CMP_EQ_OQ>(c, _mm256_setzero_ps());
            let is_small = _mm256_andnot_si256(_mm256_castps_si256(is_zero), is_small);
            lost = _mm256_or_si256(lost, is_small);
        }
        *four = of_c;
    }
    (_mm256_testz_si256(lost, lost) != 0).then(|| bytes(four))
}

/// The largest exponents of four rows of sums.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn largest_of<const K: usize>(
    a: &Left<K>,
    b: &[[i8; 8]; K],
    of_c: __m256i,
    first: usize,
) -> __m256i {
    let mut largest = _mm256_max_epi8(of_c, _mm256_set1_epi8(LEAST as i8));
    for (rows, b) in a.exponents.iter().zip(b.as_chunks::<8>().0) {
        let rows: &[[i8; 8]] = &rows[first..first + 4];
        // SAFETY: Four times eight bytes.
        let rows = unsafe { _mm256_loadu_si256(rows.as_ptr().cast()) };
        // Factor 0 of each row; one more is the next.
        let mut place = _mm256_setr_epi64x(0, 0x0808_0808_0808_0808, 0, 0x0808_0808_0808_0808);
        for b in b {
            let a = _mm256_shuffle_epi8(rows, place);
            let b = _mm256_set1_epi64x(i64::from_le_bytes(b.map(|x| x as u8)));
            largest = _mm256_max_epi8(largest, _mm256_adds_epi8(a, b));
            place = _mm256_add_epi8(place, _mm256_set1_epi8(1));
        }
    }
    largest
}

/// A row's sums; the highest bits of `lost` are set where they do not fit.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn row_sums<const K: usize, const SUM_F16: bool>(
    model: Model,
    (a, b, c): (&[f32; K], &Columns<K>, __m256),
    largest: &[i8; 8],
    lost: &mut __m256i,
) -> __m256i {
    let fraction_bits = model.fraction_bits as i32;
    // SAFETY: Eight bytes.
    let largest = unsafe { _mm_loadl_epi64(largest.as_ptr().cast()) };
    let largest = _mm256_cvtepi8_epi32(largest);
    // Up: to units of the last place that is kept.
    let field = _mm256_sub_epi32(_mm256_set1_epi32(fraction_bits + 127), largest);
    let up = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(field));
    let mut products = _mm256_setzero_si256();
    for (factor, b) in a.iter().zip(&b.values) {
        let product = _mm256_mul_ps(_mm256_set1_ps(*factor), *b);
        let scaled = _mm256_mul_ps(product, up);
        products = _mm256_add_epi32(products, _mm256_cvttps_epi32(scaled));
    }
    let addends = _mm256_cvttps_epi32(_mm256_mul_ps(c, up));
    let sums = _mm256_add_epi32(products, addends);
    // It has the sign of neither where it does not fit. (Without the addends it does: K
    // products are less than 2^(fraction_bits + 2) each.)
    let differs = _mm256_and_si256(
        _mm256_xor_si256(sums, products),
        _mm256_xor_si256(sums, addends),
    );
    *lost = _mm256_or_si256(*lost, differs);
    // And down again.
    let field = _mm256_add_epi32(largest, _mm256_set1_epi32(127 - fraction_bits));
    let down = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(field));
    if SUM_F16 {
        _mm256_castsi128_si256(to_f16(sums, down))
    } else {
        to_f32(sums, down, kept(model))
    }
}
