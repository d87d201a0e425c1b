//! Kernels that must not pass, and how they fail.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_down};

/// Both the load and the store are atomic, but others still come in between: no race, and right in
/// the usual order.
///
/// fails: order: come in between
#[kernel]
pub unsafe fn atomic_load_and_store(x: *const u32, total: *mut u32, n: u32) {
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

/// One addition per block, by a load and a store.
///
/// fails: race: has to be atomic
#[kernel]
pub unsafe fn not_atomic(x: *const u32, total: *mut u32, n: u32) {
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
        for warp in 0..8 {
            *total += *sums.add(warp);
        }
    }
}

/// One atomic per warp.
///
/// fails: count: once per block
#[kernel]
pub unsafe fn per_warp(x: *const u32, total: *mut u32, n: u32) {
    let i = thread::index_1d();
    let mut sum = if i < n { *x.add(i as usize) } else { 0 };
    for delta in [16, 8, 4, 2, 1] {
        sum += warp_shuffle_down(FULL_MASK, sum, delta, 32).0;
    }
    if lane_id() == 0 {
        atomic::add(total, sum, Global, Device, Relaxed);
    }
}
