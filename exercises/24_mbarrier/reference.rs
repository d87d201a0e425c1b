//! One thread reverses every 32 elements.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold 32 elements for each round.
#[kernel]
pub unsafe fn relay(x: *const u32, y: *mut u32, n_rounds: u32) {
    for i in 0..32 * n_rounds as usize {
        *y.add(i) = *x.add(i / 32 * 32 + 31 - i % 32);
    }
}
