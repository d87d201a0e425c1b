//! 16×16 blocks out of wider tiles.
//!
//! The wider the tile, the fewer rows share a line of the banks, and the worse
//! `ldmatrix` fares in a plain one:
//!
//! | kernels | tile | computes | plain | swizzled |
//! |---|---|---|---|---|
//! | [`tile32_plain`], [`tile32_swizzled`] | 16×32 = (L R) | L·Rᵀ, two loads | 24 | 0 |
//! | [`tile64_one_plain`], [`tile64_one_swizzled`] | 16×64 = (T₀ T₁ T₂ T₃) | T₀·T₀ᵀ, one load | 28 | 0 |
//! | [`tile64_all_plain`], [`tile64_all_swizzled`] | 16×64 = M | M·Mᵀ = Σ Tᵢ·Tᵢᵀ, four loads | 112 | 0 |
//! | [`tile32_product_plain`], [`tile32_product_swizzled`] | 16×32 = (A B) | A·B, two loads | 24 | 0 |
//!
//! A block times its own transpose needs one load only: the registers of a left
//! operand are those of a right one, in another order
//! ([`load_b_transposed_pair`]).
//!
//! A·B wants the *columns* of B, and B lies row by row, so its load is
//! `ldmatrix.trans`. The addresses are the same, rows of 16 bytes, and so are
//! the conflicts; each 8×8 matrix is transposed only on its way to the
//! registers.
//!
//! All sums and results are in f32. [`tile32_swizzled`] has every address written out.

use cuda_std::half::f16;
use cuda_std::mma::ldmatrix::x4_at;
use cuda_std::mma::{
    FragmentA, FragmentB, FragmentC, M16N8K16, load_a, load_b, load_b_transposed,
    load_b_transposed_pair, mma,
};
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::tile::{Layout, Plain, TILE_ALIGN_BYTES, Tile};
use cuda_std::warp::FULL_MASK;

use super::{
    CHUNK, MATRIX, SIDE, Swizzled32, Swizzled64, WARP, fill, multiply_add, write_result, zero,
};

// ---------------------------------------------------------------------------
// Address by address
// ---------------------------------------------------------------------------

/// Chunks of 16 bytes in a row of 32 elements.
const ROW_CHUNKS: u32 = 2 * SIDE / CHUNK;

/// Where chunk `chunk` of row `row` of a swizzled 16×32 tile lies, in chunks: in its row, in an
/// order that changes with each line of the banks (two rows).
///
/// | rows | places of chunks 0, 1, 2, 3 in the row |
/// |---|---|
/// | 0, 1, 8, 9 | 0, 1, 2, 3 |
/// | 2, 3, 10, 11 | 1, 0, 3, 2 |
/// | 4, 5, 12, 13 | 2, 3, 0, 1 |
/// | 6, 7, 14, 15 | 3, 2, 1, 0 |
///
/// In offsets of elements that is `Swizzle<2, 3, 3>`, as in the other kernels.
#[inline(always)]
pub const fn place(row: u32, chunk: u32) -> usize {
    (row * ROW_CHUNKS + (chunk ^ (row / 2 % 4))) as usize
}

/// L·Rᵀ out of a swizzled 16×32 tile: no conflicts.
///
/// # Safety
///
/// As [`tile32_plain`].
#[kernel(launch_bounds(WARP))]
pub unsafe fn tile32_swizzled(input: *const f16, output: *mut f32) {
    let tile = shared_array![u128; (SIDE * ROW_CHUNKS) as usize, align = TILE_ALIGN_BYTES];
    let lane = warp::lane_id();
    let problem = (thread::block_idx_x() * 2 * MATRIX) as usize;

    // A lane copies two chunks, eight rows apart.
    let own = input.add(problem).cast::<u128>().add(lane as usize);
    let (row, chunk) = (lane / ROW_CHUNKS, lane % ROW_CHUNKS);
    *tile.add(place(row, chunk)) = *own;
    *tile.add(place(row + 8, chunk)) = *own.add(WARP as usize);
    warp::sync_warp(FULL_MASK);

    // The lanes name rows as in `simple`. L is chunks 0 and 1 of each row, R chunks 2 and 3.
    let row_of_l = tile.add(place(lane % 16, lane / 16));
    let row_of_r = tile.add(place(lane / 16 * 8 + lane % 8, 2 + lane / 8 % 2));
    let l = FragmentA::<f16, M16N8K16>::new(x4_at(address_in_space(row_of_l)));
    let [r0, r1, r2, r3] = x4_at(address_in_space(row_of_r));
    let left = mma(l, FragmentB::new([r0, r1]), FragmentC::<f32>::zero());
    let right = mma(l, FragmentB::new([r2, r3]), FragmentC::<f32>::zero());
    write_result(result(output), SIDE, [left, right]);
}

// ---------------------------------------------------------------------------
// By tiles and fragments
// ---------------------------------------------------------------------------

/// A 16×32 tile.
pub type Tile32<L> = Tile<f16, 16, 32, L>;
/// A 16×64 tile.
pub type Tile64<L> = Tile<f16, 16, 64, L>;

/// Fills the tile with the block's problem.
#[inline(always)]
unsafe fn begin<const COLUMNS: u32, L: Layout>(tile: Tile<f16, 16, COLUMNS, L>, input: *const f16) {
    let problem = (thread::block_idx_x() * SIDE * COLUMNS) as usize;
    fill::<WARP, _, _, _>(tile, input.add(problem), warp::lane_id());
    warp::sync_warp(FULL_MASK);
}

/// Where the block's result goes.
#[inline(always)]
unsafe fn result(output: *mut f32) -> *mut f32 {
    output.add((thread::block_idx_x() * MATRIX) as usize)
}

#[inline(always)]
unsafe fn left_times_right_transposed<L: Layout>(
    tile: Tile32<L>,
    input: *const f16,
    output: *mut f32,
) {
    begin(tile, input);
    let left = load_a(tile, 0, 0);
    let right = load_b_transposed(tile, 0, SIDE);
    write_result(result(output), SIDE, multiply_add(left, right, zero()));
}

#[inline(always)]
unsafe fn left_times_right<L: Layout>(tile: Tile32<L>, input: *const f16, output: *mut f32) {
    begin(tile, input);
    let left = load_a(tile, 0, 0);
    let right = load_b(tile, 0, SIDE);
    write_result(result(output), SIDE, multiply_add(left, right, zero()));
}

/// Σ Tᵢ·Tᵢᵀ over the first `N_BLOCKS` 16×16 blocks. Written out, so that every
/// warp-wide instruction is in straight-line code.
#[inline(always)]
unsafe fn gram<const N_BLOCKS: u32, L: Layout>(
    tile: Tile64<L>,
    input: *const f16,
    output: *mut f32,
) {
    const { assert!(N_BLOCKS == 1 || N_BLOCKS == 4) };
    begin(tile, input);
    let block = load_a(tile, 0, 0);
    let mut sum = multiply_add(block, load_b_transposed_pair(block), zero());
    if const { N_BLOCKS == 4 } {
        let block = load_a(tile, 0, SIDE);
        sum = multiply_add(block, load_b_transposed_pair(block), sum);
        let block = load_a(tile, 0, 2 * SIDE);
        sum = multiply_add(block, load_b_transposed_pair(block), sum);
        let block = load_a(tile, 0, 3 * SIDE);
        sum = multiply_add(block, load_b_transposed_pair(block), sum);
    }
    write_result(result(output), SIDE, sum);
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident = $body:ident $(::<$n:literal>)?($tile:ident<$layout:ty>);)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// `input` and `output` are aligned to 16 bytes and do not overlap;
        /// `input` holds a tile per block, `output` a 16×16 matrix per block. Launch
        /// with [`BLOCK`](super::BLOCK) threads and a block per tile.
        #[kernel(launch_bounds(WARP))]
        pub unsafe fn $name(input: *const f16, output: *mut f32) {
            $body$(::<$n, _>)?(shared_tile!($tile<$layout>), input, output);
        }
    )* };
}

kernels! {
    /// L·Rᵀ out of a plain 16×32 tile: 24 conflicts.
    tile32_plain = left_times_right_transposed(Tile32<Plain>);
    /// T₀·T₀ᵀ out of a plain 16×64 tile: 28 conflicts in one load.
    tile64_one_plain = gram::<1>(Tile64<Plain>);
    /// T₀·T₀ᵀ out of a swizzled 16×64 tile: none.
    tile64_one_swizzled = gram::<1>(Tile64<Swizzled64>);
    /// M·Mᵀ of a plain 16×64 tile: 112 conflicts in four loads.
    tile64_all_plain = gram::<4>(Tile64<Plain>);
    /// M·Mᵀ of a swizzled 16×64 tile: none.
    tile64_all_swizzled = gram::<4>(Tile64<Swizzled64>);
    /// A·B out of a plain 16×32 tile, B through `.trans`: 24 conflicts.
    tile32_product_plain = left_times_right(Tile32<Plain>);
    /// A·B out of a swizzled 16×32 tile, B through `.trans`: none.
    tile32_product_swizzled = left_times_right(Tile32<Swizzled32>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_chunks_are_the_swizzle_of_the_other_kernels() {
        for (row, chunk) in (0..SIDE).flat_map(|row| (0..ROW_CHUNKS).map(move |c| (row, c))) {
            assert_eq!(
                place(row, chunk) as u32 * CHUNK,
                Tile32::<Swizzled32>::offset(row, chunk * CHUNK)
            );
        }
    }
}
