//! Parities that change from round to round.

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
    let barriers = shared_array![u64; 2];
    let (full, empty) = (
        address_in_space(barriers),
        address_in_space(barriers.add(1)),
    );
    let lane = lane_id() as usize;
    if thread::thread_idx_x() == 0 {
        mbarrier::init(full, 32);
        mbarrier::init(empty, 32);
    }
    thread::sync_threads();
    let is_filling = thread::thread_idx_x() < 32;
    for round in 0..n_rounds {
        let first = 32 * round as usize;
        if is_filling {
            // The phase of the previous round.
            let parity = (round + 1) % 2;
            mbarrier::wait(empty, parity);
            *buffer.add(lane) = *x.add(first + lane);
            mbarrier::arrive(full);
        } else {
            let parity = round % 2;
            mbarrier::wait(full, parity);
            *y.add(first + lane) = *buffer.add(31 - lane);
            mbarrier::arrive(empty);
        }
    }
}
