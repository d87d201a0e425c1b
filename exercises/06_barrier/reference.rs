//! One thread, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements, a multiple of 256.
#[kernel]
pub unsafe fn reverse_blocks(x: *const u32, y: *mut u32, n: u32) {
    for i in 0..n {
        let opposite = i / 256 * 256 + 255 - i % 256;
        *y.add(i as usize) = *x.add(opposite as usize);
    }
}
