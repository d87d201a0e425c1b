//! Defects that the usual order of warps hides: results are right until the warps take
//! turns in another order, which a GPU may choose at any time. Each has its corrected
//! version next to it.
//!
//! Each is for one block of [`BLOCK_THREADS`] threads, two warps.

use cuda_std::atomic::{self, Block, Device, Global, Relaxed, Shared};
use cuda_std::prelude::*;

/// Threads of the block.
pub const BLOCK_THREADS: u32 = 64;

/// Both warps take what the first one left in shared memory.
#[inline(always)]
unsafe fn hand_over(input: *const u32, output: *mut u32, barrier: impl Fn()) {
    let tile = shared_array![u32; 32];
    let thread = thread::thread_idx_x() as usize;
    if thread < 32 {
        *tile.add(thread) = *input.add(thread);
    }
    barrier();
    *output.add(thread) = *tile.add(thread % 32);
}

/// # Safety
///
/// `input` and `output` hold an element for each thread.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn handed_over_without_barrier(input: *const u32, output: *mut u32) {
    hand_over(input, output, || ());
}

/// # Safety
///
/// As [`handed_over_without_barrier`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn handed_over_with_barrier(input: *const u32, output: *mut u32) {
    hand_over(input, output, || thread::sync_threads());
}

/// Both warps add their number of lanes, by a load and a store. Both are atomic, so
/// that this is not a race; but what the other adds in between is lost.
///
/// # Safety
///
/// As [`handed_over_without_barrier`], and the first element of `output` is 0.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn added_in_two_steps(_input: *const u32, output: *mut u32) {
    if thread::thread_idx_x().is_multiple_of(32) {
        let before = atomic::load(output, Global, Device, Relaxed);
        atomic::store(output, before + 32, Global, Device, Relaxed);
    }
}

/// # Safety
///
/// As [`added_in_two_steps`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn added_in_one_step(_input: *const u32, output: *mut u32) {
    if thread::thread_idx_x().is_multiple_of(32) {
        atomic::add(output, 32, Global, Device, Relaxed);
    }
}

/// Adds under two locks, which warp `w` takes in the order given by `first`.
#[inline(always)]
unsafe fn add_under_locks(output: *mut u32, first: impl Fn(usize) -> usize) {
    let locks = shared_array![u32; 2];
    let thread = thread::thread_idx_x() as usize;
    if thread < 2 {
        atomic::store(locks.add(thread), 0, Shared, Block, Relaxed);
    }
    thread::sync_threads();
    if thread.is_multiple_of(32) {
        let first = first(thread / 32);
        let order = [locks.add(first), locks.add(1 - first)];
        for lock in order {
            while atomic::cas(lock, 0, 1, Shared, Block, Relaxed) != 0 {}
        }
        atomic::add(output, 32, Global, Device, Relaxed);
        for lock in order {
            atomic::exch(lock, 0, Shared, Block, Relaxed);
        }
    }
}

/// # Safety
///
/// As [`added_in_two_steps`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn locked_in_two_orders(_input: *const u32, output: *mut u32) {
    add_under_locks(output, |warp| warp);
}

/// # Safety
///
/// As [`added_in_two_steps`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn locked_in_one_order(_input: *const u32, output: *mut u32) {
    add_under_locks(output, |_| 0);
}
