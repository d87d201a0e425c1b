//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// Every warp reads all of the block's elements side by side, and uses an eighth of them.
///
/// fails: count: read once
#[kernel]
pub unsafe fn every_warp_everything(x: *const f32, y: *mut f32, n: u32) {
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

/// Reads side by side into shared memory, and writes as before.
///
/// fails: count: The loads are side by side
#[kernel]
pub unsafe fn strided_stores(x: *const f32, y: *mut f32, n: u32) {
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
