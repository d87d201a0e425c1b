//! # A barrier that not all threads reach
//!
//! `y[i] = x[i] + x[i + 1]` within each block of 256 elements; the last element of a block, and the
//! last of all, has no neighbour and is copied. The elements are exchanged in shared memory.
//!
//! The author of this kernel has a thread do nothing at all if its element is past the end:
//!
//! ```text
//!   n = 1000, last block:   threads 0 … 231 have elements     threads 232 … 255 have none
//!   warps                   0 … 6: all lanes   7: lanes 0 to 7   |   7: lanes 8 to 31
//! ```
//!
//! **Predict:** which warps reach the barrier as a whole, and what happens to the others?
//!
//! **Change** the kernel so that every thread reaches the barrier.

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
    let mut value = 0;
    if i < n {
        value = *x.add(i as usize);
        *line.add(t as usize) = value;
        thread::sync_threads();
        if t + 1 < BLOCK && i + 1 < n {
            value += *line.add(t as usize + 1);
        }
    } else {
        // A zero in place of the missing element.
        *line.add(t as usize) = 0;
    }
    if i < n {
        *y.add(i as usize) = value;
    }
}
