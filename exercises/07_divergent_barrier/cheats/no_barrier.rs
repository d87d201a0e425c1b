//! Reads the neighbour's element from global memory.
//!
//! fails: contract: after a barrier

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements. Blocks have 256 threads.
#[kernel]
pub unsafe fn neighbour_sums(x: *const i32, y: *mut i32, n: u32) {
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    if i < n {
        let mut value = *x.add(i as usize);
        if t + 1 < 256 && i + 1 < n {
            value += *x.add(i as usize + 1);
        }
        *y.add(i as usize) = value;
    }
}
