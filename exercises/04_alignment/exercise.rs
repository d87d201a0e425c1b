//! # Off by a few bytes
//!
//! `y[i] = 2 * x[i]` for `first <= i < n`; what comes before `first` stays unchanged. Both buffers
//! begin on a sector boundary. A sector is 32 bytes, or eight f32. `first` can be any number:
//!
//! ```text
//!   first = 3     sector 0          sector 1            sector 2 …
//!                 0 1 2 3 4 5 6 7 | 8 9 … 15          | 16 …
//!                       ↑ lane 0 of warp 0 … lane 31 is element 34, in sector 4
//! ```
//!
//! **Predict:** how many sectors does a warp touch? And which requests would touch fewer if lane 0
//! had element 0 and did nothing with it?
//!
//! **Change** where the threads begin. The grid has eight more threads than there are elements.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn fill_tail(x: *const f32, y: *mut f32, first: u32, n: u32) {
    let i = first + thread::index_1d();
    if i < n {
        *y.add(i as usize) = 2.0 * *x.add(i as usize);
    }
}
