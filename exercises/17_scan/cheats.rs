//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_up};

/// Each thread adds up all elements of the block before its own, from shared memory.
///
/// fails: count: one number per warp
#[kernel]
pub unsafe fn everything_again(x: *const i32, y: *mut i32, n: u32) {
    let line = shared_array![i32; 256];
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    *line.add(t as usize) = if i < n { *x.add(i as usize) } else { 0 };
    thread::sync_threads();
    let mut sum = 0;
    for k in 0..=t {
        sum += *line.add(k as usize);
    }
    if i < n {
        *y.add(i as usize) = sum;
    }
}

/// The totals without a barrier.
///
/// fails: race: What has to come between
#[kernel]
pub unsafe fn no_barrier(x: *const i32, y: *mut i32, n: u32) {
    let totals = shared_array![i32; 8];
    let (i, warp) = (thread::index_1d(), thread::thread_idx_x() / 32);
    let mut sum = if i < n { *x.add(i as usize) } else { 0 };
    for delta in [1, 2, 4, 8, 16] {
        let (before, exists) = warp_shuffle_up(FULL_MASK, sum, delta, 32);
        if exists {
            sum += before;
        }
    }
    if lane_id() == 31 {
        *totals.add(warp as usize) = sum;
    }
    for before in 0..warp {
        sum += *totals.add(before as usize);
    }
    if i < n {
        *y.add(i as usize) = sum;
    }
}
