//! One atomic per warp.
//!
//! fails: count: once per block

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_down};

/// # Safety
///
/// `x` holds `n` elements, `total` a zero. Blocks have 256 threads.
#[kernel]
pub unsafe fn total(x: *const u32, total: *mut u32, n: u32) {
    let i = thread::index_1d();
    let mut sum = if i < n { *x.add(i as usize) } else { 0 };
    for delta in [16, 8, 4, 2, 1] {
        sum += warp_shuffle_down(FULL_MASK, sum, delta, 32).0;
    }
    if lane_id() == 0 {
        atomic::add(total, sum, Global, Device, Relaxed);
    }
}
