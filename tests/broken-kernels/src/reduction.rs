//! Reductions with one defect each, named after it.
//!
//! They have the parameters of `gpu-kernels`' `reduce_shared` and `reduce_atomic`, so
//! that the lesson's own checks run on them.

use cuda_std::prelude::*;

const BLOCK_THREADS: u32 = 128;

/// This thread's element, or 0 past the end.
#[inline(always)]
unsafe fn own_element(input: *const f32, n: u32) -> f32 {
    let index = thread::index_1d();
    if index < n {
        *input.add(index as usize)
    } else {
        0.0
    }
}

/// The tree without a barrier between its steps: a warp adds what another may
/// not have stored yet.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn reduce_without_barrier(input: *const f32, block_sums: *mut f32, n: u32) {
    let values = shared_array![f32; BLOCK_THREADS as usize];
    let thread = thread::thread_idx_x();
    *values.add(thread as usize) = own_element(input, n);
    let mut stride = BLOCK_THREADS / 2;
    while stride > 0 {
        // Here thread::sync_threads() is missing.
        if thread < stride {
            *values.add(thread as usize) += *values.add((thread + stride) as usize);
        }
        stride /= 2;
    }
    if thread == 0 {
        *block_sums.add(thread::block_idx_x() as usize) = *values;
    }
}

/// The blocks add their sums to the result by a load and a store: two of them
/// may load the same value, and one addition is lost.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn reduce_without_atomics(input: *const f32, sum: *mut f32, n: u32) {
    let values = shared_array![f32; BLOCK_THREADS as usize];
    let thread = thread::thread_idx_x();
    *values.add(thread as usize) = own_element(input, n);
    thread::sync_threads();
    let mut stride = BLOCK_THREADS / 2;
    while stride > 0 {
        if thread < stride {
            *values.add(thread as usize) += *values.add((thread + stride) as usize);
        }
        thread::sync_threads();
        stride /= 2;
    }
    if thread == 0 {
        *sum += *values;
    }
}

/// The tree stops a step early: every other element of the last two is left out.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn reduce_one_step_too_few(input: *const f32, block_sums: *mut f32, n: u32) {
    let values = shared_array![f32; BLOCK_THREADS as usize];
    let thread = thread::thread_idx_x();
    *values.add(thread as usize) = own_element(input, n);
    thread::sync_threads();
    let mut stride = BLOCK_THREADS / 2;
    // `stride > 0` is right.
    while stride > 1 {
        if thread < stride {
            *values.add(thread as usize) += *values.add((thread + stride) as usize);
        }
        thread::sync_threads();
        stride /= 2;
    }
    if thread == 0 {
        *block_sums.add(thread::block_idx_x() as usize) = *values;
    }
}
