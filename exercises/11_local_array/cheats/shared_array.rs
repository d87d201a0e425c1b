//! The counters in shared memory.
//!
//! fails: count: much nearer than local memory

use cuda_std::prelude::*;

/// # Safety
///
/// `values` holds `16 · n_threads` elements, `out` holds `4 · n_threads`.
#[kernel]
pub unsafe fn count_digits(values: *const u32, out: *mut u32, n_threads: u32) {
    let all = shared_array![u32; 512];
    let t = thread::index_1d();
    if t >= n_threads {
        return;
    }
    let counts = all.add(thread::thread_idx_x() as usize);
    for digit in 0..4 {
        *counts.add(128 * digit) = 0;
    }
    for k in 0..16 {
        let digit = *values.add((k * n_threads + t) as usize) % 4;
        *counts.add(128 * digit as usize) += 1;
    }
    for digit in 0..4 {
        *out.add((digit * n_threads + t) as usize) = *counts.add(128 * digit as usize);
    }
}
