//! A counter in shared memory hands out places: their order is not guaranteed.
//!
//! fails: contract: Neither a counter in memory

use cuda_std::atomic::{self, Block, Relaxed, Shared};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, sync_warp, warp_vote_ballot};

/// # Safety
///
/// `x` holds `n` elements, `out` as many, rounded up to whole warps, `counts` one for each warp.
#[kernel]
pub unsafe fn keep_positive(x: *const i32, out: *mut i32, counts: *mut u32, n: u32) {
    let counters = shared_array![u32; 4];
    let i = thread::index_1d();
    let counter = counters.add(thread::thread_idx_x() as usize / 32);
    let value = if i < n { *x.add(i as usize) } else { 0 };
    let _ = warp_vote_ballot(FULL_MASK, value > 0);
    if lane_id() == 0 {
        *counter = 0;
    }
    sync_warp(FULL_MASK);
    if value > 0 {
        let place = atomic::add(counter, 1, Shared, Block, Relaxed);
        *out.add((i / 32 * 32 + place) as usize) = value;
    }
    sync_warp(FULL_MASK);
    if lane_id() == 0 && i < n {
        *counts.add((i / 32) as usize) = *counter;
    }
}
