//! The kernels, as the device runs them and as the host knows them.

use cuda_std::prelude::*;
use cuda_std::view::{Barrier, Disjoint, Filling, Global, Swapped, Tiles, Turned};

/// Side of the tile that a block turns.
pub const TILE: u32 = 32;

/// From one row of the tile to the next: one more than it needs, so that a column meets
/// all 32 banks of shared memory.
const PITCH: u32 = TILE + 1;

const fn place(row: u32, column: u32) -> u32 {
    row * PITCH + column
}

cuda_std::tile_layout! {
    /// The tile's elements, in shared memory.
    pub Padded = place(TILE, TILE) in (TILE * PITCH) as usize;
}

/// The transpose of a matrix: `output[column][row] = input[row][column]`.
///
/// A block of `TILE` × `TILE` threads turns one tile in shared memory, so that the loads and
/// the stores of a warp are both to neighbouring addresses.
#[kernel(launch_bounds(TILE * TILE))]
pub fn transpose(
    input: Global<[[f32; n_columns]; n_rows]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], Swapped<Turned<Tiles<TILE>>>>,
    n_rows: u32,
    n_columns: u32,
    mut tile: Filling<f32, Padded>,
    barrier: Barrier,
) {
    let row = thread::block_idx_y() * TILE + thread::thread_idx_y();
    let column = thread::block_idx_x() * TILE + thread::thread_idx_x();
    if let Some(value) = input.get((row, column)) {
        tile.put(value);
    }
    let tile = tile.sync(barrier);
    if let Some(element) = output.at(output.place()) {
        element.set(tile.get(tile.lane().turned()));
    }
}
