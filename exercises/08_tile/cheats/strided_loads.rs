//! Exchanges x and y: now the loads are far apart.
//!
//! fails: count: instead of the stores

use cuda_std::prelude::*;

/// # Safety
///
/// `input` holds `n_rows` rows of `n_columns`, `output` `n_columns` rows of `n_rows`.
#[kernel]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let row = thread::block_idx_y() * 32 + thread::thread_idx_x();
    let column = thread::block_idx_x() * 32 + thread::thread_idx_y();
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        *output.add((column * n_rows + row) as usize) = value;
    }
}
