//! # Sixteen bytes at once
//!
//! `z[i] = x[i] + y[i]`. A thread has four neighbouring elements, and moves them one by one:
//!
//! ```text
//!   thread      0             1             2
//!   elements    0  1  2  3    4  5  6  7    8  9 10 11   …
//! ```
//!
//! An access can move 4, 8 or 16 bytes per lane.
//!
//! **Predict:** for 4096 elements, how many load requests are there now, how many would there be
//! with 16 bytes per lane, and how many sectors in each case?
//!
//! **Change** the kernel so that it moves whole pieces of four by `Float4`. `n` need not be a
//! multiple of four.

use cuda_std::prelude::*;
use cuda_std::vector::Float4;

/// # Safety
///
/// `x`, `y` and `z` hold `n` elements and begin at multiples of 16 bytes.
#[kernel]
pub unsafe fn add(x: *const f32, y: *const f32, z: *mut f32, n: u32) {
    let first = 4 * thread::index_1d();
    let mut i = first;
    while i < n && i < first + 4 {
        let at = i as usize;
        *z.add(at) = *x.add(at) + *y.add(at);
        i += 1;
    }
}
