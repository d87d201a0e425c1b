//! Products of tiles by vectors of AVX2: [`whole`] if that is possible, else [`near`], else
//! [`far`].

use super::super::mma::{Accumulator, Factor, Model};
use super::factors::{self, BF16, Columns, E4M3, E5M2, F16, ROWS, TF32};
use super::near::Left;
use super::operands::{
    ALL_MISSING, Blocks, Missing, NONE, Product, Register, Registers, Sums, refs,
};
use super::{far, near, whole};
use crate::lanes::WARP_SIZE;
use std::arch::x86_64::*;

/// Computes `d`, as much of it as it can.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn multiply(product: &Product<'_>, d: &mut [Register]) -> Missing {
    if whole::multiply(product, d) {
        return [0; ROWS];
    }
    match (product.factor, product.accumulator, product.b.len()) {
        (Factor::F16, Accumulator::F32, 1) => one::<F16, 8, false>(product, d),
        (Factor::F16, Accumulator::F32, 2) => one::<F16, 16, false>(product, d),
        (Factor::F16, Accumulator::F16, 1) => one::<F16, 8, true>(product, d),
        (Factor::F16, Accumulator::F16, 2) => one::<F16, 16, true>(product, d),
        (Factor::Bf16, Accumulator::F32, 1) => one::<BF16, 8, false>(product, d),
        (Factor::Bf16, Accumulator::F32, 2) => one::<BF16, 16, false>(product, d),
        (Factor::Tf32, Accumulator::F32, 1 | 2) => one::<TF32, 8, false>(product, d),
        _ => ALL_MISSING,
    }
}

/// [`multiply`] for a type and a number of products.
#[target_feature(enable = "avx2,fma,f16c")]
fn one<const F: usize, const K: usize, const SUM_F16: bool>(
    product: &Product<'_>,
    d: &mut [Register],
) -> Missing {
    let mut a = near::room();
    near::read::<F, K>(product.a, &mut a);
    let b = factors::columns::<F, K>(product.b);
    let mut sums = [_mm256_setzero_si256(); ROWS];
    let missing = add::<K, SUM_F16>(product.model, (&a, &b), product.c, &mut sums);
    store::<SUM_F16>(&sums, d);
    missing
}

/// Adds the products, and reports what it cannot compute.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_blocks(
    blocks: &Blocks<'_>,
    sums: &mut [Register],
    missing: impl FnMut(usize, Missing, &mut [Register]),
) {
    use Accumulator::F32;
    use Factor::{Bf16, E4m3, E5m2, Tf32};
    let left = whole::add_blocks(blocks, sums);
    if left == 0 {
        return;
    }
    let sums = (sums, left);
    match (blocks.factors, blocks.accumulator) {
        ((Factor::F16, _), F32) => each::<F16, F16, 16, false>(blocks, sums, missing),
        ((Factor::F16, _), _) => each::<F16, F16, 16, true>(blocks, sums, missing),
        ((Bf16, _), _) => each::<BF16, BF16, 16, false>(blocks, sums, missing),
        ((Tf32, _), _) => each::<TF32, TF32, 8, false>(blocks, sums, missing),
        ((E4m3, E4m3), F32) => each::<E4M3, E4M3, 32, false>(blocks, sums, missing),
        ((E4m3, E4m3), _) => each::<E4M3, E4M3, 32, true>(blocks, sums, missing),
        ((E4m3, _), F32) => each::<E4M3, E5M2, 32, false>(blocks, sums, missing),
        ((E4m3, _), _) => each::<E4M3, E5M2, 32, true>(blocks, sums, missing),
        ((E5m2, E4m3), F32) => each::<E5M2, E4M3, 32, false>(blocks, sums, missing),
        ((E5m2, E4m3), _) => each::<E5M2, E4M3, 32, true>(blocks, sums, missing),
        ((E5m2, _), F32) => each::<E5M2, E5M2, 32, false>(blocks, sums, missing),
        ((E5m2, _), _) => each::<E5M2, E5M2, 32, true>(blocks, sums, missing),
    }
}

/// [`add_blocks`] for types, of those blocks whose bit is set.
#[target_feature(enable = "avx2,fma,f16c")]
fn each<const A: usize, const B: usize, const K: usize, const SUM_F16: bool>(
    blocks: &Blocks<'_>,
    (d, left): (&mut [Register], u32),
    mut missing: impl FnMut(usize, Missing, &mut [Register]),
) {
    let mut a = near::room();
    near::read::<A, K>(&blocks.a.each_ref(), &mut a);
    let mut sums = [_mm256_setzero_si256(); ROWS];
    let all = blocks
        .b
        .iter()
        .zip(d.chunks_mut(blocks.n_registers()))
        .enumerate();
    for (block, (b, d)) in all.filter(|(block, _)| left >> block & 1 != 0) {
        let b = factors::columns::<B, K>(&b.each_ref());
        let left = add::<K, SUM_F16>(blocks.model, (&a, &b), refs(d, &mut [&NONE; 4]), &mut sums);
        if left == [0; ROWS] {
            store::<SUM_F16>(&sums, d);
            continue;
        }
        let mut c = [[0; WARP_SIZE]; 4];
        let c = &mut c[..d.len()];
        c.copy_from_slice(d);
        store::<SUM_F16>(&sums, d);
        put_back::<SUM_F16>(c, &left, d);
        missing(block, left, d);
    }
}

/// A·B + C, by row, in the order of [`factors::column_at`]; gives what is missing.
#[target_feature(enable = "avx2,fma,f16c")]
fn add<const K: usize, const SUM_F16: bool>(
    model: Model,
    (a, b): (&Left<K>, &Columns<K>),
    c: Registers<'_>,
    sums: &mut Sums,
) -> Missing {
    if near::add::<K, SUM_F16>(model, (a, b), c, sums) {
        return [0; ROWS];
    }
    far::add::<K, SUM_F16>(model, (a, b), c, sums)
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

/// Restores sums that are missing.
fn put_back<const SUM_F16: bool>(c: &[Register], missing: &Missing, d: &mut [Register]) {
    for (row, columns) in missing.iter().enumerate() {
        for column in (0..8).filter(|column| columns >> column & 1 != 0) {
            let lane = row % 8 * 4 + column / 2;
            if SUM_F16 {
                let mask = 0xFFFF << (column % 2 * 16);
                let word = &mut d[row / 8][lane];
                *word = *word & !mask | c[row / 8][lane] & mask;
            } else {
                let register = row / 8 * 2 + column % 2;
                d[register][lane] = c[register][lane];
            }
        }
    }
}
