//! Steps 7 to 10: one warpgroup copies, two multiply.
//!
//! # 7: warp specialization
//!
//! In [`tma`](super::tma) the warpgroup that multiplies also copies, and its sums of 64×256
//! make a tile of only 64 rows: little is computed per column of B that is copied. Here two
//! warpgroups multiply, 64 rows each, with the same columns, and a third only copies, with one of
//! its threads. They synchronise by two barriers per stage ([`pipeline`](super::pipeline)).
//!
//! A thread that multiplies needs 128 registers for sums and more for the rest, but 384 threads
//! get only 168 each. So the copiers give most of theirs up, and the multipliers
//! take them ([`warpgroup`]).
//!
//! # 8: persistent blocks
//!
//! The same kernel, launched with one block per SM, which computes one tile after another:
//! while the last results are stored, the next tiles are already being copied. And tiles are taken
//! in an [order](super::tile_scheduler) that finds operands in the cache.
//!
//! # 9: the epilogue stores tiles
//!
//! [`TmaEpilogue`] instead of [`Direct`].
//!
//! # 10: pairs of blocks
//!
//! Two tiles in the same columns need the same tile of B. Two blocks of a cluster each copy half of
//! it into the shared memory of both. A stage is free when the warpgroups of both blocks have
//! read it, so they arrive at each other's barriers. That is a third less to copy; on an H200 it
//! saves no time, since a pair waits for its slower block (the ladder in the README has the
//! figures).

use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::warpgroup::{self, give_registers, take_registers};
use cuda_std::wgmma::{
    AlongK, Factor, M, Multiply, Operand, ROW_BYTES, Sums, WARPGROUP, wait_for_all_but,
};
use cuda_std::{TensorMap, bulk, cluster, mbarrier};

use super::epilogue::{AsItIs, BOX_N, Direct, Store, TmaEpilogue};
use super::operand::Layout;
use super::pipeline::{Ring, Turn, shared_bytes};
use super::tile_scheduler::Tiles;
use super::{Sizes, TILE_M, depth};

/// Columns of C that a block computes.
pub const TILE_N: u32 = tile_n(REGISTERS);
/// Registers with sums.
pub(super) const REGISTERS: usize = 128;
pub(super) const STAGES: u32 = 4;
pub(super) const A_BYTES: u32 = TILE_M * ROW_BYTES;
pub(super) const STAGE_BYTES: u32 = stage_bytes(REGISTERS);
/// Warpgroups that multiply; the next one copies.
pub(super) const N_MULTIPLIERS: u32 = 2;
/// Block, in threads.
pub const BLOCK_THREADS: u32 = (N_MULTIPLIERS + 1) * WARPGROUP;
/// Block.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];
/// Registers of a thread that multiplies, and of one that copies.
pub(super) const MULTIPLIER_REGISTERS: u32 = 232;
pub(super) const COPIER_REGISTERS: u32 = 40;
const _: () = assert!(
    N_MULTIPLIERS * WARPGROUP * MULTIPLIER_REGISTERS + WARPGROUP * COPIER_REGISTERS <= 65536,
    "an SM has this many registers"
);

/// Dynamic shared memory in bytes, with results from registers.
pub const SHARED_BYTES: u32 = shared_bytes(STAGES, STAGE_BYTES, 0);
/// The same with the TMA epilogue.
pub const TMA_EPILOGUE_BYTES: u32 = shared_bytes(
    STAGES,
    STAGE_BYTES,
    N_MULTIPLIERS * TmaEpilogue::<f16, AsItIs>::STAGING_BYTES,
);

/// Boxes of the maps of A and B, in clusters of `n_blocks`.
pub fn boxes(depth: u32, n_blocks: u32) -> [[u32; 2]; 2] {
    boxes_of(TILE_N, depth, n_blocks)
}

/// [`boxes`] for tiles of this many columns.
pub(super) fn boxes_of(tile_n: u32, depth: u32, n_blocks: u32) -> [[u32; 2]; 2] {
    [
        AlongK::box_dims(depth, TILE_M, 1),
        AlongK::box_dims(depth, tile_n, n_blocks),
    ]
}

/// Box of the map of C for the TMA epilogue.
pub const C_BOX: [u32; 2] = [BOX_N, M];

/// Columns of a tile whose sums of 64 rows take this many registers of a warpgroup.
pub(super) const fn tile_n(registers: usize) -> u32 {
    2 * registers as u32
}

/// Bytes of a stage for such a tile.
pub(super) const fn stage_bytes(registers: usize) -> u32 {
    A_BYTES + tile_n(registers) * ROW_BYTES
}

/// Tiles of C.
pub const fn n_tiles(m: u32, n: u32) -> u32 {
    n_tiles_of(TILE_N, m, n, 1)
}

/// Tiles of this many columns, in rows of `n_blocks`.
pub(super) const fn n_tiles_of(tile_n: u32, m: u32, n: u32, n_blocks: u32) -> u32 {
    m.div_ceil(TILE_M * n_blocks) * n.div_ceil(tile_n)
}

/// A grid of at most `most` blocks in clusters of `n_blocks`, as many as have work.
pub const fn grid(m: u32, n: u32, n_blocks: u32, most: u32) -> [u32; 3] {
    grid_of(TILE_N, m, n, n_blocks, most)
}

/// [`grid`] for tiles of this many columns.
pub(super) const fn grid_of(tile_n: u32, m: u32, n: u32, n_blocks: u32, most: u32) -> [u32; 3] {
    let pairs = n_tiles_of(tile_n, m, n, n_blocks);
    let most = most / n_blocks;
    [if pairs < most { pairs } else { most } * n_blocks, 1, 1]
}

/// A warp-specialized block. Where `EXCHANGES`, a warpgroup copies and gives its registers to those
/// that multiply; otherwise a single warp copies.
#[inline(always)]
pub(super) unsafe fn work<T, const BLOCKS: u32, const REGISTERS: usize, const EXCHANGES: bool, S>(
    a: &TensorMap,
    b: &TensorMap,
    sizes: Sizes,
    group: u32,
    store: S,
) where
    T: Multiply<REGISTERS, Sum = f32>,
    S: Store,
{
    let more_bytes = N_MULTIPLIERS * S::STAGING_BYTES;
    let ring = Ring::<STAGES>::new(stage_bytes(REGISTERS), more_bytes);
    let role = warpgroup::index();
    let rank = if BLOCKS > 1 { cluster::rank() } else { 0 };
    if thread::thread_idx_x() == 0 {
        ring.make(N_MULTIPLIERS * BLOCKS);
    }
    if BLOCKS > 1 {
        cluster::sync();
    } else {
        thread::sync_threads();
    }
    let walk = Walk::new::<T, BLOCKS>(sizes, tile_n(REGISTERS), group, rank);
    if role == N_MULTIPLIERS {
        if EXCHANGES {
            give_registers::<COPIER_REGISTERS>();
        }
        let is_first = warp::broadcast(thread::thread_idx_x() % WARPGROUP / 32, 0) == 0;
        if is_first && warp::is_elected() {
            copy::<T, BLOCKS>(a, b, ring, walk);
        }
    } else {
        if EXCHANGES {
            take_registers::<MULTIPLIER_REGISTERS>();
        }
        multiply::<T, BLOCKS, REGISTERS, S>(ring, role, walk, store);
    }
    if BLOCKS > 1 {
        // No block ends while others may still arrive at its barriers.
        cluster::sync();
    }
}

/// The tiles that a block computes.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    tiles: Tiles,
    /// Columns of each tile.
    tile_n: u32,
    /// Steps of each tile along k.
    pub(super) n_steps: u32,
    next: u32,
    stride: u32,
    /// Rank of the block in its cluster.
    rank: u32,
}

impl Walk {
    /// The walk of this block, the `rank`th of a cluster of `BLOCKS`, over tiles of `tile_n`
    /// columns.
    #[inline(always)]
    pub(super) fn new<T: Factor, const BLOCKS: u32>(
        sizes: Sizes,
        tile_n: u32,
        group: u32,
        rank: u32,
    ) -> Self {
        Self {
            tiles: Tiles::new(sizes, TILE_M * BLOCKS, tile_n, group),
            tile_n,
            n_steps: sizes.k.div_ceil(depth::<T>()),
            next: thread::block_idx_x() / BLOCKS,
            stride: thread::grid_dim_x() / BLOCKS,
            rank,
        }
    }

    /// Whether there is a next tile.
    #[inline(always)]
    pub(super) fn goes_on(&self) -> bool {
        self.next < self.tiles.count()
    }

    /// Row and column of C where the block's part of the next tile begins.
    #[inline(always)]
    pub(super) fn next<const BLOCKS: u32>(&mut self) -> Option<[u32; 2]> {
        if !self.goes_on() {
            return None;
        }
        let place = self.tiles.place(self.next);
        self.next += self.stride;
        Some([
            (place.row * BLOCKS + self.rank) * TILE_M,
            place.column * self.tile_n,
        ])
    }
}

/// The thread that copies.
#[inline(always)]
pub(super) unsafe fn copy<T: Factor, const BLOCKS: u32>(
    a: &TensorMap,
    b: &TensorMap,
    ring: Ring<STAGES>,
    mut walk: Walk,
) {
    bulk::prefetch_map(a);
    bulk::prefetch_map(b);
    let mut turn = Turn::FILL;
    while let Some([row, column]) = walk.next::<BLOCKS>() {
        let mut step = 0;
        while step < walk.n_steps {
            mbarrier::wait(ring.free(turn.stage), turn.parity);
            let full = ring.full(turn.stage);
            let to = ring.base + turn.stage * ring.stage_bytes;
            let k = step * depth::<T>();
            mbarrier::arrive_expecting(full, ring.stage_bytes);
            AlongK::load(to, a, TILE_M, row, k, full);
            if BLOCKS > 1 {
                let rows = walk.tile_n / BLOCKS;
                let first = walk.rank * rows;
                let to = to + A_BYTES + first * ROW_BYTES;
                let all = (1 << BLOCKS) - 1;
                AlongK::load_to_all(to, b, rows, column + first, k, full, all);
            } else {
                AlongK::load(to + A_BYTES, b, walk.tile_n, column, k, full);
            }
            turn.advance::<STAGES>();
            step += 1;
        }
    }
}

/// A warpgroup that multiplies.
#[inline(always)]
unsafe fn multiply<T, const BLOCKS: u32, const REGISTERS: usize, S>(
    ring: Ring<STAGES>,
    role: u32,
    mut walk: Walk,
    store: S,
) where
    T: Multiply<REGISTERS, Sum = f32>,
    S: Store,
{
    let tile_a = Operand::<T, AlongK>::at(ring.base).further(role * M * ROW_BYTES);
    let tile_b = Operand::<T, AlongK>::at(ring.base + A_BYTES);
    let thread = thread::thread_idx_x() % WARPGROUP;
    // One thread signals to each block of the cluster that a stage is free.
    let free = |stage: u32, when: bool| {
        let when = when & (thread < BLOCKS);
        if BLOCKS > 1 {
            mbarrier::arrive_at_if(when, ring.free(stage), thread);
        } else {
            mbarrier::arrive_if(when, ring.free(stage));
        }
    };
    let staging = ring.behind() + role * S::STAGING_BYTES;
    let mut turn = Turn::READ;
    let mut sums = Sums::<T, REGISTERS>::new();
    while let Some([row, column]) = walk.next::<BLOCKS>() {
        let mut previous = 0;
        let mut step = 0;
        while step < walk.n_steps {
            mbarrier::wait(ring.full(turn.stage), turn.parity);
            let further = turn.stage * ring.stage_bytes;
            sums.add_product(tile_a.further(further), tile_b.further(further), step != 0);
            // The product before this one is done.
            wait_for_all_but::<1>();
            free(previous, step != 0);
            previous = turn.stage;
            turn.advance::<STAGES>();
            step += 1;
        }
        let sums = sums.finish();
        free(previous, true);
        store.store::<false, REGISTERS>(staging, role, sums, row + role * M, column);
    }
    store.end();
}

macro_rules! from_registers {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// `a` and `b` are maps of m and n rows along k, with these [`boxes`] and a swizzle of 128
        /// bytes; `c` has room for m rows, `pitch` elements apart, an even number. Launch with this
        /// file's [`BLOCK`] and [`SHARED_BYTES`]; `group` is not 0.
        #[kernel(launch_bounds(BLOCK_THREADS, 1))]
        pub unsafe fn $name(
            a: &TensorMap,
            b: &TensorMap,
            c: *mut f16,
            m: u32,
            n: u32,
            k: u32,
            pitch: u32,
            group: u32,
        ) {
            let sizes = Sizes { m, n, k };
            let store = Direct { c, pitch, sizes, finish: AsItIs };
            work::<f16, 1, REGISTERS, true, _>(a, b, sizes, group, store);
        }
    )* };
}

from_registers! {
    /// Warp-specialized: launch with one block per tile ([`n_tiles`]).
    gemm_warp_specialized;
    /// Persistent blocks: launch with [`grid`], one per SM.
    gemm_persistent;
}

/// Results as tiles: by one block, or by pairs, of which the grid is a multiple, in clusters of 2.
///
/// # Safety
///
/// As [`gemm_warp_specialized`], with [`TMA_EPILOGUE_BYTES`] and [`grid`]; `c` is a map of m rows along
/// n with [`C_BOX`] and a swizzle of 128 bytes.
#[kernel(
    launch_bounds(BLOCK_THREADS, 1),
    instances(gemm_epilogue = gemm_by_tiles::<1>, gemm_cluster = gemm_by_tiles::<2>)
)]
pub unsafe fn gemm_by_tiles<const BLOCKS: u32>(
    a: &TensorMap,
    b: &TensorMap,
    c: &TensorMap,
    m: u32,
    n: u32,
    k: u32,
    group: u32,
) {
    let store = TmaEpilogue::<f16, _>::new(c, AsItIs);
    work::<f16, BLOCKS, REGISTERS, true, _>(a, b, Sizes { m, n, k }, group, store);
}
