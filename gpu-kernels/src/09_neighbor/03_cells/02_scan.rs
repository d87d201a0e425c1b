//! The start of each cell's atoms: the sum of the counts before it, in one pass.
//!
//! The scan needs, for each tile of cells, the sum of all tiles before it. Two
//! launches could do that, one for the tiles' sums and one to add them up. Here a
//! tile *looks back* at the tiles before it (Merrill and Garland, *Single-pass
//! Parallel Prefix Scan with Decoupled Look-back*, 2016): each publishes its own
//! sum as soon as it has it, and its sum with all before it once it knows that. A
//! tile walks back, adding sums, until it meets one of the second kind; 32 at a
//! time, one per lane. Tiles are numbered in the order in which blocks start, so
//! that none waits for one that has not started.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::grid;
use cuda_std::prelude::*;
use cuda_std::vector::UInt4;
use cuda_std::warp::{
    FULL_MASK, WarpReductionOp, warp_reduce, warp_shuffle_idx, warp_shuffle_up, warp_vote_ballot,
};

use crate::warp::WARP_LANES;

/// Threads in a block: as many as possible, so that tiles are few. A sum goes from
/// tile to tile through the L2 cache, which takes longer than everything else here.
const BLOCK_THREADS: u32 = 1024;
const BLOCK_WARPS: u32 = BLOCK_THREADS / WARP_LANES;

/// Counts that a lane has, in chunks of four.
const LANE_CHUNKS: u32 = 2;
const CHUNK: u32 = 4;
const WARP_CHUNK: u32 = WARP_LANES * CHUNK;
/// Cells in a tile, the share of one block.
pub const SCAN_TILE: u32 = BLOCK_WARPS * LANE_CHUNKS * WARP_CHUNK;

// The code below names both chunks, and has a lane for each warp's sum.
const _: () = assert!(LANE_CHUNKS == 2 && BLOCK_WARPS == WARP_LANES);

/// A tile's state is one word of 64 bits, sum and kind together, so that neither is
/// ever seen without the other, and no order of two accesses matters.
pub(super) const fn state(kind: u32, sum: u32) -> u64 {
    (kind as u64) << 32 | sum as u64
}
/// The tile's sum is not known yet: what a cleared state says.
pub(super) const UNKNOWN: u32 = 0;
/// The sum is the tile's own.
const OWN: u32 = 1;
/// The sum is the tile's and all before it.
const WITH_ALL_BEFORE: u32 = 2;

/// The sum of `value` over this lane and those before it.
#[inline(always)]
unsafe fn warp_scan(value: u32) -> u32 {
    let mut sum = value;
    let mut stride = 1;
    while stride < WARP_LANES {
        let (before, is_there) = warp_shuffle_up(FULL_MASK, sum, stride, WARP_LANES);
        if is_there {
            sum += before;
        }
        stride *= 2;
    }
    sum
}

/// The sum of all tiles before `tile`, for every lane of the warp that calls it.
#[inline(always)]
unsafe fn look_back(tile: u32, states: *mut u64) -> u32 {
    let lane = thread::thread_idx_x() % WARP_LANES;
    let mut sum = 0;
    let mut end = tile;
    loop {
        // Lane 0 looks at the nearest tile. Before the first tile there is
        // nothing, and that is known from the start.
        let mut seen = state(WITH_ALL_BEFORE, 0);
        if lane < end {
            let place = states.add((end - 1 - lane) as usize);
            loop {
                seen = atomic::load(place, Global, Device, Relaxed);
                if (seen >> 32) as u32 != UNKNOWN {
                    break;
                }
            }
        }
        let complete = warp_vote_ballot(FULL_MASK, (seen >> 32) as u32 == WITH_ALL_BEFORE);
        // Tiles beyond the nearest complete one are in its sum.
        let counts = lane <= complete.trailing_zeros();
        sum += warp_reduce(
            FULL_MASK,
            if counts { seen as u32 } else { 0 },
            WarpReductionOp::Add,
        );
        if complete != 0 {
            return sum;
        }
        end -= WARP_LANES;
    }
}

/// Stores, for each cell, the number of atoms in all cells before it, and sets
/// the counts to 0.
///
/// # Safety
///
/// `counts` and `starts` hold [`CellGrid::padded_len`](super::CellGrid::padded_len) elements, aligned to 16
/// bytes; `tile_states` a 0 for each block; `n_tiles` is one element, 0. Launch
/// with [`SCAN_BLOCK`] threads and [`scan_grid`](super::scan_grid) blocks.
#[kernel(launch_bounds(BLOCK_THREADS), pdl)]
pub unsafe fn neighbor_cells_scan(
    counts: *mut u32,
    starts: *mut u32,
    tile_states: *mut u64,
    n_tiles: *mut u32,
) {
    let shared_tile = shared_array![u32; 1];
    let sum_before = shared_array![u32; 1];
    let warp_sums = shared_array![u32; BLOCK_WARPS as usize];
    let thread = thread::thread_idx_x();
    let (warp, lane) = (thread / WARP_LANES, thread % WARP_LANES);

    grid::wait_for_previous();
    grid::let_next_start();
    if thread == 0 {
        *shared_tile = atomic::add(n_tiles, 1, Global, Device, Relaxed);
    }
    thread::sync_threads();
    let tile = *shared_tile;

    let first = tile * SCAN_TILE + warp * LANE_CHUNKS * WARP_CHUNK + lane * CHUNK;
    let chunk =
        |array: *mut u32, i: u32| array.add((first + i * WARP_CHUNK) as usize).cast::<UInt4>();
    let (a, b) = (*chunk(counts, 0), *chunk(counts, 1));
    *chunk(counts, 0) = UInt4::default();
    *chunk(counts, 1) = UInt4::default();

    let sum_of = |v: UInt4| v.x + v.y + v.z + v.w;
    let (scan_a, scan_b) = (warp_scan(sum_of(a)), warp_scan(sum_of(b)));
    let (sum_a, _) = warp_shuffle_idx(FULL_MASK, scan_a, WARP_LANES - 1, WARP_LANES);
    if lane == WARP_LANES - 1 {
        *warp_sums.add(warp as usize) = scan_a + scan_b;
    }
    thread::sync_threads();

    // Every warp adds up all warps' sums, a lane each.
    let sums = warp_scan(*warp_sums.add(lane as usize));
    let (own, _) = warp_shuffle_idx(FULL_MASK, sums, BLOCK_WARPS - 1, WARP_LANES);
    let (with_own_warp, _) = warp_shuffle_idx(FULL_MASK, sums, warp, WARP_LANES);
    let before_warp = with_own_warp - *warp_sums.add(warp as usize);
    if warp == 0 {
        let place = tile_states.add(tile as usize);
        if lane == 0 && tile != 0 {
            atomic::store(place, state(OWN, own), Global, Device, Relaxed);
        }
        let before = look_back(tile, tile_states);
        if lane == 0 {
            atomic::store(
                place,
                state(WITH_ALL_BEFORE, before + own),
                Global,
                Device,
                Relaxed,
            );
            *sum_before = before;
        }
    }
    thread::sync_threads();

    let before_warp = *sum_before + before_warp;
    let starts_from = |before: u32, v: UInt4| {
        UInt4::new(
            before,
            before + v.x,
            before + v.x + v.y,
            before + v.x + v.y + v.z,
        )
    };
    *chunk(starts, 0) = starts_from(before_warp + scan_a - sum_of(a), a);
    *chunk(starts, 1) = starts_from(before_warp + sum_a + scan_b - sum_of(b), b);
}

/// Block of [`neighbor_cells_scan`], in threads.
pub const SCAN_BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];
