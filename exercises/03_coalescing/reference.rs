//! One thread, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn negate(x: *const f32, y: *mut f32, n: u32) {
    for i in 0..n as usize {
        *y.add(i) = -*x.add(i);
    }
}
