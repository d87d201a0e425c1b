//! Guards around the accesses, and none around the barrier.

use cuda_std::prelude::*;

/// Threads per block.
const BLOCK: u32 = 256;

/// # Safety
///
/// `x` and `y` hold `n` elements. Blocks have [`BLOCK`] threads.
#[kernel]
pub unsafe fn neighbour_sums(x: *const i32, y: *mut i32, n: u32) {
    let line = shared_array![i32; BLOCK as usize];
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    let mut value = if i < n { *x.add(i as usize) } else { 0 };
    *line.add(t as usize) = value;
    thread::sync_threads();
    if i < n {
        if t + 1 < BLOCK && i + 1 < n {
            value += *line.add(t as usize + 1);
        }
        *y.add(i as usize) = value;
    }
}
