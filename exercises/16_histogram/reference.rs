//! One thread, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements, `bins` holds 64 zeros.
#[kernel]
pub unsafe fn histogram(x: *const u32, bins: *mut u32, n: u32) {
    for i in 0..n as usize {
        *bins.add((*x.add(i) % 64) as usize) += 1;
    }
}
