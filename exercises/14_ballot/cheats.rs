//! Kernels that must not pass, and how they fail.

use cuda_std::atomic::{self, Block, Relaxed, Shared};
use cuda_std::prelude::*;
use cuda_std::warp::{
    FULL_MASK, activemask, lane_id, lanemask_le, lanemask_lt, sync_warp, warp_vote_ballot,
};

/// A counter in shared memory hands out places: their order is not guaranteed.
///
/// fails: contract: Neither a counter in memory
#[kernel]
pub unsafe fn atomic_places(x: *const i32, out: *mut i32, counts: *mut u32, n: u32) {
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

/// Every lane reads all elements before its own.
///
/// fails: contract: by a vote
#[kernel]
pub unsafe fn look_for_yourself(x: *const i32, out: *mut i32, counts: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i >= n {
        return;
    }
    let value = *x.add(i as usize);
    let first = i / 32 * 32;
    let (mut place, mut count) = (0, 0);
    let mut other = first;
    while other < n && other < first + 32 {
        let kept = u32::from(*x.add(other as usize) > 0);
        place += if other < i { kept } else { 0 };
        count += kept;
        other += 1;
    }
    if value > 0 {
        *out.add((first + place) as usize) = value;
    }
    if lane_id() == 0 {
        *counts.add((i / 32) as usize) = count;
    }
}

/// Counts the lane itself too: every element is one place too far.
///
/// fails: result: in their old order
#[kernel]
pub unsafe fn up_to_and_with(x: *const i32, out: *mut i32, counts: *mut u32, n: u32) {
    let i = thread::index_1d();
    let value = if i < n { *x.add(i as usize) } else { 0 };
    let kept = warp_vote_ballot(FULL_MASK, value > 0);
    let place = (kept & lanemask_le()).count_ones() % 32;
    if value > 0 {
        *out.add((i / 32 * 32 + place) as usize) = value;
    }
    if lane_id() == 0 && i < n {
        *counts.add((i / 32) as usize) = kept.count_ones();
    }
}

/// The lanes of a branch take those that are active with them for all that keep.
///
/// fails: contract: Which lanes are active together
#[kernel]
pub unsafe fn whoever_is_active(x: *const i32, out: *mut i32, counts: *mut u32, n: u32) {
    let i = thread::index_1d();
    let value = if i < n { *x.add(i as usize) } else { 0 };
    let kept = warp_vote_ballot(FULL_MASK, value > 0);
    if value > 0 {
        let place = (activemask() & lanemask_lt()).count_ones();
        *out.add((i / 32 * 32 + place) as usize) = value;
    }
    if lane_id() == 0 && i < n {
        *counts.add((i / 32) as usize) = kept.count_ones();
    }
}
