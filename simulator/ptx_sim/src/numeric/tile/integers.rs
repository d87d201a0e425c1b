//! Factors as integers of 16 bits, at a common scale.
//!
//! Left out: factors that do not fit; [`read`] tells.

use super::super::mma::Factor;
use super::factors::{BF16, E4M3, E5M2, F16, TF32, factor};
use super::operands::{Register, Registers};
use std::arch::x86_64::*;

/// Bits of a factor's magnitude: it is a 16-bit integer with a sign.
const FACTOR_BITS: i32 = 15;
/// The largest exponent of a factor with which [`read`] stays within `f32`.
const LARGEST_EXPONENT: i32 = 118;

/// The factors of A (`H` is 2: a register for each eight rows) or of B (`H` is 1) as 16-bit
/// integers; words are pairs of neighbours in a sum, of which `P` registers' make a whole sum.
pub(super) struct Whole<const P: usize, const H: usize> {
    pub pairs: [[[__m256i; 4]; H]; P],
    /// The exponent of the integers' unit.
    pub unit: i32,
    /// By how much the largest exponent is above that.
    pub n_bits: i32,
}

/// Room for factors.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn zeros<const P: usize, const H: usize>() -> Whole<P, H> {
    Whole {
        pairs: [[[_mm256_setzero_si256(); 4]; H]; P],
        unit: 0,
        n_bits: 0,
    }
}

/// `x` in all words.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn word(x: u32) -> __m256i {
    _mm256_set1_epi32(x as i32)
}

/// 2^`exponent`, a normal number.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn power(exponent: i32) -> __m256 {
    _mm256_castsi256_ps(_mm256_set1_epi32((exponent + 127) << 23))
}

/// Lanes `8 part` to `8 part + 7`.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn eight(register: &Register, part: usize) -> __m256i {
    let words: &[u32] = &register[8 * part..8 * part + 8];
    // SAFETY: Eight words are 32 bytes.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

/// The largest exponent among factors; none if some are not numbers.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn largest_exponent<const F: usize>(registers: Registers<'_>) -> Option<i32> {
    let mut all = _mm256_setzero_si256();
    for register in registers {
        for part in 0..4 {
            let words = eight(register, part);
            all = match F {
                E4M3 | E5M2 => _mm256_max_epu8(all, _mm256_and_si256(words, word(0x7F7F_7F7F))),
                F16 | BF16 => _mm256_max_epu16(all, _mm256_and_si256(words, word(0x7FFF_7FFF))),
                // The upper half is that number in `bf16`.
                _ => _mm256_max_epu16(all, _mm256_and_si256(words, word(0x7FFF_0000))),
            };
        }
    }
    if matches!(F, E4M3 | E5M2) {
        let odd = _mm256_srli_epi16::<8>(all);
        all = _mm256_max_epu16(_mm256_and_si256(all, word(0x00FF_00FF)), odd);
    }
    let (low, high) = (
        _mm256_castsi256_si128(all),
        _mm256_extracti128_si256::<1>(all),
    );
    let others = _mm_xor_si128(_mm_max_epu16(low, high), _mm_set1_epi16(-1));
    let largest = !_mm_cvtsi128_si32(_mm_minpos_epu16(others)) as u32 & 0xFFFF;
    let format = if F == TF32 { factor(BF16) } else { factor(F) }.format();
    let exponent = (largest >> format.fraction_bits).max(1) as i32 - format.bias();
    (largest < format.least_special() && exponent <= LARGEST_EXPONENT).then_some(exponent)
}

/// The numbers in the topmost bits of words, divided by 2^[`scale`].
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn numbers<const F: usize>(words: __m256i) -> __m256 {
    let format = factor(F).format();
    // The exponent's lowest bit comes to where f32 has it.
    let down = _mm_cvtsi32_si128(8 - format.exponent_bits as i32);
    let n_bits = format.exponent_bits + format.fraction_bits;
    let counted = 1 << 31 | ((1 << n_bits) - 1) << (23 - format.fraction_bits);
    let words = _mm256_sra_epi32(words, down);
    _mm256_castsi256_ps(_mm256_and_si256(words, word(counted)))
}

pub(super) const fn scale(factor: Factor) -> i32 {
    127 - factor.format().bias()
}

/// Pair register `pair` of eight rows of A or of B, `part` of it: the first and the second
/// factors of pairs, in the topmost bits of words.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn pair<const F: usize, const H: usize>(
    registers: Registers<'_>,
    (pair, half, part): (usize, usize, usize),
) -> [__m256i; 2] {
    match factor(F).n_bits() {
        8 => {
            let words = eight(registers[pair / 2 * H + half], part);
            let words = match pair % 2 {
                0 => _mm256_slli_epi32::<16>(words),
                _ => words,
            };
            [_mm256_slli_epi32::<8>(words), words]
        }
        16 => {
            let words = eight(registers[pair * H + half], part);
            [_mm256_slli_epi32::<16>(words), words]
        }
        _ => {
            let second = match registers.get(H + half) {
                Some(register) => eight(register, part),
                None => _mm256_setzero_si256(),
            };
            [eight(registers[half], part), second]
        }
    }
}

/// Numbers as integers in the lowest 16 bits, by adding a number that rounds to the unit; ORs
/// into `lost` what the unit does not divide.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn rounded(numbers: __m256, round: __m256, lost: &mut __m256) -> __m256i {
    let sum = _mm256_add_ps(numbers, round);
    // In this order, so that nothing is lost of a negative zero.
    let difference = _mm256_sub_ps(_mm256_sub_ps(sum, round), numbers);
    *lost = _mm256_or_ps(*lost, difference);
    _mm256_castps_si256(sum)
}

/// The factors in some registers, if they are whole numbers.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn read<const F: usize, const P: usize, const H: usize>(
    registers: Registers<'_>,
    to: &mut Whole<P, H>,
) -> bool {
    let Some(exponent) = largest_exponent::<F>(registers) else {
        return false;
    };
    let least_unit = exponent + 1 - FACTOR_BITS;
    let round = power(23 + least_unit - scale(factor(F)));
    let round = _mm256_mul_ps(round, _mm256_set1_ps(1.5));
    let mut all = _mm256_setzero_si256();
    for (number, pairs) in to.pairs.iter_mut().enumerate() {
        for (half, pairs) in pairs.iter_mut().enumerate() {
            let mut lost = _mm256_setzero_ps();
            for (part, pairs) in pairs.iter_mut().enumerate() {
                let [first, second] = pair::<F, H>(registers, (number, half, part));
                let first = rounded(numbers::<F>(first), round, &mut lost);
                let second = rounded(numbers::<F>(second), round, &mut lost);
                *pairs = _mm256_blend_epi16::<0xAA>(first, _mm256_slli_epi32::<16>(second));
                all = _mm256_or_si256(all, *pairs);
            }
            let lost = _mm256_castps_si256(lost);
            if _mm256_testz_si256(lost, lost) == 0 {
                return false;
            }
        }
    }
    // A common factor of all is one of the unit instead.
    let all = words_of(all).into_iter().fold(0, |all, word| all | word);
    let n_spare = ((all | all >> 16 | 1 << (FACTOR_BITS - 1)) as u32).trailing_zeros() as i32;
    let by = _mm_cvtsi32_si128(n_spare);
    for pairs in to.pairs.as_flattened_mut().as_flattened_mut() {
        *pairs = _mm256_sra_epi16(*pairs, by);
    }
    to.unit = least_unit + n_spare;
    to.n_bits = FACTOR_BITS - 1 - n_spare;
    true
}

/// The words of a vector.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn words_of(vector: __m256i) -> [i32; 8] {
    let mut words = [0; 8];
    // SAFETY: Eight words are 32 bytes.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) };
    words
}

/// B by pair of rows: the even columns, then the odd ones.
pub(super) struct Columns<const P: usize> {
    pub pairs: [[__m256i; 4]; P],
    pub unit: i32,
    pub n_bits: i32,
}

/// Takes columns that lie next to each other apart.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub(super) fn columns<const P: usize>(b: &Whole<P, 1>) -> Columns<P> {
    let mut pairs = [[_mm256_setzero_si256(); 4]; P];
    for (to, [[x, y, z, w]]) in pairs.iter_mut().zip(&b.pairs) {
        let (xy, zw) = (_mm256_unpacklo_epi32(*x, *y), _mm256_unpacklo_epi32(*z, *w));
        to[0] = _mm256_unpacklo_epi64(xy, zw);
        to[1] = _mm256_unpackhi_epi64(xy, zw);
        let (xy, zw) = (_mm256_unpackhi_epi32(*x, *y), _mm256_unpackhi_epi32(*z, *w));
        to[2] = _mm256_unpacklo_epi64(xy, zw);
        to[3] = _mm256_unpackhi_epi64(xy, zw);
    }
    Columns {
        pairs,
        unit: b.unit,
        n_bits: b.n_bits,
    }
}
