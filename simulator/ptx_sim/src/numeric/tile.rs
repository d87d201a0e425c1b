//! A whole product of tiles, eight sums at a time.
//!
//! [`mma::dot`](super::mma::dot) computes one sum bit by bit. This module gives the same
//! bits by floating-point arithmetic that is exact in every step, with the vectors of
//! x86-64:
//!
//! - a product of two factors fits an `f32`, whose significand is wider than both of theirs
//!   together;
//! - cutting it off below the largest exponent is a multiplication by a power of two
//!   and a conversion to an integer, which cuts off toward zero;
//! - the integers' sum fits an `f64`, and so does that sum at its own scale;
//! - clearing low bits of that `f64` rounds it toward zero to `f32`; adding and
//!   subtracting a number with the right unit rounds it to the nearest `f16`.
//!
//! Left out, and reported to the caller, which then takes the slow path: machines without
//! these vectors, models that add up in several groups, and sums in which there are
//! infinities, NaN or exponents near the ends of `f32`'s range.

use super::mma::{Accumulator, Factor, Model};
use crate::lanes::WARP_SIZE;

/// A register of all lanes.
pub(crate) type Register = [u32; WARP_SIZE];

/// Operands of `mma` with 16 rows and 8 columns, in the registers' layout.
pub(crate) struct Product<'a> {
    /// The model of the summation.
    pub model: Model,
    /// The factors' type.
    pub factor: Factor,
    /// The sums' type.
    pub accumulator: Accumulator,
    /// 16×K, a register for each 8×8 quarter (half, for K = 8): upper left, lower
    /// left, upper right, lower right.
    pub a: &'a [Register],
    /// K×8, column by column, a register for eight rows. (Of `tf32`, which is twice as
    /// wide, registers hold half as many columns of A and rows of B.)
    pub b: &'a [Register],
    /// 16×8.
    pub c: &'a [Register],
}

/// By row, the columns whose sums are not known yet, a bit each.
pub(crate) type Missing = [u8; 16];

/// Computes `d`, as much of it as it can.
pub(crate) fn multiply(product: &Product<'_>, d: &mut [Register]) -> Missing {
    #[cfg(target_arch = "x86_64")]
    if crate::lanes::has_wide_vectors() && 8 * product.b.len() <= product.model.group {
        // SAFETY: This machine has the vectors.
        return unsafe {
            match (product.factor, product.accumulator, product.b.len()) {
                (Factor::F16, Accumulator::F32, 1) => wide::multiply::<false, false, 8>(product, d),
                (Factor::F16, Accumulator::F32, 2) => {
                    wide::multiply::<false, false, 16>(product, d)
                }
                (Factor::F16, Accumulator::F16, 1) => wide::multiply::<false, true, 8>(product, d),
                (Factor::F16, Accumulator::F16, 2) => wide::multiply::<false, true, 16>(product, d),
                (Factor::Bf16, Accumulator::F32, 1) => wide::multiply::<true, false, 8>(product, d),
                (Factor::Bf16, Accumulator::F32, 2) => {
                    wide::multiply::<true, false, 16>(product, d)
                }
                (Factor::Tf32, Accumulator::F32, 1) => wide::multiply_tf32::<4>(product, d),
                (Factor::Tf32, Accumulator::F32, 2) => wide::multiply_tf32::<8>(product, d),
                _ => ALL_MISSING,
            }
        };
    }
    let _ = (product, d);
    ALL_MISSING
}

const ALL_MISSING: Missing = [u8::MAX; 16];

/// As [`Product`], with blocks of eight columns next to each other.
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "wide vectors read them")
)]
pub(crate) struct Blocks<'a> {
    pub model: Model,
    /// The types of the factors in A and in B, which are of one width.
    pub factors: (Factor, Factor),
    pub accumulator: Accumulator,
    pub a: &'a [Register; 4],
    pub b: &'a [[Register; 2]],
}

/// Adds the products to `sums`, block by block; what it cannot compute is left unchanged,
/// and reported by block in `missing`.
pub(crate) fn add_blocks(
    blocks: &Blocks<'_>,
    sums: &mut [Register],
    missing: impl FnMut(usize, Missing, &mut [Register]),
) {
    #[cfg(target_arch = "x86_64")]
    if crate::lanes::has_wide_vectors() && blocks.model.group >= 16 {
        // SAFETY: This machine has the vectors.
        return unsafe {
            match (blocks.factors.0, blocks.accumulator) {
                (Factor::F16, Accumulator::F32) => {
                    wide::add_blocks::<false, false>(blocks, sums, missing)
                }
                (Factor::F16, Accumulator::F16) => {
                    wide::add_blocks::<false, true>(blocks, sums, missing)
                }
                (Factor::Bf16, Accumulator::F32) => {
                    wide::add_blocks::<true, false>(blocks, sums, missing)
                }
                (Factor::Tf32, Accumulator::F32) => wide::add_blocks_tf32(blocks, sums, missing),
                (Factor::E4m3 | Factor::E5m2, _) if blocks.model != Model::HOPPER_SMALL => {
                    all_missing(blocks, sums, missing)
                }
                (Factor::E4m3 | Factor::E5m2, Accumulator::F32) => {
                    wide::add_blocks_small::<false>(blocks, sums, missing)
                }
                (Factor::E4m3 | Factor::E5m2, Accumulator::F16) => {
                    wide::add_blocks_small::<true>(blocks, sums, missing)
                }
                _ => all_missing(blocks, sums, missing),
            }
        };
    }
    all_missing(blocks, sums, missing)
}

fn all_missing(
    blocks: &Blocks<'_>,
    sums: &mut [Register],
    mut missing: impl FnMut(usize, Missing, &mut [Register]),
) {
    for (block, sums) in sums.chunks_mut(blocks.n_registers()).enumerate() {
        missing(block, ALL_MISSING, sums);
    }
}

impl Blocks<'_> {
    /// Registers of a block's sums.
    fn n_registers(&self) -> usize {
        match self.accumulator {
            Accumulator::F32 => 4,
            Accumulator::F16 => 2,
        }
    }

    /// The product of one block.
    #[cfg(target_arch = "x86_64")]
    fn product<'p>(&'p self, block: usize, c: &'p [Register]) -> Product<'p> {
        Product {
            model: self.model,
            factor: self.factors.0,
            accumulator: self.accumulator,
            a: self.a,
            b: &self.b[block],
            c,
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{ALL_MISSING, Blocks, Factor, Missing, Model, Product, Register};
    use crate::lanes::WARP_SIZE;
    use std::arch::x86_64::*;

    /// Stands for the exponent of zero: no sum with it is ever the largest.
    const NO_EXPONENT: i32 = -10_000;
    /// The least value of the largest exponent.
    const LEAST_EXPONENT: i32 = -126;
    /// Exponents of products, and of numbers to add them to, between which every
    /// step is exact.
    const SAFE: (i32, i32) = (-100, 120);
    /// The largest exponent of a finite `f16`.
    const F16_LARGEST: i32 = 15;
    const ROWS: usize = 16;
    /// Bits of the fraction of an `f32` sum: as many as it has, or as the model gives.
    const ALL_KEPT: i32 = 23;
    const SMALL_KEPT: i32 = Model::HOPPER_SMALL.fraction_bits as i32;

    /// Numbers, and the exponents of their significands' unit bits.
    #[derive(Clone, Copy)]
    struct Numbers {
        values: __m256,
        exponents: __m256i,
    }

    /// Sixteen-bit factors, in the low halves of words, as numbers; ORs into `special`
    /// which are not.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn factors<const BF16: bool>(bits: __m256i, special: &mut __m256i) -> Numbers {
        let magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFF));
        let (field, values, all_ones, bias) = if BF16 {
            let field = _mm256_srli_epi32::<7>(magnitude);
            let values = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits));
            (field, values, 0xFF, 127)
        } else {
            // Subnormal numbers become subnormal ones of f32, and scaling corrects them.
            let shifted = _mm256_castsi256_ps(_mm256_slli_epi32::<13>(magnitude));
            let scale = _mm256_set1_ps(f32::from_bits((127 + 112) << 23));
            let sign = _mm256_slli_epi32::<16>(_mm256_xor_si256(bits, magnitude));
            let values = _mm256_or_ps(_mm256_mul_ps(shifted, scale), _mm256_castsi256_ps(sign));
            (_mm256_srli_epi32::<10>(magnitude), values, 0x1F, 15)
        };
        let is_special = _mm256_cmpeq_epi32(field, _mm256_set1_epi32(all_ones));
        *special = _mm256_or_si256(*special, is_special);
        let field = _mm256_max_epi32(field, _mm256_set1_epi32(1));
        let exponents = _mm256_sub_epi32(field, _mm256_set1_epi32(bias));
        let is_zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
        let exponents = _mm256_blendv_epi8(exponents, _mm256_set1_epi32(NO_EXPONENT), is_zero);
        Numbers { values, exponents }
    }

    /// Eight halves of a register from lane `lane` on, one per word.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn eight_halves(register: &Register, lane: usize) -> __m256i {
        let words: &[u32] = &register[lane..lane + 4];
        // SAFETY: Four words are 16 bytes.
        _mm256_cvtepu16_epi32(unsafe { _mm_loadu_si128(words.as_ptr().cast()) })
    }

    /// Transposes rows and columns.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn transposed(rows: [__m256i; 8]) -> [__m256i; 8] {
        let [a, b, c, d, e, f, g, h] = rows;
        let pairs = |x, y| (_mm256_unpacklo_epi32(x, y), _mm256_unpackhi_epi32(x, y));
        let ((ab0, ab1), (cd0, cd1)) = (pairs(a, b), pairs(c, d));
        let ((ef0, ef1), (gh0, gh1)) = (pairs(e, f), pairs(g, h));
        let quads = |x, y| (_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y));
        let ((a0, a1), (a2, a3)) = (quads(ab0, cd0), quads(ab1, cd1));
        let ((e0, e1), (e2, e3)) = (quads(ef0, gh0), quads(ef1, gh1));
        let low = |x, y| _mm256_permute2x128_si256::<0x20>(x, y);
        let high = |x, y| _mm256_permute2x128_si256::<0x31>(x, y);
        [
            low(a0, e0),
            low(a1, e1),
            low(a2, e2),
            low(a3, e3),
            high(a0, e0),
            high(a1, e1),
            high(a2, e2),
            high(a3, e3),
        ]
    }

    /// Widens `bounds` by the exponents of numbers that are not zero, and by 0.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn widen(bounds: &mut (__m256i, __m256i), exponents: __m256i) {
        let is_zero = _mm256_cmpeq_epi32(exponents, _mm256_set1_epi32(NO_EXPONENT));
        let known = _mm256_andnot_si256(is_zero, exponents);
        bounds.0 = _mm256_min_epi32(bounds.0, known);
        bounds.1 = _mm256_max_epi32(bounds.1, known);
    }

    /// The words of a vector.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn words(vector: __m256i) -> [i32; 8] {
        let mut words = [0; 8];
        // SAFETY: Eight words are 32 bytes.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) };
        words
    }

    /// The words that have their highest bit set, a bit each.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn bits(mask: __m256i) -> u8 {
        _mm256_movemask_ps(_mm256_castsi256_ps(mask)) as u8
    }

    /// A, factor by factor: each is spread over a vector when it is used.
    struct Rows<const K: usize> {
        values: [[f32; K]; ROWS],
        exponents: [[i32; K]; ROWS],
    }

    /// Least and largest exponents, by place in a vector.
    type Bounds = (__m256i, __m256i);

    /// [`super::multiply`] for a K.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn multiply<const BF16: bool, const SUM_F16: bool, const K: usize>(
        product: &Product<'_>,
        d: &mut [Register],
    ) -> Missing {
        let mut missing = [0; ROWS];
        let mut a_bounds = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let mut b_bounds = a_bounds;
        let mut special = _mm256_setzero_si256();
        let a = rows::<BF16, K>(product.a, &mut missing, &mut a_bounds);
        let b = columns::<BF16, SUM_F16, K>(product.b, &mut special, &mut b_bounds);
        for row in &mut missing {
            *row |= bits(special);
        }
        if BF16 && !are_safe(a_bounds, b_bounds) {
            return ALL_MISSING;
        }
        all_rows::<SUM_F16, K, ALL_KEPT>(product, (&a, &b), missing, d)
    }

    /// [`super::multiply`] of `tf32` for a K.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn multiply_tf32<const K: usize>(
        product: &Product<'_>,
        d: &mut [Register],
    ) -> Missing {
        let mut missing = [0; ROWS];
        let mut a_bounds = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let mut b_bounds = a_bounds;
        let mut special = _mm256_setzero_si256();
        let a = rows_tf32::<K>(product.a, &mut missing, &mut a_bounds);
        let b = columns_tf32::<K>(product.b, &mut special, &mut b_bounds);
        for row in &mut missing {
            *row |= bits(special);
        }
        if !are_safe(a_bounds, b_bounds) {
            return ALL_MISSING;
        }
        all_rows::<false, K, ALL_KEPT>(product, (&a, &b), missing, d)
    }

    /// [`super::add_blocks`] of 16-bit factors.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn add_blocks<const BF16: bool, const SUM_F16: bool>(
        blocks: &Blocks<'_>,
        sums: &mut [Register],
        missing: impl FnMut(usize, Missing, &mut [Register]),
    ) {
        let mut a_missing = [0; ROWS];
        let mut a_bounds = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let a = rows::<BF16, 16>(blocks.a, &mut a_missing, &mut a_bounds);
        let of_block = |registers: &[Register], special: &mut _, bounds: &mut _| {
            columns::<BF16, SUM_F16, 16>(registers, special, bounds)
        };
        let a = (&a, a_missing, BF16.then_some(a_bounds));
        each_block::<SUM_F16, 16, ALL_KEPT>(blocks, a, of_block, sums, missing);
    }

    /// [`super::add_blocks`] of `tf32`.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn add_blocks_tf32(
        blocks: &Blocks<'_>,
        sums: &mut [Register],
        missing: impl FnMut(usize, Missing, &mut [Register]),
    ) {
        let mut a_missing = [0; ROWS];
        let mut a_bounds = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let a = rows_tf32::<8>(blocks.a, &mut a_missing, &mut a_bounds);
        let of_block = |registers: &[Register], special: &mut _, bounds: &mut _| {
            columns_tf32::<8>(registers, special, bounds)
        };
        let a = (&a, a_missing, Some(a_bounds));
        each_block::<false, 8, ALL_KEPT>(blocks, a, of_block, sums, missing);
    }

    /// [`super::add_blocks`] of 8-bit factors.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn add_blocks_small<const SUM_F16: bool>(
        blocks: &Blocks<'_>,
        sums: &mut [Register],
        missing: impl FnMut(usize, Missing, &mut [Register]),
    ) {
        let mut a_missing = [0; ROWS];
        let a = rows_small(Small::new(blocks.factors.0), blocks.a, &mut a_missing);
        let b_format = Small::new(blocks.factors.1);
        let of_block = |registers: &[Register], special: &mut _, _: &mut _| {
            columns_small::<SUM_F16>(b_format, registers, special)
        };
        each_block::<SUM_F16, 32, SMALL_KEPT>(
            blocks,
            (&a, a_missing, None),
            of_block,
            sums,
            missing,
        );
    }

    /// Multiplies A, given with its missing rows and, where they can be unsafe, its bounds,
    /// by each block of B, and adds.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn each_block<const SUM_F16: bool, const K: usize, const KEPT: i32>(
        blocks: &Blocks<'_>,
        (a, a_missing, a_bounds): (&Rows<K>, Missing, Option<Bounds>),
        of_block: impl Fn(&[Register], &mut __m256i, &mut Bounds) -> [Numbers; K],
        sums: &mut [Register],
        mut missing: impl FnMut(usize, Missing, &mut [Register]),
    ) {
        for (block, d) in sums.chunks_mut(blocks.n_registers()).enumerate() {
            let mut c = [[0; WARP_SIZE]; 4];
            let c = &mut c[..d.len()];
            c.copy_from_slice(d);
            let mut special = _mm256_setzero_si256();
            let mut b_bounds = (special, special);
            let b = of_block(&blocks.b[block], &mut special, &mut b_bounds);
            let mut left = a_missing;
            for row in &mut left {
                *row |= bits(special);
            }
            if a_bounds.is_some_and(|a_bounds| !are_safe(a_bounds, b_bounds)) {
                left = ALL_MISSING;
            } else {
                left = all_rows::<SUM_F16, K, KEPT>(&blocks.product(block, c), (a, &b), left, d);
            }
            if left != [0; ROWS] {
                // Rows that were computed in part keep their correct sums.
                put_back::<SUM_F16>(c, &left, d);
                missing(block, left, d);
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

    /// Whether every step is exact for products of factors with these exponents.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn are_safe(a: Bounds, b: Bounds) -> bool {
        let least = |bounds: Bounds| words(bounds.0).into_iter().min().unwrap_or(0);
        let most = |bounds: Bounds| words(bounds.1).into_iter().max().unwrap_or(0);
        least(a) + least(b) >= SAFE.0 && most(a) + most(b) <= SAFE.1
    }

    /// Computes the rows that are not missing; gives what is.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn all_rows<const SUM_F16: bool, const K: usize, const KEPT: i32>(
        product: &Product<'_>,
        (a, b): (&Rows<K>, &[Numbers; K]),
        mut missing: Missing,
        d: &mut [Register],
    ) -> Missing {
        let fraction_bits = product.model.fraction_bits as i32;
        for (row, missing) in missing.iter_mut().enumerate() {
            if *missing == u8::MAX {
                continue;
            }
            let (c, special) = addends::<SUM_F16>(product.c, row);
            *missing |= bits(special);
            let (low, high) = sums(a, row, b, c, fraction_bits);
            store::<SUM_F16, KEPT>(d, row, low, high);
        }
        if !SUM_F16 {
            missing = missing.map(in_order);
        }
        missing
    }

    /// Factors of `tf32`, in words; ORs into `special` which are not numbers.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn factors_tf32(bits: __m256i, special: &mut __m256i) -> Numbers {
        let values = _mm256_and_si256(bits, _mm256_set1_epi32(!0x1FFF));
        let magnitude = _mm256_and_si256(values, _mm256_set1_epi32(0x7FFF_FFFF));
        let field = _mm256_srli_epi32::<23>(magnitude);
        let is_special = _mm256_cmpeq_epi32(field, _mm256_set1_epi32(0xFF));
        *special = _mm256_or_si256(*special, is_special);
        let field = _mm256_max_epi32(field, _mm256_set1_epi32(1));
        let exponents = _mm256_sub_epi32(field, _mm256_set1_epi32(127));
        let is_zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
        Numbers {
            values: _mm256_castsi256_ps(values),
            exponents: _mm256_blendv_epi8(exponents, _mm256_set1_epi32(NO_EXPONENT), is_zero),
        }
    }

    /// [`rows`] of `tf32`: two rows of four factors in eight lanes.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn rows_tf32<const K: usize>(
        a: &[Register],
        missing: &mut Missing,
        bounds: &mut Bounds,
    ) -> Rows<K> {
        let mut rows = Rows {
            values: [[0.0; K]; ROWS],
            exponents: [[0; K]; ROWS],
        };
        for (quarter, register) in a.iter().take(K / 2).enumerate() {
            let (first_row, column) = (quarter % 2 * 8, quarter / 2 * 4);
            for pair in 0..4 {
                let mut special = _mm256_setzero_si256();
                let eight: &[u32] = &register[8 * pair..8 * pair + 8];
                // SAFETY: Eight words are 32 bytes.
                let eight = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
                let numbers = factors_tf32(eight, &mut special);
                widen(bounds, numbers.exponents);
                let exponents = words(numbers.exponents);
                let values = words(_mm256_castps_si256(numbers.values));
                for half in 0..2 {
                    let row = first_row + 2 * pair + half;
                    if bits(special) >> (4 * half) & 0xF != 0 {
                        missing[row] = u8::MAX;
                    }
                    for place in 0..4 {
                        let bits = values[4 * half + place] as u32;
                        rows.values[row][column + place] = f32::from_bits(bits);
                        rows.exponents[row][column + place] = exponents[4 * half + place];
                    }
                }
            }
        }
        rows
    }

    /// [`columns`] of `tf32`.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn columns_tf32<const K: usize>(
        registers: &[Register],
        special: &mut __m256i,
        bounds: &mut Bounds,
    ) -> [Numbers; K] {
        let zero = Numbers {
            values: _mm256_setzero_ps(),
            exponents: _mm256_setzero_si256(),
        };
        let mut b = [zero; K];
        for (part, register) in registers.iter().take(K / 4).enumerate() {
            for row in 0..4 {
                let eight: [u32; 8] =
                    std::array::from_fn(|place| register[4 * column_at::<false>(place) + row]);
                // SAFETY: Eight words are 32 bytes.
                let eight = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
                let numbers = factors_tf32(eight, special);
                widen(bounds, numbers.exponents);
                b[4 * part + row] = numbers;
            }
        }
        b
    }

    /// A format of 8 bits.
    #[derive(Clone, Copy)]
    struct Small {
        fraction_bits: i32,
        bias: i32,
        /// The largest magnitude that is a number.
        largest: i32,
    }

    impl Small {
        /// Of a factor of 8 bits.
        fn new(factor: Factor) -> Self {
            let (fraction_bits, bias, largest) = match factor {
                Factor::E4m3 => (3, 7, 0x7E),
                _ => (2, 15, 0x7B),
            };
            Self {
                fraction_bits,
                bias,
                largest,
            }
        }
    }

    /// 8-bit factors from a lane's two words, as numbers; ORs into `special` which are not.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn factors_small(format: Small, bits: __m256i, special: &mut __m256i) -> Numbers {
        let magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7F));
        let sign = _mm256_slli_epi32::<24>(_mm256_xor_si256(bits, magnitude));
        // Subnormal numbers become subnormal ones of f32, and scaling corrects them.
        let by = _mm_cvtsi32_si128(23 - format.fraction_bits);
        let shifted = _mm256_castsi256_ps(_mm256_sll_epi32(magnitude, by));
        let scale = _mm256_set1_ps(f32::from_bits(((254 - format.bias) as u32) << 23));
        let values = _mm256_or_ps(_mm256_mul_ps(shifted, scale), _mm256_castsi256_ps(sign));
        let is_special = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(format.largest));
        *special = _mm256_or_si256(*special, is_special);
        let field = _mm256_srl_epi32(magnitude, _mm_cvtsi32_si128(format.fraction_bits));
        let field = _mm256_max_epi32(field, _mm256_set1_epi32(1));
        let exponents = _mm256_sub_epi32(field, _mm256_set1_epi32(format.bias));
        let is_zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
        Numbers {
            values,
            exponents: _mm256_blendv_epi8(exponents, _mm256_set1_epi32(NO_EXPONENT), is_zero),
        }
    }

    /// Eight bytes of a register from lane `lane` on, one per word.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn eight_bytes(register: &Register, lane: usize) -> __m256i {
        let words: &[u32] = &register[lane..lane + 2];
        // SAFETY: Two words are 8 bytes.
        _mm256_cvtepu8_epi32(unsafe { _mm_loadl_epi64(words.as_ptr().cast()) })
    }

    /// [`rows`] of 8-bit factors: a register has 16 of each of its rows.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn rows_small(format: Small, a: &[Register; 4], missing: &mut Missing) -> Rows<32> {
        let mut rows = Rows {
            values: [[0.0; 32]; ROWS],
            exponents: [[0; 32]; ROWS],
        };
        for (quarter, register) in a.iter().enumerate() {
            let (first_row, first_column) = (quarter % 2 * 8, quarter / 2 * 16);
            for eight in 0..16 {
                let (row, column) = (first_row + eight / 2, first_column + eight % 2 * 8);
                let mut special = _mm256_setzero_si256();
                let bytes = eight_bytes(register, 2 * eight);
                let numbers = factors_small(format, bytes, &mut special);
                if bits(special) != 0 {
                    missing[row] = u8::MAX;
                }
                let values: &mut [f32] = &mut rows.values[row][column..column + 8];
                let exponents: &mut [i32] = &mut rows.exponents[row][column..column + 8];
                // SAFETY: Eight words are 32 bytes.
                unsafe {
                    _mm256_storeu_ps(values.as_mut_ptr(), numbers.values);
                    _mm256_storeu_si256(exponents.as_mut_ptr().cast(), numbers.exponents);
                }
            }
        }
        rows
    }

    /// [`columns`] of 8-bit factors.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn columns_small<const SUM_F16: bool>(
        format: Small,
        registers: &[Register],
        special: &mut __m256i,
    ) -> [Numbers; 32] {
        let zero = Numbers {
            values: _mm256_setzero_ps(),
            exponents: _mm256_setzero_si256(),
        };
        let mut b = [zero; 32];
        for (part, rows) in b.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let register = &registers[part / 2];
            let mut columns = [_mm256_setzero_si256(); 8];
            for (place, column) in columns.iter_mut().enumerate() {
                let from = column_at::<SUM_F16>(place);
                *column = eight_bytes(register, 4 * from + part % 2 * 2);
            }
            for (row, bits) in rows.iter_mut().zip(transposed(columns)) {
                *row = factors_small(format, bits, special);
            }
        }
        b
    }

    /// A row by row. A row with a factor that is not a number is missing.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn rows<const BF16: bool, const K: usize>(
        a: &[Register],
        missing: &mut Missing,
        bounds: &mut Bounds,
    ) -> Rows<K> {
        let mut rows = Rows {
            values: [[0.0; K]; ROWS],
            exponents: [[0; K]; ROWS],
        };
        for (quarter, register) in a.iter().take(K / 4).enumerate() {
            let (first_row, column) = (quarter % 2 * 8, quarter / 2 * 8);
            for row in 0..8 {
                let mut special = _mm256_setzero_si256();
                let numbers = factors::<BF16>(eight_halves(register, 4 * row), &mut special);
                if BF16 {
                    widen(bounds, numbers.exponents);
                }
                let row = first_row + row;
                if bits(special) != 0 {
                    missing[row] = u8::MAX;
                }
                let values: &mut [f32] = &mut rows.values[row][column..column + 8];
                let exponents: &mut [i32] = &mut rows.exponents[row][column..column + 8];
                // SAFETY: Eight words are 32 bytes.
                unsafe {
                    _mm256_storeu_ps(values.as_mut_ptr(), numbers.values);
                    _mm256_storeu_si256(exponents.as_mut_ptr().cast(), numbers.exponents);
                }
            }
        }
        rows
    }

    /// The column of a place in a vector: the order of the sums in registers; for f32, even
    /// columns are in one register and odd ones in another.
    #[inline]
    fn column_at<const SUM_F16: bool>(place: usize) -> usize {
        if SUM_F16 {
            place
        } else {
            place % 4 * 2 + place / 4
        }
    }

    /// B: a vector is a row, its columns in the order of [`column_at`].
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn columns<const BF16: bool, const SUM_F16: bool, const K: usize>(
        registers: &[Register],
        special: &mut __m256i,
        bounds: &mut Bounds,
    ) -> [Numbers; K] {
        let zero = Numbers {
            values: _mm256_setzero_ps(),
            exponents: _mm256_setzero_si256(),
        };
        let mut b = [zero; K];
        for (part, register) in registers.iter().take(K / 8).enumerate() {
            let mut columns = [_mm256_setzero_si256(); 8];
            for (place, column) in columns.iter_mut().enumerate() {
                *column = eight_halves(register, 4 * column_at::<SUM_F16>(place));
            }
            for (row, bits) in transposed(columns).into_iter().enumerate() {
                let numbers = factors::<BF16>(bits, special);
                if BF16 {
                    widen(bounds, numbers.exponents);
                }
                b[8 * part + row] = numbers;
            }
        }
        b
    }

    /// A row's sums, not yet rounded.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn sums<const K: usize>(
        a: &Rows<K>,
        row: usize,
        b: &[Numbers; K],
        c: Numbers,
        fraction_bits: i32,
    ) -> (__m256d, __m256d) {
        let mut largest = _mm256_max_epi32(c.exponents, _mm256_set1_epi32(LEAST_EXPONENT));
        for (exponent, b) in a.exponents[row].iter().zip(b) {
            let exponent = _mm256_set1_epi32(*exponent);
            largest = _mm256_max_epi32(largest, _mm256_add_epi32(exponent, b.exponents));
        }
        // Up: to units of the last place that is kept. (Only where all is
        // zero, the power would be too large.)
        let field = _mm256_sub_epi32(_mm256_set1_epi32(fraction_bits + 127), largest);
        let field = _mm256_min_epi32(field, _mm256_set1_epi32(254));
        let up = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(field));
        let mut sums = _mm256_setzero_si256();
        for (factor, b) in a.values[row].iter().zip(b) {
            let factor = _mm256_set1_ps(*factor);
            let scaled = _mm256_mul_ps(_mm256_mul_ps(factor, b.values), up);
            sums = _mm256_add_epi32(sums, _mm256_cvttps_epi32(scaled));
        }
        let addends = _mm256_cvttps_epi32(_mm256_mul_ps(c.values, up));
        // And down again.
        let field = _mm256_add_epi32(largest, _mm256_set1_epi32(1023 - fraction_bits));
        let results = |sums, addends, field| {
            let power = _mm256_slli_epi64::<52>(_mm256_cvtepi32_epi64(field));
            let sum = _mm256_add_pd(_mm256_cvtepi32_pd(sums), _mm256_cvtepi32_pd(addends));
            _mm256_mul_pd(sum, _mm256_castsi256_pd(power))
        };
        let low = results(
            _mm256_castsi256_si128(sums),
            _mm256_castsi256_si128(addends),
            _mm256_castsi256_si128(field),
        );
        let high = results(
            _mm256_extracti128_si256::<1>(sums),
            _mm256_extracti128_si256::<1>(addends),
            _mm256_extracti128_si256::<1>(field),
        );
        (low, high)
    }

    /// Bits of columns, from the order of places.
    fn in_order(places: u8) -> u8 {
        (0..8).fold(0, |columns, place| {
            let column = column_at::<false>(place);
            columns | (places >> place & 1) << column
        })
    }

    /// A row of C, and the columns whose exponents are not safe.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn addends<const SUM_F16: bool>(c: &[Register], row: usize) -> (Numbers, __m256i) {
        let (half, lane) = (row / 8, row % 8 * 4);
        let mut special = _mm256_setzero_si256();
        if SUM_F16 {
            let numbers = factors::<false>(eight_halves(&c[half], lane), &mut special);
            let too_large = _mm256_set1_epi32(F16_LARGEST);
            let special = _mm256_cmpgt_epi32(numbers.exponents, too_large);
            return (numbers, special);
        }
        let (even, odd): (&[u32], &[u32]) = (
            &c[2 * half][lane..lane + 4],
            &c[2 * half + 1][lane..lane + 4],
        );
        // SAFETY: Four words are 16 bytes.
        let bits = unsafe {
            _mm256_set_m128i(
                _mm_loadu_si128(odd.as_ptr().cast()),
                _mm_loadu_si128(even.as_ptr().cast()),
            )
        };
        let magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFF_FFFF));
        let is_zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
        let field = _mm256_srli_epi32::<23>(magnitude);
        let exponents = _mm256_sub_epi32(field, _mm256_set1_epi32(127));
        let unsafe_ones = _mm256_or_si256(
            _mm256_cmpgt_epi32(_mm256_set1_epi32(SAFE.0), exponents),
            _mm256_cmpgt_epi32(exponents, _mm256_set1_epi32(SAFE.1)),
        );
        let numbers = Numbers {
            values: _mm256_castsi256_ps(bits),
            exponents: _mm256_blendv_epi8(exponents, _mm256_set1_epi32(NO_EXPONENT), is_zero),
        };
        (numbers, _mm256_andnot_si256(is_zero, unsafe_ones))
    }

    /// Rounds a row's sums and puts them in place.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn store<const SUM_F16: bool, const KEPT: i32>(
        d: &mut [Register],
        row: usize,
        low: __m256d,
        high: __m256d,
    ) {
        let (half, lane) = (row / 8, row % 8 * 4);
        let mut put = |register: usize, words: __m128i| {
            let to: &mut [u32] = &mut d[register][lane..lane + 4];
            // SAFETY: Four words are 16 bytes.
            unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), words) };
        };
        if SUM_F16 {
            let rounded = _mm256_set_m128(to_f16_steps(high), to_f16_steps(low));
            let bits = f16_bits(rounded);
            let (low, high) = (
                _mm256_castsi256_si128(bits),
                _mm256_extracti128_si256::<1>(bits),
            );
            put(half, _mm_packus_epi32(low, high));
        } else {
            let kept = _mm256_castsi256_pd(_mm256_set1_epi64x(!0 << (52 - KEPT)));
            let cut = |x| _mm_castps_si128(_mm256_cvtpd_ps(_mm256_and_pd(x, kept)));
            put(2 * half, cut(low));
            put(2 * half + 1, cut(high));
        }
    }

    /// Rounds to the nearest multiple of the unit that `f16` has there, ties to even.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn to_f16_steps(x: __m256d) -> __m128 {
        let mask = _mm256_set1_epi64x(0x7FF << 52);
        let exponent = _mm256_and_si256(_mm256_castpd_si256(x), mask);
        // In the upper words; the lower ones are zero.
        let exponent = _mm256_max_epi32(exponent, _mm256_set1_epi64x((1023 - 14) << 52));
        // 1.5 · 2^42 times the result's power: its last bit is worth 2^-10 of that.
        let rounder = _mm256_or_si256(
            _mm256_add_epi64(exponent, _mm256_set1_epi64x(42 << 52)),
            _mm256_set1_epi64x(1 << 51),
        );
        let rounder = _mm256_castsi256_pd(rounder);
        _mm256_cvtpd_ps(_mm256_sub_pd(_mm256_add_pd(x, rounder), rounder))
    }

    /// The bits of rounded numbers, zero without a sign.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn f16_bits(x: __m256) -> __m256i {
        let word = |bits: u32| _mm256_set1_epi32(bits as i32);
        let magnitude = _mm256_and_ps(x, _mm256_castsi256_ps(word(0x7FFF_FFFF)));
        let bits = _mm256_castps_si256(magnitude);
        let normal = _mm256_sub_epi32(_mm256_srli_epi32::<13>(bits), word(112 << 10));
        let shifted = _mm256_add_ps(magnitude, _mm256_set1_ps(0.5));
        let subnormal = _mm256_and_si256(_mm256_castps_si256(shifted), word(0x3FF));
        let is_subnormal = _mm256_cmpgt_epi32(word((127 - 14) << 23), bits);
        let is_infinite = _mm256_cmpgt_epi32(bits, word(((127 + 16) << 23) - 1));
        let finite = _mm256_blendv_epi8(normal, subnormal, is_subnormal);
        let unsigned = _mm256_blendv_epi8(finite, word(0x7C00), is_infinite);
        let is_negative = _mm256_cmp_ps::<_CMP_LT_OQ>(x, _mm256_setzero_ps());
        let sign = _mm256_and_si256(_mm256_castps_si256(is_negative), word(0x8000));
        _mm256_or_si256(unsigned, sign)
    }
}
