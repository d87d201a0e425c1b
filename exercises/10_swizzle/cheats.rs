//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

const fn place(row: u32, column: u32) -> usize {
    (row * 32 + (column ^ (row & 7))) as usize
}

/// Permutes by the row's lowest bits only.
///
/// fails: count: share a few banks
#[kernel]
pub unsafe fn half_a_swizzle(input: *const f32, output: *mut f32, n: u32) {
    let tile = shared_array![f32; 1024];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, column) = (
        thread::block_idx_y() * 32 + y,
        thread::block_idx_x() * 32 + x,
    );
    if row < n && column < n {
        *tile.add(place(y, x)) = *input.add((row * n + column) as usize);
    }
    thread::sync_threads();
    let (row, column) = (
        thread::block_idx_x() * 32 + y,
        thread::block_idx_y() * 32 + x,
    );
    if row < n && column < n {
        *output.add((row * n + column) as usize) = *tile.add(place(x, y));
    }
}

/// Padding, without the memory for it.
///
/// fails: out-of-bounds: does not fit
#[kernel]
pub unsafe fn longer_rows(input: *const f32, output: *mut f32, n: u32) {
    let tile = shared_array![f32; 1024];
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

/// Padding, with the memory for it.
///
/// fails: contract: a permutation that costs no memory
#[kernel]
pub unsafe fn padding(input: *const f32, output: *mut f32, n: u32) {
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
