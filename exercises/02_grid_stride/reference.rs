//! One thread, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements.
#[kernel]
pub unsafe fn scale(x: *mut f32, factor: f32, n: u32) {
    for i in 0..n as usize {
        *x.add(i) *= factor;
    }
}
