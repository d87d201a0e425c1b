//! One thread counts for all.

use cuda_std::prelude::*;

/// # Safety
///
/// `values` holds `16 · n_threads` elements, `out` holds `4 · n_threads`.
#[kernel]
pub unsafe fn count_digits(values: *const u32, out: *mut u32, n_threads: u32) {
    for t in 0..n_threads {
        for digit in 0..4 {
            let mut count = 0;
            for k in 0..16 {
                let value = *values.add((k * n_threads + t) as usize);
                count += u32::from(value % 4 == digit);
            }
            *out.add((digit * n_threads + t) as usize) = count;
        }
    }
}
