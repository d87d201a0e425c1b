//! # A histogram for each block
//!
//! `bins[b]` should be the number of elements with `x % 64 == b`. Four blocks go through all
//! elements in a grid-stride loop, and count each one in global memory:
//!
//! ```text
//!   block 0   block 1   block 2   block 3          now: all of them, for every element
//!      ↓ ↓ ↓ ↓ ↓ ↓ ↓ ↓ ↓ ↓ ↓ ↓ ↓ ↓
//!   bins[0 … 63]
//! ```
//!
//! **Predict:** how many atomic requests does that take for 5000 elements? And how many if each
//! block had 64 counters of its own in shared memory, and added those to `bins` at the end?
//!
//! **Change** the kernel so that it does.

use cuda_std::atomic::{self, Block, Device, Global, Relaxed, Shared};
use cuda_std::prelude::*;

/// Counters.
const BINS: u32 = 64;

/// # Safety
///
/// `x` holds `n` elements, `bins` holds [`BINS`] zeros. Blocks have 256 threads.
#[kernel]
pub unsafe fn histogram(x: *const u32, bins: *mut u32, n: u32) {
    let n_threads = thread::grid_dim_x() * thread::block_dim_x();
    let mut i = thread::index_1d();
    while i < n {
        let bin = *x.add(i as usize) % BINS;
        atomic::add(bins.add(bin as usize), 1, Global, Device, Relaxed);
        i += n_threads;
    }
}
