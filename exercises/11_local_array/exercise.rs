//! # An array that is not in registers
//!
//! Each thread reads 16 values, and counts how often their last base-4 digit (`value % 4`) is 0, 1,
//! 2 and 3. A thread's values are `n_threads` apart, so that the loads are side by side.
//!
//! ```text
//!   values of a thread   7  4  13  2  …      counts[0]  counts[1]  counts[2]  counts[3]
//!   their digits         3  0  1   2  …          …          …          …          …
//! ```
//!
//! `counts` looks like four registers.
//!
//! **Predict:** where does it live, how many loads and stores does it cost per thread, and why?
//!
//! **Change** the kernel so that the counts stay in registers.

use cuda_std::prelude::*;

/// Values per thread.
const SHARE: u32 = 16;

/// # Safety
///
/// `values` holds `16 · n_threads` elements, `out` holds `4 · n_threads`.
#[kernel(local_memory)]
pub unsafe fn count_digits(values: *const u32, out: *mut u32, n_threads: u32) {
    let t = thread::index_1d();
    if t >= n_threads {
        return;
    }
    let mut counts = [0_u32; 4];
    for k in 0..SHARE {
        let digit = *values.add((k * n_threads + t) as usize) % 4;
        counts[digit as usize] += 1;
    }
    for digit in 0..4 {
        *out.add((digit * n_threads + t) as usize) = counts[digit as usize];
    }
}
