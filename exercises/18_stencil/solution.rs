//! A tile with a border on either side.

use cuda_std::prelude::*;

/// Threads per block.
const BLOCK: u32 = 256;
/// Elements of a window on either side of the middle.
const REACH: u32 = 3;
/// Elements that a block reads.
const TILE: u32 = BLOCK + 2 * REACH;

/// Element `i`, or zero beyond the ends. An index before element 0 has wrapped to a large number.
unsafe fn element(x: *const i32, i: u32, n: u32) -> i32 {
    if i < n { *x.add(i as usize) } else { 0 }
}

/// # Safety
///
/// `x` and `y` hold `n` elements. Blocks have [`BLOCK`] threads.
#[kernel]
pub unsafe fn smooth(x: *const i32, y: *mut i32, n: u32) {
    let tile = shared_array![i32; TILE as usize];
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    let mut k = t;
    while k < TILE {
        *tile.add(k as usize) = element(x, (i - t + k).wrapping_sub(REACH), n);
        k += BLOCK;
    }
    thread::sync_threads();
    if i < n {
        let mut sum = 0;
        for k in 0..2 * REACH + 1 {
            sum += *tile.add((t + k) as usize);
        }
        *y.add(i as usize) = sum;
    }
}
