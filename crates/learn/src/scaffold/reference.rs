//! One thread does all of it.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn double(x: *const f32, y: *mut f32, n: u32) {
    for i in 0..n {
        *y.add(i as usize) = 2.0 * *x.add(i as usize);
    }
}
