//! Reads side by side into shared memory, and writes as before.
//!
//! fails: count: The loads are side by side

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn negate(x: *const f32, y: *mut f32, n: u32) {
    let kept = shared_array![f32; 2048];
    let first = thread::block_idx_x() * 2048;
    let t = thread::thread_idx_x();
    for k in 0..8 {
        let i = k * 256 + t;
        if first + i < n {
            *kept.add(i as usize) = *x.add((first + i) as usize);
        }
    }
    thread::sync_threads();
    for k in 0..8 {
        let i = t * 8 + k;
        if first + i < n {
            *y.add((first + i) as usize) = -*kept.add(i as usize);
        }
    }
}
