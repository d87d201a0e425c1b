//! The filling warp does not wait for room.
//!
//! fails: endless: skips a wait

use cuda_std::mbarrier;
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::warp::lane_id;

/// # Safety
///
/// `x` and `y` hold 32 elements for each round. One block of two warps.
#[kernel]
pub unsafe fn relay(x: *const u32, y: *mut u32, n_rounds: u32) {
    let buffer = shared_array![u32; 32];
    let barrier = shared_array![u64; 1];
    let full = address_in_space(barrier);
    let lane = lane_id() as usize;
    if thread::thread_idx_x() == 0 {
        mbarrier::init(full, 32);
    }
    thread::sync_threads();
    for round in 0..n_rounds {
        let first = 32 * round as usize;
        if thread::thread_idx_x() < 32 {
            *buffer.add(lane) = *x.add(first + lane);
            mbarrier::arrive(full);
        } else {
            mbarrier::wait(full, round % 2);
            *y.add(first + lane) = *buffer.add(31 - lane);
        }
    }
}
