//! # No conflict, and no padding
//!
//! The transpose again. This time the tile's memory is 1024 words and not one more (think of a
//! kernel that needs all the shared memory there is, or of rows that must begin at multiples of 16
//! bytes).
//!
//! ```text
//!   bank        0    1    2    3
//!   row 0      0,0  0,1  0,2  0,3
//!   row 1      1,1  1,0  …                 a permutation of each row:
//!   row 2      2,2  …                      which one puts column 0 into all banks?
//!   row 3      3,3  …
//! ```
//!
//! **Predict:** if the element (row, column) lies at place `column ^ row` of its row, in which banks
//! are the elements of column 5?
//!
//! **Change** `place`.

use cuda_std::prelude::*;

/// Rows and columns of a tile.
const TILE: u32 = 32;

/// Place of an element in the tile's memory.
const fn place(row: u32, column: u32) -> usize {
    (row * TILE + column) as usize
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
