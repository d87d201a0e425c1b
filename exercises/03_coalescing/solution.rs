//! In each round the block's threads are side by side.

use cuda_std::prelude::*;

/// Elements per thread.
const SHARE: u32 = 8;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn negate(x: *const f32, y: *mut f32, n: u32) {
    let first = thread::block_idx_x() * thread::block_dim_x() * SHARE;
    for k in 0..SHARE {
        let i = first + k * thread::block_dim_x() + thread::thread_idx_x();
        if i < n {
            *y.add(i as usize) = -*x.add(i as usize);
        }
    }
}
