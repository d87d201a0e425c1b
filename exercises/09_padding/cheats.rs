//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// Rows and columns of a tile.
const TILE: u32 = 32;
/// Elements from one row of the tile to the next: two are unused.
const PITCH: u32 = TILE + 2;
/// Elements in the tile's memory.
const N_ELEMENTS: usize = (TILE * PITCH) as usize;

/// Place of an element in the tile's memory.
const fn place(row: u32, column: u32) -> usize {
    (row * PITCH + column) as usize
}

/// The tile is written by columns and read by rows: the conflicts have moved.
///
/// fails: count: now the stores have some
#[kernel]
pub unsafe fn conflicts_in_stores(input: *const f32, output: *mut f32, n: u32) {
    let tile = shared_array![f32; 1024];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, column) = (
        thread::block_idx_y() * 32 + y,
        thread::block_idx_x() * 32 + x,
    );
    if row < n && column < n {
        *tile.add((x * 32 + y) as usize) = *input.add((row * n + column) as usize);
    }
    thread::sync_threads();
    let (row, column) = (
        thread::block_idx_x() * 32 + y,
        thread::block_idx_y() * 32 + x,
    );
    if row < n && column < n {
        *output.add((row * n + column) as usize) = *tile.add((y * 32 + x) as usize);
    }
}

/// Rows of 34 words: longer than 32, but even.
///
/// fails: count: a factor in common with 32
#[kernel]
pub unsafe fn even_rows(input: *const f32, output: *mut f32, n: u32) {
    let tile = shared_array![f32; N_ELEMENTS];
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

/// Without shared memory there is no conflict.
///
/// fails: count: both sides should go by rows
#[kernel]
pub unsafe fn no_tile(input: *const f32, output: *mut f32, n: u32) {
    let row = thread::block_idx_y() * 32 + thread::thread_idx_y();
    let column = thread::block_idx_x() * 32 + thread::thread_idx_x();
    if row < n && column < n {
        *output.add((column * n + row) as usize) = *input.add((row * n + column) as usize);
    }
}
