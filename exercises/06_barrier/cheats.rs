//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// No exchange: reads global memory backwards.
///
/// fails: contract: what this exercise is about
#[kernel]
pub unsafe fn global_memory(x: *const u32, y: *mut u32, n: u32) {
    let (i, t) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    *y.add(i) = *x.add(i - t + 255 - t);
}

/// The last warp waits for the first ones, by luck: all elements are stored twice, which takes time.
///
/// fails: race: in any order
#[kernel]
pub unsafe fn lucky_order(x: *const u32, y: *mut u32, n: u32) {
    let line = shared_array![u32; 256];
    let (i, t) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    // Every thread stores its own element and its partner's: what it loads is there in any order.
    *line.add(t) = *x.add(i);
    *line.add(255 - t) = *x.add(i - t + 255 - t);
    *y.add(i) = *line.add(255 - t);
}

/// A barrier of the warp only: other warps' elements may not be there yet.
///
/// fails: race: the warps of a block run in any order
#[kernel]
pub unsafe fn warp_barrier(x: *const u32, y: *mut u32, n: u32) {
    let line = shared_array![u32; 256];
    let (i, t) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    *line.add(t) = *x.add(i);
    warp::sync_warp(u32::MAX);
    *y.add(i) = *line.add(255 - t);
}
