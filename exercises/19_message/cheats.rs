//! Kernels that must not pass, and how they fail.

use cuda_std::atomic::{self, Acquire, Block, Device, Global, Relaxed, Release};
use cuda_std::prelude::*;

/// No barrier before the flag: thread 0 speaks for warps that are not done.
///
/// fails: race: What was written before a flag
#[kernel]
pub unsafe fn flag_too_early(data: *mut u32, flags: *mut u32, n_blocks: u32) {
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

/// Release and acquire in the scope of one block, which does not contain the other block.
///
/// fails: race: contains both threads
#[kernel]
pub unsafe fn narrow_scope(data: *mut u32, flags: *mut u32, n_blocks: u32) {
    let (block, t) = (
        thread::block_idx_x() as usize,
        thread::thread_idx_x() as usize,
    );
    if block > 0 && t == 0 {
        while atomic::load(flags.add(block - 1), Global, Block, Acquire) == 0 {}
    }
    thread::sync_threads();
    *data.add(t) += 1;
    thread::sync_threads();
    if t == 0 {
        atomic::store(flags.add(block), 1, Global, Block, Release);
    }
}

/// A release without an acquire.
///
/// fails: contract: does not acquire
#[kernel]
pub unsafe fn release_alone(data: *mut u32, flags: *mut u32, n_blocks: u32) {
    let (block, t) = (
        thread::block_idx_x() as usize,
        thread::thread_idx_x() as usize,
    );
    if block > 0 && t == 0 {
        while atomic::load(flags.add(block - 1), Global, Device, Relaxed) == 0 {}
    }
    thread::sync_threads();
    *data.add(t) += 1;
    thread::sync_threads();
    if t == 0 {
        atomic::store(flags.add(block), 1, Global, Device, Release);
    }
}
