//! One thread, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements, `total` a zero.
#[kernel]
pub unsafe fn total(x: *const u32, total: *mut u32, n: u32) {
    for i in 0..n as usize {
        *total += *x.add(i);
    }
}
