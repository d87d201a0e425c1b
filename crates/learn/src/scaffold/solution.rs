//! One thread, one element; threads beyond the end do nothing.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn double(x: *const f32, y: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        *y.add(i as usize) = 2.0 * *x.add(i as usize);
    }
}
