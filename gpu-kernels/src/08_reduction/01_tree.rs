//! One element per thread: the tree in global memory, in shared memory, and in
//! registers.
//!
//! Each kernel leaves one sum per block. All but [`reduce_atomic`] need further
//! launches over these sums.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::prelude::*;
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::warp::{FULL_MASK, warp_shuffle_down};

use crate::warp::WARP_LANES;

/// Threads in a block, and elements that a block adds.
pub const BLOCK_THREADS: u32 = 128;

const BLOCK_WARPS: u32 = BLOCK_THREADS / WARP_LANES;

// The tree halves the block until one element is left.
const _: () = assert!(BLOCK_THREADS.is_power_of_two());
// The sums of a block's warps are added by one warp.
const _: () = assert!(BLOCK_WARPS.is_power_of_two() && BLOCK_WARPS <= WARP_LANES);

/// Number of elements that block `block` adds: all blocks but the last are full.
#[inline(always)]
pub fn block_len(block: u32, n: u32) -> u32 {
    n.saturating_sub(block * BLOCK_THREADS).min(BLOCK_THREADS)
}

/// The tree in global memory. It works in place: `data` is destroyed.
///
/// A step's loads come from the L1 cache at best, and its stores go through to
/// the L2 cache; in the last five steps only 16, 8, 4, 2, 1 lanes of a warp have
/// work, and its accesses cost as much as full ones.
///
/// # Safety
///
/// `data` holds `n` elements, `block_sums` one for each block. Launch with
/// [`BLOCK`] threads and [`grid`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn reduce_global(data: *mut f32, block_sums: *mut f32, n: u32) {
    let thread = thread::thread_idx_x();
    let block = thread::block_idx_x();
    let len = block_len(block, n);
    let values = data.add((block * BLOCK_THREADS) as usize);

    let mut stride = BLOCK_THREADS / 2;
    while stride > 0 {
        // The last block may have no element a stride away.
        if thread < stride && thread + stride < len {
            *values.add(thread as usize) += *values.add((thread + stride) as usize);
        }
        thread::sync_threads();
        stride /= 2;
    }
    if thread == 0 {
        *block_sums.add(block as usize) = if len == 0 { 0.0 } else { *values };
    }
}

/// Adds `values[0..BLOCK_THREADS]` in shared memory; the sum is in `values[0]`
/// afterwards, for thread 0 to read. Every thread must have stored its own
/// value before.
#[inline(always)]
unsafe fn add_tree(values: *mut f32) {
    let thread = thread::thread_idx_x();
    thread::sync_threads();
    let mut stride = BLOCK_THREADS / 2;
    while stride > 0 {
        if thread < stride {
            *values.add(thread as usize) += *values.add((thread + stride) as usize);
        }
        thread::sync_threads();
        stride /= 2;
    }
}

/// This thread's element, or 0 past the end, which does not change a sum.
#[inline(always)]
unsafe fn own_element(input: *const f32, n: u32) -> f32 {
    let index = thread::index_1d();
    if index < n {
        *input.add(index as usize)
    } else {
        0.0
    }
}

/// Adds the block's elements by way of `values`, its shared memory, and stores
/// the sum.
#[inline(always)]
unsafe fn reduce_by_tree(values: *mut f32, input: *const f32, block_sums: *mut f32, n: u32) {
    let thread = thread::thread_idx_x();
    *values.add(thread as usize) = own_element(input, n);
    add_tree(values);
    if thread == 0 {
        *block_sums.add(thread::block_idx_x() as usize) = *values;
    }
}

/// The tree in shared memory: the input is read once, and kept.
///
/// Any `n`: threads past the end contribute a 0.
///
/// # Safety
///
/// `input` holds `n` elements, `block_sums` one for each block; they do not
/// overlap. Launch with [`BLOCK`] threads and [`grid`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn reduce_shared(input: *const f32, block_sums: *mut f32, n: u32) {
    let values = shared_array![f32; BLOCK_THREADS as usize];
    reduce_by_tree(values, input, block_sums, n);
}

/// [`reduce_shared`] in dynamic shared memory, whose size is chosen at launch,
/// not at compile time. It is as fast. The cost is safety: a launch
/// that asks for too little lets the kernel write past its end.
///
/// # Safety
///
/// As [`reduce_shared`], and launch with [`shared_bytes`] bytes of dynamic
/// shared memory.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn reduce_shared_dynamic(input: *const f32, block_sums: *mut f32, n: u32) {
    reduce_by_tree(dynamic_shared_mem(), input, block_sums, n);
}

/// [`reduce_shared`], and the blocks add their sums to the result themselves:
/// one launch is enough.
///
/// Additions at one address go through the L2 cache one by one, in the order in
/// which the blocks finish. The order differs from launch to launch, and
/// with it the rounding: the result is not reproducible.
///
/// # Safety
///
/// `input` holds `n` elements; `sum` is one, not among them, and holds 0 (or
/// the value to add to). Launch with [`BLOCK`] threads and [`grid`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn reduce_atomic(input: *const f32, sum: *mut f32, n: u32) {
    let values = shared_array![f32; BLOCK_THREADS as usize];
    let thread = thread::thread_idx_x();
    *values.add(thread as usize) = own_element(input, n);
    add_tree(values);
    if thread == 0 {
        atomic::add(sum, *values, Global, Device, Relaxed);
    }
}

/// The sum of `value` over the first `n_lanes` lanes of the warp, in lane 0.
///
/// In each step a lane takes the value of the lane `stride` further on,
/// register to register. There is no memory in which others could see a partial
/// result, and no barrier: the shuffle itself synchronises the lanes.
#[inline(always)]
pub(super) unsafe fn warp_sum(mut value: f32, n_lanes: u32) -> f32 {
    let mut stride = n_lanes / 2;
    while stride > 0 {
        value += warp_shuffle_down(FULL_MASK, value, stride, WARP_LANES).0;
        stride /= 2;
    }
    value
}

/// The tree in registers: five shuffles in each warp, then the warps' sums
/// through shared memory, with one barrier instead of eight.
///
/// # Safety
///
/// As [`reduce_shared`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn reduce_shuffle(input: *const f32, block_sums: *mut f32, n: u32) {
    let warp_sums = shared_array![f32; BLOCK_WARPS as usize];
    let thread = thread::thread_idx_x();
    let (warp, lane) = (thread / WARP_LANES, thread % WARP_LANES);

    let sum = warp_sum(own_element(input, n), WARP_LANES);
    if lane == 0 {
        *warp_sums.add(warp as usize) = sum;
    }
    thread::sync_threads();
    if warp == 0 {
        // Lanes without a warp of their own read another's sum; it does not
        // reach lane 0.
        let sum = warp_sum(*warp_sums.add((lane % BLOCK_WARPS) as usize), BLOCK_WARPS);
        if lane == 0 {
            *block_sums.add(thread::block_idx_x() as usize) = sum;
        }
    }
}

/// Block of every kernel here, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid over `n` elements: at least one block, so that the sum of nothing is
/// written too.
pub const fn grid(n: u32) -> [u32; 3] {
    let n_blocks = n.div_ceil(BLOCK_THREADS);
    [if n_blocks == 0 { 1 } else { n_blocks }, 1, 1]
}

/// Dynamic shared memory of [`reduce_shared_dynamic`], in bytes.
pub const fn shared_bytes() -> u32 {
    BLOCK_THREADS * size_of::<f32>() as u32
}

/// Additions an element goes through when launches of one of the trees follow
/// each other until one sum is left: log₂ of the block in each.
pub const fn tree_depth(n: u32) -> u32 {
    let mut depth = BLOCK_THREADS.ilog2();
    let mut n_left = grid(n)[0];
    while n_left > 1 {
        depth += BLOCK_THREADS.ilog2();
        n_left = grid(n_left)[0];
    }
    depth
}

/// Additions an element goes through in [`reduce_atomic`]: those of its block,
/// then at worst one per block.
pub const fn atomic_depth(n: u32) -> u32 {
    BLOCK_THREADS.ilog2() + grid(n)[0]
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_THREADS, atomic_depth, block_len, grid, tree_depth};

    #[test]
    fn the_blocks_share_out_all_elements() {
        for n in [0, 1, 127, 128, 129, 255, 256, 1000, 100_000_000] {
            let n_blocks = grid(n)[0];
            let total: u32 = (0..n_blocks).map(|block| block_len(block, n)).sum();
            assert_eq!(total, n);
            assert!(n <= BLOCK_THREADS || block_len(n_blocks - 1, n) > 0);
        }
    }

    #[test]
    fn ten_to_the_eight_elements_take_four_launches() {
        let mut n_left = 100_000_000;
        for expected in [781_250, 6_104, 48, 1] {
            assert!(n_left > 1);
            n_left = grid(n_left)[0];
            assert_eq!(n_left, expected);
        }
        assert_eq!(tree_depth(100_000_000), 28);
        assert_eq!(atomic_depth(100_000_000), 781_257);
    }

    #[test]
    fn the_sum_of_nothing_takes_one_block() {
        assert_eq!(grid(0), [1, 1, 1]);
        assert_eq!(tree_depth(0), 7);
    }
}
