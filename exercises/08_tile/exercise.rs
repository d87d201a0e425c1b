//! # Turning a tile
//!
//! `output[column][row] = input[row][column]`. Each thread moves one element:
//!
//! ```text
//!   input                          output
//!   row r:  a b c d …   ← a warp   column r:  a
//!                                             b    each in a different row of memory
//!                                             c
//! ```
//!
//! **Predict:** how many sectors does a warp's load need, and how many does its store need? What if
//! the warp read a column and wrote a row?
//!
//! Rows have to become columns somewhere, and shared memory does not mind: it has no sectors.
//!
//! **Change** the kernel: store the block's 32×32 elements in `tile`, by rows as they are read, and
//! write the output by rows.

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
        let value = *input.add((row * n_columns + column) as usize);
        *output.add((column * n_rows + row) as usize) = value;
    }
}
