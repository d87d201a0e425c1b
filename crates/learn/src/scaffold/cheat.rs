//! The first thread does all of it: the result is right, and the other threads idle.
//!
//! fails: count: one thread the work of many

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn double(x: *const f32, y: *mut f32, n: u32) {
    if thread::index_1d() == 0 {
        for i in 0..n {
            *y.add(i as usize) = 2.0 * *x.add(i as usize);
        }
    }
}
