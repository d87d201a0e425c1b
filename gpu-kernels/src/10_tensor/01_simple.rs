//! C = A·Bᵀ, all 16×16: the smallest product that a warp can do, and every step
//! of a big one.
//!
//! C\[i\]\[j\] = Σₖ A\[i\]\[k\] · B\[j\]\[k\]. A and B lie row by row in f16; the sum is in
//! f32, the result in f16. Bᵀ suits the right operand:
//! its fragment is made of columns of Bᵀ, that is rows of B, and `ldmatrix` reads
//! rows.
//!
//! ```text
//!   global ──16 B──▶ tile ──ldmatrix.x4──▶ fragments ──2 mma──▶ f32 ──▶ f16 ──▶ tile ──16 B──▶ global
//! ```
//!
//! | kernel | tiles | `ldmatrix` | result's stores | copies |
//! |---|---|---|---|---|
//! | [`mma_simple_plain`] | plain | 8 conflicts, 4 per tile | 4 | 0 |
//! | [`mma_simple_padded`] | rows of 48 bytes | 0 | 0 | 4 per copy |
//! | [`mma_simple_swizzled`] | `Swizzle<1, 3, 3>` | 0 | 0 | 0 |
//! | [`mma_simple_stmatrix_plain`] | plain | 8 | 4, in one `stmatrix` | 0 |
//! | [`mma_simple_stmatrix_swizzled`] | `Swizzle<1, 3, 3>` | 0 | 0 | 0 |
//! | [`mma_simple_f16`] | `Swizzle<1, 3, 3>` | 0 | 0 | 0 |
//!
//! The result's stores conflict for the same reason as the loads: a lane of row
//! 4 stores to the chunk column of row 0.
//!
//! [`mma_simple_plain`] has every address written out.
//!
//! [`mma_simple_f16`] sums in f16, by `m16n8k8`: half the registers, and a
//! rounding to 11 bits after each half of the sum.

use cuda_std::half::f16;
use cuda_std::mma::ldmatrix::x4_at;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
use cuda_std::mma::store_matrices;
use cuda_std::mma::{
    FragmentA, FragmentB, FragmentC, M16N8K8, M16N8K16, load_a, load_b_transposed, mma, store_c,
};
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::tile::{Layout, Plain, TILE_ALIGN_BYTES};
use cuda_std::warp::FULL_MASK;

use super::{
    CHUNK, MATRIX, PaddedByChunk, SIDE, Swizzled16, Tile16, WARP, drain, fill, multiply_add, zero,
};

// ---------------------------------------------------------------------------
// Address by address
// ---------------------------------------------------------------------------
//
// `ldmatrix.x4` loads four 8×8 matrices, the quarters of a tile. Eight lanes name the
// rows of each, by the address of a row's 16 bytes:
//
//             A: columns 0–7   columns 8–15         B: columns 0–7   columns 8–15
//   rows 0–7     lanes 0–7     lanes 16–23             lanes 0–7     lanes 8–15
//   rows 8–15    lanes 8–15    lanes 24–31             lanes 16–23   lanes 24–31
//
// Register i then holds two adjacent elements of matrix i: in lane l, those of row l / 4 from
// column 2 · (l mod 4) on. `mma` takes its operands and leaves its result in this form.

/// Where element `(row, column)` of a plain tile lies.
#[inline(always)]
pub const fn plain(row: u32, column: u32) -> usize {
    (row * SIDE + column) as usize
}

/// C = A·Bᵀ through plain tiles: 12 bank conflicts.
///
/// # Safety
///
/// `a`, `b` and `c` are aligned to 16 bytes and hold one 16×16 matrix per
/// block; `c` overlaps neither. Launch with [`BLOCK`](super::BLOCK)
/// threads and a block per product.
#[kernel(launch_bounds(WARP))]
pub unsafe fn mma_simple_plain(a: *const f16, b: *const f16, c: *mut f16) {
    let tile_a = shared_array![f16; MATRIX as usize, align = TILE_ALIGN_BYTES];
    let tile_b = shared_array![f16; MATRIX as usize, align = TILE_ALIGN_BYTES];
    let tile_c = shared_array![f16; MATRIX as usize, align = TILE_ALIGN_BYTES];
    let lane = warp::lane_id();

    // A lane copies eight elements, 16 bytes, of each operand.
    let own = (lane * CHUNK) as usize;
    let (a, b, c) = {
        let first = (thread::block_idx_x() * MATRIX) as usize + own;
        (a.add(first), b.add(first), c.add(first))
    };
    *tile_a.add(own).cast::<u128>() = *a.cast::<u128>();
    *tile_b.add(own).cast::<u128>() = *b.cast::<u128>();
    warp::sync_warp(FULL_MASK);

    let row_of_a = tile_a.add(plain(lane % 16, lane / 16 * 8));
    let row_of_b = tile_b.add(plain(lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8));
    let a = FragmentA::<f16, M16N8K16>::new(x4_at(address_in_space(row_of_a)));
    let [b0, b1, b2, b3] = x4_at(address_in_space(row_of_b));
    // Columns 0 to 7 of the result, which are rows 0 to 7 of B, and columns 8 to 15.
    let left = mma(a, FragmentB::new([b0, b1]), FragmentC::<f32>::zero());
    let right = mma(a, FragmentB::new([b2, b3]), FragmentC::<f32>::zero());

    let (row, column) = (lane / 4, lane % 4 * 2);
    let ([c0, c1], [c2, c3]) = (left.to_f16().registers, right.to_f16().registers);
    *tile_c.add(plain(row, column)).cast::<u32>() = c0;
    *tile_c.add(plain(row + 8, column)).cast::<u32>() = c1;
    *tile_c.add(plain(row, column + 8)).cast::<u32>() = c2;
    *tile_c.add(plain(row + 8, column + 8)).cast::<u32>() = c3;
    warp::sync_warp(FULL_MASK);
    *c.cast::<u128>() = *tile_c.add(own).cast::<u128>();
}

// ---------------------------------------------------------------------------
// By tiles and fragments
// ---------------------------------------------------------------------------

/// The tiles of one product.
struct Tiles<L> {
    a: Tile16<L>,
    b: Tile16<L>,
    c: Tile16<L>,
}

/// From global memory to fragments, multiplied: C in f32.
#[inline(always)]
unsafe fn product<L: Layout>(
    tiles: &Tiles<L>,
    a: *const f16,
    b: *const f16,
) -> [FragmentC<f32>; 2] {
    let lane = warp::lane_id();
    let problem = (thread::block_idx_x() * MATRIX) as usize;
    fill::<WARP, _, _, _>(tiles.a, a.add(problem), lane);
    fill::<WARP, _, _, _>(tiles.b, b.add(problem), lane);
    warp::sync_warp(FULL_MASK);
    let left = load_a(tiles.a, 0, 0);
    let right = load_b_transposed(tiles.b, 0, 0);
    multiply_add(left, right, zero())
}

/// Copies the result's tile to global memory.
#[inline(always)]
unsafe fn finish<L: Layout>(tiles: &Tiles<L>, c: *mut f16) {
    let problem = (thread::block_idx_x() * MATRIX) as usize;
    warp::sync_warp(FULL_MASK);
    drain::<WARP, _, _, _>(tiles.c, c.add(problem), warp::lane_id());
}

macro_rules! kernels {
    ($($(#[$about:meta])* $name:ident: $layout:ty, |$tiles:ident, $product:ident| $store:block)*) => { $(
        $(#[$about])*
        ///
        /// # Safety
        ///
        /// As [`mma_simple_plain`].
        #[kernel(launch_bounds(WARP))]
        pub unsafe fn $name(a: *const f16, b: *const f16, c: *mut f16) {
            let $tiles = Tiles {
                a: shared_tile!(Tile16<$layout>),
                b: shared_tile!(Tile16<$layout>),
                c: shared_tile!(Tile16<$layout>),
            };
            let $product = product(&$tiles, a, b);
            $store;
            finish(&$tiles, c);
        }
    )* };
}

kernels! {
    /// C = A·Bᵀ through padded tiles: no conflicts except in the copies.
    mma_simple_padded: PaddedByChunk, |tiles, product| {
        let [left, right] = product;
        store_c(tiles.c, 0, 0, left.to_f16());
        store_c(tiles.c, 0, 8, right.to_f16());
    }

    /// C = A·Bᵀ through swizzled tiles: no conflicts.
    mma_simple_swizzled: Swizzled16, |tiles, product| {
        let [left, right] = product;
        store_c(tiles.c, 0, 0, left.to_f16());
        store_c(tiles.c, 0, 8, right.to_f16());
    }

    /// C = A·Bᵀ through plain tiles, the result stored by one `stmatrix`.
    #[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
    mma_simple_stmatrix_plain: Plain, |tiles, product| {
        store_matrices(tiles.c, 0, 0, product.map(FragmentC::to_f16));
    }

    /// C = A·Bᵀ through swizzled tiles, the result stored by one `stmatrix`.
    #[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
    mma_simple_stmatrix_swizzled: Swizzled16, |tiles, product| {
        store_matrices(tiles.c, 0, 0, product.map(FragmentC::to_f16));
    }
}

/// C = A·Bᵀ summed in f16, eight products at a time, through swizzled tiles.
///
/// # Safety
///
/// As [`mma_simple_plain`].
#[kernel(launch_bounds(WARP))]
pub unsafe fn mma_simple_f16(a: *const f16, b: *const f16, c: *mut f16) {
    let tiles = Tiles {
        a: shared_tile!(Tile16<Swizzled16>),
        b: shared_tile!(Tile16<Swizzled16>),
        c: shared_tile!(Tile16<Swizzled16>),
    };
    let lane = warp::lane_id();
    let problem = (thread::block_idx_x() * MATRIX) as usize;
    fill::<WARP, _, _, _>(tiles.a, a.add(problem), lane);
    fill::<WARP, _, _, _>(tiles.b, b.add(problem), lane);
    warp::sync_warp(FULL_MASK);

    // The quarters of each block: 0 and 1 are its left half, k = 0 to 7. As Bᵀ,
    // quarters 0 and 2 are the columns 0 to 7 of B, 1 and 3 the columns 8 to 15.
    let [a0, a1, a2, a3] = load_a(tiles.a, 0, 0).registers;
    let [b0, b1, b2, b3] = load_a(tiles.b, 0, 0).registers;
    let k_low = FragmentA::<f16, M16N8K8>::new([a0, a1]);
    let k_high = FragmentA::<f16, M16N8K8>::new([a2, a3]);
    let left = mma(k_low, FragmentB::new([b0]), FragmentC::<f16>::zero());
    let left = mma(k_high, FragmentB::new([b2]), left);
    let right = mma(k_low, FragmentB::new([b1]), FragmentC::<f16>::zero());
    let right = mma(k_high, FragmentB::new([b3]), right);

    store_c(tiles.c, 0, 0, left);
    store_c(tiles.c, 0, 8, right);
    finish(&tiles, c);
}
