//! One thread, two loops.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn smooth(x: *const i32, y: *mut i32, n: u32) {
    for i in 0..n as i32 {
        let mut sum = 0;
        for other in i - 3..=i + 3 {
            if other >= 0 && other < n as i32 {
                sum += *x.add(other as usize);
            }
        }
        *y.add(i as usize) = sum;
    }
}
