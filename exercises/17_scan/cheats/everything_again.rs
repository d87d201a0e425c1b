//! Each thread adds up all elements of the block before its own, from shared memory.
//!
//! fails: count: one number per warp

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements. Blocks have 256 threads.
#[kernel]
pub unsafe fn running_sums(x: *const i32, y: *mut i32, n: u32) {
    let line = shared_array![i32; 256];
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    *line.add(t as usize) = if i < n { *x.add(i as usize) } else { 0 };
    thread::sync_threads();
    let mut sum = 0;
    for k in 0..=t {
        sum += *line.add(k as usize);
    }
    if i < n {
        *y.add(i as usize) = sum;
    }
}
