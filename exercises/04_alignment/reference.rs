//! One thread, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn fill_tail(x: *const f32, y: *mut f32, first: u32, n: u32) {
    for i in first as usize..n as usize {
        *y.add(i) = 2.0 * *x.add(i);
    }
}
