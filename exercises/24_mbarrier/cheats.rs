//! Kernels that must not pass, and how they fail.

use cuda_std::mbarrier;
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::warp::lane_id;

/// The draining warp reads global memory.
///
/// fails: contract: by barriers in memory
#[kernel]
pub unsafe fn no_relay(x: *const u32, y: *mut u32, n_rounds: u32) {
    if thread::thread_idx_x() < 32 {
        return;
    }
    for round in 0..n_rounds {
        let (first, lane) = (32 * round as usize, lane_id() as usize);
        *y.add(first + lane) = *x.add(first + 31 - lane);
    }
}

/// The same parity for both: neither warp begins.
///
/// fails: endless: Before the first round
#[kernel]
pub unsafe fn same_parity(x: *const u32, y: *mut u32, n_rounds: u32) {
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
    for round in 0..n_rounds {
        let first = 32 * round as usize;
        if thread::thread_idx_x() < 32 {
            mbarrier::wait(empty, round % 2);
            *buffer.add(lane) = *x.add(first + lane);
            mbarrier::arrive(full);
        } else {
            mbarrier::wait(full, round % 2);
            *y.add(first + lane) = *buffer.add(31 - lane);
            mbarrier::arrive(empty);
        }
    }
}

/// The filling warp does not wait for room.
///
/// fails: endless: skips a wait
#[kernel]
pub unsafe fn without_empty(x: *const u32, y: *mut u32, n_rounds: u32) {
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

/// The draining warp does not wait for data.
///
/// fails: race: has to be over in round k
#[kernel]
pub unsafe fn without_full(x: *const u32, y: *mut u32, n_rounds: u32) {
    let buffer = shared_array![u32; 32];
    let barrier = shared_array![u64; 1];
    let empty = address_in_space(barrier);
    let lane = lane_id() as usize;
    if thread::thread_idx_x() == 0 {
        mbarrier::init(empty, 32);
    }
    thread::sync_threads();
    for round in 0..n_rounds {
        let first = 32 * round as usize;
        if thread::thread_idx_x() < 32 {
            mbarrier::wait(empty, (round + 1) % 2);
            *buffer.add(lane) = *x.add(first + lane);
        } else {
            *y.add(first + lane) = *buffer.add(31 - lane);
            mbarrier::arrive(empty);
        }
    }
}
