//! Counts in shared memory by a load and a store.
//!
//! fails: race: need atomics

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements, `bins` holds 64 zeros. Blocks have 256 threads.
#[kernel]
pub unsafe fn histogram(x: *const u32, bins: *mut u32, n: u32) {
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
