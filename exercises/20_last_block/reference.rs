//! One thread, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds 64 elements for each block.
#[kernel]
pub unsafe fn grid_sum(
    x: *const i32,
    partial: *mut i32,
    ticket: *mut u32,
    sum: *mut i32,
    n_blocks: u32,
) {
    let mut all = 0;
    for i in 0..64 * n_blocks as usize {
        all += *x.add(i);
    }
    *sum = all;
}
