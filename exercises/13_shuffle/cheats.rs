//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, sync_warp, warp_shuffle_down, warp_shuffle_idx};

/// Lane 0 gets the values one after the other.
///
/// fails: count: in five rounds
#[kernel]
pub unsafe fn lane_by_lane(x: *const f32, sums: *mut f32, n: u32) {
    let i = thread::index_1d();
    let own = if i < n { *x.add(i as usize) } else { 0.0 };
    let mut sum = 0.0;
    for lane in 0..32 {
        sum += warp_shuffle_idx(FULL_MASK, own, lane, 32).0;
    }
    if lane_id() == 0 && i < n {
        *sums.add(i as usize / 32) = sum;
    }
}

/// Shuffles only among lanes with an element.
///
/// fails: warp: all lanes that its mask names
#[kernel]
pub unsafe fn lanes_kept_out(x: *const f32, sums: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut sum = *x.add(i as usize);
        for delta in [16, 8, 4, 2, 1] {
            sum += warp_shuffle_down(FULL_MASK, sum, delta, 32).0;
        }
        if lane_id() == 0 {
            *sums.add(i as usize / 32) = sum;
        }
    }
}

/// The tree in shared memory, with a shuffle for show.
///
/// fails: contract: neither shared memory nor a barrier
#[kernel]
pub unsafe fn shared_memory(x: *const f32, sums: *mut f32, n: u32) {
    let line = shared_array![f32; 128];
    let i = thread::index_1d();
    let own = line.add(thread::thread_idx_x() as usize);
    *own = if i < n { *x.add(i as usize) } else { 0.0 };
    sync_warp(FULL_MASK);
    for delta in [16, 8, 4, 2, 1] {
        if lane_id() < delta {
            *own += *own.add(delta as usize);
        }
        sync_warp(FULL_MASK);
    }
    let sum = warp_shuffle_idx(FULL_MASK, *own, 0, 32).0;
    if lane_id() == 0 && i < n {
        *sums.add(i as usize / 32) = sum;
    }
}
