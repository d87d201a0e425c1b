//! # The last one adds up
//!
//! Each block writes the sum of its 64 elements to `partial`, and draws a ticket. The block that
//! draws the last one knows that it is the last, and adds up all partial sums:
//!
//! ```text
//!   block 5            block 0            block 3 …          block 2
//!   partial[5] = …     partial[0] = …     partial[3] = …     partial[2] = …
//!   ticket 0           ticket 1           ticket 2           ticket 11: the last
//!                                                            sum = partial[0] + …
//! ```
//!
//! The ticket is drawn by an atomic addition, so no two blocks have the same one.
//!
//! **Predict:** the last ticket says that all others have been drawn. Does it say that the last
//! block can see all partial sums?
//!
//! **Change** the kernel: it lacks two fences, `atomic::fence(Device, AcqRel)`.

use cuda_std::atomic::{self, AcqRel, Device, Global, Relaxed};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, warp_shuffle_down};

/// # Safety
///
/// `x` holds 64 elements for each block, `partial` one, `ticket` a zero. Blocks have 64 threads.
#[kernel]
pub unsafe fn grid_sum(
    x: *const i32,
    partial: *mut i32,
    ticket: *mut u32,
    sum: *mut i32,
    n_blocks: u32,
) {
    let sums = shared_array![i32; 2];
    let t = thread::thread_idx_x() as usize;
    let mut own = *x.add(thread::index_1d() as usize);
    for delta in [16, 8, 4, 2, 1] {
        own += warp_shuffle_down(FULL_MASK, own, delta, 32).0;
    }
    if t % 32 == 0 {
        *sums.add(t / 32) = own;
    }
    thread::sync_threads();
    if t != 0 {
        return;
    }
    *partial.add(thread::block_idx_x() as usize) = *sums + *sums.add(1);
    let drawn = atomic::add(ticket, 1, Global, Device, Relaxed);
    if drawn == n_blocks - 1 {
        let mut all = 0;
        for block in 0..n_blocks {
            all += *partial.add(block as usize);
        }
        *sum = all;
    }
}
