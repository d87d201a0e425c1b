//! Stored by rows, loaded by columns.

use cuda_std::prelude::*;

/// Rows and columns of a tile.
const TILE: u32 = 32;

/// # Safety
///
/// `input` holds `n_rows` rows of `n_columns`, `output` `n_columns` rows of `n_rows`.
#[kernel]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let tile = shared_array![f32; (TILE * TILE) as usize];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let row = thread::block_idx_y() * TILE + y;
    let column = thread::block_idx_x() * TILE + x;
    if row < n_rows && column < n_columns {
        *tile.add((y * TILE + x) as usize) = *input.add((row * n_columns + column) as usize);
    }
    thread::sync_threads();
    let out_row = thread::block_idx_x() * TILE + y;
    let out_column = thread::block_idx_y() * TILE + x;
    if out_row < n_columns && out_column < n_rows {
        let value = *tile.add((x * TILE + y) as usize);
        *output.add((out_row * n_rows + out_column) as usize) = value;
    }
}
