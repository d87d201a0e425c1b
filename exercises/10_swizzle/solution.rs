//! Each row has an order of its own.

use cuda_std::prelude::*;

/// Rows and columns of a tile.
const TILE: u32 = 32;

/// Place of an element in the tile's memory.
const fn place(row: u32, column: u32) -> usize {
    (row * TILE + (column ^ row)) as usize
}

/// # Safety
///
/// `input` and `output` hold `n` rows of `n` elements.
#[kernel]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n: u32) {
    let tile = shared_array![f32; (TILE * TILE) as usize];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, column) = (
        thread::block_idx_y() * TILE + y,
        thread::block_idx_x() * TILE + x,
    );
    if row < n && column < n {
        *tile.add(place(y, x)) = *input.add((row * n + column) as usize);
    }
    thread::sync_threads();
    let (row, column) = (
        thread::block_idx_x() * TILE + y,
        thread::block_idx_y() * TILE + x,
    );
    if row < n && column < n {
        *output.add((row * n + column) as usize) = *tile.add(place(x, y));
    }
}
