//! Shuffles in each warp, the warps' sums in shared memory, one atomic.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_down};

/// Warps per block.
const WARPS: u32 = 8;

/// # Safety
///
/// `x` holds `n` elements, `total` a zero. Blocks have 256 threads.
#[kernel]
pub unsafe fn total(x: *const u32, total: *mut u32, n: u32) {
    let sums = shared_array![u32; WARPS as usize];
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    let mut sum = if i < n { *x.add(i as usize) } else { 0 };
    for delta in [16, 8, 4, 2, 1] {
        sum += warp_shuffle_down(FULL_MASK, sum, delta, 32).0;
    }
    if lane_id() == 0 {
        *sums.add(t as usize / 32) = sum;
    }
    thread::sync_threads();
    if t == 0 {
        let mut sum = 0;
        for warp in 0..WARPS {
            sum += *sums.add(warp as usize);
        }
        atomic::add(total, sum, Global, Device, Relaxed);
    }
}
