//! Step 15: split-K. Few tiles, each computed by a cluster whose blocks divide its steps along k.
//!
//! 16 rows of 4,096 columns are 32 tiles of 128 columns: 100 of 132 SMs are idle,
//! and the little that is computed waits for B, which 32 SMs cannot read from memory
//! at its full rate. So the blocks of a cluster compute one tile together: each does a part of the
//! steps along k, for all columns of the tile.
//!
//! ```text
//!   k        ├──── block 0 ────┼──── block 1 ────┼──── block 2 ────┼──── block 3 ────┤
//!                   ▼                 ▼                 ▼                 ▼
//!   sums     128 × 128         128 × 128         128 × 128         128 × 128
//!            └─ a quarter of them is added up by each block, from the shared memory of all ─┘
//! ```
//!
//! Then each element has as many sums as there are blocks. Each block leaves its own in its
//! shared memory, where the tiles are no longer needed, and adds up its share of the elements from
//! the shared memory of all: no sum goes through global memory, no block waits for a flag, and the
//! order of the additions is fixed. ([`ping_pong`](super::ping_pong) with stream-K leaves sums in
//! global memory instead, which is better if there are many tiles.)
//!
//! # Tiles
//!
//! If m or n is small, the tile should be small too. Memory determines the time, so as many
//! bytes as possible should be in flight: all of shared memory is stages.
//!
//! | kernel | tile | stages |
//! |---|---|---|
//! | [`gemm_split_k_64x128`] | 64 × 128 | 9 |
//! | [`gemm_split_k_128x64`] | 128 × 64 | 9 |
//! | [`gemm_split_k_128x128`] | 128 × 128 | 7 |
//! | [`gemm_split_k_128x192`] | 128 × 192 | 5 |
//! | [`gemm_split_k_128x256`] | 128 × 256 | 4 |
//!
//! [`Tile::n_parts`] gives the best number of parts along k.

use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::shared::store_float4;
use cuda_std::vector::Float4;
use cuda_std::wgmma::{
    AlongK, Factor, M, Multiply, Operand, ROW_BYTES, Sums, WARPGROUP, position, wait_for_all_but,
};
use cuda_std::{TensorMap, bulk, cluster, grid as launches, mbarrier, warpgroup};

use super::epilogue::{AsItIs, Direct, Store};
use super::operand::Layout;
use super::pipeline::{Ring, Turn, shared_bytes};
use super::{Sizes, depth};
use crate::quotient::quotient;
use cuda_std::unrolled;

/// Warpgroups that multiply; a warp after them copies.
pub(super) const N_MULTIPLIERS: u32 = 2;
pub(super) const MULTIPLIER_THREADS: u32 = N_MULTIPLIERS * WARPGROUP;
/// Block, in threads.
pub const BLOCK_THREADS: u32 = MULTIPLIER_THREADS + 32;
/// Block.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// A block's tile, and its stages.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// Rows of C.
    pub m: u32,
    /// Columns of C.
    pub n: u32,
    /// Stages of the ring.
    pub stages: u32,
}

impl Tile {
    /// For few rows.
    pub const FEW_ROWS: Self = Self::new(64, 128, 9);
    /// For few columns.
    pub const FEW_COLUMNS: Self = Self::new(128, 64, 9);
    /// For small products.
    pub const SMALL: Self = Self::new(128, 128, 7);
    /// For products in which 128×256 would leave a quarter of the SMs idle.
    pub const MIDDLE: Self = Self::new(128, 192, 5);
    /// For long sums.
    pub const LARGE: Self = Self::new(128, 256, 4);

    const fn new(m: u32, n: u32, stages: u32) -> Self {
        Self { m, n, stages }
    }

    /// Bytes of a stage of the ring.
    pub const fn stage_bytes(self) -> u32 {
        (self.m + self.n) * ROW_BYTES
    }

    /// Dynamic shared memory, in bytes.
    pub const fn shared_bytes(self) -> u32 {
        let bytes = shared_bytes(self.stages, self.stage_bytes(), 0);
        assert!(
            self.m * self.n * 4 <= self.stages * self.stage_bytes(),
            "the sums fit where the tiles were"
        );
        bytes
    }

    /// Boxes of the maps of A and B.
    pub fn boxes(self) -> [[u32; 2]; 2] {
        [
            AlongK::box_dims(depth::<f16>(), self.m, 1),
            AlongK::box_dims(depth::<f16>(), self.n, 1),
        ]
    }

    /// The grid for clusters of `n_parts` blocks: parts, rows of tiles, columns of tiles.
    pub const fn grid(self, m: u32, n: u32, n_parts: u32) -> [u32; 3] {
        [n_parts, m.div_ceil(self.m), n.div_ceil(self.n)]
    }

    /// The number of parts into which to cut k on this many SMs: as many as let all blocks
    /// run at once, each with at least one step.
    pub const fn n_parts(self, m: u32, n: u32, k: u32, n_multiprocessors: u32) -> u32 {
        let n_steps = k.div_ceil(depth::<f16>());
        let [_, rows, columns] = self.grid(m, n, 1);
        let n_tiles = rows as u64 * columns as u64;
        let mut n_parts = MAX_PARTS;
        while n_parts > 1 {
            if is_filled(n_steps, n_parts)
                && n_tiles <= n_clusters(n_parts, n_multiprocessors) as u64
            {
                break;
            }
            n_parts -= 1;
        }
        n_parts
    }
}

/// Whether each of this many equal parts has a step.
pub(super) const fn is_filled(n_steps: u32, n_parts: u32) -> bool {
    (n_parts - 1) * n_steps.div_ceil(n_parts) < n_steps
}

/// Clusters of one block per SM that are certain to run at once. A cluster's blocks are in
/// one group of SMs, and what is left over in each group is lost. The size of the groups is
/// not documented; of an H200's 132 SMs 32 clusters of 3 run at once, but neither 32 of 4
/// nor 16 of 7.
const fn n_clusters(n_blocks: u32, n_multiprocessors: u32) -> u32 {
    const GROUPS: u32 = 7;
    match n_blocks {
        1 | 2 => n_multiprocessors / n_blocks,
        _ => GROUPS * (n_multiprocessors / GROUPS / n_blocks),
    }
}

/// Most blocks that compute a tile together: the largest cluster that every device supports.
pub const MAX_PARTS: u32 = 8;

/// A block's part of the steps of its tile.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub row: u32,
    pub column: u32,
    pub first: u32,
    pub end: u32,
}

impl Part {
    /// Part `number` of `n_parts` of the block's tile.
    #[inline(always)]
    pub fn of(k: u32, tile_m: u32, tile_n: u32, number: u32, n_parts: u32) -> Self {
        let n_steps = k.div_ceil(depth::<f16>());
        let most = quotient(n_steps + n_parts - 1, n_parts);
        let first = number * most;
        Self {
            row: thread::block_idx_y() * tile_m,
            column: thread::block_idx_z() * tile_n,
            first,
            end: n_steps.min(first + most),
        }
    }
}

/// A block of a cluster that computes a tile.
#[inline(always)]
unsafe fn work<T, const ROWS: u32, const REGISTERS: usize, const STAGES: u32>(
    a: &TensorMap,
    b: &TensorMap,
    sizes: Sizes,
    store: Direct<f16, AsItIs>,
) where
    T: Multiply<REGISTERS, Sum = f32>,
{
    let (tile_m, tile_n) = (ROWS * M, N_MULTIPLIERS / ROWS * 2 * REGISTERS as u32);
    let ring = Ring::<STAGES>::new((tile_m + tile_n) * ROW_BYTES, 0);
    let role = warpgroup::index();
    if thread::thread_idx_x() == 0 {
        ring.make(N_MULTIPLIERS);
    }
    thread::sync_threads();
    let (rank, n_blocks) = (cluster::rank(), cluster::n_blocks());
    let part = Part::of(sizes.k, tile_m, tile_n, rank, n_blocks);
    // Up to here nothing depends on the previous launch.
    launches::let_next_start();
    launches::wait_for_previous();

    let mut sums = Sums::<T, REGISTERS>::new();
    if role == N_MULTIPLIERS {
        if warp::is_elected() {
            copy::<T, STAGES>(a, b, ring, part, tile_m, tile_n);
        }
    } else {
        multiply::<T, ROWS, REGISTERS, STAGES>(&mut sums, ring, role, part);
    }
    let row = part.row + role % ROWS * M;
    let column = part.column + role / ROWS * 2 * REGISTERS as u32;
    if n_blocks == 1 {
        if role != N_MULTIPLIERS {
            store.store::<false, REGISTERS>(0, role, sums.finish(), row, column);
        }
        return;
    }
    // The tiles have been read by now.
    thread::sync_threads();
    if role != N_MULTIPLIERS {
        put(ring.base, sums.finish());
    }
    cluster::sync();
    if role != N_MULTIPLIERS {
        let left = |block, chunk| {
            let place = chunk_at(ring.base, thread::thread_idx_x(), chunk);
            cluster::load_float4(cluster::address_at(place, block))
        };
        add_up::<REGISTERS>(rank, n_blocks, left, store, row, column);
    }
    // No block ends while others may still read its sums.
    cluster::sync();
}

/// The thread that copies.
#[inline(always)]
pub(super) unsafe fn copy<T: Factor, const STAGES: u32>(
    a: &TensorMap,
    b: &TensorMap,
    ring: Ring<STAGES>,
    part: Part,
    tile_m: u32,
    tile_n: u32,
) {
    bulk::prefetch_map(a);
    bulk::prefetch_map(b);
    let mut turn = Turn::FILL;
    let mut step = part.first;
    while step < part.end {
        mbarrier::wait(ring.free(turn.stage), turn.parity);
        let full = ring.full(turn.stage);
        let to = ring.base + turn.stage * ring.stage_bytes;
        let k = step * depth::<T>();
        mbarrier::arrive_expecting(full, ring.stage_bytes);
        AlongK::load(to, a, tile_m, part.row, k, full);
        AlongK::load(to + tile_m * ROW_BYTES, b, tile_n, part.column, k, full);
        turn.advance::<STAGES>();
        step += 1;
    }
}

/// A warpgroup that multiplies: its rows of the tile, or its columns.
#[inline(always)]
pub(super) unsafe fn multiply<
    T: Multiply<REGISTERS, Sum = f32>,
    const ROWS: u32,
    const REGISTERS: usize,
    const STAGES: u32,
>(
    sums: &mut Sums<T, REGISTERS>,
    ring: Ring<STAGES>,
    role: u32,
    part: Part,
) {
    let further_a = role % ROWS * M;
    let further_b = role / ROWS * Sums::<T, REGISTERS>::N;
    let tile_a = Operand::<T, AlongK>::at(ring.base).further(further_a * ROW_BYTES);
    let tile_b =
        Operand::<T, AlongK>::at(ring.base + ROWS * M * ROW_BYTES).further(further_b * ROW_BYTES);
    let is_first = thread::thread_idx_x().is_multiple_of(WARPGROUP);
    let mut turn = Turn::READ;
    let mut previous = 0;
    let mut step = part.first;
    while step < part.end {
        mbarrier::wait(ring.full(turn.stage), turn.parity);
        let further = turn.stage * ring.stage_bytes;
        let is_further = step != part.first;
        sums.add_product(tile_a.further(further), tile_b.further(further), is_further);
        // The product before this one is done.
        wait_for_all_but::<1>();
        mbarrier::arrive_if(is_first & is_further, ring.free(previous));
        previous = turn.stage;
        turn.advance::<STAGES>();
        step += 1;
    }
    sums.finish();
}

/// Address of the thread's chunk of four sums: those of neighbouring threads are side by side.
#[inline(always)]
const fn chunk_at(base: u32, thread: u32, chunk: u32) -> u32 {
    base + (chunk * MULTIPLIER_THREADS + thread) * size_of::<Float4>() as u32
}

/// Leaves the thread's sums where other blocks can read them.
#[inline(always)]
unsafe fn put<const REGISTERS: usize>(base: u32, sums: &[f32; REGISTERS]) {
    unrolled::<32>(|chunk| {
        if chunk < REGISTERS / 4 {
            let i = 4 * chunk;
            let four = Float4::new(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
            store_float4(chunk_at(base, thread::thread_idx_x(), chunk as u32), four);
        }
    });
}

/// Adds up the block's share of the sums of all blocks, and stores it. A thread has elements
/// that it computed itself, in groups, with gaps between them: `left` has a block's sums of a
/// group.
#[inline(always)]
pub(super) unsafe fn add_up<const REGISTERS: usize>(
    rank: u32,
    n_blocks: u32,
    left: impl Fn(u32, u32) -> Float4,
    store: Direct<f16, AsItIs>,
    row: u32,
    column: u32,
) {
    let mut chunk = rank;
    while chunk < REGISTERS as u32 / 4 {
        let mut sums = [0.0; 4];
        let mut block = 0;
        while block < n_blocks {
            let theirs = left(block, chunk);
            sums[0] += theirs.x;
            sums[1] += theirs.y;
            sums[2] += theirs.z;
            sums[3] += theirs.w;
            block += 1;
        }
        let at = position(thread::thread_idx_x() % WARPGROUP, 4 * chunk);
        let (row, column) = (row + at.row, column + at.column);
        store.store_pair([sums[0], sums[1]], row, column);
        // The third and the fourth are those of the row eight further down.
        store.store_pair([sums[2], sums[3]], row + 8, column);
        chunk += n_blocks;
    }
}

macro_rules! split_k {
    ($($(#[$doc:meta])* $name:ident: $tile:ident, $rows:literal, $registers:literal;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// `a` and `b` are maps of m and n rows along k, with the [`Tile::boxes`] and a swizzle of
        /// 128 bytes; `c` has room for m rows, `pitch` elements apart, an even number. Launch with
        /// the [`Tile::grid`] in clusters of as many blocks as k has parts, [`BLOCK`] and the
        /// [`Tile::shared_bytes`].
        #[kernel(pdl, launch_bounds(BLOCK_THREADS, 1))]
        pub unsafe fn $name(
            a: &TensorMap,
            b: &TensorMap,
            c: *mut f16,
            m: u32,
            n: u32,
            k: u32,
            pitch: u32,
        ) {
            const {
                assert!(Tile::$tile.m == $rows * M);
                assert!(Tile::$tile.n == N_MULTIPLIERS / $rows * 2 * $registers);
            }
            let sizes = Sizes { m, n, k };
            let store = Direct { c, pitch, sizes, finish: AsItIs };
            work::<f16, $rows, $registers, { Tile::$tile.stages }>(a, b, sizes, store);
        }
    )* };
}

split_k! {
    /// For few rows.
    gemm_split_k_64x128: FEW_ROWS, 1, 32;
    /// For few columns.
    gemm_split_k_128x64: FEW_COLUMNS, 2, 32;
    /// For small products.
    gemm_split_k_128x128: SMALL, 2, 64;
    /// For products in which 128×256 would leave a quarter of the SMs idle.
    gemm_split_k_128x192: MIDDLE, 2, 96;
    /// For long sums.
    gemm_split_k_128x256: LARGE, 2, 128;
}

#[cfg(test)]
mod tests {
    use super::Tile;

    const N_MULTIPROCESSORS: u32 = 132;

    #[test]
    fn few_tiles_are_cut_and_many_are_not() {
        let n_parts = |tile: Tile, [m, n, k]: [u32; 3]| tile.n_parts(m, n, k, N_MULTIPROCESSORS);
        assert_eq!(n_parts(Tile::FEW_ROWS, [16, 4096, 4096]), 3);
        assert_eq!(n_parts(Tile::FEW_ROWS, [32, 8192, 8192]), 2);
        assert_eq!(n_parts(Tile::FEW_ROWS, [64, 65536, 4096]), 1);
        assert_eq!(n_parts(Tile::SMALL, [512, 512, 65536]), 6);
        assert_eq!(n_parts(Tile::LARGE, [8192, 8192, 8192]), 1);
    }

    #[test]
    fn no_part_is_empty() {
        for k in [1, 64, 65, 200, 300, 512, 513, 640] {
            let n_parts = Tile::SMALL.n_parts(1, 1, k, N_MULTIPROCESSORS);
            let n_steps = k.div_ceil(64);
            let most = n_steps.div_ceil(n_parts);
            assert!((n_parts - 1) * most < n_steps, "{n_parts} parts of {k}");
        }
    }
}
