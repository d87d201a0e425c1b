//! No exchange: reads global memory backwards.
//!
//! fails: contract: what this exercise is about

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements, a multiple of 256.
#[kernel]
pub unsafe fn reverse_blocks(x: *const u32, y: *mut u32, n: u32) {
    let (i, t) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    *y.add(i) = *x.add(i - t + 255 - t);
}
