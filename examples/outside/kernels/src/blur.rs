//! A blur: every pixel becomes a weighted mean of the 5 × 5 pixels around it.
//!
//! A pixel's weight is the product of one for its row and one for its column. So the mean is taken
//! along rows first, and of these means along columns: 10 multiplications instead of 25. At its edges
//! the image goes on with its last pixel.
//!
//! A block computes `ROWS` × `COLUMNS` pixels, one per thread, and keeps two tiles in shared memory:
//!
//! ```text
//!   pixels with their halo         means along rows
//!   ROWS + 4 × COLUMNS + 4    →    ROWS + 4 × COLUMNS    →    ROWS × COLUMNS
//! ```

use cuda_std::prelude::*;
use cuda_std::thread::{block_idx_x, block_idx_y, thread_idx_x, thread_idx_y};
use cuda_std::view::{Block, Disjoint, Filling, Global, Tiles};

/// Rows of pixels that a block computes.
pub const ROWS: u32 = 8;
/// Columns of pixels that a block computes.
pub const COLUMNS: u32 = 32;
/// How far a pixel spreads.
pub const RADIUS: u32 = 2;
/// The weights along a row and along a column.
pub const WEIGHTS: [f32; 2 * RADIUS as usize + 1] =
    [1.0 / 16.0, 4.0 / 16.0, 6.0 / 16.0, 4.0 / 16.0, 1.0 / 16.0];

const HALO_ROWS: u32 = ROWS + 2 * RADIUS;
const HALO_COLUMNS: u32 = COLUMNS + 2 * RADIUS;

const fn in_halo(row: u32, column: u32) -> usize {
    (row * HALO_COLUMNS + column) as usize
}

const fn in_means(row: u32, column: u32) -> usize {
    (row * COLUMNS + column) as usize
}

cuda_std::tile_layout! {
    /// A block's pixels with the halo. Element `(RADIUS, RADIUS)` is the first pixel.
    pub Halo = in_halo(HALO_ROWS, HALO_COLUMNS), block = [COLUMNS, ROWS];
    /// Means along the halo's rows.
    pub Means = in_means(HALO_ROWS, COLUMNS), block = [COLUMNS, ROWS];
}

/// The row or column of the image, of `n`, for one that is counted from `RADIUS` before its first.
const fn clamped(from_halo: u32, n: u32) -> u32 {
    let inside = from_halo.saturating_sub(RADIUS);
    if inside < n { inside } else { n - 1 }
}

/// The weighted mean of five values in a line.
fn mean(value: impl Fn(u32) -> f32) -> f32 {
    (0..)
        .zip(WEIGHTS)
        .map(|(i, weight)| weight * value(i))
        .sum()
}

/// The blurred image.
#[kernel(launch_bounds(ROWS * COLUMNS))]
pub fn blur(
    image: Global<[[f32; n_columns]; n_rows]>,
    mut blurred: Disjoint<[[f32; n_columns]; n_rows], Tiles<ROWS, COLUMNS>>,
    n_rows: u32,
    n_columns: u32,
    mut pixels: Filling<f32, Halo>,
    mut means: Filling<f32, Means>,
    block: Block,
) {
    let (first_row, first_column) = (ROWS * block_idx_y(), COLUMNS * block_idx_x());
    pixels.fill(|row, column| {
        let row = clamped(first_row + row, n_rows);
        let column = clamped(first_column + column, n_columns);
        image.get((row, column)).unwrap_or(0.0)
    });
    let pixels = block.sync(pixels);
    means.fill(|row, column| mean(|i| pixels.get(row, column + i)));
    let means = block.sync(means);

    let (x, y) = (thread_idx_x(), thread_idx_y());
    if let Some(pixel) = blurred.own() {
        pixel.set(mean(|i| means.get(y + i, x)));
    }
}
