//! Step 16: split-K over the grid. Few tiles with long sums, each computed by blocks anywhere.
//!
//! 512 rows and columns are eight tiles of 128×256. In [`split_k`](super::split_k) a cluster of at
//! most eight blocks computes a tile: 64 of 132 SMs have work. Smaller tiles would occupy more SMs,
//! but take more bytes per product from the cache. So k is cut into as many parts as there
//! are SMs for the tile, wherever they are, and sums meet in global memory:
//!
//! ```text
//!   every block     multiplies its steps, leaves its 128 × 256 sums, and counts itself
//!                   waits until all blocks of the tile have done so
//!                   adds up its share of the elements from what all have left
//! ```
//!
//! The shares are disjoint, the order of the additions is fixed, and together all blocks read
//! exactly what they wrote. Because they wait for each other, all must run at once: a tile has at
//! most as many parts as [`n_parts`] allows.
//!
//! Two blocks with the same steps form a [`cluster`]: half of what they read is the same.
//!
//! The limit is the sums that are left and read again: 128 KB per block each way.

use cuda_std::atomic::{self, Acquire, Device, Global, Relaxed, Release};
use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::vector::Float4;
use cuda_std::warp::FULL_MASK;
use cuda_std::wgmma::{M, Sums, WARPGROUP};
use cuda_std::{TensorMap, grid as launches, warpgroup};

use super::epilogue::{AsItIs, Direct, Store};
use super::pipeline::Ring;
use super::split_k::{
    BLOCK_THREADS, MULTIPLIER_THREADS, N_MULTIPLIERS, Part, Tile, add_up, copy, is_filled, multiply,
};
use super::{Sizes, depth};
use cuda_std::unrolled;

/// A block's tile.
pub const TILE: Tile = Tile::LARGE;
/// Rows of a tile in warpgroups.
const ROWS: u32 = 2;
/// Sums per thread.
const REGISTERS: usize = 128;
/// Groups of four of them.
const CHUNKS: u32 = REGISTERS as u32 / 4;
/// Sums that a block leaves.
pub const LEFT_SUMS: u32 = TILE.m * TILE.n;
/// Counters of a tile: one for each warpgroup that multiplies.
pub const COUNTERS: u32 = N_MULTIPLIERS;

const _: () = assert!(TILE.m == ROWS * M && TILE.n == 2 * REGISTERS as u32);

/// The number of parts into which k is cut on this many SMs: as many as let all blocks run at once,
/// each with a step and with sums to add up.
pub const fn n_parts(m: u32, n: u32, k: u32, n_multiprocessors: u32) -> u32 {
    let n_steps = k.div_ceil(depth::<f16>());
    let [_, rows, columns] = TILE.grid(m, n, 1);
    let n_tiles = rows as u64 * columns as u64;
    let mut n_parts = CHUNKS;
    while n_parts > 1 {
        let run_at_once = n_tiles * n_parts as u64 <= n_multiprocessors as u64;
        if is_filled(n_steps, n_parts) && run_at_once {
            break;
        }
        n_parts -= 1;
    }
    n_parts
}

/// The clusters of a grid: two blocks with the same steps of adjacent tiles. They share only
/// what they read, at about the same time; a cluster's blocks are near each other, and what
/// both request is fetched once.
pub const fn cluster([_, rows, columns]: [u32; 3]) -> [u8; 3] {
    if rows.is_multiple_of(2) {
        [1, 2, 1]
    } else if columns.is_multiple_of(2) {
        [1, 1, 2]
    } else {
        [1, 1, 1]
    }
}

/// Where the blocks of all tiles leave their sums, [`LEFT_SUMS`] for each block, and count
/// themselves, [`COUNTERS`] for each tile, which are 0 before and after the launch.
#[derive(Clone, Copy)]
struct Left {
    sums: *mut f32,
    counters: *mut u32,
}

impl Left {
    /// The place of a chunk of this thread's sums in what part `part` of the block's tile leaves.
    /// Those of neighbouring threads are side by side.
    #[inline(always)]
    unsafe fn chunk(self, part: u32, chunk: u32) -> *mut Float4 {
        let block = tile() * thread::grid_dim_x() + part;
        let in_block = chunk * MULTIPLIER_THREADS + thread::thread_idx_x();
        self.sums
            .add(block as usize * LEFT_SUMS as usize)
            .cast::<Float4>()
            .add(in_block as usize)
    }

    /// Leaves the thread's sums.
    #[inline(always)]
    unsafe fn put(self, sums: &[f32; REGISTERS]) {
        unrolled::<{ REGISTERS / 4 }>(|chunk| {
            let i = 4 * chunk;
            let four = Float4::new(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
            four.store(self.chunk(thread::block_idx_x(), chunk as u32));
        });
    }

    /// Waits until the warpgroup's sums of all parts have been left.
    #[inline(always)]
    unsafe fn wait_for_all(self, role: u32) {
        let counter = self.counter(role);
        warpgroup::sync(role + 1);
        if is_first() {
            atomic::add(counter, 1u32, Global, Device, Release);
        }
        loop {
            // Blocks that are already done count on.
            let n_there = atomic::load(counter, Global, Device, Acquire);
            if warp::warp_vote_all(FULL_MASK, n_there >= thread::grid_dim_x()) {
                break;
            }
        }
    }

    /// Signals that the warpgroup has read what it needs; the last one clears the counter.
    #[inline(always)]
    unsafe fn done(self, role: u32) {
        let counter = self.counter(role);
        warpgroup::sync(role + 1);
        if is_first() {
            let before = atomic::add(counter, 1u32, Global, Device, Relaxed);
            if before + 1 == 2 * thread::grid_dim_x() {
                atomic::store(counter, 0, Global, Device, Relaxed);
            }
        }
    }

    #[inline(always)]
    unsafe fn counter(self, role: u32) -> *mut u32 {
        self.counters.add((tile() * COUNTERS + role) as usize)
    }
}

/// Whether this is the first thread of its warpgroup.
#[inline(always)]
fn is_first() -> bool {
    thread::thread_idx_x().is_multiple_of(WARPGROUP)
}

/// The number of the block's tile.
#[inline(always)]
fn tile() -> u32 {
    thread::block_idx_z() * thread::grid_dim_y() + thread::block_idx_y()
}

/// Few tiles with long sums: each by blocks that meet in global memory.
///
/// # Safety
///
/// `a` and `b` are maps of m and n rows along k, with the [`Tile::boxes`] and a swizzle of 128
/// bytes; `c` has room for m rows, `pitch` elements apart, an even number. `sums` has room for
/// [`LEFT_SUMS`] per block, `counters` are [`COUNTERS`] zeros per tile. Launch with the
/// [`Tile::grid`] for at most [`n_parts`] parts, its [`cluster`], [`BLOCK`](super::split_k::BLOCK) and
/// the [`Tile::shared_bytes`]; all blocks must be able to run at once.
#[kernel(pdl, launch_bounds(BLOCK_THREADS, 1))]
pub unsafe fn gemm_split_k_grid(
    a: &TensorMap,
    b: &TensorMap,
    c: *mut f16,
    m: u32,
    n: u32,
    k: u32,
    pitch: u32,
    sums: *mut f32,
    counters: *mut u32,
) {
    let sizes = Sizes { m, n, k };
    let left = Left { sums, counters };
    let store = Direct {
        c,
        pitch,
        sizes,
        finish: AsItIs,
    };
    let ring = Ring::<{ TILE.stages }>::new(TILE.stage_bytes(), 0);
    let role = warpgroup::index();
    if thread::thread_idx_x() == 0 {
        ring.make(N_MULTIPLIERS);
    }
    thread::sync_threads();
    let part = Part::of(
        sizes.k,
        TILE.m,
        TILE.n,
        thread::block_idx_x(),
        thread::grid_dim_x(),
    );
    // Up to here nothing depends on the previous launch.
    launches::let_next_start();
    launches::wait_for_previous();

    if role == N_MULTIPLIERS {
        if warp::is_elected() {
            copy::<f16, { TILE.stages }>(a, b, ring, part, TILE.m, TILE.n);
        }
        return;
    }
    let mut product = Sums::<f16, REGISTERS>::new();
    multiply::<f16, ROWS, REGISTERS, { TILE.stages }>(&mut product, ring, role, part);
    let (row, column) = (part.row + role * M, part.column);
    if thread::grid_dim_x() == 1 {
        store.store::<false, REGISTERS>(0, role, product.finish(), row, column);
        return;
    }
    left.put(product.finish());
    left.wait_for_all(role);
    let (part, n_parts) = (thread::block_idx_x(), thread::grid_dim_x());
    let from = |part, chunk| Float4::load(left.chunk(part, chunk));
    add_up::<REGISTERS>(part, n_parts, from, store, row, column);
    left.done(role);
}

#[cfg(test)]
mod tests {
    use super::n_parts;

    const N_MULTIPROCESSORS: u32 = 132;

    #[test]
    fn all_blocks_run_at_once_and_none_is_empty() {
        let parts = |m, n, k| n_parts(m, n, k, N_MULTIPROCESSORS);
        assert_eq!(parts(512, 512, 65536), 16);
        assert_eq!(parts(1024, 1024, 32768), 4);
        assert_eq!(parts(8192, 8192, 8192), 1);
        assert_eq!(parts(128, 256, 512), 8);
        for k in [1, 64, 65, 300, 640, 4096, 65536] {
            let n = parts(1, 1, k);
            let n_steps = k.div_ceil(64);
            assert!((n - 1) * n_steps.div_ceil(n) < n_steps, "{n} parts of {k}");
        }
    }
}
