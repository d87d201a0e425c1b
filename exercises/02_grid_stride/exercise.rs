//! # More elements than threads
//!
//! `x[i] *= factor` for all `i < n`. A launch has as many threads as suit the machine, whatever `n`
//! is; here 4 blocks of 64:
//!
//! ```text
//!   n = 1000     elements 0 … 255 | 256 … 511 | 512 … 767 | 768 … 999
//!                round    first     second      third       fourth
//! ```
//!
//! **Predict:** how many rounds does thread 231 make, and how many does thread 232?
//!
//! **Change** the kernel so that it goes on until all elements are done. It must be right for any
//! `n`, even one smaller than the grid, and for any grid.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements.
#[kernel]
pub unsafe fn scale(x: *mut f32, factor: f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        *x.add(i as usize) *= factor;
    }
}
