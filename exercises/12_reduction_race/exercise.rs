//! # A sum that is right on most days
//!
//! Each block adds up 256 elements in shared memory. In each round the first half of what is left
//! adds the second half:
//!
//! ```text
//!   stride 128    line[0 … 127]  += line[128 … 255]
//!   stride  64    line[0 … 63]   += line[64 … 127]
//!     …
//!   stride   1    line[0]        += line[1]
//! ```
//!
//! The author knows that a thread must not read before another has written, and has put a barrier
//! after the line is filled.
//!
//! **Predict:** in which rounds do two warps exchange values, and in which do two lanes of a warp? Which
//! rounds are safe as they are?
//!
//! **Change** the loop.

use cuda_std::prelude::*;

/// Threads per block, and elements that a block adds up.
const BLOCK: u32 = 256;

/// # Safety
///
/// `x` holds 256 elements for each block, `sums` one.
#[kernel]
pub unsafe fn block_sums(x: *const i32, sums: *mut i32) {
    let line = shared_array![i32; BLOCK as usize];
    let t = thread::thread_idx_x();
    let own = line.add(t as usize);
    *own = *x.add(thread::index_1d() as usize);
    thread::sync_threads();
    let mut stride = BLOCK / 2;
    while stride > 0 {
        if t < stride {
            *own += *own.add(stride as usize);
        }
        stride /= 2;
    }
    if t == 0 {
        *sums.add(thread::block_idx_x() as usize) = *own;
    }
}
