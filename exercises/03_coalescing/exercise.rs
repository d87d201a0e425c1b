//! # Neighbours read neighbours
//!
//! `y[i] = -x[i]`. A block of 256 threads has 2048 elements, and each thread eight of them:
//!
//! ```text
//!   thread 0        thread 1        thread 2        …
//!   0 1 2 3 4 5 6 7 8 9 …       15  16 …        23
//! ```
//!
//! This is correct, and it looks tidy: each thread has its own piece. The hardware sees something
//! else. All 32 lanes of a warp carry out one load together, and memory is moved in *sectors* of
//! 32 bytes.
//!
//! **Predict:** how many sectors does the first load of warp 0 touch? How many does it need?
//!
//! **Change** which elements a thread has, so that a load touches no more sectors than it must.

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
        let i = first + thread::thread_idx_x() * SHARE + k;
        if i < n {
            *y.add(i as usize) = -*x.add(i as usize);
        }
    }
}
