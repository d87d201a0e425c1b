//! The warps' totals in shared memory.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_up};

/// Warps per block.
const WARPS: u32 = 8;

/// # Safety
///
/// `x` and `y` hold `n` elements. Blocks have 256 threads.
#[kernel]
pub unsafe fn running_sums(x: *const i32, y: *mut i32, n: u32) {
    let totals = shared_array![i32; WARPS as usize];
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
    thread::sync_threads();
    for before in 0..warp {
        sum += *totals.add(before as usize);
    }
    if i < n {
        *y.add(i as usize) = sum;
    }
}
