//! Without shared memory there is no conflict.
//!
//! fails: count: both sides should go by rows

use cuda_std::prelude::*;

/// # Safety
///
/// `input` and `output` hold `n` rows of `n` elements.
#[kernel]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n: u32) {
    let row = thread::block_idx_y() * 32 + thread::thread_idx_y();
    let column = thread::block_idx_x() * 32 + thread::thread_idx_x();
    if row < n && column < n {
        *output.add((column * n + row) as usize) = *input.add((row * n + column) as usize);
    }
}
