//! Kernels whose defect shows inside a function of `cuda_std`, in a macro or in a
//! function of their own: a report must first name the line that is marked `<- here`.
//!
//! Each is for one block of [`BLOCK_THREADS`] threads, an element each.

use cuda_std::atomic::{self, Block, Device, Global, Relaxed, Shared};
use cuda_std::ldg::ldg;
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::vector::Float4;
use cuda_std::{cp_async, mbarrier};

/// Threads of the block.
pub const BLOCK_THREADS: u32 = 64;
const N: usize = BLOCK_THREADS as usize;

/// Adds past the end of its output.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn atomic_past_the_end(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    let value = *input.add(thread);
    atomic::add(output.add(thread + 1), value, Global, Device, Relaxed); // <- here
}

/// Adds to a sum that a thread sets to zero, without a barrier in between.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn atomic_before_the_barrier(input: *const f32, output: *mut f32) {
    let sum = shared_array![f32; 1];
    let thread = thread::thread_idx_x() as usize;
    if thread == 0 {
        *sum = 0.0;
    }
    // Here thread::sync_threads() is missing.
    atomic::add(sum, *input.add(thread), Shared, Block, Relaxed); // <- here
    thread::sync_threads();
    *output.add(thread) = *sum;
}

/// Lanes shuffle from lanes outside their mask.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn shuffle_outside_the_mask(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    let mut value = *input.add(thread);
    if thread % 32 < 16 {
        value = warp::warp_shuffle_idx(0xFFFF, value, 20, 32).0; // <- here
    }
    *output.add(thread) = value;
}

/// Lanes vote with others that never arrive.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn vote_with_absent_lanes(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    let mut value = *input.add(thread);
    if thread % 32 < 16 {
        value = warp::warp_vote_ballot(warp::FULL_MASK, value > 0.0) as f32; // <- here
    }
    *output.add(thread) = value;
}

/// Lanes synchronise with masks that do not agree.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn warp_barrier_of_two_masks(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    *output.add(thread) = *input.add(thread);
    let mask = if thread % 32 < 8 {
        0xFF
    } else {
        warp::FULL_MASK
    };
    warp::sync_warp(mask); // <- here
}

/// Part of a warp reaches a block barrier.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn barrier_for_some(input: *const f32, output: *mut f32) {
    let tile = shared_array![f32; N];
    let thread = thread::thread_idx_x() as usize;
    if thread < 40 {
        *tile.add(thread) = *input.add(thread);
        thread::sync_threads(); // <- here
        *output.add(thread) = *tile.add(39 - thread);
    }
}

/// The two warps reach one barrier with different counts.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn barrier_of_two_counts(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    *output.add(thread) = *input.add(thread);
    if thread < 32 {
        thread::sync_some_threads::<3, 64>(); // <- also
    } else {
        thread::sync_some_threads::<3, 32>(); // <- here
    }
}

/// Threads arrive at a barrier in memory that was never initialised.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn arrival_without_a_barrier(input: *const f32, output: *mut f32) {
    let barrier = address_in_space(shared_array![u64; 1]);
    let thread = thread::thread_idx_x() as usize;
    // Here mbarrier::init is missing.
    mbarrier::arrive(barrier); // <- here
    *output.add(thread) = *input.add(thread);
}

/// All wait at a barrier in memory for one arrival that never comes.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn too_few_arrivals(input: *const f32, output: *mut f32) {
    let barrier = address_in_space(shared_array![u64; 1]);
    let thread = thread::thread_idx_x() as usize;
    if thread == 0 {
        mbarrier::init(barrier, BLOCK_THREADS + 1);
    }
    thread::sync_threads();
    mbarrier::arrive(barrier);
    mbarrier::wait(barrier, 0); // <- here
    *output.add(thread) = *input.add(thread);
}

/// A lock that its holder does not release. The first element of `output` is 0.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn lock_without_end(input: *const f32, output: *mut f32) {
    let lock = shared_array![u32; 1];
    let thread = thread::thread_idx_x() as usize;
    if thread == 0 {
        atomic::store(lock, 0, Shared, Block, Relaxed);
    }
    thread::sync_threads();
    if thread.is_multiple_of(32) {
        while atomic::cas(lock, 0, 1, Shared, Block, Relaxed) != 0 {} // <- here
    }
    warp::sync_warp(warp::FULL_MASK);
    *output.add(thread) = *input.add(thread);
}

/// Copies past the end of the tile.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn copy_past_the_tile(input: *const f32, output: *mut f32) {
    let tile = shared_array![f32; 32];
    let thread = thread::thread_idx_x() as usize;
    cp_async::ca(tile.add(thread), input.add(thread)); // <- here
    cp_async::wait_all();
    *output.add(thread) = *tile.add(thread);
}

/// Copies to global memory, as if it were shared.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn copy_to_global_memory(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    cp_async::ca(output.add(thread), input.add(thread)); // <- here
    cp_async::wait_all();
}

/// Loads what the kernel wrote as if it were constant.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn constant_load_of_its_output(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    *output.add(thread) = *input.add(thread); // <- also
    thread::sync_threads();
    let value = ldg(output.add(N - 1 - thread).cast_const()); // <- here
    thread::sync_threads();
    *output.add(thread) = value;
}

/// Stores vectors where only single elements may begin.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn misaligned_vector(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    let value = *input.add(thread);
    if thread < 15 {
        let vector = Float4::new(value, value, value, value);
        vector.store_streaming(output.add(4 * thread + 1).cast()); // <- here
    }
}

macro_rules! put {
    ($tile:expr, $value:expr) => {
        *$tile.add(thread::thread_idx_x() as usize) = $value
    };
}

macro_rules! take {
    ($tile:expr, $from:expr) => {
        *$tile.add($from)
    };
}

/// A race with both sides in macros.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn race_in_macros(input: *const f32, output: *mut f32) {
    let tile = shared_array![f32; N];
    let thread = thread::thread_idx_x() as usize;
    put!(tile, *input.add(thread)); // <- here
    // Here thread::sync_threads() is missing.
    let value = take!(tile, N - 1 - thread); // <- also
    *output.add(thread) = value;
}

macro_rules! add_to {
    ($counter:expr) => {
        atomic::add($counter, 1.0, Global, Device, Relaxed)
    };
}

/// A function of `cuda_std` in a macro.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn atomic_in_a_macro(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    let value = *input.add(thread);
    if value >= 0.0 {
        add_to!(output.add(N + thread)); // <- here
    }
}

#[inline(always)]
unsafe fn count(counter: *mut f32) {
    atomic::add(counter, 1.0, Global, Device, Relaxed); // <- counts
}

/// A function of `cuda_std` in one of the crate.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn atomic_in_a_function(input: *const f32, output: *mut f32) {
    let thread = thread::thread_idx_x() as usize;
    let value = *input.add(thread);
    if value >= 0.0 {
        count(output.add(N + thread)); // <- here
    }
}

/// One warp waits for room and fills, the other waits for elements and drains: by parities
/// that never change, so that the second waits for ever.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn waits_in_two_halves(input: *const f32, output: *mut f32, n_rounds: u32) {
    let buffer = shared_array![f32; 32];
    let barriers = shared_array![u64; 2];
    let (full, empty) = (
        address_in_space(barriers),
        address_in_space(barriers.add(1)),
    );
    let lane = warp::lane_id() as usize;
    if thread::thread_idx_x() == 0 {
        mbarrier::init(full, 32);
        mbarrier::init(empty, 32);
    }
    thread::sync_threads();
    let is_filling = thread::thread_idx_x() < 32;
    for _ in 0..n_rounds {
        if is_filling {
            mbarrier::wait(empty, 1);
            *buffer.add(lane) = *input.add(lane);
            mbarrier::arrive(full);
        } else {
            mbarrier::wait(full, 0); // <- here
            *output.add(lane) = *buffer.add(31 - lane);
            mbarrier::arrive(empty);
        }
    }
}

/// Copies, round after round and in a loop that is unrolled, until one is past the end of
/// the tile.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn copies_in_a_loop(input: *const f32, output: *mut f32) {
    let tile = shared_array![f32; 3 * N];
    let thread = thread::thread_idx_x() as usize;
    for round in 0..4 {
        cp_async::wait_all();
        cp_async::ca(tile.add(round * N + thread), input.add(thread)); // <- here
        cp_async::commit_group();
    }
    cp_async::wait_all();
    *output.add(thread) = *tile.add(thread);
}
