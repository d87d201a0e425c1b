//! The draining warp reads global memory.
//!
//! fails: contract: by barriers in memory

use cuda_std::prelude::*;
use cuda_std::warp::lane_id;

/// # Safety
///
/// `x` and `y` hold 32 elements for each round. One block of two warps.
#[kernel]
pub unsafe fn relay(x: *const u32, y: *mut u32, n_rounds: u32) {
    if thread::thread_idx_x() < 32 {
        return;
    }
    for round in 0..n_rounds {
        let (first, lane) = (32 * round as usize, lane_id() as usize);
        *y.add(first + lane) = *x.add(first + 31 - lane);
    }
}
