//! # Running sums
//!
//! Within each block of 256 elements, `y[i]` is the sum of all elements of the block up to and
//! including `x[i]`. The warps do their part by shuffles: after five rounds each lane has the sum of its
//! warp's elements up to its own.
//!
//! ```text
//!   warp        0               1               2             …
//!   has         a0 … a0+…+a31   a32 … a32+…     a64 …
//!   lacks       nothing         a0+…+a31        a0+…+a63
//! ```
//!
//! **Predict:** how many numbers have to pass between the warps of a block, and how many barriers
//! does that take?
//!
//! **Change** the kernel: the last part is missing.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_up};

/// Warps per block.
const WARPS: u32 = 8;

/// # Safety
///
/// `x` and `y` hold `n` elements. Blocks have 256 threads.
#[kernel]
pub unsafe fn running_sums(x: *const i32, y: *mut i32, n: u32) {
    let totals = shared_array![i32; WARPS as usize];
    let (i, warp) = (thread::index_1d(), thread::thread_idx_x() / 32);
    let mut sum = if i < n { *x.add(i as usize) } else { 0 };
    for delta in [1, 2, 4, 8, 16] {
        let (before, exists) = warp_shuffle_up(FULL_MASK, sum, delta, 32);
        if exists {
            sum += before;
        }
    }
    // The gap: `sum` lacks what the warps before this one have.
    if i < n {
        *y.add(i as usize) = sum;
    }
}
