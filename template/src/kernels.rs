//! The kernels, as the device runs them and as the host knows them.

use cuda_std::prelude::*;
use cuda_std::thread::{block_idx_x, block_idx_y, sync_threads, thread_idx_x, thread_idx_y};
use cuda_std::view::{Block, Disjoint, Filling, Global, Tiles};

/// Side of the tile that a block turns.
pub const TILE: u32 = 32;

/// Elements from one row of the tile to the next: one more than needed, so a column meets
/// all 32 banks of shared memory.
const PITCH: u32 = TILE + 1;

/// The place of an element of the tile in shared memory.
const fn place(row: u32, column: u32) -> usize {
    (row * PITCH + column) as usize
}

/// The transpose of a matrix: `output[column][row] = input[row][column]`.
///
/// A block turns one tile in shared memory, so that the loads and the stores of a warp are
/// both to neighbouring addresses.
///
/// # Safety
///
/// `input` and `output` hold `n_rows * n_columns` numbers and do not overlap. A block has
/// `TILE` × `TILE` threads; the grid has a block for each tile of the output.
#[kernel(launch_bounds(TILE * TILE))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let tile = shared_array![f32; (TILE * PITCH) as usize];
    let (x, y) = (thread_idx_x(), thread_idx_y());

    let (row, column) = (TILE * block_idx_x() + y, TILE * block_idx_y() + x);
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        *tile.add(place(y, x)) = value;
    }
    sync_threads();
    let (row, column) = (TILE * block_idx_x() + x, TILE * block_idx_y() + y);
    if row < n_rows && column < n_columns {
        let value = *tile.add(place(x, y));
        *output.add((column * n_rows + row) as usize) = value;
    }
}

cuda_std::tile_layout! {
    /// A tile whose elements lie where [`place`] puts them.
    pub Padded = place(TILE, TILE);
}

/// [`transpose`] as a safe function: the compiler checks which thread writes what, and the launch
/// checks that the matrices are as large as their types say.
#[kernel(launch_bounds(TILE * TILE))]
pub fn transpose_safe(
    input: Global<[[f32; n_columns]; n_rows]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], Tiles<TILE>>,
    n_rows: u32,
    n_columns: u32,
    mut tile: Filling<f32, Padded>,
    block: Block,
) {
    let (x, y) = (thread_idx_x(), thread_idx_y());

    let (row, column) = (TILE * block_idx_x() + y, TILE * block_idx_y() + x);
    if let Some(value) = input.get((row, column)) {
        tile.put(value); // tile[y][x]
    }
    let tile = block.sync(tile);
    // The thread's own element is output[TILE * block_idx_y() + y][TILE * block_idx_x() + x].
    if let Some(element) = output.own() {
        element.set(tile.get(x, y));
    }
}
