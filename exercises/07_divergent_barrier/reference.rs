//! One thread, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn neighbour_sums(x: *const i32, y: *mut i32, n: u32) {
    for i in 0..n as usize {
        let has_neighbour = i % 256 != 255 && i + 1 < n as usize;
        let neighbour = if has_neighbour { *x.add(i + 1) } else { 0 };
        *y.add(i) = *x.add(i) + neighbour;
    }
}
