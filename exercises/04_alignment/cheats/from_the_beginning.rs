//! Begins on a sector boundary, but also writes what comes before `first`.
//!
//! fails: result: y[0] is

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn fill_tail(x: *const f32, y: *mut f32, first: u32, n: u32) {
    let i = first / 8 * 8 + thread::index_1d();
    if i < n {
        *y.add(i as usize) = 2.0 * *x.add(i as usize);
    }
}
