//! A barrier of the warp only: other warps' elements may not be there yet.
//!
//! fails: race: the warps of a block run in any order

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements, a multiple of 256.
#[kernel]
pub unsafe fn reverse_blocks(x: *const u32, y: *mut u32, n: u32) {
    let line = shared_array![u32; 256];
    let (i, t) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    *line.add(t) = *x.add(i);
    warp::sync_warp(u32::MAX);
    *y.add(i) = *line.add(255 - t);
}
