//! Every warp reads all of the block's elements side by side, and uses an eighth of them.
//!
//! fails: count: read once

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn negate(x: *const f32, y: *mut f32, n: u32) {
    let first = thread::block_idx_x() * 2048;
    let (warp, lane) = (thread::thread_idx_x() / 32, thread::thread_idx_x() % 32);
    for k in 0..64 {
        let i = first + k * 32 + lane;
        if i < n {
            let value = core::ptr::read_volatile(x.add(i as usize));
            if k / 8 == warp {
                *y.add(i as usize) = -value;
            }
        }
    }
}
