//! Padding, with the memory for it.
//!
//! fails: contract: a permutation that costs no memory

use cuda_std::prelude::*;

/// # Safety
///
/// `input` and `output` hold `n` rows of `n` elements.
#[kernel]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n: u32) {
    let tile = shared_array![f32; 32 * 33];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, column) = (
        thread::block_idx_y() * 32 + y,
        thread::block_idx_x() * 32 + x,
    );
    if row < n && column < n {
        *tile.add((y * 33 + x) as usize) = *input.add((row * n + column) as usize);
    }
    thread::sync_threads();
    let (row, column) = (
        thread::block_idx_x() * 32 + y,
        thread::block_idx_y() * 32 + x,
    );
    if row < n && column < n {
        *output.add((row * n + column) as usize) = *tile.add((x * 33 + y) as usize);
    }
}
