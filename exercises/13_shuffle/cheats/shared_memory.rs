//! The tree in shared memory, with a shuffle for show.
//!
//! fails: contract: neither shared memory nor a barrier

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, sync_warp, warp_shuffle_idx};

/// # Safety
///
/// `x` holds `n` elements, `sums` one for every 32 of them.
#[kernel]
pub unsafe fn warp_sums(x: *const f32, sums: *mut f32, n: u32) {
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
