//! Defects that a GPU lets pass more often than not, so that no result shows them:
//! only the simulator's checks do.
//!
//! Each kernel is for one block of [`BLOCK_THREADS`] threads, an element each.

use cuda_std::cp_async;
use cuda_std::prelude::*;

/// Threads of the block.
pub const BLOCK_THREADS: u32 = 64;

/// A thread reads what it copies without waiting for it.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn copy_without_wait(input: *const f32, output: *mut f32) {
    let tile = shared_array![f32; BLOCK_THREADS as usize];
    let thread = thread::thread_idx_x() as usize;
    cp_async::ca(tile.add(thread), input.add(thread));
    cp_async::commit_group();
    // Here cp_async::wait_group::<0>() is missing.
    *output.add(thread) = *tile.add(thread);
}

/// Every thread waits for its own copy, and reads another's.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn copy_without_barrier(input: *const f32, output: *mut f32) {
    let tile = shared_array![f32; BLOCK_THREADS as usize];
    let thread = thread::thread_idx_x();
    cp_async::ca(tile.add(thread as usize), input.add(thread as usize));
    cp_async::wait_all();
    // Here thread::sync_threads() is missing.
    *output.add(thread as usize) = *tile.add((BLOCK_THREADS - 1 - thread) as usize);
}

/// The last steps of a tree, within a warp, as if its lanes ran in lockstep.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn tree_without_warp_barrier(input: *const f32, output: *mut f32) {
    let values = shared_array![f32; BLOCK_THREADS as usize];
    let thread = thread::thread_idx_x();
    *values.add(thread as usize) = *input.add(thread as usize);
    thread::sync_threads();
    let mut stride = BLOCK_THREADS / 2;
    while stride > 0 {
        // Here warp::sync_warp(warp::FULL_MASK) is missing.
        if thread < stride {
            *values.add(thread as usize) += *values.add((thread + stride) as usize);
        }
        stride /= 2;
    }
    if thread == 0 {
        *output = *values;
    }
}

/// Adds to an output that was never set to zero.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn adds_to_its_output(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    *output.add(thread) += *input.add(thread);
}

/// Half a warp sums by shuffles that reach into the other half.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn shuffle_from_absent_lanes(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x();
    if thread < 16 {
        let own = *input.add(thread as usize);
        // The width should be 16, so that lane 8 has no lane to read from.
        let (other, _) = warp::warp_shuffle_down(0xFFFF, own, 8, 32);
        *output.add(thread as usize) = own + other;
    }
}
