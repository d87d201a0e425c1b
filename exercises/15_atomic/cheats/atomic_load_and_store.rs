//! Both the load and the store are atomic, but others still come in between: no race, and right in
//! the usual order.
//!
//! fails: order: come in between

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_down};

/// # Safety
///
/// `x` holds `n` elements, `total` a zero. Blocks have 256 threads.
#[kernel]
pub unsafe fn total(x: *const u32, total: *mut u32, n: u32) {
    let sums = shared_array![u32; 8];
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
        let before = atomic::load(total, Global, Device, Relaxed);
        let mut sum = before;
        for warp in 0..8 {
            sum += *sums.add(warp);
        }
        atomic::store(total, sum, Global, Device, Relaxed);
    }
}
