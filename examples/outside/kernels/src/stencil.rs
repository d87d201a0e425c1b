//! A step of diffusion on a grid: every cell moves towards the mean of its four neighbours.
//!
//! ```text
//! new[r][c] = old[r][c] + rate · (old[r-1][c] + old[r+1][c] + old[r][c-1] + old[r][c+1] - 4 · old[r][c])
//! ```
//!
//! Cells outside the grid are 0. A block computes `ROWS` × `COLUMNS` cells, one per thread, and first
//! fetches them and those around them, the *halo*, into shared memory: more elements than it has
//! threads, so some threads fetch two.

use cuda_std::prelude::*;
use cuda_std::thread::{block_idx_x, block_idx_y, sync_threads, thread_idx_x, thread_idx_y};
use cuda_std::view::{Block, Disjoint, Filling, Global, Tiles};

/// Rows of cells that a block computes.
pub const ROWS: u32 = 8;
/// Columns of cells that a block computes.
pub const COLUMNS: u32 = 32;

/// The same with the halo.
const HALO_ROWS: u32 = ROWS + 2;
const HALO_COLUMNS: u32 = COLUMNS + 2;

const fn row_by_row(row: u32, column: u32) -> usize {
    (row * HALO_COLUMNS + column) as usize
}

cuda_std::tile_layout! {
    /// A block's cells with the halo. Element `(1, 1)` is the first cell.
    pub Halo = row_by_row(HALO_ROWS, HALO_COLUMNS), block = [COLUMNS, ROWS];
}

/// A step of diffusion.
#[kernel(launch_bounds(ROWS * COLUMNS))]
pub fn diffuse(
    old: Global<[[f32; n_columns]; n_rows]>,
    mut new: Disjoint<[[f32; n_columns]; n_rows], Tiles<ROWS, COLUMNS>>,
    n_rows: u32,
    n_columns: u32,
    rate: f32,
    mut tile: Filling<f32, Halo>,
    block: Block,
) {
    let (first_row, first_column) = (ROWS * block_idx_y(), COLUMNS * block_idx_x());
    tile.fill(|row, column| {
        let (row, column) = (first_row + row, first_column + column);
        old.get((row.wrapping_sub(1), column.wrapping_sub(1)))
            .unwrap_or(0.0)
    });
    let tile = block.sync(tile);

    let (x, y) = (thread_idx_x() + 1, thread_idx_y() + 1);
    let around = tile.get(y - 1, x) + tile.get(y + 1, x) + tile.get(y, x - 1) + tile.get(y, x + 1);
    let own = tile.get(y, x);
    if let Some(cell) = new.own() {
        cell.set(own + rate * (around - 4.0 * own));
    }
}

/// [`diffuse`] with pointers.
///
/// # Safety
///
/// `old` and `new` have `n_rows * n_columns` elements and do not overlap. A block has `COLUMNS` ×
/// `ROWS` threads.
#[kernel(launch_bounds(ROWS * COLUMNS))]
pub unsafe fn diffuse_by_pointers(
    old: *const f32,
    new: *mut f32,
    n_rows: u32,
    n_columns: u32,
    rate: f32,
) {
    let tile = shared_array![f32; (HALO_ROWS * HALO_COLUMNS) as usize];
    let (first_row, first_column) = (ROWS * block_idx_y(), COLUMNS * block_idx_x());
    let mut n = thread_idx_y() * COLUMNS + thread_idx_x();
    while n < HALO_ROWS * HALO_COLUMNS {
        let (row, column) = (n / HALO_COLUMNS, n % HALO_COLUMNS);
        let (from_row, from_column) = (
            (first_row + row).wrapping_sub(1),
            (first_column + column).wrapping_sub(1),
        );
        *tile.add(row_by_row(row, column)) = if from_row < n_rows && from_column < n_columns {
            *old.add((from_row * n_columns + from_column) as usize)
        } else {
            0.0
        };
        n += ROWS * COLUMNS;
    }
    sync_threads();

    let (x, y) = (thread_idx_x() + 1, thread_idx_y() + 1);
    let cell = |row: u32, column: u32| *tile.add(row_by_row(row, column));
    let around = cell(y - 1, x) + cell(y + 1, x) + cell(y, x - 1) + cell(y, x + 1);
    let own = cell(y, x);
    let (row, column) = (first_row + y - 1, first_column + x - 1);
    if row < n_rows && column < n_columns {
        *new.add((row * n_columns + column) as usize) = own + rate * (around - 4.0 * own);
    }
}
