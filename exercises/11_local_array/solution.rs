//! Four counters of eight bits in one register.

use cuda_std::prelude::*;

/// Values per thread.
const SHARE: u32 = 16;
/// Bits per counter, which counts to 16.
const BITS: u32 = 8;

/// # Safety
///
/// `values` holds `16 · n_threads` elements, `out` holds `4 · n_threads`.
#[kernel]
pub unsafe fn count_digits(values: *const u32, out: *mut u32, n_threads: u32) {
    let t = thread::index_1d();
    if t >= n_threads {
        return;
    }
    let mut counts = 0_u32;
    for k in 0..SHARE {
        let digit = *values.add((k * n_threads + t) as usize) % 4;
        counts += 1 << (BITS * digit);
    }
    for digit in 0..4 {
        let count = (counts >> (BITS * digit)) & ((1 << BITS) - 1);
        *out.add((digit * n_threads + t) as usize) = count;
    }
}
