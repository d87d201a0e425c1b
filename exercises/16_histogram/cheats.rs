//! Kernels that must not pass, and how they fail.

use cuda_std::atomic::{self, Block, Device, Global, Relaxed, Shared};
use cuda_std::prelude::*;

/// Counts in shared memory by a load and a store.
///
/// fails: race: need atomics
#[kernel]
pub unsafe fn no_atomics(x: *const u32, bins: *mut u32, n: u32) {
    let own = shared_array![u32; 64];
    let t = thread::thread_idx_x();
    if t < 64 {
        *own.add(t as usize) = 0;
    }
    thread::sync_threads();
    let mut i = thread::index_1d();
    while i < n {
        *own.add((*x.add(i as usize) % 64) as usize) += 1;
        i += 1024;
    }
    thread::sync_threads();
    if t < 64 {
        atomic::add(
            bins.add(t as usize),
            *own.add(t as usize),
            Global,
            Device,
            Relaxed,
        );
    }
}

/// Adds up before all have counted.
///
/// fails: race: between two phases
#[kernel]
pub unsafe fn no_second_barrier(x: *const u32, bins: *mut u32, n: u32) {
    let own = shared_array![u32; 64];
    let t = thread::thread_idx_x();
    if t < 64 {
        *own.add(t as usize) = 0;
    }
    thread::sync_threads();
    let mut i = thread::index_1d();
    while i < n {
        let bin = *x.add(i as usize) % 64;
        atomic::add(own.add(bin as usize), 1, Shared, Block, Relaxed);
        i += 1024;
    }
    if t >= 192 {
        let bin = (t - 192) as usize;
        atomic::add(bins.add(bin), *own.add(bin), Global, Device, Relaxed);
    }
}
