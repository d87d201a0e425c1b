//! # The neighbours' neighbours
//!
//! `y[i]` is the sum of the seven elements `x[i - 3] … x[i + 3]`; beyond the ends there are zeros.
//! Each thread reads all seven from global memory.
//!
//! ```text
//!   block 1 writes            y[256 … 511]
//!   and reads        x[253 254 255 | 256 … 511 | 512 513 514]
//!                        3 more        256         3 more
//! ```
//!
//! **Predict:** how many load requests does a block make now? How many different elements does it
//! read, and how many requests would those take?
//!
//! **Change** the kernel so that a block loads each of its elements once, into shared memory, with
//! what it needs of its neighbours'.

use cuda_std::prelude::*;

/// Threads per block.
const BLOCK: u32 = 256;
/// Elements of a window on either side of the middle.
const REACH: u32 = 3;

/// Element `i`, or zero beyond the ends. An index before element 0 has wrapped to a large number.
unsafe fn element(x: *const i32, i: u32, n: u32) -> i32 {
    if i < n { *x.add(i as usize) } else { 0 }
}

/// # Safety
///
/// `x` and `y` hold `n` elements. Blocks have [`BLOCK`] threads.
#[kernel]
pub unsafe fn smooth(x: *const i32, y: *mut i32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut sum = 0;
        for k in 0..2 * REACH + 1 {
            sum += element(x, (i + k).wrapping_sub(REACH), n);
        }
        *y.add(i as usize) = sum;
    }
}
