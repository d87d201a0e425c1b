//! A barrier between the store and the load.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements, a multiple of 256.
#[kernel]
pub unsafe fn reverse_blocks(x: *const u32, y: *mut u32, n: u32) {
    let line = shared_array![u32; 256];
    let (i, t) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    *line.add(t) = *x.add(i);
    thread::sync_threads();
    *y.add(i) = *line.add(255 - t);
}
