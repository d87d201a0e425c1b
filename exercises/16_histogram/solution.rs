//! Zeros, barrier, count, barrier, add up.

use cuda_std::atomic::{self, Block, Device, Global, Relaxed, Shared};
use cuda_std::prelude::*;

/// Counters.
const BINS: u32 = 64;

/// # Safety
///
/// `x` holds `n` elements, `bins` holds [`BINS`] zeros. Blocks have 256 threads.
#[kernel]
pub unsafe fn histogram(x: *const u32, bins: *mut u32, n: u32) {
    let own = shared_array![u32; BINS as usize];
    let t = thread::thread_idx_x();
    if t < BINS {
        *own.add(t as usize) = 0;
    }
    thread::sync_threads();
    let n_threads = thread::grid_dim_x() * thread::block_dim_x();
    let mut i = thread::index_1d();
    while i < n {
        let bin = *x.add(i as usize) % BINS;
        atomic::add(own.add(bin as usize), 1, Shared, Block, Relaxed);
        i += n_threads;
    }
    thread::sync_threads();
    if t < BINS {
        let count = *own.add(t as usize);
        atomic::add(bins.add(t as usize), count, Global, Device, Relaxed);
    }
}
