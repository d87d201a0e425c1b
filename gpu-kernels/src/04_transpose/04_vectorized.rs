//! One kernel for every size: by 64×64 tiles where rows are whole lines, by shifted tiles
//! elsewhere.

use cuda_std::prelude::*;

use super::shifted::{CUT, LINE, PIECE, SHIFTED_COLUMNS, SHIFTED_ELEMENTS, transpose_shifted};
use super::squares::{LARGE_BLOCK_THREADS, LARGE_TILE, LINE_BYTES, transpose_squares};

/// Whether rows of both matrices start at lines, as [`transpose_squares`] requires.
#[inline(always)]
const fn rows_are_lines(n_rows: u32, n_columns: u32) -> bool {
    n_columns.is_multiple_of(LINE) && n_rows.is_multiple_of(LINE)
}

/// 16 bytes per access, even where rows start anywhere, and no bank conflicts:
/// where rows are whole lines, through a 64×64 tile laid out by
/// [`chunk_offset_bytes`](super::squares::chunk_offset_bytes), elsewhere through one of 40×96
/// laid out by [`shifted_place`](super::shifted::shifted_place).
///
/// # Safety
///
/// `input` and `output` hold `n_rows * n_columns` elements (fewer than 2³² − 128) and
/// do not overlap; `output` is aligned to 32 bytes, and `input` to 16 if both sides are
/// multiples of [`LINE`]. Launch with [`LARGE_BLOCK`](super::LARGE_BLOCK) threads and
/// [`large_grid`] blocks.
#[kernel(launch_bounds(LARGE_BLOCK_THREADS))]
pub unsafe fn transpose_vectorized(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let tile = shared_array![f32; SHIFTED_ELEMENTS as usize, align = LINE_BYTES as usize];
    // Consecutive blocks go down the input's rows, so their stores are adjacent:
    // stores gain more from that than loads do.
    let (tile_row, tile_column) = (thread::block_idx_x(), thread::block_idx_y());
    if rows_are_lines(n_rows, n_columns) {
        transpose_squares(
            tile.cast(),
            input,
            output,
            tile_row * LARGE_TILE,
            tile_column * LARGE_TILE,
            n_rows,
            n_columns,
        );
    } else {
        transpose_shifted(
            tile,
            input,
            output,
            tile_row * PIECE,
            tile_column * SHIFTED_COLUMNS,
            n_rows,
            n_columns,
        );
    }
}

/// Grid of [`transpose_vectorized`]: x over rows, y over columns. A row whose cuts
/// are shifted back may need one more block at its end.
pub const fn large_grid(n_rows: u32, n_columns: u32) -> [u32; 3] {
    let [tile_rows, tile_columns] = if rows_are_lines(n_rows, n_columns) {
        [n_rows.div_ceil(LARGE_TILE), n_columns.div_ceil(LARGE_TILE)]
    } else {
        [
            (n_rows + (CUT - 1)).div_ceil(PIECE),
            n_columns.div_ceil(SHIFTED_COLUMNS),
        ]
    };
    [tile_rows, tile_columns, 1]
}

#[cfg(test)]
mod tests {
    use super::large_grid;

    #[test]
    fn grids_cover_the_matrix() {
        assert_eq!(large_grid(64, 96), [1, 2, 1]);
        assert_eq!(large_grid(25, 96), [1, 1, 1]);
        assert_eq!(large_grid(26, 97), [2, 2, 1]);
    }
}
