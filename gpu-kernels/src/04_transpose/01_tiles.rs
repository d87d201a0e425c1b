//! Transposes by 32×32 tiles: first without shared memory, then through a tile in it,
//! whose layout decides the bank conflicts.
//!
//! A block has 32×32 threads, one per element of its tile. A warp is one row of the block.

use cuda_std::ldg::ldg;
use cuda_std::prelude::*;
use cuda_std::thread::{block_idx_x, block_idx_y, sync_threads, thread_idx_x, thread_idx_y};
use cuda_std::view::{Block, Disjoint, Filling, Global, Tiles};

/// Side of a square tile, in elements, and of a square block, in threads.
pub const TILE: u32 = 32;
/// Threads in a block of every kernel but `transpose_vectorized`.
pub const BLOCK_THREADS: u32 = TILE * TILE;
/// Length of a padded tile row, in elements.
pub const PADDED_PITCH: u32 = TILE + 1;

const TILE_ELEMENTS: usize = (TILE * TILE) as usize;
const PADDED_ELEMENTS: usize = (TILE * PADDED_PITCH) as usize;

// A warp is one row of the block, and takes a column of the tile: the swizzle spreads it over all banks.
const _: () = assert!(TILE == 32);

// ---------------------------------------------------------------------------
// Without shared memory
// ---------------------------------------------------------------------------
//
//   thread (x, y) of block (X, Y)      reads                 writes
//   coalesced_read            input [32·Y + y][32·X + x]     output[32·X + x][32·Y + y]
//   coalesced_write           input [32·X + x][32·Y + y]     output[32·Y + y][32·X + x]

/// Lanes run along the input's row: loads are coalesced, stores are `n_rows`
/// elements apart.
///
/// # Safety
///
/// `input` and `output` hold `n_rows * n_columns` elements, fewer than 2³², and do not overlap.
/// Launch with [`BLOCK`] threads and [`grid`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn transpose_coalesced_read(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let row = TILE * block_idx_y() + thread_idx_y();
    let column = TILE * block_idx_x() + thread_idx_x();
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        *output.add((column * n_rows + row) as usize) = value;
    }
}

/// Lanes run along the output's row: stores are coalesced, loads are
/// `n_columns` elements apart. Faster than the other way round: a strided
/// load's sectors stay in the L1 cache for the neighbouring warps, while a
/// strided store sends every sector to the L2 cache partly filled.
///
/// # Safety
///
/// As [`transpose_coalesced_read`], with [`grid_by_output`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn transpose_coalesced_write(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let row = TILE * block_idx_x() + thread_idx_x();
    let column = TILE * block_idx_y() + thread_idx_y();
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        *output.add((column * n_rows + row) as usize) = value;
    }
}

/// [`transpose_coalesced_write`] with loads through the read-only path
/// (`ld.global.nc`), in case the compiler does not see on its own that
/// nothing writes `input`.
///
/// # Safety
///
/// As [`transpose_coalesced_write`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn transpose_coalesced_write_ldg(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let row = TILE * block_idx_x() + thread_idx_x();
    let column = TILE * block_idx_y() + thread_idx_y();
    if row < n_rows && column < n_columns {
        let value = ldg(input.add((row * n_columns + column) as usize));
        *output.add((column * n_rows + row) as usize) = value;
    }
}

// ---------------------------------------------------------------------------
// Through a 32×32 tile in shared memory
// ---------------------------------------------------------------------------
//
// Both global accesses run along rows now; the block transposes the tile:
// a warp stores a row of it and loads a column. Shared memory has
// 32 banks of 4 bytes, and element `i` lies in bank `i mod 32`. The bank of
// element (row, column) decides what the column's load costs:
//
//                  plain               padded              swizzled
//     column   0   1   2   3       0   1   2   3        0   1   2   3
//     row 0    0   1   2   3       0   1   2   3        0   1   2   3
//     row 1    0   1   2   3       1   2   3   4        1   0   3   2
//     row 2    0   1   2   3       2   3   4   5        2   3   0   1
//     row 3    0   1   2   3       3   4   5   6        3   2   1   0
//
// A column of the plain tile is all in one bank: its 32 lanes are served one by one.

/// Row-major: element `(row, column)` of rows 32 long.
#[inline(always)]
pub const fn plain(row: u32, column: u32) -> usize {
    (row * TILE + column) as usize
}

/// Rows 33 long: each row down moves on by one bank.
#[inline(always)]
pub const fn padded(row: u32, column: u32) -> usize {
    (row * PADDED_PITCH + column) as usize
}

/// Rows 32 long, each in an order of its own: `column ^ row`. XOR with a
/// constant is one-to-one, so every row still fills its 32 places, and a
/// column, which goes through all rows, meets all 32 banks.
#[inline(always)]
pub const fn swizzled(row: u32, column: u32) -> usize {
    (row * TILE + (column ^ row)) as usize
}

/// Through a tile laid out [`plain`]: every load of a column is a 32-way bank
/// conflict.
///
/// # Safety
///
/// As [`transpose_coalesced_read`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn transpose_shared(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let tile = shared_array![f32; TILE_ELEMENTS];
    let (x, y) = (thread_idx_x(), thread_idx_y());

    let (row, column) = (TILE * block_idx_y() + y, TILE * block_idx_x() + x);
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        *tile.add(plain(y, x)) = value;
    }
    sync_threads();
    let (row, column) = (TILE * block_idx_y() + x, TILE * block_idx_x() + y);
    if row < n_rows && column < n_columns {
        let value = *tile.add(plain(x, y));
        *output.add((column * n_rows + row) as usize) = value;
    }
}

/// Through a tile laid out [`padded`]: no conflicts, for 3% more shared memory.
///
/// # Safety
///
/// As [`transpose_coalesced_read`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn transpose_padded(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let tile = shared_array![f32; PADDED_ELEMENTS];
    let (x, y) = (thread_idx_x(), thread_idx_y());

    let (row, column) = (TILE * block_idx_y() + y, TILE * block_idx_x() + x);
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        *tile.add(padded(y, x)) = value;
    }
    sync_threads();
    let (row, column) = (TILE * block_idx_y() + x, TILE * block_idx_x() + y);
    if row < n_rows && column < n_columns {
        let value = *tile.add(padded(x, y));
        *output.add((column * n_rows + row) as usize) = value;
    }
}

/// Through a tile laid out [`swizzled`]: no conflicts and no padding.
///
/// # Safety
///
/// As [`transpose_coalesced_read`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn transpose_swizzled(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let tile = shared_array![f32; TILE_ELEMENTS];
    let (x, y) = (thread_idx_x(), thread_idx_y());

    let (row, column) = (TILE * block_idx_y() + y, TILE * block_idx_x() + x);
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        *tile.add(swizzled(y, x)) = value;
    }
    sync_threads();
    let (row, column) = (TILE * block_idx_y() + x, TILE * block_idx_x() + y);
    if row < n_rows && column < n_columns {
        let value = *tile.add(swizzled(x, y));
        *output.add((column * n_rows + row) as usize) = value;
    }
}

// ---------------------------------------------------------------------------
// Without `unsafe`
// ---------------------------------------------------------------------------

cuda_std::tile_layout! {
    /// The tile laid out [`swizzled`].
    pub Swizzled = swizzled(TILE, TILE);
}

/// [`transpose_swizzled`] as a safe function. A block owns a tile of the *output*, in which each
/// thread writes its own element. Of the shared tile a thread stores its own element, and after
/// the barrier reads any. The PTX does the same work.
///
/// Launch with [`BLOCK`] threads and [`grid_by_output`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub fn transpose_safe(
    input: Global<[[f32; n_columns]; n_rows]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], Tiles<TILE>>,
    n_rows: u32,
    n_columns: u32,
    mut tile: Filling<f32, Swizzled>,
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

// ---------------------------------------------------------------------------
// Launch geometry
// ---------------------------------------------------------------------------

/// Block of every kernel but [`transpose_vectorized`](super::transpose_vectorized), in threads.
pub const BLOCK: [u32; 3] = [TILE, TILE, 1];

/// Grid of the kernels whose blocks run along the input's rows: x over columns,
/// y over rows.
pub const fn grid(n_rows: u32, n_columns: u32) -> [u32; 3] {
    [n_columns.div_ceil(TILE), n_rows.div_ceil(TILE), 1]
}

/// Grid of the kernels whose blocks run along the output's rows: x over rows,
/// y over columns.
pub const fn grid_by_output(n_rows: u32, n_columns: u32) -> [u32; 3] {
    [n_rows.div_ceil(TILE), n_columns.div_ceil(TILE), 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::{Cost, cost};

    extern crate std;
    use std::collections::BTreeSet;

    /// The cost of a warp's access to row `line` of the tile, and to column `line`.
    fn row_and_column(layout: fn(u32, u32) -> usize, line: u32) -> (Cost, Cost) {
        (
            cost(4, |lane| 4 * layout(line, lane) as u32),
            cost(4, |lane| 4 * layout(lane, line) as u32),
        )
    }

    #[test]
    fn columns_of_the_plain_tile_are_32_way_conflicts() {
        for line in 0..TILE {
            let (row, column) = row_and_column(plain, line);
            assert_eq!(row, Cost::FREE);
            assert_eq!(
                column,
                Cost {
                    wavefronts: 32,
                    conflicts: 31,
                    ways: 32
                }
            );
        }
    }

    #[test]
    fn padded_and_swizzled_tiles_have_no_conflicts() {
        for line in 0..TILE {
            assert_eq!(row_and_column(padded, line), (Cost::FREE, Cost::FREE));
            assert_eq!(row_and_column(swizzled, line), (Cost::FREE, Cost::FREE));
        }
    }

    #[test]
    fn layouts_give_every_element_a_place_of_its_own() {
        for (layout, n_elements) in [
            (plain as fn(u32, u32) -> usize, TILE_ELEMENTS),
            (padded, PADDED_ELEMENTS),
            (swizzled, TILE_ELEMENTS),
        ] {
            let places: BTreeSet<_> = (0..TILE)
                .flat_map(|row| (0..TILE).map(move |column| layout(row, column)))
                .collect();
            assert_eq!(places.len() as u32, TILE * TILE);
            assert!(places.into_iter().all(|place| place < n_elements));
        }
    }

    #[test]
    fn grids_cover_the_matrix() {
        assert_eq!(grid(1, 1), [1, 1, 1]);
        assert_eq!(grid(33, 64), [2, 2, 1]);
        assert_eq!(grid(32, 65), [3, 1, 1]);
        assert_eq!(grid_by_output(32, 65), [1, 3, 1]);
    }
}
