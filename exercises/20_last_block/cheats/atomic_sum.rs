//! Adds up by atomics.
//!
//! fails: count: another way

use cuda_std::atomic::{self, Device, Global, Relaxed};
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
    let mut own = *x.add(thread::index_1d() as usize);
    for delta in [16, 8, 4, 2, 1] {
        own += warp_shuffle_down(FULL_MASK, own, delta, 32).0;
    }
    let t = thread::thread_idx_x();
    if t % 32 == 0 {
        let _ = atomic::add(partial, own, Global, Device, atomic::AcqRel);
        let drawn = atomic::add(ticket, 1, Global, Device, atomic::AcqRel);
        if drawn == 2 * n_blocks - 1 {
            *sum = atomic::load(partial, Global, Device, Relaxed);
        }
    }
}
