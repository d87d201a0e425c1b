//! No barrier before the flag: thread 0 speaks for warps that are not done.
//!
//! fails: race: What was written before a flag

use cuda_std::atomic::{self, Acquire, Device, Global, Release};
use cuda_std::prelude::*;

/// # Safety
///
/// `data` holds 64 elements, `flags` a zero for each block. Blocks have 64 threads.
#[kernel]
pub unsafe fn pass_on(data: *mut u32, flags: *mut u32, n_blocks: u32) {
    let (block, t) = (
        thread::block_idx_x() as usize,
        thread::thread_idx_x() as usize,
    );
    if block > 0 && t == 0 {
        while atomic::load(flags.add(block - 1), Global, Device, Acquire) == 0 {}
    }
    thread::sync_threads();
    *data.add(t) += 1;
    if t == 0 {
        atomic::store(flags.add(block), 1, Global, Device, Release);
    }
}
