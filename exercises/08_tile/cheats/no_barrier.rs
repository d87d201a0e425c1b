//! The tile without a barrier.
//!
//! fails: race: What has to come between

use cuda_std::prelude::*;

/// # Safety
///
/// `input` holds `n_rows` rows of `n_columns`, `output` `n_columns` rows of `n_rows`.
#[kernel]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let tile = shared_array![f32; 1024];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let row = thread::block_idx_y() * 32 + y;
    let column = thread::block_idx_x() * 32 + x;
    if row < n_rows && column < n_columns {
        *tile.add((y * 32 + x) as usize) = *input.add((row * n_columns + column) as usize);
    }
    let out_row = thread::block_idx_x() * 32 + y;
    let out_column = thread::block_idx_y() * 32 + x;
    if out_row < n_columns && out_column < n_rows {
        let value = *tile.add((x * 32 + y) as usize);
        *output.add((out_row * n_rows + out_column) as usize) = value;
    }
}
