//! One thread, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x`, `y` and `z` hold `n` elements.
#[kernel]
pub unsafe fn add(x: *const f32, y: *const f32, z: *mut f32, n: u32) {
    for i in 0..n as usize {
        *z.add(i) = *x.add(i) + *y.add(i);
    }
}
