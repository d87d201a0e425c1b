//! Reads everything again for each digit.
//!
//! fails: count: not once for each digit

use cuda_std::prelude::*;

/// # Safety
///
/// `values` holds `16 · n_threads` elements, `out` holds `4 · n_threads`.
#[kernel]
pub unsafe fn count_digits(values: *const u32, out: *mut u32, n_threads: u32) {
    let t = thread::index_1d();
    if t >= n_threads {
        return;
    }
    for digit in 0..4 {
        let mut count = 0;
        for k in 0..16 {
            let value = core::ptr::read_volatile(values.add((k * n_threads + t) as usize));
            count += u32::from(value % 4 == digit);
        }
        *out.add((digit * n_threads + t) as usize) = count;
    }
}
