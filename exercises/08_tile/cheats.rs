//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// Rows and columns of a tile.
const TILE: u32 = 32;

/// The tile without a barrier.
///
/// fails: race: What has to come between
#[kernel]
pub unsafe fn no_barrier(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
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

/// Writes the tile to the block's own place in the grid, not to that of the transposed tile.
///
/// fails: result: Which tile of the *output* is that?
#[kernel]
pub unsafe fn same_block(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let tile = shared_array![f32; (TILE * TILE) as usize];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let row = thread::block_idx_y() * TILE + y;
    let column = thread::block_idx_x() * TILE + x;
    if row < n_rows && column < n_columns {
        *tile.add((y * TILE + x) as usize) = *input.add((row * n_columns + column) as usize);
    }
    thread::sync_threads();
    let out_row = thread::block_idx_y() * TILE + y;
    let out_column = thread::block_idx_x() * TILE + x;
    if out_row < n_columns && out_column < n_rows {
        let value = *tile.add((x * TILE + y) as usize);
        *output.add((out_row * n_rows + out_column) as usize) = value;
    }
}

/// Exchanges x and y: now the loads are far apart.
///
/// fails: count: instead of the stores
#[kernel]
pub unsafe fn strided_loads(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let row = thread::block_idx_y() * 32 + thread::thread_idx_x();
    let column = thread::block_idx_x() * 32 + thread::thread_idx_y();
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        *output.add((column * n_rows + row) as usize) = value;
    }
}
