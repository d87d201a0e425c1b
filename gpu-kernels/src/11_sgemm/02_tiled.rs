//! One thread per element, through tiles in shared memory.

use cuda_std::float::GpuFloat;
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::{element, load_or_zero};
use cuda_std::unrolled;

/// Side of the tiles, in elements, and of the block, in threads.
pub const TILE: u32 = 32;

const TILE_ELEMENTS: usize = (TILE * TILE) as usize;
/// Elements along k that one load of A has.
const CHUNK: u32 = 4;

// A warp is one row of the block: its lanes meet all 32 banks.
const _: () = assert!(TILE == 32);

/// The block loads a 32×32 tile of A and one of B, multiplies them, and goes on to
/// the next along k.
///
/// ```text
///                 k →                    column →
///            ┌────┬────┬────┐      k  ┌────┬────┐
///   row ↓    │    │tile│    │      ↓  │    │    │
///            └────┴────┴────┘         ├────┼────┤
///                                     │    │tile│
///                                     └────┴────┘
/// ```
///
/// An element loaded from global memory is used by 32 threads: 1/32 of the
/// requests there. But each multiply-add still takes more than one load, now from shared
/// memory: a row of 32 words of B, and a quarter of a load of A, which brings four words
/// along k, the same for all lanes.
///
/// # Safety
///
/// As [`sgemm_naive`](super::naive::sgemm_naive), with this file's [`BLOCK`] and
/// [`grid`].
#[kernel(launch_bounds(TILE * TILE))]
pub unsafe fn sgemm_tiled(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let a_tile = shared_array![f32; TILE_ELEMENTS, align = 16];
    let b_tile = shared_array![f32; TILE_ELEMENTS];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let row = thread::block_idx_y() * TILE + y;
    let column = thread::block_idx_x() * TILE + x;

    let mut sum = 0.0_f32;
    let mut first = 0;
    while first < k {
        // Beyond the edges are zeros, which change no sum.
        *a_tile.add(element(y, x, TILE)) = load_or_zero(a, row, first + x, m, k);
        *b_tile.add(element(y, x, TILE)) = load_or_zero(b, first + y, column, k, n);
        thread::sync_threads();
        // On its own the compiler unrolls it only four times, and loads A's values
        // one by one.
        unrolled::<{ (TILE / CHUNK) as usize }>(|chunk| {
            let i = chunk as u32 * CHUNK;
            let a_values = Float4::load(a_tile.add(element(y, i, TILE)).cast());
            let b_value = |j| *b_tile.add(element(i + j, x, TILE));
            sum = GpuFloat::mul_add(a_values.x, b_value(0), sum);
            sum = GpuFloat::mul_add(a_values.y, b_value(1), sum);
            sum = GpuFloat::mul_add(a_values.z, b_value(2), sum);
            sum = GpuFloat::mul_add(a_values.w, b_value(3), sum);
        });
        thread::sync_threads();
        first += TILE;
    }
    if row < m && column < n {
        *c.add(element(row, column, n)) = sum;
    }
}

/// Block of [`sgemm_tiled`], in threads.
pub const BLOCK: [u32; 3] = [TILE, TILE, 1];

/// Grid of [`sgemm_tiled`]: x over columns, y over rows.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(TILE), m.div_ceil(TILE), 1]
}
