//! A transpose over several devices: every device sends a part to every other one.
//!
//! Each device has a band of the matrix's rows, and is to have a band of the transpose's rows. A block
//! transposes a tile in shared memory, as in [`crate::transpose`], and stores it where it belongs, mostly
//! on another device. Nothing waits: all that is stored is stored once, and the host waits for all
//! devices.
//!
//! ```text
//!             input                     output
//!   device 0  │ a │ b │      ──▶        │ aᵀ│ cᵀ│   c crosses the link
//!   device 1  │ c │ d │                 │ bᵀ│ dᵀ│   b too
//! ```
//!
//! Stores rather than loads cross the link: nothing waits for a store to come back.

use cuda_std::prelude::*;

use super::flags::of_device;

/// Side of a tile.
pub const TILE: u32 = 32;
/// Rows that a block's threads cover at once.
const STEP: u32 = 8;
/// Block, in threads.
pub const BLOCK: [u32; 3] = [TILE, STEP, 1];

/// Where a tile has an element: rows and columns both meet all banks ([`crate::transpose`] says why).
const fn swizzled(row: u32, column: u32) -> usize {
    (row * TILE + (column ^ row)) as usize
}

/// Rows of every device's band but maybe the last ones': whole tiles.
pub const fn band_rows(n: u32, n_devices: u32) -> u32 {
    n.div_ceil(n_devices).div_ceil(TILE) * TILE
}

/// The rows of a device: the first, and how many.
pub const fn band(n: u32, n_devices: u32, device: u32) -> (u32, u32) {
    let each = band_rows(n, n_devices);
    let first = if device * each < n { device * each } else { n };
    let end = if first + each < n { first + each } else { n };
    (first, end - first)
}

/// Grid for a band: x over columns.
pub const fn grid(n_rows: u32, n_columns: u32) -> [u32; 3] {
    let n_tiles = n_rows.div_ceil(TILE);
    [
        n_columns.div_ceil(TILE),
        if n_tiles == 0 { 1 } else { n_tiles },
        1,
    ]
}

/// Transposes a device's band of a matrix of `n_rows` by `n_columns`.
///
/// # Safety
///
/// `input` has this device's [`band`] of rows, `outputs` the address of each device's band of the
/// transpose. Launch with [`BLOCK`] and [`grid`] for the band, on all devices.
#[kernel(launch_bounds(TILE * STEP))]
pub unsafe fn transpose_to_all(
    input: *const f32,
    outputs: *const u64,
    n_rows: u32,
    n_columns: u32,
    rank: u32,
    n_devices: u32,
) {
    let tile = shared_array![f32; (TILE * TILE) as usize];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (first_row, n_own) = band(n_rows, n_devices, rank);
    // Each device begins with another one's tiles, so that not all store on one at the same time.
    let shift = band(n_columns, n_devices, rank).0 / TILE;
    let tile_column = (thread::block_idx_x() + shift) % thread::grid_dim_x();
    let (row, column) = (thread::block_idx_y() * TILE, tile_column * TILE);

    let mut i = y;
    while i < TILE {
        if row + i < n_own && column + x < n_columns {
            let at = (row + i) as usize * n_columns as usize + (column + x) as usize;
            *tile.add(swizzled(i, x)) = *input.add(at);
        }
        i += STEP;
    }
    thread::sync_threads();

    // A tile's columns are rows of one device: bands are whole tiles.
    let owner = column / band_rows(n_columns, n_devices);
    let (owner_first, _) = band(n_columns, n_devices, owner);
    let output: *mut f32 = of_device(outputs, owner);
    let mut i = y;
    while i < TILE {
        if column + i < n_columns && row + x < n_own {
            let at = (column + i - owner_first) as usize * n_rows as usize;
            *output.add(at + (first_row + row + x) as usize) = *tile.add(swizzled(x, i));
        }
        i += STEP;
    }
}

#[cfg(test)]
mod tests {
    use super::{TILE, band, band_rows};

    #[test]
    fn every_tile_has_one_owner() {
        for (n, n_devices) in [(33, 2), (100, 3), (1024, 8), (31, 8)] {
            for row in 0..n {
                let owner = row / band_rows(n, n_devices);
                let (first, n_own) = band(n, n_devices, owner);
                assert!((first..first + n_own).contains(&row));
            }
            let all: u32 = (0..n_devices)
                .map(|device| band(n, n_devices, device).1)
                .sum();
            assert_eq!(all, n);
            assert_eq!(band_rows(n, n_devices) % TILE, 0);
        }
    }
}
