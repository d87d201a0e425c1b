//! # Thirty-two words in one bank
//!
//! The transpose of the last exercise. Both sides in global memory go by rows, and in shared memory
//! a warp writes a row of the tile and reads a column. The 32 banks of shared memory are each one
//! word wide, and consecutive words are in consecutive banks:
//!
//! ```text
//!   bank        0    1    2   …   31
//!   row 0      0,0  0,1  0,2     0,31
//!   row 1      1,0  1,1  1,2     1,31        a tile of 32×32: a row fills all banks once
//!   row 2      2,0  2,1  2,2     2,31
//! ```
//!
//! A bank delivers one word at a time. 32 lanes that read from 32 banks take one *wavefront*.
//!
//! **Predict:** how many wavefronts does a row take, and how many a column? What if each row were
//! followed by one unused word?
//!
//! **Change** the layout. There is one function for it, which the store and the load both use.

use cuda_std::prelude::*;

/// Rows and columns of a tile.
const TILE: u32 = 32;
/// Elements from one row of the tile to the next.
const PITCH: u32 = TILE;
/// Elements in the tile's memory.
const N_ELEMENTS: usize = (TILE * PITCH) as usize;

/// Place of an element in the tile's memory.
const fn place(row: u32, column: u32) -> usize {
    (row * PITCH + column) as usize
}

/// # Safety
///
/// `input` and `output` hold `n` rows of `n` elements.
#[kernel]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n: u32) {
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
