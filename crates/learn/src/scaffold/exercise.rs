//! # Twice as much
//!
//! `y[i] = 2 * x[i]` for all `i < n`. The grid has at least `n` threads, in blocks of 128.
//!
//! **Predict:** how many threads of the last block have nothing to do if `n` is 1000?
//!
//! **Change** the kernel so that each thread writes the element that has its number.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn double(x: *const f32, y: *mut f32, n: u32) {
    // The gap.
}
