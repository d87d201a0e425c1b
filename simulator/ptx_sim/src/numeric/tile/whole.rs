//! Products of tiles whose factors are whole numbers, at a common scale.
//!
//! Most factors are far simpler than their type allows: whole numbers, or multiples of a
//! sixteenth. Then nothing is cut off, and a tile is a product of integers: sixteen
//! multiply-adds are one instruction, and an addition.
//!
//! Let every factor of A be a multiple of 2^la, and none have an exponent above la + na; the
//! same for B; let K be the number of products, F the model's `fraction_bits`, and
//! u = 2^(la + lb). With
//!
//! 1. na + nb ≤ F,
//! 2. K · 2^(na + nb + 2) ≤ 2^30,
//! 3. each addend a multiple of u, below u · 2^(F + 1), where F is at most 25,
//!
//! every product is a multiple of u, below u · 2^(na + nb + 2). The largest exponent is a
//! product's, at most la + lb + na + nb, or the addend's, at most la + lb + F: what is cut
//! off lies below u, by (1) or (3), and there is nothing there. In units of u, the sum is an
//! integer of less than 31 bits, by (2) and (3), and all that is left is to round it.
//!
//! Left out, and left to [`near`](super::near): all other numbers.

use super::super::mma::{Accumulator, Factor, Model};
use super::factors::{BF16, E4M3, E5M2, F16, TF32};
use super::integers::{Columns, Whole, columns, eight, numbers, power, read, scale, zeros};
use super::operands::{Blocks, NONE, Product, Register, Registers, Sums, refs};
use super::rounding::{interleaved, kept, to_f16, to_f32};
use std::arch::x86_64::*;

/// Bits of the products' sum.
const SUM_BITS: i32 = 30;
/// Exponents of u with which u and all results are normal numbers of `f32`.
const UNITS: std::ops::RangeInclusive<i32> = -126..=90;

/// Computes D and gives true, if all is whole.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn multiply(product: &Product<'_>, d: &mut [Register]) -> bool {
    match (product.factor, product.accumulator, product.b.len()) {
        (Factor::F16, Accumulator::F32, 1) => one::<F16, 1, false>(product, d),
        (Factor::F16, Accumulator::F32, 2) => one::<F16, 2, false>(product, d),
        (Factor::F16, Accumulator::F16, 1) => one::<F16, 1, true>(product, d),
        (Factor::F16, Accumulator::F16, 2) => one::<F16, 2, true>(product, d),
        (Factor::Bf16, Accumulator::F32, 1) => one::<BF16, 1, false>(product, d),
        (Factor::Bf16, Accumulator::F32, 2) => one::<BF16, 2, false>(product, d),
        (Factor::Tf32, Accumulator::F32, 1 | 2) => one::<TF32, 1, false>(product, d),
        _ => false,
    }
}

/// [`multiply`] for a type and a number of products.
#[target_feature(enable = "avx2,fma,f16c")]
fn one<const F: usize, const P: usize, const SUM_F16: bool>(
    product: &Product<'_>,
    d: &mut [Register],
) -> bool {
    let (mut a, mut b) = (zeros::<P, 2>(), zeros::<P, 1>());
    if !read::<F, P, 2>(product.a, &mut a) || !read::<F, P, 1>(product.b, &mut b) {
        return false;
    }
    let mut sums = [_mm256_setzero_si256(); 16];
    let is_whole = add::<P, SUM_F16>(product.model, (&a, &columns(&b)), product.c, &mut sums);
    if is_whole {
        store(&sums, d);
    }
    is_whole
}

/// Adds the products of those blocks where all is whole; gives the others, a bit each.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_blocks(blocks: &Blocks<'_>, sums: &mut [Register]) -> u32 {
    use Accumulator::F32;
    use Factor::{Bf16, E4m3, E5m2, Tf32};
    match (blocks.factors, blocks.accumulator) {
        ((Factor::F16, _), F32) => each::<F16, F16, 2, false>(blocks, sums),
        ((Factor::F16, _), _) => each::<F16, F16, 2, true>(blocks, sums),
        ((Bf16, _), _) => each::<BF16, BF16, 2, false>(blocks, sums),
        ((Tf32, _), _) => each::<TF32, TF32, 1, false>(blocks, sums),
        ((E4m3, E4m3), F32) => each::<E4M3, E4M3, 4, false>(blocks, sums),
        ((E4m3, E4m3), _) => each::<E4M3, E4M3, 4, true>(blocks, sums),
        ((E4m3, _), F32) => each::<E4M3, E5M2, 4, false>(blocks, sums),
        ((E4m3, _), _) => each::<E4M3, E5M2, 4, true>(blocks, sums),
        ((E5m2, E4m3), F32) => each::<E5M2, E4M3, 4, false>(blocks, sums),
        ((E5m2, E4m3), _) => each::<E5M2, E4M3, 4, true>(blocks, sums),
        ((E5m2, _), F32) => each::<E5M2, E5M2, 4, false>(blocks, sums),
        ((E5m2, _), _) => each::<E5M2, E5M2, 4, true>(blocks, sums),
    }
}

/// [`add_blocks`] for the types.
#[target_feature(enable = "avx2,fma,f16c")]
fn each<const A: usize, const B: usize, const P: usize, const SUM_F16: bool>(
    blocks: &Blocks<'_>,
    d: &mut [Register],
) -> u32 {
    let (mut a, mut b) = (zeros::<P, 2>(), zeros::<P, 1>());
    if !read::<A, P, 2>(&blocks.a.each_ref(), &mut a) {
        return u32::MAX;
    }
    let mut sums = [_mm256_setzero_si256(); 16];
    let mut left = 0;
    let blocks_of_d = d.chunks_mut(blocks.n_registers());
    for (block, (registers, d)) in blocks.b.iter().zip(blocks_of_d).enumerate() {
        if read::<B, P, 1>(&registers.each_ref(), &mut b)
            && add::<P, SUM_F16>(
                blocks.model,
                (&a, &columns(&b)),
                refs(d, &mut [&NONE; 4]),
                &mut sums,
            )
        {
            store(&sums, d);
        } else {
            left |= 1 << block;
        }
    }
    left
}

/// How the sums of integers become sums of the accumulator's type.
#[derive(Clone, Copy)]
struct Unit {
    /// u, and 1/u.
    u: __m256,
    inverse: __m256,
    /// All addends are below this.
    limit: __m256,
    /// The bits of a sum in `f32` that the model keeps.
    kept: __m256i,
}

/// The unit, if what A and B have in common allows it.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn unit<const P: usize>(a: &Whole<P, 2>, b: &Columns<P>, model: Model) -> Option<Unit> {
    let fraction_bits = model.fraction_bits as i32;
    let (exponent, n_bits) = (a.unit + b.unit, a.n_bits + b.n_bits);
    // Eight products for each pair register.
    let log_k = 3 + P.ilog2() as i32;
    if n_bits > fraction_bits || n_bits + 2 + log_k > SUM_BITS || !UNITS.contains(&exponent) {
        return None;
    }
    Some(Unit {
        u: power(exponent),
        inverse: power(-exponent),
        limit: power(exponent + fraction_bits + 1),
        kept: kept(model),
    })
}

/// A·B + C, if all is whole.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn add<const P: usize, const SUM_F16: bool>(
    model: Model,
    (a, b): (&Whole<P, 2>, &Columns<P>),
    c: Registers<'_>,
    sums: &mut Sums,
) -> bool {
    let Some(unit) = unit(a, b, model) else {
        return false;
    };
    if !unit.addends::<SUM_F16>(c, sums) {
        return false;
    }
    for half in 0..2 {
        for part in 0..4 {
            let (even, odd) = (8 * half + part, 8 * half + 4 + part);
            let products = products(a, b, (half, part));
            let even_sums = _mm256_add_epi32(products[0], sums[even]);
            let odd_sums = _mm256_add_epi32(products[1], sums[odd]);
            if SUM_F16 {
                let (even_sums, odd_sums) = (to_f16(even_sums, unit.u), to_f16(odd_sums, unit.u));
                sums[4 * half + part] = interleaved(even_sums, odd_sums);
            } else {
                sums[even] = to_f32(even_sums, unit.u, unit.kept);
                sums[odd] = to_f32(odd_sums, unit.u, unit.kept);
            }
        }
    }
    true
}

/// The sums of products of two rows: of even columns, and of odd ones.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn products<const P: usize>(
    a: &Whole<P, 2>,
    b: &Columns<P>,
    (half, part): (usize, usize),
) -> [__m256i; 2] {
    let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    for (a, b) in a.pairs.iter().zip(&b.pairs) {
        let a = a[half][part];
        let spread = [
            _mm256_shuffle_epi32::<0b00_00_00_00>(a),
            _mm256_shuffle_epi32::<0b01_01_01_01>(a),
            _mm256_shuffle_epi32::<0b10_10_10_10>(a),
            _mm256_shuffle_epi32::<0b11_11_11_11>(a),
        ];
        for (a, b) in spread.into_iter().zip(b) {
            let columns = _mm256_permute2x128_si256::<0x00>(*b, *b);
            even = _mm256_add_epi32(even, _mm256_madd_epi16(a, columns));
            let columns = _mm256_permute2x128_si256::<0x11>(*b, *b);
            odd = _mm256_add_epi32(odd, _mm256_madd_epi16(a, columns));
        }
    }
    [even, odd]
}

impl Unit {
    /// Numbers as multiples of the unit; ORs into `lost` which are none.
    #[target_feature(enable = "avx2,fma,f16c")]
    #[inline]
    fn integers(self, numbers: __m256, lost: &mut __m256i) -> __m256i {
        let integers = _mm256_cvtps_epi32(_mm256_mul_ps(numbers, self.inverse));
        let again = _mm256_mul_ps(_mm256_cvtepi32_ps(integers), self.u);
        let magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0), numbers);
        let is_large = _mm256_cmp_ps::<_CMP_NLT_UQ>(magnitude, self.limit);
        let differs = _mm256_cmp_ps::<_CMP_NEQ_UQ>(again, numbers);
        let is_lost = _mm256_castps_si256(_mm256_or_ps(is_large, differs));
        *lost = _mm256_or_si256(*lost, is_lost);
        integers
    }

    /// All addends as integers: of even and of odd columns of the upper half, and of the
    /// lower; false if some are none.
    #[target_feature(enable = "avx2,fma,f16c")]
    #[inline]
    fn addends<const SUM_F16: bool>(self, c: Registers<'_>, to: &mut Sums) -> bool {
        let mut lost = _mm256_setzero_si256();
        for (number, to) in to.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            for (part, to) in to.iter_mut().enumerate() {
                *to = if SUM_F16 {
                    let words = eight(c[number / 2], part);
                    let even = _mm256_slli_epi32::<16>(words);
                    let halves = if number % 2 == 0 { even } else { words };
                    let c = _mm256_mul_ps(numbers::<F16>(halves), power(scale(Factor::F16)));
                    // What is not a number looks like one from 2^16 on.
                    let limit = _mm256_min_ps(self.limit, _mm256_set1_ps(65536.0));
                    Self { limit, ..self }.integers(c, &mut lost)
                } else {
                    let c = _mm256_castsi256_ps(eight(c[number], part));
                    self.integers(c, &mut lost)
                };
            }
        }
        _mm256_testz_si256(lost, lost) != 0
    }
}

/// Puts the sums in registers.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn store(sums: &Sums, d: &mut [Register]) {
    for (sums, register) in sums.as_chunks::<4>().0.iter().zip(d) {
        for (sums, to) in sums.iter().zip(register.as_chunks_mut::<8>().0) {
            // SAFETY: Eight words are 32 bytes.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), *sums) };
        }
    }
}
