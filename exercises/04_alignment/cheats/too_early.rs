//! Begins at a multiple of 32, so the threads do not reach the end.
//!
//! fails: result: y[256] is

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn fill_tail(x: *const f32, y: *mut f32, first: u32, n: u32) {
    let i = first / 32 * 32 + thread::index_1d();
    if i >= first && i < n {
        *y.add(i as usize) = 2.0 * *x.add(i as usize);
    }
}
