//! Products of tiles by vectors of AVX2: [`whole`] if that is possible, else [`near`], else
//! [`far`].

use super::super::mma::{Accumulator, Factor, Model};
use super::factors::{self, BF16, Columns, E4M3, E5M2, F16, ROWS, TF32};
use super::near::Left;
use super::operands::{Blocks, NONE, Product, Register, Registers, Sums, refs};
use super::{far, near, whole};
use std::arch::x86_64::*;

/// Computes `d`, if there is a way for these types; gives whether there is.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn multiply(product: &Product<'_>, d: &mut [Register]) -> bool {
    if whole::multiply(product, d) {
        return true;
    }
    match (product.factor, product.accumulator, product.b.len()) {
        (Factor::F16, Accumulator::F32, 1) => one::<F16, 8, false>(product, d),
        (Factor::F16, Accumulator::F32, 2) => one::<F16, 16, false>(product, d),
        (Factor::F16, Accumulator::F16, 1) => one::<F16, 8, true>(product, d),
        (Factor::F16, Accumulator::F16, 2) => one::<F16, 16, true>(product, d),
        (Factor::Bf16, Accumulator::F32, 1) => one::<BF16, 8, false>(product, d),
        (Factor::Bf16, Accumulator::F32, 2) => one::<BF16, 16, false>(product, d),
        (Factor::Tf32, Accumulator::F32, 1 | 2) => one::<TF32, 8, false>(product, d),
        _ => false,
    }
}

/// [`multiply`] for a type and a number of products.
#[target_feature(enable = "avx2,fma,f16c")]
fn one<const F: usize, const K: usize, const SUM_F16: bool>(
    product: &Product<'_>,
    d: &mut [Register],
) -> bool {
    let mut a = near::room();
    near::read::<F, K>(product.a, &mut a);
    let b = factors::columns::<F, K>(product.b);
    let mut sums = [_mm256_setzero_si256(); ROWS];
    add::<K, SUM_F16>(product.model, (&a, &b), product.c, &mut sums);
    store::<SUM_F16>(&sums, d);
    true
}

/// Adds the products to `sums`.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_blocks(blocks: &Blocks<'_>, sums: &mut [Register]) {
    use Accumulator::F32;
    use Factor::{Bf16, E4m3, E5m2, Tf32};
    let left = whole::add_blocks(blocks, sums);
    if left == 0 {
        return;
    }
    let sums = (sums, left);
    match (blocks.factors, blocks.accumulator) {
        ((Factor::F16, _), F32) => each::<F16, F16, 16, false>(blocks, sums),
        ((Factor::F16, _), _) => each::<F16, F16, 16, true>(blocks, sums),
        ((Bf16, _), _) => each::<BF16, BF16, 16, false>(blocks, sums),
        ((Tf32, _), _) => each::<TF32, TF32, 8, false>(blocks, sums),
        ((E4m3, E4m3), F32) => each::<E4M3, E4M3, 32, false>(blocks, sums),
        ((E4m3, E4m3), _) => each::<E4M3, E4M3, 32, true>(blocks, sums),
        ((E4m3, _), F32) => each::<E4M3, E5M2, 32, false>(blocks, sums),
        ((E4m3, _), _) => each::<E4M3, E5M2, 32, true>(blocks, sums),
        ((E5m2, E4m3), F32) => each::<E5M2, E4M3, 32, false>(blocks, sums),
        ((E5m2, E4m3), _) => each::<E5M2, E4M3, 32, true>(blocks, sums),
        ((E5m2, _), F32) => each::<E5M2, E5M2, 32, false>(blocks, sums),
        ((E5m2, _), _) => each::<E5M2, E5M2, 32, true>(blocks, sums),
    }
}

/// [`add_blocks`] for types, of those blocks whose bit is set.
#[target_feature(enable = "avx2,fma,f16c")]
fn each<const A: usize, const B: usize, const K: usize, const SUM_F16: bool>(
    blocks: &Blocks<'_>,
    (d, left): (&mut [Register], u32),
) {
    let mut a = near::room();
    near::read::<A, K>(&blocks.a.each_ref(), &mut a);
    let mut sums = [_mm256_setzero_si256(); ROWS];
    let all = d.chunks_mut(blocks.n_registers()).enumerate();
    for (block, d) in all.filter(|(block, _)| left >> block & 1 != 0) {
        let b = factors::columns::<B, K>(&blocks.b[block].each_ref());
        let mut c = [&NONE; 4];
        add::<K, SUM_F16>(blocks.model, (&a, &b), refs(d, &mut c), &mut sums);
        store::<SUM_F16>(&sums, d);
    }
}

/// A·B + C, by row, in the order of [`factors::column_at`].
#[target_feature(enable = "avx2,fma,f16c")]
fn add<const K: usize, const SUM_F16: bool>(
    model: Model,
    (a, b): (&Left<K>, &Columns<K>),
    c: Registers<'_>,
    sums: &mut Sums,
) {
    if !near::add::<K, SUM_F16>(model, (a, b), c, sums) {
        far::add::<K, SUM_F16>(model, (a, b), c, sums);
    }
}

/// Puts the sums in registers.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn store<const SUM_F16: bool>(sums: &Sums, d: &mut [Register]) {
    for (row, sums) in sums.iter().enumerate() {
        let (half, lane) = (row / 8, row % 8 * 4);
        let mut put = |register: usize, words: __m128i| {
            let to: &mut [u32] = &mut d[register][lane..lane + 4];
            // SAFETY: Four words are 16 bytes.
            unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), words) };
        };
        let low = _mm256_castsi256_si128(*sums);
        if SUM_F16 {
            put(half, _mm_unpacklo_epi16(low, _mm_unpackhi_epi64(low, low)));
        } else {
            put(2 * half, low);
            put(2 * half + 1, _mm256_extracti128_si256::<1>(*sums));
        }
    }
}
