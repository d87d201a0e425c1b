//! # Full and empty
//!
//! Two warps, one buffer of 32 elements. In each round warp 0 fills it, and warp 1 drains it: lane l
//! loads what lane 31 − l has stored. A barrier of the whole block in each round would do. Here each
//! warp waits only for what it needs:
//!
//! ```text
//!   warp 0, fills                           warp 1, drains
//!   wait until `empty`: round k − 1 drained wait until `full`: round k filled
//!   buffer = x                              y = buffer
//!   arrive at `full`                        arrive at `empty`
//! ```
//!
//! A barrier in memory counts arrivals, here 32. When all have come, its *phase* ends and the next
//! one begins. `wait(barrier, parity)` returns once the phase of that parity is over. A new barrier
//! is in its first phase, of parity 0, and the phase before that, of parity 1, counts as over.
//!
//! **Predict:** with the parities as they are, what does warp 1 do in round 1?
//!
//! **Change** the two parities.

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
            let parity = 1; // ←
            mbarrier::wait(empty, parity);
            *buffer.add(lane) = *x.add(first + lane);
            mbarrier::arrive(full);
        } else {
            let parity = 0; // ←
            mbarrier::wait(full, parity);
            *y.add(first + lane) = *buffer.add(31 - lane);
            mbarrier::arrive(empty);
        }
    }
}
