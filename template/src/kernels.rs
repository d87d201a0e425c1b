//! The kernels, as the device runs them and as the host knows them.

use cuda_std::prelude::*;

/// Side of the tile that a block turns.
pub const TILE: u32 = 32;

/// The transpose of a matrix: `output[column][row] = input[row][column]`.
///
/// A block of `TILE` × `TILE` threads turns one tile in shared memory, so that both the
/// loads and the stores of a warp are to neighbouring addresses. The tile's rows are one
/// element longer than it needs, so that a column meets all 32 banks.
///
/// # Safety
///
/// `input` and `output` have `n_rows * n_columns` elements and do not overlap.
#[kernel(launch_bounds(TILE * TILE))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let tile = shared_array![f32; (TILE * (TILE + 1)) as usize];
    let place = |row, column| (row * (TILE + 1) + column) as usize;
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let first_row = thread::block_idx_y() * TILE;
    let first_column = thread::block_idx_x() * TILE;

    let (row, column) = (first_row + y, first_column + x);
    if row < n_rows && column < n_columns {
        unsafe { *tile.add(place(y, x)) = *input.add((row * n_columns + column) as usize) };
    }
    thread::sync_threads();
    let (row, column) = (first_row + x, first_column + y);
    if row < n_rows && column < n_columns {
        unsafe { *output.add((column * n_rows + row) as usize) = *tile.add(place(x, y)) };
    }
}
