//! One thread, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn running_sums(x: *const i32, y: *mut i32, n: u32) {
    let mut sum = 0;
    for i in 0..n as usize {
        if i % 256 == 0 {
            sum = 0;
        }
        sum += *x.add(i);
        *y.add(i) = sum;
    }
}
